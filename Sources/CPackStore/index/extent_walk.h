/// From a record to the frames that hold its bytes.
///
/// A *piece* is the part of one frame that a record's bytes run through; its pieces in order are the file. A walk begins
/// anywhere in the file, and checks on its way that extents and frames agree.
#ifndef PKS_INDEX_EXTENT_WALK_H
#define PKS_INDEX_EXTENT_WALK_H

#include "index/run.h"
#include "segment/segment.h"

typedef struct pks__extent_part {
  uint32_t index;  ///< index of the frame in the run
  pks__run_frame_info frame;
  uint32_t begin, end;  ///< raw bytes of the frame
} pks__extent_part;

typedef struct pks__extent_walk {
  pks__run *run;
  const pks__run_entry *entry;
  uint64_t next_extent;
  uint64_t offset;  ///< bytes of the file that were handed out
  uint64_t left;    ///< bytes of the present extent that were not
  uint32_t next_frame;
  uint32_t skip;  ///< in the next frame
} pks__extent_walk;

/// The pieces of a file's record. `entry` stays where it is as long as the walk.
static inline pks__extent_walk pks__extent_walk_make(pks__run *run, const pks__run_entry *entry) {
  return (pks__extent_walk){.run = run, .entry = entry};
}

/// Moves the walk to byte `offset` < size of the file: the next piece begins there. O(log extents + log frames).
pks_status pks__extent_walk_seek(pks__extent_walk *walk, uint64_t offset, pks_error *error);

/// CORRUPT: the extents of the walk's record do not cover the file.
pks_status pks__bad_extents(const pks__extent_walk *walk, pks_error *error);

/// The next piece, or `*more` false after the last. CORRUPT when the extents do not cover the file exactly or name
/// frames that are not there.
pks_status pks__extent_walk_next(pks__extent_walk *walk, pks__extent_part *out, bool *more, pks_error *error);

/// Returns the segment's frame for a run's frame, found by its offset in the file. Records come mostly in the order of their
/// frames, so `*index`, the last found frame (0 at first), is tried before the search. CORRUPT if none is found, or it differs.
/// Needs the table.
pks_status pks__segment_find_frame(
  pks__segment *segment, const pks__run_frame_info *wanted, uint32_t *index, pks__frame *out, pks_error *error
);

#endif
