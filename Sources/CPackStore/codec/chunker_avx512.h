/// The scan for AVX-512.
#ifndef PKS_CODEC_CHUNKER_AVX512_H
#define PKS_CODEC_CHUNKER_AVX512_H

#include "codec/chunker_scan.h"

#if defined(__x86_64__)
/// Requires AVX-512 F, BW and VBMI.
pks__scan pks__scan_avx512;
#endif

#endif
