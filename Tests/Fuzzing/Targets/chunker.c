/// The chunker: all scans agree with the definition, and cuts are legal.
///
/// Input: u8 average; bytes.
#include "../fuzzing.h"
#include "codec/chunker_gear.h"

/// The first candidate of a chunk by the definition, from the hash of the 32 bytes before.
static size_t cut_by_definition(const pks__chunker *chunker, const uint8_t *bytes, size_t byte_count) {
  uint32_t hash = 0;
  for (size_t i = 0; i < byte_count; i++) {
    hash = 2 * hash + pks__gear[bytes[i]];
    if (i + 1 == chunker->maximum) { return i + 1; }
    if (i + 1 >= chunker->minimum && hash < chunker->threshold) { return i + 1; }
  }
  return byte_count;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count) {
  fuzz_input input = {bytes, byte_count};
  pks__chunker chunker = pks__chunker_make(1024u << fuzz_take(&input, 1) % 3);
  uint8_t *copy = fuzz_copy(input.next, input.left);
  for (size_t at = 0; at < input.left;) {
    size_t left = input.left - at, length = pks__chunker_cut(&chunker, copy + at, left);
    FUZZ_ASSERT(length > 0 && length <= chunker.maximum && (length == left || length >= chunker.minimum));
    FUZZ_ASSERT(length == cut_by_definition(&chunker, copy + at, left));
    at += length;
  }
  for (unsigned kind = 0; kind < PKS__SCAN_KIND_COUNT && input.left >= PKS__GEAR_WINDOW; kind++) {
    pks__scan *scan = pks__scan_for((pks__scan_kind)kind);
    if (!scan) { continue; }
    for (uint32_t threshold = chunker.threshold; threshold > 0;
         threshold = threshold << 4 > threshold ? threshold << 4 : 0) {
      size_t from = PKS__GEAR_WINDOW - 1 + byte_count % 7;
      if (from > input.left) { break; }
      size_t plain = pks__scan_for(PKS__SCAN_SCALAR)(copy, from, input.left, threshold);
      FUZZ_ASSERT(scan(copy, from, input.left, threshold) == plain);
    }
  }
  free(copy);
  return 0;
}
