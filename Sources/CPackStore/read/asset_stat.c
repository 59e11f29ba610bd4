/// How a file is stored: a walk over the frames that its record names.
#include "index/extent_walk.h"
#include "read/namespace.h"

/// A part's share of its frame's stored size, rounded.
static uint64_t share(const pks__extent_part *piece) {
  uint64_t part = (uint64_t)piece->frame.ref.stored_length * (piece->end - piece->begin);
  return (part + piece->frame.ref.raw_length / 2) / piece->frame.ref.raw_length;
}

pks_status pks_asset_storage(pks_storage *out, const pks_asset *asset, pks_error *error) {
  pks__hit hit;
  if (asset->kind != PKS_FILE) {
    return pks__fail_at_path(error, PKS_WRONG_KIND, "not a file", asset->path, asset->path_length);
  }
  pks_status status = pks__namespace_record(asset, &hit, error);
  if (status) { return status; }
  const pks_snapshot *snapshot = asset->snapshot;
  pks_storage storage = {
    .extent_count = hit.entry.extent_count, .contiguous = asset->contiguous, .mapped = asset->mapped};
  pks__extent_walk walk = pks__extent_walk_make(&snapshot->runs[hit.run].open->run, &hit.entry);
  for (bool more = true; more;) {
    pks__extent_part piece;
    status = pks__extent_walk_next(&walk, &piece, &more, error);
    if (status) { return status; }
    if (!more) { break; }
    storage.frame_count++;
    storage.raw_frame_count += piece.frame.ref.codec == PKS__CODEC_RAW;
    storage.stored_bytes += share(&piece);
  }
  *out = storage;
  return PKS_OK;
}
