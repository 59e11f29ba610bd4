/// The portable scan: two bytes at a time, so that only every second hash waits for the one before.
#include "codec/chunker_scalar.h"

#include "codec/chunker_gear.h"

/// Hides the source of `value`. Without it, compilers reorder the sum with the term `value` and place early additions after the one
/// that must wait: up to a quarter slower.
#define COMPUTE_FIRST(value) __asm__("" : "+r"(value))

size_t pks__scan_scalar(const uint8_t *bytes, size_t from, size_t to, uint32_t threshold) {
  uint32_t hash = 0;
  for (size_t index = from - (PKS__GEAR_WINDOW - 1); index < from; index++) {
    hash = (hash << 1) + pks__gear[bytes[index]];
  }

  size_t index = from;
  for (; index + 1 < to; index += 2) {
    const uint32_t strip1 = pks__gear[bytes[index]];
    uint32_t strip2 = (strip1 << 1) + pks__gear[bytes[index + 1]];
    COMPUTE_FIRST(strip2);
    if ((hash << 1) + strip1 < threshold) { return index; }
    hash = (hash << 2) + strip2;
    if (hash < threshold) { return index + 1; }
  }
  if (index < to && (hash << 1) + pks__gear[bytes[index]] < threshold) { return index; }
  return to;
}
