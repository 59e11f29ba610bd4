/// Collection: the part that commits do automatically, and the full collection on request.
#include <stdio.h>
#include <string.h>

#include "commit/commit.h"
#include "commit/evacuation.h"
#include "commit/gc.h"
#include "commit/purge.h"
#include "store/cache_folder.h"
#include "store/current.h"
#include "store/snapshot.h"

enum {
  DEFAULT_PERCENT = 25,
  CROWDED = 4,              ///< times the share may be copied where much is dead
  LEAST_COPY = 512 * 1024,  ///< bytes: searching for candidates is not worth less
  TRIES = 5,                ///< against other writers
};
static const uint64_t round_bytes = 512 << 20, short_round_bytes = 64 << 20;

// MARK: - After a commit

/// The work after a transaction's commit.
typedef struct follow_up {
  pks_store *store;
  pks__scratch packs;                  ///< names of the changed packs, NUL-terminated, in the heap
  uint64_t copy_bytes, crowded_bytes;  ///< as in `pks__evacuation_limits`
  bool sets_budget;                    ///< the transaction sets the budget of the cache folder
} follow_up;

static pks_status add_pack(follow_up *after, const char *pack) {
  for (uint64_t at = 0; at < after->packs.length; at += strlen((const char *)after->packs.bytes + at) + 1) {
    if (strcmp((const char *)after->packs.bytes + at, pack) == 0) { return PKS_OK; }
  }
  return pks__scratch_append(&after->packs, pack, strlen(pack) + 1, NULL);
}

static bool sets_budget(const pks_txn *txn) {
  for (uint64_t i = 0; i < PKS__SCRATCH_COUNT(&txn->changes, pks__staged_op); i++) {
    const pks__staged_op *change = PKS__SCRATCH_AT(&txn->changes, const pks__staged_op, i);
    if (change->kind == PKS__CHANGE_CACHE && change->cache_budget > 0) { return true; }
  }
  return false;
}

/// Plans the work after a commit. Except for a budget, nothing is done after a commit that is not durable, keeps the previous
/// generation, or writes little.
static void plan_follow_up(follow_up *after, const pks_txn *txn) {
  const pks_txn_options *options = &txn->options;
  *after = (follow_up){.store = txn->store, .sets_budget = sets_budget(txn)};
  bool may = options->durability == PKS_DURABLE && !options->keep_generation && !options->no_gc && !options->publication
    && !txn->evacuates;
  for (uint64_t i = 0; may && i < PKS__SCRATCH_COUNT(&txn->segments, pks__staged_segment); i++) {
    after->copy_bytes += PKS__SCRATCH_AT(&txn->segments, const pks__staged_segment, i)->segment->file_length;
  }
  uint64_t percent = pks__min64(options->gc_percent ? options->gc_percent : DEFAULT_PERCENT, 100);
  after->crowded_bytes = after->copy_bytes / 100 * pks__min64(percent * CROWDED, 100);
  after->copy_bytes = after->copy_bytes / 100 * percent;
  if (after->copy_bytes == 0) { return; }
  pks_status status = PKS_OK;
  for (uint64_t i = 0; !status && i < PKS__SCRATCH_COUNT(&txn->changes, pks__staged_op); i++) {
    status = add_pack(after, PKS__SCRATCH_AT(&txn->changes, const pks__staged_op, i)->pack);
  }
  if (status) { after->copy_bytes = 0; }
}

/// A commit that may copy little does not search for candidates each time, but in turns, and then copies for the others as well. On
/// average over many commits of a store, the share is kept. The number of the generation determines the turn, so that nothing is
/// stored for it.
static void take_turns(follow_up *after, uint64_t generation) {
  if (after->copy_bytes == 0 || after->copy_bytes >= LEAST_COPY) { return; }
  uint64_t drawn =
    (generation * 0x9E3779B97F4A7C15) >> 32;  // the high half of a multiplicative hash: spread over 32 bits
  bool has_turn = drawn * LEAST_COPY < after->copy_bytes << 32;
  uint64_t times = LEAST_COPY / after->copy_bytes;
  after->crowded_bytes = has_turn ? after->crowded_bytes * times : 0;
  after->copy_bytes = has_turn ? LEAST_COPY : 0;
}

/// Empties segments of the changed packs. It is not part of the commit: after any failure, another commit does the work.
static void follow_up_commit(const follow_up *after) {
  pks_txn *txn;
  pks_txn_options options = {.no_wait = true, .no_gc = true};
  if (pks_txn_begin(&txn, after->store, &options, NULL)) { return; }
  pks__evacuation_limits limits = {
    .packs = &after->packs,
    .copy_bytes = after->copy_bytes,
    .crowded_bytes = after->crowded_bytes,
    .cache_bytes = pks__cache_room(after->store, &txn->base->generation),
    .only_worthwhile = true,
  };
  pks__evacuation_plan plan;
  uint64_t copied;
  pks_status status = pks__evacuation_plan_make(&plan, txn->base, &limits, &txn->staging.scratch, NULL);
  bool has_work = !status && PKS__SCRATCH_COUNT(&plan.versions, pks__planned_version) > 0;
  if (has_work) { status = pks__evacuate(txn, &plan, NULL, NULL, &copied, NULL); }
  pks__evacuation_plan_free(&plan);
  if (has_work && !status) {
    (void)pks__txn_commit(txn, NULL, NULL, NULL);
  } else {
    pks_txn_abort(txn);
  }
}

/// Purges data that exceeds the budget.
static void keep_budget(pks_store *store) {
  pks_snapshot *current;
  pks__generation generation = {0};
  if (pks__snapshot_open_current(&current, store, NULL)) { return; }
  pks_status status = pks__generation_copy(&current->generation, &generation, NULL);
  // A snapshot would keep files from being purged.
  pks__snapshot_release(current);
  if (!status) { (void)pks__cache_make_room(store, &generation, NULL, 0, NULL); }
  pks__generation_free(&generation);
}

pks_status pks_txn_commit(pks_txn *txn, uint64_t *generation, pks_error *error) {
  follow_up after;
  bool drops;
  uint64_t made = 0;
  plan_follow_up(&after, txn);
  pks_status status = pks__txn_commit(txn, &made, &drops, error);
  if (!status && generation) { *generation = made; }
  if (!status && drops) { take_turns(&after, made); }
  if (!status && drops && after.copy_bytes > 0) { follow_up_commit(&after); }
  if (!status && after.sets_budget) { keep_budget(after.store); }
  pks__scratch_free(&after.packs);
  return status;
}

uint64_t pks_store_freed_bytes(const pks_store *store) { return atomic_load(&store->freed_bytes); }

// MARK: - On request

typedef struct collector {
  pks_store *store;
  const pks_collect_request *request;
  pks_collect_totals *totals;
  uint64_t begun_ns;
  bool is_done;
} collector;

typedef struct folder_size {
  const pks_vfs *vfs;
  pks_vfs_file folder;
  uint64_t bytes;
} folder_size;

static bool add_size(void *context, const char *name, size_t length, pks_vfs_kind kind) {
  folder_size *size = context;
  pks_vfs_info info;
  (void)length;
  bool counts = kind != PKS_VFS_KIND_FOLDER && !pks__vfs_info(size->vfs, size->folder, name, false, &info);
  if (counts) { size->bytes += info.size; }
  return true;
}

/// What cannot be listed counts as nothing.
static uint64_t folder_bytes(const pks_vfs *vfs, pks_vfs_file root, const char *path) {
  folder_size size = {.vfs = vfs};
  if (pks__vfs_open(vfs, root, path, PKS_VFS_OPEN_FOLDER, &size.folder)) { return 0; }
  (void)pks__vfs_list(vfs, size.folder, add_size, &size);
  pks__vfs_close(vfs, size.folder);
  return size.bytes;
}

/// The sizes of all files that commits make.
static pks_status measure_files(pks_store *store, uint64_t *bytes, pks_error *error) {
  static const char *const folders[] = {PKS__SEGMENTS_FOLDER, PKS__TABLES_FOLDER, PKS__INDEX_FOLDER};
  pks_snapshot *current;
  pks_vfs_file cache = PKS_VFS_NO_FILE;
  pks_status status = pks__snapshot_open_current(&current, store, error);
  if (status) { return status; }
  *bytes = 0;
  for (size_t i = 0; i < PKS_COUNT_OF(folders); i++) { *bytes += folder_bytes(store->vfs, store->root, folders[i]); }
  const char *folder = current->generation.cache_folder;
  if (folder && !pks__cache_folder_open(store, folder, false, &cache, NULL)) {
    *bytes += folder_bytes(store->vfs, cache, PKS__SEGMENTS_FOLDER);
    pks__vfs_close(store->vfs, cache);
  }
  pks__snapshot_release(current);
  return PKS_OK;
}

static pks_status begin(collector *collector, pks_txn **txn, pks_error *error) {
  pks_txn_options options = {.no_wait = collector->request->no_wait, .no_gc = true};
  return pks_txn_begin(txn, collector->store, &options, error);
}

/// Whether there is time to begin something.
static bool has_time(const collector *collector) {
  uint64_t limit = collector->request->time_ns;
  uint64_t now = (uint64_t)pks__vfs_now_ns(collector->store->vfs);
  return limit == 0 || now < collector->begun_ns || now - collector->begun_ns < limit;
}

static uint64_t round_limit(const collector *collector) {
  const pks_collect_request *request = collector->request;
  uint64_t limit = request->time_ns ? short_round_bytes : round_bytes;
  if (request->dry_run) { limit = UINT64_MAX; }
  if (request->copy_bytes == 0) { return limit; }
  uint64_t copied = collector->totals->copied_bytes;
  uint64_t left = copied < request->copy_bytes ? request->copy_bytes - copied : 0;
  return left < limit ? left : limit;
}

/// Makes what earlier commits left go: whole files.
static pks_status collect_files(collector *collector, pks_error *error) {
  pks_txn *txn;
  pks_status status = begin(collector, &txn, error);
  if (status) { return status; }
  // The generation's own record is not enough: power loss restores unlinked files, and the process that dropped a version may have
  // collected it.
  bool *is_needed = &txn->staging.leaves_garbage;
  if (!*is_needed) { status = pks__gc_look(txn, is_needed, error); }
  if (status || !*is_needed) {
    pks_txn_abort(txn);
    return status;
  }
  pks_txn_collect(txn);
  status = pks__txn_commit(txn, NULL, NULL, error);
  if (!status) { collector->totals->commit_count++; }
  return status;
}

/// Stages a round's plan. The plan is part of the transaction's folder, and is freed before the transaction ends.
static pks_status stage_round(
  collector *collector, pks_txn *txn, uint64_t *copied, uint32_t *emptied, pks_error *error
) {
  const pks_collect_request *request = collector->request;
  pks_collect_totals *totals = collector->totals;
  pks__evacuation_limits limits = {
    .copy_bytes = round_limit(collector),
    .cache_bytes = pks__cache_room(collector->store, &txn->base->generation),
    .any_place = request->dry_run,
  };
  pks__evacuation_plan plan;
  pks_status status = pks__evacuation_plan_make(&plan, txn->base, &limits, &txn->staging.scratch, error);
  *emptied = status ? 0 : pks__segment_set_count(&plan.victims);
  if (request->dry_run && !status) {
    totals->emptied_count = *emptied;
    totals->copied_bytes = plan.copy_bytes;
    totals->freed_bytes = plan.free_bytes;
  } else if (*emptied > 0) {
    status = pks__evacuate(txn, &plan, request->progress, request->context, copied, error);
  }
  pks__evacuation_plan_free(&plan);
  return status;
}

/// Empties as much as a round allows. `is_done` if nothing remains.
static pks_status empty_some(collector *collector, pks_error *error) {
  pks_txn *txn;
  uint64_t copied = 0;
  uint32_t emptied = 0;
  pks_status status = begin(collector, &txn, error);
  if (status) { return status; }
  status = stage_round(collector, txn, &copied, &emptied, error);
  collector->is_done = emptied == 0 || collector->request->dry_run;
  if (status || collector->is_done) {
    pks_txn_abort(txn);
    return status;
  }
  status = pks__txn_commit(txn, NULL, NULL, error);
  if (status) { return status; }
  collector->totals->copied_bytes += copied;
  collector->totals->emptied_count += emptied;
  collector->totals->commit_count++;
  return PKS_OK;
}

/// Runs one round, despite other writers and concurrent purges: it is planned again without purged data.
static pks_status empty_round(collector *collector, pks_error *error) {
  pks_status status = PKS_CONFLICT;
  for (int tries = 0; (status == PKS_CONFLICT || status == PKS_PURGED) && tries < TRIES; tries++) {
    status = empty_some(collector, error);
  }
  return status;
}

pks_status pks_store_collect(
  pks_store *store, const pks_collect_request *request, pks_collect_totals *totals, pks_error *error
) {
  static const pks_collect_request all;
  pks_collect_totals discarded;
  collector collector = {.store = store, .request = request ? request : &all, .totals = totals ? totals : &discarded};
  *collector.totals = (pks_collect_totals){0};
  pks_status status = pks__store_check_process(store, error);
  if (status) { return status; }
  collector.begun_ns = (uint64_t)pks__vfs_now_ns(store->vfs);
  uint64_t before = 0, after = 0;
  status = measure_files(store, &before, error);
  if (!status && !collector.request->dry_run) { status = collect_files(&collector, error); }
  while (!status && !collector.is_done && has_time(&collector)) { status = empty_round(&collector, error); }
  if (collector.request->dry_run || measure_files(store, &after, NULL)) { return status; }
  collector.totals->freed_bytes = before > after ? before - after : 0;
  return status;
}
