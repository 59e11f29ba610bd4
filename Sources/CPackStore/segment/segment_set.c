#include "segment/segment_set.h"

void pks__segment_set_init(pks__segment_set *set, pks__scratch_folder *home) {
  pks__scratch_init(&set->ids, home);
  pks__hash_map_init(&set->indices, home);
}

void pks__segment_set_free(pks__segment_set *set) {
  pks__scratch_free(&set->ids);
  pks__hash_map_free(&set->indices);
}

bool pks__segment_set_find(const pks__segment_set *set, const pks__segment_id *id, uint32_t *index) {
  uint64_t key = pks__hash_map_key(&set->indices, id, sizeof *id), probe = 0;
  while (pks__hash_map_next(&set->indices, key, &probe, index)) {
    if (pks__segment_id_equal(pks__segment_set_at(set, *index), id)) { return true; }
  }
  return false;
}

pks_status pks__segment_set_add(pks__segment_set *set, const pks__segment_id *id, pks_error *error) {
  uint32_t index;
  if (pks__segment_set_find(set, id, &index)) { return PKS_OK; }
  uint64_t key = pks__hash_map_key(&set->indices, id, sizeof *id);
  index = pks__segment_set_count(set);
  pks_status status = pks__scratch_append(&set->ids, id, sizeof *id, error);
  return status ? status : pks__hash_map_insert(&set->indices, key, index, error);
}
