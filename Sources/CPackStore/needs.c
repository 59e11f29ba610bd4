#include "needs.h"

#include <string.h>

#include "catalog.h"

pks__needs pks__needs_make(const pks_store *store) { return (pks__needs){.by_name.key = store->map_key}; }

void pks__needs_free(pks__needs *needs) {
  pks__scratch_free(&needs->names);
  pks__map_free(&needs->by_name);
}

bool pks__needs_has(const pks__needs *needs, const char *name, size_t length) {
  uint64_t key = pks__map_key(&needs->by_name, name, length), probe = 0;
  uint32_t offset;
  while (pks__map_next(&needs->by_name, key, &probe, &offset)) {
    const char *known = (const char *)needs->names.bytes + offset;
    if (strlen(known) == length && memcmp(known, name, length) == 0) { return true; }
  }
  return false;
}

static pks_status add(pks__needs *needs, const char *name, pks_error *error) {
  size_t length = strlen(name);
  if (pks__needs_has(needs, name, length)) { return PKS_OK; }
  uint32_t offset = (uint32_t)needs->names.length;
  pks_status status = pks__scratch_append(&needs->names, name, length + 1, error);
  return status ? status : pks__map_insert(&needs->by_name, pks__map_key(&needs->by_name, name, length), offset, error);
}

pks_status pks__needs_add_segment(pks__needs *needs, const pks__segment_id *id, pks_error *error) {
  char name[PKS__SEGMENT_NAME];
  pks__segment_name(id, name);
  return add(needs, name, error);
}

pks_status pks__needs_add_index(pks__needs *needs, const pks__generation *generation, pks_error *error) {
  char path[PKS__INDEX_NAME];
  pks__generation_path(generation->number, path);
  pks_status status = add(needs, strrchr(path, '/') + 1, error);
  for (uint32_t i = 0; !status && i < generation->run_count; i++) {
    pks__run_path(generation->runs[i].name.name, path);
    status = add(needs, strrchr(path, '/') + 1, error);
  }
  return status;
}

pks_status pks__needs_add_version(pks__needs *needs, pks__view *view, const pks__version *version, pks_error *error) {
  pks__chunk_ref ref;
  bool found;
  pks__layout_root layout;
  pks__scratch segments = {0};
  pks_status status = pks__view_find_chunk(view, &version->layout, PKS__SEGMENT_METADATA, &ref, &found, error);
  if (!status && found) { status = pks__needs_add_segment(needs, &ref.segment->id, error); }
  if (!status) { status = pks__layout_read_root(pks__view_pages(view), &version->layout, &layout, &segments, error); }
  for (uint64_t i = 0; !status && i < PKS__SCRATCH_COUNT(&segments, pks__segment_id); i++) {
    status = pks__needs_add_segment(needs, PKS__SCRATCH_AT(&segments, const pks__segment_id, i), error);
  }
  pks__scratch_free(&segments);
  return status;
}

pks_status pks__needs_add_versions(pks__needs *needs, pks__view *view, pks_error *error) {
  const pks__generation *generation = &view->generation;
  pks_status status = PKS_OK;
  for (uint32_t pack = 0; pack < generation->pack_count + generation->removed_count; pack++) {
    const pks__pack_state *state = pks__generation_any_pack(generation, pack);
    for (uint32_t i = 0; !status && i < state->version_count; i++) {
      status = pks__needs_add_version(needs, view, &state->versions[i], error);
    }
  }
  return status;
}

pks_status pks__needs_add_listed(pks__needs *needs, const pks__view *view, pks_error *error) {
  pks_status status = PKS_OK;
  for (uint32_t i = 0; i < view->run_count; i++) {
    pks__run *run = &view->runs[i].open->run;
    for (uint32_t at = 0; !status && at < run->segment_count; at++) {
      pks__run_segment_info info;
      status = pks__run_segment_at(run, at, &info, error);
      if (!status) { status = pks__needs_add_segment(needs, &info.id, error); }
    }
  }
  return status;
}

pks_status pks__needs_add_number(pks__needs *needs, pks_store *store, uint64_t number, pks_error *error) {
  pks__generation generation = {0};
  pks__view *view = NULL;
  pks_status status = pks__store_read_generation(store, number, NULL, &generation, error);
  if (!status) { status = pks__needs_add_index(needs, &generation, error); }
  if (status) {
    pks__generation_free(&generation);
    return status;
  }
  status = pks__view_create(&view, store, &generation, PKS__NO_FILE, error);
  if (!status) { status = pks__needs_add_versions(needs, view, error); }
  pks__view_release(view);
  return status;
}
