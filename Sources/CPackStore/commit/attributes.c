/// New attributes for a pack: the next version, with the content of the current one.
///
/// The catalog is ingested again, as for a rollback: all of its chunks exist, so it writes only a layout, and the bytes of files
/// that become map assets.
#include "catalog/map_flags.h"
#include "commit/transaction.h"
#include "ingest/ingest_version.h"
#include "store/chunk_lookup.h"

/// The version that gets other attributes: where its bytes come from, and which of its files are map assets.
typedef struct content {
  const pks_attributes_request *request;
  pks_snapshot *snapshot;
  pks__map_flags mapped;  ///< the existing map assets
  pks__scratch bytes;
} content;

static bool is_mapped(void *context, const char *path, size_t path_length) {
  content *content = context;
  bool mapped = pks__map_flags_has(&content->mapped, path, path_length);
  for (uint32_t i = 0; !mapped && i < content->request->map_glob_count; i++) {
    mapped = pks_glob_matches(content->request->map_globs[i], path, path_length);
  }
  return mapped;
}

static pks_status fetch_chunk(void *context, const pks__chunk_want *want, uint8_t *out, pks_error *error) {
  content *content = context;
  bool found;
  pks_status status = pks__chunk_want_read(want, content->snapshot, &content->bytes, out, &found, error);
  return status || found ? status : pks__chunk_want_fail(want, error);
}

static bool show_progress(void *context, const pks_progress *progress) {
  const pks_attributes_request *request = ((const content *)context)->request;
  return !request->progress || request->progress(request->context, progress);
}

static pks_status walk(
  pks__ingest *ingest, pks_txn *txn, content *content, const pks_add_request *encoding, const pks__version *current,
  pks_error *error
) {
  pks__page_source pages = pks__snapshot_pages(content->snapshot);
  pks__version_request version = {
    .pack = encoding->pack,
    .encoding = encoding,
    .catalog = current->catalog,
    .layout = current->layout,
    .is_mapped = is_mapped,
    .pages = pages,
    .fetch = {.context = content, .fetch = fetch_chunk},
    .progress = show_progress,
    .context = content,
  };
  bool sync = txn->options.durability == PKS_DURABLE;
  pks_status status =
    pks__ingest_version_open(ingest, &txn->staging, content->snapshot, &version, txn->store->thread_count, sync, error);
  if (!status) {
    status = pks__ingest_set_attributes(ingest, encoding->attributes, encoding->attribute_byte_count, error);
  }
  if (status) { return status; }
  pks__map_flags_open(&content->mapped, pages, &current->layout);
  status = pks__ingest_version_walk(ingest, &version, error);
  // A page of the layout that could not be read would have taken the promise of a map asset back.
  if (!status) {
    status = content->mapped.failure.status;
    if (status && error) { *error = content->mapped.failure; }
  }
  pks__map_flags_close(&content->mapped);
  return status;
}

static pks_status stage(
  pks_txn *txn, pks__ingest *ingest, const pks_provenance *by, bool adopts, pks_add_result *result, pks_error *error
) {
  if (ingest->result.unchanged) { return pks__txn_stage_unchanged(txn, ingest, by, result, error); }
  return pks__txn_stage_next(txn, ingest, by, adopts, result, error);
}

pks_status pks_txn_set_attributes(
  pks_add_result *result, pks_txn *txn, const pks_attributes_request *request, pks_error *error
) {
  pks_add_request encoding = {
    .pack = request->pack,
    .version = request->version,
    .attributes = request->attributes,
    .attribute_byte_count = request->attribute_byte_count,
    .map_globs = request->map_globs,
    .map_glob_count = request->map_glob_count,
  };
  pks_provenance by = {.adopt = request->adopt};
  pks_add_result discarded;
  bool adopts = false;
  pks_status status = pks__store_check_process(txn->store, error);
  if (!status) { status = pks__txn_check_encoding(&encoding, error); }
  if (!status) { status = pks__txn_check_provenance(txn, &by, request->pack, 0, &adopts, error); }
  if (!status) { status = pks__txn_check_number(txn, &encoding, adopts, error); }
  if (status) { return status; }
  content content = {.request = request, .snapshot = pks__txn_snapshot(txn)};
  const pks__version *current = pks__generation_current(&content.snapshot->generation, request->pack);
  if (!current) {
    return pks__fail_about(
      error, PKS_NOT_FOUND, PKS_DETAIL_NO_PACK, PKS_SUBJECT_PACK, request->pack, "not in the store"
    );
  }
  pks__scratch_init(&content.bytes, &txn->staging.scratch);
  pks__ingest ingest;
  status = walk(&ingest, txn, &content, &encoding, current, error);
  if (!status) { status = stage(txn, &ingest, &by, adopts, result ? result : &discarded, error); }
  pks__ingest_close(&ingest);
  pks__scratch_free(&content.bytes);
  return status;
}
