/// Purging: unlinking files of the cache folder, the least valuable first. Nothing is committed: presence of a file is the truth.
///
/// A purgeable segment belongs to one pack. Its value depends, in this order, on the pack (its priority, then the last use of any
/// of its data), on the age of the newest version that uses it, and on its own last use.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/sort.h"
#include "catalog/catalog.h"
#include "commit/provenance.h"
#include "commit/purge.h"
#include "segment/segment_set.h"
#include "store/asset_cache.h"
#include "store/cache_folder.h"
#include "store/chunk_lookup.h"
#include "store/current.h"
#include "store/snapshot.h"

/// A file of the cache folder.
typedef struct candidate {
  pks__segment_id id;
  uint64_t bytes;
  int64_t used_ns, pack_used_ns;
  uint32_t pack;  ///< in the generation; UINT32_MAX: none needs it
  uint32_t age;   ///< age of the newest version that uses it: 0 for the current one
  int32_t priority;
  bool is_pinned;
} candidate;
_Static_assert(sizeof(candidate) <= PKS__SORT_ITEM_MAX, "candidates are sorted");

typedef struct purge {
  pks_store *store;
  pks_snapshot *snapshot;      ///< while candidates are looked for
  pks__generation generation;  ///< the snapshot's generation
  const char *spared;          ///< a pack that keeps its data; NULL: none
  bool spares_copies;          ///< decoded copies stay
  pks_vfs_file root;
  pks__scratch candidates;
  pks__segment_set named;  ///< segments that layouts name, by the order of `users`
  pks__scratch users;      ///< user
  pks_status status;
  pks_error *error;
  pks_purge_result result;
} purge;

typedef struct user {
  uint32_t pack, age;
  bool is_pinned;
} user;

// MARK: - Who needs what

static pks_status note_version(purge *purge, uint32_t pack, uint32_t age) {
  const pks__pack_state *state = pks__generation_any_pack(&purge->snapshot->generation, pack);
  const pks__version *version = &state->versions[age];
  pks__layout_root root;
  pks__scratch segments = {0};
  pks_status status =
    pks__layout_read_root(pks__snapshot_pages(purge->snapshot), &version->layout, &root, &segments, purge->error);
  for (uint64_t i = 0; !status && i < PKS__SCRATCH_COUNT(&segments, pks__segment_id); i++) {
    const pks__segment_id *id = PKS__SCRATCH_AT(&segments, const pks__segment_id, i);
    uint32_t index;
    if (pks__segment_set_find(&purge->named, id, &index)) {
      user *known = PKS__SCRATCH_AT(&purge->users, user, index);
      known->is_pinned = known->is_pinned || version->pinned;
      continue;
    }
    user user = {.pack = pack, .age = age, .is_pinned = version->pinned};
    status = pks__segment_set_add(&purge->named, id, purge->error);
    if (!status) { status = pks__scratch_append(&purge->users, &user, sizeof user, purge->error); }
  }
  pks__scratch_free(&segments);
  return status;
}

static pks_status note_versions(purge *purge) {
  const pks__generation *generation = &purge->snapshot->generation;
  pks_status status = PKS_OK;
  for (uint32_t pack = 0; pack < generation->pack_count + generation->removed_count; pack++) {
    const pks__pack_state *state = pks__generation_any_pack(generation, pack);
    // Newest first: a segment counts for the newest version that names it.
    for (uint32_t age = 0; !status && age < state->version_count; age++) { status = note_version(purge, pack, age); }
  }
  return status;
}

static bool note_file(void *context, const char *name, const pks_vfs_info *info) {
  purge *purge = context;
  pks__segment_id id;
  uint32_t index;
  if (!pks__segment_name_parse(name, &id)) { return true; }
  candidate row = {
    .bytes = pks__cache_file_cost(info), .used_ns = info->modified_ns, .pack = UINT32_MAX, .priority = INT32_MIN};
  row.id = id;
  if (pks__segment_set_find(&purge->named, &id, &index)) {
    const user *user = PKS__SCRATCH_AT(&purge->users, const struct user, index);
    row.pack = user->pack;
    row.age = user->age;
    row.is_pinned = user->is_pinned;
    row.priority = pks__generation_any_pack(&purge->snapshot->generation, user->pack)->priority;
  }
  purge->status = pks__scratch_append(&purge->candidates, &row, sizeof row, purge->error);
  return !purge->status;
}

// MARK: - The order

static int compare_numbers(int64_t a, int64_t b) { return (a > b) - (a < b); }

/// Less valuable first.
static bool comes_before(const void *context, const void *left, const void *right) {
  (void)context;
  const candidate *a = left, *b = right;
  int order = compare_numbers(a->pack != UINT32_MAX, b->pack != UINT32_MAX);
  if (!order) { order = compare_numbers(a->priority, b->priority); }
  if (!order) { order = compare_numbers(a->pack_used_ns, b->pack_used_ns); }
  if (!order) { order = compare_numbers(a->pack, b->pack); }
  if (!order) { order = compare_numbers(b->age, a->age); }
  if (!order) { order = compare_numbers(a->used_ns, b->used_ns); }
  return order ? order < 0 : memcmp(&a->id, &b->id, sizeof a->id) < 0;
}

/// Finds out when any data of each pack was used last.
static pks_status find_last_uses(purge *purge) {
  uint32_t packs = purge->generation.pack_count + purge->generation.removed_count;
  uint64_t count = PKS__SCRATCH_COUNT(&purge->candidates, candidate);
  int64_t *last = pks__allocate_zeroed((size_t)packs + 1, sizeof *last);
  if (!last) { return pks__fail_memory(purge->error); }
  for (uint64_t i = 0; i < count; i++) {
    const candidate *row = PKS__SCRATCH_AT(&purge->candidates, const candidate, i);
    if (row->pack < packs && row->used_ns > last[row->pack]) { last[row->pack] = row->used_ns; }
  }
  for (uint64_t i = 0; i < count; i++) {
    candidate *row = PKS__SCRATCH_AT(&purge->candidates, candidate, i);
    if (row->pack < packs) { row->pack_used_ns = last[row->pack]; }
  }
  pks__free(last);
  return PKS_OK;
}

// MARK: - Unlinking

static void mark_path(const char *pack, char out[PKS__INDEX_NAME + PKS__PACK_NAME_MAX]) {
  (void)snprintf(out, PKS__INDEX_NAME + PKS__PACK_NAME_MAX, PKS__PURGED_FOLDER "/%s", pack);
}

/// Marks a pack as purged by this library. If the mark cannot be written, purged data is later restored like other missing data.
static void mark(purge *purge, uint32_t pack) {
  const pks_vfs *vfs = purge->store->vfs;
  char path[PKS__INDEX_NAME + PKS__PACK_NAME_MAX];
  pks_vfs_file file;
  mark_path(pks__generation_any_pack(&purge->generation, pack)->name, path);
  (void)pks__vfs_make_folder(vfs, purge->store->root, PKS__PURGED_FOLDER);
  if (!pks__vfs_open(vfs, purge->store->root, path, PKS_VFS_OPEN_CREATE, &file)) { pks__vfs_close(vfs, file); }
}

/// Whether a reader has the file open, in this process or another.
static bool is_open(const purge *purge, const char *path) {
  const pks_vfs *vfs = purge->store->vfs;
  pks_vfs_file file;
  bool held = true;
  if (pks__vfs_open(vfs, purge->root, path, PKS_VFS_OPEN_READ, &file)) { return false; }
  if (pks__vfs_lock_held(vfs, file, 0, 1, &held)) { held = true; }
  pks__vfs_close(vfs, file);
  return held;
}

static void unlink_candidate(purge *purge, const candidate *row) {
  char name[PKS__SEGMENT_NAME], path[PKS__INDEX_NAME];
  pks__segment_name(&row->id, name);
  (void)snprintf(path, sizeof path, PKS__SEGMENTS_FOLDER "/%s", name);
  if (is_open(purge, path)) {
    purge->result.deferred_bytes += row->bytes;
    return;
  }
  if (row->pack != UINT32_MAX) { mark(purge, row->pack); }
  if (pks__vfs_unlink(purge->store->vfs, purge->root, path, false)) { return; }
  purge->result.freed_bytes += row->bytes;
  purge->result.file_count++;
}

static bool is_spared(const purge *purge, const candidate *row) {
  if (row->is_pinned) { return true; }
  if (!purge->spared || row->pack == UINT32_MAX) { return false; }
  return strcmp(pks__generation_any_pack(&purge->generation, row->pack)->name, purge->spared) == 0;
}

static void unlink_candidates(purge *purge, uint64_t bytes) {
  uint64_t count = PKS__SCRATCH_COUNT(&purge->candidates, candidate);
  for (uint64_t i = 0; i < count && purge->result.freed_bytes < bytes; i++) {
    const candidate *row = PKS__SCRATCH_AT(&purge->candidates, const candidate, i);
    if (!is_spared(purge, row)) { unlink_candidate(purge, row); }
  }
}

// MARK: - Purging

static pks_status check_may_purge(const purge *purge) {
  pks_status status = pks__generation_check_change(&purge->generation, false, purge->error);
  if (status || purge->store->may_write) { return status; }
  return pks__fail_about(
    purge->error, PKS_READ_ONLY, PKS_DETAIL_OPEN_FOR_READING, PKS_SUBJECT_STORE, NULL, "open for reading only"
  );
}

static pks_status find_candidates(purge *purge) {
  pks_status status = note_versions(purge);
  if (!status) { status = pks__cache_folder_list(purge->store, purge->root, note_file, purge, purge->error); }
  if (!status) { status = purge->status; }
  if (!status) { status = find_last_uses(purge); }
  if (status) { return status; }
  uint64_t count = PKS__SCRATCH_COUNT(&purge->candidates, candidate);
  if (count > 1) { pks__sort(purge->candidates.bytes, count, sizeof(candidate), comes_before, NULL); }
  return PKS_OK;
}

/// Removes decoded copies, and looks for what else may go.
static pks_status prepare(purge *purge, uint64_t bytes) {
  pks_status status = pks__snapshot_open_current(&purge->snapshot, purge->store, purge->error);
  if (!status) { status = pks__generation_copy(&purge->snapshot->generation, &purge->generation, purge->error); }
  if (!status) { status = check_may_purge(purge); }
  if (status) { return status; }
  if (purge->store->cache && !purge->spares_copies) {
    purge->result.freed_bytes = pks__asset_cache_purge(purge->store->cache, bytes);
  }
  const char *folder = purge->generation.cache_folder;
  if (folder) { (void)pks__cache_folder_open(purge->store, folder, false, &purge->root, NULL); }
  bool is_done = purge->root == PKS_VFS_NO_FILE || purge->result.freed_bytes >= bytes;
  return is_done ? PKS_OK : find_candidates(purge);
}

static pks_status purge_store(
  pks_purge_result *out, pks_store *store, const char *spared, bool spares_copies, uint64_t bytes, pks_error *error
) {
  purge purge = {
    .store = store, .spared = spared, .spares_copies = spares_copies, .root = PKS_VFS_NO_FILE, .error = error};
  purge.named.indices.key = store->map_key;
  pks_status status = prepare(&purge, bytes);
  // Files that only this process's idle snapshots retain can be deleted.
  pks__snapshot_release(purge.snapshot);
  pks__snapshot_drop_idle(store);
  if (!status) { unlink_candidates(&purge, bytes); }
  if (purge.root != PKS_VFS_NO_FILE) { pks__vfs_close(store->vfs, purge.root); }
  pks__generation_free(&purge.generation);
  pks__segment_set_free(&purge.named);
  pks__scratch_free(&purge.users);
  pks__scratch_free(&purge.candidates);
  purge.result.is_enough = purge.result.freed_bytes + purge.result.deferred_bytes >= bytes;
  *out = purge.result;
  return status;
}

pks_status pks_store_purge(pks_purge_result *out, pks_store *store, uint64_t bytes, pks_error *error) {
  *out = (pks_purge_result){0};
  pks_status status = pks__store_check_process(store, error);
  return status ? status : purge_store(out, store, NULL, false, bytes, error);
}

void pks__purge_some(pks_store *store, uint64_t bytes) {
  enum { LEAST = 16 << 20 };
  pks_purge_result result = {0};
  (void)purge_store(&result, store, NULL, false, bytes > LEAST ? bytes : LEAST, NULL);
}

// MARK: - The budget

/// Whether decoded copies are in the folder of purgeable packs: then one budget covers both.
static bool has_copies(const pks_store *store, const char *folder) {
  uint64_t unused;
  return store->cache && strcmp(pks__asset_cache_folder(store->cache, &unused), folder) == 0;
}

/// Returns the size of purgeable packs' files, and of decoded copies if they are in the same folder.
static pks_status measure_use(
  const pks_store *store, const pks__generation *generation, uint64_t *used, pks_error *error
) {
  uint64_t copies = 0;
  pks_status status = pks__cache_folder_use(store, generation->cache_folder, used, error);
  if (has_copies(store, generation->cache_folder)) { copies = pks__asset_cache_use(store->cache); }
  if (__builtin_add_overflow(*used, copies, used)) { *used = UINT64_MAX; }
  return status;
}

uint64_t pks__cache_room(const pks_store *store, const pks__generation *generation) {
  uint64_t used, budget = generation->cache_budget;
  if (budget == 0 || !generation->cache_folder) { return UINT64_MAX; }
  if (measure_use(store, generation, &used, NULL)) { return 0; }
  return used < budget ? budget - used : 0;
}

pks_status pks__cache_make_room(
  pks_store *store, const pks__generation *generation, const char *spared, uint64_t bytes, pks_error *error
) {
  uint64_t budget = generation->cache_budget, used;
  if (budget == 0 || !generation->cache_folder) { return PKS_OK; }
  pks_purge_result result = {0};
  pks_status status = measure_use(store, generation, &used, error);
  bool fits = bytes <= budget && used <= budget - bytes;
  if (status || fits) { return status; }
  if (bytes <= budget) {
    // Copies in another folder take nothing of the budget.
    bool spares_copies = !has_copies(store, generation->cache_folder);
    status = purge_store(&result, store, spared, spares_copies, used - (budget - bytes), error);
    if (!status) { status = measure_use(store, generation, &used, error); }
    fits = used <= budget - bytes;
  }
  if (status || fits) { return status; }
  const char *text = "its data exceeds the budget of the cache folder";
  return pks__fail_about(error, PKS_NO_SPACE, PKS_DETAIL_CACHE_BUDGET, PKS_SUBJECT_PACK, spared, text);
}

// MARK: - Marks

bool pks_store_purge_mark(pks_store *store, const char *pack) {
  char path[PKS__INDEX_NAME + PKS__PACK_NAME_MAX];
  pks_vfs_info info;
  if (!pks__pack_name_is_valid(pack)) { return false; }
  mark_path(pack, path);
  return !pks__vfs_info(store->vfs, store->root, path, false, &info);
}

void pks_store_clear_purge_mark(pks_store *store, const char *pack) {
  char path[PKS__INDEX_NAME + PKS__PACK_NAME_MAX];
  if (!pks__pack_name_is_valid(pack) || !store->may_write) { return; }
  mark_path(pack, path);
  (void)pks__vfs_unlink(store->vfs, store->root, path, false);
}
