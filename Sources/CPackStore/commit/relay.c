#include "commit/relay.h"

#include "store/chunk_lookup.h"
#include "store/snapshot.h"

pks__version_request pks__relay_request(
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

pks_status pks__txn_relay(
  pks_txn *txn, const char *pack, const pks__version *version, bool is_current, const pks__segment_set *avoided,
  bool keeps_missing, pks_add_result *result, pks_error *error
) {
  pks_snapshot *snapshot = pks__txn_snapshot(txn);
  pks__own_chunks own;
  pks__own_chunks_init(&own, snapshot, &txn->staging.scratch);
  pks__version_request request = pks__relay_request(snapshot, pack, version, is_current, avoided);
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
