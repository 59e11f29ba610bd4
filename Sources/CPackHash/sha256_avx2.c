// SHA-256 of one stream for processors with AVX2 and BMI2 but without SHA extensions.
//
// The rounds depend on each other and run on words; the message schedule does not depend on them and runs in vectors, four words
// of two blocks at a time: the lower half of each register belongs to the first block, the upper half to the second. The
// schedule of both blocks is interleaved with the rounds of the first, whose chain of dependencies leaves the vector units idle.
// The rounds of the second block then only read the prepared words. See Gueron and Krasnov, "Parallelizing message
// schedules to accelerate the computations of hash functions" (2012), and OpenSSL's sha256_block_data_order_avx2.
//
// BMI2 gives rotations that keep their source (RORX), BMI1 gives ANDN.

#include "kernels.h"
#include "rounds.h"

#if defined(__x86_64__)

  #include <immintrin.h>

  #define TARGET __attribute__((target("avx2,bmi,bmi2")))
  #define INLINE static inline __attribute__((always_inline)) TARGET

/// K + W of two blocks: words 8 * i to 8 * i + 3 belong to rounds 4 * i to 4 * i + 3 of the first block, the next four to the same
/// rounds of the second.
typedef struct two_inputs {
  _Alignas(32) uint32_t words[2 * 64];
} two_inputs;

INLINE void store_inputs(two_inputs *inputs, __m256i w, unsigned i) {
  const __m128i k = _mm_load_si128((const __m128i *)(pkh__round_constants + 4 * i));
  _mm256_store_si256((__m256i *)(inputs->words + 8 * i), _mm256_add_epi32(w, _mm256_broadcastsi128_si256(k)));
}

INLINE __m256i load_words(const uint8_t *first, const uint8_t *second) {
  const __m256i swap = _mm256_broadcastsi128_si256(_mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203));
  const __m256i lower = _mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)first));
  return _mm256_shuffle_epi8(_mm256_inserti128_si256(lower, _mm_loadu_si128((const __m128i *)second), 1), swap);
}

INLINE __m256i small_sigma0(__m256i x) {
  const __m256i rotated7 = _mm256_xor_si256(_mm256_srli_epi32(x, 7), _mm256_slli_epi32(x, 25));
  const __m256i rotated18 = _mm256_xor_si256(_mm256_srli_epi32(x, 18), _mm256_slli_epi32(x, 14));
  return _mm256_xor_si256(_mm256_xor_si256(rotated7, rotated18), _mm256_srli_epi32(x, 3));
}

/// sigma1 of two words per block. `x` contains each word twice in succession: a shift of such a pair is a rotation. The results are
/// the lower words of the pairs.
INLINE __m256i small_sigma1_of_pairs(__m256i x) {
  const __m256i rotated = _mm256_xor_si256(_mm256_srli_epi64(x, 17), _mm256_srli_epi64(x, 19));
  return _mm256_xor_si256(rotated, _mm256_srli_epi32(x, 10));
}

/// Returns the four words after the 16 words in `w16` to `w4`; the names count back from the new words. The last two new words
/// need sigma1 of the first two.
INLINE __m256i next_words(__m256i w16, __m256i w12, __m256i w8, __m256i w4) {
  const __m256i w15 = _mm256_alignr_epi8(w12, w16, 4), w7 = _mm256_alignr_epi8(w4, w8, 4);
  const __m256i sum = _mm256_add_epi32(_mm256_add_epi32(w16, w7), small_sigma0(w15));
  // Bytes -1 become 0.
  const __m256i to_lower = _mm256_broadcastsi128_si256(_mm_set_epi64x(-1, 0x0b0a090803020100));
  const __m256i to_upper = _mm256_broadcastsi128_si256(_mm_set_epi64x(0x0b0a090803020100, -1));
  const __m256i sigma_lower = small_sigma1_of_pairs(_mm256_shuffle_epi32(w4, 0xfa));
  const __m256i lower = _mm256_add_epi32(sum, _mm256_shuffle_epi8(sigma_lower, to_lower));
  const __m256i sigma_upper = small_sigma1_of_pairs(_mm256_shuffle_epi32(lower, 0x50));
  return _mm256_add_epi32(lower, _mm256_shuffle_epi8(sigma_upper, to_upper));
}

INLINE void four_rounds(pkh__variables *v, const uint32_t *input) {
  pkh__round(v, input[0]);
  pkh__round(v, input[1]);
  pkh__round(v, input[2]);
  pkh__round(v, input[3]);
}

/// All rounds of the first block, and the inputs of the second.
INLINE void first_block(uint32_t words[8], two_inputs *inputs, const uint8_t *first, const uint8_t *second) {
  __m256i w[4];
  for (unsigned i = 0; i < 4; i++) {
    w[i] = load_words(first + 16 * i, second + 16 * i);
    store_inputs(inputs, w[i], i);
  }
  pkh__variables v = pkh__variables_from(words);
  for (unsigned i = 0; i < 12; i += 4) {
    w[0] = next_words(w[0], w[1], w[2], w[3]);
    four_rounds(&v, inputs->words + 8 * i);
    store_inputs(inputs, w[0], i + 4);
    w[1] = next_words(w[1], w[2], w[3], w[0]);
    four_rounds(&v, inputs->words + 8 * i + 8);
    store_inputs(inputs, w[1], i + 5);
    w[2] = next_words(w[2], w[3], w[0], w[1]);
    four_rounds(&v, inputs->words + 8 * i + 16);
    store_inputs(inputs, w[2], i + 6);
    w[3] = next_words(w[3], w[0], w[1], w[2]);
    four_rounds(&v, inputs->words + 8 * i + 24);
    store_inputs(inputs, w[3], i + 7);
  }
  #pragma GCC unroll 4
  for (unsigned i = 12; i < 16; i++) { four_rounds(&v, inputs->words + 8 * i); }
  pkh__add_variables(words, &v);
}

INLINE void second_block(uint32_t words[8], const two_inputs *inputs) {
  pkh__variables v = pkh__variables_from(words);
  for (unsigned i = 0; i < 16; i += 2) {
    four_rounds(&v, inputs->words + 8 * i + 4);
    four_rounds(&v, inputs->words + 8 * i + 12);
  }
  pkh__add_variables(words, &v);
}

TARGET void pkh__stream_avx2(uint32_t words[8], const uint8_t *bytes, size_t block_count) {
  two_inputs inputs;
  for (; block_count >= 2; block_count -= 2, bytes += 2 * PKH__BLOCK_SIZE) {
    first_block(words, &inputs, bytes, bytes + PKH__BLOCK_SIZE);
    second_block(words, &inputs);
  }
  if (block_count == 1) { first_block(words, &inputs, bytes, bytes); }
}

#endif
