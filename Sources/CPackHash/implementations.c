// The implementations of this architecture, and the choice among them.
//
// The order of the table is the order of preference, the best last: the last implementation that the processor supports is used.
// Builds without optimization skip rows that need it. The order and the values of `active_min` are measured:
// Docs/Decisions/0037-sha-256-is-our-own.md.

#include "cpu.h"
#include "kernels.h"

static const pkh_implementation table[] = {
  {.name = "portable", .stream = pkh__stream_portable},
#if defined(__x86_64__)
  {.name = "avx2", .needs_optimizer = true, .required_features = PKH__CPU_X86_AVX2, .stream = pkh__stream_avx2},
  {
    .name = "avx2-x8",
    .needs_optimizer = true,
    .required_features = PKH__CPU_X86_AVX2,
    .stream = pkh__stream_avx2,
    .levels = {{.kernel = pkh__lanes_avx2_x8, .lane_count = 8, .word_stride = 8, .lane_stride = 1, .active_min = 4}},
  },
  {
    .name = "avx512-x16",
    .needs_optimizer = true,
    .required_features = PKH__CPU_X86_AVX2 | PKH__CPU_X86_AVX512,
    .stream = pkh__stream_avx2,
    .levels =
      {
        {.kernel = pkh__lanes_avx512_x16, .lane_count = 16, .word_stride = 16, .lane_stride = 1, .active_min = 2},
      },
  },
  {.name = "sha", .required_features = PKH__CPU_X86_SHA, .stream = pkh__stream_x86_sha},
  {
    .name = "sha-x2",
    .required_features = PKH__CPU_X86_SHA,
    .stream = pkh__stream_x86_sha,
    .levels = {{.kernel = pkh__lanes_x86_sha_x2, .lane_count = 2, .word_stride = 1, .lane_stride = 8, .active_min = 2}},
  },
  {
    .name = "avx512-x16+sha-x2",
    .needs_optimizer = true,
    .required_features = PKH__CPU_X86_SHA | PKH__CPU_X86_AVX512,
    .stream = pkh__stream_x86_sha,
    .levels =
      {
        {.kernel = pkh__lanes_avx512_x16, .lane_count = 16, .word_stride = 16, .lane_stride = 1, .active_min = 7},
        {.kernel = pkh__lanes_x86_sha_x2, .lane_count = 2, .word_stride = 1, .lane_stride = 8, .active_min = 2},
      },
  },
#elif PKH__HAS_ARM_SHA2
  {.name = "sha2", .required_features = PKH__CPU_ARM_SHA2, .stream = pkh__stream_arm_sha2},
  {
    .name = "sha2-x2",
    .required_features = PKH__CPU_ARM_SHA2,
    .stream = pkh__stream_arm_sha2,
    .levels =
      {{.kernel = pkh__lanes_arm_sha2_x2, .lane_count = 2, .word_stride = 1, .lane_stride = 8, .active_min = 2}},
  },
#endif
};

enum { TABLE_COUNT = sizeof table / sizeof table[0] };

const pkh_implementation *pkh_implementation_at(size_t index) { return index < TABLE_COUNT ? &table[index] : NULL; }

const char *pkh_implementation_name(const pkh_implementation *implementation) { return implementation->name; }

bool pkh_implementation_is_supported(const pkh_implementation *implementation) {
  return (implementation->required_features & ~pkh__cpu_features()) == 0;
}

size_t pkh_implementation_lane_count(const pkh_implementation *implementation) {
  return implementation->levels[0].kernel != NULL ? implementation->levels[0].lane_count : 1;
}

#if defined(__OPTIMIZE__)
enum { IS_OPTIMIZED = true };
#else
enum { IS_OPTIMIZED = false };
#endif

const pkh_implementation *pkh_implementation_selected(void) {
  for (size_t index = TABLE_COUNT - 1; index > 0; index--) {
    const pkh_implementation *candidate = &table[index];
    if (candidate->needs_optimizer && !IS_OPTIMIZED) { continue; }
    if (pkh_implementation_is_supported(candidate)) { return candidate; }
  }
  return &table[0];
}

bool pkh_processor_has_sha256(void) { return (pkh__cpu_features() & (PKH__CPU_X86_SHA | PKH__CPU_ARM_SHA2)) != 0; }
