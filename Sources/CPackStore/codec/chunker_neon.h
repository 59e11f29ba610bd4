/// The scan for arm64, whose baseline has NEON.
#ifndef PKS_CODEC_CHUNKER_NEON_H
#define PKS_CODEC_CHUNKER_NEON_H

#include "codec/chunker_scan.h"

#if defined(__aarch64__) && defined(__ARM_NEON) && !defined(__AARCH64EB__)
  #define PKS__HAS_NEON 1
pks__scan pks__scan_neon;
#else
  #define PKS__HAS_NEON 0
#endif

#endif
