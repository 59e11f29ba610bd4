#include "store/current.h"

#include "store/control_recovery.h"
#include "store/generation_file.h"
#include "store/generation_pin.h"
#include "store/snapshot.h"

/// Reads the control file, and takes note of what it says.
static pks_status read_control(pks_store *store, pks__control *out, pks_error *error) {
  pks_status status = pks__store_read_control(store, out, error);
  if (!status) { pks__watch_settle(&store->watch, out); }
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
  }
  pks__mutex_unlock(store->mutex);
  if (newer) { pks__snapshot_release(old); }
}

/// Locks the generation that the control file names, and sees that it still is named afterwards (invariant 2).
static pks_status pin_current(pks_store *store, pks__control_slot *slot, bool *pinned, pks_error *error) {
  *pinned = false;
  for (;;) {
    pks__control control;
    pks_status status = read_control(store, &control, error);
    if (status) { return status; }
    // Not always a newer one: a slot that is half written just now lets the other one appear current.
    uint64_t before = *pinned ? slot->generation : 0;
    *slot = *pks__control_current(&control);
    if (before == slot->generation || store->readers_file == PKS_VFS_NO_FILE) { return PKS_OK; }
    if (*pinned) { pks__store_finish_pin(store, NULL, before); }
    status = pks__store_pin(store, slot->generation, error);
    *pinned = status == PKS_OK;
    if (status) { return status; }
  }
}

pks_status pks__snapshot_open_current(pks_snapshot **out, pks_store *store, pks_error *error) {
  uint64_t newest = pks__watch_newest(&store->watch);
  *out = newest ? retain_current(store, newest) : NULL;
  if (*out) { return PKS_OK; }
  pks__control control;
  pks_status status = read_control(store, &control, error);
  if (status) { return status; }
  *out = retain_current(store, pks__control_current(&control)->generation);
  if (*out) { return PKS_OK; }
  pks__mutex_lock(store->opening);
  status = read_control(store, &control, error);
  *out = status ? NULL : retain_current(store, pks__control_current(&control)->generation);
  if (!status && !*out) {
    pks__control_slot slot;
    pks__generation generation = {0};
    bool pinned = false;
    status = pin_current(store, &slot, &pinned, error);
    if (!status) { status = pks__store_read_generation(store, slot.generation, &slot, &generation, error); }
    if (!status) { status = pks__snapshot_create(out, store, &generation, PKS_VFS_NO_FILE, error); }
    if (pinned) { pks__store_finish_pin(store, status ? NULL : *out, slot.generation); }
    if (!status) { set_current(store, *out); }
  }
  pks__mutex_unlock(store->opening);
  return status;
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
  uint64_t newest = pks__watch_newest(&store->watch);
  if (!newest) {
    pks__control control;
    status = read_control(store, &control, error);
    if (status) { return status; }
    newest = pks__control_current(&control)->generation;
  }
  *generation = newest;
  return PKS_OK;
}
