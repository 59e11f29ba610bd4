// Borrowing: the bytes of raw assets, mapped in place.

#include "read/borrow.h"

#include "index/extent_walk.h"
#include "platform/threads.h"
#include "segment/frame_check.h"
#include "store/open_run.h"
#include "store/snapshot.h"

enum {
  SLICE = 1024 * 1024,     ///< bytes that one thread checks at a time
  SHARED_MIN = 4 * SLICE,  ///< files from this length on are checked by several threads
};

/// Checks the mapped bytes of a frame, once per process. `*segment` contains them.
static pks_status check_piece(
  pks_snapshot *snapshot, uint32_t run, const pks__extent_part *piece, pks__segment **segment, pks_error *error
) {
  pks__open_run *open = snapshot->runs[run].open;
  const pks__run_frame_info *frame = &piece->frame;
  const uint8_t *data;
  pks_status status = pks__snapshot_segment(snapshot, run, frame->segment, segment, error);
  if (!status) { status = pks__segment_map_data(*segment, &data, error); }
  if (status) { return status; }
  if (!pks__range_fits(frame->ref.offset, frame->ref.stored_length, (*segment)->file_length)) {
    return pks__fail(error, PKS_CORRUPT, "is truncated", (*segment)->name, (*segment)->file_length);
  }
  if (pks__open_run_is_checked(open, piece->index)) { return PKS_OK; }
  status = pks__frame_check(*segment, &frame->ref, data + frame->ref.offset, error);
  if (!status) { pks__open_run_set_checked(open, piece->index); }
  return status;
}

// MARK: - On several threads

/// Checks a file in slices, on any number of threads. A failed slice stays unchecked, and a later read finds it again. No slice is
/// started after a failure.
typedef struct checking {
  pks__effort effort;
  pks_snapshot *snapshot;
  const pks__hit *hit;
  _Atomic(uint64_t) next;  ///< where the next slice begins
} checking;

static pks_status check_slice(const checking *checking, uint64_t begin, uint64_t end) {
  pks__extent_walk walk =
    pks__extent_walk_make(&checking->snapshot->runs[checking->hit->run].open->run, &checking->hit->entry);
  pks_status status = pks__extent_walk_seek(&walk, begin, NULL);
  for (bool more = true; !status && more && walk.offset < end;) {
    pks__extent_part piece;
    pks__segment *segment;
    status = pks__extent_walk_next(&walk, &piece, &more, NULL);
    if (!status && more) { status = check_piece(checking->snapshot, checking->hit->run, &piece, &segment, NULL); }
  }
  return status;
}

static void check_slices(pks__effort *effort) {
  checking *checking = (struct checking *)(void *)effort;
  uint64_t size = checking->hit->entry.size;
  for (;;) {
    uint64_t begin = atomic_fetch_add(&checking->next, SLICE);
    if (begin >= size) { return; }
    if (check_slice(checking, begin, pks__min64(size, begin + SLICE))) { atomic_store(&checking->next, size); }
  }
}

/// A file in one piece cannot be longer than its segment, regardless of the index.
static pks_status check_size(
  pks_snapshot *snapshot, const pks__hit *hit, const pks__extent_part *first, pks_error *error
) {
  pks__segment *segment;
  pks_status status = pks__snapshot_segment(snapshot, hit->run, first->frame.segment, &segment, error);
  if (!status && segment->is_purgeable) {
    const char *text =
      "in the cache folder, whose files may be truncated at any time; read the asset instead of borrowing it";
    return pks__fail(error, PKS_NOT_CONTIGUOUS, text, segment->name, PKS_NO_OFFSET);
  }
  if (status || hit->entry.size <= segment->file_length) { return status; }
  return pks__fail(
    error, PKS_CORRUPT, "a contiguous asset is longer than its segment", segment->name, first->frame.ref.offset
  );
}

/// Checks a large file that was not checked before on all threads.
static pks_status check_ahead(pks_snapshot *snapshot, const pks__hit *hit, pks_error *error) {
  pks__crew *crew = snapshot->store->crew;
  pks__open_run *open = snapshot->runs[hit->run].open;
  pks__extent_walk walk = pks__extent_walk_make(&open->run, &hit->entry);
  pks__extent_part first;
  bool more;
  pks_status status = pks__extent_walk_next(&walk, &first, &more, error);
  if (!status && more) { status = check_size(snapshot, hit, &first, error); }
  bool is_known = status || !more || pks__open_run_is_checked(open, first.index);
  if (is_known || hit->entry.size < SHARED_MIN || pks__crew_thread_count(crew) == 0) { return status; }
  checking checking = {.effort = {.run = check_slices}, .snapshot = snapshot, .hit = hit};
  pks__crew_call(crew, &checking.effort, (uint32_t)pks__min64(hit->entry.size / SLICE - 1, UINT32_MAX));
  check_slices(&checking.effort);
  pks__crew_dismiss(crew, &checking.effort);
  return PKS_OK;
}

// MARK: - Borrowing

/// Returns the place of an asset that was borrowed before, from remembered facts about its frames; `*found` is false if the frames
/// must be walked. Frames are as short as chunks, so a large asset has thousands.
static pks_status find_known_place(
  pks_snapshot *snapshot, const pks__hit *hit, pks__segment **segment, uint64_t *offset, bool *found, pks_error *error
) {
  const pks__run_entry *entry = &hit->entry;
  pks__open_run *open = snapshot->runs[hit->run].open;
  pks__run_frame_info frame;
  if (!(entry->flags & PKS__FLAG_ONE_EXTENT) || !pks__open_run_is_checked(open, entry->frame)) { return PKS_OK; }
  pks__extent_walk walk = pks__extent_walk_make(&open->run, entry);
  // The place of its last byte.
  pks_status status = pks__extent_walk_seek(&walk, entry->size - 1, error);
  if (status || !pks__open_run_is_one_piece(open, entry->frame, walk.next_frame)) { return status; }
  status = pks__run_frame_at(&open->run, entry->frame, &frame, error);
  if (!status) { status = pks__snapshot_segment(snapshot, hit->run, frame.segment, segment, error); }
  if (status) { return status; }
  *offset = frame.ref.offset + entry->skip;
  *found = frame.ref.codec == PKS__CODEC_RAW && atomic_load(&(*segment)->data)
    && pks__range_fits(*offset, entry->size, (*segment)->file_length);
  return PKS_OK;
}

pks_status pks__borrow_place(
  pks_snapshot *snapshot, const pks__hit *hit, pks__segment **segment, uint64_t *offset, pks_error *error
) {
  bool found = false;
  pks_status known = find_known_place(snapshot, hit, segment, offset, &found, error);
  if (known || found) { return known; }
  pks__open_run *open = snapshot->runs[hit->run].open;
  pks__extent_walk walk = pks__extent_walk_make(&open->run, &hit->entry);
  pks__segment *first = NULL, *next = NULL;
  uint64_t expected = UINT64_MAX;  // index of the frame after the last piece's, if all of that was gone through
  uint64_t end = 0;
  pks_status status = check_ahead(snapshot, hit, error);
  while (!status) {
    pks__extent_part piece;
    bool more;
    status = pks__extent_walk_next(&walk, &piece, &more, error);
    if (status || !more) { break; }
    status = check_piece(snapshot, hit->run, &piece, &next, error);
    if (status) { break; }
    uint64_t begin = piece.frame.ref.offset + piece.begin;
    if (piece.frame.ref.codec != PKS__CODEC_RAW || (first && (next != first || begin != end))) {
      return pks__fail(
        error, PKS_CORRUPT, "the index marks a split asset as contiguous", next->name, piece.frame.ref.offset
      );
    }
    if (!first) { *offset = begin; }
    if (piece.index == expected && piece.begin == 0) { pks__open_run_set_abuts_next(open, piece.index - 1); }
    expected = piece.end == piece.frame.ref.raw_length ? (uint64_t)piece.index + 1 : UINT64_MAX;
    first = next;
    end = begin + (piece.end - piece.begin);
  }
  *segment = first;
  return status;
}

pks_status pks_asset_borrow(pks_bytes *out, const pks_asset *asset, pks_error *error) {
  pks__hit hit;
  pks_status status = pks__namespace_file(asset, &hit, error);
  if (status) { return status; }
  if (asset->size == 0) {
    *out = (pks_bytes){.bytes = "", .count = 0};
    return PKS_OK;
  }
  if (!asset->contiguous) {
    return pks__fail_at_path(
      error, PKS_NOT_CONTIGUOUS, "not stored uncompressed in one piece", asset->path, asset->path_length
    );
  }
  pks__segment *segment;
  uint64_t offset = 0;
  status = pks__borrow_place(pks__snapshot_mutable(asset->snapshot), &hit, &segment, &offset, error);
  if (status) { return pks__namespace_blame(status, asset, error); }
  *out = (pks_bytes){.bytes = atomic_load(&segment->data) + offset, .count = (size_t)asset->size};
  return PKS_OK;
}

pks_status pks_asset_link_target(pks_bytes *out, const pks_asset *asset, pks_error *error) {
  if (asset->kind != PKS_LINK) {
    return pks__fail_at_path(error, PKS_WRONG_KIND, "not a symbolic link", asset->path, asset->path_length);
  }
  pks__hit hit;
  pks_status status = pks__namespace_record(asset, &hit, error);
  if (!status) { *out = (pks_bytes){.bytes = hit.entry.target, .count = (size_t)hit.entry.size}; }
  return status;
}
