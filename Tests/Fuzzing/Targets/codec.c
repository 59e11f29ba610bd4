/// Frames of zstd: invalid frames are refused, and encoded bytes decode to the same bytes.
///
/// Input: le24 raw length; the frame.
#include "../fuzzing.h"

static void check_round_trip(const uint8_t *raw, size_t length) {
  static pks__encoder *encoder;
  static pks__decoder *decoder;
  if (!encoder) { encoder = pks__encoder_create(1); }
  if (!decoder) { decoder = pks__decoder_create(); }
  size_t capacity = pks__encode_capacity(length);
  uint8_t *encoded = malloc(capacity + 1), *decoded = malloc(length + 1);
  FUZZ_ASSERT(encoder && decoder && encoded && decoded);
  size_t stored = pks__encode(encoder, raw, length, encoded, capacity);
  FUZZ_ASSERT(stored != SIZE_MAX && stored <= length);
  if (stored > 0) {
    FUZZ_ASSERT(pks__decode(decoder, encoded, stored, decoded, length) && memcmp(raw, decoded, length) == 0);
    FUZZ_ASSERT(!pks__decode(decoder, encoded, stored - 1, decoded, length));
    FUZZ_ASSERT(!pks__decode(decoder, encoded, stored, decoded, length - 1));
  }
  free(encoded);
  free(decoded);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count) {
  static pks__decoder *decoder;
  if (!decoder) { decoder = pks__decoder_create(); }
  fuzz_input input = {bytes, byte_count};
  // Long frames are tried rarely, because their memory takes time to allocate.
  size_t length = (size_t)fuzz_take(&input, 3);
  if (length > 65536 && byte_count % 16 != 0) { length %= 65536; }
  uint8_t *encoded = fuzz_copy(input.next, input.left), *out = malloc(length > 0 ? length : 1);
  FUZZ_ASSERT(decoder && out);
  if (pks__decode(decoder, encoded, input.left, out, length)) { (void)pks__checksum(out, length); }
  if (input.left > 0 && byte_count % 4 == 0) { check_round_trip(encoded, input.left); }
  free(encoded);
  free(out);
  return 0;
}
