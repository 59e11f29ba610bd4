#include "commit/evacuation.h"

#include <stdio.h>

#include "commit/copy_order.h"
#include "commit/relayout.h"
#include "segment/frame_check.h"
#include "store/chunk_lookup.h"
#include "store/snapshot.h"

typedef struct evacuation {
  pks_txn *txn;
  const pks__evacuation_plan *plan;
  pks__reuse_policy reuse_policy;
  pks__copy_order order;
  pks__ingest *ingest;                ///< ingest of the first version, which receives the frames of all
  pks__frame_reader *reader;          ///< while frames are copied
  pks__scratch stored;                ///< of one frame
  pks__scratch ids, ends;             ///< chunks of the current frame: pks__id, uint32_t
  pks__scratch fetched;               ///< of one chunk
  pks__stored_dictionary dictionary;  ///< the dictionary of the last copied frame with one
  const pks__segment *dictionary_segment;
  uint32_t dictionary_codec;
  pks__scratch dictionary_bytes;
  bool (*progress)(void *context, const pks_progress *progress);
  void *context;
} evacuation;

// MARK: - Frames

static pks__segment *segment_of(const evacuation *evacuation, const pks__copy_item *item) {
  return pks__chunk_use_segment(&evacuation->plan->use, item->segment)->segment;
}

/// The dictionary that a frame needs, to be copied along; NULL: it needs none. Neighbours mostly need the same one.
static pks_status find_dictionary(
  evacuation *evacuation, pks__segment *segment, uint32_t codec, const pks__stored_dictionary **out, pks_error *error
) {
  *out = NULL;
  if (!pks__codec_has_dictionary(codec)) { return PKS_OK; }
  *out = &evacuation->dictionary;
  if (evacuation->dictionary_segment == segment && evacuation->dictionary_codec == codec) { return PKS_OK; }
  evacuation->dictionary_segment = NULL;
  pks_status status =
    pks__stored_dictionary_read(segment, codec, &evacuation->dictionary_bytes, &evacuation->dictionary, error);
  bool is_it;
  if (!status) {
    pks_sha256 *sha256 = evacuation->txn->store->sha256;
    status = pks__stored_dictionary_check(&evacuation->dictionary, sha256, &is_it, error);
  }
  if (status) { return status; }
  // Frames of other packs may become neighbours of this copy.
  if (!is_it) {
    const char *text = "a dictionary has other content than its id";
    return pks__fail(error, PKS_CORRUPT, text, segment->name, PKS_NO_OFFSET);
  }
  evacuation->dictionary_segment = segment;
  evacuation->dictionary_codec = codec;
  return PKS_OK;
}

/// Copies a frame as it is, with all of its chunks. `abuts`: it goes right behind the one copied before. `goes_on`: another will
/// go right behind it.
static pks_status keep_frame(
  evacuation *evacuation, pks__segment *segment, const pks__frame *old, bool abuts, bool goes_on, pks_error *error
) {
  const pks__frame_ref *ref = &old->ref;
  evacuation->stored.length = evacuation->ids.length = evacuation->ends.length = 0;
  pks_status status = pks__scratch_reserve(&evacuation->stored, ref->stored_length, error);
  if (!status) { status = pks__frame_read_stored(segment, ref, evacuation->stored.bytes, error); }
  const pks__stored_dictionary *dictionary;
  if (!status) { status = find_dictionary(evacuation, segment, ref->codec, &dictionary, error); }
  for (uint32_t i = 0; !status && i < old->chunk_count; i++) {
    const pks__id *id;
    pks__chunk_place place;
    status = pks__segment_chunk_id(segment, old->first_chunk + i, &id, error);
    if (!status) { status = pks__segment_chunk(segment, old->first_chunk + i, &place, error); }
    if (!status) { status = pks__scratch_append(&evacuation->ids, id, sizeof *id, error); }
    if (!status) { status = pks__scratch_append(&evacuation->ends, &place.end, sizeof place.end, error); }
  }
  if (status) { return status; }
  uint64_t alignment = ref->offset % PKS__PAGE == 0 ? PKS__PAGE : 8;
  pks__encoded_frame frame = {
    .stored = evacuation->stored.bytes,
    .stored_length = ref->stored_length,
    .codec = dictionary ? PKS__CODEC_ZSTD : ref->codec,
    .dictionary = dictionary,
    .alignment = ref->codec != PKS__CODEC_RAW || abuts ? 1 : alignment,
    .ids = PKS__SCRATCH_AT(&evacuation->ids, const pks__id, 0),
    .ends = PKS__SCRATCH_AT(&evacuation->ends, const uint32_t, 0),
    .chunk_count = old->chunk_count,
    .ends_asset = !goes_on,
  };
  return pks__frame_pipeline_add_encoded(&evacuation->ingest->frames, &frame, error);
}

/// Adds a chunk, to be encoded with its neighbours.
static pks_status encode_again(
  evacuation *evacuation, const pks__copy_item *item, const pks__frame *frame, bool at_start, pks_error *error
) {
  pks__frame_source source = {segment_of(evacuation, item), frame->ref};
  pks_store *store = evacuation->txn->store;
  uint32_t length = item->end - item->begin;
  const pks__id *id;
  evacuation->fetched.length = 0;
  pks_status status = pks__scratch_reserve(&evacuation->fetched, length, error);
  if (status) { return status; }
  uint8_t *bytes = evacuation->fetched.bytes;
  status = pks__store_read_frame(store, evacuation->reader, &source, item->begin, item->end, bytes, error);
  if (!status) { status = pks__segment_chunk_id(source.segment, item->row, &id, error); }
  if (status) { return status; }
  return pks__frame_pipeline_add(&evacuation->ingest->frames, id, bytes, length, at_start, error);
}

/// Whether the frame of item `index` is a raw one right behind `before`, which was copied as one.
static bool follows(
  const evacuation *evacuation, const pks__copy_item *item, const pks__frame *before, uint64_t index
) {
  if (before->ref.codec != PKS__CODEC_RAW || index >= pks__copy_order_count(&evacuation->order)) { return false; }
  const pks__copy_item *next = pks__copy_order_at(&evacuation->order, index);
  pks__frame frame;
  if (next->segment != item->segment) { return false; }
  bool is_raw =
    !pks__segment_frame(segment_of(evacuation, next), next->frame, &frame, NULL) && frame.ref.codec == PKS__CODEC_RAW;
  return is_raw && before->ref.offset + before->ref.stored_length == frame.ref.offset;
}

/// Stores the items from `*at` on that are of one frame.
static pks_status copy_frame(evacuation *evacuation, uint64_t *at, bool *abuts, pks_error *error) {
  pks__frame_pipeline *pipeline = &evacuation->ingest->frames;
  pks__frame frame;
  uint64_t count;
  bool as_it_is;
  pks_status status = pks__copy_order_frame(&evacuation->order, *at, &count, &as_it_is, &frame, error);
  for (uint64_t i = *at; !status && i < *at + count; i++) {
    pks__copy_item item = *pks__copy_order_at(&evacuation->order, i);
    if (item.begins_asset) {
      pks__frame_pipeline_end_asset(pipeline);
      pks__frame_pipeline_begin_asset(pipeline, pks__copy_order_asset_bytes(&evacuation->order, i), false, NULL);
    }
    if (item.follows_gap && !item.begins_asset) { pks__frame_pipeline_skip(pipeline); }
    bool is_last = i + 1 == *at + count;
    if (!as_it_is) { status = encode_again(evacuation, &item, &frame, item.begins_asset, error); }
    if (as_it_is && is_last) {
      bool goes_on = follows(evacuation, &item, &frame, i + 1);
      status = keep_frame(evacuation, segment_of(evacuation, &item), &frame, *abuts, goes_on, error);
      *abuts = goes_on;
      pks__frame_pipeline_skip(pipeline);  // this frame comes between
    }
  }
  *at += count;
  return status;
}

/// Stores the live data of all emptied data segments again. These chunks are new to the ingest's walk.
static pks_status copy_segments(evacuation *evacuation, pks_error *error) {
  pks__frame_pipeline *pipeline = &evacuation->ingest->frames;
  pks__frame_readers *readers = &evacuation->txn->store->readers;
  pks_status status = pks__copy_order_make(
    &evacuation->order, evacuation->plan, pks__txn_snapshot(evacuation->txn), &evacuation->reuse_policy,
    &evacuation->txn->staging.scratch, error
  );
  if (!status) { status = pks__frame_reader_take(readers, &evacuation->reader, error); }
  pks__frame_pipeline_begin_asset(pipeline, 0, false, NULL);
  bool abuts = false;
  for (uint64_t at = 0; !status && at < pks__copy_order_count(&evacuation->order);) {
    status = copy_frame(evacuation, &at, &abuts, error);
    if (!status) { status = pks__ingest_report(evacuation->ingest, PKS_PHASE_STORE, error); }
  }
  pks__frame_pipeline_end_asset(pipeline);
  if (evacuation->reader) { pks__frame_reader_return(readers, evacuation->reader); }
  evacuation->reader = NULL;
  pks__copy_order_free(&evacuation->order);
  return status;
}

// MARK: - Versions

/// Fetches chunks that were not copied: those of map assets that are laid out again.
static pks_status fetch_chunk(void *context, const pks__chunk_want *want, uint8_t *out, pks_error *error) {
  evacuation *evacuation = context;
  bool found;
  pks_status status =
    pks__chunk_want_read(want, pks__txn_snapshot(evacuation->txn), &evacuation->fetched, out, &found, error);
  return status || found ? status : pks__chunk_want_fail(want, error);
}

static bool report(void *context, const pks_progress *progress) {
  evacuation *evacuation = context;
  return evacuation->progress(evacuation->context, progress);
}

/// All processors except one: freeing space can wait, and a concurrent reader then seldom waits for a processor.
static uint32_t thread_count(const pks_store *store) { return store->thread_count > 1 ? store->thread_count - 1 : 1; }

/// Lays a version out again, which the transaction's snapshot shows as it is in the plan's.
static pks_status move_version(
  evacuation *evacuation, const char *pack, const pks__version *version, bool is_current, uint64_t *copied_bytes,
  pks_error *error
) {
  pks_txn *txn = evacuation->txn;
  pks_snapshot *snapshot = pks__txn_snapshot(txn);
  bool sync = txn->options.durability == PKS_DURABLE, is_first = txn->changes.length == 0;
  pks__version_request request = pks__relayout_request(snapshot, pack, version, is_current, &evacuation->plan->avoided);
  request.keeps_missing = true;
  request.stores_durably = is_first && !evacuation->plan->is_purgeable;
  request.fetch = (pks__chunk_fetch){.context = evacuation, .fetch = fetch_chunk};
  request.progress = evacuation->progress ? report : NULL;
  request.context = evacuation;
  pks__staged_op change = {.kind = PKS__CHANGE_LAYOUT, .version = *version};
  pks__ingest ingest;
  pks_add_result result;
  pks_status status =
    pks__ingest_version_open(&ingest, &txn->staging, snapshot, &request, thread_count(txn->store), sync, error);
  evacuation->ingest = &ingest;
  if (!status && is_first) { status = copy_segments(evacuation, error); }
  if (!status) { status = pks__ingest_version_walk(&ingest, &request, error); }
  if (!status) { status = pks__txn_stage_version(txn, &ingest, &change, &result, error); }
  if (!status) { *copied_bytes += result.new_stored_bytes; }
  pks__ingest_close(&ingest);
  return status;
}

pks_status pks__evacuate(
  pks_txn *txn, const pks__evacuation_plan *plan, bool (*progress)(void *context, const pks_progress *progress),
  void *context, uint64_t *copied_bytes, pks_error *error
) {
  evacuation evacuation = {.txn = txn, .plan = plan, .progress = progress, .context = context};
  pks__scratch *all[] = {
    &evacuation.stored, &evacuation.ids, &evacuation.ends, &evacuation.fetched, &evacuation.dictionary_bytes};
  for (size_t i = 0; i < PKS_COUNT_OF(all); i++) { pks__scratch_init(all[i], &txn->staging.scratch); }
  const char *owner = plan->is_purgeable ? pks__generation_any_pack(&txn->base->generation, plan->pack)->name : "";
  pks_status status = pks__reuse_policy_open(
    &evacuation.reuse_policy, txn->base, owner, plan->is_purgeable, &plan->avoided, &txn->staging.scratch, error
  );
  *copied_bytes = 0;
  txn->evacuates = true;
  for (uint64_t i = 0; !status && i < PKS__SCRATCH_COUNT(&plan->versions, pks__planned_version); i++) {
    pks__planned_version at = *PKS__SCRATCH_AT(&plan->versions, const pks__planned_version, i);
    const pks__generation *generation = &txn->base->generation;
    const pks__pack_state *pack = pks__generation_any_pack(generation, at.pack);
    bool is_current = at.pack < generation->pack_count && at.version == 0;
    status = move_version(&evacuation, pack->name, &pack->versions[at.version], is_current, copied_bytes, error);
  }
  pks__reuse_policy_free(&evacuation.reuse_policy);
  for (size_t i = 0; i < PKS_COUNT_OF(all); i++) { pks__scratch_free(all[i]); }
  return status;
}
