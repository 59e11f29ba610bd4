/// Collection of whole files: what no generation that may still be opened refers to.
///
/// Live are: the current generation, the one in the slot that the coming commit leaves alone, every generation that
/// is pinned, the versions that are about to be committed, and segments that the transaction names. Their files in
/// `index/` stay, and so do the segments that the layouts of their packs' kept versions name; all else in `index/` and
/// `segments/` goes. A segment stays whole while any kept version needs any of it.
///
/// Reading layouts takes time in proportion to packs, so segments are looked at only when a commit may have ended in the
/// middle (`staging.h`), or when a version or pack was dropped since this was last done completely.
///
/// What cannot be known is kept: when damage hides what a live generation needs, segments stay until a collection that
/// can read everything, and if its very file is damaged, so does all of `index/`. So a damaged store takes commits.
#include "commit/gc.h"

#include <errno.h>
#include <string.h>

#include "space/live_set.h"
#include "store/generation_file.h"
#include "store/reader_holds.h"
#include "store/segment_registry.h"
#include "store/snapshot.h"

typedef struct collection {
  pks_store *store;
  pks_vfs_file readers;
  bool with_segments;
  bool with_index;
  bool only_looks;     ///< for files that could go
  bool any_dead;       ///< there are such files
  bool is_blind;       ///< damage hides what some generation needs
  pks__live_set live;  ///< files to keep
  pks__scratch dead;   ///< names to unlink, NUL-terminated
  bool any_stuck;      ///< a file could not be unlinked
  bool any_named;      ///< a segment is kept for no other reason than that the caller named it
  pks_status status;   ///< of a listing under way
  pks_error found;     ///< the last failure
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

static pks_status keep_version(collection *collection, pks_snapshot *snapshot, const pks__version *version) {
  return keep_unknown(
    collection, pks__live_set_add_version(&collection->live, snapshot, version, &collection->found), true
  );
}

/// Keeps the segments that the snapshot's versions need.
static pks_status keep_versions(collection *collection, pks_snapshot *snapshot) {
  const pks__generation *generation = &snapshot->generation;
  uint32_t packs = generation->pack_count + generation->removed_count;
  pks_status status = PKS_OK;
  for (uint32_t pack = 0; collection->with_segments && pack < packs; pack++) {
    const pks__pack_state *state = pks__generation_any_pack(generation, pack);
    for (uint32_t i = 0; !status && collection->with_segments && i < state->version_count; i++) {
      status = keep_version(collection, snapshot, &state->versions[i]);
    }
  }
  return status;
}

static pks_status keep_generation(collection *collection, pks_snapshot *snapshot) {
  pks_status status = pks__live_set_add_index(&collection->live, &snapshot->generation, &collection->found);
  return status ? status : keep_versions(collection, snapshot);
}

/// Keeps what an older generation needs, which is pinned or cannot be collected for another reason.
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

/// Keeps what staged versions reuse, though no version so far needs it.
static pks_status keep_staged(collection *collection, const pks_txn *txn) {
  pks_status status = PKS_OK;
  uint64_t count = collection->with_segments ? PKS__SCRATCH_COUNT(&txn->changes, pks__staged_op) : 0;
  for (uint64_t i = 0; !status && i < count; i++) {
    const pks__staged_op *change = PKS__SCRATCH_AT(&txn->changes, const pks__staged_op, i);
    if (!pks__staged_op_has_layout(change)) { continue; }
    status = keep_version(collection, txn->snapshot, &change->version);
  }
  return status;
}

/// Keeps what the caller named.
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

/// Keeps what the generations need that are read and have a file: a byte that is locked without one costs nothing. Index
/// files are there as long as their generation is held, unless they were collected before: then the reader will see that
/// its generation is no longer named, and take a newer one (`store.h`, invariant 2).
///
/// Locks are for all who may read, so that their number must not cost time. When too many generations are held, all files
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

static bool note_dead(void *context, const char *name, size_t length, pks_vfs_kind kind) {
  collection *collection = context;
  if (kind == PKS_VFS_KIND_FOLDER || pks__live_set_has(&collection->live, name, length)) { return true; }
  collection->status = pks__scratch_append(&collection->dead, name, length, &collection->found);
  if (!collection->status) { collection->status = pks__scratch_append(&collection->dead, "", 1, &collection->found); }
  return collection->status == PKS_OK;
}

/// Unlinks a dead file. One that cannot be unlinked is tried again next time.
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
static pks_status unlink_dead(collection *collection, const char *path) {
  const pks_vfs *vfs = collection->store->vfs;
  pks_vfs_file folder = PKS_VFS_NO_FILE;
  collection->dead.length = 0;
  int failure = pks__vfs_open(vfs, collection->store->root, path, PKS_VFS_OPEN_FOLDER, &folder);
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

/// Finds what is live, then unlinks all else or looks for it.
static pks_status collect(
  collection *collection, pks_snapshot *current, const pks_txn *txn, uint64_t spared, bool *any_pinned
) {
  pks_status status = keep_generation(collection, current);
  if (!status && spared != current->generation.number) { status = keep_number(collection, spared); }
  if (!status) { status = keep_staged(collection, txn); }
  if (!status) { status = keep_held(collection, current->generation.number, any_pinned); }
  if (!status) { status = keep_named(collection, txn); }  // last: to tell what nothing else keeps
  if (!status && collection->with_index) { status = unlink_dead(collection, PKS__INDEX_FOLDER); }
  if (!status && collection->with_segments) { status = unlink_dead(collection, PKS__SEGMENTS_FOLDER); }
  pks__live_set_free(&collection->live);
  pks__scratch_free(&collection->dead);
  return status;
}

pks_status pks__gc(pks_snapshot *current, const pks_txn *txn, uint64_t spared, bool *complete, pks_error *error) {
  collection collection = {
    .store = current->store,
    .readers = txn->staging.readers,
    .with_segments = pks__has_garbage(current) || txn->staging.leaves_garbage,
    .with_index = true,
    .live = pks__live_set_make(current->store),
  };
  bool any_pinned = false;
  pks_status status = collect(&collection, current, txn, spared, &any_pinned);
  bool keeps_all = any_pinned || collection.any_stuck || collection.any_named || collection.is_blind;
  *complete = !keeps_all && spared == current->generation.number;
  if (status && error) { *error = collection.found; }
  return status;
}

pks_status pks__gc_look(const pks_txn *txn, bool *any, pks_error *error) {
  pks_snapshot *current = txn->base;
  collection collection = {
    .store = current->store,
    .readers = txn->staging.readers,
    .with_segments = true,
    .only_looks = true,
    .live = pks__live_set_make(current->store),
  };
  bool any_pinned = false;
  pks_status status = collect(&collection, current, txn, current->generation.number, &any_pinned);
  *any = collection.any_dead;
  if (status && error) { *error = collection.found; }
  return status;
}
