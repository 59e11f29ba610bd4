/// How a file is stored: a walk over the frames that its record names.
#include "names.h"
#include "pieces.h"

/// A part's share of what its frame takes, rounded.
static uint64_t share(const pks__piece *piece) {
  uint64_t part = (uint64_t)piece->frame.stored_length * (piece->end - piece->begin);
  return (part + piece->frame.raw_length / 2) / piece->frame.raw_length;
}

pks_status pks_asset_storage(pks_storage *out, const pks_asset *asset, pks_error *error) {
  pks__hit hit;
  if (asset->kind != PKS_FILE) {
    return pks__fail_at_path(error, PKS_WRONG_KIND, "not a file", asset->path, asset->path_length);
  }
  pks_status status = pks__names_record(asset, &hit, error);
  if (status) { return status; }
  const pks__view *view = asset->snapshot;
  pks_storage storage = {
    .extent_count = hit.entry.extent_count, .contiguous = asset->contiguous, .mapped = asset->mapped};
  pks__piece_walk walk = pks__piece_walk_make(&view->runs[hit.run].open->run, &hit.entry);
  for (bool more = true; more;) {
    pks__piece piece;
    status = pks__piece_walk_next(&walk, &piece, &more, error);
    if (status) { return status; }
    if (!more) { break; }
    storage.frame_count++;
    storage.raw_frame_count += piece.frame.codec == PKS__CODEC_RAW;
    storage.stored_bytes += share(&piece);
  }
  *out = storage;
  return PKS_OK;
}
