/// Segments with a mark for each of their rows and frames, to count each once.
///
/// Owner: `segment_marks.c`.
#ifndef PKS_TRANSFER_SEGMENT_MARKS_H
#define PKS_TRANSFER_SEGMENT_MARKS_H

#include "store/state.h"

typedef struct pks__marked_segment {
  pks__segment *segment;  ///< with its table; one reference
  uint64_t *rows;         ///< bit per chunk: of a metadata segment per page, which is a frame, too
  uint64_t *frames;       ///< bit per frame
  // Of metadata segments, set by `download_pages.c`:
  uint32_t turn;    ///< order of arrival of its table; 0: it does not belong to the version
  uint64_t span;    ///< bytes that it is fetched in if it is small, and so fetched whole; else 0
  bool is_fetched;  ///< with `span`
} pks__marked_segment;

/// A zeroed list with its `store` set is empty.
typedef struct pks__segment_marks {
  pks_store *store;
  pks__scratch list;  ///< pks__marked_segment
  pks__hash_map by_id;
} pks__segment_marks;

void pks__segment_marks_init(pks__segment_marks *marks, pks_store *store);
void pks__segment_marks_free(pks__segment_marks *marks);

/// Returns a segment with its marks, all unset at first. The pointer is valid until the next call. Errors: PURGED, CORRUPT,
/// IO_ERROR, OUT_OF_MEMORY.
pks_status pks__segment_marks_get(
  pks__segment_marks *marks, const pks__segment_id *id, pks__marked_segment **out, pks_error *error
);

static inline bool pks__is_marked(const uint64_t *marks, uint32_t index) {
  return marks[index / 64] >> (index % 64) & 1;
}

/// Whether the mark was not set before; it is from now on.
static inline bool pks__mark(uint64_t *marks, uint32_t index) {
  bool is_new = !pks__is_marked(marks, index);
  marks[index / 64] |= (uint64_t)1 << (index % 64);
  return is_new;
}

#endif
