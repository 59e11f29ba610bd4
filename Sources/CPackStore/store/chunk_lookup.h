/// Look-up of chunks by id in a snapshot. Only writers use it, never readers.
#ifndef PKS_STORE_CHUNK_LOOKUP_H
#define PKS_STORE_CHUNK_LOOKUP_H

#include "store/snapshot.h"

/// A stored chunk.
typedef struct pks__chunk_ref {
  uint32_t run;
  uint32_t segment_index;  ///< within the run
  pks__segment *segment;
  uint32_t row;
} pks__chunk_ref;

/// Walks the stored copies of a chunk in segments of one kind, newest run first, copies in the base last; compares the full id.
/// Zero `*probe`, then call until `*found` is false.
typedef struct pks__chunk_probe {
  uint32_t runs;  ///< that were gone through
  uint32_t row;   ///< in the present one
  bool any;       ///< also copies that are known to be damaged or missing
} pks__chunk_probe;

pks_status pks__snapshot_next_chunk(
  pks_snapshot *snapshot, const pks__id *id, pks__segment_kind kind, pks__chunk_probe *probe, pks__chunk_ref *out,
  bool *found, pks_error *error
);

/// Looks a chunk up by id: the first of its copies. About two cache misses a run, and two for a hit.
pks_status pks__snapshot_find_chunk(
  pks_snapshot *snapshot, const pks__id *id, pks__segment_kind kind, pks__chunk_ref *out, bool *found, pks_error *error
);

/// Copies raw bytes [begin, end) of a frame to `out`, like `pks__frame_read`; a partly needed frame is remembered for readers of
/// the rest. `reader` is the caller's own.
pks_status pks__store_read_frame(
  pks_store *store, pks__frame_reader *reader, const pks__frame_source *frame, uint32_t begin, uint32_t end, void *out,
  pks_error *error
);

/// Appends a stored chunk's raw bytes to `out`. Its frame is checked, its id is not.
pks_status pks__snapshot_read_chunk(
  pks_snapshot *snapshot, const pks__chunk_ref *ref, pks__scratch *out, pks_error *error
);

/// Finds catalog and layout pages in the snapshot's metadata segments. The context is the snapshot.
pks__page_source pks__snapshot_pages(pks_snapshot *snapshot);

#endif
