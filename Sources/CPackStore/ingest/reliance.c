#include "ingest/reliance.h"

#include "index/extent_walk.h"

pks_status pks__reliance_find_chunk(
  const pks__reliance *reliance, pks_snapshot *snapshot, const pks__id *id, pks__segment_kind kind, pks__chunk_ref *out,
  bool *found, pks_error *error
) {
  pks__chunk_probe probe = {0};
  for (bool allowed = false; !allowed;) {
    pks_status status = pks__snapshot_next_chunk(snapshot, id, kind, &probe, out, found, error);
    if (status || !*found) { return status; }
    allowed = pks__reliance_allows(reliance, &out->segment->id);
  }
  return PKS_OK;
}

pks_status pks__reliance_allows_record(
  const pks__reliance *reliance, pks_snapshot *snapshot, const pks__hit *hit, bool *allowed, pks_error *error
) {
  pks__run *run = &snapshot->runs[hit->run].open->run;
  pks__extent_walk walk = pks__extent_walk_make(run, &hit->entry);
  uint32_t last = UINT32_MAX;
  *allowed = true;
  for (bool more = true; *allowed;) {
    pks__extent_part part;
    pks__run_segment_info info;
    pks_status status = pks__extent_walk_next(&walk, &part, &more, error);
    if (status || !more) { return status; }
    if (part.frame.segment == last) { continue; }
    last = part.frame.segment;
    status = pks__run_segment_at(run, last, &info, error);
    if (status) { return status; }
    *allowed = pks__reliance_allows(reliance, &info.id);
  }
  return PKS_OK;
}
