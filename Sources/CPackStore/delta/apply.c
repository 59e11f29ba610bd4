/// Deltas as the public interface has them: what they say of themselves, and applying them.
#include <stdio.h>

#include "commit/import_version.h"
#include "commit/transaction.h"
#include "delta/delta_ingest.h"

pks_status pks_delta_inspect(
  pks_delta_info *out, const pks_delta_source *source, pks_sha256 *sha256, pks_error *error
) {
  if (!sha256) { return pks__fail(error, PKS_INVALID_ARGUMENT, "reading a delta needs 'sha256'", NULL, PKS_NO_OFFSET); }
  pks__delta_file file;
  pks_status status = pks__delta_file_open(&file, source, sha256, NULL, error);
  if (!status) { pks__delta_file_tell(&file, out); }
  pks__delta_file_close(&file);
  return status;
}

// MARK: - Applying

/// The kept version that the delta begins with.
static pks_status find_from(
  const pks__generation *generation, const pks__delta_header *header, const pks__version **out, pks_error *error
) {
  const pks__pack_state *pack = pks__generation_find_state(generation, header->pack, NULL);
  for (uint32_t i = 0; pack && i < pack->version_count; i++) {
    *out = &pack->versions[i];
    if (pks__id_equal(&(*out)->catalog, &header->from_catalog)) { return PKS_OK; }
  }
  char version[PKS__PACK_NAME_MAX + 32];
  (void)snprintf(version, sizeof version, "%s@%llu", header->pack, (unsigned long long)header->from_number);
  return pks__fail(error, PKS_NOT_FOUND, "not kept here, but needed to apply this delta", version, PKS_NO_OFFSET);
}

static pks_status check_digest(const pks__delta_file *file, const uint8_t *wanted, pks_error *error) {
  if (!wanted || memcmp(wanted, file->digest.bytes, sizeof file->digest.bytes) == 0) { return PKS_OK; }
  return pks__fail(error, PKS_CORRUPT, "not the delta that was announced", file->source.name, 0);
}

/// Whether the version is current already: then there is nothing to do but what the request says of priorities.
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

static pks_status stage_delta(
  pks_txn *txn, const pks__delta_file *file, const pks_add_request *request, const pks_provenance *by,
  pks_add_result *result, pks_error *error
) {
  const pks__delta_header *header = &file->header;
  const pks__version *from;
  pks_snapshot *snapshot = pks__txn_snapshot(txn);
  pks_status status = pks__txn_check_provenance(txn, by, header->pack, header->to_number, NULL, error);
  if (!status) { status = find_from(&snapshot->generation, header, &from, error); }
  if (status) { return status; }
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
  status = pks__ingest_delta(&ingest, &txn->staging, snapshot, request, file, from, sync, error);
  if (!status) { status = pks__txn_stage_known(txn, &ingest, &version, by, result, error); }
  pks__ingest_close(&ingest);
  return status;
}

pks_status pks_txn_apply_delta(
  pks_add_result *result, pks_txn *txn, const pks_apply_request *request, pks_error *error
) {
  pks_delta_source source = request->delta;
  if (!source.name) { source.name = "delta"; }
  pks_status status = pks__store_check_process(txn->store, error);
  if (status) { return status; }
  pks__delta_file file;
  status = pks__delta_file_open(&file, &source, txn->store->sha256, &txn->staging.scratch, error);
  pks_add_request encoding = {
    .pack = file.header.pack,
    .set_priority = request->set_priority,
    .priority = request->priority,
    .level = request->level,
    .layout = request->layout,
    .frame_size = request->frame_size,
    .shared_frame_size = request->shared_frame_size,
    .context = request->context,
    .progress = request->progress,
  };
  pks_add_result discarded;
  if (!result) { result = &discarded; }
  if (!status) { status = check_digest(&file, request->header_digest, error); }
  if (!status) { status = pks__txn_check_encoding(&encoding, error); }
  if (!status) {
    bool current = is_current(&pks__txn_snapshot(txn)->generation, &file);
    const pks_provenance *by = &request->provenance;
    status = current ? stage_current(txn, &encoding, by, result, error)
                     : stage_delta(txn, &file, &encoding, by, result, error);
  }
  pks__delta_file_close(&file);
  return status;
}
