#include "store/snapshot.h"

#include "base/memory.h"
#include "base/sort.h"
#include "store/generation_pin.h"
#include "store/open_run.h"
#include "store/segment_registry.h"

/// A pack's number, and its place in the generation.
typedef struct numbered_pack {
  uint32_t number, rank;
} numbered_pack;

static bool has_lower_number(const void *context, const void *a, const void *b) {
  (void)context;
  return ((const numbered_pack *)a)->number < ((const numbered_pack *)b)->number;
}

/// The packs of a generation in order of their numbers, for the caller to free; NULL without memory. Runs name packs by
/// number: were each looked for among all packs, opening a snapshot would take time in the square of their number.
static numbered_pack *number_packs(const pks__generation *generation) {
  numbered_pack *packs = pks__allocate(((size_t)generation->pack_count + 1) * sizeof *packs);
  if (!packs) { return NULL; }
  for (uint32_t i = 0; i < generation->pack_count; i++) {
    packs[i] = (numbered_pack){.number = generation->packs[i].number, .rank = i};
  }
  bool in_order = true;  // as they are unless priorities differ
  for (uint32_t i = 1; i < generation->pack_count; i++) {
    in_order = in_order && packs[i - 1].number < packs[i].number;
  }
  if (!in_order) { pks__sort(packs, generation->pack_count, sizeof *packs, has_lower_number, NULL); }
  return packs;
}

static uint32_t find_rank(const numbered_pack *packs, uint32_t count, uint32_t number) {
  uint32_t low = 0, high = count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (packs[middle].number < number) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < count && packs[low].number == number ? packs[low].rank : UINT32_MAX;
}

static pks_status open_snapshot_run(
  pks_snapshot *snapshot, const pks__run_ref *ref, const numbered_pack *packs, pks_vfs_file staging,
  pks__snapshot_run *out, pks_error *error
) {
  pks_status status = pks__open_run_take(snapshot->store, ref, staging, &out->open, error);
  if (status) { return status; }
  out->ranks = pks__allocate((size_t)(ref->pack_count + 1) * sizeof *out->ranks);
  if (!out->ranks) { return pks__fail_memory(error); }
  for (uint32_t i = 0; i < ref->pack_count; i++) {
    out->ranks[i] = find_rank(packs, snapshot->generation.pack_count, ref->pack_numbers[i]);
  }
  return PKS_OK;
}

/// The base's snapshot has its runs open as long as the store is.
static void add_base_runs(pks_snapshot *snapshot) {
  const pks_snapshot *base = snapshot->store->base_snapshot;
  for (uint32_t i = 0; base && i < base->run_count; i++) {
    snapshot->runs[snapshot->run_count + i] = (pks__snapshot_run){.open = base->runs[i].open};
    snapshot->base_run_count = i + 1;
  }
}

pks_status pks__snapshot_create(
  pks_snapshot **out, pks_store *store, pks__generation *generation, pks_vfs_file staging, pks_error *error
) {
  pks_snapshot *snapshot = pks__allocate_zeroed(1, sizeof *snapshot);
  uint32_t base_runs = store->base_snapshot ? store->base_snapshot->run_count : 0;
  pks__snapshot_run *runs = pks__allocate_zeroed((size_t)generation->run_count + base_runs + 1, sizeof *runs);
  if (!snapshot || !runs) {
    pks__free(snapshot);
    pks__free(runs);
    pks__generation_free(generation);
    return pks__fail_memory(error);
  }
  snapshot->store = store;
  snapshot->references = 1;
  snapshot->runs = runs;
  snapshot->generation = *generation;
  *generation = (pks__generation){0};
  pks__path_hasher_init(&snapshot->hasher, snapshot->generation.path_key);
  numbered_pack *packs = number_packs(&snapshot->generation);
  pks_status status = packs ? PKS_OK : pks__fail_memory(error);
  for (uint32_t i = 0; !status && i < snapshot->generation.run_count; i++) {
    status = open_snapshot_run(snapshot, &snapshot->generation.runs[i], packs, staging, &runs[i], error);
    if (runs[i].open) { snapshot->run_count = i + 1; }
  }
  if (!status) { add_base_runs(snapshot); }
  pks__free(packs);
  pks__mutex_lock(store->mutex);
  snapshot->next = store->snapshots;
  store->snapshots = snapshot;
  pks__mutex_unlock(store->mutex);
  if (status) {
    pks__snapshot_release(snapshot);
    return status;
  }
  *out = snapshot;
  return PKS_OK;
}

bool pks__snapshot_remove_pack(pks_snapshot *snapshot, uint32_t rank) {
  pks__mutex_lock(snapshot->store->mutex);
  bool is_alone = snapshot->references == 1 && !snapshot->is_pinned;
  pks__mutex_unlock(snapshot->store->mutex);
  if (!is_alone || pks__generation_remove_pack(&snapshot->generation, rank, false, NULL)) { return false; }
  for (uint32_t i = 0; i < snapshot->run_count; i++) {
    uint32_t *ranks = snapshot->runs[i].ranks;
    for (uint32_t pack = 0; pack < snapshot->generation.runs[i].pack_count; pack++) {
      bool is_removed = ranks[pack] == rank;
      if (ranks[pack] > rank && ranks[pack] != UINT32_MAX) { ranks[pack]--; }
      if (is_removed) { ranks[pack] = UINT32_MAX; }
    }
  }
  return true;
}

static void snapshot_close(pks_snapshot *snapshot) {
  pks_store *store = snapshot->store;
  for (uint32_t i = 0; i < snapshot->run_count; i++) {
    pks__free(snapshot->runs[i].ranks);
    pks__open_run_release(store, snapshot->runs[i].open);
  }
  if (snapshot->is_pinned) { pks__store_unpin(store, snapshot->generation.number); }
  pks__free(snapshot->runs);
  pks__generation_free(&snapshot->generation);
  pks__free(snapshot);
}

pks_snapshot *pks__snapshot_retain(pks_snapshot *snapshot) {
  pks__mutex_lock(snapshot->store->mutex);
  snapshot->references++;
  pks__mutex_unlock(snapshot->store->mutex);
  return snapshot;
}

void pks__snapshot_release(pks_snapshot *snapshot) {
  if (!snapshot) { return; }
  pks_store *store = snapshot->store;
  pks__mutex_lock(store->mutex);
  bool last = --snapshot->references == 0;
  if (last) {
    pks_snapshot **link = &store->snapshots;
    while (*link != snapshot) { link = &(*link)->next; }
    *link = snapshot->next;
  }
  pks__mutex_unlock(store->mutex);
  if (last) { snapshot_close(snapshot); }
}

/// Returns a segment that the snapshot's transaction has staged. Another commit may have collected a file with the same content:
/// then the shared object is marked as missing, although this transaction has the bytes.
static pks__segment *find_staged(const pks_snapshot *snapshot, const pks__segment_id *id) {
  for (uint64_t i = 0; snapshot->staged && i < PKS__SCRATCH_COUNT(snapshot->staged, pks__staged_segment); i++) {
    pks__segment *segment = PKS__SCRATCH_AT(snapshot->staged, pks__staged_segment, i)->segment;
    if (pks__segment_id_equal(&segment->id, id)) { return segment; }
  }
  return NULL;
}

pks_status pks__snapshot_take_segment(
  pks_snapshot *snapshot, const pks__segment_id *id, pks__segment **out, pks_error *error
) {
  *out = find_staged(snapshot, id);
  if (!*out) { return pks__store_get_segment(snapshot->store, id, out, error); }
  pks__store_retain_segment(snapshot->store, *out);
  return PKS_OK;
}

pks_status pks__snapshot_segment(
  pks_snapshot *snapshot, uint32_t run, uint32_t index, pks__segment **out, pks_error *error
) {
  pks_snapshot *base = snapshot->store->base_snapshot;
  if (run >= snapshot->run_count) { return pks__snapshot_segment(base, run - snapshot->run_count, index, out, error); }
  pks__open_run *open = snapshot->runs[run].open;
  if (index >= open->run.segment_count) {
    return pks__fail(error, PKS_CORRUPT, "names a segment that it does not list", open->run.table.name, PKS_NO_OFFSET);
  }
  pks__segment *segment = atomic_load_explicit(&open->segments[index], memory_order_acquire);
  if (!segment) {
    pks__run_segment_info info;
    pks_status status = pks__run_segment_at(&open->run, index, &info, error);
    if (!status) { status = pks__snapshot_take_segment(snapshot, &info.id, &segment, error); }
    if (status) { return status; }
    // A file that was cut short may lack its table: the rest of it can be read, and nothing new refers to it.
    bool is_cut = !segment->is_purgeable && segment->file_length < info.file_length;
    if (is_cut) { atomic_store(&segment->is_gone, true); }
    pks__segment *expected = NULL;
    if (!atomic_compare_exchange_strong(&open->segments[index], &expected, segment)) {
      pks__store_release_segment(snapshot->store, segment);
      segment = expected;
    }
  }
  *out = segment;
  return PKS_OK;
}

bool pks__snapshot_lists(const pks_snapshot *snapshot, const pks__segment_id *id) {
  for (uint32_t i = 0; i < snapshot->run_count; i++) {
    pks__run *run = &snapshot->runs[i].open->run;
    for (uint32_t at = 0; at < run->segment_count; at++) {
      pks__run_segment_info info;
      if (pks__run_segment_at(run, at, &info, NULL)) { continue; }
      if (info.chunk_count > 0 && pks__segment_id_equal(&info.id, id)) { return true; }
    }
  }
  return false;
}

bool pks__snapshot_is_gone(const pks_snapshot *snapshot, const pks__segment *segment) {
  return atomic_load(&segment->is_gone) && find_staged(snapshot, &segment->id) != segment;
}

bool pks__snapshot_is_remote(const pks_snapshot *snapshot, const pks__segment *segment) {
  return snapshot->generation.is_site && segment->is_purgeable;
}

void pks_snapshot_close(pks_snapshot *snapshot) {
  if (snapshot && pks__store_is_ours(snapshot->store)) { pks__snapshot_release(snapshot); }
}

uint64_t pks_snapshot_generation(const pks_snapshot *snapshot) { return snapshot->generation.number; }

uint32_t pks_snapshot_origin_count(const pks_snapshot *snapshot) {
  return pks__origins_count(&snapshot->generation.origins);
}

pks_origin pks_snapshot_origin(const pks_snapshot *snapshot, uint32_t index) {
  return pks__origins_at(&snapshot->generation.origins, index);
}

const char *pks_snapshot_cache_folder(const pks_snapshot *snapshot, uint64_t *budget) {
  if (budget) { *budget = snapshot->generation.cache_budget; }
  return snapshot->generation.cache_folder;
}

bool pks_snapshot_is_site(const pks_snapshot *snapshot) { return snapshot->generation.is_site; }

uint32_t pks_snapshot_pack_count(const pks_snapshot *snapshot) { return snapshot->generation.pack_count; }

uint32_t pks_snapshot_removed_count(const pks_snapshot *snapshot) { return snapshot->generation.removed_count; }

pks_pack pks_snapshot_pack(const pks_snapshot *snapshot, uint32_t index) {
  return pks__generation_pack(&snapshot->generation, index);
}

pks_pack_version pks_snapshot_version(const pks_snapshot *snapshot, uint32_t pack, uint32_t version) {
  const pks__pack_state *state = pks__generation_any_pack(&snapshot->generation, pack);
  PKS_ASSERT(version < state->version_count);
  return pks__version_public(&state->versions[version]);
}

uint32_t pks_snapshot_find_pack(const pks_snapshot *snapshot, const char *name) {
  return pks__generation_find_pack(&snapshot->generation, name);
}
