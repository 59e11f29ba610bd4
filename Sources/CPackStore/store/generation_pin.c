#include "store/generation_pin.h"

pks_status pks__store_pin(pks_store *store, uint64_t generation, pks_error *error) {
  pks__mutex_lock(store->mutex);
  store->pinning = generation;
  pks__mutex_unlock(store->mutex);
  pks_status status = pks__pin_generation(store->vfs, store->readers_file, generation, error);
  if (status) {
    pks__mutex_lock(store->mutex);
    store->pinning = 0;
    pks__mutex_unlock(store->mutex);
  }
  return status;
}

void pks__store_unpin(pks_store *store, uint64_t generation) {
  pks__mutex_lock(store->mutex);
  bool is_needed = store->pinning == generation;
  for (const pks_snapshot *snapshot = store->snapshots; snapshot && !is_needed; snapshot = snapshot->next) {
    is_needed = snapshot->is_pinned && snapshot->generation.number == generation;
  }
  if (!is_needed) { pks__unpin_generation(store->vfs, store->readers_file, generation); }
  pks__mutex_unlock(store->mutex);
}

void pks__store_finish_pin(pks_store *store, pks_snapshot *snapshot, uint64_t generation) {
  pks__mutex_lock(store->mutex);
  store->pinning = 0;
  if (snapshot) { snapshot->is_pinned = true; }
  pks__mutex_unlock(store->mutex);
  if (!snapshot) { pks__store_unpin(store, generation); }
}
