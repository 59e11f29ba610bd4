/// Deltas in the public interface: reading their headers, and applying them.
#include "commit/import_version.h"
#include "commit/transaction.h"
#include "delta/delta_chain.h"

pks_status pks_delta_inspect(
  pks_delta_info *out, const pks_delta_source *source, pks_sha256 *sha256, pks_error *error
) {
  if (!sha256) {
    return pks__fail_about(
      error, PKS_INVALID_ARGUMENT, PKS_DETAIL_NO_HASH, PKS_SUBJECT_NONE, NULL, "reading a delta needs 'sha256'"
    );
  }
  pks__delta_file file;
  pks_status status = pks__delta_file_open(&file, source, sha256, NULL, error);
  if (!status) { pks__delta_file_tell(&file, out); }
  pks__delta_file_close(&file);
  return status;
}

// MARK: - Applying

/// Whether the version is already current: then only the request's priority is applied.
static bool is_current(const pks__generation *generation, const pks__delta_file *file) {
  const pks__delta_header *header = &file->header;
  const pks__version *current = pks__generation_current(generation, header->pack);
  return current && current->number == header->to_number
    && pks__version_is(current, &header->to_catalog, &file->attributes);
}

static pks_status stage_current(
  pks_txn *txn, const pks_add_request *request, const pks_provenance *by, pks_add_result *result, pks_error *error
) {
  pks_status status = pks__txn_stage_adoption(txn, request->pack, by, error);
  if (status) { return status; }
  const pks__pack_state *pack = pks__generation_find_state(&pks__txn_snapshot(txn)->generation, request->pack, NULL);
  *result = (pks_add_result){.unchanged = true, .version = pks__version_public(&pack->versions[0])};
  bool moves = request->set_priority && request->priority != pack->priority;
  return moves ? pks_txn_set_priority(txn, request->pack, request->priority, error) : PKS_OK;
}

/// Applies the last delta of a chain to the version that the others made.
static pks_status stage_last(
  pks_txn *txn, const pks__delta_file *file, const pks__delta_origin *from, const pks_add_request *request,
  const pks_provenance *by, pks_add_result *result, pks_error *error
) {
  const pks__delta_header *header = &file->header;
  pks__version version = {
    .number = header->to_number,
    .catalog = header->to_catalog,
    .attributes = file->attributes,
    .committed_at_ns = header->committed_at_ns,
    .file_count = header->file_count,
    .link_count = header->link_count,
    .folder_count = header->folder_count,
    .logical_bytes = header->logical_bytes,
  };
  pks__ingest ingest;
  bool sync = txn->options.durability == PKS_DURABLE;
  pks_snapshot *base = pks__txn_snapshot(txn);
  pks_status status = pks__ingest_delta(&ingest, &txn->staging, base, request, file, from, sync, error);
  if (!status) { status = pks__txn_stage_known(txn, &ingest, &version, by, result, error); }
  pks__ingest_close(&ingest);
  return status;
}

static pks_status stage_chain(
  pks_txn *txn, const pks__delta_chain *chain, const pks_apply_request *request, pks_add_request *encoding,
  pks_add_result *result, pks_error *error
) {
  const pks__delta_file *last = pks__delta_chain_last(chain);
  const pks_provenance *by = &request->provenance;
  pks__chain_progress progress = pks__chain_progress_make(chain, request);
  pks__middle_version middle = {0};
  pks__delta_origin from;
  encoding->context = &progress;
  encoding->progress = pks__chain_progress_report;
  pks_status status = pks__txn_check_provenance(txn, by, encoding->pack, last->header.to_number, NULL, error);
  if (!status) { status = pks__delta_chain_make_middle(&middle, &from, txn, chain, by, &progress, error); }
  if (!status) { status = stage_last(txn, last, &from, encoding, by, result, error); }
  pks__middle_version_drop(&middle);
  return status;
}

static pks_status apply_chain(
  pks_txn *txn, const pks__delta_chain *chain, const pks_apply_request *request, pks_add_result *result,
  pks_error *error
) {
  const pks__delta_file *last = pks__delta_chain_last(chain);
  pks_add_request encoding = {
    .pack = last->header.pack,
    .set_priority = request->set_priority,
    .priority = request->priority,
    .level = request->level,
    .layout = request->layout,
    .frame_size = request->frame_size,
    .shared_frame_size = request->shared_frame_size,
    .max_rows = request->max_rows,
  };
  pks_status status = pks__txn_check_encoding(&encoding, error);
  if (status) { return status; }
  bool current = is_current(&pks__txn_snapshot(txn)->generation, last);
  return current ? stage_current(txn, &encoding, &request->provenance, result, error)
                 : stage_chain(txn, chain, request, &encoding, result, error);
}

pks_status pks_txn_apply_delta(
  pks_add_result *result, pks_txn *txn, const pks_apply_request *request, pks_error *error
) {
  pks_add_result discarded;
  pks_status status = pks__store_check_process(txn->store, error);
  if (status) { return status; }
  pks__delta_chain chain;
  status = pks__delta_chain_open(&chain, request, txn->store->sha256, &txn->staging.scratch, error);
  if (!status) { status = apply_chain(txn, &chain, request, result ? result : &discarded, error); }
  pks__delta_chain_close(&chain);
  return status;
}
