/// The end of a message: its last partial block, a bit of 1, zeros, and its length (FIPS 180-4, section 5.1.1); and its digest.
#ifndef CPACKHASH_PADDING_H
#define CPACKHASH_PADDING_H

#include "kernels.h"
#include <string.h>

static inline void pkh__store_big_endian32(uint8_t *bytes, uint32_t value) {
  for (unsigned i = 0; i < 4; i++) { bytes[i] = (uint8_t)(value >> (24 - 8 * i)); }
}

static inline void pkh__store_big_endian64(uint8_t *bytes, uint64_t value) {
  pkh__store_big_endian32(bytes, (uint32_t)(value >> 32));
  pkh__store_big_endian32(bytes + 4, (uint32_t)value);
}

/// Pads the end of a message of `byte_count` bytes. Its last byte_count % 64 bytes are already at the beginning of `end`. Returns
/// the number of blocks in `end`: 1, or 2 if the length does not fit into the first.
static inline size_t pkh__pad(uint8_t end[2 * PKH__BLOCK_SIZE], uint64_t byte_count) {
  enum { LENGTH_SIZE = 8 };
  const size_t rest = (size_t)(byte_count % PKH__BLOCK_SIZE);
  const size_t block_count = rest < PKH__BLOCK_SIZE - LENGTH_SIZE ? 1 : 2;
  const size_t length_at = block_count * PKH__BLOCK_SIZE - LENGTH_SIZE;
  end[rest] = 0x80;
  memset(end + rest + 1, 0, length_at - rest - 1);
  pkh__store_big_endian64(end + length_at, byte_count * 8);
  return block_count;
}

/// Stores the digest. Consecutive words are `stride` apart.
static inline void pkh__store_digest(uint8_t digest[PKH_SHA256_SIZE], const uint32_t *words, size_t stride) {
  for (unsigned i = 0; i < 8; i++) { pkh__store_big_endian32(digest + 4 * i, words[i * stride]); }
}

#endif
