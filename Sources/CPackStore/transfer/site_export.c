/// What a publisher asks of a store: which segments a version needs, and their frame tables.
#include <string.h>

#include "catalog/catalog.h"
#include "segment/frame_table.h"
#include "store/chunk_lookup.h"
#include "store/segment_registry.h"
#include "store/state.h"

typedef bool segment_visitor(void *context, const uint8_t id[16], bool is_metadata, uint64_t file_length);

static const pks__version *find_version(const pks_snapshot *snapshot, uint32_t pack, uint64_t number) {
  const pks__generation *generation = &snapshot->generation;
  if (pack >= generation->pack_count + generation->removed_count) { return NULL; }
  const pks__pack_state *state = pks__generation_any_pack(generation, pack);
  uint32_t index = pks__pack_find_version(state, number);
  return index == UINT32_MAX ? NULL : &state->versions[index];
}

static pks_status visit_segment(
  pks_snapshot *snapshot, const pks__segment_id *id, segment_visitor *visit, void *context, pks_error *error
) {
  pks__segment *segment;
  bool goes_on = true;
  pks_status status = pks__store_get_segment(snapshot->store, id, &segment, error);
  if (status) { return status; }
  status = pks__segment_need_table(segment, error);
  if (!status) {
    goes_on = visit(context, segment->id.bytes, segment->kind == PKS__SEGMENT_METADATA, segment->file_length);
  }
  pks__store_release_segment(snapshot->store, segment);
  return goes_on ? status : pks__fail(error, PKS_CANCELLED, "cancelled", NULL, PKS_NO_OFFSET);
}

pks_status pks_snapshot_visit_segments(
  const pks_snapshot *snapshot, uint32_t pack, uint64_t version, segment_visitor *visit, void *context, pks_error *error
) {
  pks_status status = pks__store_check_process(snapshot->store, error);
  if (status) { return status; }
  pks_snapshot *open = pks__snapshot_mutable(snapshot);
  const pks__version *target = find_version(open, pack, version);
  if (!target) { return pks__fail(error, PKS_NOT_FOUND, "no such version", NULL, PKS_NO_OFFSET); }
  pks__layout_root layout;
  pks__scratch segments = {0};
  pks__chunk_ref root;
  bool found = false;
  status = pks__layout_read_root(pks__snapshot_pages(open), &target->layout, &layout, &segments, error);
  if (!status) {
    status = pks__snapshot_find_chunk(open, &target->layout, PKS__SEGMENT_METADATA, &root, &found, error);
  }
  if (!status && !found) {
    status = pks__fail(error, PKS_PURGED, "the segment with the layout is gone", NULL, PKS_NO_OFFSET);
  }
  for (uint64_t i = 0; !status && i < PKS__SCRATCH_COUNT(&segments, pks__segment_id); i++) {
    const pks__segment_id *id = PKS__SCRATCH_AT(&segments, const pks__segment_id, i);
    if (!pks__segment_id_equal(id, &root.segment->id)) { status = visit_segment(open, id, visit, context, error); }
  }
  if (!status) { status = visit_segment(open, &root.segment->id, visit, context, error); }
  pks__scratch_free(&segments);
  return status;
}

pks_status pks_snapshot_frame_table(
  const pks_snapshot *snapshot, const uint8_t segment[16],
  bool (*write)(void *context, const void *bytes, size_t byte_count), void *context, pks_error *error
) {
  pks_store *store = snapshot->store;
  pks_status status = pks__store_check_process(store, error);
  if (status) { return status; }
  if (!store->sha256) {
    return pks__fail(error, PKS_INVALID_ARGUMENT, "frame tables need 'pks_options.sha256'", NULL, PKS_NO_OFFSET);
  }
  pks__segment_id id;
  pks__segment *open;
  memcpy(id.bytes, segment, sizeof id.bytes);
  status = pks__store_get_segment(store, &id, &open, error);
  if (status) { return status; }
  status = pks__frame_table_write(open, store->sha256, write, context, error);
  pks__store_release_segment(store, open);
  return status;
}
