// SHA-256 of 16 streams with AVX-512: each register holds the same word of all streams.
//
// AVX-512 has rotations (VPRORD), and functions of three operands (VPTERNLOGD): choose, majority and the exclusive or of three
// rotations take one instruction each. The 8 variables and the last 16 words of the schedule fit into the 32 registers.

#include "kernels.h"

#if defined(__x86_64__)

  #include <immintrin.h>

  #define TARGET __attribute__((target("avx512f,avx512bw")))
  #define INLINE static inline __attribute__((always_inline)) TARGET

enum { LANES = 16 };

/// Truth tables of VPTERNLOGD. Bit 4 * x + 2 * y + z is the result for the bits x, y and z.
enum { TABLE_XOR = 0x96, TABLE_CHOOSE = 0xca, TABLE_MAJORITY = 0xe8 };

typedef struct variables {
  __m512i a, b, c, d, e, f, g, h;
} variables;

INLINE __m512i add(__m512i x, __m512i y) { return _mm512_add_epi32(x, y); }

/// Keeps compilers from adding the terms of `x` in another order.
INLINE __m512i in_order(__m512i x) {
  __asm__("" : "+v"(x));
  return x;
}

INLINE __m512i big_sigma0(__m512i x) {
  const __m512i r2 = _mm512_ror_epi32(x, 2), r13 = _mm512_ror_epi32(x, 13), r22 = _mm512_ror_epi32(x, 22);
  return _mm512_ternarylogic_epi32(r2, r13, r22, TABLE_XOR);
}

INLINE __m512i big_sigma1(__m512i x) {
  const __m512i r6 = _mm512_ror_epi32(x, 6), r11 = _mm512_ror_epi32(x, 11), r25 = _mm512_ror_epi32(x, 25);
  return _mm512_ternarylogic_epi32(r6, r11, r25, TABLE_XOR);
}

INLINE __m512i small_sigma0(__m512i x) {
  const __m512i r7 = _mm512_ror_epi32(x, 7), r18 = _mm512_ror_epi32(x, 18), s3 = _mm512_srli_epi32(x, 3);
  return _mm512_ternarylogic_epi32(r7, r18, s3, TABLE_XOR);
}

INLINE __m512i small_sigma1(__m512i x) {
  const __m512i r17 = _mm512_ror_epi32(x, 17), r19 = _mm512_ror_epi32(x, 19), s10 = _mm512_srli_epi32(x, 10);
  return _mm512_ternarylogic_epi32(r17, r19, s10, TABLE_XOR);
}

/// One round with the words `w` of the schedule, in the order of `pkh__round`: vector operations take two cycles on Zen 5, and the
/// chain from one e to the next is three operations long. Zen 5, clang 21: 629 cycles per block, 718 in the standard's order.
INLINE void one_round(variables *v, __m512i w, unsigned round) {
  const __m512i input = add(w, _mm512_set1_epi32((int)pkh__round_constants[round]));
  const __m512i choice = _mm512_ternarylogic_epi32(v->e, v->f, v->g, TABLE_CHOOSE);
  const __m512i majority = _mm512_ternarylogic_epi32(v->a, v->b, v->c, TABLE_MAJORITY);
  const __m512i early = in_order(add(add(v->h, input), v->d));
  const __m512i e = add(add(early, choice), big_sigma1(v->e));
  const __m512i t1 = in_order(_mm512_sub_epi32(e, v->d));
  const __m512i a = add(add(t1, majority), big_sigma0(v->a));
  *v = (variables){.a = a, .b = v->a, .c = v->b, .d = v->c, .e = e, .f = v->e, .g = v->f, .h = v->g};
}

/// Replaces the words `i` of the last 16 by the words 16 places later, and returns those.
INLINE __m512i next_words(__m512i w[16], unsigned i) {
  const __m512i sum = add(w[i], w[(i + 9) % 16]);
  w[i] = add(sum, add(small_sigma1(w[(i + 14) % 16]), small_sigma0(w[(i + 1) % 16])));
  return w[i];
}

/// Transposes four by four words in each quarter of four registers.
INLINE void transpose_quarters(__m512i *r0, __m512i *r1, __m512i *r2, __m512i *r3) {
  const __m512i lower01 = _mm512_unpacklo_epi32(*r0, *r1), upper01 = _mm512_unpackhi_epi32(*r0, *r1);
  const __m512i lower23 = _mm512_unpacklo_epi32(*r2, *r3), upper23 = _mm512_unpackhi_epi32(*r2, *r3);
  *r0 = _mm512_unpacklo_epi64(lower01, lower23), *r1 = _mm512_unpackhi_epi64(lower01, lower23);
  *r2 = _mm512_unpacklo_epi64(upper01, upper23), *r3 = _mm512_unpackhi_epi64(upper01, upper23);
}

/// Transposes four by four quarters of four registers.
INLINE void transpose_by_quarters(__m512i *r0, __m512i *r1, __m512i *r2, __m512i *r3) {
  const __m512i even01 = _mm512_shuffle_i32x4(*r0, *r1, 0x88), odd01 = _mm512_shuffle_i32x4(*r0, *r1, 0xdd);
  const __m512i even23 = _mm512_shuffle_i32x4(*r2, *r3, 0x88), odd23 = _mm512_shuffle_i32x4(*r2, *r3, 0xdd);
  *r0 = _mm512_shuffle_i32x4(even01, even23, 0x88), *r2 = _mm512_shuffle_i32x4(even01, even23, 0xdd);
  *r1 = _mm512_shuffle_i32x4(odd01, odd23, 0x88), *r3 = _mm512_shuffle_i32x4(odd01, odd23, 0xdd);
}

/// Loads a block of each stream, and transposes: w[i] is word i of all streams.
INLINE void load_blocks(__m512i w[16], const uint8_t *const bytes[LANES], size_t offset) {
  const __m512i swap = _mm512_broadcast_i32x4(_mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203));
  #pragma GCC unroll 16
  for (unsigned i = 0; i < 16; i++) { w[i] = _mm512_shuffle_epi8(_mm512_loadu_si512(bytes[i] + offset), swap); }
  #pragma GCC unroll 4
  for (unsigned i = 0; i < 16; i += 4) { transpose_quarters(&w[i], &w[i + 1], &w[i + 2], &w[i + 3]); }
  // Now quarter q of w[4 * n + j] is word 4 * q + j of streams 4 * n to 4 * n + 3.
  #pragma GCC unroll 4
  for (unsigned j = 0; j < 4; j++) { transpose_by_quarters(&w[j], &w[4 + j], &w[8 + j], &w[12 + j]); }
}

INLINE variables load_variables(const uint32_t *words) {
  variables v;
  v.a = _mm512_loadu_si512(words), v.b = _mm512_loadu_si512(words + LANES);
  v.c = _mm512_loadu_si512(words + 2 * LANES), v.d = _mm512_loadu_si512(words + 3 * LANES);
  v.e = _mm512_loadu_si512(words + 4 * LANES), v.f = _mm512_loadu_si512(words + 5 * LANES);
  v.g = _mm512_loadu_si512(words + 6 * LANES), v.h = _mm512_loadu_si512(words + 7 * LANES);
  return v;
}

INLINE void add_variables(uint32_t *words, const variables *v) {
  const __m512i values[8] = {v->a, v->b, v->c, v->d, v->e, v->f, v->g, v->h};
  #pragma GCC unroll 8
  for (unsigned i = 0; i < 8; i++) {
    uint32_t *word = words + i * LANES;
    _mm512_storeu_si512(word, add(_mm512_loadu_si512(word), values[i]));
  }
}

TARGET void pkh__lanes_avx512_x16(uint32_t *words, const uint8_t *const *bytes, size_t block_count) {
  for (size_t block = 0; block < block_count; block++) {
    __m512i w[16];
    load_blocks(w, bytes, block * PKH__BLOCK_SIZE);
    variables v = load_variables(words);
  #pragma GCC unroll 16
    for (unsigned i = 0; i < 16; i++) { one_round(&v, w[i], i); }
    for (unsigned round = 16; round < 64; round += 16) {
  #pragma GCC unroll 16
      for (unsigned i = 0; i < 16; i++) { one_round(&v, next_words(w, i), round + i); }
    }
    add_variables(words, &v);
  }
}

#endif
