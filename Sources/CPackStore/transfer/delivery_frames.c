#include "transfer/delivery_frames.h"

#include <stdio.h>
#include <string.h>

#include "codec/checksum.h"
#include "codec/hash_batch.h"

void pks__delivery_frames_init(
  pks__delivery_frames *frames, pks__delivery_context *context, pks__delivery_pages *pages, pks__missing_chunks *needs,
  const pks__delivery_plan *plan, const pks__delivery_dictionaries *dictionaries
) {
  *frames = (pks__delivery_frames){
    .context = context,
    .pages = pages,
    .needs = needs,
    .plan = plan,
    .dictionaries = dictionaries,
    .open_file = UINT32_MAX,
  };
  pks__scratch *arrays[] = {&frames->raw, &frames->ids, &frames->ends, &frames->stored};
  pks__delivery_context_own(context, arrays, PKS_COUNT_OF(arrays), NULL, 0);
}

// MARK: - The ingest

static bool goes_on(void *context, const pks_progress *progress) {
  (void)progress;
  const pks__delivery_context *delivery = context;
  return !delivery->goes_on || delivery->goes_on(delivery->goes_on_context);
}

pks_status pks__delivery_frames_open(
  pks__delivery_frames *frames, pks__staging *staging, const pks_add_request *encoding, bool sync, pks_error *error
) {
  pks__delivery_context *context = frames->context;
  pks__ingest *ingest = &frames->ingest;
  pks__version_request request = {
    .pack = context->pack,
    .encoding = encoding,
    .catalog = context->catalog,
    .attributes = context->attributes,
    .pages = pks__delivery_pages_source(frames->pages),
    .sink = &context->incoming.sink,
    .context = context,
    .progress = goes_on,
  };
  frames->has_ingest = true;
  pks_status status = pks__ingest_version_open(ingest, staging, context->base, &request, 1, sync, error);
  if (!status) { status = pks__transfer_staging_resume(&context->incoming, ingest, error); }
  if (status) { return status; }
  // Nothing of shared segments was received, and they may have more than the version needs.
  frames->resumed_bytes = ingest->frames.series.stored_bytes - context->incoming.shared_bytes;
  frames->resumed_chunks = PKS__SCRATCH_COUNT(&ingest->new_ids, pks__id);
  for (uint64_t i = 0; i < frames->resumed_chunks; i++) {
    frames->resumed_raw_bytes += PKS__SCRATCH_AT(&ingest->frames.places, const pks__new_place, i)->length;
  }
  return PKS_OK;
}

void pks__delivery_frames_close(pks__delivery_frames *frames) {
  if (frames->has_ingest) { pks__ingest_close(&frames->ingest); }
  frames->has_ingest = false;
}

void pks__delivery_frames_flush(pks__delivery_frames *frames) {
  // If that fails, they are wanted again.
  if (frames->has_ingest) { (void)pks__frame_pipeline_flush(&frames->ingest.frames, NULL); }
}

// MARK: - A frame that comes

/// A planned frame whose stored bytes were checked.
typedef struct arrival {
  const pks__planned_frame *plan;
  pks__tabled_frame frame;
  const pks__needed_dictionary *dictionary;  ///< NULL: none
  const uint8_t *stored, *raw;               ///< NULL: a hole
} arrival;

static pks_status corrupt_frame(
  const pks__delivery_frames *frames, const arrival *arrival, const char *text, pks_error *error
) {
  const pks__delivery_site *site = frames->plan->site;
  return pks__delivery_site_corrupt(site, arrival->plan->segment, text, arrival->frame.offset, error);
}

/// Decodes stored bytes to `frames->raw`, where there is room, with a dictionary if there is one.
static pks_status decode_stored(
  pks__delivery_frames *frames, const uint8_t *stored, uint32_t stored_length, uint32_t raw_length,
  const pks__stored_dictionary *dictionary, bool *decodes, pks_error *error
) {
  const pks__delivery_context *context = frames->context;
  uint8_t *raw = frames->raw.bytes;
  if (dictionary) {
    return pks__dictionaries_decode_with(
      &context->store->readers.dictionaries, context->decoder, dictionary, context->pack, stored, stored_length, raw,
      raw_length, decodes, error
    );
  }
  *decodes = pks__decode(context->decoder, stored, stored_length, raw, raw_length);
  return PKS_OK;
}

static pks_status decode(pks__delivery_frames *frames, arrival *arrival, pks_error *error) {
  const pks__tabled_frame *frame = &arrival->frame;
  arrival->raw = arrival->stored;
  if (frame->codec == PKS__CODEC_RAW) { return PKS_OK; }
  pks_status status = pks__scratch_reserve(&frames->raw, frame->raw_length, error);
  if (status) { return status; }
  arrival->raw = frames->raw.bytes;
  pks__stored_dictionary dictionary;
  if (arrival->dictionary) {
    dictionary = pks__delivery_dictionaries_stored(frames->dictionaries, arrival->dictionary);
  }
  bool decodes;
  status = decode_stored(
    frames, arrival->stored, frame->stored_length, frame->raw_length, arrival->dictionary ? &dictionary : NULL,
    &decodes, error
  );
  if (status || decodes) { return status; }
  return corrupt_frame(frames, arrival, "a frame of the site does not decode", error);
}

static pks_status check_chunks(pks__delivery_frames *frames, const arrival *arrival, pks_error *error) {
  const pks_store *store = frames->context->store;
  pks__hash_check check;
  pks__hash_check_begin(&check, store->sha256, store->sha256_many);
  for (uint32_t i = 0; i < arrival->plan->chunk_count; i++) {
    pks__planned_chunk planned = pks__delivery_plan_chunk(frames->plan, arrival->plan, i);
    pks__hash_check_add(&check, arrival->raw + planned.begin, planned.chunk->length, planned.chunk->id.bytes);
  }
  if (pks__hash_check_end(&check)) { return PKS_OK; }
  const char *text = "a frame of the site lacks the chunk that the catalog names";
  return corrupt_frame(frames, arrival, text, error);
}

// MARK: - Kept as it is

static pks_status add_listed(pks__delivery_frames *frames, const pks__id *id, uint32_t end, pks_error *error) {
  pks_status status = pks__scratch_append(&frames->ids, id, sizeof *id, error);
  return status ? status : pks__scratch_append(&frames->ends, &end, sizeof end, error);
}

/// Lists a stretch that no chunk was missing for as one chunk, under its own SHA-256.
static pks_status add_gap(
  pks__delivery_frames *frames, const arrival *arrival, uint32_t begin, uint32_t end, pks_error *error
) {
  if (begin == end) { return PKS_OK; }
  // For a hole, a stretch has an id that no chunk has.
  struct {
    pks__id frame;
    pks_le32 begin, end;
  } stretch = {arrival->frame.digest, pks__put32(begin), pks__put32(end)};
  pks__id id = arrival->raw ? pks__delivery_digest(frames->context, arrival->raw + begin, end - begin)
                            : pks__delivery_digest(frames->context, &stretch, sizeof stretch);
  return add_listed(frames, &id, end, error);
}

static pks_status list_chunks(pks__delivery_frames *frames, const arrival *arrival, pks_error *error) {
  uint32_t end = 0;
  frames->ids.length = 0;
  frames->ends.length = 0;
  pks_status status = PKS_OK;
  for (uint32_t i = 0; !status && i < arrival->plan->chunk_count; i++) {
    pks__planned_chunk planned = pks__delivery_plan_chunk(frames->plan, arrival->plan, i);
    status = add_gap(frames, arrival, end, planned.begin, error);
    end = planned.begin + planned.chunk->length;
    if (!status) { status = add_listed(frames, &planned.chunk->id, end, error); }
  }
  return status ? status : add_gap(frames, arrival, end, arrival->frame.raw_length, error);
}

/// Returns the alignment of a raw frame, as if its first chunk had been added here. Later chunks of an asset abut.
static uint64_t alignment_of(const pks__delivery_frames *frames, const arrival *arrival) {
  pks__planned_chunk first = pks__delivery_plan_chunk(frames->plan, arrival->plan, 0);
  const pks__needy_file *file = pks__missing_chunks_file(frames->needs, first.chunk->file);
  bool begins = first.begin == 0 && (file->mapped ? first.chunk->offset == 0 : first.number == file->first);
  if (arrival->frame.codec != PKS__CODEC_RAW || !begins) { return 1; }
  return file->mapped || file->size >= PKS__LARGE_ASSET ? PKS__PAGE : 8;
}

static pks_status keep_frame(pks__delivery_frames *frames, const arrival *arrival, pks_error *error) {
  pks__planned_chunk planned = pks__delivery_plan_chunk(frames->plan, arrival->plan, arrival->plan->chunk_count - 1);
  const pks__missing_chunk *last = planned.chunk;
  bool is_end = planned.begin + last->length == arrival->frame.raw_length;
  pks_status status = list_chunks(frames, arrival, error);
  // A hole is kept regardless of its contents.
  if (!status && PKS__SCRATCH_COUNT(&frames->ids, pks__id) > PKS__FRAME_CHUNKS_MAX) {
    status = corrupt_frame(frames, arrival, "a frame of the site contains too many chunks", error);
  }
  if (status) { return status; }
  pks__stored_dictionary dictionary;
  if (arrival->dictionary) {
    dictionary = pks__delivery_dictionaries_stored(frames->dictionaries, arrival->dictionary);
  }
  pks__encoded_frame frame = {
    .stored = arrival->stored,
    .stored_length = arrival->frame.stored_length,
    .codec = arrival->dictionary ? PKS__CODEC_ZSTD : arrival->frame.codec,
    .dictionary = arrival->dictionary ? &dictionary : NULL,
    .alignment = alignment_of(frames, arrival),
    .ids = PKS__SCRATCH_AT(&frames->ids, const pks__id, 0),
    .ends = PKS__SCRATCH_AT(&frames->ends, const uint32_t, 0),
    .chunk_count = (uint32_t)PKS__SCRATCH_COUNT(&frames->ids, pks__id),
    .ends_asset = is_end && last->offset + last->length == pks__missing_chunks_file(frames->needs, last->file)->size,
  };
  return pks__frame_pipeline_add_encoded(&frames->ingest.frames, &frame, error);
}

// MARK: - Taken apart

static pks_status gather_chunk(
  pks__delivery_frames *frames, const pks__missing_chunk *chunk, const uint8_t *bytes, pks_error *error
) {
  pks__frame_pipeline *pipeline = &frames->ingest.frames;
  const pks__needy_file *file = pks__missing_chunks_file(frames->needs, chunk->file);
  if (frames->open_file != chunk->file) {
    if (frames->open_file != UINT32_MAX) { pks__frame_pipeline_end_asset(pipeline); }
    pks__frame_pipeline_begin_asset(pipeline, file->size, false, NULL);
    frames->open_file = chunk->file;
  } else if (chunk->offset != frames->open_end) {
    pks__frame_pipeline_skip(pipeline);
  }
  frames->open_end = chunk->offset + chunk->length;
  return pks__frame_pipeline_add(pipeline, &chunk->id, bytes, chunk->length, chunk->offset == 0, error);
}

static pks_status take_apart(pks__delivery_frames *frames, const arrival *arrival, pks_error *error) {
  pks_status status = PKS_OK;
  for (uint32_t i = 0; !status && i < arrival->plan->chunk_count; i++) {
    pks__planned_chunk planned = pks__delivery_plan_chunk(frames->plan, arrival->plan, i);
    status = gather_chunk(frames, planned.chunk, arrival->raw + planned.begin, error);
  }
  return status;
}

/// Whether a frame is written unchanged: at least three quarters of it are needed, and a copy of its dictionary is small compared
/// with all frames that need it, including those of an interrupted delivery.
static bool is_kept(const pks__delivery_frames *frames, const arrival *arrival) {
  const pks__planned_frame *plan = arrival->plan;
  const pks__needed_dictionary *dictionary = arrival->dictionary;
  bool has_room = plan->chunk_count < PKS__FRAME_CHUNKS_MAX / 2;
  bool pays = !dictionary || dictionary->frame_bytes >= (uint64_t)dictionary->stored_length * 16
    || pks__segment_series_has_dictionary(&frames->ingest.frames.series, &dictionary->tabled.id);
  return has_room && pays && (uint64_t)plan->needed * 4 >= (uint64_t)arrival->frame.raw_length * 3;
}

static arrival arrival_of(const pks__delivery_frames *frames, uint32_t number, const void *bytes) {
  arrival arrival = {.plan = pks__delivery_plan_frame(frames->plan, number), .stored = bytes};
  pks__frame_table table = pks__delivery_site_table(frames->plan->site, arrival.plan->segment);
  arrival.frame = pks__frame_table_at(&table, arrival.plan->frame);
  arrival.dictionary = pks__delivery_dictionaries_of(frames->dictionaries, number);
  return arrival;
}

pks_status pks__delivery_frames_give(
  pks__delivery_frames *frames, const pks__byte_request *request, const void *bytes, bool *is_final, pks_error *error
) {
  arrival arrival = arrival_of(frames, request->number, bytes);
  pks__id id = pks__delivery_digest(frames->context, bytes, arrival.frame.stored_length);
  if (!pks__id_equal(&id, &arrival.frame.digest)) {
    return corrupt_frame(frames, &arrival, "the received bytes are not the segment's", error);
  }
  *is_final = true;
  pks_status status = decode(frames, &arrival, error);
  if (!status) { status = check_chunks(frames, &arrival, error); }
  if (!status) { status = (is_kept(frames, &arrival) ? keep_frame : take_apart)(frames, &arrival, error); }
  if (status) { return status; }
  frames->bytes_done += arrival.frame.stored_length;
  frames->chunks_done += arrival.plan->chunk_count;
  return PKS_OK;
}

// MARK: - Frames that are not fetched

pks_status pks__delivery_frames_leave_out(pks__delivery_frames *frames, pks_error *error) {
  pks_status status = PKS_OK;
  uint32_t count = (uint32_t)PKS__SCRATCH_COUNT(&frames->plan->frames, pks__planned_frame);
  for (uint32_t i = 0; !status && i < count; i++) {
    arrival hole = arrival_of(frames, i, NULL);
    status = keep_frame(frames, &hole, error);
    frames->bytes_done += hole.frame.stored_length;
    frames->chunks_done += hole.plan->chunk_count;
  }
  return status;
}

// MARK: - Reading back

/// Reads stored bytes that were written here to segment `segment` of the series, and appends them to `frames->stored`.
static pks_status read_stored(
  pks__delivery_frames *frames, uint32_t segment, const pks__frame_ref *frame, pks_error *error
) {
  const pks__delivery_context *context = frames->context;
  pks__segment_series *series = &frames->ingest.frames.series;
  const pks_vfs *vfs = context->store->vfs;
  uint32_t length = frame->stored_length;
  bool is_complete = segment < series->sealed_count;
  char path[2 * PKS__INDEX_NAME], name[PKS__SEGMENT_NAME] = "the growing segment";
  pks_vfs_file file = PKS_VFS_NO_FILE;
  pks_status status = pks__segment_series_flush(series, &file, error);
  uint64_t at = frames->stored.length;
  if (!status) { status = pks__scratch_append(&frames->stored, NULL, length, error); }
  if (status) { return status; }
  uint8_t *out = frames->stored.bytes + at;
  if (is_complete) { pks__segment_name(&series->sealed[segment]->info.id, name); }
  (void)snprintf(path, sizeof path, "%s/%s", context->incoming.path, name);
  size_t got = 0;
  int failure = is_complete ? pks__vfs_open(vfs, context->store->root, path, PKS_VFS_OPEN_READ, &file) : 0;
  bool is_open = !failure;
  if (!failure) { failure = pks__vfs_read_at(vfs, file, frame->offset, out, length, &got); }
  if (is_complete && is_open) { pks__vfs_close(vfs, file); }
  if (failure) { return pks__fail_system(error, failure, "cannot read", path); }
  bool is_whole = got == length && pks__checksum(out, length) == frame->sum;
  return is_whole ? PKS_OK : pks__fail(error, PKS_CORRUPT, "checksum mismatch", path, frame->offset);
}

/// Reads a frame that was written here, and behind it the dictionary that it needs; `*dictionary` has no stored bytes when it needs
/// none.
static pks_status read_with_dictionary(
  pks__delivery_frames *frames, uint32_t segment, const pks__frame_ref *frame, pks__stored_dictionary *dictionary,
  pks_error *error
) {
  frames->stored.length = 0;
  *dictionary = (pks__stored_dictionary){0};
  pks_status status = read_stored(frames, segment, frame, error);
  if (status || !pks__codec_has_dictionary(frame->codec)) { return status; }
  const pks__dictionary_row *row =
    pks__segment_series_dictionary(&frames->ingest.frames.series, segment, frame->codec - PKS__CODEC_DICTIONARY);
  pks__frame_ref ref = pks__frame_ref_make(row->place, row->stored_length, pks__get32(row->raw_length), row->sum);
  status = read_stored(frames, segment, &ref, error);
  if (status) { return status; }
  *dictionary = (pks__stored_dictionary){
    .id = row->id,
    .codec = ref.codec,
    .stored_length = ref.stored_length,
    .raw_length = ref.raw_length,
    .stored = frames->stored.bytes + frame->stored_length,
  };
  return PKS_OK;
}

/// Reads the frame of a new chunk to `raw`, unless it is already there.
static pks_status read_frame(pks__delivery_frames *frames, const pks__new_place *place, pks_error *error) {
  bool is_there = frames->has_read && frames->read_segment == place->segment && frames->read_frame == place->frame;
  if (is_there) { return PKS_OK; }
  const pks__frame_ref *frame = pks__frame_pipeline_frame(&frames->ingest.frames, place->segment, place->frame);
  uint32_t stored_length = frame->stored_length, raw_length = frame->raw_length;
  frames->has_read = false;
  pks__stored_dictionary dictionary;
  pks_status status = read_with_dictionary(frames, place->segment, frame, &dictionary, error);
  if (!status) { status = pks__scratch_reserve(&frames->raw, raw_length, error); }
  if (status) { return status; }
  bool decodes = frame->codec == PKS__CODEC_RAW;
  if (decodes) {
    memcpy(frames->raw.bytes, frames->stored.bytes, raw_length);
  } else {
    const uint8_t *stored = frames->stored.bytes;
    status =
      decode_stored(frames, stored, stored_length, raw_length, dictionary.stored ? &dictionary : NULL, &decodes, error);
  }
  if (status) { return status; }
  if (!decodes) { return pks__delivery_corrupt(frames->context, "a received frame no longer decodes", error); }
  frames->has_read = true;
  frames->read_segment = place->segment;
  frames->read_frame = place->frame;
  return PKS_OK;
}

/// Reads a chunk for the ingest: from the new ones or the base.
static pks_status fetch(void *context, const pks__chunk_want *request, uint8_t *out, pks_error *error) {
  pks__delivery_frames *frames = context;
  const pks__frame_pipeline *pipeline = &frames->ingest.frames;
  uint32_t number;
  bool came = pks__ingest_find_new(&frames->ingest, request->id, &number)
    && number < PKS__SCRATCH_COUNT(&pipeline->places, pks__new_place);
  if (!came) {
    bool found;
    pks_status status = pks__chunk_want_read(request, frames->context->base, &frames->stored, out, &found, error);
    return status || found ? status : pks__chunk_want_fail(request, error);
  }
  const pks__new_place *place = PKS__SCRATCH_AT(&pipeline->places, const pks__new_place, number);
  PKS_ASSERT(place->length == request->length);
  pks_status status = read_frame(frames, place, error);
  if (!status) { memcpy(out, frames->raw.bytes + place->begin, request->length); }
  return status;
}

// MARK: - The walk

/// Whether a sync of received data failed: then none of it can be trusted.
static bool has_failed_sync(const pks__ingest *ingest) {
  const pks__segment_series *series = &ingest->frames.series;
  for (uint32_t i = 0; i < series->sealed_count; i++) {
    if (series->sealed[i]->sync_failure) { return true; }
  }
  return false;
}

/// Laying out a map asset would need its bytes.
static bool is_not_mapped(void *context, const char *path, size_t path_length) {
  (void)context;
  (void)path;
  (void)path_length;
  return false;
}

pks_status pks__delivery_frames_walk(pks__delivery_frames *frames, bool sync, pks_error *error) {
  pks__delivery_context *context = frames->context;
  pks__ingest *ingest = &frames->ingest;
  pks__version_request request = {
    .pack = context->pack,
    .catalog = context->catalog,
    .layout = context->layout,
    .is_mapped = context->without_frames ? is_not_mapped : pks__missing_chunks_is_mapped,
    .context = frames->needs,
    .pages = pks__delivery_pages_source(frames->pages),
    .fetch = {.context = frames, .fetch = fetch},
  };
  pks_status status = pks__ingest_version_walk(ingest, &request, error);
  if (has_failed_sync(ingest)) { pks__transfer_staging_spoil(&context->incoming); }
  if (!status && sync) { status = pks__transfer_staging_sync(&context->incoming, error); }
  if (status) { return status; }
  ingest->result.new_chunk_count += frames->resumed_chunks + frames->chunks_done;
  ingest->result.new_raw_bytes += frames->resumed_raw_bytes + frames->plan->raw_bytes;
  return PKS_OK;
}

pks_status pks__delivery_frames_walk_kept(
  pks__delivery_frames *frames, pks__staging *staging, const pks__version *kept, bool sync, pks_error *error
) {
  pks_snapshot *base = frames->context->base;
  pks__own_chunks own;
  pks__own_chunks_init(&own, base, &staging->scratch);
  pks__version_request request = {
    .pack = frames->context->pack,
    .catalog = kept->catalog,
    .layout = kept->layout,
    .attributes = kept->attributes,
    .pages = pks__snapshot_pages(base),
    .fetch = pks__own_chunks_fetch(&own),
    .context = frames->context,
    .progress = goes_on,
  };
  frames->has_ingest = true;
  pks_status status = pks__ingest_version(&frames->ingest, staging, base, &request, sync, error);
  pks__own_chunks_free(&own);
  return status;
}
