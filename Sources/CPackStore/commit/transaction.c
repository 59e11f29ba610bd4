#include "commit/transaction.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "commit/purge.h"
#include "format/glob.h"
#include "ingest/incoming_folders.h"
#include "ingest/layout_pass.h"
#include "ingest/path_conflicts.h"
#include "store/current.h"
#include "store/segment_registry.h"
#include "store/snapshot.h"

enum { DEFAULT_KEEP = 2 };

// MARK: - Life

static pks_status fail_read_only(const pks_store *store, pks_error *error) {
  const char *text = store->write_failure ? "its directory cannot be written"
    : store->sha256                       ? "open for reading only"
                                          : "opened without 'pks_options.sha256', which writing needs";
  pks_detail detail = store->write_failure ? PKS_DETAIL_NOT_WRITABLE
    : store->sha256                        ? PKS_DETAIL_OPEN_FOR_READING
                                           : PKS_DETAIL_NO_HASH;
  pks_status status = pks__fail_about(error, PKS_READ_ONLY, detail, PKS_SUBJECT_STORE, NULL, text);
  if (error) { error->system_error = store->write_failure; }
  return status;
}

/// Opens the parts of a transaction. `base`: NULL: the newest generation.
static pks_status open_parts(pks_txn *txn, pks_snapshot *base, pks_error *error) {
  pks_status status = pks__staging_open(&txn->staging, txn->store, error);
  txn->staging.is_for_site = txn->options.publication;
  if (base) { txn->base = pks__snapshot_retain(base); }
  if (!status && !base) { pks__incoming_sweep(txn->store); }
  if (!status && !base) { status = pks__snapshot_open_current(&txn->base, txn->store, error); }
  return status;
}

static pks_status begin(
  pks_txn **out, pks_store *store, const pks_txn_options *options, pks_snapshot *base, pks_error *error
) {
  pks_txn *txn = pks__allocate_zeroed(1, sizeof *txn);
  if (!txn) { return pks__fail_memory(error); }
  txn->store = store;
  txn->options = *options;
  if (txn->options.keep_versions == 0) { txn->options.keep_versions = DEFAULT_KEEP; }
  pks_status status = open_parts(txn, base, error);
  // The commit decides, under the lock; to say it now spares the work.
  if (!status) { status = pks__generation_check_change(&txn->base->generation, txn->options.publication, error); }
  if (status) {
    pks_txn_abort(txn);
    return status;
  }
  pks__scratch_init(&txn->changes, &txn->staging.scratch);
  pks__scratch_init(&txn->segments, &txn->staging.scratch);
  pks__segment_set_init(&txn->kept, &txn->staging.scratch);
  pks__segment_set_init(&txn->tables, &txn->staging.scratch);
  *out = txn;
  return PKS_OK;
}

pks_status pks_txn_begin(pks_txn **out, pks_store *store, const pks_txn_options *options, pks_error *error) {
  static const pks_txn_options defaults;
  pks_status status = pks__store_check_process(store, error);
  if (status) { return status; }
  if (!store->may_write) { return fail_read_only(store, error); }
  // The commit would be refused: better now than when all is staged.
  status = pks_store_check_control(store, error);
  if (status) { return status; }
  atomic_store(&store->purge_for_room, pks__purge_some);
  return begin(out, store, options ? options : &defaults, NULL, error);
}

pks_status pks__txn_begin_beside(pks_txn **out, const pks_txn *txn, pks_error *error) {
  const pks_txn_options options = {
    .durability = PKS_ATOMIC, .keep_versions = txn->options.keep_versions, .publication = txn->options.publication};
  return begin(out, txn->store, &options, txn->base, error);
}

void pks_txn_abort(pks_txn *txn) {
  if (!txn) { return; }
  if (!pks__store_is_ours(txn->store)) {
    pks__staging_leave(&txn->staging);
    return;
  }
  pks__snapshot_release(txn->snapshot);
  for (uint64_t i = 0; i < PKS__SCRATCH_COUNT(&txn->segments, pks__staged_segment); i++) {
    pks__store_release_segment(txn->store, PKS__SCRATCH_AT(&txn->segments, pks__staged_segment, i)->segment);
  }
  pks__segment_set_free(&txn->kept);
  pks__segment_set_free(&txn->tables);
  pks__scratch_free(&txn->segments);
  pks__scratch_free(&txn->changes);
  pks__snapshot_release(txn->base);
  pks__staging_close(&txn->staging);
  pks__free(txn->cache_folder);
  pks__free(txn);
}

uint32_t pks_txn_pack_count(const pks_txn *txn) { return pks__txn_snapshot(txn)->generation.pack_count; }

uint32_t pks_txn_removed_count(const pks_txn *txn) { return pks__txn_snapshot(txn)->generation.removed_count; }

pks_pack pks_txn_pack(const pks_txn *txn, uint32_t index) {
  return pks__generation_pack(&pks__txn_snapshot(txn)->generation, index);
}

pks_pack_version pks_txn_version(const pks_txn *txn, uint32_t pack, uint32_t version) {
  const pks__pack_state *state = pks__generation_any_pack(&pks__txn_snapshot(txn)->generation, pack);
  PKS_ASSERT(version < state->version_count);
  return pks__version_public(&state->versions[version]);
}

pks_status pks_txn_attributes(
  void *out, size_t capacity, size_t *length, const pks_txn *txn, uint32_t pack, uint32_t version, pks_error *error
) {
  return pks_snapshot_attributes(out, capacity, length, pks__txn_snapshot(txn), pack, version, error);
}

// MARK: - Changes

/// Stages the removal of a pack with its history in the transaction's own snapshot, which any other change replaces: so the
/// time to remove many packs is not in the square of their number.
static bool stage_removal(pks_txn *txn, const pks__staged_op *change) {
  if (change->kind != PKS__CHANGE_REMOVE || change->keep_history || !txn->snapshot) { return false; }
  uint32_t rank = pks__generation_find_pack(&txn->snapshot->generation, change->pack);
  if (rank == UINT32_MAX || pks__scratch_reserve(&txn->changes, sizeof *change, NULL)) { return false; }
  if (!pks__snapshot_remove_pack(txn->snapshot, rank)) { return false; }
  pks_status status = pks__scratch_append(&txn->changes, change, sizeof *change, NULL);
  PKS_ASSERT(!status);
  return true;
}

pks_status pks__txn_stage(pks_txn *txn, const pks__staged_op *change, pks_error *error) {
  if (stage_removal(txn, change)) { return PKS_OK; }
  pks__generation next = {0};
  pks_snapshot *before = pks__txn_snapshot(txn), *snapshot = NULL;
  pks_status status = pks__scratch_reserve(&txn->changes, sizeof *change, error);
  if (!status) { status = pks__generation_copy(&before->generation, &next, error); }
  if (!status) {
    status = pks__staged_op_apply(change, &next, txn->options.keep_versions, error);
    if (status) { pks__generation_free(&next); }
  }
  if (!status) { status = pks__snapshot_create(&snapshot, txn->store, &next, txn->staging.folder, error); }
  if (status) { return status; }
  status = pks__scratch_append(&txn->changes, change, sizeof *change, error);
  PKS_ASSERT(!status);
  snapshot->staged = &txn->segments;
  pks__snapshot_release(txn->snapshot);
  txn->snapshot = snapshot;
  return PKS_OK;
}

pks_status pks__txn_stage_named(pks_txn *txn, pks__staged_op *change, const char *pack, pks_error *error) {
  pks_status status = pks__store_check_process(txn->store, error);
  if (status) { return status; }
  if (!pack || !pks__pack_name_is_valid(pack)) {
    return pks__fail_about(error, PKS_NOT_FOUND, PKS_DETAIL_NO_PACK, PKS_SUBJECT_PACK, pack, "not in the store");
  }
  (void)snprintf(change->pack, sizeof change->pack, "%s", pack);
  return pks__txn_stage(txn, change, error);
}

pks_status pks_txn_remove(pks_txn *txn, const char *pack, bool keep_history, pks_error *error) {
  pks__staged_op change = {.kind = PKS__CHANGE_REMOVE, .keep_history = keep_history};
  return pks__txn_stage_named(txn, &change, pack, error);
}

pks_status pks_txn_set_priority(pks_txn *txn, const char *pack, int32_t priority, pks_error *error) {
  pks__staged_op change = {.kind = PKS__CHANGE_PRIORITY, .priority = priority};
  return pks__txn_stage_named(txn, &change, pack, error);
}

pks_status pks_txn_pin(pks_txn *txn, const char *pack, uint64_t version, pks_error *error) {
  pks__staged_op change = {.kind = PKS__CHANGE_PIN, .version = {.number = version}};
  return pks__txn_stage_named(txn, &change, pack, error);
}

pks_status pks_txn_unpin(pks_txn *txn, const char *pack, pks_error *error) {
  pks__staged_op change = {.kind = PKS__CHANGE_UNPIN};
  return pks__txn_stage_named(txn, &change, pack, error);
}

pks_status pks_txn_trim(pks_txn *txn, const char *pack, uint32_t count, pks_error *error) {
  if (count == 0) {
    return pks__fail_about(
      error, PKS_INVALID_ARGUMENT, PKS_DETAIL_NONE, PKS_SUBJECT_PACK, pack, "a pack keeps at least one version"
    );
  }
  pks__staged_op change = {.kind = PKS__CHANGE_TRIM, .count = count};
  return pks__txn_stage_named(txn, &change, pack, error);
}

pks_status pks_txn_keep_segment(pks_txn *txn, const uint8_t segment[16], pks_error *error) {
  pks__segment_id id;
  memcpy(id.bytes, segment, sizeof id.bytes);
  return pks__segment_set_add(&txn->kept, &id, error);
}

void pks_txn_collect(pks_txn *txn) { txn->collects = true; }
// MARK: - Origins

uint32_t pks_txn_origin_count(const pks_txn *txn) {
  return pks__origins_count(&pks__txn_snapshot(txn)->generation.origins);
}

pks_origin pks_txn_origin(const pks_txn *txn, uint32_t index) {
  return pks__origins_at(&pks__txn_snapshot(txn)->generation.origins, index);
}

pks_status pks_txn_order_origins(pks_txn *txn, const pks_origin *origins, uint32_t count, pks_error *error) {
  pks__scratch *changes = &txn->changes;
  uint64_t staged = changes->length;
  pks_snapshot *before = txn->snapshot ? pks__snapshot_retain(txn->snapshot) : NULL;
  pks_status status = pks__store_check_process(txn->store, error);
  for (uint32_t i = 0; !status && i < count; i++) {
    pks__staged_op change = {.kind = PKS__CHANGE_ORDER, .provenance = {.origin = origins[i]}, .place = i};
    status = pks__txn_stage(txn, &change, error);
  }
  if (status) {  // all or nothing
    pks_snapshot *failed = txn->snapshot;
    changes->length = staged;
    txn->snapshot = before;
    before = failed;
  }
  pks__snapshot_release(before);
  return status;
}

static pks_status stage_origin(pks_txn *txn, pks__staged_op_kind kind, const pks_origin *origin, pks_error *error) {
  pks_status status = pks__store_check_process(txn->store, error);
  pks__staged_op change = {.kind = kind, .provenance = {.origin = *origin}};
  return status ? status : pks__txn_stage(txn, &change, error);
}

pks_status pks_txn_restart_origin(pks_txn *txn, const pks_origin *origin, pks_error *error) {
  return stage_origin(txn, PKS__CHANGE_RESTART_ORIGIN, origin, error);
}

pks_status pks_txn_forget_origin(pks_txn *txn, const pks_origin *origin, pks_error *error) {
  return stage_origin(txn, PKS__CHANGE_FORGET_ORIGIN, origin, error);
}

pks_status pks__txn_check_provenance(
  const pks_txn *txn, const pks_provenance *by, const char *pack, uint64_t version, bool *adopts, pks_error *error
) {
  pks__verdict verdict;
  pks_status status = pks__provenance_judge(by, pack, version, &pks__txn_snapshot(txn)->generation, &verdict, error);
  if (adopts) { *adopts = verdict.adopts; }
  return status;
}

pks_status pks__txn_stage_adoption(pks_txn *txn, const char *pack, const pks_provenance *by, pks_error *error) {
  bool adopts;
  pks_status status = pks__txn_check_provenance(txn, by, pack, 0, &adopts, error);
  if (status || !adopts) { return status; }
  pks__staged_op change = {.kind = PKS__CHANGE_ADOPT, .provenance = *by};
  return pks__txn_stage_named(txn, &change, pack, error);
}

pks_status pks_txn_accept_offer(
  pks_txn *txn, const char *pack, uint64_t version, const pks_provenance *by, pks_error *error
) {
  pks__verdict verdict;
  const pks__generation *generation = &pks__txn_snapshot(txn)->generation;
  pks_status status = pks__store_check_process(txn->store, error);
  if (!status) { status = pks__provenance_judge(by, pack, version, generation, &verdict, error); }
  if (status || verdict.adopts || !verdict.sets_floor || !verdict.raises_epoch) { return status; }
  const pks__version *current = pks__generation_current(generation, pack);
  if (!current || current->number != version) { return PKS_OK; }
  pks__staged_op change = {.kind = PKS__CHANGE_ADOPT, .provenance = *by};
  return pks__txn_stage_named(txn, &change, pack, error);
}

uint64_t pks_txn_accepted_version(pks_txn *txn, const char *pack, const pks_origin *origin) {
  const pks__origin_table *origins = &pks__txn_snapshot(txn)->generation.origins;
  pks__origin known;
  uint32_t number = pks__origin_read(origin, &known) ? pks__origins_find(origins, &known) : UINT32_MAX;
  const pks__floor *floor = number == UINT32_MAX ? NULL : pks__origins_floor(origins, number, pack);
  return floor ? floor->version : 0;
}

// MARK: - Adding a folder

static pks_status check_globs(const pks_add_request *request, pks_error *error) {
  for (uint32_t i = 0; i < request->map_glob_count; i++) {
    const char *glob = request->map_globs[i], *fault = pks_glob_fault(glob);
    if (fault) {
      return pks__fail_about(error, PKS_INVALID_ARGUMENT, PKS_DETAIL_NONE, PKS_SUBJECT_PATTERN, glob, fault);
    }
  }
  return PKS_OK;
}

/// Whether the dictionary can be one.
static pks_status check_dictionary(const pks_add_request *request, pks_error *error) {
  bool is_bad;
  if (!request->dictionary) { return PKS_OK; }
  // Libzstd asks more of a dictionary for encoding than of one for decoding.
  pks__encoding_dictionary *tables =
    pks__encoding_dictionary_create(request->dictionary, request->dictionary_byte_count, 1, &is_bad);
  bool is_made = tables != NULL;
  pks__encoding_dictionary_destroy(tables);
  if (is_made) { return PKS_OK; }
  if (!is_bad) { return pks__fail_memory(error); }
  const char *text = "the dictionary is not a zstd dictionary of 8 to 131072 bytes";
  return pks__fail_about(error, PKS_INVALID_ARGUMENT, PKS_DETAIL_NONE, PKS_SUBJECT_PACK, request->pack, text);
}

pks_status pks__txn_check_encoding(const pks_add_request *request, pks_error *error) {
  const char *text = NULL;
  bool bad_frame =
    request->frame_size && (request->frame_size < PKS__LARGE_ASSET || request->frame_size > PKS__FRAME_RAW_MAX);
  if (!request->pack || !pks__pack_name_is_valid(request->pack)) {
    text = "invalid name; use 1 to 128 letters, digits, '-', '_' or '.', beginning with a letter, a digit or '_'";
  } else if (request->level < PKS_LEVEL_MIN || request->level > PKS_LEVEL_MAX) {
    text = "the level is not in -7 to 22";
  } else if (bad_frame || request->shared_frame_size > PKS__FRAME_RAW_MAX) {
    text = "the frame size is not in 65536 to 16777216";
  }
  if (text) {
    return pks__fail_about(error, PKS_INVALID_ARGUMENT, PKS_DETAIL_NONE, PKS_SUBJECT_PACK, request->pack, text);
  }
  pks_status status = check_globs(request, error);
  return status ? status : check_dictionary(request, error);
}

/// Checks a requested number before the folder is read. Numbers rise, unless the caller allows lower ones; the current version's
/// may be requested again, because its content may be equal. Numbers of an adopted pack are ignored.
pks_status pks__txn_check_number(const pks_txn *txn, const pks_add_request *request, bool adopts, pks_error *error) {
  const pks__generation *generation = &pks__txn_snapshot(txn)->generation;
  bool is_live;
  const pks__pack_state *state = pks__generation_find_state(generation, request->pack, &is_live);
  if (request->version > PKS__VERSION_MAX) {
    const char *text = "the version number is not in 1 to 9007199254740991";
    return pks__fail_about(error, PKS_INVALID_ARGUMENT, PKS_DETAIL_NONE, PKS_SUBJECT_PACK, request->pack, text);
  }
  if (!state || adopts || request->version == 0 || request->version > state->highest_version || request->downgrade) {
    return PKS_OK;
  }
  if (is_live && request->version == state->versions[0].number) { return PKS_OK; }
  const char *text = "the version number must exceed every earlier one of the pack";
  return pks__fail_about(error, PKS_EXISTS, PKS_DETAIL_LOW_NUMBER, PKS_SUBJECT_PACK, request->pack, text);
}

/// Chooses the version's number, and checks it. Numbers of an adopted pack are ignored.
static pks_status choose_number(
  const pks__generation *generation, const pks_add_request *request, bool adopts, uint64_t *number, pks_error *error
) {
  bool is_live;
  const pks__pack_state *state = pks__generation_find_state(generation, request->pack, &is_live);
  if (state && state->held) {
    return pks__fail_about(
      error, PKS_HELD, PKS_DETAIL_NONE, PKS_SUBJECT_PACK, request->pack, "held at its current version"
    );
  }
  if (adopts) { state = NULL; }
  *number = request->version;
  if (!request->version) { *number = state ? state->highest_version + 1 : 1; }
  if (*number > PKS__VERSION_MAX) {
    const char *text = "the last possible version number, 9007199254740991, is in use";
    return pks__fail_about(error, PKS_INVALID_ARGUMENT, PKS_DETAIL_LIMIT, PKS_SUBJECT_PACK, request->pack, text);
  }
  if (!state || pks__pack_find_version(state, *number) == UINT32_MAX) { return PKS_OK; }
  return pks__fail_about(
    error, PKS_EXISTS, PKS_DETAIL_OTHER_CONTENT, PKS_SUBJECT_PACK, request->pack,
    "this version exists with other content"
  );
}

/// Whether an earlier add of the transaction created the same segment among the store's files.
static bool is_staged_durable(const pks_txn *txn, const pks__segment_id *id) {
  for (uint64_t i = 0; i < PKS__SCRATCH_COUNT(&txn->segments, pks__staged_segment); i++) {
    const pks__segment *staged = PKS__SCRATCH_AT(&txn->segments, const pks__staged_segment, i)->segment;
    if (!staged->is_purgeable && pks__segment_id_equal(&staged->id, id)) { return true; }
  }
  return false;
}

/// Checks that the add's segments fit in the cache folder, together with the transaction's earlier ones.
static pks_status need_room(pks_txn *txn, const pks__segment_series *series, const char *pack, pks_error *error) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < series->sealed_count; i++) { bytes += series->sealed[i]->info.file_length; }
  for (uint64_t i = 0; i < PKS__SCRATCH_COUNT(&txn->segments, pks__staged_segment); i++) {
    const pks__segment *staged = PKS__SCRATCH_AT(&txn->segments, const pks__staged_segment, i)->segment;
    if (staged->is_purgeable) { bytes += staged->file_length; }
  }
  // An evacuation that frees more than it copies must not purge: its plan ensured the space.
  if (txn->evacuates) { return PKS_OK; }
  return pks__cache_make_room(txn->store, &pks__txn_snapshot(txn)->generation, pack, bytes, error);
}

/// Opens the add's sealed segments under the names they will have, so that later adds of this transaction find their
/// chunks.
static pks_status adopt_segments(pks_txn *txn, const pks__segment_series *series, bool purgeable, pks_error *error) {
  bool sync = txn->options.durability == PKS_DURABLE;
  for (uint32_t i = 0; i < series->sealed_count; i++) {
    pks__segment *segment;
    pks__staged_segment staged = {0};
    const pks__segment_id *id = &series->sealed[i]->info.id;
    char name[PKS__SEGMENT_NAME], path[2 * PKS__INDEX_NAME];
    pks__segment_name(id, name);
    (void)snprintf(staged.folder, sizeof staged.folder, "%s", pks__segment_series_path(series));
    (void)snprintf(path, sizeof path, "%s/%s", staged.folder, name);
    pks_status status = pks__scratch_reserve(&txn->segments, sizeof staged, error);
    if (!status && purgeable) {
      bool keeps = is_staged_durable(txn, id);
      status = pks__staging_place_in_cache(&txn->staging, staged.folder, id, keeps, sync, &segment, error);
      (void)snprintf(staged.folder, sizeof staged.folder, "%s", txn->staging.path);
    } else if (!status) {
      status = pks__segment_open(&segment, txn->store->vfs, txn->store->root, path, id, error);
    }
    if (status) { return status; }
    (void)snprintf(segment->name, sizeof segment->name, PKS__SEGMENTS_FOLDER "/%s", name);
    status = pks__store_add_segment(txn->store, &segment, error);
    if (status) {
      pks__segment_close(segment);
      return status;
    }
    staged.segment = segment;
    (void)pks__scratch_append(&txn->segments, &staged, sizeof staged, NULL);
  }
  return PKS_OK;
}

/// Brings the tables of segments of the base that the version refers to, unless the store has them.
static pks_status keep_tables(pks_txn *txn, const pks__ingest *ingest, pks_error *error) {
  bool sync = txn->options.durability == PKS_DURABLE;
  pks_status status = PKS_OK;
  for (uint64_t i = 0; !status && i < PKS__SCRATCH_COUNT(&ingest->old_segments, pks__old_segment); i++) {
    const pks__old_segment *old = PKS__SCRATCH_AT(&ingest->old_segments, const pks__old_segment, i);
    if (!old->segment->is_base || pks__segment_set_has(&txn->tables, &old->segment->id)) { continue; }
    bool had;
    status = pks__staging_keep_table(&txn->staging, old->segment, sync, &had, error);
    if (!status && !had) { status = pks__segment_set_add(&txn->tables, &old->segment->id, error); }
  }
  return status;
}

/// Lets go of segments that were adopted by an add which failed: nothing will refer to them.
static void disown_segments(pks_txn *txn, uint64_t kept) {
  for (uint64_t i = kept; i < PKS__SCRATCH_COUNT(&txn->segments, pks__staged_segment); i++) {
    pks__store_release_segment(txn->store, PKS__SCRATCH_AT(&txn->segments, pks__staged_segment, i)->segment);
  }
  txn->segments.length = kept * sizeof(pks__staged_segment);
}

/// Whether a path of the pack and a path of another pack contest a name as file and folder. Checked only where there
/// are other packs.
static pks_status find_shadows(const pks_txn *txn, pks__ingest *ingest, bool *found, pks_error *error) {
  const pks__generation *generation = &pks__txn_snapshot(txn)->generation;
  uint32_t others = generation->pack_count - (ingest->base_pack != UINT32_MAX);
  *found = false;
  return !others ? PKS_OK : pks__ingest_find_conflicts(ingest, pks__txn_snapshot(txn), found, error);
}

pks_status pks__txn_stage_version(
  pks_txn *txn, pks__ingest *ingest, pks__staged_op *change, pks_add_result *result, pks_error *error
) {
  const pks_add_request *request = &ingest->request;
  uint64_t segment_count = PKS__SCRATCH_COUNT(&txn->segments, pks__staged_segment);
  (void)snprintf(change->pack, sizeof change->pack, "%s", request->pack);
  change->set_priority = request->set_priority;
  change->priority = request->set_priority ? request->priority : 0;
  pks_status status = pks__ingest_report(ingest, PKS_PHASE_COMMIT, error);
  if (!status) {
    status = pks__ingest_lay_out(ingest, change->version.number, txn->options.durability == PKS_DURABLE, error);
  }
  bool has_paths = change->kind != PKS__CHANGE_LAYOUT;  // or else they were compared when they came
  if (!status && has_paths) { status = find_shadows(txn, ingest, &change->has_shadows, error); }
  bool in_cache = ingest->stores_purgeable && ingest->frames.series.sealed_count > 0;
  if (!status && in_cache) {
    status = pks__staging_need_cache(&txn->staging, pks__txn_snapshot(txn)->generation.cache_folder, error);
  }
  if (!status && in_cache) { status = need_room(txn, &ingest->frames.series, request->pack, error); }
  if (!status) { status = adopt_segments(txn, &ingest->frames.series, in_cache, error); }
  if (!status) { status = adopt_segments(txn, &ingest->pages.series, false, error); }
  if (!status) { status = keep_tables(txn, ingest, error); }
  if (!status) {
    change->run = ingest->run_name;
    change->version.layout = ingest->layout_id;
    change->version.attributes = ingest->attributes_id;
    ingest->result.version = pks__version_public(&change->version);
    *result = ingest->result;
    status = pks__txn_stage(txn, change, error);
  }
  if (status) { disown_segments(txn, segment_count); }
  return status;
}

pks_status pks__txn_stage_next(
  pks_txn *txn, pks__ingest *ingest, const pks_provenance *by, bool adopts, pks_add_result *result, pks_error *error
) {
  uint64_t number;
  const pks__generation *generation = &pks__txn_snapshot(txn)->generation;
  pks_status status = choose_number(generation, &ingest->request, adopts, &number, error);
  if (status) { return status; }
  pks__staged_op change = {.kind = PKS__CHANGE_ADD, .provenance = *by, .purgeable = ingest->reuse_policy.purgeable};
  change.version = (pks__version){
    .number = number,
    .catalog = ingest->catalog_id,
    .committed_at_ns = txn->options.set_date ? txn->options.date_ns : pks__vfs_now_ns(txn->store->vfs),
    .file_count = ingest->info.file_count,
    .link_count = ingest->info.link_count,
    .folder_count = ingest->info.folder_count,
    .logical_bytes = ingest->info.logical_bytes,
  };
  return pks__txn_stage_version(txn, ingest, &change, result, error);
}

/// Stages new places of map assets, and a priority.
static pks_status stage_place(pks_txn *txn, pks__ingest *ingest, pks_add_result *result, pks_error *error) {
  const pks_add_request *request = &ingest->request;
  const pks__pack_state *pack = &pks__txn_snapshot(txn)->generation.packs[ingest->base_pack];
  if (!pks__ingest_is_idle(ingest)) {
    pks__staged_op change = {.kind = PKS__CHANGE_LAYOUT, .version = pack->versions[0]};
    return pks__txn_stage_version(txn, ingest, &change, result, error);
  }
  pks_status status = pks__ingest_report(ingest, PKS_PHASE_COMMIT, error);
  if (status) { return status; }
  *result = ingest->result;
  result->version = pks__version_public(&pack->versions[0]);
  bool moves = request->set_priority && request->priority != pack->priority;
  return moves ? pks_txn_set_priority(txn, request->pack, request->priority, error) : PKS_OK;
}

pks_status pks__txn_stage_unchanged(
  pks_txn *txn, pks__ingest *ingest, const pks_provenance *by, pks_add_result *result, pks_error *error
) {
  pks_status status = stage_place(txn, ingest, result, error);
  return status ? status : pks__txn_stage_adoption(txn, ingest->request.pack, by, error);
}
