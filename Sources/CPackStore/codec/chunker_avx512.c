/// The scan for AVX-512 with byte permutations (VBMI): 128 positions at a time, the Gear table in registers.
///
/// Definitions. A *strip* is 8 consecutive bytes; a *block* is 16 strips, one per 32-bit lane: byte `8 * lane + t` of
/// the block is byte `t` of strip `lane`. A vector "of `t`" concerns byte `t` of all strips.
///
/// 1. `load_gear`: for each `t`, the Gear constants of the bytes. The table is four *planes*, one per byte of a
/// constant, of
///    256 bytes each: four registers, and two permutations for 64 look-ups.
/// 2. `hash_strips`: hashes within each strip, as if nothing preceded it.
/// 3. `join_strips`: the *carry* of each strip, the hash of the 4 strips (32 bytes, the whole window) before it.
/// 4. `add_carry`: the hashes at all positions.
///
/// Steps 2 to 4 are as in `chunker_avx2.c`, with twice the lanes.
#include "codec/chunker_avx512.h"

#include "codec/chunker_gear.h"

#if defined(__x86_64__)

  #include <immintrin.h>

  #define AVX512_TARGET target("avx512f,avx512bw,avx512vbmi")
  #define AVX512 __attribute__((AVX512_TARGET))
  #define AVX512_INLINE static inline __attribute__((AVX512_TARGET, always_inline))

  /// Keeps arrays of vectors in registers: a loop over them that is left as a loop would force them into memory.
  #define UNROLLED _Pragma("GCC unroll 8")

enum {
  STRIP_BYTES = 8,
  LANES = 16,
  BLOCK_BYTES = STRIP_BYTES * LANES,
  VECTOR_BYTES = 64,
};

  #define PLANE0(constant) (uint8_t)((constant)&0xFF),
  #define PLANE1(constant) (uint8_t)((constant) >> 8 & 0xFF),
  #define PLANE2(constant) (uint8_t)((constant) >> 16 & 0xFF),
  #define PLANE3(constant) (uint8_t)((constant) >> 24 & 0xFF),

/// `planes[p][b]` is byte `p` of `G[b]`.
static const _Alignas(VECTOR_BYTES) uint8_t planes[4][256] = {
  {PKS__GEAR_LIST(PLANE0)},
  {PKS__GEAR_LIST(PLANE1)},
  {PKS__GEAR_LIST(PLANE2)},
  {PKS__GEAR_LIST(PLANE3)},
};

  #define OF_4_STRIPS(byte) (byte), (byte) + 8, (byte) + 16, (byte) + 24
  #define HALVES_OF_4_STRIPS(byte)                                                                                     \
    OF_4_STRIPS(byte), OF_4_STRIPS((byte) + 1), OF_4_STRIPS((byte) + 2), OF_4_STRIPS((byte) + 3)
  #define HALVES_OF_16_STRIPS(byte)                                                                                    \
    HALVES_OF_4_STRIPS(byte), HALVES_OF_4_STRIPS((byte) + 32), HALVES_OF_4_STRIPS((byte) + 64),                        \
      HALVES_OF_4_STRIPS((byte) + 96)

/// The bytes of a block in the order of look-up: bytes 0 to 3 of all strips, then 4 to 7. Within each quarter of a
/// vector `t` goes up slowest, so that the interleaving in `gear_of_half`, which works by quarters, ends with one strip
/// per lane.
static const _Alignas(VECTOR_BYTES
) uint8_t half_order[2][VECTOR_BYTES] = {{HALVES_OF_16_STRIPS(0)}, {HALVES_OF_16_STRIPS(4)}};

typedef struct gear_table {
  __m512i planes[4][4];
} gear_table;

/// The state from the previous block: the hashes of the strip, and of the pair of strips before it, in each lane.
typedef struct strip_state {
  __m512i strip;
  __m512i pair_before;
} strip_state;

AVX512_INLINE gear_table load_table(void) {
  gear_table table;
  for (int plane = 0; plane < 4; plane++) {
    for (int part = 0; part < 4; part++) {
      table.planes[plane][part] = _mm512_load_si512(planes[plane] + VECTOR_BYTES * part);
    }
  }
  return table;
}

AVX512_INLINE __m512i look_up(const __m512i plane[4], __m512i bytes, __mmask64 is_high) {
  const __m512i below128 = _mm512_permutex2var_epi8(plane[0], bytes, plane[1]);
  const __m512i from128 = _mm512_permutex2var_epi8(plane[2], bytes, plane[3]);
  return _mm512_mask_blend_epi8(is_high, below128, from128);
}

/// The constants for four successive `t`.
AVX512_INLINE void gear_of_half(const gear_table *table, __m512i bytes, __m512i gear[4]) {
  const __mmask64 is_high = _mm512_movepi8_mask(bytes);
  const __m512i plane0 = look_up(table->planes[0], bytes, is_high);
  const __m512i plane1 = look_up(table->planes[1], bytes, is_high);
  const __m512i plane2 = look_up(table->planes[2], bytes, is_high);
  const __m512i plane3 = look_up(table->planes[3], bytes, is_high);
  const __m512i low_of_01 = _mm512_unpacklo_epi8(plane0, plane1);
  const __m512i low_of_23 = _mm512_unpackhi_epi8(plane0, plane1);
  const __m512i high_of_01 = _mm512_unpacklo_epi8(plane2, plane3);
  const __m512i high_of_23 = _mm512_unpackhi_epi8(plane2, plane3);
  gear[0] = _mm512_unpacklo_epi16(low_of_01, high_of_01);
  gear[1] = _mm512_unpackhi_epi16(low_of_01, high_of_01);
  gear[2] = _mm512_unpacklo_epi16(low_of_23, high_of_23);
  gear[3] = _mm512_unpackhi_epi16(low_of_23, high_of_23);
}

/// Up to a vector of bytes; the rest is zero and not read.
AVX512_INLINE __m512i load_bytes(const uint8_t *bytes, size_t byte_count) {
  if (byte_count >= VECTOR_BYTES) { return _mm512_loadu_si512(bytes); }
  return _mm512_maskz_loadu_epi8((UINT64_C(1) << byte_count) - 1, bytes);
}

AVX512_INLINE void load_gear(
  const gear_table *table, const uint8_t *bytes, size_t byte_count, __m512i gear[STRIP_BYTES]
) {
  const __m512i first = load_bytes(bytes, byte_count);
  const __m512i second =
    byte_count > VECTOR_BYTES ? load_bytes(bytes + VECTOR_BYTES, byte_count - VECTOR_BYTES) : _mm512_setzero_si512();
  gear_of_half(table, _mm512_permutex2var_epi8(first, _mm512_load_si512(half_order[0]), second), gear);
  gear_of_half(table, _mm512_permutex2var_epi8(first, _mm512_load_si512(half_order[1]), second), gear + 4);
}

/// The hash of `before` followed by a strip of `byte_count` bytes.
AVX512_INLINE __m512i join(__m512i before, unsigned byte_count, __m512i strip) {
  return _mm512_add_epi32(_mm512_slli_epi32(before, byte_count), strip);
}

/// Converts Gear constants to hashes within each strip: `hashes[t]` becomes the hash of the bytes up to `t` which start at 0 for t
/// = 1, 3, 7; at 4 for 5; and at `t` itself otherwise. `add_carry` joins them in the same order.
AVX512_INLINE void hash_strips(__m512i hashes[STRIP_BYTES]) {
  hashes[1] = join(hashes[0], 1, hashes[1]);
  hashes[3] = join(hashes[2], 1, hashes[3]);
  hashes[5] = join(hashes[4], 1, hashes[5]);
  hashes[7] = join(hashes[6], 1, hashes[7]);
  hashes[3] = join(hashes[1], 2, hashes[3]);
  hashes[7] = join(hashes[5], 2, hashes[7]);
  hashes[7] = join(hashes[3], 4, hashes[7]);
}

AVX512_INLINE void add_carry(__m512i carry, __m512i hashes[STRIP_BYTES]) {
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
AVX512_INLINE __m512i join_strips(__m512i strip, strip_state *state) {
  const __m512i strip_before = _mm512_alignr_epi32(strip, state->strip, LANES - 1);
  const __m512i strip_2_before = _mm512_alignr_epi32(strip, state->strip, LANES - 2);
  const __m512i pair_before = join(strip_2_before, STRIP_BYTES, strip_before);
  const __m512i pair_3_before = _mm512_alignr_epi32(pair_before, state->pair_before, LANES - 2);
  *state = (strip_state){strip, pair_before};
  return join(pair_3_before, STRIP_BYTES * 2, pair_before);
}

AVX512_INLINE bool any_below(const __m512i hashes[STRIP_BYTES], __m512i threshold) {
  const __m512i least01 = _mm512_min_epu32(hashes[0], hashes[1]);
  const __m512i least23 = _mm512_min_epu32(hashes[2], hashes[3]);
  const __m512i least45 = _mm512_min_epu32(hashes[4], hashes[5]);
  const __m512i least67 = _mm512_min_epu32(hashes[6], hashes[7]);
  const __m512i least = _mm512_min_epu32(_mm512_min_epu32(least01, least23), _mm512_min_epu32(least45, least67));
  return _mm512_cmplt_epu32_mask(least, threshold) != 0;
}

/// The number of positions from position `skip` of the block to the first hash below the threshold; huge if there is
/// none.
AVX512_INLINE uint32_t distance_to_first(const __m512i hashes[STRIP_BYTES], __m512i threshold, uint32_t skip) {
  const __m512i strip_starts = _mm512_setr_epi32(0, 8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 88, 96, 104, 112, 120);
  // Positions before `skip` wrap around to huge numbers.
  __m512i distance = _mm512_sub_epi32(strip_starts, _mm512_set1_epi32((int)skip));
  __m512i least = _mm512_set1_epi32(-1);
  UNROLLED for (int t = 0; t < STRIP_BYTES; t++) {
    least = _mm512_mask_min_epu32(least, _mm512_cmplt_epu32_mask(hashes[t], threshold), least, distance);
    distance = _mm512_add_epi32(distance, _mm512_set1_epi32(1));
  }
  return (uint32_t)_mm512_reduce_min_epu32(least);
}

AVX512 size_t pks__scan_avx512(const uint8_t *bytes, size_t from, size_t to, uint32_t threshold) {
  const gear_table table = load_table();
  const __m512i thresholds = _mm512_set1_epi32((int)threshold);
  strip_state state = {_mm512_setzero_si512(), _mm512_setzero_si512()};

  // The first block starts early enough to fill the window of `from`; its hashes before that are skipped.
  uint32_t skip = PKS__GEAR_WINDOW - 1;
  for (size_t start = from - skip; start < to; start += BLOCK_BYTES) {
    __m512i hashes[STRIP_BYTES];
    load_gear(&table, bytes + start, to - start, hashes);
    hash_strips(hashes);
    add_carry(join_strips(hashes[STRIP_BYTES - 1], &state), hashes);
    if (any_below(hashes, thresholds)) {
      const uint32_t distance = distance_to_first(hashes, thresholds, skip);
      // A position past the end is not a candidate but a hash of the zeros read there; nothing before it was one.
      if (distance < BLOCK_BYTES) { return pks__min_size(start + skip + distance, to); }
    }
    skip = 0;
  }
  return to;
}

#endif
