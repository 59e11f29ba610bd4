#include "store/base_store.h"

#include <string.h>

#include "store/current.h"
#include "store/segment_registry.h"
#include "store/snapshot.h"

/// Whether two open stores are the same folder.
static bool is_same_store(const pks_store *a, const pks_store *b) {
  pks_vfs_info first, second;
  if (memcmp(a->store_id, b->store_id, sizeof a->store_id) != 0) { return false; }
  bool can_tell = !pks__vfs_info_of(a->vfs, a->root, &first) && !pks__vfs_info_of(b->vfs, b->root, &second);
  return can_tell && first.inode == second.inode;
}

pks_status pks__base_store_open(pks_store *store, const char *path, const pks_options *options, pks_error *error) {
  pks_options below = {.read_only = true, .thread_count = 1, .vfs = options->vfs};
  pks_status status = pks_store_open(&store->base, path, &below, error);
  if (status) { return status; }
  store->base->is_base = true;
  status = pks__snapshot_open_current(&store->base_snapshot, store->base, error);
  if (status) { return status; }
  if (is_same_store(store, store->base)) {
    return pks__fail(error, PKS_INVALID_ARGUMENT, "a store is no base of itself", path, PKS_NO_OFFSET);
  }
  if (store->base_snapshot->generation.base.is_set) {
    return pks__fail(error, PKS_INVALID_ARGUMENT, "the base stands on a base of its own", path, PKS_NO_OFFSET);
  }
  return PKS_OK;
}

void pks__base_store_close(pks_store *store) {
  pks__snapshot_release(store->base_snapshot);
  pks_store_close(store->base);
}

pks__base_name pks__base_store_name(const pks_store *store) {
  pks__base_name name = {.is_set = store->base_snapshot != NULL};
  if (!name.is_set) { return name; }
  memcpy(name.store_id, store->base->store_id, sizeof name.store_id);
  name.generation = store->base_snapshot->generation.number;
  return name;
}

bool pks__base_store_has(pks_store *store, const pks__segment_id *id) {
  pks__segment *segment;
  if (!store->base || pks__store_get_segment(store->base, id, &segment, NULL)) { return false; }
  pks__store_release_segment(store->base, segment);
  return true;
}
