/// The life of a delivery: begun, told what to fetch and given it round by round, staged, ended.
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "ingest/ingest_version.h"
#include "store/chunk_lookup.h"
#include "store/snapshot.h"
#include "transfer/delivery_delta.h"
#include "transfer/delivery_frames.h"
#include "transfer/delivery_needs.h"
#include "transfer/delivery_pages.h"
#include "transfer/delivery_state.h"

// MARK: - What is asked for

static pks_status check_request(const pks_delivery_request *request, pks_error *error) {
  const char *text = NULL;
  if (!request->pack || !pks__pack_name_is_valid(request->pack)) {
    text = "a pack's name is 1 to 128 letters, digits, '-', '_' or '.', and begins with a letter, a digit or '_'";
  } else if (!pks__version_is_valid(request->version)) {
    text = "version numbers go from 1 to 9007199254740991";
  } else if (request->segment_count > 0 && !request->segments) {
    text = "no segments given";
  }
  for (uint32_t i = 0; !text && i < request->segment_count; i++) {
    const pks_site_segment *segment = &request->segments[i];
    bool fits = segment->table_length >= PKS__FRAME_TABLE_HEADER && segment->table_length <= PKS__FRAME_TABLE_MAX
      && segment->file_length >> 56 == 0;
    if (!fits) { text = "a segment or its frame table is too short or too long"; }
  }
  return text ? pks__fail(error, PKS_INVALID_ARGUMENT, text, request->pack, PKS_NO_OFFSET) : PKS_OK;
}

/// Whether the version may come by the delivery's provenance.
static pks_status check_floor(const pks_delivery *delivery, pks_error *error) {
  return pks__txn_check_provenance(
    delivery->txn, &delivery->provenance, delivery->pack, delivery->version, NULL, error
  );
}

/// What the store has of the pack already. `*needed` false: this very version is current.
static pks_status compare_with_base(pks_delivery *delivery, bool *needed, pks_error *error) {
  const pks__generation *generation = &delivery->base->generation;
  uint32_t live = pks__generation_find_pack(generation, delivery->pack);
  uint32_t removed = pks__generation_find_removed(generation, delivery->pack);
  const pks__pack_state *state = live != UINT32_MAX ? &generation->packs[live] : NULL;
  if (removed != UINT32_MAX) { state = &generation->removed[removed]; }
  *needed = true;
  bool adopts;
  pks_status status =
    pks__txn_check_provenance(delivery->txn, &delivery->provenance, delivery->pack, 0, &adopts, error);
  if (status) { return status; }
  if (!state) { return check_floor(delivery, error); }
  delivery->set_priority = false;
  uint32_t kept = pks__pack_find_version(state, delivery->version);
  bool is_same =
    kept != UINT32_MAX && pks__version_is(&state->versions[kept], &delivery->catalog, &delivery->attributes);
  *needed = !is_same || kept != 0 || live == UINT32_MAX;
  if (!*needed) { return pks__txn_stage_adoption(delivery->txn, delivery->pack, &delivery->provenance, error); }
  status = check_floor(delivery, error);
  if (status) { return status; }
  if (state->held) {
    return pks__fail(error, PKS_HELD, "the pack is held at its current version", delivery->pack, PKS_NO_OFFSET);
  }
  bool differs = kept != UINT32_MAX && !is_same && !adopts;
  if (differs && !pks__provenance_is_unstated(&delivery->provenance, delivery->pack, delivery->version, generation)) {
    return pks__fail(
      error, PKS_EXISTS, "that version of the pack exists with other content", delivery->pack, PKS_NO_OFFSET
    );
  }
  delivery->returns = is_same;
  if (is_same) { delivery->kept = state->versions[kept]; }
  return PKS_OK;
}

// MARK: - Life

/// Calls one of these for each array and map of the delivery.
static void visit_scratch(
  pks_delivery *delivery, void (*array)(pks__scratch *, pks__scratch_folder *),
  void (*map)(pks__hash_map *, pks__scratch_folder *)
) {
  pks__scratch_folder *home = &delivery->home;
  pks__scratch *all[] = {
    &delivery->segments,    &delivery->tables,       &delivery->page_places, &delivery->wants,
    &delivery->tasks,       &delivery->waiting,      &delivery->seen,        &delivery->page,
    &delivery->texts,       &delivery->files,        &delivery->chunks,      &delivery->needed_segments,
    &delivery->starts,      &delivery->heads,        &delivery->order,       &delivery->plan,
    &delivery->raw,         &delivery->ids,          &delivery->ends,        &delivery->stored,
    &delivery->delta.bytes, &delivery->delta.starts, &delivery->delta.block,
  };
  pks__hash_map *maps[] = {
    &delivery->segments_by_id, &delivery->pages_by_id, &delivery->seen_by_id, &delivery->missing};
  for (size_t i = 0; i < PKS_COUNT_OF(all); i++) { array(all[i], home); }
  for (size_t i = 0; i < PKS_COUNT_OF(maps); i++) { map(maps[i], home); }
}

static void free_array(pks__scratch *array, pks__scratch_folder *home) {
  (void)home;
  pks__scratch_free(array);
}

static void free_map(pks__hash_map *map, pks__scratch_folder *home) {
  (void)home;
  pks__hash_map_free(map);
}

/// Lets go of all that belongs to the transaction.
static void leave_transaction(pks_delivery *delivery) {
  if (!delivery->txn) { return; }
  if (delivery->has_ingest) { pks__ingest_close(&delivery->ingest); }
  delivery->has_ingest = false;
  pks__decoder_destroy(delivery->decoder);
  delivery->decoder = NULL;
  visit_scratch(delivery, free_array, free_map);
  pks__snapshot_release(delivery->base);
  delivery->base = NULL;
  delivery->txn = NULL;
}

void pks_delivery_close(pks_delivery *delivery, bool discard) {
  if (!delivery) { return; }
  if (!pks__store_is_ours(delivery->store)) {
    pks__transfer_staging_leave(&delivery->incoming);
    return;
  }
  bool has_pending = delivery->has_ingest && !discard && !delivery->failed && !delivery->returns
    && (delivery->phase == PKS__DELIVERY_FRAMES || delivery->phase == PKS__DELIVERY_DONE);
  // What is gathered and not written yet is kept, too. If that fails, it is wanted again.
  if (has_pending) { (void)pks__frame_pipeline_flush(&delivery->ingest.frames, NULL); }
  leave_transaction(delivery);
  pks__transfer_staging_close(&delivery->incoming, discard);
  pks__free(delivery);
}

static pks_status list_segments(pks_delivery *delivery, const pks_delivery_request *request, pks_error *error) {
  pks_status status = PKS_OK;
  for (uint32_t i = 0; !status && i < request->segment_count; i++) {
    pks__site_segment segment = {.info = request->segments[i]};
    uint64_t key = pks__hash_map_key(&delivery->segments_by_id, segment.info.id, sizeof segment.info.id);
    status = pks__scratch_append(&delivery->segments, &segment, sizeof segment, error);
    if (!status) { status = pks__hash_map_insert(&delivery->segments_by_id, key, i, error); }
  }
  return status;
}

/// Opens the folder, and asks for the pages that everything hangs on, and the attributes.
static pks_status begin(pks_delivery *delivery, const pks_delivery_request *request, pks_error *error) {
  if (delivery->returns) {
    delivery->phase = PKS__DELIVERY_DONE;
    return PKS_OK;
  }
  delivery->decoder = pks__decoder_create();
  if (!delivery->decoder) { return pks__fail_memory(error); }
  pks_status status = list_segments(delivery, request, error);
  if (!status) {
    status = pks__transfer_staging_open(
      &delivery->incoming, delivery->store, &delivery->home, delivery->pack, &delivery->catalog, error
    );
  }
  if (!status) { status = pks__delivery_need_page(delivery, &delivery->catalog, PKS__ROLE_ROOT, 0, 0, 0, error); }
  if (!status) { status = pks__delivery_need_page(delivery, &delivery->layout, PKS__ROLE_ROOT, 0, 0, 0, error); }
  if (status || pks__id_is_zero(&delivery->attributes)) { return status; }
  return pks__delivery_need_page(delivery, &delivery->attributes, PKS__ROLE_ROOT, 0, 0, 0, error);
}

static pks_delivery *make(pks_txn *txn, const pks_delivery_request *request) {
  pks_delivery *delivery = pks__allocate_zeroed(1, sizeof *delivery);
  if (!delivery) { return NULL; }
  delivery->store = txn->store;
  delivery->txn = txn;
  delivery->base = pks__snapshot_retain(pks__txn_snapshot(txn));
  delivery->home =
    (pks__scratch_folder){.vfs = txn->store->vfs, .folder = txn->staging.folder, .key = txn->store->map_key};
  (void)snprintf(delivery->pack, sizeof delivery->pack, "%s", request->pack);
  delivery->version = request->version;
  memcpy(delivery->catalog.bytes, request->catalog, sizeof delivery->catalog.bytes);
  memcpy(delivery->layout.bytes, request->layout, sizeof delivery->layout.bytes);
  memcpy(delivery->attributes.bytes, request->attributes, sizeof delivery->attributes.bytes);
  delivery->committed_at_ns = request->committed_at_ns;
  delivery->set_priority = request->set_priority;
  delivery->provenance = request->provenance;
  delivery->priority = request->priority;
  delivery->table_batch = 1;
  delivery->open_file = UINT32_MAX;
  visit_scratch(delivery, pks__scratch_init, pks__hash_map_init);
  return delivery;
}

pks_status pks_delivery_open(
  pks_delivery **out, bool *needed, pks_txn *txn, const pks_delivery_request *request, pks_error *error
) {
  pks_status status = pks__store_check_process(txn->store, error);
  if (!status) { status = check_request(request, error); }
  if (status) { return status; }
  pks_delivery *delivery = make(txn, request);
  if (!delivery) { return pks__fail_memory(error); }
  bool is_needed;
  status = compare_with_base(delivery, &is_needed, error);
  if (!status && is_needed) { status = begin(delivery, request, error); }
  if (status || !is_needed) {
    pks_delivery_close(delivery, false);
    delivery = NULL;
  }
  if (status) { return status; }
  *out = delivery;
  *needed = is_needed;
  return PKS_OK;
}

// MARK: - Rounds

/// Goes on to the next phase, which may turn out to want nothing.
static pks_status enter_phase(pks_delivery *delivery, pks__delivery_phase phase, pks_error *error) {
  pks__catalog_info info;
  pks__tree map;
  pks_status status = PKS_OK;
  delivery->phase = phase;
  switch (phase) {
    case PKS__DELIVERY_CATALOG:
      status = pks__catalog_read_root(pks__delivery_pages(delivery), &delivery->catalog, &info, &map, error);
      if (!status) { status = pks__delivery_open_ingest(delivery, error); }
      if (status) { return status; }
      return pks__delivery_need_page(delivery, &map.root, PKS__ROLE_CATALOG, map.height, 0, 0, error);
    case PKS__DELIVERY_LAYOUT:
      status = pks__delivery_find_needs(delivery, error);
      return status ? status : pks__delivery_need_layout(delivery, error);
    case PKS__DELIVERY_TABLES: return pks__delivery_want_tables(delivery, error);
    case PKS__DELIVERY_FRAMES: return pks__delivery_plan(delivery, error);
    case PKS__DELIVERY_HEADER: return pks__delivery_want_header(delivery, error);
    case PKS__DELIVERY_BLOCKS: return pks__delivery_want_blocks(delivery, error);
    case PKS__DELIVERY_ROOTS:
    case PKS__DELIVERY_DONE:
    case PKS__DELIVERY_STAGED: return PKS_OK;
  }
  return PKS_OK;
}

static pks__delivery_phase phase_after(pks__delivery_phase phase) {
  return phase == PKS__DELIVERY_BLOCKS ? PKS__DELIVERY_DONE : phase + 1;
}

/// Finds out what is wanted next, when all of the last round was given.
static pks_status begin_round(pks_delivery *delivery, pks_error *error) {
  delivery->wants.length = 0;
  delivery->handed = delivery->given = 0;
  pks_status status = PKS_OK;
  while (!status && delivery->wants.length == 0 && delivery->phase != PKS__DELIVERY_DONE) {
    bool has_pages = delivery->phase <= PKS__DELIVERY_LAYOUT;
    if (has_pages) { status = pks__delivery_want_pages(delivery, pks__delivery_read_layout, error); }
    if (!status && delivery->wants.length == 0) { status = enter_phase(delivery, phase_after(delivery->phase), error); }
  }
  return status;
}

static pks_status check_usable(const pks_delivery *delivery, pks_error *error) {
  pks_status status = pks__store_check_process(delivery->store, error);
  if (status) { return status; }
  if (delivery->failed && error) { *error = delivery->failure; }
  if (delivery->failed) { return delivery->failed; }
  if (delivery->txn) { return PKS_OK; }
  return pks__fail(error, PKS_INVALID_ARGUMENT, "the delivery has ended", delivery->pack, PKS_NO_OFFSET);
}

pks_status pks_delivery_next(pks_delivery *delivery, pks_want *want, pks_next *next, pks_error *error) {
  pks_status status = check_usable(delivery, error);
  if (status) { return status; }
  uint64_t count = PKS__SCRATCH_COUNT(&delivery->wants, pks__want);
  if (delivery->given == count && delivery->phase != PKS__DELIVERY_DONE) {
    pks_error failure = {0};
    status = begin_round(delivery, &failure);
    if (status && error) { *error = failure; }
    if (status) { return pks__delivery_fail(delivery, status, &failure); }
    count = PKS__SCRATCH_COUNT(&delivery->wants, pks__want);
  }
  if (delivery->handed == count) {
    *next = delivery->given < count ? PKS_NEXT_WAIT : PKS_NEXT_DONE;
    return PKS_OK;
  }
  const pks__want *wanted = PKS__SCRATCH_AT(&delivery->wants, const pks__want, delivery->handed++);
  *want = (pks_want){
    .segment = wanted->segment,
    .is_table = wanted->kind == PKS__WANT_TABLE,
    .offset = wanted->offset,
    .length = wanted->length,
  };
  *next = PKS_NEXT_WANT;
  return PKS_OK;
}

pks_status pks_delivery_give(
  pks_delivery *delivery, const void *bytes, size_t byte_count, bool *is_final, pks_error *error
) {
  pks_error failure = {0};
  bool is_ours_or_final = true;
  pks_status status = check_usable(delivery, error);
  *is_final = status != PKS_OK;
  if (status) { return status; }
  uint64_t index = delivery->given;
  pks__want want = {0};
  if (index < delivery->handed) { want = *PKS__SCRATCH_AT(&delivery->wants, const pks__want, index); }
  if (index == delivery->handed || byte_count != want.length) {
    const char *text = "these are not as many bytes as the oldest want has";
    return pks__fail(error, PKS_INVALID_ARGUMENT, text, delivery->pack, PKS_NO_OFFSET);
  }
  is_ours_or_final = false;
  switch ((pks__want_kind)want.kind) {
    case PKS__WANT_TABLE: status = pks__delivery_give_table(delivery, &want, bytes, &is_ours_or_final, &failure); break;
    case PKS__WANT_PAGES: status = pks__delivery_give_pages(delivery, &want, bytes, &is_ours_or_final, &failure); break;
    case PKS__WANT_FRAME: status = pks__delivery_give_frame(delivery, index, bytes, &is_ours_or_final, &failure); break;
    case PKS__WANT_HEADER:
      status = pks__delivery_give_header(delivery, &want, bytes, &is_ours_or_final, &failure);
      break;
    case PKS__WANT_BLOCK: status = pks__delivery_give_block(delivery, &want, bytes, &is_ours_or_final, &failure); break;
  }
  if (!status) {
    delivery->given++;
    return PKS_OK;
  }
  if (error) { *error = failure; }
  *is_final = is_ours_or_final;
  return *is_final ? pks__delivery_fail(delivery, status, &failure) : status;
}

pks_status pks_delivery_use_delta(pks_delivery *delivery, const pks_delivery_delta *delta, pks_error *error) {
  pks_status status = check_usable(delivery, error);
  if (status) { return status; }
  bool makes_sense = delta->header_length > PKS__DELTA_FIXED && delta->header_length <= PKS__DELTA_HEADER_MAX
    && delta->length >= delta->header_length && !delivery->returns && !delivery->delta.is_used;
  if (!makes_sense) {
    const char *text = "no delta of these lengths can be used here";
    return pks__fail(error, PKS_INVALID_ARGUMENT, text, delivery->pack, PKS_NO_OFFSET);
  }
  // What an interrupted delivery left of frames stays in the folder.
  if (delivery->has_ingest) { pks__ingest_close(&delivery->ingest); }
  delivery->has_ingest = false;
  delivery->wants.length = 0;
  delivery->handed = delivery->given = 0;
  delivery->delta.is_used = true;
  delivery->delta.request = *delta;
  if (delivery->totals.is_planned) { delivery->delta.frame_bytes = delivery->totals.bytes_total; }
  delivery->totals = (pks_delivery_totals
  ){.is_planned = true, .bytes_total = delta->length, .metadata_bytes = delivery->totals.metadata_bytes};
  pks_error failure = {0};
  status = enter_phase(delivery, PKS__DELIVERY_HEADER, &failure);
  if (status && error) { *error = failure; }
  return status ? pks__delivery_fail(delivery, status, &failure) : PKS_OK;
}

pks_delivery_totals pks_delivery_measure(const pks_delivery *delivery) { return delivery->totals; }

// MARK: - Staging

/// Whether a file is a map asset at the site; asked in order of paths. Of those whose entry is the current version's, the
/// base says it.
static bool is_mapped(void *context, const char *path, size_t path_length) {
  pks_delivery *delivery = context;
  while (delivery->next_mapped < PKS__SCRATCH_COUNT(&delivery->files, pks__needy_file)) {
    const pks__needy_file *file = pks__delivery_file(delivery, delivery->next_mapped);
    const uint8_t *other = delivery->texts.bytes + file->path;
    int order = pks__compare_bytes(other, file->path_length, path, path_length);
    if (order > 0) { return false; }
    delivery->next_mapped++;
    if (order == 0) { return file->mapped; }
  }
  return false;
}

/// A version that is kept: its catalog and layout are here, and nothing came.
static pks_status walk_kept(pks_delivery *delivery, bool sync, pks_error *error) {
  pks__version_request request = {
    .pack = delivery->pack,
    .catalog = delivery->kept.catalog,
    .layout = delivery->kept.layout,
    .attributes = delivery->kept.attributes,
    .pages = pks__snapshot_pages(delivery->base),
  };
  delivery->has_ingest = true;
  return pks__ingest_version(&delivery->ingest, &delivery->txn->staging, delivery->base, &request, sync, error);
}

/// Whether a sync of what came failed: nothing of it proves anything any more.
static bool has_failed_sync(const pks_delivery *delivery) {
  const pks__segment_series *series = &delivery->ingest.frames.series;
  for (uint32_t i = 0; i < series->sealed_count; i++) {
    if (series->sealed[i]->sync_failure) { return true; }
  }
  return false;
}

static pks_status walk_delivered(pks_delivery *delivery, bool sync, pks_error *error) {
  pks__version_request request = {
    .pack = delivery->pack,
    .catalog = delivery->catalog,
    .layout = delivery->layout,
    .is_mapped = is_mapped,
    .pages = pks__delivery_pages(delivery),
    .fetch = pks__delivery_fetch(delivery),
    .context = delivery,
  };
  pks_status status = pks__ingest_version_walk(&delivery->ingest, &request, error);
  delivery->incoming.is_spoilt = has_failed_sync(delivery);
  if (!status && sync) { status = pks__transfer_staging_sync(&delivery->incoming, error); }
  if (status) { return status; }
  delivery->ingest.result.new_chunk_count += delivery->totals.chunks_done;
  delivery->ingest.result.new_raw_bytes += delivery->totals.raw_bytes;
  return PKS_OK;
}

static pks_status stage(pks_delivery *delivery, pks_add_result *result, pks_error *error) {
  pks_txn *txn = delivery->txn;
  bool sync = txn->options.durability == PKS_DURABLE;
  if (!pks__pack_is_same(delivery->pack, &delivery->base->generation, &pks__txn_snapshot(txn)->generation)) {
    return pks__fail(error, PKS_CONFLICT, "the transaction changed the pack meanwhile", delivery->pack, PKS_NO_OFFSET);
  }
  if (delivery->delta.is_used) { return pks__delivery_apply(delivery, result, error); }
  pks_status status = delivery->returns ? walk_kept(delivery, sync, error) : walk_delivered(delivery, sync, error);
  if (status) { return status; }
  pks__ingest *ingest = &delivery->ingest;
  ingest->request.set_priority = delivery->set_priority;
  ingest->request.priority = delivery->priority;
  pks__staged_op change = {.kind = PKS__CHANGE_ADD, .provenance = delivery->provenance};
  change.version = (pks__version){
    .number = delivery->version,
    .catalog = delivery->catalog,
    .committed_at_ns = delivery->committed_at_ns,
    .file_count = ingest->info.file_count,
    .link_count = ingest->info.link_count,
    .folder_count = ingest->info.folder_count,
    .logical_bytes = ingest->info.logical_bytes,
  };
  if (delivery->returns) {
    change.kind = PKS__CHANGE_RETURN;
    change.version = delivery->kept;
  }
  return pks__txn_stage_version(txn, ingest, &change, result, error);
}

pks_status pks_delivery_stage(pks_add_result *result, pks_delivery *delivery, pks_error *error) {
  pks_add_result discarded;
  pks_status status = check_usable(delivery, error);
  if (status) { return status; }
  if (delivery->phase != PKS__DELIVERY_DONE) {
    return pks__fail(error, PKS_INVALID_ARGUMENT, "the delivery still has wants", delivery->pack, PKS_NO_OFFSET);
  }
  status = stage(delivery, result ? result : &discarded, error);
  delivery->phase = PKS__DELIVERY_STAGED;
  leave_transaction(delivery);
  return status;
}
