#include "store/layout_segments.h"

#include "catalog/catalog.h"
#include "store/chunk_lookup.h"

/// A layout whose list is known: `count` ids from `first` on.
typedef struct known_layout {
  pks__id id;
  uint64_t first, count;
} known_layout;

/// Under the store's mutex.
static const known_layout *find(const pks__known_layouts *known, const pks__id *layout) {
  uint64_t key = pks__hash_map_key(&known->by_id, layout, sizeof *layout), probe = 0;
  uint32_t index;
  while (pks__hash_map_next(&known->by_id, key, &probe, &index)) {
    const known_layout *found = PKS__SCRATCH_AT(&known->layouts, const known_layout, index);
    if (pks__id_equal(&found->id, layout)) { return found; }
  }
  return NULL;
}

static void forget_all(pks__known_layouts *known) {
  pks__scratch_free(&known->layouts);
  pks__scratch_free(&known->segments);
  pks__hash_map_free(&known->by_id);
  *known = (pks__known_layouts){.by_id.key = known->by_id.key};
}

/// Remembers a list. Without memory for it, nothing is remembered.
static void remember(pks_store *store, const pks__id *layout, const void *ids, uint64_t byte_count) {
  pks__known_layouts *known = &store->known_layouts;
  known_layout row = {.id = *layout, .count = byte_count / sizeof(pks__segment_id)};
  pks__mutex_lock(store->mutex);
  known->by_id.key = store->map_key;
  uint64_t room = known->layouts.length + known->segments.length + known->by_id.slots.length;
  if (room + byte_count > PKS__LAYOUT_SEGMENTS_MAX) { forget_all(known); }
  if (byte_count <= PKS__LAYOUT_SEGMENTS_MAX / 4 && !find(known, layout)) {
    uint32_t index = (uint32_t)PKS__SCRATCH_COUNT(&known->layouts, known_layout);
    row.first = PKS__SCRATCH_COUNT(&known->segments, pks__segment_id);
    pks_status status = pks__scratch_append(&known->segments, ids, byte_count, NULL);
    if (!status) { status = pks__scratch_append(&known->layouts, &row, sizeof row, NULL); }
    uint64_t key = pks__hash_map_key(&known->by_id, layout, sizeof *layout);
    if (!status) { status = pks__hash_map_insert(&known->by_id, key, index, NULL); }
    if (status) { forget_all(known); }
  }
  pks__mutex_unlock(store->mutex);
}

/// Appends a remembered list; `*found` is whether it is remembered.
static pks_status recall(pks_store *store, const pks__id *layout, pks__scratch *out, bool *found, pks_error *error) {
  const pks__known_layouts *known = &store->known_layouts;
  pks__mutex_lock(store->mutex);
  const known_layout *row = find(known, layout);
  *found = row != NULL;
  pks_status status = PKS_OK;
  if (row && row->count > 0) {
    const pks__segment_id *ids = PKS__SCRATCH_AT(&known->segments, const pks__segment_id, row->first);
    status = pks__scratch_append(out, ids, row->count * sizeof *ids, error);
  }
  pks__mutex_unlock(store->mutex);
  return status;
}

pks_status pks__layout_segments(pks_snapshot *snapshot, const pks__id *layout, pks__scratch *out, pks_error *error) {
  bool found;
  uint64_t begin = out->length;
  pks_status status = recall(snapshot->store, layout, out, &found, error);
  if (status || found) { return status; }
  pks__layout_root root;
  status = pks__layout_read_root(pks__snapshot_pages(snapshot), layout, &root, out, error);
  if (!status) { remember(snapshot->store, layout, out->bytes + begin, out->length - begin); }
  return status;
}

void pks__layout_segments_free(pks_store *store) { forget_all(&store->known_layouts); }
