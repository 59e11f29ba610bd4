#include "store/current.h"

#include <errno.h>

#include "store/cache_folder.h"
#include "store/control_recovery.h"
#include "store/generation_file.h"
#include "store/generation_pin.h"
#include "store/snapshot.h"

/// Reads the control file, and updates the store's state from it.
static pks_status read_control(pks_store *store, pks__control *out, pks_error *error) {
  pks_status status = pks__store_read_control(store, out, error);
  if (!status) { pks__generation_watch_settle(&store->watch, out); }
  return status;
}

/// Takes a reference to the current snapshot if it is of that generation.
static pks_snapshot *retain_current(pks_store *store, uint64_t generation) {
  pks__mutex_lock(store->mutex);
  pks_snapshot *snapshot = store->current;
  if (snapshot && snapshot->generation.number == generation) {
    snapshot->references++;
  } else {
    snapshot = NULL;
  }
  pks__mutex_unlock(store->mutex);
  return snapshot;
}

/// Makes `snapshot` the store's current one, with a reference of the store's own.
static void set_current(pks_store *store, pks_snapshot *snapshot) {
  pks__mutex_lock(store->mutex);
  pks_snapshot *old = store->current;
  bool newer = !old || old->generation.number <= snapshot->generation.number;
  if (newer) {
    store->current = snapshot;
    snapshot->references++;
    pks__cache_folder_note(store, snapshot->generation.cache_folder);
  }
  pks__mutex_unlock(store->mutex);
  if (newer) { pks__snapshot_release(old); }
}

/// Locks the generation of `*slot`, which the control file contained, and checks that it still does afterwards (invariant 2);
/// otherwise locks its current one.
static pks_status pin_current(pks_store *store, pks__control_slot *slot, bool *pinned, pks_error *error) {
  *pinned = false;
  if (store->readers_file == PKS_VFS_NO_FILE) { return PKS_OK; }
  while (slot->generation != 0) {
    pks__control control;
    pks_status status = pks__store_pin(store, slot->generation, error);
    if (status) { return status; }
    status = read_control(store, &control, error);
    uint64_t before = slot->generation;
    if (!status) { *slot = *pks__control_current(&control); }
    *pinned = !status && slot->generation == before;
    if (*pinned) { return PKS_OK; }
    // Not always a newer one: a slot that is half written just now lets the other one appear current.
    pks__store_finish_pin(store, NULL, before);
    if (status) { return status; }
  }
  return PKS_OK;  // The empty generation has no file that could be taken away.
}

/// A file of the generation that is current is not there: damage, and no whim of the system.
static pks_status fail_current(pks_status status, const pks_error *found, pks_error *error) {
  if (!status) { return PKS_OK; }
  if (error) { *error = *found; }
  if (status != PKS_IO_ERROR || found->system_error != ENOENT) { return status; }
  return pks__fail(error, PKS_CORRUPT, "is missing", found->file, PKS_NO_OFFSET);
}

/// Opens the generation that the control file names, which is not open yet. The lock `opening` is held.
static pks_status open_named(pks_snapshot **out, pks_store *store, const pks__control *control, pks_error *error) {
  pks__control_slot slot = *pks__control_current(control);
  pks__generation generation = {0};
  bool pinned;
  pks_error found;
  pks_status status = pin_current(store, &slot, &pinned, error);
  if (status) { return status; }
  status = pks__store_read_generation(store, slot.generation, &slot, &generation, &found);
  if (!status) { status = pks__snapshot_create(out, store, &generation, PKS_VFS_NO_FILE, &found); }
  if (pinned) { pks__store_finish_pin(store, status ? NULL : *out, slot.generation); }
  if (!status) { set_current(store, *out); }
  return fail_current(status, &found, error);
}

static bool has_current(pks_store *store) {
  pks__mutex_lock(store->mutex);
  bool has = store->current != NULL;
  pks__mutex_unlock(store->mutex);
  return has;
}

pks_status pks__snapshot_open_current(pks_snapshot **out, pks_store *store, pks_error *error) {
  uint64_t newest = pks__generation_watch_newest(&store->watch);
  *out = newest ? retain_current(store, newest) : NULL;
  if (*out) { return PKS_OK; }
  pks__control control;
  // Without the lock first: another thread that opens a new generation is not waited for by those whose one is open.
  if (has_current(store)) {
    pks_status status = read_control(store, &control, error);
    if (status) { return status; }
    *out = retain_current(store, pks__control_current(&control)->generation);
    if (*out) { return PKS_OK; }
  }
  pks__mutex_lock(store->opening);
  pks_status status = read_control(store, &control, error);
  *out = status ? NULL : retain_current(store, pks__control_current(&control)->generation);
  if (!status && !*out) { status = open_named(out, store, &control, error); }
  pks__mutex_unlock(store->opening);
  return status;
}

void pks__snapshot_drop_idle(pks_store *store) {
  pks__mutex_lock(store->opening);
  pks__mutex_lock(store->mutex);
  pks_snapshot *current = store->current;
  bool is_idle = current && current->references == 1 && store->snapshots == current && !current->next;
  if (is_idle) { store->current = NULL; }
  pks__mutex_unlock(store->mutex);
  if (is_idle) { pks__snapshot_release(current); }
  pks__mutex_unlock(store->opening);
}

pks_status pks__snapshot_open_number(pks_snapshot **out, pks_store *store, uint64_t number, pks_error *error) {
  pks__generation generation = {0};
  pks_status status = pks__store_read_generation(store, number, NULL, &generation, error);
  return status ? status : pks__snapshot_create(out, store, &generation, PKS_VFS_NO_FILE, error);
}

pks_status pks_snapshot_open(pks_snapshot **out, pks_store *store, pks_error *error) {
  pks_status status = pks__store_check_process(store, error);
  return status ? status : pks__snapshot_open_current(out, store, error);
}

pks_status pks_store_generation(uint64_t *generation, pks_store *store, pks_error *error) {
  pks_status status = pks__store_check_process(store, error);
  if (status) { return status; }
  uint64_t newest = pks__generation_watch_newest(&store->watch);
  if (!newest) {
    pks__control control;
    status = read_control(store, &control, error);
    if (status) { return status; }
    newest = pks__control_current(&control)->generation;
  }
  *generation = newest;
  return PKS_OK;
}
