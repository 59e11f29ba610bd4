#include "ingest/frame_pipeline.h"

#include <string.h>

#include "base/memory.h"

/// A frame on its way. `task` comes first: the pool hands it back.
struct pks__pipeline_frame {
  pks__task task;
  pks__frame_pipeline *pipeline;
  const uint8_t *raw;  ///< lent, or `copy`
  uint8_t *copy;
  uint32_t raw_length;
  uint8_t *encoded;
  size_t encoded_capacity;
  size_t encoded_length;  ///< 0: stored raw; SIZE_MAX: memory was short
  pks__frame_form form;
  pks__id *ids;
  uint32_t *ends;
  uint16_t *alignments;  ///< alignment of each chunk if it is stored raw: 1 unless an asset begins there
  uint32_t chunk_count;
  bool stays_raw;
  bool is_scattered;  ///< some of its chunks do not follow the one before in their asset
  bool ends_asset;
  bool cuts_asset;  ///< more of the same asset may follow
};

enum {
  /// For each thread: enough for a thread that encodes small assets while another reads a batch of them.
  SMALL_FRAMES_AHEAD = 16,
  LARGE_FRAMES_AHEAD = 4,
};

// MARK: - Opening

static bool allocate_frame(pks__frame_pipeline *pipeline, pks__pipeline_frame *frame, size_t raw_capacity) {
  frame->pipeline = pipeline;
  frame->encoded_capacity = pks__encode_capacity(raw_capacity);
  frame->copy = pks__allocate(raw_capacity);
  frame->encoded = pks__allocate(frame->encoded_capacity);
  frame->ids = pks__allocate(PKS__FRAME_CHUNKS_MAX * sizeof *frame->ids);
  frame->ends = pks__allocate(PKS__FRAME_CHUNKS_MAX * sizeof *frame->ends);
  frame->alignments = pks__allocate(PKS__FRAME_CHUNKS_MAX * sizeof *frame->alignments);
  return frame->copy && frame->encoded && frame->ids && frame->ends && frame->alignments;
}

static bool allocate_all(pks__frame_pipeline *pipeline, int level, uint32_t threads, size_t raw_capacity) {
  pipeline->encoders = pks__allocate_zeroed(threads, sizeof *pipeline->encoders);
  pipeline->ring = pks__allocate_zeroed(pipeline->ring_size, sizeof *pipeline->ring);
  if (!pipeline->encoders || !pipeline->ring) { return false; }
  for (uint32_t i = 0; i < threads; i++) {
    pipeline->encoders[i] = pks__encoder_create(level);
    if (!pipeline->encoders[i]) { return false; }
  }
  for (uint32_t i = 0; i < pipeline->ring_size; i++) {
    if (!allocate_frame(pipeline, &pipeline->ring[i], raw_capacity)) { return false; }
  }
  return true;
}

/// The sizes of a layout: raw bytes of frames, of shared frames of small assets, and zstd's level.
typedef struct layout_sizes {
  uint32_t frame, shared_frame;
  int level;
} layout_sizes;

/// Returns the sizes for a request. Larger frames justify the larger tables of higher levels.
static layout_sizes sizes_of(const pks_add_request *request) {
  layout_sizes sizes = {PKS__FRAME_RANDOM, 32 * 1024, 3};
  if (request->layout == PKS_LAYOUT_SEQUENTIAL) { sizes = (layout_sizes){2 * 1024 * 1024, 2 * 1024 * 1024, 4}; }
  if (request->layout == PKS_LAYOUT_COMPACT) {
    sizes = (layout_sizes){PKS__FRAME_COMPACT, PKS__FRAME_COMPACT, PKS__LEVEL_COMPACT};
  }
  if (request->frame_size && request->layout != PKS_LAYOUT_RANDOM) { sizes.shared_frame = request->frame_size; }
  if (request->frame_size) { sizes.frame = request->frame_size; }
  if (request->shared_frame_size) { sizes.shared_frame = request->shared_frame_size; }
  if (request->level) { sizes.level = request->level; }
  return sizes;
}

pks_status pks__frame_pipeline_open(
  pks__frame_pipeline *out, pks__staging *staging, const pks__frame_sink *sink, pks__pool *pool,
  const pks_add_request *request, uint32_t chunk_maximum, bool saves_memory, bool sync, pks_error *error
) {
  layout_sizes sizes = sizes_of(request);
  uint32_t threads = pks__pool_thread_count(pool);
  *out = (pks__frame_pipeline
  ){.pool = pool, .target = sizes.frame, .shared_target = sizes.shared_frame, .level = sizes.level};
  // A reader does not remember longer ones (`frame_cache.h`).
  out->scattered_target = out->shared_target / 2 < PKS__FRAME_RANDOM ? out->shared_target / 2 : PKS__FRAME_RANDOM;
  out->ring_size = saves_memory       ? threads + 1
    : out->target > PKS__FRAME_RANDOM ? threads * 2 + 1
                                      : threads * SMALL_FRAMES_AHEAD;
  // A single thread encodes when it retires: there is nothing to gather ahead.
  if (threads == 1) { out->ring_size = 1; }
  pks__segment_series_init(&out->series, staging, sink, PKS__SEGMENT_DATA, sync);
  pks__scratch_init(&out->places, &staging->scratch);
  pks__scratch_init(&out->frames, &staging->scratch);
  pks__scratch_init(&out->frame_bases, &staging->scratch);
  size_t raw_capacity = chunk_maximum > out->target ? chunk_maximum : out->target;
  if (raw_capacity < out->shared_target) { raw_capacity = out->shared_target; }
  return allocate_all(out, sizes.level, threads, raw_capacity) ? PKS_OK : pks__fail_memory(error);
}

void pks__frame_pipeline_close(pks__frame_pipeline *pipeline) {
  if (!pipeline->pool) { return; }
  pks__frame_pipeline_wait(pipeline);
  for (uint32_t i = 0; pipeline->ring && i < pipeline->ring_size; i++) {
    pks__free(pipeline->ring[i].copy);
    pks__free(pipeline->ring[i].encoded);
    pks__free(pipeline->ring[i].ids);
    pks__free(pipeline->ring[i].ends);
    pks__free(pipeline->ring[i].alignments);
  }
  for (uint32_t i = 0; pipeline->encoders && i < pks__pool_thread_count(pipeline->pool); i++) {
    pks__encoder_destroy(pipeline->encoders[i]);
  }
  pks__free(pipeline->ring);
  pks__free(pipeline->encoders);
  pks__segment_series_free(&pipeline->series);
  pks__scratch_free(&pipeline->places);
  pks__scratch_free(&pipeline->frames);
  pks__scratch_free(&pipeline->frame_bases);
  *pipeline = (pks__frame_pipeline){0};
}

// MARK: - Retiring

uint32_t pks__frame_pipeline_frame_count(const pks__frame_pipeline *pipeline, uint32_t segment) {
  uint64_t count = PKS__SCRATCH_COUNT(&pipeline->frame_bases, uint64_t);
  if (segment >= count) { return 0; }
  const uint64_t *bases = PKS__SCRATCH_AT(&pipeline->frame_bases, const uint64_t, segment);
  uint64_t end = segment + 1 < count ? bases[1] : PKS__SCRATCH_COUNT(&pipeline->frames, pks__frame_ref);
  return (uint32_t)(end - bases[0]);
}

/// Notes the next frame of a segment. Its chunks' places follow.
static pks_status note_frame(
  pks__frame_pipeline *pipeline, uint32_t segment, const pks__frame_row *row, uint32_t raw_length, pks_error *error
) {
  pks__frame_ref frame = pks__frame_ref_make(row->place, row->stored_length, raw_length, row->sum);
  pks_status status = PKS_OK;
  if (segment == PKS__SCRATCH_COUNT(&pipeline->frame_bases, uint64_t)) {
    uint64_t base = PKS__SCRATCH_COUNT(&pipeline->frames, pks__frame_ref);
    status = pks__scratch_append(&pipeline->frame_bases, &base, sizeof base, error);
  }
  return status ? status : pks__scratch_append(&pipeline->frames, &frame, sizeof frame, error);
}

/// Writes one stored frame and records the places of its chunks.
static pks_status write_frame(pks__frame_pipeline *pipeline, const pks__encoded_frame *frame, pks_error *error) {
  const uint32_t *ends = frame->ends, chunk_count = frame->chunk_count;
  pks__new_place place = {0};
  pks__frame_row row;
  pks_status status = pks__segment_series_append(&pipeline->series, frame, &place.segment, &place.frame, &row, error);
  if (!status) { status = note_frame(pipeline, place.segment, &row, ends[chunk_count - 1], error); }
  for (uint32_t i = 0; !status && i < chunk_count; i++) {
    place.begin = i > 0 ? ends[i - 1] : 0;
    place.length = ends[i] - place.begin;
    status = pks__scratch_append(&pipeline->places, &place, sizeof place, error);
  }
  if (status || !pipeline->observe) { return status; }
  return pipeline->observe(pipeline->observer, place.segment, &row, frame->ids, ends, chunk_count, error);
}

pks_status pks__frame_pipeline_note(
  pks__frame_pipeline *pipeline, const pks__frame_row *row, const pks_le32 *ends, uint32_t chunk_count, pks_error *error
) {
  uint32_t segment = pipeline->series.sealed_count;
  pks__new_place place = {.segment = segment, .frame = pks__frame_pipeline_frame_count(pipeline, segment)};
  pks_status status = note_frame(pipeline, segment, row, pks__get32(ends[chunk_count - 1]), error);
  for (uint32_t i = 0; !status && i < chunk_count; i++) {
    place.begin = i > 0 ? pks__get32(ends[i - 1]) : 0;
    place.length = pks__get32(ends[i]) - place.begin;
    status = pks__scratch_append(&pipeline->places, &place, sizeof place, error);
  }
  return status;
}

pks_status pks__frame_pipeline_restore(
  pks__frame_pipeline *pipeline, const pks__frame_row *row, const pks__id *ids, const pks_le32 *ends,
  uint32_t chunk_count, bool *fits, pks_error *error
) {
  pks_status status = pks__segment_series_restore(&pipeline->series, row, ids, ends, chunk_count, fits, error);
  return status || !*fits ? status : pks__frame_pipeline_note(pipeline, row, ends, chunk_count, error);
}

pks_status pks__frame_pipeline_add_encoded(
  pks__frame_pipeline *pipeline, const pks__encoded_frame *frame, pks_error *error
) {
  pks_status status = write_frame(pipeline, frame, error);
  bool may_cut = frame->codec != PKS__CODEC_RAW;
  return status ? status : pks__segment_series_boundary(&pipeline->series, frame->ends_asset, may_cut, error);
}

/// Writes every chunk of a frame as a raw frame of its own.
static pks_status write_raw(pks__frame_pipeline *pipeline, const pks__pipeline_frame *frame, pks_error *error) {
  for (uint32_t i = 0, begin = 0; i < frame->chunk_count; begin = frame->ends[i++]) {
    uint32_t length = frame->ends[i] - begin;
    pks__encoded_frame raw = {
      .stored = frame->raw + begin,
      .stored_length = length,
      .codec = PKS__CODEC_RAW,
      .alignment = frame->alignments[i],
      .ids = &frame->ids[i],
      .ends = &length,
      .chunk_count = 1,
    };
    pks_status status = write_frame(pipeline, &raw, error);
    if (status) { return status; }
  }
  return PKS_OK;
}

static pks_status retire_oldest(pks__frame_pipeline *pipeline, pks_error *error) {
  pks__pipeline_frame *frame = &pipeline->ring[pipeline->oldest];
  pks__pool_finish(pipeline->pool, &frame->task);
  pipeline->oldest = (pipeline->oldest + 1) % pipeline->ring_size;
  pipeline->count--;
  pipeline->raw_bytes -= frame->raw_length;
  if (frame->encoded_length == SIZE_MAX) { return pks__fail_memory(error); }
  pks_status status;
  if (frame->encoded_length == 0) {
    status = write_raw(pipeline, frame, error);
  } else {
    pks__encoded_frame encoded = {
      .stored = frame->encoded,
      .stored_length = (uint32_t)frame->encoded_length,
      .codec = PKS__CODEC_ZSTD,
      .dictionary = frame->form.dictionary ? &frame->form.dictionary->stored : NULL,
      .alignment = 1,
      .ids = frame->ids,
      .ends = frame->ends,
      .chunk_count = frame->chunk_count,
    };
    status = write_frame(pipeline, &encoded, error);
    pipeline->asset_in_pieces = pipeline->asset_in_pieces || frame->cuts_asset;
  }
  if (status) { return status; }
  bool may_cut = frame->cuts_asset && pipeline->asset_in_pieces;
  if (frame->ends_asset) { pipeline->asset_in_pieces = false; }
  return pks__segment_series_boundary(&pipeline->series, frame->ends_asset, may_cut, error);
}

// MARK: - Lending

void pks__frame_pipeline_lend(pks__frame_pipeline *pipeline, const uint8_t *bytes, size_t byte_count) {
  pipeline->lent = bytes;
  pipeline->lent_length = byte_count;
}

static bool lies_in(const uint8_t *at, size_t length, const uint8_t *bytes, size_t byte_count) {
  uintptr_t begin = (uintptr_t)bytes, from = (uintptr_t)at;
  return bytes && from >= begin && from - begin <= byte_count && byte_count - (from - begin) >= length;
}

/// Copies the frame's borrowed bytes, if any.
static void keep(pks__pipeline_frame *frame) {
  if (frame->raw == frame->copy) { return; }
  memcpy(frame->copy, frame->raw, frame->raw_length);
  frame->raw = frame->copy;
}

/// The last frame on its way that refers to the bytes, counted from the oldest one; 0: none does.
static uint32_t frames_in(const pks__frame_pipeline *pipeline, const uint8_t *bytes, size_t byte_count) {
  uint32_t last = 0;
  for (uint32_t i = 0; i < pipeline->count; i++) {
    const pks__pipeline_frame *frame = &pipeline->ring[(pipeline->oldest + i) % pipeline->ring_size];
    if (lies_in(frame->raw, frame->raw_length, bytes, byte_count)) { last = i + 1; }
  }
  return last;
}

pks_status pks__frame_pipeline_take_back(
  pks__frame_pipeline *pipeline, const uint8_t *bytes, size_t byte_count, pks_error *error
) {
  pks__pipeline_frame *open = pipeline->open;
  if (open && lies_in(open->raw, open->raw_length, bytes, byte_count)) { keep(open); }
  if (pipeline->lent == bytes) { pipeline->lent = NULL; }
  pks_status status = PKS_OK;
  for (uint32_t left = frames_in(pipeline, bytes, byte_count); !status && left > 0; left--) {
    status = retire_oldest(pipeline, error);
  }
  return status;
}

void pks__frame_pipeline_wait(pks__frame_pipeline *pipeline) {
  for (uint32_t i = 0; i < pipeline->count; i++) {
    pks__pool_finish(pipeline->pool, &pipeline->ring[(pipeline->oldest + i) % pipeline->ring_size].task);
  }
}

// MARK: - Forming

static void encode_frame(pks__task *task, uint32_t worker) {
  pks__pipeline_frame *frame = (pks__pipeline_frame *)(void *)task;
  frame->encoded_length = 0;
  if (frame->stays_raw) { return; }
  pks__encoder *encoder = frame->pipeline->encoders[worker];
  const pks__frame_dictionary *dictionary = frame->form.dictionary;
  frame->encoded_length = dictionary
    ? pks__encode_with(
      encoder, dictionary->tables, frame->raw, frame->raw_length, frame->encoded, frame->encoded_capacity
    )
    : pks__encode(encoder, frame->raw, frame->raw_length, frame->encoded, frame->encoded_capacity);
}

/// Sends the open frame to the workers.
static void close_frame(pks__frame_pipeline *pipeline, bool ends_asset) {
  pks__pipeline_frame *frame = pipeline->open;
  if (!frame) { return; }
  frame->ends_asset = ends_asset;
  frame->cuts_asset = !ends_asset;
  frame->task.run = encode_frame;
  pipeline->open = NULL;
  pipeline->count++;
  pipeline->raw_bytes += frame->raw_length;
  pks__pool_submit(pipeline->pool, &frame->task);
}

/// Whether as much is under way as keeps all threads busy. Many small frames are as much as few large ones.
static bool is_full(const pks__frame_pipeline *pipeline) {
  size_t bytes_ahead = (size_t)pks__pool_thread_count(pipeline->pool) * LARGE_FRAMES_AHEAD * PKS__FRAME_RANDOM;
  bool is_small = pipeline->target <= PKS__FRAME_RANDOM;
  return pipeline->count == pipeline->ring_size || (is_small && pipeline->raw_bytes > bytes_ahead);
}

static pks_status open_frame(pks__frame_pipeline *pipeline, pks_error *error) {
  while (is_full(pipeline)) {
    pks_status status = retire_oldest(pipeline, error);
    if (status) { return status; }
  }
  pks__pipeline_frame *frame = &pipeline->ring[(pipeline->oldest + pipeline->count) % pipeline->ring_size];
  frame->raw = frame->copy;
  frame->raw_length = 0;
  frame->chunk_count = 0;
  frame->stays_raw = pipeline->asset_is_mapped;
  frame->is_scattered = false;
  frame->form = pipeline->asset_form;
  pipeline->open = frame;
  return PKS_OK;
}

void pks__frame_pipeline_begin_asset(
  pks__frame_pipeline *pipeline, uint64_t size, bool mapped, const pks__frame_form *form
) {
  PKS_ASSERT(!form || (size < PKS__LARGE_ASSET && !mapped));
  pipeline->asset_size = size;
  pipeline->asset_is_mapped = mapped;
  pipeline->asset_form = form ? *form : (pks__frame_form){0};
  pipeline->asset_begins = true;
  pipeline->follows_gap = false;
}

void pks__frame_pipeline_skip(pks__frame_pipeline *pipeline) { pipeline->follows_gap = true; }

/// Whether the asset begins a frame of its own and at a page, if its beginning is new.
static bool is_large(const pks__frame_pipeline *pipeline) {
  return pipeline->asset_is_mapped || pipeline->asset_size >= PKS__LARGE_ASSET;
}

/// Whether the chunk does not belong in the open frame.
static bool needs_new_frame(const pks__frame_pipeline *pipeline, uint32_t length, bool at_start) {
  const pks__pipeline_frame *open = pipeline->open;
  if (at_start && is_large(pipeline)) { return true; }
  const pks__frame_form *form = &pipeline->asset_form;
  if (!pks__frame_form_equal(&open->form, form) || open->chunk_count == PKS__FRAME_CHUNKS_MAX) { return true; }
  uint32_t limit = is_large(pipeline) ? pipeline->target : pipeline->shared_target;
  bool is_scattered = open->is_scattered || pipeline->follows_gap;
  bool is_limited = is_scattered && !pipeline->asset_is_mapped && limit > pipeline->scattered_target;
  if (is_limited) { limit = pipeline->scattered_target; }
  return pks__frame_form_parts(form, limit, pipeline->asset_begins, pipeline->asset_size, open->raw_length, length);
}

/// Adds bytes to the frame: by reference while all of them are borrowed and contiguous.
static void gather(pks__pipeline_frame *frame, const uint8_t *bytes, uint32_t length, bool is_lent) {
  bool is_first = frame->raw_length == 0;
  bool follows = frame->raw != frame->copy && frame->raw + frame->raw_length == bytes;
  if (is_lent && is_first) { frame->raw = bytes; }
  if (!is_lent || !(is_first || follows)) {
    keep(frame);
    memcpy(frame->copy + frame->raw_length, bytes, length);
  }
  frame->raw_length += length;
}

pks_status pks__frame_pipeline_add(
  pks__frame_pipeline *pipeline, const pks__id *id, const uint8_t *bytes, uint32_t length, bool at_start,
  pks_error *error
) {
  if (pipeline->open && needs_new_frame(pipeline, length, at_start)) { close_frame(pipeline, pipeline->asset_begins); }
  if (!pipeline->open) {
    pks_status status = open_frame(pipeline, error);
    if (status) { return status; }
  }
  pks__pipeline_frame *frame = pipeline->open;
  if (at_start && is_large(pipeline)) { pipeline->asset_owns_frame = true; }
  uint16_t alignment = is_large(pipeline) ? PKS__PAGE : 8;
  frame->is_scattered = frame->is_scattered || (frame->chunk_count > 0 && pipeline->follows_gap);
  pipeline->follows_gap = false;
  gather(frame, bytes, length, lies_in(bytes, length, pipeline->lent, pipeline->lent_length));
  frame->ids[frame->chunk_count] = *id;
  frame->ends[frame->chunk_count] = frame->raw_length;
  frame->alignments[frame->chunk_count] = pipeline->asset_begins ? alignment : 1;
  frame->chunk_count++;
  pipeline->asset_begins = false;
  return PKS_OK;
}

/// A large asset does not share frames, so that it stays in one piece if it is raw, regardless of the next asset.
void pks__frame_pipeline_end_asset(pks__frame_pipeline *pipeline) {
  const pks__pipeline_frame *open = pipeline->open;
  bool is_whole = open && pks__frame_form_is_whole(&open->form, pipeline->shared_target, open->raw_length);
  pipeline->asset_begins = true;
  if (is_whole || pipeline->asset_owns_frame) { close_frame(pipeline, true); }
  pipeline->asset_owns_frame = false;
}

pks_status pks__frame_pipeline_flush(pks__frame_pipeline *pipeline, pks_error *error) {
  close_frame(pipeline, true);
  while (pipeline->count > 0) {
    pks_status status = retire_oldest(pipeline, error);
    if (status) { return status; }
  }
  return PKS_OK;
}

pks_status pks__frame_pipeline_finish(pks__frame_pipeline *pipeline, pks_error *error) {
  pks_status status = pks__frame_pipeline_flush(pipeline, error);
  return status ? status : pks__segment_series_finish(&pipeline->series, error);
}
