/// The scan for AVX2.
#ifndef PKS_CODEC_CHUNKER_AVX2_H
#define PKS_CODEC_CHUNKER_AVX2_H

#include "codec/chunker_scan.h"

#if defined(__x86_64__)
/// Requires AVX2.
pks__scan pks__scan_avx2;
#endif

#endif
