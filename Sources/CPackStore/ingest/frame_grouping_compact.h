/// How much less `PKS_LAYOUT_COMPACT` would store, estimated while small assets are put into frames for random reads.
///
/// Readers of small assets decode little in the default layout, and larger frames compress better: the difference depends on the
/// data. A part of the mixture (`ingest/frame_grouping.h`), at most 512 KiB, is encoded in both ways.
#ifndef PKS_INGEST_FRAME_GROUPING_COMPACT_H
#define PKS_INGEST_FRAME_GROUPING_COMPACT_H

#include "ingest/frame_grouping_samples.h"

/// Estimates the bytes that the layout would store less for new small assets, once the forms are chosen and the mixture is read.
/// 0 if it would not store less. Large assets are not estimated. Errors: OUT_OF_MEMORY.
pks_status pks__frame_grouping_compact_estimate(
  const pks__frame_grouping_samples *samples, uint64_t *saved_bytes, pks_error *error
);

#endif
