#include "leftovers.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "catalog/catalog.h"
#include "platform/vfs_posix.h"
#include "store/chunk_lookup.h"
#include "store/control_recovery.h"
#include "store/current.h"
#include "store/snapshot.h"

void file_names_free(file_names *names) {
  free(names->names);
  *names = (file_names){0};
}

static void add_name(file_names *names, const char *name) {
  if (names->count == names->capacity) {
    names->capacity = names->capacity ? names->capacity * 2 : 64;
    names->names = realloc(names->names, names->capacity * sizeof *names->names);
    if (!names->names) { abort(); }
  }
  (void)snprintf(names->names[names->count++], sizeof *names->names, "%s", name);
}

static bool has_name(const file_names *names, const char *name) {
  for (uint32_t i = 0; i < names->count; i++) {
    if (strcmp(names->names[i], name) == 0) { return true; }
  }
  return false;
}

// MARK: - Needed files

static void add_segment(file_names *names, const pks__segment_id *id) {
  char name[PKS__SEGMENT_NAME];
  pks__segment_name(id, name);
  add_name(names, name);
}

static pks_status add_version(file_names *names, pks_snapshot *view, const pks__version *version, pks_error *error) {
  pks__chunk_ref root;
  bool found = false;
  pks__layout_root layout;
  pks__scratch segments = {0};
  pks_status status = pks__snapshot_find_chunk(view, &version->layout, PKS__SEGMENT_METADATA, &root, &found, error);
  if (!status && found) { add_segment(names, &root.segment->id); }
  if (!status) {
    status = pks__layout_read_root(pks__snapshot_pages(view), &version->layout, &layout, &segments, error);
  }
  for (uint64_t i = 0; !status && i < PKS__SCRATCH_COUNT(&segments, pks__segment_id); i++) {
    add_segment(names, PKS__SCRATCH_AT(&segments, const pks__segment_id, i));
  }
  pks__scratch_free(&segments);
  return status;
}

static pks_status add_generation(file_names *names, pks_store *store, uint64_t number, pks_error *error) {
  pks_snapshot *view;
  pks_status status = pks__snapshot_open_number(&view, store, number, error);
  if (status) { return status; }
  const pks__generation *generation = &view->generation;
  char path[PKS__INDEX_NAME];
  pks__generation_path(number, path);
  add_name(names, strrchr(path, '/') + 1);
  for (uint32_t i = 0; i < generation->run_count; i++) {
    pks__run_path(generation->runs[i].name.name, path);
    add_name(names, strrchr(path, '/') + 1);
  }
  for (uint32_t pack = 0; pack < generation->pack_count + generation->removed_count; pack++) {
    const pks__pack_state *state = pks__generation_any_pack(generation, pack);
    for (uint32_t i = 0; !status && i < state->version_count; i++) {
      status = add_version(names, view, &state->versions[i], error);
    }
  }
  pks__snapshot_release(view);
  return status;
}

static bool needed(file_names *out, const char *path, bool with_spared, failure *failure) {
  pks_error error = {0};
  pks_store *store = NULL;
  pks__control control;
  pks_status status = pks_store_open(&store, path, &(pks_options){.read_only = true, .thread_count = 1}, &error);
  if (!status) { status = pks__store_read_control(store, &control, &error); }
  if (!status) { status = add_generation(out, store, pks__control_current(&control)->generation, &error); }
  if (!status && with_spared) {
    status = add_generation(out, store, pks__control_spared(&control)->generation, &error);
  }
  pks_store_close(store);
  return succeeded(failure, "what is needed", status, &error);
}

bool needed_by_next(file_names *out, const char *store, failure *failure) { return needed(out, store, true, failure); }
bool needed_now(file_names *out, const char *store, failure *failure) { return needed(out, store, false, failure); }

// MARK: - Existing files

static bool check_folder(
  const char *store, const char *folder, const file_names *before, const file_names *now, failure *failure
) {
  char path[4096];
  (void)snprintf(path, sizeof path, "%s/%s", store, folder);
  DIR *stream = opendir(path);
  if (!stream) { return fail(failure, "cannot list %s", path); }
  bool good = true;
  for (const struct dirent *entry = readdir(stream); good && entry; entry = readdir(stream)) {
    const char *name = entry->d_name;
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || has_name(before, name) || has_name(now, name)) {
      continue;
    }
    good = fail(failure, "a leftover: %s/%s", folder, name);
  }
  (void)closedir(stream);
  return good;
}

static bool check_locks(const char *store, const char *name, failure *failure) {
  char path[4096];
  (void)snprintf(path, sizeof path, "%s/%s", store, name);
  const pks_vfs *vfs = pks_vfs_posix();
  bool held = true;
  int file = open(path, O_RDONLY | O_CLOEXEC);
  bool asked = file >= 0 && vfs->lock_held(NULL, file, 0, INT64_MAX, &held) == 0;
  if (file >= 0) { (void)close(file); }
  if (!asked) { return fail(failure, "cannot ask for locks of %s", name); }
  return !held || fail(failure, "a lock of %s is held", name);
}

bool check_leftovers(const char *store, const file_names *before, const file_names *now, failure *failure) {
  static const file_names none;
  return check_folder(store, PKS__INDEX_FOLDER, before, now, failure)
    && check_folder(store, PKS__SEGMENTS_FOLDER, before, now, failure)
    && check_folder(store, PKS__TMP_FOLDER, &none, &none, failure) && check_locks(store, PKS__LOCK_FILE, failure)
    && check_locks(store, PKS__READERS_FILE, failure);
}
