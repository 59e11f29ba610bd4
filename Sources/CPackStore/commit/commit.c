/// The commit: see `transaction.h` for the order of things and why it is so.
#include "commit/commit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "codec/checksum.h"
#include "commit/gc.h"
#include "commit/run_compaction.h"
#include "commit/sync_backlog.h"
#include "store/base_store.h"
#include "store/chunk_lookup.h"
#include "store/control_recovery.h"
#include "store/current.h"
#include "store/layout_segments.h"
#include "store/segment_registry.h"
#include "store/snapshot.h"
#include "store/store_files.h"

typedef struct commit {
  pks_txn *txn;
  pks_store *store;
  bool sync;
  pks__control control;
  pks__generation next;
  bool drops;                 ///< something that the current generation needs and the next does not
  pks__compacted_run merged;  ///< runs joined into one, while no other commit moves the index
} commit;

static pks_status sync_folder(commit *commit, const char *path, pks_error *error) {
  return commit->sync ? pks__store_sync_folder(commit->store, path, error) : PKS_OK;
}

static void segment_path(const pks__segment_id *id, char out[PKS__INDEX_NAME]) {
  char name[PKS__SEGMENT_NAME];
  pks__segment_name(id, name);
  (void)snprintf(out, PKS__INDEX_NAME, PKS__SEGMENTS_FOLDER "/%s", name);
}

static void table_path(const pks__segment_id *id, char out[PKS__INDEX_NAME]) {
  char name[PKS__SEGMENT_NAME];
  pks__segment_name(id, name);
  (void)snprintf(out, PKS__INDEX_NAME, PKS__TABLES_FOLDER "/%s", name);
}

// MARK: - The next generation

static bool is_same_text(const char *a, const char *b) { return a && b ? strcmp(a, b) == 0 : a == b; }

/// Checks that staged data is in the cache folder of the transaction's base, or in the one that the transaction sets.
static pks_status check_cache_folder(const pks_txn *txn, const pks_snapshot *current, pks_error *error) {
  bool is_used = txn->staging.cache != PKS_VFS_NO_FILE || txn->cache_folder;
  if (!is_used || is_same_text(txn->base->generation.cache_folder, current->generation.cache_folder)) { return PKS_OK; }
  const char *text = "another writer chose another cache folder since the transaction began";
  return pks__fail_about(
    error, PKS_CONFLICT, PKS_DETAIL_OTHER_CACHE_FOLDER, PKS_SUBJECT_CACHE_FOLDER, current->generation.cache_folder, text
  );
}

/// Applies the staged changes to the generation that is current now.
static pks_status apply_changes(commit *commit, const pks_snapshot *current, pks_error *error) {
  const pks_txn *txn = commit->txn;
  pks_status status = pks__generation_check_change(&current->generation, txn->options.publication, error);
  if (status) { return status; }
  status = pks__generation_copy(&current->generation, &commit->next, error);
  bool moved_on = current->generation.number != txn->base->generation.number;
  // Reused data may be leftovers of the repair.
  if (!status && current->generation.lineage != txn->base->generation.lineage) {
    return pks__fail_about(
      error, PKS_CONFLICT, PKS_DETAIL_STORE_REPAIRED, PKS_SUBJECT_STORE, NULL, "repaired since the transaction began"
    );
  }
  if (!status) { status = check_cache_folder(txn, current, error); }
  for (uint64_t i = 0; !status && i < PKS__SCRATCH_COUNT(&txn->changes, pks__staged_op); i++) {
    pks__staged_op change = *PKS__SCRATCH_AT(&txn->changes, const pks__staged_op, i);
    // Other packs may have come that this change was not compared with.
    change.has_shadows = change.has_shadows || (moved_on && pks__staged_op_has_layout(&change));
    if (!pks__staged_op_is_independent(&change) && !pks__pack_is_same(change.pack, &txn->base->generation, &current->generation)) {
      return pks__fail_about(
        error, PKS_CONFLICT, PKS_DETAIL_PACK_CHANGED, PKS_SUBJECT_PACK, change.pack,
        "changed by another writer since the transaction began"
      );
    }
    status = pks__staged_op_apply(&change, &commit->next, txn->options.keep_versions, error);
    if (status == PKS_NOT_FOUND) {
      const char *text = "removed by another writer since the transaction began";
      return pks__fail_about(error, PKS_CONFLICT, PKS_DETAIL_PACK_REMOVED, PKS_SUBJECT_PACK, change.pack, text);
    }
  }
  if (!status && !moved_on && commit->merged.run_count > 0) {
    status = pks__generation_replace_runs(
      &commit->next, commit->merged.first_run, commit->merged.run_count, &commit->merged.name,
      commit->merged.pack_numbers, commit->merged.pack_count, error
    );
  }
  commit->next.number = current->generation.number + 1;
  commit->next.predecessor = pks__control_spared(&commit->control)->generation;
  commit->next.is_site = txn->options.publication;  // permanent: from now on only publications may commit
  return status;
}

// MARK: - Moving files into place

static pks_status file_exists(commit *commit, const char *path, bool *exists, pks_error *error) {
  const pks_vfs *vfs = commit->store->vfs;
  pks_vfs_info info;
  int failure = pks__vfs_info(vfs, commit->store->root, path, false, &info);
  *exists = failure == 0;
  return failure && failure != ENOENT ? pks__fail_system(error, failure, "cannot examine", path) : PKS_OK;
}

/// Moves a file out of the staging folder, or another where things are staged.
static pks_status move_from(commit *commit, const char *folder, const char *name, const char *path, pks_error *error) {
  const pks_vfs *vfs = commit->store->vfs;
  char from[2 * PKS__INDEX_NAME];
  (void)snprintf(from, sizeof from, "%s/%s", folder, name);
  int failure = pks__vfs_rename(vfs, commit->store->root, from, path);
  return failure ? pks__fail_system(error, failure, "cannot rename", path) : PKS_OK;
}

static pks_status move(commit *commit, const char *name, const char *path, pks_error *error) {
  return move_from(commit, commit->txn->staging.path, name, path, error);
}

/// Whether the file at `path` exists and is at least as long as the staged file: a file that was cut short is replaced.
static pks_status is_as_long(commit *commit, const char *path, const char *staged, bool *is_it, pks_error *error) {
  const pks_vfs *vfs = commit->store->vfs;
  pks_vfs_info there, ours;
  pks_status status = file_exists(commit, path, is_it, error);
  if (status || !*is_it) { return status; }
  int failure = pks__vfs_info(vfs, commit->store->root, path, false, &there);
  if (!failure) { failure = pks__vfs_info(vfs, commit->store->root, staged, false, &ours); }
  if (failure) { return pks__fail_system(error, failure, "cannot examine", path); }
  *is_it = there.size >= ours.size;
  return PKS_OK;
}

/// Whether the store already has a file of the segment: another writer may have stored the same bytes since. That file stays,
/// because it may be durable, and ours, at `staged`, is not.
static pks_status is_stored(
  commit *commit, pks_snapshot *current, const pks__segment_id *id, const char *path, const char *staged, bool *stored,
  pks_error *error
) {
  *stored = false;
  for (uint32_t i = 0; i < current->run_count; i++) {
    pks__run *run = &current->runs[i].open->run;
    for (uint32_t at = 0; at < run->segment_count; at++) {
      pks__run_segment_info info;
      pks_status status = pks__run_segment_at(run, at, &info, error);
      if (status) { return status; }
      if (!pks__segment_id_equal(&info.id, id)) { continue; }
      return is_as_long(commit, path, staged, stored, error);
    }
  }
  return PKS_OK;
}

/// Syncs a segment that was staged by an atomic commit.
static pks_status sync_staged(commit *commit, const pks__staged_segment *staged, const char *name, pks_error *error) {
  char path[2 * PKS__INDEX_NAME];
  (void)snprintf(path, sizeof path, "%s/%s", staged->folder, name);
  return pks__store_sync_file(commit->store, path, false, error);
}

/// Moves the table of a segment with data elsewhere into its place.
static pks_status move_table(commit *commit, pks_snapshot *current, const pks__segment_id *id, pks_error *error) {
  char name[PKS__SEGMENT_NAME], from[PKS__INDEX_NAME + sizeof PKS__TABLE_SUFFIX], to[PKS__INDEX_NAME];
  char staged[2 * PKS__INDEX_NAME];
  bool stored = false;
  pks__segment_name(id, name);
  (void)snprintf(from, sizeof from, "%s" PKS__TABLE_SUFFIX, name);
  (void)snprintf(staged, sizeof staged, "%s/%s", commit->txn->staging.path, from);
  table_path(id, to);
  pks_status status = commit->sync ? PKS_OK : is_stored(commit, current, id, to, staged, &stored, error);
  return status || stored ? status : move(commit, from, to, error);
}

/// Moves a purgeable segment's file into its place in the cache folder, and its table into the store. A file with the same name in
/// the cache folder is equal, or was truncated.
static pks_status move_purgeable(
  commit *commit, pks_snapshot *current, const pks__staged_segment *staged, const char *name, pks_error *error
) {
  const pks_vfs *vfs = commit->store->vfs;
  char from[2 * PKS__INDEX_NAME], to[PKS__INDEX_NAME];
  (void)snprintf(from, sizeof from, "%s/%s", staged->folder, name);
  (void)snprintf(to, sizeof to, PKS__SEGMENTS_FOLDER "/%s", name);
  const char *cache = commit->txn->staging.cache_folder;
  int failure = pks__vfs_rename(vfs, commit->txn->staging.cache, from, to);
  // Purged already, while it was staged: the table lists the missing data.
  if (failure && failure != ENOENT) {
    return pks__fail_system_about(error, failure, PKS_DETAIL_NONE, PKS_SUBJECT_CACHE_FOLDER, cache, "cannot rename");
  }
  return move_table(commit, current, &staged->segment->id, error);
}

/// Makes the names of purgeable segments durable.
static pks_status sync_purgeable(commit *commit, pks_error *error) {
  const pks_vfs *vfs = commit->store->vfs;
  pks_vfs_file folder;
  pks_vfs_file cache = commit->txn->staging.cache;
  int failure = commit->sync ? pks__vfs_open(vfs, cache, PKS__SEGMENTS_FOLDER, PKS_VFS_OPEN_FOLDER, &folder) : ENOENT;
  if (!failure) {
    failure = pks__vfs_sync(vfs, folder);
    pks__vfs_close(vfs, folder);
  }
  if (failure && failure != ENOENT) {
    const char *name = commit->txn->staging.cache_folder;
    return pks__fail_system_about(error, failure, PKS_DETAIL_NONE, PKS_SUBJECT_CACHE_FOLDER, name, "cannot sync");
  }
  return PKS_OK;
}

/// Moves the tables of segments of the base into their places, and syncs the folder if anything came there.
static pks_status move_tables(commit *commit, pks_snapshot *current, bool any, pks_error *error) {
  const pks__segment_set *tables = &commit->txn->tables;
  pks_status status = PKS_OK;
  for (uint32_t i = 0; !status && i < pks__segment_set_count(tables); i++) {
    status = move_table(commit, current, pks__segment_set_at(tables, i), error);
    any = true;
  }
  return !status && any ? sync_folder(commit, PKS__TABLES_FOLDER, error) : status;
}

static pks_status move_segments(commit *commit, pks_snapshot *current, pks_error *error) {
  const pks__scratch *segments = &commit->txn->segments;
  uint64_t count = PKS__SCRATCH_COUNT(segments, pks__staged_segment);
  bool any_purgeable = false;
  // Until something names them.
  if (count > 0 || pks__segment_set_count(&commit->txn->tables) > 0) { commit->txn->staging.leaves_garbage = true; }
  for (uint64_t i = 0; i < count; i++) {
    const pks__staged_segment *staged = PKS__SCRATCH_AT(segments, const pks__staged_segment, i);
    const pks__segment *segment = staged->segment;
    // Two adds of one transaction may have made the same segment; the first move took the file.
    bool is_repeated = false;
    for (uint64_t before = 0; before < i && !is_repeated; before++) {
      is_repeated = PKS__SCRATCH_AT(segments, const pks__staged_segment, before)->segment == segment;
    }
    if (is_repeated) { continue; }
    const char *name = strrchr(segment->name, '/') + 1;
    if (segment->is_purgeable) {
      pks_status status = move_purgeable(commit, current, staged, name, error);
      if (status) { return status; }
      any_purgeable = true;
      continue;
    }
    char from[2 * PKS__INDEX_NAME];
    (void)snprintf(from, sizeof from, "%s/%s", staged->folder, name);
    bool stored = false, mends = pks__store_mends(commit->store, &segment->id);
    // Ours is synced if the commit is durable, which is better than a file with an unknown past. A file that repairs data of a
    // durable generation is synced in any case.
    pks_status status =
      commit->sync || mends ? PKS_OK : is_stored(commit, current, &segment->id, segment->name, from, &stored, error);
    if (!status && mends && !commit->sync) { status = sync_staged(commit, staged, name, error); }
    if (!status && !stored) { status = move_from(commit, staged->folder, name, segment->name, error); }
    if (status) { return status; }
  }
  pks_status status = count > 0 ? sync_folder(commit, PKS__SEGMENTS_FOLDER, error) : PKS_OK;
  if (!status && any_purgeable) { status = sync_purgeable(commit, error); }
  return status ? status : move_tables(commit, current, any_purgeable, error);
}

static bool is_named_run(const pks__generation *generation, uint64_t name) {
  for (uint32_t i = 0; i < generation->run_count; i++) {
    if (generation->runs[i].name.name == name) { return true; }
  }
  return false;
}

/// Moves the staged runs that the next generation names.
static pks_status move_runs(commit *commit, const pks__generation *current, pks_error *error) {
  for (uint32_t i = 0; i < commit->next.run_count; i++) {
    uint64_t name = commit->next.runs[i].name.name;
    if (is_named_run(current, name)) { continue; }
    char path[PKS__INDEX_NAME];
    pks__run_path(name, path);
    pks_status status = move(commit, strrchr(path, '/') + 1, path, error);
    if (status) { return status; }
  }
  return PKS_OK;
}

/// Writes the generation's file under a name of the staging and moves it.
static pks_status write_generation(commit *commit, pks__control_slot *slot, pks_error *error) {
  pks__scratch bytes = {0};
  pks__file_writer writer = {.file = PKS_VFS_NO_FILE};
  char path[PKS__INDEX_NAME];
  pks__generation_path(commit->next.number, path);
  commit->next.durable = commit->sync;
  memcpy(commit->next.store_id, slot->store_id, sizeof commit->next.store_id);
  memcpy(commit->next.boot_id, slot->boot_id, sizeof commit->next.boot_id);
  pks_status status = pks__generation_encode(&commit->next, &bytes, error);
  if (!status && bytes.length > PKS__GENERATION_FILE_MAX) {
    status = pks__fail_about(
      error, PKS_INVALID_ARGUMENT, PKS_DETAIL_LIMIT, PKS_SUBJECT_STORE, NULL,
      "has too many packs, versions and version floors; keep fewer versions"
    );
  }
  if (!status) {
    status = pks__file_writer_open(&writer, commit->store->vfs, commit->txn->staging.folder, "generation", error);
  }
  if (!status) { status = pks__file_writer_append(&writer, bytes.bytes, (size_t)bytes.length, error); }
  if (!status) { status = pks__file_writer_finish(&writer, commit->sync, error); }
  pks__file_writer_abandon(&writer);
  if (!status) { status = move(commit, "generation", path, error); }
  slot->generation = commit->next.number;
  slot->predecessor = commit->next.predecessor;
  slot->file_length = bytes.length;
  slot->file_sum = status ? 0 : pks__checksum(bytes.bytes, (size_t)bytes.length);
  pks__scratch_free(&bytes);
  return status ? status : sync_folder(commit, PKS__INDEX_FOLDER, error);
}

/// Takes back the file of a generation that is not going to be: from now on nothing adopts it (`control_recovery.h`).
/// Comes before anything else that a failed commit does.
static void withdraw_generation(commit *commit) {
  const pks_vfs *vfs = commit->store->vfs;
  char path[PKS__INDEX_NAME];
  pks__generation_path(commit->next.number, path);
  int failure = pks__vfs_unlink(vfs, commit->store->root, path, false);
  // Should the sync fail, a loss of power may bring the file back: as the new generation, whole.
  if (!failure) { (void)sync_folder(commit, PKS__INDEX_FOLDER, NULL); }
}

/// Syncs a file, if it exists, or writes it again.
static pks_status secure_file(commit *commit, const char *path, bool in_doubt, pks_error *error) {
  return in_doubt ? pks__rewrite_file(&commit->txn->staging, path, true, error)
                  : pks__store_sync_file(commit->store, path, true, error);
}

/// Syncs the segments that a snapshot names, or writes them again when syncs prove nothing. Runs list segments beyond
/// their collection: those are not missed.
static pks_status secure_segments(commit *commit, pks_snapshot *snapshot, bool in_doubt, pks_error *error) {
  pks_status status = PKS_OK;
  for (uint32_t i = 0; !status && i < snapshot->run_count; i++) {
    pks__run *run = &snapshot->runs[i].open->run;
    for (uint32_t at = 0; !status && at < run->segment_count; at++) {
      pks__run_segment_info info;
      char path[PKS__INDEX_NAME];
      status = pks__run_segment_at(run, at, &info, error);
      segment_path(&info.id, path);
      if (status) { break; }
      status = secure_file(commit, path, in_doubt, error);
      table_path(&info.id, path);
      if (!status) { status = secure_file(commit, path, in_doubt, error); }
    }
  }
  if (!status) { status = sync_folder(commit, PKS__SEGMENTS_FOLDER, error); }
  bool any_tables = false;
  if (!status) { status = file_exists(commit, PKS__TABLES_FOLDER, &any_tables, error); }
  return !status && any_tables ? sync_folder(commit, PKS__TABLES_FOLDER, error) : status;
}

/// Whether the commit vouches for the files of an earlier, atomic one too.
static bool vouches(const commit *commit) { return commit->sync && !pks__control_current(&commit->control)->durable; }

/// Puts all files into place that the switch relies on.
static pks_status move_files(commit *commit, pks_snapshot *current, pks__control_slot *slot, pks_error *error) {
  pks_store *store = commit->store;
  pks_status status =
    vouches(commit) ? pks__sync_backlog(&commit->txn->staging, &commit->control, current, error) : PKS_OK;
  if (!status) { status = move_segments(commit, current, error); }
  if (!status) { status = move_runs(commit, &current->generation, error); }
  if (!status) { status = write_generation(commit, slot, error); }
  if (status) { withdraw_generation(commit); }
  // The failure may have been a sync that will succeed the next time, and prove nothing.
  if (status && vouches(commit)) { (void)pks__control_doubt(store->vfs, store->control, &commit->control, NULL); }
  return status;
}

// MARK: - What was reused

/// Whether the transaction brings the segment: among the store's files, or, if `purgeable`, to the cache folder.
static bool is_staged(const pks_txn *txn, const pks__segment_id *id, bool purgeable) {
  for (uint64_t i = 0; i < PKS__SCRATCH_COUNT(&txn->segments, pks__staged_segment); i++) {
    const pks__segment *segment = PKS__SCRATCH_AT(&txn->segments, const pks__staged_segment, i)->segment;
    if (pks__segment_id_equal(&segment->id, id) && (purgeable || !segment->is_purgeable)) { return true; }
  }
  return false;
}

/// Checks that a segment exists, or comes with this commit: among the store's files, unless a purgeable pack needs it. For a site
/// the table is enough: the segment may be remote.
static pks_status check_segment(commit *commit, const pks__segment_id *id, bool purgeable, pks_error *error) {
  char path[PKS__INDEX_NAME];
  bool exists;
  if (is_staged(commit->txn, id, purgeable)) { return PKS_OK; }
  segment_path(id, path);
  pks_status status = file_exists(commit, path, &exists, error);
  if (!status && !exists && (purgeable || commit->txn->snapshot->generation.is_site)) {
    table_path(id, path);
    status = file_exists(commit, path, &exists, error);
  }
  if (!status && !exists && pks__base_store_has(commit->store, id)) {
    table_path(id, path);
    exists = pks__segment_set_has(&commit->txn->tables, id);
    if (!exists) { status = file_exists(commit, path, &exists, error); }
  }
  if (status || exists) { return status; }
  pks__store_forget_segment(commit->store, id);
  return pks__fail_about(
    error, PKS_CONFLICT, PKS_DETAIL_COLLECTED, PKS_SUBJECT_STORE_FILE, path,
    "collected by another writer, although the transaction reuses it"
  );
}

/// Finds the segments of a version's previous layout that were not among the store's files when it was laid out again: the version
/// may continue without their missing data, for instance of an absent base.
static pks_status find_lacking(
  commit *commit, const char *pack, const pks__version *version, pks__segment_set *lacking, pks_error *error
) {
  pks_snapshot *before = commit->txn->base;
  const pks__pack_state *state = pks__generation_find_state(&before->generation, pack, NULL);
  uint32_t index = state ? pks__pack_find_version(state, version->number) : UINT32_MAX;
  if (!before->generation.base.is_set || index == UINT32_MAX) { return PKS_OK; }
  pks__scratch segments = {0};
  pks_status status = pks__layout_segments(before, &state->versions[index].layout, &segments, error);
  for (uint64_t i = 0; !status && i < PKS__SCRATCH_COUNT(&segments, pks__segment_id); i++) {
    const pks__segment_id *id = PKS__SCRATCH_AT(&segments, const pks__segment_id, i);
    pks__segment *segment;
    if (pks__snapshot_take_segment(before, id, &segment, NULL)) { continue; }
    if (segment->is_purgeable) { status = pks__segment_set_add(lacking, id, error); }
    pks__store_release_segment(commit->store, segment);
  }
  pks__scratch_free(&segments);
  return status;
}

/// Checks that all segments of a staged version exist or come with this commit: those its layout lists, and the segment of the
/// layout's root. For those in `lacking` the table is enough.
static pks_status check_version(
  commit *commit, const pks__version *version, bool purgeable, const pks__segment_set *lacking, pks_error *error
) {
  pks_snapshot *snapshot = commit->txn->snapshot;
  pks__layout_root layout;
  pks__scratch segments = {0};
  pks__chunk_ref ref;
  bool found;
  pks_status status = pks__layout_read_root(pks__snapshot_pages(snapshot), &version->layout, &layout, &segments, error);
  if (!status) {
    status = pks__snapshot_find_chunk(snapshot, &version->layout, PKS__SEGMENT_METADATA, &ref, &found, error);
  }
  if (!status && found) { status = check_segment(commit, &ref.segment->id, purgeable, error); }
  // All that are gone are forgotten at once, so that the next attempt finds none of them.
  for (uint64_t i = 0; (!status || status == PKS_CONFLICT) && i < PKS__SCRATCH_COUNT(&segments, pks__segment_id); i++) {
    const pks__segment_id *id = PKS__SCRATCH_AT(&segments, const pks__segment_id, i);
    pks_status one = check_segment(commit, id, purgeable || pks__segment_set_has(lacking, id), error);
    if (one) { status = one; }
  }
  pks__scratch_free(&segments);
  return status;
}

/// The version whose layout a change relies on; NULL: none.
static const pks__version *relying_version(const pks__staged_op *change, const pks__pack_state *pack) {
  if (pks__staged_op_has_layout(change)) { return &change->version; }
  return change->kind == PKS__CHANGE_PLACE && pack ? &pack->versions[0] : NULL;
}

/// A collection between staging and now may have taken a segment that no kept version needed and a staged one reuses, or left it
/// to the cache folder. Versions that are kept while the pack becomes durable may be there.
static pks_status check_reused(commit *commit, pks_error *error) {
  const pks__scratch *changes = &commit->txn->changes;
  pks_status status = PKS_OK;
  for (uint64_t i = 0; (!status || status == PKS_CONFLICT) && i < PKS__SCRATCH_COUNT(changes, pks__staged_op); i++) {
    const pks__staged_op *change = PKS__SCRATCH_AT(changes, const pks__staged_op, i);
    bool is_live;
    const pks__pack_state *pack =
      pks__generation_find_state(&commit->txn->snapshot->generation, change->pack, &is_live);
    const pks__version *version = relying_version(change, pack);
    bool is_current = version && pack && is_live && pks__id_equal(&version->layout, &pack->versions[0].layout);
    bool purgeable = !is_current || pack->purgeable;
    pks__segment_set lacking;
    pks__segment_set_init(&lacking, &commit->txn->staging.scratch);
    pks_status one = version ? find_lacking(commit, change->pack, version, &lacking, error) : PKS_OK;
    if (!one && version) { one = check_version(commit, version, purgeable, &lacking, error); }
    pks__segment_set_free(&lacking);
    if (one) { status = one; }
  }
  return status;
}

/// Whether the pack still has the version, in the same place.
static bool keeps_version(const pks__pack_state *pack, const pks__version *version) {
  for (uint32_t i = 0; i < pack->version_count; i++) {
    const pks__version *kept = &pack->versions[i];
    if (kept->number == version->number) { return pks__id_equal(&kept->layout, &version->layout); }
  }
  return false;
}

/// Whether all versions of a pack of `before` are kept in `after`, where they were.
static bool keeps_pack(const pks__pack_state *pack, const pks__generation *after) {
  const pks__pack_state *kept = pks__generation_find_state(after, pack->name, NULL);
  if (!kept || kept->purgeable != pack->purgeable) { return false; }
  for (uint32_t i = 0; i < pack->version_count; i++) {
    if (!keeps_version(kept, &pack->versions[i])) { return false; }
  }
  return true;
}

/// Whether a pack, a version or a place of one in `before` is not in `after`.
static bool drops_anything(const pks__generation *before, const pks__generation *after) {
  for (uint32_t i = 0; i < before->pack_count + before->removed_count; i++) {
    if (!keeps_pack(pks__generation_any_pack(before, i), after)) { return true; }
  }
  return false;
}

/// Whether the transaction replaced its own staged data: that was stored, and nothing refers to it.
static bool supersedes_anything(const commit *commit) {
  const pks__scratch *changes = &commit->txn->changes;
  for (uint64_t i = 0; i < PKS__SCRATCH_COUNT(changes, pks__staged_op); i++) {
    const pks__staged_op *change = PKS__SCRATCH_AT(changes, const pks__staged_op, i);
    if (!pks__staged_op_has_layout(change)) { continue; }
    uint32_t pack = pks__generation_find_pack(&commit->next, change->pack);
    if (pack == UINT32_MAX || !keeps_version(&commit->next.packs[pack], &change->version)) { return true; }
  }
  return false;
}

// MARK: - The switch

/// Writes the slot: the generation is the current one from here on, or its file goes.
static pks_status write_slot(
  commit *commit, const pks__control *control, const pks__control_slot *slot, pks_error *error
) {
  bool gone;
  pks_store *store = commit->store;
  pks_status status = pks__control_write(store->vfs, store->control, control, slot, commit->sync, &gone, error);
  if (status && gone) { withdraw_generation(commit); }
  return status;
}

static pks_status switch_generation(commit *commit, pks_snapshot *current, pks_error *error) {
  pks_store *store = commit->store;
  pks__control_slot slot = *pks__control_current(&commit->control);
  pks__staging *staging = &commit->txn->staging;
  // A commit that a loss of power ended may have left segments, and its staging folder need not have survived.
  if (memcmp(slot.boot_id, store->boot_id, sizeof slot.boot_id) != 0) { staging->leaves_garbage = true; }
  slot.durable = commit->sync;
  slot.in_doubt = slot.in_doubt && !commit->sync;
  memcpy(slot.boot_id, store->boot_id, sizeof slot.boot_id);
  pks_status status = apply_changes(commit, current, error);
  bool complete = false;
  uint64_t spared = pks__control_spared(&commit->control)->generation;
  if (!status) { status = pks__gc(current, commit->txn, spared, &complete, error); }
  commit->drops =
    commit->txn->evacuates || drops_anything(&current->generation, &commit->next) || supersedes_anything(commit);
  commit->next.has_garbage = commit->drops || ((pks__has_garbage(current) || staging->leaves_garbage) && !complete);
  if (!status) { status = check_reused(commit, error); }
  if (!status) { status = move_files(commit, current, &slot, error); }
  if (!status) { status = write_slot(commit, &commit->control, &slot, error); }
  if (!status) { staging->leaves_garbage = false; }
  return status;
}

/// Unlinks files that only the previous generation needed. Failures do not affect the commit: the next one deletes the rest. The
/// transaction has already released its base, because otherwise this process would retain that generation. A publication collects
/// when its roots are written.
static void collect_behind(commit *commit) {
  pks_txn *txn = commit->txn;
  pks_snapshot *now = NULL;
  bool complete = false;
  bool has_reason = commit->drops || txn->collects;
  if (!has_reason || !commit->sync || txn->options.keep_generation || txn->options.publication) { return; }
  txn->changes.length = 0;
  pks__snapshot_release(txn->snapshot);
  pks__snapshot_release(txn->base);
  txn->snapshot = txn->base = NULL;
  if (pks__snapshot_open_current(&now, commit->store, NULL)) { return; }
  uint64_t number = now->generation.number;
  // The next commit leaves the slot of a durable generation alone, so that nothing else is to be spared.
  pks_status status = number == commit->next.number ? pks__gc(now, txn, number, &complete, NULL) : PKS_OK;
  if (!status && complete) { atomic_store(&commit->store->collected, number); }
  pks__snapshot_release(now);
}

/// Checks that the control file opened by this process is still the store's: a repair may have replaced it.
static pks_status check_control(const pks_store *store, pks_error *error) {
  const pks_vfs *vfs = store->vfs;
  pks_vfs_info open, named;
  int failure = pks__vfs_info_of(vfs, store->control, &open);
  if (!failure) { failure = pks__vfs_info(vfs, store->root, PKS__CONTROL_FILE, false, &named); }
  if (failure) { return pks__fail_system(error, failure, "cannot examine", PKS__CONTROL_FILE); }
  if (open.device == named.device && open.inode == named.inode) { return PKS_OK; }
  return pks__fail_about(
    error, PKS_CONFLICT, PKS_DETAIL_STORE_REPAIRED, PKS_SUBJECT_STORE_FILE, PKS__CONTROL_FILE,
    "replaced by a repair; open the store again"
  );
}

static pks_status commit_locked(commit *commit, uint64_t *generation, pks_error *error) {
  pks_store *store = commit->store;
  pks_snapshot *current = NULL;
  pks_status status = check_control(store, error);
  if (!status) { status = pks__store_ready_control(store, &commit->control, error); }
  if (!status) { status = pks__snapshot_open_current(&current, store, error); }
  if (!status) { status = switch_generation(commit, current, error); }
  if (!status) { *generation = commit->next.number; }
  pks__snapshot_release(current);
  return status;
}

/// Whether there is anything that a commit would change.
static bool has_work(const pks_txn *txn) {
  return txn->changes.length > 0 || txn->collects || (txn->options.publication && !txn->base->generation.is_site);
}

pks_status pks__txn_commit(pks_txn *txn, uint64_t *generation, bool *drops, pks_error *error) {
  commit commit = {.txn = txn, .store = txn->store, .sync = txn->options.durability == PKS_DURABLE};
  uint64_t number = txn->base->generation.number;
  pks_status status = pks__store_check_process(txn->store, error);
  if (!status && has_work(txn)) {
    // Runs that cannot be joined stay as they are: the commit does not depend on it.
    (void)pks__compact(&commit.merged, pks__txn_snapshot(txn), &txn->staging, commit.sync, NULL);
    pks__wait wait = txn->store->wait;
    wait.is_refused = txn->options.no_wait;
    status = pks__lock_writer(txn->store->vfs, txn->staging.lock, &wait, error);
    if (!status) {
      status = commit_locked(&commit, &number, error);
      if (!status) { collect_behind(&commit); }
      pks__unlock_writer(txn->store->vfs, txn->staging.lock);
    }
  }
  if (!status && generation) { *generation = number; }
  if (drops) { *drops = !status && commit.drops; }
  pks__compacted_run_free(&commit.merged);
  pks__generation_free(&commit.next);
  pks_txn_abort(txn);
  return status;
}

// MARK: - Replacing what is damaged

/// Creates a control file with this slot in both slots, and replaces the existing one.
static pks_status make_control(commit *commit, const pks__control_slot *slot, pks_error *error) {
  uint8_t bytes[PKS__CONTROL_SIZE];
  pks__file_writer writer = {.file = PKS_VFS_NO_FILE};
  pks__control_encode_new(slot, bytes);
  pks_status status =
    pks__file_writer_open(&writer, commit->store->vfs, commit->txn->staging.folder, PKS__CONTROL_FILE, error);
  if (!status) { status = pks__file_writer_append(&writer, bytes, sizeof bytes, error); }
  if (!status) { status = pks__file_writer_finish(&writer, true, error); }
  pks__file_writer_abandon(&writer);
  if (!status) { status = move(commit, PKS__CONTROL_FILE, PKS__CONTROL_FILE, error); }
  return status ? status : sync_folder(commit, ".", error);
}

static pks_status replace_generation(commit *commit, const pks__replacement *with, pks_error *error) {
  static const pks__generation nothing;
  pks_store *store = commit->store;
  pks__control_slot slot = with->slot;
  commit->next.predecessor = with->control ? pks__control_spared(with->control)->generation : 0;
  slot.durable = true;
  slot.in_doubt = false;
  memcpy(slot.boot_id, store->boot_id, sizeof slot.boot_id);
  // Reused data may never have been synced.
  bool in_doubt = with->control && pks__control_current(with->control)->in_doubt;
  pks_status status = secure_segments(commit, commit->txn->base, in_doubt, error);
  if (!status) { status = move_segments(commit, commit->txn->base, error); }
  if (!status) { status = move_runs(commit, &nothing, error); }
  if (!status) { status = write_generation(commit, &slot, error); }
  // The store's folders may have been missing, too.
  if (!status) { status = sync_folder(commit, ".", error); }
  if (status) {
    withdraw_generation(commit);
    return status;
  }
  return with->control ? write_slot(commit, with->control, &slot, error) : make_control(commit, &slot, error);
}

pks_status pks__txn_replace(pks_txn *txn, pks__replacement *with, pks_error *error) {
  commit commit = {.txn = txn, .store = txn->store, .sync = true, .next = with->generation};
  with->generation = (pks__generation){0};
  (void)pks__compact(&commit.merged, pks__txn_snapshot(txn), &txn->staging, true, NULL);
  pks_status status = PKS_OK;
  if (commit.merged.run_count > 0) {
    status = pks__generation_replace_runs(
      &commit.next, commit.merged.first_run, commit.merged.run_count, &commit.merged.name, commit.merged.pack_numbers,
      commit.merged.pack_count, error
    );
  }
  commit.next.has_garbage = true;
  const pks_vfs *vfs = txn->store->vfs;
  int failure = status ? 0 : pks__vfs_random(vfs, &commit.next.lineage, sizeof commit.next.lineage);
  if (failure) { status = pks__fail_system(error, failure, "cannot generate a random number", NULL); }
  if (!status) { status = replace_generation(&commit, with, error); }
  if (!status) { txn->staging.leaves_garbage = false; }
  pks__compacted_run_free(&commit.merged);
  pks__generation_free(&commit.next);
  return status;
}
