/// The instructions of this processor that the kernels need.
#ifndef CPACKHASH_CPU_H
#define CPACKHASH_CPU_H

#include <stdint.h>

typedef enum pkh__cpu_feature {
  PKH__CPU_X86_SHA = 1 << 0,     ///< SHA, SSSE3 and SSE4.1
  PKH__CPU_X86_AVX2 = 1 << 1,    ///< AVX2, BMI1 and BMI2; the system saves ymm registers
  PKH__CPU_X86_AVX512 = 1 << 2,  ///< AVX-512 F, BW and VL, and AVX2; the system saves zmm and mask registers
  PKH__CPU_ARM_SHA2 = 1 << 3,
} pkh__cpu_feature;

/// Returns the features as a sum of `pkh__cpu_feature`.
uint32_t pkh__cpu_features(void);

#endif
