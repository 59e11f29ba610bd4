/// Adopts the packs of the base (`store/base_store.h`).
///
/// If both stores have a pack of one origin, the higher version wins. No data of a pack is copied: layouts refer to the base's
/// segments. Versions that used data of another base, and that this base lacks in the same place, are laid out again with its
/// chunks, found by content; data that it lacks entirely stays PURGED.
#include <string.h>

#include "commit/relayout.h"
#include "packstore_admin.h"
#include "packstore_write.h"
#include "store/base_store.h"
#include "store/current.h"
#include "store/snapshot.h"

enum { TRIES = 5 };  // against other writers

/// Whether the pack's current version of the base is to become current: it is higher than any that the pack had here.
static bool is_wanted(const pks__generation *here, const pks__pack_state *pack) {
  const pks__pack_state *known = pks__generation_find_state(here, pack->name, NULL);
  return !known || (!known->held && known->highest_version < pack->versions[0].number);
}

/// Whether an error prevents adopting one pack, but not the others. The base's own may be damaged, or lack data.
static bool is_refusal(pks_status status) {
  return status == PKS_CORRUPT || status == PKS_PURGED || status == PKS_OTHER_ORIGIN || status == PKS_DOWNGRADE
    || status == PKS_STALE || status == PKS_HELD || status == PKS_EXISTS;
}

static pks_status take_packs(pks_txn *txn, pks_base_result *out, pks_error *error) {
  const pks_snapshot *base = txn->store->base_snapshot;
  for (uint32_t i = 0; i < base->generation.pack_count; i++) {
    const pks__pack_state *pack = &base->generation.packs[i];
    const pks__generation *here = &pks__txn_snapshot(txn)->generation;
    if (!is_wanted(here, pack)) { continue; }
    pks_copy_request request = {
      .pack = pack->name,
      .source = base,
      // The user may have chosen another since.
      .set_priority = !pks__generation_find_state(here, pack->name, NULL),
      .priority = pack->priority,
      .placement = PKS_PLACE_KEEP};
    pks_error found;
    pks_status status = pks_txn_copy_version(NULL, txn, &request, &found);
    out->taken_count += !status;
    out->refused_count += is_refusal(status);
    if (!status || is_refusal(status)) { continue; }
    if (error) { *error = found; }
    return status;
  }
  return PKS_OK;
}

static pks_status heal_versions(pks_txn *txn, pks_base_result *out, pks_error *error) {
  const pks__generation *generation = &pks__txn_snapshot(txn)->generation;
  uint32_t packs = generation->pack_count + generation->removed_count;
  pks_status status = PKS_OK;
  for (uint32_t pack = 0; !status && pack < packs; pack++) {
    status = pks__txn_heal_versions(txn, pack, 0, &out->relaid_count, error);
  }
  return status;
}

static bool is_settled(const pks__base_name *before, const pks__base_name *now) {
  return before->is_set && before->generation == now->generation
    && memcmp(before->store_id, now->store_id, sizeof now->store_id) == 0;
}

static pks_status adopt(pks_store *store, pks_base_result *out, pks_error *error) {
  pks__staged_op change = {.kind = PKS__CHANGE_BASE, .base = pks__base_store_name(store)};
  pks_txn *txn;
  *out = (pks_base_result){0};
  pks_status status = pks_txn_begin(&txn, store, NULL, error);
  if (status) { return status; }
  if (is_settled(&txn->base->generation.base, &change.base)) {
    pks_txn_abort(txn);
    return PKS_OK;
  }
  // First, because the rest depends on the base.
  status = pks__txn_stage(txn, &change, error);
  if (!status) { status = take_packs(txn, out, error); }
  if (!status) { status = heal_versions(txn, out, error); }
  if (!status) { return pks_txn_commit(txn, NULL, error); }
  pks_txn_abort(txn);
  return status;
}

pks_status pks_store_adopt_base(pks_base_result *out, pks_store *store, pks_error *error) {
  pks_base_result discarded;
  if (!out) { out = &discarded; }
  *out = (pks_base_result){0};
  pks_status status = pks__store_check_process(store, error);
  if (status || !store->base) { return status; }
  // This process's view may be outdated, but then another one has adopted the base.
  pks__base_name now = pks__base_store_name(store);
  pks_snapshot *current;
  status = pks__snapshot_open_current(&current, store, error);
  if (status) { return status; }
  bool is_done = is_settled(&current->generation.base, &now);
  pks__snapshot_release(current);
  // A user who may not write sees the packs as they were taken over last.
  if (is_done || !store->may_write) { return PKS_OK; }
  status = PKS_CONFLICT;
  for (int tries = 0; status == PKS_CONFLICT && tries < TRIES; tries++) { status = adopt(store, out, error); }
  return status;
}
