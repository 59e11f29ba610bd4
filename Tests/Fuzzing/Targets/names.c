/// Rules for paths and names, compared with a second implementation; numbers in names; varints; the hash of a path.
#include "../fuzzing.h"

/// Checks UTF-8 by decoding it; the core compares ranges of bytes.
static bool is_utf8(const uint8_t *text, size_t length) {
  for (size_t at = 0; at < length;) {
    uint32_t lead = text[at], value, count;
    if (lead < 0x80) {
      value = lead;
      count = 0;
    } else if (lead >> 5 == 6) {
      value = lead & 31;
      count = 1;
    } else if (lead >> 4 == 14) {
      value = lead & 15;
      count = 2;
    } else if (lead >> 3 == 30) {
      value = lead & 7;
      count = 3;
    } else {
      return false;
    }
    if (length - at - 1 < count) { return false; }
    for (uint32_t i = 1; i <= count; i++) {
      if (text[at + i] >> 6 != 2) { return false; }
      value = value << 6 | (text[at + i] & 63);
    }
    static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
    if (value < least[count] || value > 0x10ffff || (value >= 0xd800 && value < 0xe000)) { return false; }
    at += count + 1;
  }
  return true;
}

static bool is_path(const char *path, size_t length) {
  if (length == 0 || length > 4095 || !is_utf8((const uint8_t *)path, length)) { return false; }
  size_t part = 0, parts = 1, dots = 0;
  for (size_t i = 0; i <= length; i++) {
    if (i < length && path[i] == 0) { return false; }
    if (i < length && path[i] != '/') {
      part++;
      dots += path[i] == '.';
      continue;
    }
    if (part == 0 || part > 255 || (part <= 2 && dots == part)) { return false; }
    parts += i < length;
    part = dots = 0;
  }
  return parts <= 2000;
}

static void check_numbers(const uint8_t *bytes, size_t byte_count) {
  pks__reader reader = pks__reader_make(bytes, byte_count);
  uint64_t value = pks__read_varint(&reader);
  if (!reader.failed) {
    uint8_t again[PKS__VARINT_MAX];
    size_t length = pks__put_varint(again, value);
    FUZZ_ASSERT(length == byte_count - pks__reader_left(&reader) && memcmp(again, bytes, length) == 0);
  }
}

/// A path of any length is read to its end and no further, and its hash does not depend on its address.
static void check_hash(const uint8_t *bytes, size_t byte_count) {
  static const uint8_t path_key[PKS__PATH_KEY_SIZE] = {1};
  pks__path_hasher hasher;
  pks__path_hasher_init(&hasher, path_key);
  uint8_t *other = fuzz_copy(bytes, byte_count);
  uint64_t hash = pks__path_hash(&hasher, (const char *)bytes, byte_count);
  FUZZ_ASSERT(hash == pks__path_hash(&hasher, (const char *)other, byte_count));
  free(other);
}

static void check_name(const char *name) {
  uint64_t number;
  char digits[PKS__SEGMENT_NAME];
  pks__segment_id id;
  if (pks__hex_parse64(name, &number)) {
    pks__hex64(number, digits);
    FUZZ_ASSERT(strcmp(name, digits) == 0);
  }
  if (pks__segment_name_parse(name, &id)) {
    pks__segment_name(&id, digits);
    FUZZ_ASSERT(strcmp(name, digits) == 0);
  }
  if (pks__pack_name_is_valid(name)) {
    FUZZ_ASSERT(strlen(name) <= 128 && name[0] != '.' && name[0] != '-' && !strpbrk(name, "/\\ \n:"));
    FUZZ_ASSERT(is_path(name, strlen(name)));
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count) {
  uint8_t *copy = fuzz_copy(bytes, byte_count);
  FUZZ_ASSERT(pks__is_utf8((const char *)copy, byte_count) == is_utf8(copy, byte_count));
  FUZZ_ASSERT(pks__path_is_valid((const char *)copy, byte_count) == is_path((const char *)copy, byte_count));
  check_numbers(copy, byte_count);
  check_hash(copy, byte_count);
  free(copy);
  char *name = calloc(1, byte_count + 1);
  FUZZ_ASSERT(name);
  if (byte_count > 0) { memcpy(name, bytes, byte_count); }
  check_name(name);
  free(name);
  return 0;
}
