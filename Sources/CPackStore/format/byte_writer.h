/// Writing stored integers one after another to a scratch array. The first failure stays in `status`, and everything
/// after it does nothing: so a structure is written by one call a field, and checked once.
#ifndef PKS_FORMAT_BYTE_WRITER_H
#define PKS_FORMAT_BYTE_WRITER_H

#include "base/bytes.h"
#include "platform/scratch.h"

typedef struct pks__byte_writer {
  pks__scratch *out;
  pks_status status;
  pks_error *error;
} pks__byte_writer;

static inline void pks__write_bytes(pks__byte_writer *pen, const void *bytes, size_t byte_count) {
  if (!pen->status) { pen->status = pks__scratch_append(pen->out, bytes, byte_count, pen->error); }
}

static inline void pks__write_32(pks__byte_writer *pen, uint32_t value) {
  pks_le32 stored = pks__put32(value);
  pks__write_bytes(pen, &stored, sizeof stored);
}

static inline void pks__write_64(pks__byte_writer *pen, uint64_t value) {
  pks_le64 stored = pks__put64(value);
  pks__write_bytes(pen, &stored, sizeof stored);
}

/// A text with its length before it.
static inline void pks__write_text(pks__byte_writer *pen, const char *text) {
  uint32_t length = (uint32_t)strlen(text);
  pks__write_32(pen, length);
  pks__write_bytes(pen, text, length);
}

#endif
