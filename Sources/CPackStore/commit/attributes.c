/// Other attributes for a pack: the next version, with the content of the current one.
///
/// The catalog is ingested again, as for a rollback: all of its chunks are there, so nothing but a layout comes of it.
#include "commit/transaction.h"
#include "ingest/ingest_version.h"
#include "store/chunk_lookup.h"

static pks_status stage_next(
  pks_txn *txn, pks__ingest *ingest, const pks_provenance *by, bool adopts, pks_add_result *result, pks_error *error
) {
  if (ingest->result.unchanged) { return pks__txn_stage_unchanged(txn, ingest, by, result, error); }
  return pks__txn_stage_next(txn, ingest, by, adopts, result, error);
}

static pks_status ingest_again(
  pks__ingest *ingest, pks_txn *txn, const pks_add_request *request, const pks__version *current, pks_error *error
) {
  pks_snapshot *snapshot = pks__txn_snapshot(txn);
  pks__version_request version = {
    .pack = request->pack,
    .encoding = request,
    .catalog = current->catalog,
    .layout = current->layout,
    .needs_layout = true,
    .pages = pks__snapshot_pages(snapshot),
  };
  bool sync = txn->options.durability == PKS_DURABLE;
  pks_status status =
    pks__ingest_version_open(ingest, &txn->staging, snapshot, &version, txn->store->thread_count, sync, error);
  if (!status) {
    status = pks__ingest_set_attributes(ingest, request->attributes, request->attribute_byte_count, error);
  }
  return status ? status : pks__ingest_version_walk(ingest, &version, error);
}

pks_status pks_txn_set_attributes(
  pks_add_result *result, pks_txn *txn, const char *pack, uint64_t version, bool adopt, const void *attributes,
  size_t attribute_byte_count, pks_error *error
) {
  pks_add_request request = {
    .pack = pack,
    .version = version,
    .attributes = attributes,
    .attribute_byte_count = attribute_byte_count,
  };
  pks_provenance by = {.adopt = adopt};
  pks_add_result discarded;
  bool adopts = false;
  pks_status status = pks__store_check_process(txn->store, error);
  if (!status) { status = pks__txn_check_encoding(&request, error); }
  if (!status) { status = pks__txn_check_provenance(txn, &by, pack, 0, &adopts, error); }
  if (!status) { status = pks__txn_check_number(txn, &request, adopts, error); }
  if (status) { return status; }
  const pks__version *current = pks__generation_current(&pks__txn_snapshot(txn)->generation, pack);
  if (!current) { return pks__fail(error, PKS_NOT_FOUND, "no such pack", pack, PKS_NO_OFFSET); }
  pks__ingest ingest;
  status = ingest_again(&ingest, txn, &request, current, error);
  if (!status) { status = stage_next(txn, &ingest, &by, adopts, result ? result : &discarded, error); }
  pks__ingest_close(&ingest);
  return status;
}
