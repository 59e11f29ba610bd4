/// Going back to a kept version.
///
/// The version's catalog is ingested again: all of its chunks exist, so it writes only a layout and a run, and the data in the
/// cache folder of a pack that was purgeable is stored again among the store's files. Purged data is missing. The run has records
/// for the differences between the previous current version and the new one. A new layout is needed because unchanged records may
/// refer to other copies of chunks than the old layout.
#include <stdio.h>

#include "commit/transaction.h"
#include "ingest/ingest_version.h"
#include "store/chunk_lookup.h"

/// The pack's state, current or removed, and the version meant.
static pks_status find_target(
  const pks__generation *generation, const char *name, uint64_t number, bool *removed, const pks__version **out,
  pks_error *error
) {
  bool is_live;
  const pks__pack_state *pack = pks__generation_find_state(generation, name, &is_live);
  if (!pack) {
    return pks__fail_about(error, PKS_NOT_FOUND, PKS_DETAIL_NO_PACK, PKS_SUBJECT_PACK, name, "not in the store");
  }
  *removed = !is_live;
  uint32_t index = number == 0 ? !*removed : pks__pack_find_version(pack, number);
  if (index >= pack->version_count) {
    const char *text = number == 0 ? "no earlier version is kept" : "this version is not kept";
    return pks__fail_about(
      error, PKS_NOT_FOUND, number == 0 ? PKS_DETAIL_NO_EARLIER_VERSION : PKS_DETAIL_NO_VERSION, PKS_SUBJECT_PACK, name,
      text
    );
  }
  *out = &pack->versions[index];
  return PKS_OK;
}

static pks_status stage_version(
  pks_txn *txn, const char *pack, const pks__version *target, bool may_lack, pks_error *error
) {
  pks_snapshot *snapshot = pks__txn_snapshot(txn);
  const pks__pack_state *state = pks__generation_find_state(&snapshot->generation, pack, NULL);
  pks__own_chunks own;
  pks__own_chunks_init(&own, snapshot, &txn->staging.scratch);
  pks__version_request request = {
    .pack = pack,
    .catalog = target->catalog,
    .layout = target->layout,
    .attributes = target->attributes,
    .pages = pks__snapshot_pages(snapshot),
    .fetch = pks__own_chunks_fetch(&own),
    // A durable pack has its data stored again, and so all of it must be there.
    .keeps_missing = may_lack && state && state->purgeable,
  };
  pks__staged_op change = {.kind = PKS__CHANGE_ROLLBACK, .version = *target};
  pks__ingest ingest;
  pks_add_result result;
  bool sync = txn->options.durability == PKS_DURABLE;
  pks_status status = pks__ingest_version(&ingest, &txn->staging, snapshot, &request, sync, error);
  if (!status) { status = pks__txn_stage_version(txn, &ingest, &change, &result, error); }
  pks__ingest_close(&ingest);
  pks__own_chunks_free(&own);
  return status;
}

pks_status pks_txn_rollback(
  pks_txn *txn, const char *pack, uint64_t version, bool may_lack, pks_pack_version *now, pks_error *error
) {
  const pks__generation *generation = &pks__txn_snapshot(txn)->generation;
  const pks__version *target;
  bool removed;
  pks_status status = pks__store_check_process(txn->store, error);
  if (!status) { status = find_target(generation, pack, version, &removed, &target, error); }
  if (status) { return status; }
  pks_pack_version public = pks__version_public(target);
  if (target == pks__generation_current(generation, pack)) {
    pks__staged_op change = {.kind = PKS__CHANGE_HOLD};
    (void)snprintf(change.pack, sizeof change.pack, "%s", pack);
    status = pks__txn_stage(txn, &change, error);
  } else {
    status = stage_version(txn, pack, target, may_lack, error);
  }
  if (!status && now) { *now = public; }
  return status;
}
