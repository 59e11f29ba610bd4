/// The segments that the runs of a snapshot name, each once, for walks over a whole store.
#ifndef PKS_STORE_SEGMENT_LIST_H
#define PKS_STORE_SEGMENT_LIST_H

#include "store/state.h"

/// A segment, and one way to open it: as `index` in run number `run` of the snapshot.
typedef struct pks__listed_segment {
  pks__run_segment_info info;
  uint32_t run, index;
} pks__listed_segment;

typedef struct pks__segment_list {
  pks__scratch rows;    ///< pks__listed_segment; in the heap: readers have no folder for temporary files
  pks__hash_map by_id;  ///< beginning of an id -> number
  uint32_t **numbers;   ///< per run, per segment of the run: its number; NULL for a run that was not added
  uint32_t run_count;
} pks__segment_list;

#define PKS__NO_SEGMENT UINT32_MAX

static inline pks__listed_segment *pks__segment_list_at(const pks__segment_list *list, uint32_t number) {
  return PKS__SCRATCH_AT(&list->rows, pks__listed_segment, number);
}

static inline uint32_t pks__segment_list_count(const pks__segment_list *list) {
  return (uint32_t)PKS__SCRATCH_COUNT(&list->rows, pks__listed_segment);
}

/// The number of a segment, or PKS__NO_SEGMENT.
uint32_t pks__segment_list_find(const pks__segment_list *list, const pks__segment_id *id);

pks_status pks__segment_list_open(pks__segment_list *list, const pks_snapshot *snapshot, pks_error *error);

/// Frees it; a zeroed one too.
void pks__segment_list_close(pks__segment_list *list);

/// Adds the segments of a run of the snapshot.
pks_status pks__segment_list_add(pks__segment_list *list, uint32_t number, pks__run *run, pks_error *error);

#endif
