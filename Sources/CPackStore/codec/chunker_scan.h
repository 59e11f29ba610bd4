/// The common part of the scans for a candidate; each has a file. Only `chunker.c` decides which one runs.
///
/// All rest on one identity. Let `strip` be the hash of some `n` bytes as if nothing preceded them, and `before` the
/// hash just before these bytes. Then the hash after them is `(before << n) + strip` (mod 2^32). So the hashes of
/// strips can be computed independently and joined afterwards, which shortens the chain in which every hash waits for
/// the one before it. Bytes more than 32 positions back are shifted out automatically.
#ifndef PKS_CODEC_CHUNKER_SCAN_H
#define PKS_CODEC_CHUNKER_SCAN_H

#include "base/base.h"

enum {
  PKS__GEAR_WINDOW = 32,
};

/// Finds the first candidate at an index in `[from, to)` of `bytes`; returns its index, or `to` if none exists. Requires `from >=
/// PKS__GEAR_WINDOW - 1`: exactly the bytes from `from - (PKS__GEAR_WINDOW - 1)` to `to` may be read.
typedef size_t pks__scan(const uint8_t *bytes, size_t from, size_t to, uint32_t threshold);

#endif
