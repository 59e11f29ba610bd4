/// The segments that the runs of a view name, each once, for walks over a whole store.
#ifndef PKS_SEGMENT_LIST_H
#define PKS_SEGMENT_LIST_H

#include "memory.h"
#include "store.h"

/// A segment, and one way to open it: run number `run` of the view knows it as `index`.
typedef struct pks__listed_segment {
  pks__run_segment_info info;
  uint32_t run, index;
} pks__listed_segment;

typedef struct pks__segment_list {
  pks__scratch rows;    ///< pks__listed_segment; in the heap: readers have no folder for temporary files
  pks__map by_id;       ///< beginning of an id -> number
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

static inline uint64_t pks__segment_list_key(const pks__segment_id *id) {
  uint64_t key;
  memcpy(&key, id, sizeof key);
  return key;
}

/// The number of a segment, or PKS__NO_SEGMENT.
static inline uint32_t pks__segment_list_find(const pks__segment_list *list, const pks__segment_id *id) {
  uint64_t probe = 0;
  uint32_t number;
  while (pks__map_next(&list->by_id, pks__segment_list_key(id), &probe, &number)) {
    if (pks__segment_id_equal(&pks__segment_list_at(list, number)->info.id, id)) { return number; }
  }
  return PKS__NO_SEGMENT;
}

static inline pks_status pks__segment_list_open(pks__segment_list *list, uint32_t run_count, pks_error *error) {
  *list = (pks__segment_list){.run_count = run_count};
  list->numbers = pks__allocate_zeroed((size_t)run_count + 1, sizeof *list->numbers);
  return list->numbers ? PKS_OK : pks__fail_memory(error);
}

/// Frees it; a zeroed one too.
static inline void pks__segment_list_close(pks__segment_list *list) {
  for (uint32_t i = 0; list->numbers && i < list->run_count; i++) { pks__free(list->numbers[i]); }
  pks__free(list->numbers);
  pks__scratch_free(&list->rows);
  pks__map_free(&list->by_id);
}

/// Adds the segments of a run of the view.
static inline pks_status pks__segment_list_add(pks__segment_list *list, uint32_t number, pks__run *run, pks_error *error) {
  uint32_t *numbers = list->numbers[number] = pks__allocate(((size_t)run->segment_count + 1) * sizeof *numbers);
  if (!numbers) { return pks__fail_memory(error); }
  for (uint32_t i = 0; i < run->segment_count; i++) {
    pks__listed_segment row = {.run = number, .index = i};
    pks_status status = pks__run_segment_at(run, i, &row.info, error);
    if (status) { return status; }
    numbers[i] = pks__segment_list_find(list, &row.info.id);
    if (numbers[i] != PKS__NO_SEGMENT) { continue; }
    numbers[i] = pks__segment_list_count(list);
    status = pks__scratch_append(&list->rows, &row, sizeof row, error);
    if (!status) { status = pks__map_insert(&list->by_id, pks__segment_list_key(&row.info.id), numbers[i], error); }
    if (status) { return status; }
  }
  return PKS_OK;
}

#endif
