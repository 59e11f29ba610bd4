/// Borrowing: the bytes of raw assets where they lie, mapped.
#include "names.h"
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

/// Follows the pieces of a file that the index calls contiguous; `*bytes` is where the first lies.
static pks_status find_bytes(pks__view *view, const pks__hit *hit, const uint8_t **bytes, pks_error *error) {
  pks__open_run *open = view->runs[hit->run].open;
  pks__piece_walk walk = pks__piece_walk_make(&open->run, &hit->entry);
  const uint8_t *next = NULL;
  for (;;) {
    pks__piece piece;
    bool more;
    pks__segment *segment;
    const uint8_t *data;
    pks_status status = pks__piece_walk_next(&walk, &piece, &more, error);
    if (status || !more) { return status; }
    status = pks__view_segment(view, hit->run, piece.frame.segment, &segment, error);
    if (!status) { status = pks__segment_map_data(segment, &data, error); }
    if (!status) { status = check_mapped(open, segment, &piece, data, error); }
    if (status) { return status; }
    const uint8_t *begin = data + piece.frame.offset + piece.begin;
    if (piece.frame.codec != PKS__CODEC_RAW || (next && begin != next)) {
      return pks__fail(
        error, PKS_CORRUPT, "the index calls an asset contiguous that is not", segment->name, piece.frame.offset
      );
    }
    if (!next) { *bytes = begin; }
    next = begin + (piece.end - piece.begin);
  }
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
  const uint8_t *bytes = NULL;
  status = find_bytes((pks__view *)(uintptr_t)asset->snapshot, &hit, &bytes, error);
  if (status) { return pks__names_blame(status, asset, error); }
  *out = (pks_bytes){.bytes = bytes, .count = (size_t)asset->size};
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
