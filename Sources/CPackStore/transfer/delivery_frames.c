/// Frames of a delivery: checked, and written as they are if most of them is needed, or else chunk by chunk.
#include "transfer/delivery_frames.h"

#include <stdio.h>
#include <string.h>

#include "codec/checksum.h"
#include "ingest/ingest_version.h"
#include "store/chunk_lookup.h"
#include "transfer/delivery_pages.h"

// MARK: - The ingest

pks_status pks__delivery_open_ingest(pks_delivery *delivery, pks_error *error) {
  pks__version_request request = {
    .pack = delivery->pack,
    .catalog = delivery->catalog,
    .attributes = delivery->attributes,
    .pages = pks__delivery_pages(delivery),
    .sink = &delivery->incoming.sink,
  };
  bool sync = delivery->txn->options.durability == PKS_DURABLE;
  delivery->has_ingest = true;
  pks_status status =
    pks__ingest_version_open(&delivery->ingest, &delivery->txn->staging, delivery->base, &request, 1, sync, error);
  if (!status) { status = pks__transfer_staging_resume(&delivery->incoming, &delivery->ingest, error); }
  if (status) { return status; }
  pks__frame_pipeline *frames = &delivery->ingest.frames;
  pks_delivery_totals *totals = &delivery->totals;
  totals->bytes_resumed = totals->bytes_done = totals->bytes_total = frames->series.stored_bytes;
  totals->chunks_done = totals->chunks_total = PKS__SCRATCH_COUNT(&delivery->ingest.new_ids, pks__id);
  for (uint64_t i = 0; i < totals->chunks_done; i++) {
    totals->raw_bytes += PKS__SCRATCH_AT(&frames->places, const pks__new_place, i)->length;
  }
  return PKS_OK;
}

// MARK: - A frame that comes

/// A planned frame whose stored bytes were checked.
typedef struct arrival {
  const pks__planned_frame *plan;
  pks__tabled_frame frame;
  const uint8_t *stored, *raw;
} arrival;

static pks__missing_chunk *chunk_of(const pks_delivery *delivery, const pks__planned_frame *plan, uint32_t index) {
  uint32_t number = *PKS__SCRATCH_AT(&delivery->order, const uint32_t, plan->first + index);
  return PKS__SCRATCH_AT(&delivery->chunks, pks__missing_chunk, number);
}

static pks_status corrupt_frame(
  const pks_delivery *delivery, const pks__planned_frame *plan, const char *text, uint64_t offset, pks_error *error
) {
  char name[PKS__SEGMENT_NAME];
  pks__segment_id id;
  memcpy(id.bytes, pks__delivery_segment(delivery, plan->segment)->info.id, sizeof id.bytes);
  pks__segment_name(&id, name);
  return pks__fail(error, PKS_CORRUPT, text, name, offset);
}

static pks_status decode(pks_delivery *delivery, arrival *arrival, pks_error *error) {
  const pks__tabled_frame *frame = &arrival->frame;
  arrival->raw = arrival->stored;
  if (frame->codec == PKS__CODEC_RAW) { return PKS_OK; }
  pks_status status = pks__scratch_reserve(&delivery->raw, frame->raw_length, error);
  if (status) { return status; }
  arrival->raw = delivery->raw.bytes;
  bool decodes =
    pks__decode(delivery->decoder, arrival->stored, frame->stored_length, delivery->raw.bytes, frame->raw_length);
  if (decodes) { return PKS_OK; }
  return corrupt_frame(delivery, arrival->plan, "a frame of the site does not decode", frame->offset, error);
}

static pks_status check_chunks(pks_delivery *delivery, const arrival *arrival, pks_error *error) {
  for (uint32_t i = 0; i < arrival->plan->chunk_count; i++) {
    const pks__missing_chunk *chunk = chunk_of(delivery, arrival->plan, i);
    pks__id id;
    delivery->store->sha256(arrival->raw + chunk->begin, chunk->length, id.bytes);
    if (pks__id_equal(&id, &chunk->id)) { continue; }
    return corrupt_frame(
      delivery, arrival->plan, "a frame of the site does not hold the chunk that the catalog names",
      arrival->frame.offset, error
    );
  }
  return PKS_OK;
}

// MARK: - Kept as it is

static pks_status add_listed(pks_delivery *delivery, const pks__id *id, uint32_t end, pks_error *error) {
  pks_status status = pks__scratch_append(&delivery->ids, id, sizeof *id, error);
  return status ? status : pks__scratch_append(&delivery->ends, &end, sizeof end, error);
}

/// Lists a stretch that no chunk was missing for as one chunk, under its own SHA-256.
static pks_status add_gap(
  pks_delivery *delivery, const arrival *arrival, uint32_t begin, uint32_t end, pks_error *error
) {
  if (begin == end) { return PKS_OK; }
  pks__id id;
  delivery->store->sha256(arrival->raw + begin, end - begin, id.bytes);
  return add_listed(delivery, &id, end, error);
}

static pks_status list_chunks(pks_delivery *delivery, const arrival *arrival, pks_error *error) {
  uint32_t end = 0;
  delivery->ids.length = 0;
  delivery->ends.length = 0;
  pks_status status = PKS_OK;
  for (uint32_t i = 0; !status && i < arrival->plan->chunk_count; i++) {
    const pks__missing_chunk *chunk = chunk_of(delivery, arrival->plan, i);
    status = add_gap(delivery, arrival, end, chunk->begin, error);
    end = chunk->begin + chunk->length;
    if (!status) { status = add_listed(delivery, &chunk->id, end, error); }
  }
  return status ? status : add_gap(delivery, arrival, end, arrival->frame.raw_length, error);
}

/// Where a raw frame must begin: as if its first chunk had been added here. What follows in an asset abuts.
static uint64_t alignment_of(const pks_delivery *delivery, const arrival *arrival) {
  uint32_t number = *PKS__SCRATCH_AT(&delivery->order, const uint32_t, arrival->plan->first);
  const pks__missing_chunk *chunk = chunk_of(delivery, arrival->plan, 0);
  const pks__needy_file *file = pks__delivery_file(delivery, chunk->file);
  bool begins = chunk->begin == 0 && (file->mapped ? chunk->offset == 0 : number == file->first);
  if (arrival->frame.codec != PKS__CODEC_RAW || !begins) { return 1; }
  return file->mapped || file->size >= PKS__LARGE_ASSET ? PKS__PAGE : 8;
}

static pks_status keep_frame(pks_delivery *delivery, const arrival *arrival, pks_error *error) {
  const pks__missing_chunk *last = chunk_of(delivery, arrival->plan, arrival->plan->chunk_count - 1);
  bool is_end = last->begin + last->length == arrival->frame.raw_length;
  pks_status status = list_chunks(delivery, arrival, error);
  pks__encoded_frame frame = {
    .stored = arrival->stored,
    .stored_length = arrival->frame.stored_length,
    .codec = arrival->frame.codec,
    .alignment = alignment_of(delivery, arrival),
    .ids = PKS__SCRATCH_AT(&delivery->ids, const pks__id, 0),
    .ends = PKS__SCRATCH_AT(&delivery->ends, const uint32_t, 0),
    .chunk_count = (uint32_t)PKS__SCRATCH_COUNT(&delivery->ids, pks__id),
    .ends_asset = is_end && last->offset + last->length == pks__delivery_file(delivery, last->file)->size,
  };
  return status ? status : pks__frame_pipeline_add_encoded(&delivery->ingest.frames, &frame, error);
}

// MARK: - Taken apart

static pks_status gather_chunk(
  pks_delivery *delivery, const pks__missing_chunk *chunk, const uint8_t *bytes, pks_error *error
) {
  pks__frame_pipeline *frames = &delivery->ingest.frames;
  const pks__needy_file *file = pks__delivery_file(delivery, chunk->file);
  if (delivery->open_file != chunk->file) {
    if (delivery->open_file != UINT32_MAX) { pks__frame_pipeline_end_asset(frames); }
    pks__frame_pipeline_begin_asset(frames, file->size, false);
    delivery->open_file = chunk->file;
  }
  return pks__frame_pipeline_add(frames, &chunk->id, bytes, chunk->length, chunk->offset == 0, error);
}

static pks_status take_apart(pks_delivery *delivery, const arrival *arrival, pks_error *error) {
  pks_status status = PKS_OK;
  for (uint32_t i = 0; !status && i < arrival->plan->chunk_count; i++) {
    const pks__missing_chunk *chunk = chunk_of(delivery, arrival->plan, i);
    status = gather_chunk(delivery, chunk, arrival->raw + chunk->begin, error);
  }
  return status;
}

/// Whether a frame is written as it is: at least three quarters of it are needed.
static bool is_kept(const arrival *arrival) {
  const pks__planned_frame *plan = arrival->plan;
  bool has_room = plan->chunk_count < PKS__FRAME_CHUNKS_MAX / 2;
  return has_room && (uint64_t)plan->needed * 4 >= (uint64_t)arrival->frame.raw_length * 3;
}

pks_status pks__delivery_give_frame(
  pks_delivery *delivery, uint64_t index, const void *bytes, bool *is_final, pks_error *error
) {
  arrival arrival = {.plan = PKS__SCRATCH_AT(&delivery->plan, const pks__planned_frame, index), .stored = bytes};
  pks__frame_table table = pks__delivery_table(delivery, arrival.plan->segment);
  arrival.frame = pks__frame_table_at(&table, arrival.plan->frame);
  pks__id id;
  delivery->store->sha256(bytes, arrival.frame.stored_length, id.bytes);
  if (!pks__id_equal(&id, &arrival.frame.digest)) {
    return corrupt_frame(
      delivery, arrival.plan, "these bytes are not those of the segment", arrival.frame.offset, error
    );
  }
  *is_final = true;
  pks_status status = decode(delivery, &arrival, error);
  if (!status) { status = check_chunks(delivery, &arrival, error); }
  if (!status) { status = (is_kept(&arrival) ? keep_frame : take_apart)(delivery, &arrival, error); }
  if (status) { return status; }
  delivery->totals.bytes_done += arrival.frame.stored_length;
  delivery->totals.chunks_done += arrival.plan->chunk_count;
  return PKS_OK;
}

// MARK: - Reading back

/// Raw bytes of the frame that holds new chunk `number`: where its last chunk ends.
static uint32_t raw_length_of(const pks__frame_pipeline *frames, uint32_t number) {
  uint64_t count = PKS__SCRATCH_COUNT(&frames->places, pks__new_place);
  const pks__new_place *place = PKS__SCRATCH_AT(&frames->places, const pks__new_place, number);
  uint64_t left = count - number;
  while (left > 1 && place[1].segment == place->segment && place[1].frame == place->frame) {
    place++;
    left--;
  }
  return place->begin + place->length;
}

/// Reads the stored bytes of a frame that was written here.
static pks_status read_stored(
  pks_delivery *delivery, const pks__new_place *place, const pks__frame_row *row, pks_error *error
) {
  pks__segment_series *series = &delivery->ingest.frames.series;
  const pks_vfs *vfs = delivery->store->vfs;
  uint32_t length = pks__get32(row->stored_length);
  uint64_t offset = pks__place_offset(pks__get64(row->place));
  bool is_complete = place->segment < series->sealed_count;
  char path[2 * PKS__INDEX_NAME], name[PKS__SEGMENT_NAME] = "the growing segment";
  pks_vfs_file file = PKS_VFS_NO_FILE;
  pks_status status = pks__segment_series_flush(series, &file, error);
  if (!status) { status = pks__scratch_reserve(&delivery->stored, length, error); }
  if (status) { return status; }
  if (is_complete) { pks__segment_name(&series->sealed[place->segment]->info.id, name); }
  (void)snprintf(path, sizeof path, "%s/%s", delivery->incoming.path, name);
  size_t got = 0;
  int failure = is_complete ? pks__vfs_open(vfs, delivery->store->root, path, PKS_VFS_OPEN_READ, &file) : 0;
  bool is_open = !failure;
  if (!failure) { failure = pks__vfs_read_at(vfs, file, offset, delivery->stored.bytes, length, &got); }
  if (is_complete && is_open) { pks__vfs_close(vfs, file); }
  if (failure) { return pks__fail_system(error, failure, "cannot read", path); }
  bool is_whole = got == length && pks__checksum(delivery->stored.bytes, length) == pks__get64(row->sum);
  return is_whole ? PKS_OK : pks__fail(error, PKS_CORRUPT, "checksum mismatch", path, offset);
}

/// Reads the frame of a new chunk to `raw`, unless it is there.
static pks_status read_frame(
  pks_delivery *delivery, const pks__new_place *place, uint32_t raw_length, pks_error *error
) {
  bool is_there =
    delivery->has_read && delivery->read_segment == place->segment && delivery->read_frame == place->frame;
  if (is_there) { return PKS_OK; }
  const pks__frame_row *row = pks__frame_pipeline_row(&delivery->ingest.frames, place->segment, place->frame);
  uint32_t stored_length = pks__get32(row->stored_length);
  delivery->has_read = false;
  pks_status status = read_stored(delivery, place, row, error);
  if (!status) { status = pks__scratch_reserve(&delivery->raw, raw_length, error); }
  if (status) { return status; }
  bool is_raw = pks__place_codec(pks__get64(row->place)) == PKS__CODEC_RAW;
  if (is_raw) { memcpy(delivery->raw.bytes, delivery->stored.bytes, raw_length); }
  bool decodes =
    is_raw || pks__decode(delivery->decoder, delivery->stored.bytes, stored_length, delivery->raw.bytes, raw_length);
  if (!decodes) { return pks__delivery_corrupt(delivery, "a frame that came does not decode any more", error); }
  delivery->has_read = true;
  delivery->read_segment = place->segment;
  delivery->read_frame = place->frame;
  return PKS_OK;
}

static pks_status fetch_from_base(pks_delivery *delivery, const pks__chunk_want *want, uint8_t *out, pks_error *error) {
  pks__chunk_ref ref;
  bool found;
  pks_status status = pks__snapshot_find_chunk(delivery->base, want->id, PKS__SEGMENT_DATA, &ref, &found, error);
  delivery->page.length = 0;
  if (!status && found) { status = pks__snapshot_read_chunk(delivery->base, &ref, &delivery->page, error); }
  if (status) { return status; }
  if (!found || delivery->page.length != want->length) {
    return pks__fail_at_path(error, PKS_CORRUPT, "a chunk of the asset is missing", want->path, want->path_length);
  }
  memcpy(out, delivery->page.bytes, want->length);
  return PKS_OK;
}

static pks_status fetch(void *context, const pks__chunk_want *want, uint8_t *out, pks_error *error) {
  pks_delivery *delivery = context;
  const pks__frame_pipeline *frames = &delivery->ingest.frames;
  uint32_t number;
  bool came = pks__ingest_find_new(&delivery->ingest, want->id, &number)
    && number < PKS__SCRATCH_COUNT(&frames->places, pks__new_place);
  if (!came) { return fetch_from_base(delivery, want, out, error); }
  const pks__new_place *place = PKS__SCRATCH_AT(&frames->places, const pks__new_place, number);
  PKS_ASSERT(place->length == want->length);
  pks_status status = read_frame(delivery, place, raw_length_of(frames, number), error);
  if (!status) { memcpy(out, delivery->raw.bytes + place->begin, want->length); }
  return status;
}

pks__chunk_fetch pks__delivery_fetch(pks_delivery *delivery) {
  return (pks__chunk_fetch){.context = delivery, .fetch = fetch};
}
