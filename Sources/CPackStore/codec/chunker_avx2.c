/// The scan for AVX2: 64 positions at a time.
///
/// Definitions. A *strip* is 8 consecutive bytes; a *block* is 8 strips, one per 32-bit lane: byte `8 * lane + t` of
/// the block is byte `t` of strip `lane`. A vector "of `t`" concerns byte `t` of all strips.
///
/// 1. `load_gear`: for each `t`, the Gear constants of the bytes.
/// 2. `hash_strips`: hashes within each strip, as if nothing preceded it.
/// 3. `join_strips`: the *carry* of each strip, the hash of the 4 strips (32 bytes, the whole window) before it.
/// 4. `add_carry`: the hashes at all positions.
///
/// Constants are loaded one by one: gather instructions alone take longer on Zen 4 than this whole scan, and are slow
/// where microcode mitigates "Downfall". Two loads per byte are then the limit, not the arithmetic.
#include "codec/chunker_avx2.h"

#include "codec/chunker_gear.h"
#include "codec/chunker_scalar.h"

#if defined(__x86_64__)

  #include <immintrin.h>

  #define AVX2 __attribute__((target("avx2")))
  #define AVX2_INLINE static inline __attribute__((target("avx2"), always_inline))

  /// Keeps arrays of vectors in registers: a loop over them that is left as a loop would force them into memory.
  #define UNROLLED _Pragma("GCC unroll 8")

enum {
  STRIP_BYTES = 8,
  LANES = 8,
  BLOCK_BYTES = STRIP_BYTES * LANES,
};

/// The state from the previous block: the hashes of the strip, and of the pair of strips before it, in each lane.
typedef struct strip_state {
  __m256i strip;
  __m256i pair_before;
} strip_state;

AVX2_INLINE int gear_at(const uint8_t *byte) { return (int)pks__gear[*byte]; }

AVX2_INLINE void load_gear(const uint8_t *bytes, __m256i gear[STRIP_BYTES]) {
  UNROLLED for (int t = 0; t < STRIP_BYTES; t++) {
    const uint8_t *first = bytes + t;
    gear[t] = _mm256_setr_epi32(
      gear_at(first), gear_at(first + 8), gear_at(first + 16), gear_at(first + 24), gear_at(first + 32),
      gear_at(first + 40), gear_at(first + 48), gear_at(first + 56)
    );
  }
}

/// The hash of `before` followed by a strip of `byte_count` bytes.
AVX2_INLINE __m256i join(__m256i before, int byte_count, __m256i strip) {
  return _mm256_add_epi32(_mm256_slli_epi32(before, byte_count), strip);
}

/// Converts Gear constants to hashes within each strip: `hashes[t]` becomes the hash of the bytes up to `t` which start at 0 for t
/// = 1, 3, 7; at 4 for 5; and at `t` itself otherwise. `add_carry` joins them in the same order.
AVX2_INLINE void hash_strips(__m256i hashes[STRIP_BYTES]) {
  hashes[1] = join(hashes[0], 1, hashes[1]);
  hashes[3] = join(hashes[2], 1, hashes[3]);
  hashes[5] = join(hashes[4], 1, hashes[5]);
  hashes[7] = join(hashes[6], 1, hashes[7]);
  hashes[3] = join(hashes[1], 2, hashes[3]);
  hashes[7] = join(hashes[5], 2, hashes[7]);
  hashes[7] = join(hashes[3], 4, hashes[7]);
}

AVX2_INLINE void add_carry(__m256i carry, __m256i hashes[STRIP_BYTES]) {
  hashes[7] = join(carry, 8, hashes[7]);
  hashes[3] = join(carry, 4, hashes[3]);
  hashes[1] = join(carry, 2, hashes[1]);
  hashes[5] = join(hashes[3], 2, hashes[5]);
  hashes[0] = join(carry, 1, hashes[0]);
  hashes[2] = join(hashes[1], 1, hashes[2]);
  hashes[4] = join(hashes[3], 1, hashes[4]);
  hashes[6] = join(hashes[5], 1, hashes[6]);
}

/// The carries, from the hash of each strip by itself.
AVX2_INLINE __m256i join_strips(__m256i strip, strip_state *state) {
  // The halves that cross from the block before (lanes 4 to 7) into this one (lanes 0 to 3).
  const __m256i strip_crossing = _mm256_permute2x128_si256(state->strip, strip, 0x21);
  const __m256i strip_before = _mm256_alignr_epi8(strip, strip_crossing, 12);
  const __m256i strip_2_before = _mm256_alignr_epi8(strip, strip_crossing, 8);
  const __m256i pair_before = join(strip_2_before, STRIP_BYTES, strip_before);
  const __m256i pair_crossing = _mm256_permute2x128_si256(state->pair_before, pair_before, 0x21);
  const __m256i pair_3_before = _mm256_alignr_epi8(pair_before, pair_crossing, 8);
  *state = (strip_state){strip, pair_before};
  return join(pair_3_before, STRIP_BYTES * 2, pair_before);
}

/// All ones in the lanes where `hash <= last`.
AVX2_INLINE __m256i at_most(__m256i hash, __m256i last) {
  return _mm256_cmpeq_epi32(_mm256_min_epu32(hash, last), hash);
}

AVX2_INLINE bool any_at_most(const __m256i hashes[STRIP_BYTES], __m256i last) {
  const __m256i least01 = _mm256_min_epu32(hashes[0], hashes[1]);
  const __m256i least23 = _mm256_min_epu32(hashes[2], hashes[3]);
  const __m256i least45 = _mm256_min_epu32(hashes[4], hashes[5]);
  const __m256i least67 = _mm256_min_epu32(hashes[6], hashes[7]);
  const __m256i least = _mm256_min_epu32(_mm256_min_epu32(least01, least23), _mm256_min_epu32(least45, least67));
  return _mm256_movemask_epi8(at_most(least, last)) != 0;
}

/// The number of positions from position `skip` of the block to the first hash that is at most `last`; huge if there is
/// none.
AVX2_INLINE uint32_t distance_to_first(const __m256i hashes[STRIP_BYTES], __m256i last, uint32_t skip) {
  const __m256i strip_starts = _mm256_setr_epi32(0, 8, 16, 24, 32, 40, 48, 56);
  // Positions before `skip` wrap around to huge numbers.
  __m256i distance = _mm256_sub_epi32(strip_starts, _mm256_set1_epi32((int)skip));
  const __m256i ones = _mm256_set1_epi32(-1);
  __m256i least = ones;
  UNROLLED for (int t = 0; t < STRIP_BYTES; t++) {
    least = _mm256_min_epu32(least, _mm256_blendv_epi8(ones, distance, at_most(hashes[t], last)));
    distance = _mm256_add_epi32(distance, _mm256_set1_epi32(1));
  }
  __m128i least4 = _mm_min_epu32(_mm256_castsi256_si128(least), _mm256_extracti128_si256(least, 1));
  least4 = _mm_min_epu32(least4, _mm_shuffle_epi32(least4, _MM_SHUFFLE(1, 0, 3, 2)));
  least4 = _mm_min_epu32(least4, _mm_shuffle_epi32(least4, _MM_SHUFFLE(2, 3, 0, 1)));
  return (uint32_t)_mm_cvtsi128_si32(least4);
}

AVX2 size_t pks__scan_avx2(const uint8_t *bytes, size_t from, size_t to, uint32_t threshold) {
  if (threshold == 0) { return to; }
  const __m256i last = _mm256_set1_epi32((int)(threshold - 1));
  strip_state state = {_mm256_setzero_si256(), _mm256_setzero_si256()};

  // The first block starts early enough to fill the window of `from`; its hashes before that are skipped.
  uint32_t skip = PKS__GEAR_WINDOW - 1;
  size_t start = from - skip;
  for (; start < to && to - start >= BLOCK_BYTES; start += BLOCK_BYTES) {
    __m256i hashes[STRIP_BYTES];
    load_gear(bytes + start, hashes);
    hash_strips(hashes);
    add_carry(join_strips(hashes[STRIP_BYTES - 1], &state), hashes);
    if (any_at_most(hashes, last)) {
      const uint32_t distance = distance_to_first(hashes, last, skip);
      if (distance < BLOCK_BYTES) { return start + skip + distance; }
    }
    skip = 0;
  }
  return pks__scan_scalar(bytes, start + skip, to, threshold);
}

#endif
