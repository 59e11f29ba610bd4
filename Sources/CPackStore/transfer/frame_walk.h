/// The frames in which an asset of a store lies, one after another.
///
/// Owner: `frame_walk.c`.
#ifndef PKS_TRANSFER_FRAME_WALK_H
#define PKS_TRANSFER_FRAME_WALK_H

#include "catalog/catalog.h"
#include "transfer/segment_marks.h"

typedef struct pks__frame_walk {
  pks__segment_marks *marks;
  const char *path;  ///< of the asset, on loan
  size_t path_length;
  pks__extent_cursor extents;
  pks__segment_id segment;  ///< of the present extent
  uint32_t index;           ///< of the present frame
  pks__frame frame;
  uint32_t frame_left;   ///< raw bytes of the frame that are the asset's, and were not walked yet
  uint64_t extent_left;  ///< of the extent, beyond the frame
  uint32_t begin;        ///< of the chunk that was passed last, in its frame
  uint32_t next;         ///< in the frame, after what was walked
} pks__frame_walk;

/// Begins before the first frame. `place` says where the asset lies.
void pks__frame_walk_init(
  pks__frame_walk *walk, pks__segment_marks *marks, pks__page_source pages, const char *path, size_t path_length,
  const pks__layout_entry *place
);
void pks__frame_walk_free(pks__frame_walk *walk);

/// Goes to the next frame. Errors: CORRUPT, PURGED, IO_ERROR, OUT_OF_MEMORY.
pks_status pks__frame_walk_next(pks__frame_walk *walk, pks_error *error);

/// Goes to the frame in which the next chunk of the asset lies, and beyond that chunk. Errors: likewise.
pks_status pks__frame_walk_pass(pks__frame_walk *walk, uint32_t chunk_length, pks_error *error);

#endif
