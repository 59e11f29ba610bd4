/// The life cycle of a delivery: begins, requests and accepts bytes round by round, is staged, and ends.
#include "transfer/delivery.h"

#include <string.h>

#include "base/memory.h"
#include "commit/placement.h"
#include "commit/relayout.h"
#include "ingest/incoming_folders.h"
#include "packstore_admin.h"
#include "store/snapshot.h"
#include "store/version_files.h"

// MARK: - What is asked for

static pks_status check_request(const pks_delivery_request *request, pks_error *error) {
  const char *text = NULL;
  if (!request->pack || !pks__pack_name_is_valid(request->pack)) {
    text = "invalid name; use 1 to 128 letters, digits, '-', '_' or '.', beginning with a letter, a digit or '_'";
  } else if (!pks__version_is_valid(request->version)) {
    text = "the version number is not in 1 to 9007199254740991";
  } else if (request->segment_count > 0 && !request->segments) {
    text = "no segments given";
  }
  for (uint32_t i = 0; !text && i < request->segment_count; i++) {
    const pks_site_segment *segment = &request->segments[i];
    bool fits = segment->table_length >= PKS__FRAME_TABLE_HEADER && segment->table_length <= PKS__FRAME_TABLE_MAX
      && segment->file_length >> 56 == 0;
    if (!fits) { text = "a segment or its frame table is too short or too long"; }
  }
  return text ? pks__fail_about(error, PKS_INVALID_ARGUMENT, PKS_DETAIL_NONE, PKS_SUBJECT_PACK, request->pack, text)
              : PKS_OK;
}

/// Whether the version may come by the delivery's provenance.
static pks_status check_floor(const pks_delivery *delivery, pks_error *error) {
  return pks__txn_check_provenance(
    delivery->txn, &delivery->provenance, delivery->context.pack, delivery->context.version, NULL, error
  );
}

/// Whether data of a kept version is gone.
static pks_status lacks_data(const pks_delivery *delivery, uint32_t kept, bool *lacks, pks_error *error) {
  const pks_snapshot *base = delivery->context.base;
  const pks__generation *generation = &base->generation;
  uint32_t index = pks__generation_find_pack(generation, delivery->context.pack);
  pks_availability availability = {0};
  if (index == UINT32_MAX) {
    index = generation->pack_count + pks__generation_find_removed(generation, delivery->context.pack);
  }
  pks_status status = pks_snapshot_availability(&availability, base, index, kept, error);
  *lacks = availability.missing_bytes > 0 || availability.lacks_pages;
  // An unreadable layout is ignored: it needs a repair.
  return status == PKS_CORRUPT || status == PKS_PURGED ? PKS_OK : status;
}

/// Finds lost files of the current version before anything of them is looked up: those are forgotten, and fetched where the new
/// version needs their content.
static pks_status find_losses(const pks_delivery *delivery, const pks__version *current, pks_error *error) {
  pks__version_files files;
  pks_status status = pks__version_files_find(&files, delivery->context.base, PKS_VFS_NO_FILE, current, error);
  pks__version_files_free(&files);
  return status;
}

/// Compares the version with the store's. `*needed` false: this version is current and complete.
static pks_status compare_with_base(pks_delivery *delivery, bool *needed, pks_error *error) {
  const pks__generation *generation = &delivery->context.base->generation;
  const char *pack = delivery->context.pack;
  uint64_t version = delivery->context.version;
  bool is_live;
  const pks__pack_state *state = pks__generation_find_state(generation, pack, &is_live);
  *needed = true;
  bool adopts;
  pks_status status = pks__txn_check_provenance(delivery->txn, &delivery->provenance, pack, 0, &adopts, error);
  if (status) { return status; }
  if (!state) { return check_floor(delivery, error); }
  delivery->set_priority = false;
  uint32_t kept = pks__pack_find_version(state, version);
  bool is_same = kept != UINT32_MAX
    && pks__version_is(&state->versions[kept], &delivery->context.catalog, &delivery->context.attributes);
  *needed = !is_same || kept != 0 || !is_live;
  bool lacks = false;
  if (!is_same && is_live) { status = find_losses(delivery, &state->versions[0], error); }
  if (!status && is_same) {
    delivery->kept = state->versions[kept];
    status = lacks_data(delivery, kept, &lacks, error);
  }
  if (!status && !*needed) {
    *needed = lacks;
    delivery->change = PKS__CHANGE_LAYOUT;
    return pks__txn_stage_adoption(delivery->txn, pack, &delivery->provenance, error);
  }
  if (!status) { status = check_floor(delivery, error); }
  if (status) { return status; }
  if (state->held) {
    return pks__fail_about(error, PKS_HELD, PKS_DETAIL_NONE, PKS_SUBJECT_PACK, pack, "held at its current version");
  }
  bool differs = kept != UINT32_MAX && !is_same && !adopts;
  if (differs && !pks__provenance_is_unstated(&delivery->provenance, pack, version, generation)) {
    return pks__fail_about(
      error, PKS_EXISTS, PKS_DETAIL_OTHER_CONTENT, PKS_SUBJECT_PACK, pack, "this version exists with other content"
    );
  }
  delivery->change = is_same ? PKS__CHANGE_RETURN : PKS__CHANGE_ADD;
  delivery->returns = is_same && !lacks;
  return PKS_OK;
}

// MARK: - Life

/// Lets go of all that belongs to the transaction.
static void leave_transaction(pks_delivery *delivery) {
  if (!delivery->txn) { return; }
  pks__delivery_frames_close(&delivery->frames);
  pks__delivery_requests_begin(&delivery->requests);
  pks__delivery_changes_leave(&delivery->changes);
  pks__delivery_context_leave(&delivery->context);
  delivery->txn = NULL;
}

void pks_delivery_close(pks_delivery *delivery, bool discard) {
  if (!delivery) { return; }
  pks__transfer_staging *incoming = &delivery->context.incoming;
  if (!pks__store_is_ours(delivery->context.store)) {
    pks__transfer_staging_leave(incoming);
    return;
  }
  bool takes_frames = delivery->phase == PKS__DELIVERY_FRAMES || delivery->phase == PKS__DELIVERY_DONE;
  // Gathered but unwritten chunks are kept, too.
  if (takes_frames && !discard && !delivery->failed) { pks__delivery_frames_flush(&delivery->frames); }
  leave_transaction(delivery);
  bool came = discard && !delivery->failed && delivery->phase == PKS__DELIVERY_STAGED;
  pks__transfer_staging_close(incoming, discard);
  if (came) { pks__incoming_remove_of(delivery->context.store, delivery->context.pack); }
  pks__free(delivery);
}

/// Lists the segments, and opens the folder.
static pks_status begin(pks_delivery *delivery, const pks_delivery_request *request, pks_error *error) {
  if (delivery->returns) {
    delivery->phase = PKS__DELIVERY_DONE;
    return PKS_OK;
  }
  pks_status status = pks__delivery_site_list(&delivery->site, request, error);
  return status ? status : pks__delivery_context_open(&delivery->context, error);
}

static pks_delivery *make(pks_txn *txn, const pks_delivery_request *request) {
  pks_delivery *made = pks__allocate_zeroed(1, sizeof *made);
  if (!made) { return NULL; }
  made->txn = txn;
  made->set_priority = request->set_priority;
  made->priority = request->priority;
  made->placement = request->placement;
  made->provenance = request->provenance;
  pks__delivery_context *context = &made->context;
  pks__delivery_context_init(context, txn, request);
  pks__delivery_requests_init(&made->requests, context);
  pks__delivery_site_init(&made->site, context, &made->requests);
  pks__delivery_pages_init(&made->pages, context, &made->requests, &made->site);
  pks__delivery_changes_init(&made->changes, context, &made->requests, &made->site, &made->pages);
  pks__missing_chunks_init(&made->needs, context, &made->pages, &made->changes, &made->frames.ingest);
  pks__delivery_plan_init(&made->plan, context, &made->requests, &made->site, &made->needs);
  pks__delivery_dictionaries_init(&made->dictionaries, context, &made->requests, &made->plan);
  pks__delivery_frames_init(&made->frames, context, &made->pages, &made->needs, &made->plan, &made->dictionaries);
  pks__coming_chain_init(&made->chain, context, &made->requests);
  return made;
}

pks_status pks_delivery_open(
  pks_delivery **out, bool *needed, pks_txn *txn, const pks_delivery_request *request, pks_error *error
) {
  pks_status status = pks__store_check_process(txn->store, error);
  if (!status) { status = check_request(request, error); }
  if (!status) { status = pks__txn_prepare_placement(txn, request->pack, request->placement, error); }
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

/// Ends the delivery with a machine failure, or a permanent one; returns `status`.
static pks_status end_with(pks_delivery *delivery, pks_status status, const pks_error *failure, pks_error *error) {
  delivery->failed = status;
  delivery->failure = *failure;
  if (error) { *error = *failure; }
  return status;
}

static bool is_durable(const pks_delivery *delivery) { return delivery->txn->options.durability == PKS_DURABLE; }

static pks_status need_root(pks_delivery *delivery, const pks__id *id, pks_error *error) {
  pks__page_task task = {.id = *id, .role = PKS__ROLE_ROOT};
  return pks__delivery_pages_need(&delivery->pages, &task, error);
}

/// Asks for the pages that everything hangs on, and the attributes.
static pks_status enter_roots(pks_delivery *delivery, pks_error *error) {
  const pks__delivery_context *context = &delivery->context;
  pks_status status = need_root(delivery, &context->catalog, error);
  if (!status && !delivery->changes.is_taken) { status = need_root(delivery, &context->layout, error); }
  if (status || pks__id_is_zero(&context->attributes)) { return status; }
  return need_root(delivery, &context->attributes, error);
}

/// The catalog's root has arrived: opens the ingest, and requests the pages below.
static pks_status enter_catalog(pks_delivery *delivery, pks_error *error) {
  pks__catalog_info info;
  pks__tree map;
  pks__page_source pages = pks__delivery_pages_source(&delivery->pages);
  pks_status status = pks__catalog_read_root(pages, &delivery->context.catalog, &info, &map, error);
  pks_add_request encoding = {
    .set_priority = delivery->set_priority, .priority = delivery->priority, .placement = delivery->placement};
  pks__staging *staging = &delivery->txn->staging;
  if (!status) {
    status = pks__delivery_frames_open(&delivery->frames, staging, &encoding, is_durable(delivery), error);
  }
  if (status) { return status; }
  pks__page_task task = {.id = map.root, .role = PKS__ROLE_CATALOG, .level = map.height};
  return pks__delivery_pages_need(&delivery->pages, &task, error);
}

/// Goes on to the next phase, which may need no bytes.
static pks_status enter_phase(pks_delivery *delivery, pks__delivery_phase phase, pks_error *error) {
  pks_status status;
  delivery->phase = phase;
  switch (phase) {
    case PKS__DELIVERY_ROOTS: return enter_roots(delivery, error);
    case PKS__DELIVERY_CATALOG: return enter_catalog(delivery, error);
    case PKS__MISSING_CHUNKS: return pks__missing_chunks_find(&delivery->needs, error);
    case PKS__DELIVERY_LAYOUT: return pks__missing_chunks_request_layout(&delivery->needs, error);
    case PKS__DELIVERY_TABLES:
      status = pks__missing_chunks_complete_mapped(&delivery->needs, error);
      return status ? status : pks__delivery_plan_request_tables(&delivery->plan, error);
    case PKS__DELIVERY_DICTIONARIES:
      status = pks__delivery_plan_make(&delivery->plan, error);
      return status ? status : pks__delivery_dictionaries_request(&delivery->dictionaries, error);
    case PKS__DELIVERY_FRAMES:
      if (!delivery->context.without_frames) { return pks__delivery_plan_request_frames(&delivery->plan, error); }
      return pks__delivery_frames_leave_out(&delivery->frames, error);
    case PKS__DELIVERY_HEADERS: return pks__coming_chain_request_headers(&delivery->chain, error);
    case PKS__DELIVERY_BLOCKS: return pks__coming_chain_request_blocks(&delivery->chain, error);
    case PKS__DELIVERY_BEGUN:
    case PKS__DELIVERY_CHANGES:
    case PKS__DELIVERY_DONE:
    case PKS__DELIVERY_STAGED: return PKS_OK;
  }
  return PKS_OK;
}

static pks__delivery_phase phase_after(pks__delivery_phase phase) {
  if (phase == PKS__DELIVERY_BEGUN) { return PKS__DELIVERY_ROOTS; }
  return phase == PKS__DELIVERY_BLOCKS ? PKS__DELIVERY_DONE : phase + 1;
}

/// Determines the next requests, when the whole last round was given.
static pks_status begin_round(pks_delivery *delivery, pks_error *error) {
  pks__layout_visitor visitor = {.context = &delivery->needs, .visit = pks__missing_chunks_visit_layout};
  const pks__delivery_requests *requests = &delivery->requests;
  pks__delivery_requests_begin(&delivery->requests);
  pks_status status = PKS_OK;
  while (!status && !pks__delivery_requests_any(requests) && delivery->phase != PKS__DELIVERY_DONE) {
    bool has_pages = delivery->phase <= PKS__DELIVERY_LAYOUT;
    if (has_pages) { status = pks__delivery_pages_request(&delivery->pages, &visitor, error); }
    if (!status && !pks__delivery_requests_any(requests)) {
      status = enter_phase(delivery, phase_after(delivery->phase), error);
    }
  }
  return status;
}

static pks_status invalid(const pks_delivery *delivery, const char *text, pks_error *error) {
  return pks__fail_about(error, PKS_INVALID_ARGUMENT, PKS_DETAIL_NONE, PKS_SUBJECT_PACK, delivery->context.pack, text);
}

static pks_status check_usable(const pks_delivery *delivery, pks_error *error) {
  pks_status status = pks__store_check_process(delivery->context.store, error);
  if (status) { return status; }
  if (delivery->failed && error) { *error = delivery->failure; }
  if (delivery->failed) { return delivery->failed; }
  return delivery->txn ? PKS_OK : invalid(delivery, "the delivery has ended", error);
}

pks_status pks_delivery_next(pks_delivery *delivery, pks_want *request, pks_next *next, pks_error *error) {
  pks_status status = check_usable(delivery, error);
  if (status) { return status; }
  if (pks__delivery_requests_all_given(&delivery->requests) && delivery->phase != PKS__DELIVERY_DONE) {
    pks_error failure = {0};
    status = begin_round(delivery, &failure);
    if (status) { return end_with(delivery, status, &failure, error); }
  }
  const pks__byte_request *wanted = pks__delivery_requests_hand_out(&delivery->requests);
  if (!wanted) {
    *next = pks__delivery_requests_all_given(&delivery->requests) ? PKS_NEXT_DONE : PKS_NEXT_WAIT;
    return PKS_OK;
  }
  *request = (pks_want){
    .segment = wanted->segment,
    .is_table = wanted->kind == PKS__REQUEST_TABLE,
    .offset = wanted->offset,
    .length = wanted->length,
  };
  *next = PKS_NEXT_WANT;
  return PKS_OK;
}

/// Passes the given bytes to the part that requested them.
static pks_status give(
  pks_delivery *delivery, const pks__byte_request *request, const void *bytes, bool *is_final, pks_error *error
) {
  switch ((pks__byte_request_kind)request->kind) {
    case PKS__REQUEST_TABLE: return pks__delivery_site_give_table(&delivery->site, request, bytes, is_final, error);
    case PKS__REQUEST_PAGES: return pks__delivery_pages_give(&delivery->pages, request, bytes, is_final, error);
    case PKS__REQUEST_DICTIONARY:
      return pks__delivery_dictionaries_give(&delivery->dictionaries, request, bytes, is_final, error);
    case PKS__REQUEST_FRAME: return pks__delivery_frames_give(&delivery->frames, request, bytes, is_final, error);
    case PKS__REQUEST_HEADER: return pks__coming_chain_give_header(&delivery->chain, request, bytes, is_final, error);
    case PKS__REQUEST_CHANGES: return pks__delivery_changes_give(&delivery->changes, request, bytes, is_final, error);
    case PKS__REQUEST_BLOCK: return pks__coming_chain_give_block(&delivery->chain, request, bytes, is_final, error);
  }
  return PKS_OK;
}

pks_status pks_delivery_give(
  pks_delivery *delivery, const void *bytes, size_t byte_count, bool *is_final, pks_error *error
) {
  pks_error failure = {0};
  pks_status status = check_usable(delivery, error);
  *is_final = status != PKS_OK;
  if (status) { return status; }
  const pks__byte_request *request = pks__delivery_requests_oldest(&delivery->requests);
  if (!request || byte_count != request->length) {
    return invalid(delivery, "wrong length for the oldest pending request", error);
  }
  status = give(delivery, request, bytes, is_final, &failure);
  if (!status) {
    *is_final = false;
    pks__delivery_requests_take(&delivery->requests);
    return PKS_OK;
  }
  if (*is_final) { return end_with(delivery, status, &failure, error); }
  if (error) { *error = failure; }
  return status;
}

pks_status pks_delivery_use_changes(
  pks_delivery *delivery, const pks_delivery_changes *changes, bool *is_wanted, pks_error *error
) {
  pks_status status = check_usable(delivery, error);
  if (status) { return status; }
  bool makes_sense = changes->length >= PKS__CHANGE_LIST_FIXED && changes->length <= PKS__CHANGE_LIST_MAX
    && delivery->change == PKS__CHANGE_ADD && delivery->phase == PKS__DELIVERY_BEGUN;
  if (!makes_sense) { return invalid(delivery, "no change list of this length can be used here", error); }
  pks_error failure = {0};
  delivery->phase = PKS__DELIVERY_CHANGES;
  status = pks__delivery_changes_request(&delivery->changes, changes, &failure);
  *is_wanted = pks__delivery_requests_any(&delivery->requests);
  return status ? end_with(delivery, status, &failure, error) : PKS_OK;
}

const char *pks_delivery_folder(const pks_delivery *delivery) {
  return delivery->context.incoming.store ? delivery->context.incoming.path : NULL;
}

pks_status pks_delivery_use_segment(pks_delivery *delivery, const uint8_t id[16], pks_error *error) {
  pks_status status = check_usable(delivery, error);
  if (status) { return status; }
  bool makes_sense = delivery->phase == PKS__DELIVERY_BEGUN && pks_delivery_folder(delivery);
  if (!makes_sense) { return invalid(delivery, "no segment of another store can be used any more", error); }
  pks__segment_id segment;
  memcpy(segment.bytes, id, sizeof segment.bytes);
  return pks__transfer_staging_share(&delivery->context.incoming, &segment, error);
}

pks_status pks_delivery_use_deltas(pks_delivery *delivery, const pks_delivery_chain *chain, pks_error *error) {
  pks_status status = check_usable(delivery, error);
  if (status) { return status; }
  bool makes_sense =
    pks__coming_chain_makes_sense(chain) && delivery->change == PKS__CHANGE_ADD && delivery->chain.count == 0;
  if (!makes_sense) { return invalid(delivery, "no deltas of these lengths can be used here", error); }
  uint64_t frame_bytes = delivery->plan.is_made ? pks_delivery_measure(delivery).bytes_total : 0;
  // The frames of an interrupted delivery stay in the folder.
  pks__delivery_frames_close(&delivery->frames);
  pks__delivery_requests_begin(&delivery->requests);
  pks__coming_chain_use(&delivery->chain, chain, frame_bytes);
  pks_error failure = {0};
  status = enter_phase(delivery, PKS__DELIVERY_HEADERS, &failure);
  return status ? end_with(delivery, status, &failure, error) : PKS_OK;
}

pks_delivery_totals pks_delivery_measure(const pks_delivery *delivery) {
  const pks__delivery_plan *plan = &delivery->plan;
  const pks__delivery_frames *frames = &delivery->frames;
  const pks__delivery_dictionaries *dictionaries = &delivery->dictionaries;
  const pks__coming_chain *chain = &delivery->chain;
  uint64_t metadata_bytes = delivery->site.given_bytes + delivery->pages.given_bytes + delivery->changes.given_bytes;
  if (chain->count > 0) {
    return (pks_delivery_totals){
      .is_planned = true,
      .bytes_total = chain->bytes_total,
      .bytes_done = chain->bytes_done,
      .bytes_resumed = chain->bytes_resumed,
      .metadata_bytes = metadata_bytes,
    };
  }
  return (pks_delivery_totals){
    .is_planned = plan->is_made,
    .bytes_total = frames->resumed_bytes + dictionaries->bytes + plan->bytes,
    .bytes_done = frames->resumed_bytes + dictionaries->bytes_done + frames->bytes_done,
    .bytes_resumed = frames->resumed_bytes,
    .metadata_bytes = metadata_bytes,
    .chunks_total = frames->resumed_chunks + plan->chunks,
    .chunks_done = frames->resumed_chunks + frames->chunks_done,
    .raw_bytes = frames->resumed_raw_bytes + plan->raw_bytes,
  };
}

// MARK: - Staging

static pks_status apply_deltas(pks_delivery *delivery, pks_add_result *result, pks_error *error) {
  pks__coming_chain *chain = &delivery->chain;
  pks_delta_step steps[PKS_DELTA_CHAIN_MAX];
  for (uint32_t i = 0; i < chain->count; i++) {
    steps[i].delta = pks__coming_chain_source(chain, i);
    steps[i].header_digest = chain->deltas[i].request.header_digest;
  }
  const pks_delta_step *last = &steps[chain->count - 1];
  pks_apply_request request = {
    .delta = last->delta,
    .header_digest = last->header_digest,
    .steps = steps,
    .step_count = chain->count - 1,
    .provenance = delivery->provenance,
    .set_priority = delivery->set_priority,
    .priority = delivery->priority,
    .max_rows = delivery->context.max_rows,
    .context = chain->progress_context,
    .progress = chain->progress,
  };
  return pks_txn_apply_delta(result, delivery->txn, &request, error);
}

/// Lays kept versions out again that shared lost chunks with the version that brought them back.
static pks_status heal_kept_versions(pks_txn *txn, const char *pack, pks_error *error) {
  uint32_t count = 0, index = pks__generation_find_pack(&pks__txn_snapshot(txn)->generation, pack);
  return index == UINT32_MAX ? PKS_OK : pks__txn_heal_versions(txn, index, 1, &count, error);
}

static pks_status stage(pks_delivery *delivery, pks_add_result *result, pks_error *error) {
  pks_txn *txn = delivery->txn;
  const pks__delivery_context *context = &delivery->context;
  pks__delivery_frames *frames = &delivery->frames;
  bool sync = is_durable(delivery);
  if (!pks__pack_is_same(context->pack, &context->base->generation, &pks__txn_snapshot(txn)->generation)) {
    return pks__fail_about(
      error, PKS_CONFLICT, PKS_DETAIL_PACK_CHANGED, PKS_SUBJECT_PACK, context->pack,
      "changed by the transaction since the delivery began"
    );
  }
  if (delivery->chain.count > 0) { return apply_deltas(delivery, result, error); }
  pks_status status = delivery->returns
    ? pks__delivery_frames_walk_kept(frames, &txn->staging, &delivery->kept, sync, error)
    : pks__delivery_frames_walk(frames, sync, error);
  if (status) { return status; }
  pks__ingest *ingest = &frames->ingest;
  pks__staged_op change = {.kind = PKS__CHANGE_ADD, .provenance = delivery->provenance};
  change.purgeable = ingest->reuse_policy.purgeable;
  change.version = (pks__version){
    .number = context->version,
    .catalog = context->catalog,
    .committed_at_ns = context->committed_at_ns,
    .file_count = ingest->info.file_count,
    .link_count = ingest->info.link_count,
    .folder_count = ingest->info.folder_count,
    .logical_bytes = ingest->info.logical_bytes,
  };
  if (delivery->change != PKS__CHANGE_ADD) {
    change.kind = delivery->change;
    change.version = delivery->kept;
  }
  bool has_losses = ingest->reuse_policy.has_losses;
  status = pks__txn_stage_version(txn, ingest, &change, result, error);
  return !status && has_losses ? heal_kept_versions(txn, context->pack, error) : status;
}

pks_status pks_delivery_stage(pks_add_result *result, pks_delivery *delivery, pks_error *error) {
  pks_add_result discarded;
  pks_status status = check_usable(delivery, error);
  if (status) { return status; }
  if (delivery->phase != PKS__DELIVERY_DONE) {
    return invalid(delivery, "the delivery still has pending requests", error);
  }
  status = stage(delivery, result ? result : &discarded, error);
  if (!status) {
    status = pks__txn_follow_placement(delivery->txn, delivery->context.pack, delivery->placement, error);
  }
  delivery->phase = PKS__DELIVERY_STAGED;
  leave_transaction(delivery);
  return status;
}
