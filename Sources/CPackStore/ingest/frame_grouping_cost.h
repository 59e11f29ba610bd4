/// The size of files in a form (`pks__frame_form`): they are put into frames like in the pipeline, and only the lengths are kept.
#ifndef PKS_INGEST_FRAME_GROUPING_COST_H
#define PKS_INGEST_FRAME_GROUPING_COST_H

#include "codec/chunker.h"
#include "ingest/frame_pipeline.h"

enum { PKS__ROWS_OF_A_FRAME = 24 + 32 };  ///< bytes: in a segment and a run

/// Consecutive files, whose stored lengths are added up. Belongs to one thread.
typedef struct pks__frame_grouping_cost {
  const pks__chunker *chunker;
  uint32_t shared_target;  ///< bytes that a shared frame has at most
  pks__encoder *encoder;
  uint8_t *encoded;
  const uint8_t *bytes;  ///< bytes of the open frame
  size_t length;         ///< length of the open frame; 0: none is open
  pks__frame_form form;  ///< form of the open frame
  uint64_t total;        ///< size of all frames, including rows
  bool lacks_memory;
} pks__frame_grouping_cost;

/// Returns false if memory is short; must be closed in any case. The arguments must stay valid until then.
PKS_NODISCARD bool pks__frame_grouping_cost_open(
  pks__frame_grouping_cost *out, int level, const pks__chunker *chunker, uint32_t shared_target
);
void pks__frame_grouping_cost_close(pks__frame_grouping_cost *cost);  ///< a zeroed one is fine

/// Begins again, with no file.
void pks__frame_grouping_cost_begin(pks__frame_grouping_cost *cost);
/// Adds a file of `length` bytes, above 0 and below PKS__LARGE_ASSET. Its bytes must directly follow the previous file's.
void pks__frame_grouping_cost_add(
  pks__frame_grouping_cost *cost, const pks__frame_form *form, const uint8_t *bytes, size_t length
);
/// What all files take. False when memory was short.
PKS_NODISCARD bool pks__frame_grouping_cost_end(pks__frame_grouping_cost *cost, uint64_t *total);

#endif
