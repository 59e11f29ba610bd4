/// What files take in a form (`pks__frame_form`): they are put into frames as the pipeline would, and only the lengths are kept.
#ifndef PKS_INGEST_FORM_COST_H
#define PKS_INGEST_FORM_COST_H

#include "codec/chunker.h"
#include "ingest/frame_pipeline.h"

/// Files that lie back to back, of which the lengths are added one after another. Belongs to one thread.
typedef struct pks__form_cost {
  const pks__chunker *chunker;
  uint32_t shared_target;  ///< bytes that a shared frame has at most
  pks__encoder *encoder;
  uint8_t *encoded;
  const uint8_t *bytes;  ///< of the open frame
  size_t length;         ///< likewise; 0: there is none
  pks__frame_form form;  ///< likewise
  uint64_t total;        ///< of all frames, rows included
  bool lacks_memory;
} pks__form_cost;

/// False when memory is short; to be closed all the same. What is pointed to stays as long.
PKS_NODISCARD bool pks__form_cost_open(
  pks__form_cost *out, int level, const pks__chunker *chunker, uint32_t shared_target
);
void pks__form_cost_close(pks__form_cost *cost);  ///< a zeroed one is fine

/// Begins again, with no file.
void pks__form_cost_begin(pks__form_cost *cost);
/// Adds a file of `length` bytes, more than none and fewer than PKS__LARGE_ASSET. They lie right behind those of the file before.
void pks__form_cost_add(pks__form_cost *cost, const pks__frame_form *form, const uint8_t *bytes, size_t length);
/// What all files take. False when memory was short.
PKS_NODISCARD bool pks__form_cost_end(pks__form_cost *cost, uint64_t *total);

#endif
