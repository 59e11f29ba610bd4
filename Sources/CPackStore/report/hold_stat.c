/// Measures older generations that readers retain, and the bytes that would be free without them.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "space/live_set.h"
#include "store/control_recovery.h"
#include "store/reader_holds.h"

/// Returns the sizes of files in `needed` that are not in `live`. A missing file was collected since.
static uint64_t measure(const pks_store *store, const pks__live_set *needed, const pks__live_set *live) {
  const pks_vfs *vfs = store->vfs;
  uint64_t sum = 0;
  for (uint64_t at = 0; at < needed->names.length;) {
    const char *name = (const char *)needed->names.bytes + at;
    size_t length = strlen(name);
    at += length + 1;
    if (pks__live_set_has(live, name, length)) { continue; }
    char path[PKS__INDEX_NAME + PKS__SEGMENT_NAME];
    const char *folder = strchr(name, '.') ? PKS__INDEX_FOLDER : PKS__SEGMENTS_FOLDER;
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    pks_vfs_info info;
    if (pks__vfs_info(vfs, store->root, path, false, &info) == 0) { sum += info.size; }
  }
  return sum;
}

/// Finds the files that the snapshot needs, and the generation that the next commit spares.
static pks_status find_live(pks__live_set *live, pks_snapshot *snapshot, pks_error *error) {
  pks_store *store = snapshot->store;
  pks__control control;
  pks_status status = pks__live_set_add_index(live, &snapshot->generation, error);
  if (!status) { status = pks__live_set_add_versions(live, snapshot, error); }
  if (!status) { status = pks__store_read_control(store, &control, error); }
  // An unreadable generation is useless to a store, and retains nothing that can be listed.
  if (!status) { (void)pks__live_set_add_number(live, store, pks__control_spared(&control)->generation, NULL); }
  return status;
}

static void measure_holds(pks_holds *out, pks_store *store, const pks__reader_holds *holds, const pks__live_set *live) {
  pks__live_set all = {0};
  for (uint32_t i = 0; i < holds->count; i++) {
    pks__live_set one = {0};
    pks_hold *hold = &out->holds[out->count++];
    *hold = (pks_hold){.generation = holds->generations[i]};
    // A generation that was collected since, or is damaged, retains nothing that can be listed.
    if (!pks__live_set_add_number(&one, store, hold->generation, NULL)) {
      hold->kept_bytes = measure(store, &one, live);
      (void)pks__live_set_add_number(&all, store, hold->generation, NULL);
    }
    pks__live_set_free(&one);
  }
  out->kept_bytes = measure(store, &all, live);
  pks__live_set_free(&all);
}

pks_status pks_snapshot_holds(pks_holds *out, const pks_snapshot *snapshot, pks_error *error) {
  // Bitmaps and lazily opened segments change behind a snapshot that is constant to its user.
  pks_snapshot *open = pks__snapshot_mutable(snapshot);
  pks_store *store = open->store;
  const pks_vfs *vfs = store->vfs;
  *out = (pks_holds){0};
  pks_status status = pks__store_check_process(store, error);
  if (status || store->lacks_locks) { return status; }
  // An opening of its own, so that other snapshots of this store count.
  pks_vfs_file readers = PKS_VFS_NO_FILE;
  int failure = pks__vfs_open(vfs, store->root, PKS__READERS_FILE, PKS_VFS_OPEN_READ, &readers);
  if (failure == ENOENT) { return PKS_OK; }
  if (failure) { return pks__fail_system(error, failure, "cannot open", PKS__READERS_FILE); }
  pks__reader_holds holds;
  pks__live_set live = {0};
  status = pks__reader_holds_find(&holds, store, readers, open->generation.number, error);
  pks__vfs_close(vfs, readers);
  if (!status && holds.count > 0) { status = find_live(&live, open, error); }
  if (!status) {
    measure_holds(out, store, &holds, &live);
    out->has_more = holds.has_more;
  }
  pks__live_set_free(&live);
  return status;
}
