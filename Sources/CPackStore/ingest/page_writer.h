/// Where an add puts its catalog and layout pages: a metadata segment, each page once, none that the store has already.
#ifndef PKS_INGEST_PAGE_WRITER_H
#define PKS_INGEST_PAGE_WRITER_H

#include "catalog/tree.h"
#include "codec/codec.h"
#include "ingest/reuse_policy.h"
#include "ingest/staging.h"
#include "segment/segment_set.h"

typedef struct pks__page_writer {
  pks_snapshot *base;                     ///< pages found here are not written again
  const pks__reuse_policy *reuse_policy;  ///< which copies of these count
  pks__segment_series series;
  pks__scratch ids;         ///< pks__id of every page written
  pks__hash_map by_id;      ///< id -> index in `ids`
  pks__segment_set reused;  ///< segments that hold pages put here again
  pks__scratch reused_ids;  ///< pks__id of every page found in the base
  pks__hash_map reused_by_id;
  uint64_t page_bytes;  ///< of distinct pages, written or found in the base
  pks__encoder *encoder;
  pks__scratch encoded;
} pks__page_writer;

/// `level` is the level of the pack's frames.
pks_status pks__page_writer_open(
  pks__page_writer *out, pks__staging *staging, pks_snapshot *base, int level, bool sync, pks_error *error
);
void pks__page_writer_close(pks__page_writer *pages);
/// The sink; its context is the page store, which must not move while it is used.
pks__page_sink pks__page_writer_sink(pks__page_writer *pages);

#endif
