#include "transfer/segment_marks.h"

#include "base/memory.h"
#include "store/segment_registry.h"

void pks__segment_marks_init(pks__segment_marks *marks, pks_store *store) {
  *marks = (pks__segment_marks){.store = store, .by_id.key = store->map_key};
}

static pks__marked_segment *marked_at(const pks__segment_marks *marks, uint64_t index) {
  return PKS__SCRATCH_AT(&marks->list, pks__marked_segment, index);
}

void pks__segment_marks_free(pks__segment_marks *marks) {
  for (uint64_t i = 0; i < PKS__SCRATCH_COUNT(&marks->list, pks__marked_segment); i++) {
    pks__free(marked_at(marks, i)->rows);
    pks__free(marked_at(marks, i)->frames);
    pks__store_release_segment(marks->store, marked_at(marks, i)->segment);
  }
  pks__scratch_free(&marks->list);
  pks__hash_map_free(&marks->by_id);
}

static uint64_t *make_marks(uint32_t count) { return pks__allocate_zeroed((size_t)count / 64 + 1, sizeof(uint64_t)); }

/// Adds a segment, whose reference is the list's from now on, even where this fails.
static pks_status add(pks__segment_marks *marks, pks__segment *segment, uint64_t key, pks_error *error) {
  pks__marked_segment marked = {.segment = segment};
  uint64_t number = PKS__SCRATCH_COUNT(&marks->list, pks__marked_segment);
  pks_status status = pks__scratch_append(&marks->list, &marked, sizeof marked, error);
  if (status) {
    pks__store_release_segment(marks->store, segment);
    return status;
  }
  status = pks__segment_need_table(segment, error);
  if (status) { return status; }
  pks__marked_segment *added = marked_at(marks, number);
  added->rows = make_marks(segment->chunk_count);
  added->frames = make_marks(segment->frame_count);
  if (!added->rows || !added->frames) { return pks__fail_memory(error); }
  return pks__hash_map_insert(&marks->by_id, key, (uint32_t)number, error);
}

pks_status pks__segment_marks_get(
  pks__segment_marks *marks, const pks__segment_id *id, pks__marked_segment **out, pks_error *error
) {
  uint64_t key = pks__hash_map_key(&marks->by_id, id, sizeof *id), probe = 0;
  uint32_t number;
  while (pks__hash_map_next(&marks->by_id, key, &probe, &number)) {
    *out = marked_at(marks, number);
    if (pks__segment_id_equal(&(*out)->segment->id, id)) { return PKS_OK; }
  }
  pks__segment *segment;
  pks_status status = pks__store_get_segment(marks->store, id, &segment, error);
  if (!status) { status = add(marks, segment, key, error); }
  if (status) { return status; }
  *out = marked_at(marks, PKS__SCRATCH_COUNT(&marks->list, pks__marked_segment) - 1);
  return PKS_OK;
}
