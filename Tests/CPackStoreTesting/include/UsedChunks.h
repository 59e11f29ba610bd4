/// Lists the chunks that versions need, as computed by the core and by the simplest possible walk.
#ifndef USED_CHUNKS_H
#define USED_CHUNKS_H

#include "packstore.h"

typedef struct used_chunk {
  uint8_t segment[16];
  uint32_t row;
  bool is_page;
  uint8_t id[32];
} used_chunk;

typedef void used_chunk_visitor(void *context, const used_chunk *chunk);

/// The core's sums. The sums over frames cover all segments with bits.
typedef struct used_sums {
  uint64_t chunk_count, raw_bytes, stored_bytes;  ///< of needed chunks
  uint64_t frame_raw_bytes;                       ///< of needed chunks, frame by frame
  uint64_t needed_frame_count, needed_stored_bytes, sparse_frame_count;
  uint64_t segments_not_live;  ///< segments with needed chunks that are not in the live set of the same versions
} used_sums;

/// Lists the needed chunks of version `version` of pack `pack`, numbered as in the public interface; UINT32_MAX means
/// all. Adds the versions one by one, and repeats that `rounds` times. `only`: 16 bytes of a segment's id, or NULL.
pks_status used_chunks(
  used_sums *sums, const pks_snapshot *snapshot, uint32_t pack, uint32_t version, const uint8_t *only, uint32_t rounds,
  used_chunk_visitor *visit, void *context, pks_error *error
);

/// Lists the same chunks by cursors over catalog and layout, and by a walk over all records of the index, unless
/// `records` is false. Visits all copies of a page, and visits a chunk once per reference.
pks_status reached_chunks(
  const pks_snapshot *snapshot, uint32_t pack, uint32_t version, bool records, used_chunk_visitor *visit, void *context,
  pks_error *error
);

#endif
