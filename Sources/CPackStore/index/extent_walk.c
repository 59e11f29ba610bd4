#include "index/extent_walk.h"

pks_status pks__bad_extents(const pks__extent_walk *walk, pks_error *error) {
  const pks__run *run = walk->run;
  uint64_t at = run->table.body_offset + run->records.offset + walk->entry->offset;
  return pks__fail(error, PKS_CORRUPT, "the extents do not cover the asset", run->table.name, at);
}

/// Begins the next extent; there is one.
static pks_status begin_extent(pks__extent_walk *walk, pks_error *error) {
  const pks__run_entry *entry = walk->entry;
  uint64_t end = entry->size;
  walk->next_frame = entry->frame;
  walk->skip = entry->skip;
  if (entry->extents) {
    const pks__extent *extent = &entry->extents[walk->next_extent];
    end = pks__get64(extent->end);
    walk->next_frame = pks__get32(extent->frame);
    walk->skip = pks__get32(extent->skip);
  }
  walk->next_extent++;
  if (end <= walk->offset || end > entry->size) { return pks__bad_extents(walk, error); }
  walk->left = end - walk->offset;
  return PKS_OK;
}

/// The extent that holds byte `offset` of the file: the first that ends behind it.
static pks_status find_extent(const pks__extent_walk *walk, uint64_t offset, uint64_t *index, pks_error *error) {
  const pks__run_entry *entry = walk->entry;
  uint64_t low = 0, high = entry->extent_count;
  while (entry->extents && low < high) {
    uint64_t middle = low + (high - low) / 2;
    if (pks__get64(entry->extents[middle].end) > offset) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  *index = low;
  return low < entry->extent_count ? PKS_OK : pks__bad_extents(walk, error);
}

pks_status pks__extent_walk_seek(pks__extent_walk *walk, uint64_t offset, pks_error *error) {
  PKS_ASSERT(offset < walk->entry->size);
  uint64_t index, position;
  pks_status status = find_extent(walk, offset, &index, error);
  if (status) { return status; }
  walk->next_extent = index;
  walk->offset = index > 0 ? pks__get64(walk->entry->extents[index - 1].end) : 0;
  if (walk->offset > offset) { return pks__bad_extents(walk, error); }
  status = begin_extent(walk, error);
  if (status) { return status; }
  uint64_t past = offset - walk->offset;
  if (past == 0) { return PKS_OK; }
  // Frames of an extent are neighbours in the run, whose rows sum up raw lengths.
  pks__run_frame_info frame;
  status = pks__run_frame_at(walk->run, walk->next_frame, &frame, error);
  if (status) { return status; }
  if (walk->skip >= frame.ref.raw_length) { return pks__bad_extents(walk, error); }
  bool overflows =
    pks__add_overflows(frame.raw_start, walk->skip, &position) || pks__add_overflows(position, past, &position);
  if (overflows) { return pks__bad_extents(walk, error); }
  status = pks__run_frame_find(walk->run, walk->next_frame, position, &walk->next_frame, error);
  if (!status) { status = pks__run_frame_at(walk->run, walk->next_frame, &frame, error); }
  if (status) { return status; }
  walk->skip = (uint32_t)(position - frame.raw_start);
  walk->offset = offset;
  walk->left -= past;
  return PKS_OK;
}

pks_status pks__extent_walk_next(pks__extent_walk *walk, pks__extent_part *out, bool *more, pks_error *error) {
  pks_status status = PKS_OK;
  if (walk->left == 0) {
    *more = walk->next_extent < walk->entry->extent_count;
    if (!*more) { return walk->offset == walk->entry->size ? PKS_OK : pks__bad_extents(walk, error); }
    status = begin_extent(walk, error);
  }
  if (!status) { status = pks__run_frame_at(walk->run, walk->next_frame, &out->frame, error); }
  if (status) { return status; }
  if (walk->skip >= out->frame.ref.raw_length) { return pks__bad_extents(walk, error); }
  out->index = walk->next_frame;
  out->begin = walk->skip;
  // The remaining length is an unchecked number from the index: it is added to nothing before it is known to be small.
  out->end = walk->skip + (uint32_t)pks__min64(out->frame.ref.raw_length - walk->skip, walk->left);
  walk->offset += out->end - out->begin;
  walk->left -= out->end - out->begin;
  walk->next_frame++;
  walk->skip = 0;
  *more = true;
  return PKS_OK;
}

/// Narrows `[*low, *high)` to the frame that was found last or the one after it, if one of them is at `offset`.
static pks_status try_hint(
  pks__segment *segment, uint64_t offset, uint32_t hint, uint32_t *low, uint32_t *high, pks_error *error
) {
  for (uint32_t at = hint; at < segment->frame_count && at - hint < 2; at++) {
    pks__frame frame;
    pks_status status = pks__segment_frame(segment, at, &frame, error);
    if (status) { return status; }
    if (frame.ref.offset != offset) { continue; }
    *low = at;
    *high = at + 1;
    break;
  }
  return PKS_OK;
}

pks_status pks__segment_find_frame(
  pks__segment *segment, const pks__run_frame_info *wanted, uint32_t *index, pks__frame *out, pks_error *error
) {
  uint32_t low = 0, high = segment->frame_count;
  pks_status status = try_hint(segment, wanted->ref.offset, *index, &low, &high, error);
  while (!status && high - low > 1) {
    uint32_t middle = low + (high - low) / 2;
    status = pks__segment_frame(segment, middle, out, error);
    if (status) { return status; }
    if (out->ref.offset <= wanted->ref.offset) {
      low = middle;
    } else {
      high = middle;
    }
  }
  if (!status && low < high) { status = pks__segment_frame(segment, low, out, error); }
  if (status) { return status; }
  if (low >= high || !pks__frame_ref_equal(&out->ref, &wanted->ref)) {
    return pks__fail(
      error, PKS_CORRUPT, "the index names a frame that the segment lacks", segment->name, wanted->ref.offset
    );
  }
  *index = low;
  return PKS_OK;
}
