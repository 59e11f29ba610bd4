/// Little-endian numbers, and the output buffer of the block decoders.
#ifndef PKA_BYTES_H
#define PKA_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint16_t pka__get16(const uint8_t *bytes) { return (uint16_t)(bytes[0] | bytes[1] << 8); }

static inline uint32_t pka__get32(const uint8_t *bytes) {
  return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static inline uint64_t pka__get64(const uint8_t *bytes) {
  return pka__get32(bytes) | (uint64_t)pka__get32(bytes + 4) << 32;
}

/// A buffer that is filled from the front. Matches copy from the bytes already written.
typedef struct pka__output {
  uint8_t *bytes;
  size_t length;
  size_t capacity;
} pka__output;

/// Returns false if the bytes do not fit.
static inline bool pka__put_bytes(pka__output *out, const uint8_t *bytes, size_t count) {
  if (count > out->capacity - out->length) { return false; }
  if (count > 0) { memcpy(out->bytes + out->length, bytes, count); }
  out->length += count;
  return true;
}

/// Appends `count` bytes that begin `distance` bytes before the end. The copied range may overlap the appended bytes.
/// Returns false if they do not fit, or if the range begins before the first byte.
static inline bool pka__put_match(pka__output *out, size_t distance, size_t count) {
  if (distance == 0 || distance > out->length || count > out->capacity - out->length) { return false; }
  uint8_t *to = out->bytes + out->length;
  const uint8_t *from = to - distance;
  if (distance >= count) {
    memcpy(to, from, count);
  } else if (distance == 1) {
    memset(to, *from, count);
  } else {
    for (size_t i = 0; i < count; i++) { to[i] = from[i]; }
  }
  out->length += count;
  return true;
}

#endif
