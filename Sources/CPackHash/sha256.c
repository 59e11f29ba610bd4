// Digests of one message, at once and in parts.

#include "kernels.h"
#include "padding.h"

void pkh_sha256_init_by(const pkh_implementation *implementation, pkh_sha256_state *state) {
  state->implementation = implementation;
  state->byte_count = 0;
  memcpy(state->words, pkh__initial_words, sizeof state->words);
}

void pkh_sha256_init(pkh_sha256_state *state) { pkh_sha256_init_by(pkh_implementation_selected(), state); }

void pkh_sha256_update(pkh_sha256_state *state, const void *bytes, size_t byte_count) {
  if (byte_count == 0) { return; }
  const uint8_t *next = bytes;
  pkh__stream_kernel *kernel = state->implementation->stream;
  const size_t pending = (size_t)(state->byte_count % PKH__BLOCK_SIZE);
  state->byte_count += byte_count;
  if (pending > 0) {
    const size_t missing = PKH__BLOCK_SIZE - pending;
    const size_t taken = byte_count < missing ? byte_count : missing;
    memcpy(state->block + pending, next, taken);
    if (taken < missing) { return; }
    kernel(state->words, state->block, 1);
    next += taken;
    byte_count -= taken;
  }
  const size_t block_count = byte_count / PKH__BLOCK_SIZE;
  if (block_count > 0) { kernel(state->words, next, block_count); }
  memcpy(state->block, next + block_count * PKH__BLOCK_SIZE, byte_count % PKH__BLOCK_SIZE);
}

void pkh_sha256_final(pkh_sha256_state *state, uint8_t digest[PKH_SHA256_SIZE]) {
  uint8_t end[2 * PKH__BLOCK_SIZE];
  memcpy(end, state->block, (size_t)(state->byte_count % PKH__BLOCK_SIZE));
  state->implementation->stream(state->words, end, pkh__pad(end, state->byte_count));
  pkh__store_digest(digest, state->words, 1);
}

void pkh_sha256_by(
  const pkh_implementation *implementation, const void *bytes, size_t byte_count, uint8_t digest[PKH_SHA256_SIZE]
) {
  uint32_t words[8];
  uint8_t end[2 * PKH__BLOCK_SIZE];
  const size_t block_count = byte_count / PKH__BLOCK_SIZE, rest = byte_count % PKH__BLOCK_SIZE;
  memcpy(words, pkh__initial_words, sizeof words);
  if (block_count > 0) { implementation->stream(words, bytes, block_count); }
  if (rest > 0) { memcpy(end, (const uint8_t *)bytes + (byte_count - rest), rest); }
  implementation->stream(words, end, pkh__pad(end, byte_count));
  pkh__store_digest(digest, words, 1);
}

void pkh_sha256(const void *bytes, size_t byte_count, uint8_t digest[PKH_SHA256_SIZE]) {
  pkh_sha256_by(pkh_implementation_selected(), bytes, byte_count, digest);
}
