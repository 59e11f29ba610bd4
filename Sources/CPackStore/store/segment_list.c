#include "store/segment_list.h"

#include "base/memory.h"

static uint64_t key_of(const pks__segment_list *list, const pks__segment_id *id) {
  return pks__hash_map_key(&list->by_id, id, sizeof *id);
}

uint32_t pks__segment_list_find(const pks__segment_list *list, const pks__segment_id *id) {
  uint64_t key = key_of(list, id), probe = 0;
  uint32_t number;
  while (pks__hash_map_next(&list->by_id, key, &probe, &number)) {
    if (pks__segment_id_equal(&pks__segment_list_at(list, number)->info.id, id)) { return number; }
  }
  return PKS__NO_SEGMENT;
}

pks_status pks__segment_list_open(pks__segment_list *list, const pks_snapshot *snapshot, pks_error *error) {
  uint32_t run_count = snapshot->run_count;
  *list = (pks__segment_list){.run_count = run_count, .by_id.key = snapshot->store->map_key};
  list->numbers = pks__allocate_zeroed((size_t)run_count + 1, sizeof *list->numbers);
  return list->numbers ? PKS_OK : pks__fail_memory(error);
}

void pks__segment_list_close(pks__segment_list *list) {
  for (uint32_t i = 0; list->numbers && i < list->run_count; i++) { pks__free(list->numbers[i]); }
  pks__free(list->numbers);
  pks__scratch_free(&list->rows);
  pks__hash_map_free(&list->by_id);
}

pks_status pks__segment_list_add(pks__segment_list *list, uint32_t number, pks__run *run, pks_error *error) {
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
    if (!status) { status = pks__hash_map_insert(&list->by_id, key_of(list, &row.info.id), numbers[i], error); }
    if (status) { return status; }
  }
  return PKS_OK;
}
