/// The scan for arm64: 32 positions at a time, with instructions that every arm64 processor has.
///
/// Definitions. A *strip* is 8 consecutive bytes; a *block* is 4 strips, one per 32-bit lane: byte `8 * lane + t` of
/// the block is byte `t` of strip `lane`. A vector "of `t`" concerns byte `t` of all strips.
///
/// 1. `load_gear`: for each `t`, the Gear constants of the bytes.
/// 2. `hash_strips`: hashes within each strip, as if nothing preceded it.
/// 3. `join_strips`: the *carry* of each strip, the hash of the 4 strips (32 bytes, the whole window) before it.
/// 4. `add_carry`: the hashes at all positions.
///
/// Steps 2 to 4 are as in `chunker_avx2.c`, with half the lanes. A shift and an addition replace a multiply-accumulate, which is
/// one instruction, but slower on most processors.
#include "codec/chunker_neon.h"

#include "codec/chunker_gear.h"
#include "codec/chunker_scalar.h"

#if PKS__HAS_NEON

  #include <arm_neon.h>

  #define NEON_INLINE static inline __attribute__((always_inline))

  /// Keeps arrays of vectors in registers: a loop over them that is left as a loop would force them into memory.
  #define UNROLLED _Pragma("GCC unroll 8")

enum {
  STRIP_BYTES = 8,
  LANES = 4,
  BLOCK_BYTES = STRIP_BYTES * LANES,
};

/// The state from the previous block: the hashes of the strip, and of the pair of strips before it, in each lane.
typedef struct strip_state {
  uint32x4_t strip;
  uint32x4_t pair_before;
} strip_state;

/// Constants are loaded one by one. Look-ups in registers take 16 registers for each of the four bytes of a constant, of
/// which there are 32, and as many four-register look-ups as there are bytes, each of several micro-operations.
NEON_INLINE void load_gear(const uint8_t *bytes, uint32x4_t gear[STRIP_BYTES]) {
  UNROLLED for (int t = 0; t < STRIP_BYTES; t++) {
    const uint8_t *first = bytes + t;
    gear[t] = vld1q_dup_u32(&pks__gear[first[0]]);
    gear[t] = vld1q_lane_u32(&pks__gear[first[8]], gear[t], 1);
    gear[t] = vld1q_lane_u32(&pks__gear[first[16]], gear[t], 2);
    gear[t] = vld1q_lane_u32(&pks__gear[first[24]], gear[t], 3);
  }
}

/// The hash of `before` followed by a strip of `byte_count` bytes.
  #define JOIN(before, byte_count, strip) vaddq_u32(vshlq_n_u32((before), (byte_count)), (strip))

/// Converts Gear constants to hashes within each strip: `hashes[t]` becomes the hash of the bytes up to `t` which start at 0 for t
/// = 1, 3, 7; at 4 for 5; and at `t` itself otherwise. `add_carry` joins them in the same order.
NEON_INLINE void hash_strips(uint32x4_t hashes[STRIP_BYTES]) {
  hashes[1] = JOIN(hashes[0], 1, hashes[1]);
  hashes[3] = JOIN(hashes[2], 1, hashes[3]);
  hashes[5] = JOIN(hashes[4], 1, hashes[5]);
  hashes[7] = JOIN(hashes[6], 1, hashes[7]);
  hashes[3] = JOIN(hashes[1], 2, hashes[3]);
  hashes[7] = JOIN(hashes[5], 2, hashes[7]);
  hashes[7] = JOIN(hashes[3], 4, hashes[7]);
}

NEON_INLINE void add_carry(uint32x4_t carry, uint32x4_t hashes[STRIP_BYTES]) {
  hashes[7] = JOIN(carry, 8, hashes[7]);
  hashes[3] = JOIN(carry, 4, hashes[3]);
  hashes[1] = JOIN(carry, 2, hashes[1]);
  hashes[5] = JOIN(hashes[3], 2, hashes[5]);
  hashes[0] = JOIN(carry, 1, hashes[0]);
  hashes[2] = JOIN(hashes[1], 1, hashes[2]);
  hashes[4] = JOIN(hashes[3], 1, hashes[4]);
  hashes[6] = JOIN(hashes[5], 1, hashes[6]);
}

/// The carries, from the hash of each strip by itself.
NEON_INLINE uint32x4_t join_strips(uint32x4_t strip, strip_state *state) {
  const uint32x4_t strip_before = vextq_u32(state->strip, strip, LANES - 1);
  const uint32x4_t strip_2_before = vextq_u32(state->strip, strip, LANES - 2);
  const uint32x4_t pair_before = JOIN(strip_2_before, STRIP_BYTES, strip_before);
  const uint32x4_t pair_3_before = vextq_u32(state->pair_before, pair_before, LANES - 2);
  *state = (strip_state){strip, pair_before};
  return JOIN(pair_3_before, STRIP_BYTES * 2, pair_before);
}

NEON_INLINE uint32_t least_of(const uint32x4_t hashes[STRIP_BYTES]) {
  const uint32x4_t least0123 = vminq_u32(vminq_u32(hashes[0], hashes[1]), vminq_u32(hashes[2], hashes[3]));
  const uint32x4_t least4567 = vminq_u32(vminq_u32(hashes[4], hashes[5]), vminq_u32(hashes[6], hashes[7]));
  return vminvq_u32(vminq_u32(least0123, least4567));
}

/// The number of positions from position `skip` of the block to the first hash below the threshold; huge if there is
/// none.
NEON_INLINE uint32_t distance_to_first(const uint32x4_t hashes[STRIP_BYTES], uint32_t threshold, uint32_t skip) {
  static const uint32_t strip_starts[LANES] = {0, 8, 16, 24};
  const uint32x4_t thresholds = vdupq_n_u32(threshold);
  // Positions before `skip` wrap around to huge numbers.
  uint32x4_t distance = vsubq_u32(vld1q_u32(strip_starts), vdupq_n_u32(skip));
  uint32x4_t least = vdupq_n_u32(UINT32_MAX);
  UNROLLED for (int t = 0; t < STRIP_BYTES; t++) {
    // All ones where the hash is not below.
    const uint32x4_t is_above = vcgeq_u32(hashes[t], thresholds);
    least = vminq_u32(least, vorrq_u32(is_above, distance));
    distance = vaddq_u32(distance, vdupq_n_u32(1));
  }
  return vminvq_u32(least);
}

size_t pks__scan_neon(const uint8_t *bytes, size_t from, size_t to, uint32_t threshold) {
  strip_state state = {vdupq_n_u32(0), vdupq_n_u32(0)};

  // The first block starts early enough to fill the window of `from`; its hashes before that are skipped.
  uint32_t skip = PKS__GEAR_WINDOW - 1;
  size_t start = from - skip;
  for (; start < to && to - start >= BLOCK_BYTES; start += BLOCK_BYTES) {
    uint32x4_t hashes[STRIP_BYTES];
    load_gear(bytes + start, hashes);
    hash_strips(hashes);
    add_carry(join_strips(hashes[STRIP_BYTES - 1], &state), hashes);
    if (least_of(hashes) < threshold) {
      const uint32_t distance = distance_to_first(hashes, threshold, skip);
      if (distance < BLOCK_BYTES) { return start + skip + distance; }
    }
    skip = 0;
  }
  return pks__scan_scalar(bytes, start + skip, to, threshold);
}

#endif
