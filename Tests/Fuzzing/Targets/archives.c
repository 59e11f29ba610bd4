/// The block decoders of other programs' archives: for any input, exactly the given memory is written.
///
/// Input: u8 decoder, le24 claimed length of the content, the block.
#include "../../../Sources/CPackArchives/include/packarchives.h"
#include "../fuzzing.h"

/// Checks that encoding and decoding returns the same bytes.
static void encode(const uint8_t *block, size_t length) {
  uint8_t *encoded = malloc(length + 1), *decoded = malloc(length + 1);
  FUZZ_ASSERT(encoded && decoded);
  size_t encoded_length = pka_deflate_encode(block, length, encoded);
  if (encoded_length > 0) {
    FUZZ_ASSERT(encoded_length < length);
    FUZZ_ASSERT(pka_deflate_decode(encoded, encoded_length, decoded, length));
    FUZZ_ASSERT(memcmp(decoded, block, length) == 0);
  }
  free(decoded);
  free(encoded);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count) {
  static bool (*const decoders[])(const uint8_t *, size_t, uint8_t *, size_t) = {
    pka_lzfse_decode,
    pka_lz4_decode,
    pka_deflate_decode,
    pka_xz_decode,
  };
  fuzz_input input = {bytes, byte_count};
  size_t decoder = (size_t)fuzz_take(&input, 1) % (sizeof decoders / sizeof *decoders);
  size_t length = (size_t)fuzz_take(&input, 3) % (1 << 20);
  uint8_t *block = fuzz_copy(input.next, input.left), *content = malloc(length + 1);
  FUZZ_ASSERT(content);
  bool ok = decoders[decoder](block, input.left, content, length);
  if (ok && length > 0) {
    // All of it was written: the comparison reads no uninitialized memory, and decoding again returns the same bytes.
    uint8_t *again = malloc(length);
    FUZZ_ASSERT(again && decoders[decoder](block, input.left, again, length) && memcmp(again, content, length) == 0);
    free(again);
  }
  if (decoder == 2) { encode(block, input.left); }
  free(content);
  free(block);
  return 0;
}
