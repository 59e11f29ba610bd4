/// Which names are one name on disks that ignore case or normal forms.
///
/// Two names are one if their foldings are equal: Unicode's canonical caseless match (chapter 3.13, D145). Invalid UTF-8 stays as
/// it is, byte by byte.
#include <string.h>

#include "base/base.h"
#include "base/name_folding_table.h"
#include "packstore_write.h"

enum {
  NAME_MAX_BYTES = PKS_FOLDED_NAME_MAX / 3,
  INVALID_BYTE = 0x110000,  ///< above all characters: such a value is a byte that is not UTF-8
  IOTA_MARK = 0x345,        ///< the only mark with a case folding
  IOTA = 0x3b9,
  HANGUL_FIRST = 0xac00,
  HANGUL_COUNT = 11172,
  HANGUL_VOWEL_COUNT = 21,
  HANGUL_TAIL_COUNT = 28,
};

typedef struct folded {
  uint32_t points[PKS_FOLDED_NAME_MAX];
  size_t count;
} folded;

/// Reads the character at the beginning of `bytes`, and how many bytes it has.
static uint32_t read_point(const uint8_t *bytes, size_t left, size_t *length) {
  static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  uint8_t first = bytes[0];
  *length = 1;
  if (first < 0x80) { return first; }
  size_t count = first >= 0xf0 && first < 0xf8 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc0 || first >= 0xf8 || count > left) { return INVALID_BYTE + first; }
  uint32_t point = first & (0x7fu >> count);
  for (size_t i = 1; i < count; i++) {
    if ((bytes[i] & 0xc0) != 0x80) { return INVALID_BYTE + first; }
    point = point << 6 | (bytes[i] & 0x3fu);
  }
  bool is_surrogate = point >= 0xd800 && point < 0xe000;
  if (point < least[count] || is_surrogate || point > 0x10ffff) { return INVALID_BYTE + first; }
  *length = count;
  return point;
}

static size_t write_point(uint32_t point, char *out) {
  if (point >= INVALID_BYTE) {
    point -= INVALID_BYTE;
  } else if (point >= 0x10000) {
    out[0] = (char)(0xf0 | point >> 18);
    out[1] = (char)(0x80 | (point >> 12 & 0x3f));
    out[2] = (char)(0x80 | (point >> 6 & 0x3f));
    out[3] = (char)(0x80 | (point & 0x3f));
    return 4;
  } else if (point >= 0x800) {
    out[0] = (char)(0xe0 | point >> 12);
    out[1] = (char)(0x80 | (point >> 6 & 0x3f));
    out[2] = (char)(0x80 | (point & 0x3f));
    return 3;
  } else if (point >= 0x80) {
    out[0] = (char)(0xc0 | point >> 6);
    out[1] = (char)(0x80 | (point & 0x3f));
    return 2;
  }
  out[0] = (char)point;
  return 1;
}

static const pks__folding *find_folding(uint32_t point) {
  size_t first = 0, end = pks__folding_count;
  while (first < end) {
    size_t middle = first + (end - first) / 2;
    if (pks__foldings[middle].point == point) { return &pks__foldings[middle]; }
    if (pks__foldings[middle].point < point) {
      first = middle + 1;
    } else {
      end = middle;
    }
  }
  return NULL;
}

/// The canonical combining class of a mark; 0 for other characters.
static uint8_t mark_order(uint32_t point) {
  size_t first = 0, end = pks__mark_range_count;
  while (first < end) {
    size_t middle = first + (end - first) / 2;
    const pks__mark_range *range = &pks__mark_ranges[middle];
    if (point >= range->first && point <= range->last) { return range->order; }
    if (range->last < point) {
      first = middle + 1;
    } else {
      end = middle;
    }
  }
  return 0;
}

/// Adds a character. A mark goes before marks of higher classes.
static void add_point(folded *folded, uint32_t point) {
  PKS_ASSERT(folded->count < PKS_COUNT_OF(folded->points));
  uint8_t order = mark_order(point);
  size_t at = folded->count++;
  while (order > 0 && at > 0 && mark_order(folded->points[at - 1]) > order) {
    folded->points[at] = folded->points[at - 1];
    at--;
  }
  folded->points[at] = point;
}

static void add_hangul(folded *folded, uint32_t index) {
  uint32_t tail = index % HANGUL_TAIL_COUNT;
  add_point(folded, 0x1100 + index / (HANGUL_VOWEL_COUNT * HANGUL_TAIL_COUNT));
  add_point(folded, 0x1161 + index / HANGUL_TAIL_COUNT % HANGUL_VOWEL_COUNT);
  if (tail > 0) { add_point(folded, 0x11a7 + tail); }
}

static void add_folding(folded *folded, uint32_t point) {
  if (point >= HANGUL_FIRST && point < HANGUL_FIRST + HANGUL_COUNT) {
    add_hangul(folded, point - HANGUL_FIRST);
    return;
  }
  const pks__folding *folding = find_folding(point);
  if (!folding) {
    add_point(folded, point);
    return;
  }
  for (uint8_t i = 0; i < folding->length; i++) { add_point(folded, pks__folded_points[folding->offset + i]); }
}

size_t pks_fold_name(const char *name, size_t length, char *out) {
  PKS_ASSERT(length <= NAME_MAX_BYTES);
  size_t ascii = 0;
  for (; ascii < length && (uint8_t)name[ascii] < 0x80; ascii++) {
    out[ascii] = name[ascii] >= 'A' && name[ascii] <= 'Z' ? (char)(name[ascii] - 'A' + 'a') : name[ascii];
  }
  if (ascii == length) { return length; }
  folded folded;
  folded.count = 0;
  for (size_t at = 0, step; at < length; at += step) {
    add_folding(&folded, read_point((const uint8_t *)name + at, length - at, &step));
  }
  size_t written = 0;
  for (size_t i = 0; i < folded.count; i++) {
    written += write_point(folded.points[i] == IOTA_MARK ? IOTA : folded.points[i], out + written);
  }
  return written;
}
