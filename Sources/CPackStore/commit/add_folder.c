/// Adds a folder, or selected entries of it, as a version of a pack.
#include "commit/placement.h"
#include "commit/transaction.h"
#include "ingest/ingest_folder.h"

static pks_status check_request(const pks_add_request *request, pks_error *error) {
  pks_status status = pks__txn_check_encoding(request, error);
  if (!status && (!request->folder || !*request->folder)) {
    status = pks__fail_about(
      error, PKS_INVALID_ARGUMENT, PKS_DETAIL_NONE, PKS_SUBJECT_PACK, request->pack, "the folder's path is empty"
    );
  }
  if (!status && request->by && request->version == 0) {
    status = pks__fail_about(
      error, PKS_INVALID_ARGUMENT, PKS_DETAIL_NONE, PKS_SUBJECT_PACK, request->pack,
      "the publisher's version is missing"
    );
  }
  if (!status && (request->entries != NULL) != (request->entry_count > 0)) {
    status = pks__fail_about(
      error, PKS_INVALID_ARGUMENT, PKS_DETAIL_NONE, PKS_SUBJECT_PACK, request->pack, "no entry is selected"
    );
  }
  return status;
}

pks_status pks_txn_add_folder(pks_add_result *result, pks_txn *txn, const pks_add_request *request, pks_error *error) {
  pks_status status = pks__store_check_process(txn->store, error);
  if (!status) { status = check_request(request, error); }
  pks_provenance by = request->by ? *request->by : (pks_provenance){0};
  by.adopt = request->adopt;
  bool adopts = false;
  if (!status) {
    status = pks__txn_check_provenance(txn, &by, request->pack, request->by ? request->version : 0, &adopts, error);
  }
  if (!status) { status = pks__txn_check_number(txn, request, adopts, error); }
  if (status) { return status; }
  pks_add_result discarded;
  if (!result) { result = &discarded; }
  status = pks__txn_prepare_placement(txn, request->pack, request->placement, error);
  if (status) { return status; }
  pks__ingest ingest;
  pks_snapshot *snapshot = pks__txn_snapshot(txn);
  status = pks__ingest_folder(&ingest, &txn->staging, snapshot, request, txn->options.durability == PKS_DURABLE, error);
  if (!status && ingest.result.unchanged) {
    status = pks__txn_stage_unchanged(txn, &ingest, &by, result, error);
  } else if (!status && request->only_unchanged) {
    *result = (pks_add_result){.declined = true};
  } else if (!status) {
    status = pks__txn_stage_next(txn, &ingest, &by, adopts, result, error);
  }
  pks__ingest_close(&ingest);
  return status || result->declined ? status : pks__txn_follow_placement(txn, request->pack, request->placement, error);
}
