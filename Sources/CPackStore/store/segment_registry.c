#include "store/segment_registry.h"

#include <stdio.h>

#include "base/memory.h"

/// Takes a reference if the segment is known. The mutex is held.
static pks__segment *retain_known(pks_store *store, const pks__segment_id *id) {
  for (uint32_t i = 0; i < store->segment_count; i++) {
    const pks__segment *known = store->segments[i].segment;
    if (!pks__segment_id_equal(&known->id, id) || atomic_load(&known->is_gone)) { continue; }
    store->segments[i].references++;
    return store->segments[i].segment;
  }
  return NULL;
}

/// A segment that was stored again because the one of that name is damaged takes its place: who has the other open goes
/// on with it. The mutex is held.
static void forget_damaged(pks_store *store, const pks__segment_id *id) {
  for (uint32_t i = 0; i < store->segment_count; i++) {
    pks__segment *known = store->segments[i].segment;
    bool is_damaged = pks__segment_id_equal(&known->id, id) && atomic_load(&known->has_bad_frames);
    if (is_damaged) { atomic_store(&known->is_gone, true); }
  }
}

bool pks__store_mends(pks_store *store, const pks__segment_id *id) {
  bool mends = false;
  pks__mutex_lock(store->mutex);
  for (uint32_t i = 0; i < store->segment_count; i++) {
    const pks__segment *known = store->segments[i].segment;
    mends = mends || (pks__segment_id_equal(&known->id, id) && atomic_load(&known->has_bad_frames));
  }
  pks__mutex_unlock(store->mutex);
  return mends;
}

pks_status pks__store_add_segment(pks_store *store, pks__segment **segment, pks_error *error) {
  pks__mutex_lock(store->mutex);
  pks_status status = PKS_OK;
  forget_damaged(store, &(*segment)->id);
  pks__segment *known = retain_known(store, &(*segment)->id);
  if (!known && store->segment_count == store->segment_capacity) {
    uint32_t capacity = store->segment_capacity ? store->segment_capacity * 2 : 16;
    void *larger = pks__reallocate(store->segments, capacity * sizeof *store->segments);
    if (!larger) {
      status = pks__fail_memory(error);
    } else {
      store->segments = larger;
      store->segment_capacity = capacity;
    }
  }
  if (!known && !status) {
    store->segments[store->segment_count++] = (pks__segment_slot){.segment = *segment, .references = 1};
  }
  pks__mutex_unlock(store->mutex);
  if (known) {
    pks__segment_close(*segment);
    *segment = known;
  }
  return status;
}

pks_status pks__store_get_segment(pks_store *store, const pks__segment_id *id, pks__segment **out, pks_error *error) {
  pks__mutex_lock(store->mutex);
  pks__segment *segment = retain_known(store, id);
  pks__mutex_unlock(store->mutex);
  if (segment) {
    *out = segment;
    return PKS_OK;
  }
  char name[PKS__SEGMENT_NAME], path[sizeof PKS__SEGMENTS_FOLDER + PKS__SEGMENT_NAME + 1];
  pks__segment_name(id, name);
  (void)snprintf(path, sizeof path, PKS__SEGMENTS_FOLDER "/%s", name);
  pks_status status = pks__segment_open(&segment, store->vfs, store->root, path, id, error);
  if (status) { return status; }
  status = pks__store_add_segment(store, &segment, error);
  if (status) {
    pks__segment_close(segment);
  } else {
    *out = segment;
  }
  return status;
}

void pks__store_forget_segment(pks_store *store, const pks__segment_id *id) {
  pks__mutex_lock(store->mutex);
  for (uint32_t i = 0; i < store->segment_count; i++) {
    pks__segment *segment = store->segments[i].segment;
    if (pks__segment_id_equal(&segment->id, id)) { atomic_store(&segment->is_gone, true); }
  }
  pks__mutex_unlock(store->mutex);
}

void pks__store_retain_segment(pks_store *store, pks__segment *segment) {
  pks__mutex_lock(store->mutex);
  for (uint32_t i = 0; i < store->segment_count; i++) {
    if (store->segments[i].segment == segment) { store->segments[i].references++; }
  }
  pks__mutex_unlock(store->mutex);
}

void pks__store_release_segment(pks_store *store, pks__segment *segment) {
  pks__segment *closed = NULL;
  pks__mutex_lock(store->mutex);
  for (uint32_t i = 0; i < store->segment_count; i++) {
    pks__segment_slot *slot = &store->segments[i];
    if (slot->segment != segment) { continue; }
    if (--slot->references == 0) {
      closed = segment;
      *slot = store->segments[--store->segment_count];
    }
    break;
  }
  pks__mutex_unlock(store->mutex);
  pks__segment_close(closed);
}
