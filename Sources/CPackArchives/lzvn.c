// LZVN: a list of operations. Each has literals, a match, or both. The bits of the first byte select the kind of
// operation. An operation without a distance uses the distance of the operation before it.
//
//   LLMMMDDD + 1 byte     literals, match, distance below 1,536      DDD is not 110 or 111
//   LLMMM110              literals, match, previous distance         LL is not 00
//   LLMMM111 + 2 bytes    literals, match, any distance
//   101LLMMM + 2 bytes    literals, longer match, distance below 16,384
//   1110LLLL              literals; 11100000 + 1 byte: 16 and more
//   1111MMMM              match;    11110000 + 1 byte: 16 and more
//   00000110 + 7 zeros    the end
//   00001110, 00010110    no operation

#include "lzvn.h"

typedef struct operation {
  size_t length;  ///< of the operation, without its literals
  size_t literals;
  size_t match;
  size_t distance;
  bool is_end;
} operation;

/// Reads an operation that begins with 1110 or 1111.
static bool read_run(const uint8_t *source, size_t length, operation *op) {
  size_t count = source[0] & 15;
  op->length = 1;
  if (count == 0) {
    if (length < 2) { return false; }
    count = (size_t)source[1] + 16;
    op->length = 2;
  }
  *(source[0] >= 0xf0 ? &op->match : &op->literals) = count;
  return true;
}

/// Reads the operation at the start of `source`; its literals may exceed the end. Returns false if it is invalid.
static bool read_operation(const uint8_t *source, size_t length, size_t distance, operation *op) {
  static const uint8_t end[8] = {6};
  uint8_t first = source[0];
  *op = (operation){.distance = distance};
  if (first >= 0xe0) { return read_run(source, length, op); }
  if (first >= 0xa0 && first < 0xc0) {
    if (length < 3) { return false; }
    unsigned more = pka__get16(source + 1);
    op->literals = first >> 3 & 3;
    op->match = ((size_t)(first & 7) << 2 | (more & 3)) + 3;
    op->distance = more >> 2;
    op->length = 3;
    return true;
  }
  if ((first >= 0x70 && first < 0x80) || first >= 0xd0) { return false; }
  op->literals = first >> 6;
  op->match = (size_t)(first >> 3 & 7) + 3;
  switch (first & 7) {
    case 6:
      op->length = 1;
      if (op->literals > 0) { return true; }
      op->match = 0;
      op->is_end = first == 6;
      if (op->is_end) { op->length = sizeof end; }
      return op->is_end ? length >= sizeof end && memcmp(source, end, sizeof end) == 0 : first == 14 || first == 22;
    case 7:
      if (length < 3) { return false; }
      op->distance = pka__get16(source + 1);
      op->length = 3;
      return true;
    default:
      if (length < 2) { return false; }
      op->distance = (size_t)(first & 7) << 8 | source[1];
      op->length = 2;
      return true;
  }
}

bool pka__lzvn_decode(const uint8_t *source, size_t length, pka__output *out) {
  size_t distance = 0;  // none yet
  while (length > 0) {
    operation op;
    if (!read_operation(source, length, distance, &op)) { return false; }
    source += op.length;
    length -= op.length;
    if (op.is_end) { return length == 0; }
    if (op.literals > length || !pka__put_bytes(out, source, op.literals)) { return false; }
    source += op.literals;
    length -= op.literals;
    if (op.match > 0 && !pka__put_match(out, op.distance, op.match)) { return false; }
    distance = op.distance;
  }
  return false;
}
