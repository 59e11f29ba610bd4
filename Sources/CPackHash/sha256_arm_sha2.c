// SHA-256 by the SHA2 instructions of ARMv8: Arm Architecture Reference Manual, SHA256H, SHA256H2, SHA256SU0 and SHA256SU1. The
// first two compute four rounds, the others four words of the message schedule.
//
// Each round instruction needs the result of the one before, and most cores can start another while it runs:
// `pkh__lanes_arm_sha2_x2` runs two streams to fill the gap.

#include "kernels.h"

#if PKH__HAS_ARM_SHA2

  #include <arm_neon.h>

  // GCC accepts the extension only by the name of the group that contains it.
  #if defined(__clang__)
    #define TARGET __attribute__((target("sha2")))
  #else
    #define TARGET __attribute__((target("+crypto")))
  #endif
  #define INLINE static inline __attribute__((always_inline)) TARGET

/// The eight words of a digest.
typedef struct digest_words {
  uint32x4_t abcd, efgh;
} digest_words;

INLINE digest_words load_digest(const uint32_t words[8]) {
  return (digest_words){.abcd = vld1q_u32(words), .efgh = vld1q_u32(words + 4)};
}

INLINE void store_digest(uint32_t words[8], digest_words digest) {
  vst1q_u32(words, digest.abcd);
  vst1q_u32(words + 4, digest.efgh);
}

INLINE void load_block(uint32x4_t w[4], const uint8_t *bytes) {
  for (unsigned i = 0; i < 4; i++) { w[i] = vreinterpretq_u32_u8(vrev32q_u8(vld1q_u8(bytes + 16 * i))); }
}

/// Rounds `round` to `round` + 3, with the words `w` of the schedule.
INLINE void four_rounds(digest_words *digest, uint32x4_t w, unsigned round) {
  const uint32x4_t input = vaddq_u32(w, vld1q_u32(pkh__round_constants + round)), abcd = digest->abcd;
  digest->abcd = vsha256hq_u32(abcd, digest->efgh, input);
  digest->efgh = vsha256h2q_u32(digest->efgh, abcd, input);
}

INLINE void four_rounds_of_two(digest_words *first, uint32x4_t v, digest_words *second, uint32x4_t w, unsigned round) {
  four_rounds(first, v, round);
  four_rounds(second, w, round);
}

/// Returns the four words of the schedule after the 16 words in `w16` to `w4`; the names count back from the new words.
INLINE uint32x4_t next_words(uint32x4_t w16, uint32x4_t w12, uint32x4_t w8, uint32x4_t w4) {
  return vsha256su1q_u32(vsha256su0q_u32(w16, w12), w8, w4);
}

INLINE void add(digest_words *digest, digest_words other) {
  digest->abcd = vaddq_u32(digest->abcd, other.abcd);
  digest->efgh = vaddq_u32(digest->efgh, other.efgh);
}

TARGET void pkh__stream_arm_sha2(uint32_t words[8], const uint8_t *bytes, size_t block_count) {
  digest_words digest = load_digest(words);
  for (; block_count > 0; block_count--, bytes += PKH__BLOCK_SIZE) {
    const digest_words before = digest;
    uint32x4_t w[4];
    load_block(w, bytes);
    for (unsigned i = 0; i < 4; i++) { four_rounds(&digest, w[i], 4 * i); }
    for (unsigned round = 16; round < 64; round += 16) {
      w[0] = next_words(w[0], w[1], w[2], w[3]);
      four_rounds(&digest, w[0], round);
      w[1] = next_words(w[1], w[2], w[3], w[0]);
      four_rounds(&digest, w[1], round + 4);
      w[2] = next_words(w[2], w[3], w[0], w[1]);
      four_rounds(&digest, w[2], round + 8);
      w[3] = next_words(w[3], w[0], w[1], w[2]);
      four_rounds(&digest, w[3], round + 12);
    }
    add(&digest, before);
  }
  store_digest(words, digest);
}

TARGET void pkh__lanes_arm_sha2_x2(uint32_t *words, const uint8_t *const *bytes, size_t block_count) {
  digest_words first = load_digest(words), second = load_digest(words + 8);
  for (size_t block = 0; block < block_count; block++) {
    const digest_words first_before = first, second_before = second;
    uint32x4_t v[4], w[4];
    load_block(v, bytes[0] + block * PKH__BLOCK_SIZE);
    load_block(w, bytes[1] + block * PKH__BLOCK_SIZE);
    for (unsigned i = 0; i < 4; i++) { four_rounds_of_two(&first, v[i], &second, w[i], 4 * i); }
    for (unsigned round = 16; round < 64; round += 16) {
      v[0] = next_words(v[0], v[1], v[2], v[3]), w[0] = next_words(w[0], w[1], w[2], w[3]);
      four_rounds_of_two(&first, v[0], &second, w[0], round);
      v[1] = next_words(v[1], v[2], v[3], v[0]), w[1] = next_words(w[1], w[2], w[3], w[0]);
      four_rounds_of_two(&first, v[1], &second, w[1], round + 4);
      v[2] = next_words(v[2], v[3], v[0], v[1]), w[2] = next_words(w[2], w[3], w[0], w[1]);
      four_rounds_of_two(&first, v[2], &second, w[2], round + 8);
      v[3] = next_words(v[3], v[0], v[1], v[2]), w[3] = next_words(w[3], w[0], w[1], w[2]);
      four_rounds_of_two(&first, v[3], &second, w[3], round + 12);
    }
    add(&first, first_before);
    add(&second, second_before);
  }
  store_digest(words, first);
  store_digest(words + 8, second);
}

#endif
