/// Dictionaries: hostile ones are refused, or decode frames within their memory. With accepted ones, encoded bytes
/// decode to the same bytes.
///
/// Input: le16 length of the dictionary; le24 raw length; dictionary; frame.
#include "../fuzzing.h"

static void check_round_trip(
  const uint8_t *bytes, size_t length, pks__decoding_dictionary *tables, const uint8_t *raw, size_t raw_length
) {
  static pks__encoder *encoder;
  static pks__decoder *decoder;
  if (!encoder) { encoder = pks__encoder_create(1); }
  if (!decoder) { decoder = pks__decoder_create(); }
  bool is_bad;
  pks__encoding_dictionary *encoding = pks__encoding_dictionary_create(bytes, length, 1, &is_bad);
  size_t capacity = pks__encode_capacity(raw_length);
  uint8_t *encoded = malloc(capacity + 1), *decoded = malloc(raw_length + 1);
  FUZZ_ASSERT(encoder && decoder && encoded && decoded);
  // The decoding tables may be valid even if the encoding tables are not.
  if (encoding) {
    size_t stored = pks__encode_with(encoder, encoding, raw, raw_length, encoded, capacity);
    FUZZ_ASSERT(stored != SIZE_MAX && stored <= raw_length);
    bool decodes = stored > 0 && pks__decode_with(decoder, tables, encoded, stored, decoded, raw_length);
    FUZZ_ASSERT(stored == 0 || (decodes && memcmp(raw, decoded, raw_length) == 0));
  }
  pks__encoding_dictionary_destroy(encoding);
  free(encoded);
  free(decoded);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count) {
  static pks__decoder *decoder;
  if (!decoder) { decoder = pks__decoder_create(); }
  fuzz_input input = {bytes, byte_count};
  size_t asked = (size_t)fuzz_take(&input, 2), raw_length = (size_t)fuzz_take(&input, 3) % (3 * 65536), length;
  const uint8_t *front = fuzz_take_bytes(&input, asked, &length);
  uint8_t *dictionary = fuzz_copy(front, length), *encoded = fuzz_copy(input.next, input.left);
  uint8_t *out = malloc(raw_length > 0 ? raw_length : 1);
  FUZZ_ASSERT(decoder && out);
  bool is_bad;
  pks__decoding_dictionary *tables = pks__decoding_dictionary_create(dictionary, length, &is_bad);
  FUZZ_ASSERT(is_bad == !tables);
  if (tables) {
    FUZZ_ASSERT(pks__decoding_dictionary_size(tables) <= 256 * 1024);
    if (pks__decode_with(decoder, tables, encoded, input.left, out, raw_length)) {
      (void)pks__checksum(out, raw_length);
    }
    if (input.left > 0) { check_round_trip(dictionary, length, tables, encoded, input.left); }
  }
  pks__decoding_dictionary_destroy(tables);
  free(dictionary);
  free(encoded);
  free(out);
  return 0;
}
