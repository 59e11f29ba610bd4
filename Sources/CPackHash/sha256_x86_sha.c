// SHA-256 by the SHA extensions of x86. Intel's paper "Intel SHA Extensions" (Gulley et al., 2013) describes the instructions
// and the order of words that they need: SHA256RNDS2 computes two rounds, SHA256MSG1 and SHA256MSG2 the message schedule.
//
// SHA256RNDS2 takes 4 cycles and can start every 2, and each one needs the result of the one before: a single stream leaves half of
// the unit idle. `pkh__lanes_x86_sha_x2` runs two streams to fill it.

#include "kernels.h"

#if defined(__x86_64__)

  #include <immintrin.h>

  #define TARGET __attribute__((target("sha,sse4.1,ssse3")))
  #define INLINE static inline __attribute__((always_inline)) TARGET

/// The eight words of a digest in the order of the instructions, from the highest word of the register to the lowest.
typedef struct digest_words {
  __m128i abef, cdgh;
} digest_words;

INLINE digest_words load_digest(const uint32_t words[8]) {
  const __m128i dcba = _mm_loadu_si128((const __m128i *)words);
  const __m128i hgfe = _mm_loadu_si128((const __m128i *)(words + 4));
  const __m128i cdab = _mm_shuffle_epi32(dcba, 0xb1), efgh = _mm_shuffle_epi32(hgfe, 0x1b);
  return (digest_words){.abef = _mm_alignr_epi8(cdab, efgh, 8), .cdgh = _mm_blend_epi16(efgh, cdab, 0xf0)};
}

INLINE void store_digest(uint32_t words[8], digest_words digest) {
  const __m128i feba = _mm_shuffle_epi32(digest.abef, 0x1b), dchg = _mm_shuffle_epi32(digest.cdgh, 0xb1);
  _mm_storeu_si128((__m128i *)words, _mm_blend_epi16(feba, dchg, 0xf0));
  _mm_storeu_si128((__m128i *)(words + 4), _mm_alignr_epi8(dchg, feba, 8));
}

INLINE void load_block(__m128i w[4], const uint8_t *bytes) {
  const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
  for (int i = 0; i < 4; i++) { w[i] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(bytes + 16 * i)), swap); }
}

/// Rounds `round` to `round` + 3, with the words `w` of the schedule.
INLINE void four_rounds(digest_words *digest, __m128i w, unsigned round) {
  const __m128i input = _mm_add_epi32(w, _mm_load_si128((const __m128i *)(pkh__round_constants + round)));
  digest->cdgh = _mm_sha256rnds2_epu32(digest->cdgh, digest->abef, input);
  digest->abef = _mm_sha256rnds2_epu32(digest->abef, digest->cdgh, _mm_shuffle_epi32(input, 0x0e));
}

/// Returns the four words of the schedule after the 16 words in `w16` to `w4`; the names count back from the new words.
INLINE __m128i next_words(__m128i w16, __m128i w12, __m128i w8, __m128i w4) {
  const __m128i w7 = _mm_alignr_epi8(w4, w8, 4);
  return _mm_sha256msg2_epu32(_mm_add_epi32(_mm_sha256msg1_epu32(w16, w12), w7), w4);
}

INLINE void add(digest_words *digest, digest_words other) {
  digest->abef = _mm_add_epi32(digest->abef, other.abef);
  digest->cdgh = _mm_add_epi32(digest->cdgh, other.cdgh);
}

TARGET void pkh__stream_x86_sha(uint32_t words[8], const uint8_t *bytes, size_t block_count) {
  digest_words digest = load_digest(words);
  for (; block_count > 0; block_count--, bytes += PKH__BLOCK_SIZE) {
    const digest_words before = digest;
    __m128i w[4];
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

INLINE void four_rounds_of_two(digest_words *first, __m128i v, digest_words *second, __m128i w, unsigned round) {
  const __m128i constants = _mm_load_si128((const __m128i *)(pkh__round_constants + round));
  const __m128i input1 = _mm_add_epi32(v, constants), input2 = _mm_add_epi32(w, constants);
  first->cdgh = _mm_sha256rnds2_epu32(first->cdgh, first->abef, input1);
  second->cdgh = _mm_sha256rnds2_epu32(second->cdgh, second->abef, input2);
  first->abef = _mm_sha256rnds2_epu32(first->abef, first->cdgh, _mm_shuffle_epi32(input1, 0x0e));
  second->abef = _mm_sha256rnds2_epu32(second->abef, second->cdgh, _mm_shuffle_epi32(input2, 0x0e));
}

TARGET void pkh__lanes_x86_sha_x2(uint32_t *words, const uint8_t *const *bytes, size_t block_count) {
  digest_words first = load_digest(words), second = load_digest(words + 8);
  for (size_t block = 0; block < block_count; block++) {
    const digest_words first_before = first, second_before = second;
    __m128i v[4], w[4];
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
