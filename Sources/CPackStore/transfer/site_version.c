#include "transfer/site_version.h"

#include "store/chunk_lookup.h"

static const pks__version *find_version(const pks_snapshot *snapshot, uint32_t pack, uint64_t number) {
  const pks__generation *generation = &snapshot->generation;
  if (pack >= generation->pack_count + generation->removed_count) { return NULL; }
  const pks__pack_state *state = pks__generation_any_pack(generation, pack);
  uint32_t index = pks__pack_find_version(state, number);
  return index == UINT32_MAX ? NULL : &state->versions[index];
}

/// Moves the segment of the layout's root page, which that page does not name as a rule, to the end.
static pks_status put_last(pks__scratch *segments, const pks__segment_id *last, pks_error *error) {
  pks__segment_id *ids = PKS__SCRATCH_AT(segments, pks__segment_id, 0), id = *last;
  uint64_t count = PKS__SCRATCH_COUNT(segments, pks__segment_id), kept = 0;
  for (uint64_t i = 0; i < count; i++) {
    if (!pks__segment_id_equal(&ids[i], &id)) { ids[kept++] = ids[i]; }
  }
  segments->length = kept * sizeof *ids;
  return pks__scratch_append(segments, &id, sizeof id, error);
}

pks_status pks__site_version_open(
  pks__site_version *out, pks_snapshot *snapshot, uint32_t pack, uint64_t number, pks_error *error
) {
  pks__chunk_ref root;
  bool found = false;
  *out = (pks__site_version){.version = find_version(snapshot, pack, number)};
  if (!out->version) {
    return pks__fail_about(
      error, PKS_NOT_FOUND, PKS_DETAIL_NO_VERSION, PKS_SUBJECT_NONE, NULL, "the version is not kept"
    );
  }
  const pks__id *layout = &out->version->layout;
  pks_status status = pks__layout_read_root(pks__snapshot_pages(snapshot), layout, &out->layout, &out->segments, error);
  if (!status) { status = pks__snapshot_find_chunk(snapshot, layout, PKS__SEGMENT_METADATA, &root, &found, error); }
  if (!status && !found) {
    status = pks__fail_about(
      error, PKS_PURGED, PKS_DETAIL_SEGMENT_GONE, PKS_SUBJECT_NONE, NULL, "the segment with the layout is missing"
    );
  }
  return status ? status : put_last(&out->segments, &root.segment->id, error);
}

void pks__site_version_close(pks__site_version *version) { pks__scratch_free(&version->segments); }
