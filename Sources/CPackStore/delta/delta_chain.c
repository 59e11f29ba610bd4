#include "delta/delta_chain.h"

#include <stdio.h>
#include <string.h>

// MARK: - Reading

static pks_status check_digest(const pks__delta_file *file, const uint8_t *wanted, pks_error *error) {
  if (!wanted || memcmp(wanted, file->digest.bytes, sizeof file->digest.bytes) == 0) { return PKS_OK; }
  return pks__fail_at(
    error, PKS_CORRUPT, PKS_DETAIL_NONE, PKS_SUBJECT_DELTA, file->source.name, 0, "is not the announced delta"
  );
}

/// Whether a delta goes on where the one before ends.
static pks_status check_link(const pks__delta_file *before, const pks__delta_file *file, pks_error *error) {
  const pks__delta_header *last = &before->header, *next = &file->header;
  if (strcmp(last->pack, next->pack) == 0 && pks__id_equal(&last->to_catalog, &next->from_catalog)) { return PKS_OK; }
  const char *text = "does not continue where the delta before it ends";
  return pks__fail_about(error, PKS_CORRUPT, PKS_DETAIL_NONE, PKS_SUBJECT_DELTA, file->source.name, text);
}

static pks_status open_next(
  pks__delta_chain *chain, const pks_delta_source *source, const uint8_t *digest, pks_sha256 *sha256,
  pks__scratch_folder *home, pks_error *error
) {
  pks__delta_file *file = &chain->files[chain->count++];
  pks_delta_source named = *source;
  if (!named.name) { named.name = "delta"; }
  pks_status status = pks__delta_file_open(file, &named, sha256, home, error);
  if (!status) { status = check_digest(file, digest, error); }
  return status || chain->count == 1 ? status : check_link(file - 1, file, error);
}

pks_status pks__delta_chain_open(
  pks__delta_chain *out, const pks_apply_request *request, pks_sha256 *sha256, pks__scratch_folder *home,
  pks_error *error
) {
  out->count = 0;
  out->max_rows = request->max_rows;
  if (request->step_count >= PKS_DELTA_CHAIN_MAX || (request->step_count > 0 && !request->steps)) {
    return pks__fail_about(
      error, PKS_INVALID_ARGUMENT, PKS_DETAIL_LIMIT, PKS_SUBJECT_DELTA, request->delta.name,
      "the chain has more than 8 deltas"
    );
  }
  pks_status status = PKS_OK;
  for (uint32_t i = 0; !status && i < request->step_count; i++) {
    const pks_delta_step *step = &request->steps[i];
    status = open_next(out, &step->delta, step->header_digest, sha256, home, error);
  }
  return status ? status : open_next(out, &request->delta, request->header_digest, sha256, home, error);
}

void pks__delta_chain_close(pks__delta_chain *chain) {
  for (uint32_t i = 0; i < chain->count; i++) { pks__delta_file_close(&chain->files[i]); }
  chain->count = 0;
}

// MARK: - Progress

/// Adds numbers from deltas, which may be hostile: only progress depends on the sum.
static uint64_t sum(uint64_t a, uint64_t b) {
  uint64_t result;
  return pks__add_overflows(a, b, &result) ? UINT64_MAX : result;
}

pks__chain_progress pks__chain_progress_make(const pks__delta_chain *chain, const pks_apply_request *request) {
  pks__chain_progress progress = {.context = request->context, .progress = request->progress};
  for (uint32_t i = 0; i < chain->count; i++) {
    const pks__delta_header *header = &chain->files[i].header;
    progress.files_total = sum(progress.files_total, header->file_count);
    progress.bytes_total = sum(progress.bytes_total, header->logical_bytes);
  }
  return progress;
}

bool pks__chain_progress_report(void *context, const pks_progress *progress) {
  const pks__chain_progress *chain = context;
  if (!chain->progress) { return true; }
  pks_progress all = *progress;
  // To the caller the chain is one delta: it is committed once.
  if (chain->is_middle) { all.phase = PKS_PHASE_STORE; }
  all.files_done = sum(chain->files_before, progress->files_done);
  all.bytes_done = sum(chain->bytes_before, progress->bytes_done);
  all.files_total = chain->files_total;
  all.bytes_total = chain->bytes_total;
  return chain->progress(chain->context, &all);
}

/// Notes that a version is made.
static void count_version(pks__chain_progress *progress, const pks__delta_header *header) {
  progress->files_before = sum(progress->files_before, header->file_count);
  progress->bytes_before = sum(progress->bytes_before, header->logical_bytes);
}

// MARK: - Middle versions

/// The kept version that a delta begins with.
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
  return pks__fail_about(
    error, PKS_NOT_FOUND, PKS_DETAIL_NO_VERSION, PKS_SUBJECT_VERSION, version,
    "not in the store, but the delta needs it"
  );
}

static pks__version version_of(const pks__delta_file *file, uint64_t number) {
  const pks__delta_header *header = &file->header;
  return (pks__version){
    .number = number,
    .catalog = header->to_catalog,
    .committed_at_ns = header->committed_at_ns,
    .file_count = header->file_count,
    .link_count = header->link_count,
    .folder_count = header->folder_count,
    .logical_bytes = header->logical_bytes,
  };
}

/// Applies a delta in the transaction of the middle version that comes of it.
static pks_status stage_middle(
  pks_txn *txn, const pks__delta_file *file, const pks__delta_origin *from, uint64_t number, const pks_provenance *by,
  uint64_t max_rows, pks__chain_progress *progress, pks_error *error
) {
  // It is read once, and soon.
  pks_add_request request = {
    .pack = file->header.pack,
    .level = 1,
    .max_rows = max_rows,
    .context = progress,
    .progress = pks__chain_progress_report,
  };
  pks__ingest ingest;
  pks_add_result result;
  pks_status status = pks__ingest_delta(&ingest, &txn->staging, txn->base, &request, file, from, false, error);
  if (!status) {
    pks__staged_op change = {
      .kind = PKS__CHANGE_ADD,
      .version = version_of(file, number),
      .provenance = *by,
      .purgeable = ingest.reuse_policy.purgeable,
    };
    status = pks__txn_stage_version(txn, &ingest, &change, &result, error);
  }
  pks__ingest_close(&ingest);
  return status;
}

pks_status pks__delta_chain_make_middle(
  pks__middle_version *middle, pks__delta_origin *from, pks_txn *txn, const pks__delta_chain *chain,
  const pks_provenance *by, pks__chain_progress *progress, pks_error *error
) {
  // Middle versions are laid out in parallel with the caller's transaction, and cannot see its staged data.
  from->snapshot = chain->count > 1 ? txn->base : pks__txn_snapshot(txn);
  uint64_t number = pks__delta_chain_last(chain)->header.to_number;
  pks_status status = find_from(&from->snapshot->generation, &chain->files[0].header, &from->version, error);
  progress->is_middle = true;
  for (uint32_t i = 0; !status && i + 1 < chain->count; i++) {
    const pks__delta_file *file = &chain->files[i];
    pks__middle_version next = {0};
    status = pks__txn_begin_beside(&next.txn, txn, error);
    if (!status) { status = stage_middle(next.txn, file, from, number, by, chain->max_rows, progress, error); }
    // The data that the step read from the previous version is in the next one, or in the base.
    pks__middle_version_drop(middle);
    *middle = next;
    if (status) { return status; }
    from->snapshot = pks__txn_snapshot(next.txn);
    status = find_from(&from->snapshot->generation, &file[1].header, &from->version, error);
    if (status) { return status; }
    count_version(progress, &file->header);
  }
  progress->is_middle = false;
  return status;
}

void pks__middle_version_drop(pks__middle_version *middle) {
  pks_txn_abort(middle->txn);
  middle->txn = NULL;
}
