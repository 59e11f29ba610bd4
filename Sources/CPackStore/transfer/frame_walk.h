/// Walks the frames of an asset of a store, one after another.
///
/// Owner: `frame_walk.c`.
#ifndef PKS_TRANSFER_FRAME_WALK_H
#define PKS_TRANSFER_FRAME_WALK_H

#include "catalog/catalog.h"
#include "transfer/segment_marks.h"

typedef struct pks__frame_walk {
  pks__segment_marks *marks;
  const char *path;  ///< path of the asset, borrowed
  size_t path_length;
  pks__extent_cursor extents;
  pks__segment_id segment;  ///< segment of the current extent
  uint32_t index;           ///< index of the current frame
  pks__frame frame;
  uint32_t frame_left;   ///< raw bytes of the frame that are the asset's, and were not walked yet
  uint64_t extent_left;  ///< bytes of the extent after the frame
  uint32_t begin;        ///< beginning of the last passed chunk in its frame
  uint32_t next;         ///< end of the walked part of the frame
} pks__frame_walk;

/// Begins before the first frame. `place` is the asset's place.
void pks__frame_walk_init(
  pks__frame_walk *walk, pks__segment_marks *marks, pks__page_source pages, const char *path, size_t path_length,
  const pks__layout_entry *place
);
void pks__frame_walk_free(pks__frame_walk *walk);

/// Goes to the next frame. Errors: CORRUPT, PURGED, IO_ERROR, OUT_OF_MEMORY.
pks_status pks__frame_walk_next(pks__frame_walk *walk, pks_error *error);

/// Goes to the frame of the asset's next chunk, and past that chunk. Errors: as above.
pks_status pks__frame_walk_pass(pks__frame_walk *walk, uint32_t chunk_length, pks_error *error);

#endif
