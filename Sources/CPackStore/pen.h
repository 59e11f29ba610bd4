/// Writing stored integers one after another to a scratch array. The first failure stays in `status`, and everything
/// after it does nothing: so a structure is written by one call a field, and checked once.
#ifndef PKS_PEN_H
#define PKS_PEN_H

#include "bytes.h"
#include "scratch.h"

typedef struct pks__pen {
  pks__scratch *out;
  pks_status status;
  pks_error *error;
} pks__pen;

static inline void pks__pen_bytes(pks__pen *pen, const void *bytes, size_t byte_count) {
  if (!pen->status) { pen->status = pks__scratch_append(pen->out, bytes, byte_count, pen->error); }
}

static inline void pks__pen_32(pks__pen *pen, uint32_t value) {
  pks_le32 stored = pks__put32(value);
  pks__pen_bytes(pen, &stored, sizeof stored);
}

static inline void pks__pen_64(pks__pen *pen, uint64_t value) {
  pks_le64 stored = pks__put64(value);
  pks__pen_bytes(pen, &stored, sizeof stored);
}

/// A text with its length before it.
static inline void pks__pen_text(pks__pen *pen, const char *text) {
  uint32_t length = (uint32_t)strlen(text);
  pks__pen_32(pen, length);
  pks__pen_bytes(pen, text, length);
}

#endif
