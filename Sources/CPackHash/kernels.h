/// The functions that process blocks, one file per instruction set, and the struct that combines them.
///
/// A kernel sees whole blocks only: padding, partial blocks and the choice of messages are in sha256.c and many.c.
#ifndef CPACKHASH_KERNELS_H
#define CPACKHASH_KERNELS_H

#include "CPackHash.h"

PKH_ASSUME_NONNULL_BEGIN

enum {
  PKH__BLOCK_SIZE = PKH_SHA256_BLOCK_SIZE,
  PKH__LANES_MAX = 16,
  PKH__LEVELS_MAX = 2,
};

/// Continues one digest by `block_count` blocks, at least one.
typedef void pkh__stream_kernel(uint32_t words[PKH_NONNULL 8], const uint8_t *bytes, size_t block_count);

/// Continues as many digests as the kernel has lanes by `block_count` blocks each, at least one; `bytes` has a pointer for each
/// lane. `words` has the layout of `pkh__lanes`.
typedef void pkh__lanes_kernel(
  uint32_t *words, const uint8_t *PKH_NONNULL const *PKH_NONNULL bytes, size_t block_count
);

/// A kernel of several lanes. Word `w` of lane `l` is words[w * word_stride + l * lane_stride].
typedef struct pkh__lanes {
  pkh__lanes_kernel *PKH_NULLABLE kernel;
  size_t lane_count;
  size_t word_stride, lane_stride;
  /// With fewer messages in flight than this, the next level is faster: the measured break-even
  size_t active_min;
} pkh__lanes;

struct pkh_implementation {
  const char *name;
  uint32_t required_features;  // of pkh__cpu_feature
  /// Built without optimization, where every vector operation passes through memory, this is slower than a row before it: 16
  /// AVX-512 lanes compute 0.07 GB/s, pairs by SHA 0.5
  bool needs_optimizer;
  pkh__stream_kernel *stream;
  /// For many messages: the widest kernel first. Messages left over at the last level run one by one in `stream`. An absent level
  /// has no kernel and is after all others
  pkh__lanes levels[PKH__LEVELS_MAX];
};

/// K of FIPS 180-4, section 4.2.2.
extern const uint32_t pkh__round_constants[64];

/// H(0) of FIPS 180-4, section 5.3.3.
extern const uint32_t pkh__initial_words[8];

pkh__stream_kernel pkh__stream_portable;

#if defined(__x86_64__)
pkh__stream_kernel pkh__stream_x86_sha;
pkh__lanes_kernel pkh__lanes_x86_sha_x2;
pkh__stream_kernel pkh__stream_avx2;
pkh__lanes_kernel pkh__lanes_avx2_x8;
pkh__lanes_kernel pkh__lanes_avx512_x16;
#endif

// Requires a little-endian processor, because the order of words depends on the layout of vectors in registers.
#if defined(__aarch64__) && defined(__ARM_NEON) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  #define PKH__HAS_ARM_SHA2 1
pkh__stream_kernel pkh__stream_arm_sha2;
pkh__lanes_kernel pkh__lanes_arm_sha2_x2;
#else
  #define PKH__HAS_ARM_SHA2 0
#endif

PKH_ASSUME_NONNULL_END

#endif
