/// Integers in their form on disk: little-endian byte arrays inside structs.
///
/// A stored integer is a struct, not a number, so that using one without converting it does not compile.
/// The structs have alignment 1: a mapped record of them can be used in place at any address.
#ifndef PKS_BASE_BYTES_H
#define PKS_BASE_BYTES_H

#include <stdint.h>
#include <string.h>

#include "base/base.h"

typedef struct pks_le16 {
  uint8_t bytes[2];
} pks_le16;
typedef struct pks_le32 {
  uint8_t bytes[4];
} pks_le32;
typedef struct pks_le64 {
  uint8_t bytes[8];
} pks_le64;

static inline uint16_t pks__get16(pks_le16 stored) {
  return (uint16_t)((unsigned)stored.bytes[0] | (unsigned)stored.bytes[1] << 8);
}

static inline uint32_t pks__get32(pks_le32 stored) {
  return (uint32_t)stored.bytes[0] | (uint32_t)stored.bytes[1] << 8 | (uint32_t)stored.bytes[2] << 16
    | (uint32_t)stored.bytes[3] << 24;
}

static inline uint64_t pks__get64(pks_le64 stored) {
  uint64_t value = 0;
  for (unsigned i = 0; i < 8; i++) { value |= (uint64_t)stored.bytes[i] << (8 * i); }
  return value;
}

static inline pks_le16 pks__put16(uint16_t value) { return (pks_le16){{(uint8_t)value, (uint8_t)(value >> 8)}}; }

static inline pks_le32 pks__put32(uint32_t value) {
  return (pks_le32){{(uint8_t)value, (uint8_t)(value >> 8), (uint8_t)(value >> 16), (uint8_t)(value >> 24)}};
}

static inline pks_le64 pks__put64(uint64_t value) {
  pks_le64 stored;
  for (unsigned i = 0; i < 8; i++) { stored.bytes[i] = (uint8_t)(value >> (8 * i)); }
  return stored;
}

/// A bounded reader over untrusted bytes. Reading past the end sets `failed` and yields zeros; the caller
/// checks `failed` once, at the end, before it believes any value.
typedef struct pks__reader {
  const uint8_t *next;
  const uint8_t *end;
  bool failed;
} pks__reader;

static inline pks__reader pks__reader_make(const void *bytes, size_t byte_count) {
  return (pks__reader){.next = bytes, .end = (const uint8_t *)bytes + byte_count, .failed = false};
}

static inline size_t pks__reader_left(const pks__reader *reader) { return (size_t)(reader->end - reader->next); }

/// The next `byte_count` bytes, or NULL when there are not that many.
static inline const uint8_t *pks__read_bytes(pks__reader *reader, size_t byte_count) {
  if (reader->failed || byte_count > pks__reader_left(reader)) {
    reader->failed = true;
    return NULL;
  }
  const uint8_t *bytes = reader->next;
  reader->next += byte_count;
  return bytes;
}

static inline uint8_t pks__read8(pks__reader *reader) {
  const uint8_t *bytes = pks__read_bytes(reader, 1);
  return bytes ? bytes[0] : 0;
}

static inline uint16_t pks__read16(pks__reader *reader) {
  pks_le16 stored = {{0}};
  const uint8_t *bytes = pks__read_bytes(reader, sizeof stored);
  if (bytes) { memcpy(&stored, bytes, sizeof stored); }
  return pks__get16(stored);
}

static inline uint32_t pks__read32(pks__reader *reader) {
  pks_le32 stored = {{0}};
  const uint8_t *bytes = pks__read_bytes(reader, sizeof stored);
  if (bytes) { memcpy(&stored, bytes, sizeof stored); }
  return pks__get32(stored);
}

static inline uint64_t pks__read64(pks__reader *reader) {
  pks_le64 stored = {{0}};
  const uint8_t *bytes = pks__read_bytes(reader, sizeof stored);
  if (bytes) { memcpy(&stored, bytes, sizeof stored); }
  return pks__get64(stored);
}

/// An unsigned LEB128 integer in its shortest form; a longer form is refused, so that equal values have equal bytes.
static inline uint64_t pks__read_varint(pks__reader *reader) {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    uint8_t byte = pks__read8(reader);
    uint64_t bits = byte & 0x7fu;
    if ((shift == 63 && bits > 1) || (shift > 0 && byte == 0)) { break; }
    value |= bits << shift;
    if (!(byte & 0x80u)) { return value; }
  }
  reader->failed = true;
  return 0;
}

enum { PKS__VARINT_MAX = 10 };

/// Writes `value` as LEB128 to `out` (room for `PKS__VARINT_MAX` bytes); returns the bytes used.
static inline size_t pks__put_varint(uint8_t *out, uint64_t value) {
  size_t used = 0;
  while (value >= 0x80) {
    out[used++] = (uint8_t)(value | 0x80);
    value >>= 7;
  }
  out[used++] = (uint8_t)value;
  return used;
}

/// Bytewise order: below 0 when `a` comes first. What another begins with comes before it. An empty one may be NULL.
static inline int pks__compare_bytes(const void *a, size_t a_length, const void *b, size_t b_length) {
  size_t shared = a_length < b_length ? a_length : b_length;
  int order = shared > 0 ? memcmp(a, b, shared) : 0;
  return order != 0 ? order : (a_length > b_length) - (a_length < b_length);
}

#endif
