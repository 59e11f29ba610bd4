/// XXH3: guards against rot. It is never proof of identity, and places nothing in tables: with the bytes one can choose
/// the sum. Only its files and `path_hash.c` include `xxhash.h`.
#ifndef PKS_CODEC_CHECKSUM_H
#define PKS_CODEC_CHECKSUM_H

#include "base/base.h"

/// XXH3-64, seed 0.
typedef uint64_t pks__checksum_function(const void *bytes, size_t byte_count);

/// The fastest of this processor.
pks__checksum_function pks__checksum;

/// The ways to compute it. All give the same.
typedef enum pks__checksum_kind {
  PKS__CHECKSUM_PORTABLE = 0,  ///< what xxHash has for the least processor built for: NEON on arm64, SSE2 on x86-64
  PKS__CHECKSUM_AVX2 = 1,
} pks__checksum_kind;

/// One way, for tests; NULL where this processor lacks it.
pks__checksum_function *pks__checksum_for(pks__checksum_kind kind);

#endif
