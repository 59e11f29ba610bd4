/// Collection of whole files that no generation which may still be opened refers to.
///
/// Live are: the current generation, the generation in the slot that the coming commit keeps, every pinned generation, the versions
/// about to be committed, and segments that the transaction names. Their files in `index/` stay, and so do the segments in the
/// layouts of their packs' kept versions; everything else in `index/` and `segments/` is deleted. A segment stays complete while
/// any kept version needs any of it.
///
/// A segment may be both in `segments/` and in the cache folder, because its name identifies its contents. It stays in `segments/`
/// if a durable pack needs it, or two packs, because a deletion must affect only one; otherwise it is deleted there, if it is
/// complete in the cache folder. It stays in the cache folder, and in `tables/`, if a purgeable pack needs it, or no other copy
/// exists.
///
/// Reading layouts takes time proportional to packs, so segments are examined only if a commit may have been interrupted
/// (`staging.h`), or if a version or pack was dropped since the last complete examination.
///
/// In doubt, files are kept: if damage hides the needs of a live generation, segments stay until a collection that can read
/// everything, and if its own file is damaged, so does all of `index/`. So a damaged store still accepts commits.
#include "commit/gc.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "space/live_set.h"
#include "store/cache_folder.h"
#include "store/generation_file.h"
#include "store/reader_holds.h"
#include "store/segment_registry.h"
#include "store/snapshot.h"

/// A purgeable pack, by its number in the store, that needs a segment.
typedef struct segment_owner {
  pks__segment_id id;
  uint32_t pack;
} segment_owner;

typedef struct collection {
  pks_store *store;
  pks_vfs_file readers;
  bool with_segments;
  bool with_index;
  bool only_looks;           ///< for files that could go
  bool any_dead;             ///< there are such files
  bool is_blind;             ///< damage hides what some generation needs
  pks__live_set live;        ///< files to keep
  pks__live_set durable;     ///< of them, segments that versions of durable packs need, or several packs
  pks__live_set purgeable;   ///< of them, segments that versions of purgeable packs need
  pks__scratch owners;       ///< segment_owner: which pack
  pks__hash_map by_segment;  ///< beginning of a segment's id -> index in `owners`
  pks_vfs_file cache;        ///< the store's own folder in the cache folder; PKS_VFS_NO_FILE: none
  pks__scratch dead;         ///< names to unlink, NUL-terminated
  enum { ANYWHERE, IN_SEGMENTS, IN_TABLES } place;  ///< which folder is gone through
  bool any_stuck;                                   ///< a file could not be unlinked
  bool any_named;     ///< a segment is kept for no other reason than that the caller named it
  pks_status status;  ///< status of the current listing
  pks_error found;    ///< the last failure
} collection;

// MARK: - What is live

/// Whether a failure means that damage hides something, so that all that it may be stays.
static bool hides_something(const collection *collection, pks_status status) {
  bool is_missing = status == PKS_IO_ERROR && collection->found.system_error == ENOENT;
  return status == PKS_CORRUPT || status == PKS_PURGED || is_missing;
}

/// Gives up on removing segments, and on removing index files unless their names are known. Other failures are returned.
static pks_status keep_unknown(collection *collection, pks_status status, bool index_is_known) {
  if (!status) { return PKS_OK; }
  if (!hides_something(collection, status)) { return status; }
  collection->is_blind = true;
  collection->with_segments = false;
  collection->with_index = collection->with_index && index_is_known;
  return PKS_OK;
}

/// Records that a purgeable pack needs a segment. A segment that two packs need is kept like a durable pack's.
static pks_status note_owner(collection *collection, uint32_t pack, const pks__segment_id *id) {
  uint64_t key = pks__hash_map_key(&collection->by_segment, id, sizeof *id), probe = 0;
  uint32_t index;
  while (pks__hash_map_next(&collection->by_segment, key, &probe, &index)) {
    const segment_owner *owner = PKS__SCRATCH_AT(&collection->owners, const segment_owner, index);
    if (!pks__segment_id_equal(&owner->id, id)) { continue; }
    return owner->pack == pack ? PKS_OK : pks__live_set_add_segment(&collection->durable, id, &collection->found);
  }
  segment_owner owner = {.id = *id, .pack = pack};
  index = (uint32_t)PKS__SCRATCH_COUNT(&collection->owners, segment_owner);
  pks_status status = pks__scratch_append(&collection->owners, &owner, sizeof owner, &collection->found);
  if (!status) { status = pks__hash_map_insert(&collection->by_segment, key, index, &collection->found); }
  return status ? status : pks__live_set_add_segment(&collection->purgeable, id, &collection->found);
}

/// Records the needs of a version of a purgeable pack.
static pks_status note_purgeable(
  collection *collection, pks_snapshot *snapshot, const pks__version *version, uint32_t pack
) {
  pks__live_set needs = pks__live_set_make(collection->store);
  pks_status status = pks__live_set_add_version(&needs, snapshot, version, &collection->found);
  for (uint64_t at = 0; !status && at < needs.names.length;) {
    const char *name = (const char *)needs.names.bytes + at;
    pks__segment_id id;
    if (pks__segment_name_parse(name, &id)) { status = note_owner(collection, pack, &id); }
    at += strlen(name) + 1;
  }
  pks__live_set_free(&needs);
  return status;
}

static pks_status keep_version(
  collection *collection, pks_snapshot *snapshot, const pks__version *version, const pks__pack_state *pack
) {
  pks_status status = pks__live_set_add_version(&collection->live, snapshot, version, &collection->found);
  if (!status && pack && pack->purgeable) {
    status = note_purgeable(collection, snapshot, version, pack->number);
  } else if (!status) {
    status = pks__live_set_add_version(&collection->durable, snapshot, version, &collection->found);
  }
  return keep_unknown(collection, status, true);
}

static pks_status keep_pack(collection *collection, pks_snapshot *snapshot, const pks__pack_state *pack) {
  pks_status status = PKS_OK;
  for (uint32_t i = 0; !status && collection->with_segments && i < pack->version_count; i++) {
    status = keep_version(collection, snapshot, &pack->versions[i], pack);
  }
  return status;
}

/// Keeps the segments that the snapshot's versions need.
static pks_status keep_versions(collection *collection, pks_snapshot *snapshot) {
  const pks__generation *generation = &snapshot->generation;
  uint32_t packs = generation->pack_count + generation->removed_count;
  pks_status status = PKS_OK;
  for (uint32_t pack = 0; collection->with_segments && pack < packs; pack++) {
    status = status ? status : keep_pack(collection, snapshot, pks__generation_any_pack(generation, pack));
  }
  return status;
}

static pks_status keep_generation(collection *collection, pks_snapshot *snapshot) {
  pks_status status = pks__live_set_add_index(&collection->live, &snapshot->generation, &collection->found);
  return status ? status : keep_versions(collection, snapshot);
}

/// Keeps the files of an older generation that is pinned, or that cannot be collected for another reason.
static pks_status keep_number(collection *collection, uint64_t number) {
  pks__generation generation = {0};
  pks_snapshot *snapshot = NULL;
  pks_status status = pks__store_read_generation(collection->store, number, NULL, &generation, &collection->found);
  if (status) { return keep_unknown(collection, status, false); }
  status = pks__live_set_add_index(&collection->live, &generation, &collection->found);
  if (status || !collection->with_segments) {
    pks__generation_free(&generation);
    return status;
  }
  status = pks__snapshot_create(&snapshot, collection->store, &generation, PKS_VFS_NO_FILE, &collection->found);
  if (status) { return keep_unknown(collection, status, true); }
  status = keep_versions(collection, snapshot);
  pks__snapshot_release(snapshot);
  return status;
}

/// Keeps data that staged versions reuse, even if no earlier version needs it.
static pks_status keep_staged(collection *collection, const pks_txn *txn) {
  pks_status status = PKS_OK;
  uint64_t count = collection->with_segments ? PKS__SCRATCH_COUNT(&txn->changes, pks__staged_op) : 0;
  for (uint64_t i = 0; !status && i < count; i++) {
    const pks__staged_op *change = PKS__SCRATCH_AT(&txn->changes, const pks__staged_op, i);
    const pks__pack_state *pack = pks__generation_find_state(&txn->snapshot->generation, change->pack, NULL);
    if (pks__staged_op_has_layout(change)) {
      status = keep_version(collection, txn->snapshot, &change->version, pack);
    } else if (change->kind == PKS__CHANGE_PLACE && pack) {
      // This commit must not leave data that becomes durable only in the cache folder.
      status = keep_pack(collection, txn->snapshot, pack);
    }
  }
  return status;
}

/// Keeps the segments that the caller named.
static pks_status keep_named(collection *collection, const pks_txn *txn) {
  uint64_t before = collection->live.names.length;
  uint32_t count = collection->with_segments ? pks__segment_set_count(&txn->kept) : 0;
  pks_status status = PKS_OK;
  for (uint32_t i = 0; !status && i < count; i++) {
    status = pks__live_set_add_segment(&collection->live, pks__segment_set_at(&txn->kept, i), &collection->found);
  }
  collection->any_named = collection->live.names.length > before;
  return status;
}

/// Keeps the files of generations that readers retain: a locked byte without a generation's file costs nothing. Index files exist
/// as long as their generation is retained, unless they were collected before: then the reader will find that the control file
/// contains another generation, and use that one (`store.h`, invariant 2).
///
/// Every user with read access can take locks, so their number must not cost time. If too many generations are retained, all files
/// stay until fewer are.
static pks_status keep_held(collection *collection, uint64_t end, bool *any) {
  pks__reader_holds holds;
  pks_status status = pks__reader_holds_find(&holds, collection->store, collection->readers, end, &collection->found);
  if (status) { return status; }
  *any = holds.count > 0;
  if (holds.has_more) {
    collection->with_index = collection->with_segments = false;
    return PKS_OK;
  }
  for (uint32_t i = 0; !status && i < holds.count; i++) { status = keep_number(collection, holds.generations[i]); }
  return status;
}

// MARK: - Dead files

static bool file_length(
  const collection *collection, pks_vfs_file root, const char *folder, const char *name, uint64_t *length
) {
  char path[PKS__INDEX_NAME];
  pks_vfs_info info;
  (void)snprintf(path, sizeof path, "%s/%s", folder, name);
  if (root == PKS_VFS_NO_FILE || pks__vfs_info(collection->store->vfs, root, path, false, &info)) { return false; }
  *length = info.size;
  return info.kind == PKS_VFS_KIND_FILE;
}

/// Whether a needed segment is kept in another folder: `name` is the name of its file in the listed folder.
static bool is_elsewhere(const collection *collection, const char *name, size_t length) {
  pks_vfs_file root = collection->store->root;
  char copy[PKS__SEGMENT_NAME];
  pks__segment_id id;
  uint64_t here, there, table;
  if (collection->place == ANYWHERE || length >= sizeof copy) { return false; }
  memcpy(copy, name, length);
  copy[length] = 0;
  if (!pks__segment_name_parse(copy, &id)) { return false; }
  if (collection->place == IN_TABLES) {
    return !pks__live_set_has(&collection->purgeable, name, length)
      && file_length(collection, root, PKS__SEGMENTS_FOLDER, copy, &there);
  }
  return !pks__live_set_has(&collection->durable, name, length)
    && file_length(collection, root, PKS__TABLES_FOLDER, copy, &table)
    && file_length(collection, root, PKS__SEGMENTS_FOLDER, copy, &here)
    && file_length(collection, collection->cache, PKS__SEGMENTS_FOLDER, copy, &there) && here == there;
}

static bool note_dead(void *context, const char *name, size_t length, pks_vfs_kind kind) {
  collection *collection = context;
  bool is_live = pks__live_set_has(&collection->live, name, length);
  if (is_live) { is_live = !is_elsewhere(collection, name, length); }
  if (kind == PKS_VFS_KIND_FOLDER || is_live) { return true; }
  collection->status = pks__scratch_append(&collection->dead, name, length, &collection->found);
  if (!collection->status) { collection->status = pks__scratch_append(&collection->dead, "", 1, &collection->found); }
  return collection->status == PKS_OK;
}

/// Unlinks a dead file. After a failure, the next collection tries again.
static void unlink_file(collection *collection, pks_vfs_file folder, const char *name) {
  pks_store *store = collection->store;
  pks__segment_id id;
  pks_vfs_info info = {0};
  bool is_segment = pks__segment_name_parse(name, &id);
  if (is_segment && pks__vfs_info(store->vfs, folder, name, false, &info)) { info.size = 0; }
  int kept = pks__vfs_unlink(store->vfs, folder, name, false);
  collection->any_stuck = collection->any_stuck || kept;
  if (kept || !is_segment) { return; }
  pks__store_forget_segment(store, &id);
  atomic_fetch_add(&store->freed_bytes, info.size);
}

/// Lists the files of a folder that are not live, and unlinks them unless they are only looked for.
static pks_status unlink_dead(collection *collection, pks_vfs_file root, const char *path) {
  const pks_vfs *vfs = collection->store->vfs;
  pks_vfs_file folder = PKS_VFS_NO_FILE;
  collection->dead.length = 0;
  int failure = pks__vfs_open(vfs, root, path, PKS_VFS_OPEN_FOLDER, &folder);
  // There are folders for purgeable segments only where there was one.
  if (failure == ENOENT && strcmp(path, PKS__TABLES_FOLDER) == 0) { return PKS_OK; }
  if (!failure) { failure = pks__vfs_list(vfs, folder, note_dead, collection); }
  collection->any_dead = collection->any_dead || collection->dead.length > 0;
  bool unlinks = !failure && !collection->status && !collection->only_looks;
  for (uint64_t at = 0; unlinks && at < collection->dead.length;) {
    const char *name = (const char *)collection->dead.bytes + at;
    unlink_file(collection, folder, name);
    at += strlen(name) + 1;
  }
  if (folder != PKS_VFS_NO_FILE) { pks__vfs_close(vfs, folder); }
  if (failure) { return pks__fail_system(&collection->found, failure, "cannot list", path); }
  return collection->status;
}

bool pks__has_garbage(const pks_snapshot *snapshot) {
  const pks__generation *generation = &snapshot->generation;
  return generation->has_garbage && atomic_load(&snapshot->store->collected) != generation->number;
}

/// Collects segments. Nothing depends on the cache folder, so after any failure there, the next collection does the rest.
static pks_status unlink_segments(collection *collection, const pks_txn *txn, const char *cache_folder) {
  pks_store *store = collection->store;
  if (cache_folder) { (void)pks__cache_folder_open(store, cache_folder, false, &collection->cache, NULL); }
  collection->place = IN_SEGMENTS;
  pks_status status = unlink_dead(collection, store->root, PKS__SEGMENTS_FOLDER);
  collection->place = IN_TABLES;
  if (!status) { status = unlink_dead(collection, store->root, PKS__TABLES_FOLDER); }
  if (collection->cache == PKS_VFS_NO_FILE) { return status; }
  if (!status) {
    if (!collection->only_looks) { pks__staging_sweep_cache(&txn->staging, collection->cache); }
    if (unlink_dead(collection, collection->cache, PKS__SEGMENTS_FOLDER)) { collection->status = PKS_OK; }
  }
  pks__vfs_close(store->vfs, collection->cache);
  return status;
}

/// Finds live files, then unlinks all others, or only detects them.
static pks_status collect(
  collection *collection, pks_snapshot *current, const pks_txn *txn, uint64_t spared, bool *any_pinned
) {
  pks_status status = keep_generation(collection, current);
  if (!status && spared != current->generation.number) { status = keep_number(collection, spared); }
  if (!status) { status = keep_staged(collection, txn); }
  if (!status) { status = keep_held(collection, current->generation.number, any_pinned); }
  if (!status) { status = keep_named(collection, txn); }  // last: to tell what nothing else keeps
  if (!status && collection->with_index) { status = unlink_dead(collection, current->store->root, PKS__INDEX_FOLDER); }
  if (!status && collection->with_segments) {
    status = unlink_segments(collection, txn, current->generation.cache_folder);
  }
  pks__live_set_free(&collection->live);
  pks__live_set_free(&collection->durable);
  pks__live_set_free(&collection->purgeable);
  pks__scratch_free(&collection->owners);
  pks__hash_map_free(&collection->by_segment);
  pks__scratch_free(&collection->dead);
  return status;
}

/// Nothing is live yet.
static collection make_collection(pks_store *store, const pks_txn *txn) {
  return (collection){
    .store = store,
    .readers = txn->staging.readers,
    .live = pks__live_set_make(store),
    .durable = pks__live_set_make(store),
    .purgeable = pks__live_set_make(store),
    .by_segment.key = store->map_key,
    .cache = PKS_VFS_NO_FILE,
  };
}

pks_status pks__gc(pks_snapshot *current, const pks_txn *txn, uint64_t spared, bool *complete, pks_error *error) {
  collection collection = make_collection(current->store, txn);
  collection.with_segments = pks__has_garbage(current) || txn->staging.leaves_garbage;
  collection.with_index = true;
  bool any_pinned = false;
  pks_status status = collect(&collection, current, txn, spared, &any_pinned);
  bool keeps_all = any_pinned || collection.any_stuck || collection.any_named || collection.is_blind;
  *complete = !keeps_all && spared == current->generation.number;
  if (status && error) { *error = collection.found; }
  return status;
}

pks_status pks__gc_look(const pks_txn *txn, bool *any, pks_error *error) {
  pks_snapshot *current = txn->base;
  collection collection = make_collection(current->store, txn);
  collection.with_segments = collection.only_looks = true;
  bool any_pinned = false;
  pks_status status = collect(&collection, current, txn, current->generation.number, &any_pinned);
  *any = collection.any_dead;
  if (status && error) { *error = collection.found; }
  return status;
}
