#include "store/segment_registry.h"

#include <stdio.h>

#include "base/memory.h"
#include "store/cache_folder.h"

/// Takes a reference if the segment is known: to the one among the store's files, if there are two. The mutex must be held.
static pks__segment *retain_known(pks_store *store, const pks__segment_id *id) {
  pks__segment_slot *found = NULL;
  for (uint32_t i = 0; i < store->segment_count; i++) {
    const pks__segment *known = store->segments[i].segment;
    if (!pks__segment_id_equal(&known->id, id) || atomic_load(&known->is_gone)) { continue; }
    if (!found || found->segment->is_purgeable) { found = &store->segments[i]; }
  }
  if (!found) { return NULL; }
  found->references++;
  return found->segment;
}

/// A segment that was stored again because the one of that name is damaged, or may vanish, takes its place: who has the other
/// open goes on with it. The mutex is held.
static void forget_lesser(pks_store *store, const pks__segment *than) {
  for (uint32_t i = 0; i < store->segment_count; i++) {
    pks__segment *known = store->segments[i].segment;
    if (known == than || !pks__segment_id_equal(&known->id, &than->id)) { continue; }
    // If the same data is missing as before, a new object has no benefit, and would make the first one's chunks unknown.
    uint64_t present = atomic_load(&than->present);
    bool is_whole = present == than->file_length;
    bool is_damaged = atomic_load(&known->present) < present || (is_whole && atomic_load(&known->has_bad_frames));
    if (is_damaged || (known->is_purgeable && !than->is_purgeable)) { atomic_store(&known->is_gone, true); }
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

/// Like `retain_known`, for a segment in the same place as `segment`: a pack that becomes purgeable may store data that is also
/// among the store's own files. The mutex must be held.
static pks__segment *retain_same(pks_store *store, const pks__segment *segment) {
  for (uint32_t i = 0; i < store->segment_count; i++) {
    pks__segment *known = store->segments[i].segment;
    if (!pks__segment_id_equal(&known->id, &segment->id) || atomic_load(&known->is_gone)) { continue; }
    if (known->is_purgeable != segment->is_purgeable) { continue; }
    store->segments[i].references++;
    return known;
  }
  return NULL;
}

/// Whether checked data of the segment may be read without another check: in the mapped mode, if no other user can write to its
/// file either. Files in the cache folder may be truncated at any moment.
static bool is_read_mapped(const pks_store *store, const pks__segment *segment) {
  return store->mapped_mode == PKS_MAPPED_ON && !segment->is_purgeable
    && pks__vfs_privacy(store->vfs, segment->file) == PKS_VFS_PRIVATE;
}

pks_status pks__store_add_segment(pks_store *store, pks__segment **segment, pks_error *error) {
  (*segment)->is_read_mapped = is_read_mapped(store, *segment);
  pks__mutex_lock(store->mutex);
  pks_status status = PKS_OK;
  (*segment)->is_base = store->is_base;
  forget_lesser(store, *segment);
  pks__segment *known = retain_same(store, *segment);
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

/// Whether a purgeable segment that is known has become durable, by another process perhaps, or lacks bytes that may have come
/// back: then it is opened again.
static bool is_outdated(const pks_store *store, pks__segment *known) {
  if (!known->is_purgeable) { return false; }
  pks__segment_measure(known);
  char name[PKS__SEGMENT_NAME], path[sizeof PKS__SEGMENTS_FOLDER + PKS__SEGMENT_NAME + 1];
  pks_vfs_info info;
  pks__segment_name(&known->id, name);
  (void)snprintf(path, sizeof path, PKS__SEGMENTS_FOLDER "/%s", name);
  return atomic_load(&known->present) < known->file_length
    || !pks__vfs_info(store->vfs, store->root, path, false, &info);
}

/// Opens a segment among the store's files.
static pks_status open_durable(
  const pks_store *store, const pks_vfs *vfs, const pks__segment_id *id, pks__segment **out, pks_error *error
) {
  char name[PKS__SEGMENT_NAME], path[sizeof PKS__SEGMENTS_FOLDER + PKS__SEGMENT_NAME + 1];
  pks__segment_name(id, name);
  (void)snprintf(path, sizeof path, PKS__SEGMENTS_FOLDER "/%s", name);
  return pks__segment_open(out, vfs, store->root, path, id, error);
}

/// Opens a segment that has only a table in the store: the file is in the cache folder, or missing.
static pks_status open_apart(
  pks_store *store, const pks_vfs *vfs, const pks__segment_id *id, pks__segment **out, pks_error *error
) {
  char name[PKS__SEGMENT_NAME], table[sizeof PKS__TABLES_FOLDER + PKS__SEGMENT_NAME + 1];
  pks_vfs_info info;
  pks__segment_name(id, name);
  (void)snprintf(table, sizeof table, PKS__TABLES_FOLDER "/%s", name);
  if (pks__vfs_info(vfs, store->root, table, false, &info)) { return PKS_PURGED; }
  return pks__segment_open_purgeable(
    out, vfs, store->root, table, pks__cache_folder_open_segment(store, name), id, error
  );
}

pks_status pks__store_open_segment(
  pks_store *store, const pks_vfs *vfs, const pks__segment_id *id, pks__segment **out, pks_error *error
) {
  pks_status status = open_durable(store, vfs, id, out, error);
  if (status == PKS_PURGED && store->base) { status = open_durable(store->base, vfs, id, out, error); }
  return status == PKS_PURGED ? open_apart(store, vfs, id, out, error) : status;
}

pks_status pks__store_get_segment(pks_store *store, const pks__segment_id *id, pks__segment **out, pks_error *error) {
  pks__mutex_lock(store->mutex);
  pks__segment *segment = retain_known(store, id);
  pks__mutex_unlock(store->mutex);
  if (segment && !is_outdated(store, segment)) {
    *out = segment;
    return PKS_OK;
  }
  pks__segment *outdated = segment;
  pks_status status = open_durable(store, store->vfs, id, &segment, error);
  bool is_base = status == PKS_PURGED && store->base && !pks__store_get_segment(store->base, id, out, NULL);
  if (status == PKS_PURGED && !is_base) { status = open_apart(store, store->vfs, id, &segment, error); }
  if (outdated) { pks__store_release_segment(store, outdated); }
  if (is_base) { return PKS_OK; }
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
  if (segment->is_base && store->base) { store = store->base; }
  pks__mutex_lock(store->mutex);
  for (uint32_t i = 0; i < store->segment_count; i++) {
    if (store->segments[i].segment == segment) { store->segments[i].references++; }
  }
  pks__mutex_unlock(store->mutex);
}

void pks__store_release_segment(pks_store *store, pks__segment *segment) {
  if (segment->is_base && store->base) { store = store->base; }
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
