/// A version of another store, or of this one, as the current version of a pack here.
///
/// Its catalog is ingested (`ingest_version.c`): chunks that this store has are found by id, and the others are read from the
/// source.
#include "commit/import_version.h"

#include "commit/placement.h"
#include "ingest/ingest_version.h"

// MARK: - The source

static pks_status find_source(const pks_copy_request *request, const pks__version **out, pks_error *error) {
  const pks__generation *generation = &request->source->generation;
  bool is_live;
  const pks__pack_state *pack = pks__generation_find_state(generation, request->pack, &is_live);
  if (!pack || (!is_live && request->version == 0)) {
    return pks__fail_about(
      error, PKS_NOT_FOUND, PKS_DETAIL_NO_PACK, PKS_SUBJECT_PACK, request->pack, "not in the source"
    );
  }
  uint32_t index = request->version == 0 ? 0 : pks__pack_find_version(pack, request->version);
  if (index == UINT32_MAX) {
    return pks__fail_about(
      error, PKS_NOT_FOUND, PKS_DETAIL_NO_VERSION, PKS_SUBJECT_PACK, request->pack,
      "this version is not kept in the source"
    );
  }
  *out = &pack->versions[index];
  return PKS_OK;
}

/// Gives a version the number of the request. Number, content and layout do not depend on each other.
static pks_status renumber(
  const pks__version **version, pks__version *out, const pks_copy_request *request, pks_error *error
) {
  if (!pks__version_is_valid(request->number) || request->heals) {
    return pks__fail_about(
      error, PKS_INVALID_ARGUMENT, PKS_DETAIL_NONE, PKS_SUBJECT_PACK, request->pack,
      "this number cannot be given to a copy"
    );
  }
  *out = **version;
  out->number = request->number;
  *version = out;
  return PKS_OK;
}

/// Reads chunks of the source.
typedef struct chunk_source {
  pks_snapshot *snapshot;
  pks_sha256 *sha256;  ///< of the destination store; the source may have none
  pks__scratch bytes;
} chunk_source;

static pks_status fetch_chunk(void *context, const pks__chunk_want *want, uint8_t *out, pks_error *error) {
  chunk_source *source = context;
  bool found;
  pks_status status = pks__chunk_want_read(want, source->snapshot, &source->bytes, out, &found, error);
  if (status) { return status; }
  if (!found) {
    pks__chunk_want missing = *want;
    // It may have been purged of either store.
    missing.may_be_purged = missing.may_be_purged || source->snapshot->generation.cache_folder != NULL;
    return pks__chunk_want_fail(&missing, error);
  }
  pks__id id;
  source->sha256(out, want->length, id.bytes);
  if (pks__id_equal(&id, want->id)) { return PKS_OK; }
  const char *text = "a chunk has other content than its id";
  return pks__fail_at_path(error, PKS_CORRUPT, text, want->path, want->path_length);
}

// MARK: - The target

/// Whether the version may become current here; `*kept` is this store's version with its number, or NULL. Other content with that
/// number is ignored if the pack is adopted, or if a repair created it.
static pks_status find_kept(
  const pks__generation *generation, const char *name, const pks__version *version, const pks_provenance *by,
  bool adopts, const pks__version **kept, pks_error *error
) {
  const pks__pack_state *pack = pks__generation_find_state(generation, name, NULL);
  uint32_t index = pack ? pks__pack_find_version(pack, version->number) : UINT32_MAX;
  *kept = index == UINT32_MAX ? NULL : &pack->versions[index];
  bool differs = *kept && !pks__version_is(*kept, &version->catalog, &version->attributes);
  bool yields = differs && (adopts || pks__provenance_is_unstated(by, name, version->number, generation));
  if (yields) { *kept = NULL; }
  if (differs && !yields) {
    const char *text = "this version exists with other content";
    return pks__fail_about(error, PKS_EXISTS, PKS_DETAIL_OTHER_CONTENT, PKS_SUBJECT_PACK, name, text);
  }
  return PKS_OK;
}

static pks_status fail_held(const char *pack, pks_error *error) {
  return pks__fail_about(error, PKS_HELD, PKS_DETAIL_NONE, PKS_SUBJECT_PACK, pack, "held at its current version");
}

pks_status pks__txn_stage_known(
  pks_txn *txn, pks__ingest *ingest, const pks__version *version, const pks_provenance *by, pks_add_result *result,
  pks_error *error
) {
  const pks__generation *generation = &pks__txn_snapshot(txn)->generation;
  const char *name = ingest->request.pack;
  bool is_live;
  const pks__pack_state *pack = pks__generation_find_state(generation, name, &is_live);
  const pks__version *kept;
  bool adopts;
  pks_status status = pks__txn_check_provenance(txn, by, name, 0, &adopts, error);
  if (!status) { status = find_kept(generation, name, version, by, adopts, &kept, error); }
  if (status) { return status; }
  if (is_live && kept == &pack->versions[0]) { return pks__txn_stage_unchanged(txn, ingest, by, result, error); }
  if (pack && pack->held) { return fail_held(name, error); }
  pks__staged_op change = {.kind = kept ? PKS__CHANGE_RETURN : PKS__CHANGE_ADD, .version = kept ? *kept : *version};
  change.provenance = *by;
  change.purgeable = ingest->reuse_policy.purgeable;
  if (!kept) { change.version.pinned = false; }
  // The same content under another number is another version.
  ingest->result.unchanged = false;
  return pks__txn_stage_version(txn, ingest, &change, result, error);
}

/// Whether the pack's current version has this number, and this content.
static bool is_current(const pks_txn *txn, const char *name, const pks__version *version) {
  const pks__version *current = pks__generation_current(&pks__txn_snapshot(txn)->generation, name);
  return current && current->number == version->number
    && pks__version_is(current, &version->catalog, &version->attributes);
}

/// A version that is already current makes no statement about floors.
static pks_status check_statement(
  const pks_txn *txn, const char *name, const pks__version *version, const pks_provenance *by, pks_error *error
) {
  uint64_t number = is_current(txn, name, version) ? 0 : version->number;
  return pks__txn_check_provenance(txn, by, name, number, NULL, error);
}

/// Finds the provenance of the copy. Restored data changes nothing of the pack, so that the pack keeps its own origin.
static pks_status find_provenance(
  const pks_txn *txn, const pks_copy_request *request, const pks__version *version, pks_provenance *out,
  pks_error *error
) {
  *out = (pks_provenance){.adopt = true};
  if (request->heals && !is_current(txn, request->pack, version)) {
    const char *text = "the current version has other content than the source's";
    return pks__fail_about(error, PKS_NOT_FOUND, PKS_DETAIL_OTHER_CONTENT, PKS_SUBJECT_PACK, request->pack, text);
  }
  if (request->as_local) { return PKS_OK; }
  const pks_snapshot *speaker = request->heals ? pks__txn_snapshot(txn) : request->source;
  pks__provenance_of_copy(&speaker->generation, request->pack, version->number, out);
  out->adopt = request->adopt;
  out->downgrade = request->downgrade;
  return PKS_OK;
}

static pks_status list_avoided(pks__segment_set *out, const pks_copy_request *request, pks_error *error) {
  pks_status status = PKS_OK;
  for (uint32_t i = 0; !status && i < request->avoided_segment_count; i++) {
    pks__segment_id id;
    memcpy(&id, request->avoided_segments + (size_t)i * sizeof(id), sizeof(id));
    status = pks__segment_set_add(out, &id, error);
  }
  return status;
}

pks_status pks_txn_copy_version(
  pks_add_result *result, pks_txn *txn, const pks_copy_request *request, pks_error *error
) {
  pks_add_request encoding = {
    .pack = request->pack,
    .set_priority = request->set_priority,
    .priority = request->priority,
    .placement = request->placement,
    .level = request->level,
    .layout = request->layout,
    .frame_size = request->frame_size,
    .shared_frame_size = request->shared_frame_size,
  };
  const pks__version *version;
  pks_status status = pks__store_check_process(txn->store, error);
  if (!status && !request->source) {
    status = pks__fail_about(
      error, PKS_INVALID_ARGUMENT, PKS_DETAIL_NONE, PKS_SUBJECT_PACK, request->pack, "no source store given"
    );
  }
  if (!status) { status = pks__store_check_process(request->source->store, error); }
  if (!status) { status = pks__txn_check_encoding(&encoding, error); }
  if (!status) { status = find_source(request, &version, error); }
  pks__version renumbered;
  if (!status && request->number > 0) { status = renumber(&version, &renumbered, request, error); }
  pks_provenance by = {0};
  if (!status) { status = find_provenance(txn, request, version, &by, error); }
  if (!status) { status = check_statement(txn, request->pack, version, &by, error); }
  if (!status) { status = pks__txn_prepare_placement(txn, request->pack, request->placement, error); }
  if (status) { return status; }
  // A snapshot is immutable except for lazily opened parts, which any user may open.
  chunk_source source = {.snapshot = pks__snapshot_mutable(request->source), .sha256 = txn->store->sha256};
  pks__scratch_init(&source.bytes, &txn->staging.scratch);
  pks__segment_set avoided;
  pks__segment_set_init(&avoided, &txn->staging.scratch);
  status = list_avoided(&avoided, request, error);
  pks__version_request version_request = {
    .pack = request->pack,
    .encoding = &encoding,
    .catalog = version->catalog,
    .layout = version->layout,
    .needs_layout = true,
    .tries_forms = true,
    .attributes = version->attributes,
    .pages = pks__snapshot_pages(source.snapshot),
    .fetch = {.context = &source, .fetch = fetch_chunk},
    .avoided = request->avoided_segment_count > 0 ? &avoided : NULL,
    .progress = request->progress,
    .context = request->context,
  };
  pks__ingest ingest = {0};
  pks_add_result discarded;
  bool sync = txn->options.durability == PKS_DURABLE;
  if (!status) {
    status = pks__ingest_version(&ingest, &txn->staging, pks__txn_snapshot(txn), &version_request, sync, error);
  }
  if (!status) { status = pks__txn_stage_known(txn, &ingest, version, &by, result ? result : &discarded, error); }
  pks__ingest_close(&ingest);
  pks__segment_set_free(&avoided);
  pks__scratch_free(&source.bytes);
  return status ? status : pks__txn_follow_placement(txn, request->pack, request->placement, error);
}
