// LZ4 blocks, and Apple's frames around them.
//
// A block is a list of sequences. A sequence consists of literals and a match; the last one has literals only. A frame
// is "bv41", the raw length of the block, its stored length, and the block; or "bv4-", a length, and uncompressed
// bytes. "bv4$" ends the list of frames.

#include <string.h>

#include "bytes.h"
#include "packarchives.h"

/// Reads the rest of a count: bytes of 255, then a smaller byte. Returns false at the end of the block.
static bool read_count(const uint8_t **next, const uint8_t *end, size_t *count) {
  if (*count < 15) { return true; }
  while (*next < end) {
    uint8_t more = *(*next)++;
    *count += more;
    if (more < 255) { return true; }
  }
  return false;
}

/// Decodes a block. Matches may refer to all earlier output, including the output of earlier blocks.
static bool decode_block(const uint8_t *source, size_t length, pka__output *out) {
  const uint8_t *next = source, *end = source + length;
  while (next < end) {
    uint8_t token = *next++;
    size_t literals = token >> 4, match = token & 15;
    if (!read_count(&next, end, &literals) || literals > (size_t)(end - next) || !pka__put_bytes(out, next, literals)) {
      return false;
    }
    next += literals;
    if (next == end) { return match == 0; }
    if (end - next < 2) { return false; }
    size_t distance = pka__get16(next);
    next += 2;
    if (!read_count(&next, end, &match) || !pka__put_match(out, distance, match + 4)) { return false; }
  }
  return false;  // A valid block has at least one sequence, and returns above after its last one.
}

/// Returns the number of bytes of `source` in the frame, or 0 if the frame is invalid.
static size_t decode_frame(const uint8_t *source, size_t length, pka__output *out) {
  bool is_stored = source[3] == '-';
  size_t header = is_stored ? 8 : 12;
  if (length < header) { return 0; }
  size_t raw_length = pka__get32(source + 4), before = out->length;
  size_t stored_length = is_stored ? raw_length : pka__get32(source + 8);
  if (stored_length > length - header || raw_length > out->capacity - before) { return 0; }
  // Limits the output to the length in the header, even if the buffer is larger.
  pka__output part = {.bytes = out->bytes, .length = before, .capacity = before + raw_length};
  bool ok = is_stored ? pka__put_bytes(&part, source + header, raw_length)
                      : decode_block(source + header, stored_length, &part);
  out->length = part.length;
  return ok && part.length == part.capacity ? header + stored_length : 0;
}

static bool is_frame(const uint8_t *source, size_t length) {
  return length >= 4 && memcmp(source, "bv4", 3) == 0 && (source[3] == '1' || source[3] == '-' || source[3] == '$');
}

static bool decode_frames(const uint8_t *source, size_t length, pka__output *out) {
  while (is_frame(source, length)) {
    if (source[3] == '$') { return length == 4; }
    size_t taken = decode_frame(source, length, out);
    if (taken == 0) { return false; }
    source += taken;
    length -= taken;
  }
  return false;
}

bool pka_lz4_decode(const uint8_t *source, size_t source_length, uint8_t *target, size_t target_length) {
  pka__output out = {.bytes = target, .capacity = target_length};
  bool ok = is_frame(source, source_length) ? decode_frames(source, source_length, &out)
                                            : decode_block(source, source_length, &out);
  return ok && out.length == target_length;
}
