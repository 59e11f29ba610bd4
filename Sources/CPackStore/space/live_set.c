#include "space/live_set.h"

#include <string.h>

#include "store/chunk_lookup.h"
#include "store/generation_file.h"
#include "store/layout_segments.h"
#include "store/snapshot.h"

pks__live_set pks__live_set_make(const pks_store *store) { return (pks__live_set){.by_name.key = store->map_key}; }

void pks__live_set_free(pks__live_set *needs) {
  pks__scratch_free(&needs->names);
  pks__hash_map_free(&needs->by_name);
}

bool pks__live_set_has(const pks__live_set *needs, const char *name, size_t length) {
  uint64_t key = pks__hash_map_key(&needs->by_name, name, length), probe = 0;
  uint32_t offset;
  while (pks__hash_map_next(&needs->by_name, key, &probe, &offset)) {
    const char *known = (const char *)needs->names.bytes + offset;
    if (strlen(known) == length && memcmp(known, name, length) == 0) { return true; }
  }
  return false;
}

static pks_status add(pks__live_set *needs, const char *name, pks_error *error) {
  size_t length = strlen(name);
  if (pks__live_set_has(needs, name, length)) { return PKS_OK; }
  uint32_t offset = (uint32_t)needs->names.length;
  pks_status status = pks__scratch_append(&needs->names, name, length + 1, error);
  return status
    ? status
    : pks__hash_map_insert(&needs->by_name, pks__hash_map_key(&needs->by_name, name, length), offset, error);
}

pks_status pks__live_set_add_segment(pks__live_set *needs, const pks__segment_id *id, pks_error *error) {
  char name[PKS__SEGMENT_NAME];
  pks__segment_name(id, name);
  return add(needs, name, error);
}

pks_status pks__live_set_add_index(pks__live_set *needs, const pks__generation *generation, pks_error *error) {
  char path[PKS__INDEX_NAME];
  pks__generation_path(generation->number, path);
  pks_status status = add(needs, strrchr(path, '/') + 1, error);
  for (uint32_t i = 0; !status && i < generation->run_count; i++) {
    pks__run_path(generation->runs[i].name.name, path);
    status = add(needs, strrchr(path, '/') + 1, error);
  }
  return status;
}

pks_status pks__live_set_add_version(
  pks__live_set *needs, pks_snapshot *snapshot, const pks__version *version, pks_error *error
) {
  pks__chunk_ref ref;
  bool found;
  pks__scratch segments = {0};
  pks_status status = pks__snapshot_find_chunk(snapshot, &version->layout, PKS__SEGMENT_METADATA, &ref, &found, error);
  if (!status && found) { status = pks__live_set_add_segment(needs, &ref.segment->id, error); }
  if (!status) { status = pks__layout_segments(snapshot, &version->layout, &segments, error); }
  for (uint64_t i = 0; !status && i < PKS__SCRATCH_COUNT(&segments, pks__segment_id); i++) {
    status = pks__live_set_add_segment(needs, PKS__SCRATCH_AT(&segments, const pks__segment_id, i), error);
  }
  pks__scratch_free(&segments);
  return status;
}

pks_status pks__live_set_add_versions(pks__live_set *needs, pks_snapshot *snapshot, pks_error *error) {
  const pks__generation *generation = &snapshot->generation;
  pks_status status = PKS_OK;
  for (uint32_t pack = 0; pack < generation->pack_count + generation->removed_count; pack++) {
    const pks__pack_state *state = pks__generation_any_pack(generation, pack);
    for (uint32_t i = 0; !status && i < state->version_count; i++) {
      status = pks__live_set_add_version(needs, snapshot, &state->versions[i], error);
    }
  }
  return status;
}

pks_status pks__live_set_add_listed(pks__live_set *needs, const pks_snapshot *snapshot, pks_error *error) {
  pks_status status = PKS_OK;
  for (uint32_t i = 0; i < snapshot->run_count; i++) {
    pks__run *run = &snapshot->runs[i].open->run;
    for (uint32_t at = 0; !status && at < run->segment_count; at++) {
      pks__run_segment_info info;
      status = pks__run_segment_at(run, at, &info, error);
      if (!status) { status = pks__live_set_add_segment(needs, &info.id, error); }
    }
  }
  return status;
}

pks_status pks__live_set_add_number(pks__live_set *needs, pks_store *store, uint64_t number, pks_error *error) {
  pks__generation generation = {0};
  pks_snapshot *snapshot = NULL;
  pks_status status = pks__store_read_generation(store, number, NULL, &generation, error);
  if (!status) { status = pks__live_set_add_index(needs, &generation, error); }
  if (status) {
    pks__generation_free(&generation);
    return status;
  }
  status = pks__snapshot_create(&snapshot, store, &generation, PKS_VFS_NO_FILE, error);
  if (!status) { status = pks__live_set_add_versions(needs, snapshot, error); }
  pks__snapshot_release(snapshot);
  return status;
}
