#include "cpu.h"

#include <stdatomic.h>
#include <stdbool.h>

#if defined(__x86_64__)

  #include <cpuid.h>

/// XCR0: which registers the system saves. Call only if OSXSAVE is set.
static uint64_t saved_registers(void) {
  uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (uint64_t)high << 32 | low;
}

static bool has_all(uint64_t value, uint64_t bits) { return (value & bits) == bits; }

// Bit numbers: Intel SDM, volume 2A, CPUID, leaves 1 and 7; volume 1, section 13.3, XCR0.
static uint32_t detect(void) {
  const uint32_t ssse3 = 1u << 9, sse41 = 1u << 19, osxsave = 1u << 27, avx = 1u << 28;
  const uint32_t bmi1 = 1u << 3, avx2 = 1u << 5, bmi2 = 1u << 8, sha = 1u << 29;
  const uint32_t avx512f = 1u << 16, avx512bw = 1u << 30, avx512vl = 1u << 31;
  const uint64_t xmm_ymm = 0x06, mask_zmm = 0xe0;

  uint32_t eax, ebx, ecx, edx, leaf1;
  if (!__get_cpuid(1, &eax, &ebx, &leaf1, &edx)) { return 0; }
  if (!__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx)) { return 0; }

  uint32_t features = 0;
  if (has_all(ebx, sha) && has_all(leaf1, ssse3 | sse41)) { features |= PKH__CPU_X86_SHA; }
  if (!has_all(leaf1, osxsave | avx)) { return features; }
  const uint64_t saved = saved_registers();
  if (!has_all(saved, xmm_ymm) || !has_all(ebx, avx2 | bmi1 | bmi2)) { return features; }
  features |= PKH__CPU_X86_AVX2;
  if (has_all(saved, mask_zmm) && has_all(ebx, avx512f | avx512bw | avx512vl)) { features |= PKH__CPU_X86_AVX512; }
  return features;
}

#elif defined(__aarch64__) && defined(__linux__)

  #include <sys/auxv.h>

static uint32_t detect(void) {
  const unsigned long sha2 = 1ul << 6;  // HWCAP_SHA2 of <asm/hwcap.h>, which musl does not have
  return (getauxval(AT_HWCAP) & sha2) != 0 ? PKH__CPU_ARM_SHA2 : 0;
}

#elif defined(__aarch64__) && defined(__APPLE__)

static uint32_t detect(void) { return PKH__CPU_ARM_SHA2; }

#else

static uint32_t detect(void) { return 0; }

#endif

uint32_t pkh__cpu_features(void) {
  // CPUID takes microseconds in a virtual machine, so the result is kept. Threads that race here store the same value, and the
  // value is all that is shared: relaxed order is enough.
  static _Atomic uint32_t cached;
  const uint32_t is_known = 1u << 31;
  uint32_t features = atomic_load_explicit(&cached, memory_order_relaxed);
  if (features == 0) {
    features = detect() | is_known;
    atomic_store_explicit(&cached, features, memory_order_relaxed);
  }
  return features & ~is_known;
}
