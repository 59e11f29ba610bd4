/// The steps of a repair, in the order of `repair_state.h`.
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "commit/commit.h"
#include "platform/vfs_posix.h"
#include "repair/repair_plan.h"
#include "repair/repair_state.h"
#include "repair/repair_versions.h"
#include "store/cache_folder.h"
#include "store/current.h"
#include "store/snapshot.h"
#include "store/store.h"
#include "store/store_files.h"

// MARK: - Is it damaged?

static bool show_check(void *context, uint64_t done, uint64_t total) {
  const pks__repair *repair = context;
  const pks_repair_request *request = repair->request;
  return !request->progress || request->progress(request->context, PKS_REPAIR_CHECK, done, total);
}

static bool show_survey(void *context, uint64_t done, uint64_t total) {
  const pks__repair *repair = context;
  const pks_repair_request *request = repair->request;
  return !request->progress || request->progress(request->context, PKS_REPAIR_SURVEY, done, total);
}

/// Frames missing from the cache folder are not damage: they are fetched again, and the store can detect them. A file that is
/// missing as a whole has no offset.
static bool is_purged(const pks_fault *fault) { return fault->status == PKS_PURGED && fault->offset != PKS_NO_OFFSET; }

static void pass_fault(void *context, const pks_fault *fault) {
  pks__repair *repair = context;
  if (is_purged(fault)) {
    // A fault that damages several assets is reported for each.
    repair->purged_count += fault->number > repair->purged_last;
    if (fault->number > repair->purged_last) { repair->purged_last = fault->number; }
    return;
  }
  if (repair->request->fault) { repair->request->fault(repair->request->context, fault); }
}

/// Whether an error of opening or verifying means that the store is damaged, rather than that it cannot be repaired.
static bool is_damage(const pks_error *found) {
  return pks__error_is_damage(found) && !pks__is_other_format(found->status);
}

/// Verifies the store as any reader would see it.
static pks_status check_store(pks__repair *repair, const char *path, pks_error *error) {
  pks_options options = repair->options;
  options.read_only = true;
  pks_store *store = NULL;
  pks_snapshot *snapshot = NULL;
  pks_verify_totals totals = {0};
  pks_error found;
  pks_status status = pks_store_open(&store, path, &options, &found);
  if (!status) { status = pks_snapshot_open(&snapshot, store, &found); }
  if (!status) { status = pks_snapshot_verify(snapshot, true, pass_fault, show_check, repair, &totals, &found); }
  pks_snapshot_close(snapshot);
  pks_store_close(store);
  totals.fault_count -= repair->purged_count;
  repair->totals.was_whole = !status && totals.fault_count == 0;
  repair->totals.fault_count = totals.fault_count;
  repair->totals.mended_copy_count = totals.damaged_copy_count;
  repair->is_control_alone = !status && totals.fault_count > 0 && totals.fault_count == totals.damaged_copy_count;
  if (!status || is_damage(&found)) { return PKS_OK; }
  if (error) { *error = found; }
  return status;
}

// MARK: - The control file alone

/// Replaces a lost slot that hides no commit with a remaining trace by the intact slot, which must be durable for that.
static pks_status settle_lost_slot(pks__repair *repair, bool *settled, pks_error *error) {
  pks__control *control = &repair->control;
  bool behind = true;
  *settled = !control->may_hide;
  if (*settled) { return PKS_OK; }
  size_t intact = control->known[0] ? 0 : 1;
  const pks__control_slot *slot = &control->slots[intact];
  pks_status status = pks__repair_is_behind(repair, slot->generation, &behind, error);
  *settled = !status && slot->durable && !behind;
  if (!*settled) { return status; }
  control->slots[1 - intact] = *slot;
  control->known[1 - intact] = true;
  control->may_hide = false;
  return PKS_OK;
}

/// Rewrites the damaged copies of control slots, if nothing else is damaged and both slots are known; `*done` is set then.
static pks_status mend_control(pks__repair *repair, bool *done, pks_error *error) {
  pks_store *store = repair->store;
  *done = false;
  if (!repair->is_control_alone) { return PKS_OK; }
  pks_status status = settle_lost_slot(repair, done, error);
  if (status || !*done || repair->request->dry_run) { return status; }
  return pks__control_mend(store->vfs, store->control, &repair->control, true, error);
}

// MARK: - Opening

static pks_status open_stores(pks__repair *repair, const char *path, pks_error *error) {
  pks_options options = repair->options;
  options.read_only = false;
  pks_status status = pks__store_open_parts(&repair->store, path, &options, error);
  if (!status && !repair->store->may_write) {
    status = pks__fail_about(
      error, PKS_READ_ONLY, PKS_DETAIL_NOT_WRITABLE, PKS_SUBJECT_STORE, path, "its directory cannot be written"
    );
    if (error) { error->system_error = repair->store->write_failure; }
  }
  options.read_only = true;
  return status ? status : pks__store_open_parts(&repair->old, path, &options, error);
}

/// Opens the stores that may have missing data: the base, and the caller's donors.
static pks_status open_donors(pks__repair *repair, pks_error *error) {
  const pks_repair_request *request = repair->request;
  const char *base = repair->options.base;
  pks_options options = repair->options;
  options.read_only = true;
  options.base = NULL;
  repair->donors = pks__allocate_zeroed((size_t)request->donor_count + 1, sizeof *repair->donors);
  if (!repair->donors) { return pks__fail_memory(error); }
  pks_status status = PKS_OK;
  for (uint32_t i = 0; !status && i < request->donor_count + (base != NULL); i++) {
    pks__donor *donor = &repair->donors[i];
    donor->path = i < request->donor_count ? request->donors[i] : base;
    status = pks_store_open(&donor->store, donor->path, &options, error);
    if (status) { break; }
    repair->donor_count = i + 1;
    status = pks__snapshot_open_current(&donor->snapshot, donor->store, error);
  }
  return status;
}

/// Makes the transaction in which everything is staged; it has no base yet.
static pks_status open_transaction(pks__repair *repair, pks_error *error) {
  pks_txn *txn = pks__allocate_zeroed(1, sizeof *txn);
  if (!txn) { return pks__fail_memory(error); }
  txn->store = repair->store;
  txn->options = (pks_txn_options){.durability = PKS_DURABLE, .keep_versions = PKS__VERSIONS_MAX};
  repair->txn = txn;
  pks_status status = pks__staging_open(&txn->staging, repair->store, error);
  if (status) { return status; }
  pks__scratch_init(&txn->changes, &txn->staging.scratch);
  pks__scratch_init(&txn->segments, &txn->staging.scratch);
  return PKS_OK;
}

/// A snapshot of the segments that are whole, and of no pack.
static pks_status open_base(pks__repair *repair, pks_error *error) {
  pks__staging *staging = &repair->txn->staging;
  const pks_vfs *vfs = repair->store->vfs;
  // Only in a copy of a site does data stored elsewhere count as stored there.
  bool is_copy = repair->request->versions != NULL;
  pks__generation generation = {.next_pack_number = repair->plan.next_pack_number, .is_site = is_copy};
  pks__run_name name = {0};
  char path[PKS__INDEX_NAME];
  if (generation.next_pack_number == 0) { generation.next_pack_number = 1; }
  int failure = pks__vfs_random(vfs, &name.name, sizeof name.name);
  // All runs are written again, so paths that were chosen for the old key are of no use any more.
  if (!failure) { failure = pks__vfs_random(vfs, generation.path_key, sizeof generation.path_key); }
  if (failure) { return pks__fail_system(error, failure, "cannot generate random numbers", NULL); }
  pks__run_path(name.name, path);
  pks_status status =
    pks__segment_scan_write_run(&repair->survey, &staging->scratch, strrchr(path, '/') + 1, &name, error);
  if (!status) { status = pks__generation_add_run(&generation, &name, NULL, 0, error); }
  if (status) {
    pks__generation_free(&generation);
    return status;
  }
  return pks__snapshot_create(&repair->txn->base, repair->store, &generation, staging->folder, error);
}

static void note_healed(void *context, const char *path, size_t length, const char *origin, bool damaged) {
  pks__repair *repair = context;
  bool same_path =
    repair->healed_origin && repair->healed_length == length && memcmp(repair->healed_path, path, length) == 0;
  if (same_path && repair->healed_origin == origin && repair->healed_damaged == damaged) { return; }
  if (!same_path) { repair->healed_counted = false; }
  repair->totals.healed_asset_count += damaged && !repair->healed_counted;
  repair->healed_counted = repair->healed_counted || damaged;
  repair->healed_damaged = damaged;
  repair->healed_origin = origin;
  repair->healed_length = length;
  memcpy(repair->healed_path, path, length);
  pks_repair_note note = {
    .moved = !damaged,
    .pack = repair->pack,
    .version = repair->version,
    .asset = path,
    .asset_length = length,
    .origin = origin,
  };
  if (repair->request->note) { repair->request->note(repair->request->context, &note); }
}

static pks_status open_salvage(pks__repair *repair, pks_error *error) {
  repair->healed_path = pks__allocate(PKS__PATH_MAX + 1);
  if (!repair->healed_path) { return pks__fail_memory(error); }
  repair->salvage = (pks__chunk_recovery){
    .sha256 = repair->old->sha256,
    .base = repair->txn->base,
    .survey = &repair->survey,
    .index = repair->index,
    .donors = repair->donors,
    .donor_count = repair->donor_count,
    .rank = PKS_ANY_PACK,
    .healed = note_healed,
    .context = repair,
  };
  return PKS_OK;
}

// MARK: - The new generation

/// Sets the properties of a pack other than its versions from the plan.
static void complete_pack(const pks__pack_state *planned, pks__pack_state *pack) {
  pack->priority = planned->priority;
  pack->purgeable = planned->purgeable;
  pack->placed_by_hand = planned->placed_by_hand;
  pack->origin = planned->origin;
  pack->held = planned->held;
  if (planned->highest_version > pack->highest_version) { pack->highest_version = planned->highest_version; }
  for (uint32_t i = 0; i < pack->version_count; i++) {
    uint32_t version = pks__pack_find_version(planned, pack->versions[i].number);
    pack->versions[i].pinned = version != UINT32_MAX && planned->versions[version].pinned;
  }
}

/// Whether the pack has a current version: its own, or the rest of it.
static bool shows_current(const pks__pack_state *planned, const pks__pack_state *pack) {
  uint64_t number = pack->versions[0].number;
  return number == planned->versions[0].number || number > planned->highest_version;
}

/// Builds the generation of the staged versions. Packs with only a history are kept as removed ones.
static pks_status make_generation(pks__repair *repair, pks__generation *out, pks_error *error) {
  const pks__generation *plan = &repair->plan;
  pks_status status = pks__generation_copy(&pks__txn_snapshot(repair->txn)->generation, out, error);
  if (status) { return status; }
  pks__origins_free(&out->origins);
  status = pks__origins_copy(&plan->origins, &out->origins, error);
  out->is_site = plan->is_site || repair->request->publication;
  for (uint32_t i = 0; !status && i < plan->pack_count + plan->removed_count; i++) {
    const pks__pack_state *planned = pks__generation_any_pack(plan, i);
    uint32_t index = pks__generation_find_pack(out, planned->name);
    if (index == UINT32_MAX) { continue; }
    complete_pack(planned, &out->packs[index]);
    bool shows = i < plan->pack_count && shows_current(planned, &out->packs[index]);
    if (!shows) { status = pks__generation_remove_pack(out, index, true, error); }
  }
  pks__generation_sort(out);
  out->has_shadows = out->has_shadows || plan->has_shadows;
  out->base = plan->base;
  if (!status && plan->cache_folder) {
    status = pks__generation_set_cache(out, plan->cache_folder, plan->cache_budget, error);
  }
  if (!status) { status = pks__repair_number(repair, &out->number, error); }
  if (status) { pks__generation_free(out); }
  return status;
}

static pks_status commit(pks__repair *repair, pks_error *error) {
  pks__replacement with = {.slot = repair->slot, .control = repair->has_control ? &repair->control : NULL};
  pks_status status = make_generation(repair, &with.generation, error);
  uint64_t number = status ? 0 : with.generation.number;
  bool writes = !status && !repair->request->dry_run;
  pks_store *store = repair->store;
  if (writes && repair->has_control && pks__control_needs_mending(&repair->control)) {
    status = pks__control_mend(store->vfs, store->control, &repair->control, false, error);
  }
  if (writes && !status) {
    status = pks__txn_replace(repair->txn, &with, error);
    repair->totals.generation = number;
  }
  pks__generation_free(&with.generation);
  return status;
}

/// A site is repaired by its publisher. If no generation shows whether this is a site, its first folder does.
static pks_status check_may_repair(pks__repair *repair, pks_error *error) {
  const pks_vfs *vfs = repair->old->vfs;
  const pks_repair_request *request = repair->request;
  pks_vfs_info info;
  if (repair->plan.number == 0 && !pks__vfs_info(vfs, repair->old->root, PKS__SITE_FOLDER, false, &info)) {
    repair->plan.is_site = info.kind == PKS_VFS_KIND_FOLDER;
  }
  return request->dry_run ? PKS_OK : pks__generation_check_change(&repair->plan, request->publication, error);
}

// MARK: - All of it

/// Lets both stores find the files of purgeable packs, whose folder is named by the store's id.
static void find_cache(pks__repair *repair) {
  pks_store *stores[] = {repair->old, repair->store};
  for (size_t i = 0; i < PKS_COUNT_OF(stores); i++) {
    memcpy(stores[i]->store_id, repair->slot.store_id, sizeof stores[i]->store_id);
    pks__mutex_lock(stores[i]->mutex);
    pks__cache_folder_note(stores[i], repair->plan.cache_folder);
    pks__mutex_unlock(stores[i]->mutex);
  }
}

static pks_status restore(pks__repair *repair, pks_error *error) {
  pks__segment_scan *survey = &repair->survey;
  pks_status status = open_donors(repair, error);
  if (!status) { status = open_transaction(repair, error); }
  if (!status) { status = pks__repair_find_plan(repair, error); }
  if (!status) { status = check_may_repair(repair, error); }
  if (!status) {
    find_cache(repair);
    survey->has_tables = repair->request->versions != NULL;
    status = pks__segment_scan_open(survey, repair->old, &repair->txn->staging.scratch, show_survey, repair, error);
  }
  if (status) { return status; }
  repair->totals.segment_count = PKS__SCRATCH_COUNT(&survey->segments, pks__scanned_segment);
  repair->totals.damaged_segment_count = repair->totals.segment_count - survey->whole_count;
  status = open_base(repair, error);
  if (!status) { status = open_salvage(repair, error); }
  if (!status && repair->request->versions) {
    status = pks__repair_take_plan(repair, error);
  } else if (!status && repair->totals.is_rebuilt) {
    status = pks__repair_guess_plan(repair, error);
  }
  if (!status) { pks__repair_find_average(repair); }
  if (!status) { status = pks__repair_versions(repair, error); }
  return status ? status : commit(repair, error);
}

static void close_repair(pks__repair *repair) {
  pks__chunk_recovery_free(&repair->salvage);
  pks__snapshot_release(repair->index);
  pks__segment_scan_close(&repair->survey);
  pks_txn_abort(repair->txn);
  for (uint32_t i = 0; i < repair->donor_count; i++) {
    pks__snapshot_release(repair->donors[i].snapshot);
    pks_store_close(repair->donors[i].store);
  }
  pks__free(repair->donors);
  pks__free(repair->healed_path);
  pks__generation_free(&repair->plan);
  pks_store_close(repair->old);
  pks_store_close(repair->store);
}

pks_status pks_store_repair(
  const char *path, const pks_options *options, const pks_repair_request *request, pks_repair_totals *totals,
  pks_error *error
) {
  static const pks_repair_request plain;
  if (!options || !options->sha256) {
    return pks__fail_about(
      error, PKS_INVALID_ARGUMENT, PKS_DETAIL_NO_HASH, PKS_SUBJECT_STORE, NULL, "a repair needs 'pks_options.sha256'"
    );
  }
  pks__repair repair = {.options = *options, .request = request ? request : &plain};
  pks__vfs_retry_init(&repair.patient, options->vfs ? options->vfs : pks_vfs_posix());
  repair.options.vfs = &repair.patient.vfs;
  repair.options.create = false;
  repair.options.cache = NULL;
  repair.options.low_space = NULL;
  pks_status status = open_stores(&repair, path, error);
  if (!status) { status = pks__store_make_folders(repair.store, error); }
  bool locked = false;
  if (!status) {
    pks__wait wait = repair.store->wait;
    wait.is_refused = repair.request->no_wait;
    status = pks__lock_writer(repair.store->vfs, repair.store->lock, &wait, error);
    locked = !status;
  }
  if (!status) { status = pks__store_open_control(repair.store, error); }
  if (!status) { status = pks__store_open_control(repair.old, error); }
  if (!status) { status = check_store(&repair, path, error); }
  if (!status) { status = pks__repair_read_control(&repair, error); }
  bool done = repair.totals.was_whole;
  if (!status && repair.request->versions && (done || repair.has_control)) {
    status =
      pks__fail_about(error, PKS_EXISTS, PKS_DETAIL_STORE_EXISTS, PKS_SUBJECT_STORE, path, "a store exists already");
  }
  if (!status && !done) { status = mend_control(&repair, &done, error); }
  if (!status && !done) { status = restore(&repair, error); }
  if (!status && totals) { *totals = repair.totals; }
  if (locked) { pks__unlock_writer(repair.store->vfs, repair.store->lock); }
  close_repair(&repair);
  return status;
}
