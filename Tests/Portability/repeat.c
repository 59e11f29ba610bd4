/// The work that `instructions` counts: a scan, or a checksum, of 64 KiB, repeated as the argument specifies.
///
///     repeat scalar|AVX2|AVX-512|NEON|scalar-sum|sum TIMES
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec/checksum.h"
#include "codec/chunker.h"
#include "scalar_checksum.h"

static const char *const scan_names[PKS__SCAN_KIND_COUNT] = {
  [PKS__SCAN_SCALAR] = "scalar",
  [PKS__SCAN_AVX2] = "AVX2",
  [PKS__SCAN_AVX512] = "AVX-512",
  [PKS__SCAN_NEON] = "NEON",
};

static uint8_t bytes[64 * 1024];

int main(int count, char **arguments) {
  const char *what = count == 3 ? arguments[1] : "";
  bool is_sum = !strcmp(what, "sum"), is_scalar_sum = !strcmp(what, "scalar-sum");
  pks__scan *scan = NULL;
  for (int kind = 0; kind < PKS__SCAN_KIND_COUNT; kind++) {
    if (!strcmp(what, scan_names[kind])) { scan = pks__scan_for((pks__scan_kind)kind); }
  }
  if (!scan && !is_sum && !is_scalar_sum) { return 2; }
  for (size_t i = 0; i < sizeof bytes; i++) { bytes[i] = (uint8_t)(i * i >> 7); }
  unsigned long long all = 0;
  for (int i = 0; i < atoi(arguments[2]); i++) {
    // No hash of these bytes is 0: a scan ends where they do.
    all += scan ? scan(bytes, 31, sizeof bytes, 1)
      : is_sum  ? pks__checksum(bytes, sizeof bytes)
                : scalar_checksum(bytes, sizeof bytes);
  }
  printf("%llu\n", all);
  return 0;
}
