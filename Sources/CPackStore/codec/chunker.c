#include "codec/chunker.h"

#include "codec/chunker_avx2.h"
#include "codec/chunker_avx512.h"
#include "codec/chunker_neon.h"
#include "codec/chunker_scalar.h"

pks__chunker pks__chunker_make(uint32_t average) {
  PKS_ASSERT(average >= PKS__CHUNK_AVERAGE_MIN && average <= PKS__CHUNK_AVERAGE_MAX);
  PKS_ASSERT((average & (average - 1)) == 0);
  const uint32_t minimum = average / 2;
  return (pks__chunker){
    .average = average,
    .minimum = minimum,
    .maximum = average * 4,
    .threshold = (uint32_t)((UINT64_C(1) << 32) / (average - minimum)),
  };
}

pks__scan *pks__scan_for(pks__scan_kind kind) {
  switch (kind) {
    case PKS__SCAN_SCALAR: return pks__scan_scalar;
#if defined(__x86_64__)
    case PKS__SCAN_AVX2: return __builtin_cpu_supports("avx2") ? pks__scan_avx2 : NULL;
    case PKS__SCAN_AVX512:
      return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw")
          && __builtin_cpu_supports("avx512vbmi")
        ? pks__scan_avx512
        : NULL;
#endif
#if PKS__HAS_NEON
    case PKS__SCAN_NEON: return pks__scan_neon;
#endif
    default: return NULL;
  }
}

/// The fastest scan of this processor. Nothing is cached: detection costs a few loads and tests, far less than a scan, and threads
/// share no state.
static pks__scan *best_scan(void) {
  pks__scan *scan = pks__scan_for(PKS__SCAN_AVX512);
  if (scan == NULL) { scan = pks__scan_for(PKS__SCAN_AVX2); }
  if (scan == NULL) { scan = pks__scan_for(PKS__SCAN_NEON); }
  return scan != NULL ? scan : pks__scan_scalar;
}

size_t pks__chunker_cut_by(pks__scan *scan, const pks__chunker *chunker, const uint8_t *bytes, size_t byte_count) {
  PKS_ASSERT(byte_count >= 1);
  const size_t to = pks__min_size(byte_count, chunker->maximum);
  const size_t from = chunker->minimum - 1;
  if (from >= to) { return to; }
  const size_t candidate = scan(bytes, from, to, chunker->threshold);
  return candidate < to ? candidate + 1 : to;
}

size_t pks__chunker_cut(const pks__chunker *chunker, const uint8_t *bytes, size_t byte_count) {
  return pks__chunker_cut_by(best_scan(), chunker, bytes, byte_count);
}
