#include "commit/evacuation.h"

#include <stdio.h>

#include "ingest/ingest_version.h"
#include "store/chunk_lookup.h"
#include "store/snapshot.h"

typedef struct evacuation {
  pks_txn *txn;
  const pks__evacuation_plan *plan;
  pks__reliance reliance;
  pks__ingest *ingest;        ///< of the first version, which takes the frames of all
  pks__frame_reader *reader;  ///< while frames are copied
  pks__scratch stored;        ///< of one frame
  pks__scratch ids, ends;     ///< likewise: pks__id, uint32_t
  pks__scratch fetched;       ///< of one chunk
  bool (*progress)(void *context, const pks_progress *progress);
  void *context;
} evacuation;

// MARK: - Frames

/// A frame of a victim that versions need.
typedef struct old_frame {
  pks__segment *segment;
  const pks__segment_use *use;
  pks__frame frame;
  uint32_t needed_bytes;  ///< raw: of chunks that are to be stored again
  bool abuts;             ///< raw, right behind the frame copied before
} old_frame;

/// Whether chunk `row` is to be stored again.
static pks_status needs_chunk(
  evacuation *evacuation, const old_frame *old, uint32_t row, bool *needed, pks_error *error
) {
  const pks__id *id;
  pks__chunk_ref ref;
  bool found = false;
  *needed = pks__chunk_use_has(&evacuation->plan->use, old->use, row);
  if (!*needed || old->frame.ref.codec == PKS__CODEC_RAW) { return PKS_OK; }
  pks_status status = pks__segment_chunk_id(old->segment, row, &id, error);
  if (!status) {
    status = pks__reliance_find_chunk(
      &evacuation->reliance, pks__txn_snapshot(evacuation->txn), id, PKS__SEGMENT_DATA, &ref, &found, error
    );
  }
  *needed = !found;
  return status;
}

static pks_status add_needed(evacuation *evacuation, old_frame *old, uint32_t row, pks_error *error) {
  bool needed;
  pks__chunk_place place;
  pks_status status = needs_chunk(evacuation, old, row, &needed, error);
  if (status || !needed) { return status; }
  status = pks__segment_chunk(old->segment, row, &place, error);
  if (!status) { old->needed_bytes += place.end - place.begin; }
  return status;
}

/// Copies the frame as it is, with all of its chunks.
static pks_status keep_frame(evacuation *evacuation, const old_frame *old, bool goes_on, pks_error *error) {
  const pks__frame_ref *ref = &old->frame.ref;
  evacuation->stored.length = evacuation->ids.length = evacuation->ends.length = 0;
  pks_status status = pks__scratch_reserve(&evacuation->stored, ref->stored_length, error);
  if (!status) { status = pks__segment_read_stored(old->segment, ref, evacuation->stored.bytes, error); }
  for (uint32_t i = 0; !status && i < old->frame.chunk_count; i++) {
    const pks__id *id;
    pks__chunk_place place;
    status = pks__segment_chunk_id(old->segment, old->frame.first_chunk + i, &id, error);
    if (!status) { status = pks__segment_chunk(old->segment, old->frame.first_chunk + i, &place, error); }
    if (!status) { status = pks__scratch_append(&evacuation->ids, id, sizeof *id, error); }
    if (!status) { status = pks__scratch_append(&evacuation->ends, &place.end, sizeof place.end, error); }
  }
  if (status) { return status; }
  uint64_t alignment = ref->offset % PKS__PAGE == 0 ? PKS__PAGE : 8;
  pks__encoded_frame frame = {
    .stored = evacuation->stored.bytes,
    .stored_length = ref->stored_length,
    .codec = ref->codec,
    .alignment = ref->codec != PKS__CODEC_RAW || old->abuts ? 1 : alignment,
    .ids = PKS__SCRATCH_AT(&evacuation->ids, const pks__id, 0),
    .ends = PKS__SCRATCH_AT(&evacuation->ends, const uint32_t, 0),
    .chunk_count = old->frame.chunk_count,
    .ends_asset = !goes_on,
  };
  return pks__frame_pipeline_add_encoded(&evacuation->ingest->frames, &frame, error);
}

/// Adds the needed chunks of a frame, to be encoded with those of its neighbours.
static pks_status take_apart(evacuation *evacuation, const old_frame *old, pks_error *error) {
  pks__frame_source source = {old->segment, old->frame.ref};
  const uint8_t *raw;
  pks_status status = pks__frame_decode(evacuation->reader, &source, &raw, error);
  for (uint32_t i = 0; !status && i < old->frame.chunk_count; i++) {
    uint32_t row = old->frame.first_chunk + i;
    const pks__id *id;
    pks__chunk_place place;
    bool needed;
    status = needs_chunk(evacuation, old, row, &needed, error);
    if (status || !needed) { continue; }
    status = pks__segment_chunk_id(old->segment, row, &id, error);
    if (!status) { status = pks__segment_chunk(old->segment, row, &place, error); }
    if (status) { break; }
    status = pks__frame_pipeline_add(
      &evacuation->ingest->frames, id, raw + place.begin, place.end - place.begin, false, error
    );
  }
  return status;
}

/// Reads frame `index`, and what of it is to be stored again.
static pks_status open_frame(evacuation *evacuation, old_frame *old, uint32_t index, pks_error *error) {
  old->needed_bytes = 0;
  pks_status status = pks__segment_frame(old->segment, index, &old->frame, error);
  for (uint32_t i = 0; !status && i < old->frame.chunk_count; i++) {
    status = add_needed(evacuation, old, old->frame.first_chunk + i, error);
  }
  return status;
}

static bool is_kept(const old_frame *old) {
  return old->needed_bytes > 0 && (uint64_t)old->needed_bytes * 4 >= (uint64_t)old->frame.ref.raw_length * 3;
}

/// Whether `next` is copied right behind `old`, as one stretch of raw bytes.
static bool follows(const old_frame *old, const old_frame *next) {
  const pks__frame_ref *before = &old->frame.ref, *ref = &next->frame.ref;
  return is_kept(old) && is_kept(next) && before->codec == PKS__CODEC_RAW && ref->codec == PKS__CODEC_RAW
    && before->offset + before->stored_length == ref->offset;
}

/// Stores again what is needed of a data segment, frame by frame.
static pks_status copy_segment(evacuation *evacuation, const pks__segment_use *use, pks_error *error) {
  pks__segment *segment = use->segment;
  old_frame old = {.segment = segment, .use = use}, next = old;
  pks_status status = segment->frame_count > 0 ? open_frame(evacuation, &next, 0, error) : PKS_OK;
  for (uint32_t i = 0; !status && i < segment->frame_count; i++) {
    bool has_next = i + 1 < segment->frame_count;
    old = next;
    if (has_next) { status = open_frame(evacuation, &next, i + 1, error); }
    bool goes_on = !status && has_next && follows(&old, &next);
    next.abuts = goes_on;
    if (status || old.needed_bytes == 0) { continue; }
    status = is_kept(&old) ? keep_frame(evacuation, &old, goes_on, error) : take_apart(evacuation, &old, error);
    if (!status) { status = pks__ingest_report(evacuation->ingest, PKS_PHASE_STORE, error); }
  }
  return status;
}

/// Stores again what is needed of all data segments that are emptied. Their chunks are new to the walk of the ingest.
static pks_status copy_segments(evacuation *evacuation, pks_error *error) {
  const pks__evacuation_plan *plan = evacuation->plan;
  pks__frame_pipeline *pipeline = &evacuation->ingest->frames;
  pks_status status = pks__frame_reader_take(&evacuation->txn->store->readers, &evacuation->reader, error);
  pks__frame_pipeline_begin_asset(pipeline, 0, false);
  for (uint32_t i = 0; !status && i < pks__segment_set_count(&plan->victims); i++) {
    const pks__segment_use *use = pks__chunk_use_find(&plan->use, pks__segment_set_at(&plan->victims, i));
    bool has_data = use && use->segment && use->segment->kind == PKS__SEGMENT_DATA;
    if (has_data) { status = copy_segment(evacuation, use, error); }
  }
  pks__frame_pipeline_end_asset(pipeline);
  if (evacuation->reader) { pks__frame_reader_return(&evacuation->txn->store->readers, evacuation->reader); }
  evacuation->reader = NULL;
  return status;
}

// MARK: - Versions

/// For chunks that were not copied: those of map assets that are laid out afresh.
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

/// Lays a version out again, which the transaction's snapshot shows as it is in the plan's.
static pks_status move_version(
  evacuation *evacuation, const char *pack, const pks__version *version, bool is_current, uint64_t *copied_bytes,
  pks_error *error
) {
  pks_txn *txn = evacuation->txn;
  pks_snapshot *snapshot = pks__txn_snapshot(txn);
  bool sync = txn->options.durability == PKS_DURABLE, is_first = txn->changes.length == 0;
  pks__version_request request = {
    .pack = pack,
    .catalog = version->catalog,
    .layout = version->layout,
    .needs_layout = true,
    .attributes = version->attributes,
    .pages = pks__snapshot_pages(snapshot),
    .is_kept = !is_current,
    .avoided = &evacuation->plan->victims,
    .keeps_missing = true,
    .stores_durably = is_first && !evacuation->plan->is_purgeable,
    .fetch = {.context = evacuation, .fetch = fetch_chunk},
    .progress = evacuation->progress ? report : NULL,
    .context = evacuation,
  };
  pks__staged_op change = {.kind = PKS__CHANGE_LAYOUT, .version = *version};
  pks__ingest ingest;
  pks_add_result result;
  pks_status status =
    pks__ingest_version_open(&ingest, &txn->staging, snapshot, &request, txn->store->thread_count, sync, error);
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
  pks__scratch *all[] = {&evacuation.stored, &evacuation.ids, &evacuation.ends, &evacuation.fetched};
  for (size_t i = 0; i < PKS_COUNT_OF(all); i++) { pks__scratch_init(all[i], &txn->staging.scratch); }
  const char *owner = plan->is_purgeable ? pks__generation_any_pack(&txn->base->generation, plan->pack)->name : "";
  pks_status status = pks__reliance_open(
    &evacuation.reliance, txn->base, owner, plan->is_purgeable, &plan->victims, &txn->staging.scratch, error
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
  pks__reliance_free(&evacuation.reliance);
  for (size_t i = 0; i < PKS_COUNT_OF(all); i++) { pks__scratch_free(all[i]); }
  return status;
}
