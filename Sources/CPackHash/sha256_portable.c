// SHA-256 in portable C, as FIPS 180-4 section 6.2 defines it. The other kernels compute the same.

#include "kernels.h"
#include "rounds.h"

const uint32_t pkh__initial_words[8] = {
  0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
};

// Aligned for vector loads.
_Alignas(64) const uint32_t pkh__round_constants[64] = {
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
  0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
  0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
  0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
  0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
  0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
  0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
  0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static inline uint32_t load_big_endian(const uint8_t *bytes) {
  return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static inline uint32_t small_sigma0(uint32_t x) { return pkh__rotate_right(x, 7) ^ pkh__rotate_right(x, 18) ^ x >> 3; }
static inline uint32_t small_sigma1(uint32_t x) {
  return pkh__rotate_right(x, 17) ^ pkh__rotate_right(x, 19) ^ x >> 10;
}

/// Replaces word `i` of the last 16 words of the message schedule by the word 16 places later, and returns that.
PKH__INLINE uint32_t next_word(uint32_t w[16], unsigned i) {
  w[i] += small_sigma1(w[(i + 14) % 16]) + w[(i + 9) % 16] + small_sigma0(w[(i + 1) % 16]);
  return w[i];
}

static inline void one_block(uint32_t words[8], const uint8_t *bytes) {
  const uint32_t *k = pkh__round_constants;
  uint32_t w[16];
  pkh__variables v = pkh__variables_from(words);
#pragma GCC unroll 16
  for (unsigned i = 0; i < 16; i++) {
    w[i] = load_big_endian(bytes + 4 * i);
    pkh__round(&v, k[i] + w[i]);
  }
  for (k += 16; k < pkh__round_constants + 64; k += 16) {
#pragma GCC unroll 16
    for (unsigned i = 0; i < 16; i++) { pkh__round(&v, k[i] + next_word(w, i)); }
  }
  pkh__add_variables(words, &v);
}

void pkh__stream_portable(uint32_t words[8], const uint8_t *bytes, size_t block_count) {
  for (; block_count > 0; block_count--, bytes += PKH__BLOCK_SIZE) { one_block(words, bytes); }
}
