/// The ways to scan for a candidate, one per file. Only `chunker.c` decides which one runs.
///
/// All rest on one identity. Let `strip` be the hash of some `n` bytes as if nothing preceded them, and `before` the
/// hash just before these bytes. Then the hash after them is `(before << n) + strip` (mod 2^32). So the hashes of
/// strips can be computed independently and joined afterwards, which shortens the chain in which every hash waits for
/// the one before it. Whatever lies more than 32 bytes back is shifted out by itself.
#ifndef PKS_CHUNKER_SCAN_H
#define PKS_CHUNKER_SCAN_H

#include "chunker.h"

pks__scan pks__scan_scalar;

#if defined(__x86_64__)
/// Requires AVX2.
pks__scan pks__scan_avx2;

/// Requires AVX-512 F, BW and VBMI.
pks__scan pks__scan_avx512;
#endif

#endif
