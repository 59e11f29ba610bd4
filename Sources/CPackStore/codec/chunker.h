/// Content-defined chunking: where an asset is cut.
///
/// Definitions. `G` is a fixed table of 256 random 32-bit integers. The Gear hash after byte `i` of an asset is
///     h(i) = sum over k = 0...31 of G[byte[i - k]] << k   (mod 2^32),
/// a function of the last 32 bytes alone: older bytes have been shifted out. A position is a *candidate* when `h(i) <
/// threshold`, a test of the top bits, which depend on all 32 bytes. A chunk that starts at `s` ends after the first
/// candidate `i` with `i + 1 - s >= minimum`, at `s + maximum` if no candidate comes before, or at the end of the asset.
///
/// The window is always full before the minimum ends (`minimum >= 32`), so that a cut depends on content alone: after
/// an insertion, cuts resynchronise at the first candidate both versions accept.
///
/// Sizes: minimum = average / 2, maximum = 4 x average, and threshold = 2^32 / (average - minimum), so that the
/// expected chunk has `average` bytes on random data.
///
/// Cuts are part of the format (`Docs/FORMAT.md`): every implementation gives bit-identical results, and golden vectors
/// pin them. Gear is from Xia et al., "Ddelta: a deduplication-inspired fast delta compression approach" (2014).
#ifndef PKS_CODEC_CHUNKER_H
#define PKS_CODEC_CHUNKER_H

#include "codec/chunker_scan.h"

enum {
  PKS__CHUNK_AVERAGE_MIN = 1024,
  PKS__CHUNK_AVERAGE_MAX = 1024 * 1024,
  PKS__CHUNK_AVERAGE_DEFAULT = 8192,  ///< default of a new store
};

/// Parameters of a chunker; a value, derived from the average alone.
typedef struct pks__chunker {
  uint32_t average;
  uint32_t minimum;
  uint32_t maximum;
  uint32_t threshold;
} pks__chunker;

/// Whether it is a power of two in [PKS__CHUNK_AVERAGE_MIN, PKS__CHUNK_AVERAGE_MAX].
static inline bool pks__chunk_average_is_valid(uint32_t average) {
  return (average & (average - 1)) == 0 && average >= PKS__CHUNK_AVERAGE_MIN && average <= PKS__CHUNK_AVERAGE_MAX;
}

/// The chunker with a valid average (asserted).
pks__chunker pks__chunker_make(uint32_t average);

/// Returns the length of the chunk that starts at `bytes`, with `byte_count` (>= 1) available bytes. If `byte_count < maximum` and
/// no cut is inside, the result is `byte_count`: correct if the asset ends there; otherwise the caller must call again with more
/// bytes. Bit-identical on every processor. Reentrant.
size_t pks__chunker_cut(const pks__chunker *chunker, const uint8_t *bytes, size_t byte_count);

/// The ways to scan for a candidate; tests can select every one that the processor supports.
typedef enum pks__scan_kind {
  PKS__SCAN_SCALAR,
  PKS__SCAN_AVX2,
  PKS__SCAN_AVX512,
  PKS__SCAN_NEON,
  PKS__SCAN_KIND_COUNT,
} pks__scan_kind;

/// The implementation of that kind, or NULL when this processor (or this build) lacks it.
pks__scan *pks__scan_for(pks__scan_kind kind);

/// As `pks__chunker_cut`, by one implementation.
size_t pks__chunker_cut_by(pks__scan *scan, const pks__chunker *chunker, const uint8_t *bytes, size_t byte_count);

#endif
