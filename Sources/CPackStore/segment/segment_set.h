/// Sets of segment ids that remember the order in which ids came.
#ifndef PKS_SEGMENT_SEGMENT_SET_H
#define PKS_SEGMENT_SEGMENT_SET_H

#include "format/format.h"
#include "format/hash_map.h"

typedef struct pks__segment_set {
  pks__scratch ids;       ///< pks__segment_id
  pks__hash_map indices;  ///< beginning of an id -> index in `ids`
} pks__segment_set;

void pks__segment_set_init(pks__segment_set *set, pks__scratch_folder *home);
void pks__segment_set_free(pks__segment_set *set);
/// Adds an id unless the set has it.
pks_status pks__segment_set_add(pks__segment_set *set, const pks__segment_id *id, pks_error *error);
/// Whether the set has the id, and as which of its ids.
bool pks__segment_set_find(const pks__segment_set *set, const pks__segment_id *id, uint32_t *index);

static inline bool pks__segment_set_has(const pks__segment_set *set, const pks__segment_id *id) {
  uint32_t index;
  return pks__segment_set_find(set, id, &index);
}

static inline uint32_t pks__segment_set_count(const pks__segment_set *set) {
  return (uint32_t)PKS__SCRATCH_COUNT(&set->ids, pks__segment_id);
}
static inline const pks__segment_id *pks__segment_set_at(const pks__segment_set *set, uint32_t index) {
  return PKS__SCRATCH_AT(&set->ids, const pks__segment_id, index);
}

#endif
