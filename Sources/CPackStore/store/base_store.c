#include "store/base_store.h"

#include <string.h>

#include "store/segment_registry.h"

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
