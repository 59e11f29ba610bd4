/// XXH3-64 built for AVX2.
#ifndef PKS_CODEC_CHECKSUM_AVX2_H
#define PKS_CODEC_CHECKSUM_AVX2_H

#include "base/base.h"

#if defined(__x86_64__)
/// As `pks__checksum`. Requires AVX2.
uint64_t pks__checksum_avx2(const void *bytes, size_t byte_count);
#endif

#endif
