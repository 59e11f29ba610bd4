#include "commit/placement.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "catalog/catalog.h"
#include "commit/relayout.h"
#include "store/asset_cache.h"
#include "store/chunk_lookup.h"
#include "store/snapshot.h"

// MARK: - The cache folder

pks_status pks_txn_set_cache_folder(pks_txn *txn, const char *folder, uint64_t budget, pks_error *error) {
  pks_status status = pks__store_check_process(txn->store, error);
  if (status) { return status; }
  if (!folder || !pks__cache_folder_is_valid(folder)) {
    const char *text = "the path is relative or has more than 4095 bytes; use an absolute path";
    return pks__fail_about(error, PKS_INVALID_ARGUMENT, PKS_DETAIL_NONE, PKS_SUBJECT_CACHE_FOLDER, folder, text);
  }
  if (txn->cache_folder || txn->staging.cache != PKS_VFS_NO_FILE) {
    const char *text =
      "chosen too late or twice; choose one cache folder, before the transaction stages data of purgeable packs";
    return pks__fail_about(error, PKS_INVALID_ARGUMENT, PKS_DETAIL_NONE, PKS_SUBJECT_CACHE_FOLDER, folder, text);
  }
  txn->cache_folder = pks__copy_text(folder);
  if (!txn->cache_folder) { return pks__fail_memory(error); }
  pks__staged_op change = {.kind = PKS__CHANGE_CACHE, .cache_folder = txn->cache_folder, .cache_budget = budget};
  return pks__txn_stage(txn, &change, error);
}

/// Sees that there is a cache folder.
static pks_status need_cache_folder(pks_txn *txn, pks_error *error) {
  if (pks__txn_snapshot(txn)->generation.cache_folder) { return PKS_OK; }
  uint64_t budget = 0;
  const char *folder = txn->store->cache ? pks__asset_cache_folder(txn->store->cache, &budget) : NULL;
  if (folder && pks__cache_folder_is_valid(folder)) { return pks_txn_set_cache_folder(txn, folder, budget, error); }
  const char *text = "has no cache folder for the data of purgeable packs";
  return pks__fail_about(error, PKS_INVALID_ARGUMENT, PKS_DETAIL_NO_CACHE_FOLDER, PKS_SUBJECT_STORE, NULL, text);
}

pks_status pks__txn_prepare_placement(pks_txn *txn, const char *pack, pks_placement placement, pks_error *error) {
  if (placement != PKS_PLACE_PURGEABLE) { return PKS_OK; }
  const pks__pack_state *state = pks__generation_find_state(&pks__txn_snapshot(txn)->generation, pack, NULL);
  return state && state->placed_by_hand ? PKS_OK : need_cache_folder(txn, error);
}

// MARK: - What must not stay where it is

/// Adds the segments in the layouts of all kept versions of a pack, except those in `except` (may be NULL).
static pks_status add_segments(
  pks__segment_set *set, pks_snapshot *snapshot, const pks__pack_state *pack, const pks__segment_set *except,
  pks_error *error
) {
  pks_status status = PKS_OK;
  for (uint32_t i = 0; !status && i < pack->version_count; i++) {
    pks__layout_root root;
    pks__scratch segments = {0};
    status = pks__layout_read_root(pks__snapshot_pages(snapshot), &pack->versions[i].layout, &root, &segments, error);
    for (uint64_t at = 0; !status && at < PKS__SCRATCH_COUNT(&segments, pks__segment_id); at++) {
      const pks__segment_id *id = PKS__SCRATCH_AT(&segments, const pks__segment_id, at);
      if (!except || !pks__segment_set_has(except, id)) { status = pks__segment_set_add(set, id, error); }
    }
    pks__scratch_free(&segments);
  }
  return status;
}

/// Finds the segments that no other pack needs: the pack's data in them moves with it.
static pks_status find_avoided(
  pks__segment_set *avoided, pks_snapshot *snapshot, const char *name, pks__scratch_folder *home, pks_error *error
) {
  const pks__generation *generation = &snapshot->generation;
  const pks__pack_state *pack = pks__generation_find_state(generation, name, NULL);
  pks__segment_set others;
  pks__segment_set_init(&others, home);
  pks_status status = PKS_OK;
  for (uint32_t i = 0; !status && i < generation->pack_count + generation->removed_count; i++) {
    const pks__pack_state *other = pks__generation_any_pack(generation, i);
    if (other != pack) { status = add_segments(&others, snapshot, other, NULL, error); }
  }
  if (!status) { status = add_segments(avoided, snapshot, pack, &others, error); }
  pks__segment_set_free(&others);
  return status;
}

// MARK: - Laying versions out again

/// Lays out all kept versions, the current one first: shared data moves with it.
static pks_status relayout_versions(
  pks_txn *txn, const char *name, const pks__segment_set *avoided, pks_add_result *result, pks_error *error
) {
  bool is_live;
  const pks__pack_state *pack = pks__generation_find_state(&pks__txn_snapshot(txn)->generation, name, &is_live);
  uint32_t count = pack->version_count;
  pks_status status = PKS_OK;
  for (uint32_t i = 0; !status && i < count; i++) {
    // The snapshot is another one after each.
    pks__version version = pks__generation_find_state(&pks__txn_snapshot(txn)->generation, name, NULL)->versions[i];
    bool is_current = is_live && i == 0;
    pks_add_result other = {0};
    status = pks__txn_relayout(txn, name, &version, is_current, avoided, false, i == 0 ? result : &other, error);
    result->new_stored_bytes += other.new_stored_bytes;
    if (!is_current && status == PKS_PURGED) { status = PKS_OK; }
  }
  return status;
}

// MARK: - Placing

static pks_status stage_placement(
  pks_txn *txn, const char *pack, bool purgeable, bool by_hand, pks_add_result *result, pks_error *error
) {
  pks__segment_set avoided;
  pks__segment_set_init(&avoided, &txn->staging.scratch);
  pks__staged_op change = {.kind = PKS__CHANGE_PLACE, .purgeable = purgeable, .by_hand = by_hand};
  pks_status status = PKS_OK;
  if (purgeable) { status = find_avoided(&avoided, pks__txn_snapshot(txn), pack, &txn->staging.scratch, error); }
  if (!status) { status = pks__txn_stage_named(txn, &change, pack, error); }
  if (!status) { status = relayout_versions(txn, pack, purgeable ? &avoided : NULL, result, error); }
  pks__segment_set_free(&avoided);
  return status;
}

pks_status pks_txn_set_placement(
  pks_add_result *result, pks_txn *txn, const char *pack, pks_placement placement, bool by_hand, pks_error *error
) {
  pks_add_result discarded = {0};
  pks_status status = pks__store_check_process(txn->store, error);
  if (status) { return status; }
  if (!result) { result = &discarded; }
  *result = (pks_add_result){.unchanged = true};
  if (placement != PKS_PLACE_DURABLE && placement != PKS_PLACE_PURGEABLE) {
    return pks__fail_about(
      error, PKS_INVALID_ARGUMENT, PKS_DETAIL_NONE, PKS_SUBJECT_PACK, pack,
      "invalid placement; use durable or purgeable"
    );
  }
  const pks__pack_state *state = pks__generation_find_state(&pks__txn_snapshot(txn)->generation, pack, NULL);
  if (!state) {
    return pks__fail_about(error, PKS_NOT_FOUND, PKS_DETAIL_NO_PACK, PKS_SUBJECT_PACK, pack, "not in the store");
  }
  bool purgeable = placement == PKS_PLACE_PURGEABLE;
  result->version = pks__version_public(&state->versions[0]);
  bool is_settled = state->purgeable == purgeable && (state->placed_by_hand || !by_hand);
  if (is_settled || (state->placed_by_hand && !by_hand)) { return PKS_OK; }
  if (state->purgeable == purgeable) {
    pks__staged_op change = {.kind = PKS__CHANGE_PLACE, .purgeable = purgeable, .by_hand = true};
    return pks__txn_stage_named(txn, &change, pack, error);
  }
  if (purgeable) { status = need_cache_folder(txn, error); }
  if (status) { return status; }
  // All or nothing.
  uint64_t staged = txn->changes.length;
  pks_snapshot *before = txn->snapshot ? pks__snapshot_retain(txn->snapshot) : NULL;
  status = stage_placement(txn, pack, purgeable, by_hand, result, error);
  if (status) {
    pks_snapshot *failed = txn->snapshot;
    txn->changes.length = staged;
    txn->snapshot = before;
    before = failed;
  }
  pks__snapshot_release(before);
  return status;
}

pks_status pks__txn_follow_placement(pks_txn *txn, const char *pack, pks_placement placement, pks_error *error) {
  if (placement == PKS_PLACE_KEEP) { return PKS_OK; }
  pks_error found;
  pks_status status = pks_txn_set_placement(NULL, txn, pack, placement, false, &found);
  if (status == PKS_PURGED) { return PKS_OK; }
  if (status && error) { *error = found; }
  return status;
}
