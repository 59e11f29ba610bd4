/// Which chunks versions need, as the core says and as the simplest of walks finds it.
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

/// What the core adds up. The sums over frames are those of all segments that have bits.
typedef struct used_sums {
  uint64_t chunk_count, raw_bytes, stored_bytes;  ///< of needed chunks
  uint64_t frame_raw_bytes;                       ///< of needed chunks, frame by frame
  uint64_t needed_frame_count, needed_stored_bytes, sparse_frame_count;
  uint64_t segments_not_live;  ///< that have needed chunks, but are not in the live set of the same versions
} used_sums;

/// The versions meant: version `version` of pack `pack`, both counted as in the public interface; UINT32_MAX: all. Adds
/// them in turn, `rounds` times over. `only`: 16 bytes of a segment's id, or NULL.
pks_status used_chunks(
  used_sums *sums, const pks_snapshot *snapshot, uint32_t pack, uint32_t version, const uint8_t *only, uint32_t rounds,
  used_chunk_visitor *visit, void *context, pks_error *error
);

/// The same, found by cursors over catalog and layout, and by a walk through all records of the index, which `records`
/// may leave out. Of a page all copies are visited; a chunk is visited as often as something leads to it.
pks_status reached_chunks(
  const pks_snapshot *snapshot, uint32_t pack, uint32_t version, bool records, used_chunk_visitor *visit, void *context,
  pks_error *error
);

#endif
