#include "transfer/frame_walk.h"

void pks__frame_walk_init(
  pks__frame_walk *walk, pks__segment_marks *marks, pks__page_source pages, const char *path, size_t path_length,
  const pks__layout_entry *place
) {
  *walk = (pks__frame_walk){.marks = marks, .path = path, .path_length = path_length};
  pks__extent_cursor_init(&walk->extents, pages, place);
}

void pks__frame_walk_free(pks__frame_walk *walk) { pks__extent_cursor_free(&walk->extents); }

static pks_status corrupt(const pks__frame_walk *walk, const char *text, pks_error *error) {
  return pks__fail_at_path(error, PKS_CORRUPT, text, walk->path, walk->path_length);
}

/// Goes to frame `index` of the current segment, whose first `skip` bytes do not belong to the asset.
static pks_status enter_frame(pks__frame_walk *walk, uint32_t index, uint32_t skip, pks_error *error) {
  pks__marked_segment *marked;
  pks_status status = pks__segment_marks_get(walk->marks, &walk->segment, &marked, error);
  if (status) { return status; }
  bool fits = index < marked->segment->frame_count && marked->segment->kind == PKS__SEGMENT_DATA;
  if (fits) { status = pks__segment_frame(marked->segment, index, &walk->frame, error); }
  if (status) { return status; }
  if (!fits || skip >= walk->frame.ref.raw_length) {
    return corrupt(walk, "the layout does not lead to frames", error);
  }
  walk->index = index;
  walk->next = skip;
  walk->frame_left = (uint32_t)pks__min64(walk->frame.ref.raw_length - skip, walk->extent_left);
  walk->extent_left -= walk->frame_left;
  return PKS_OK;
}

pks_status pks__frame_walk_next(pks__frame_walk *walk, pks_error *error) {
  if (walk->extent_left > 0) { return enter_frame(walk, walk->index + 1, 0, error); }
  pks__layout_extent extent;
  bool more;
  pks_status status = pks__extent_cursor_next(&walk->extents, &extent, &more, error);
  if (status) { return status; }
  if (!more) { return corrupt(walk, "the layout covers only a part", error); }
  walk->segment = extent.segment;
  walk->extent_left = pks__get64(extent.length);
  return enter_frame(walk, pks__get32(extent.frame), pks__get32(extent.skip), error);
}

pks_status pks__frame_walk_pass(pks__frame_walk *walk, uint32_t chunk_length, pks_error *error) {
  pks_status status = PKS_OK;
  while (!status && walk->frame_left == 0) { status = pks__frame_walk_next(walk, error); }
  if (status) { return status; }
  if (chunk_length == 0 || chunk_length > walk->frame_left) { return corrupt(walk, "a chunk is split", error); }
  walk->frame_left -= chunk_length;
  walk->begin = walk->next;
  walk->next += chunk_length;
  return PKS_OK;
}
