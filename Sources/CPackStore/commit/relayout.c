#include "commit/relayout.h"

#include <string.h>

#include "packstore_admin.h"
#include "store/chunk_lookup.h"
#include "store/snapshot.h"

pks__version_request pks__relayout_request(
  pks_snapshot *snapshot, const char *pack, const pks__version *version, bool is_current,
  const pks__segment_set *avoided
) {
  return (pks__version_request){
    .pack = pack,
    .catalog = version->catalog,
    .layout = version->layout,
    .needs_layout = true,
    .attributes = version->attributes,
    .pages = pks__snapshot_pages(snapshot),
    .avoided = avoided,
    .is_kept = !is_current,
  };
}

pks_status pks__txn_relayout(
  pks_txn *txn, const char *pack, const pks__version *version, bool is_current, const pks__segment_set *avoided,
  bool keeps_missing, pks_add_result *result, pks_error *error
) {
  pks_snapshot *snapshot = pks__txn_snapshot(txn);
  pks__own_chunks own;
  pks__own_chunks_init(&own, snapshot, &txn->staging.scratch);
  pks__version_request request = pks__relayout_request(snapshot, pack, version, is_current, avoided);
  request.fetch = pks__own_chunks_fetch(&own);
  request.relays = true;
  request.keeps_missing = keeps_missing;
  pks__staged_op change = {.kind = PKS__CHANGE_LAYOUT, .version = *version};
  bool sync = txn->options.durability == PKS_DURABLE;
  pks__ingest ingest;
  pks_status status = pks__ingest_version(&ingest, &txn->staging, snapshot, &request, sync, error);
  bool is_idle = !status && is_current && pks__ingest_is_idle(&ingest);
  if (is_idle) { *result = ingest.result; }
  if (!status && !is_idle) { status = pks__txn_stage_version(txn, &ingest, &change, result, error); }
  pks__ingest_close(&ingest);
  pks__own_chunks_free(&own);
  result->unchanged = is_idle;
  result->version = pks__version_public(version);
  return status;
}

/// Lays a version out again if anything of it is missing.
static pks_status heal_version(pks_txn *txn, uint32_t pack, uint32_t version, uint32_t *count, pks_error *error) {
  pks_snapshot *snapshot = pks__txn_snapshot(txn);
  const pks__pack_state *state = pks__generation_any_pack(&snapshot->generation, pack);
  pks_availability availability;
  pks_status status = pks_snapshot_availability(&availability, snapshot, pack, version, error);
  if (status || (availability.missing_bytes == 0 && !availability.lacks_pages)) { return status; }
  pks_add_result result;
  pks__version at = state->versions[version];
  char name[PKS__PACK_NAME_MAX + 1];  // the state is another one once something is staged
  memcpy(name, state->name, sizeof name);
  bool is_current = version == 0 && pack < snapshot->generation.pack_count;
  status = pks__txn_relayout(txn, name, &at, is_current, NULL, true, &result, error);
  *count += !status && !result.unchanged;
  return status;
}

pks_status pks__txn_heal_versions(pks_txn *txn, uint32_t pack, uint32_t first, uint32_t *count, pks_error *error) {
  uint32_t versions = pks__generation_any_pack(&pks__txn_snapshot(txn)->generation, pack)->version_count;
  for (uint32_t version = first; version < versions; version++) {
    pks_error found;
    pks_status status = heal_version(txn, pack, version, count, &found);
    // Damage that hides a version is for a repair.
    if (!status || status == PKS_CORRUPT || status == PKS_PURGED) { continue; }
    if (error) { *error = found; }
    return status;
  }
  return PKS_OK;
}
