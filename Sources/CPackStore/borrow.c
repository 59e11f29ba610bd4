// Borrowing: the bytes of raw assets where they lie, mapped.

#include "borrow.h"

#include "pieces.h"

/// Checks the mapped bytes of a frame, once per process.
static pks_status check_mapped(
  pks__open_run *open, pks__segment *segment, const pks__piece *piece, const uint8_t *data, pks_error *error
) {
  const pks__run_frame_info *frame = &piece->frame;
  if (!pks__range_fits(frame->offset, frame->stored_length, segment->file_length)) {
    return pks__fail(error, PKS_CORRUPT, "segment is truncated", segment->name, segment->file_length);
  }
  if (pks__open_run_is_checked(open, piece->index)) { return PKS_OK; }
  pks_status status =
    pks__segment_check(segment, frame->offset, data + frame->offset, frame->stored_length, frame->sum, error);
  if (!status) { pks__open_run_set_checked(open, piece->index); }
  return status;
}

pks_status pks__borrow_place(
  pks__view *view, const pks__hit *hit, pks__segment **segment, uint64_t *offset, pks_error *error
) {
  pks__open_run *open = view->runs[hit->run].open;
  pks__piece_walk walk = pks__piece_walk_make(&open->run, &hit->entry);
  pks__segment *first = NULL, *next = NULL;
  uint64_t end = 0;
  for (;;) {
    pks__piece piece;
    bool more;
    const uint8_t *data;
    pks_status status = pks__piece_walk_next(&walk, &piece, &more, error);
    if (status) { return status; }
    if (!more) { break; }
    status = pks__view_segment(view, hit->run, piece.frame.segment, &next, error);
    if (!status) { status = pks__segment_map_data(next, &data, error); }
    if (!status) { status = check_mapped(open, next, &piece, data, error); }
    if (status) { return status; }
    uint64_t begin = piece.frame.offset + piece.begin;
    if (piece.frame.codec != PKS__CODEC_RAW || (first && (next != first || begin != end))) {
      return pks__fail(
        error, PKS_CORRUPT, "the index calls an asset contiguous that is not", next->name, piece.frame.offset
      );
    }
    if (!first) { *offset = begin; }
    first = next;
    end = begin + (piece.end - piece.begin);
  }
  *segment = first;
  return PKS_OK;
}

pks_status pks_asset_borrow(const pks_asset *asset, pks_bytes *out, pks_error *error) {
  pks__hit hit;
  pks_status status = pks__names_file(asset, &hit, error);
  if (status) { return status; }
  if (asset->size == 0) {
    *out = (pks_bytes){.bytes = "", .count = 0};
    return PKS_OK;
  }
  if (!asset->contiguous) {
    return pks__fail_at_path(
      error, PKS_NOT_CONTIGUOUS, "the asset is not stored raw in one piece", asset->path, asset->path_length
    );
  }
  pks__segment *segment;
  uint64_t offset = 0;
  status = pks__borrow_place((pks__view *)(uintptr_t)asset->snapshot, &hit, &segment, &offset, error);
  if (status) { return pks__names_blame(status, asset, error); }
  *out = (pks_bytes){.bytes = atomic_load(&segment->data) + offset, .count = (size_t)asset->size};
  return PKS_OK;
}

pks_status pks_asset_link_target(const pks_asset *asset, pks_bytes *out, pks_error *error) {
  if (asset->kind != PKS_LINK) {
    return pks__fail_at_path(error, PKS_WRONG_KIND, "not a symbolic link", asset->path, asset->path_length);
  }
  pks__hit hit;
  pks_status status = pks__names_record(asset, &hit, error);
  if (!status) { *out = (pks_bytes){.bytes = hit.entry.target, .count = (size_t)hit.entry.size}; }
  return status;
}
