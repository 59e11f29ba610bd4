/// Reading assets: from a record's pieces to bytes in the caller's memory.
///
/// A read goes in *batches*: a few pieces that follow each other, about one frame's worth. Each thread that works on a
/// read claims the next batch by moving the read's cursor, brings its bytes to their place, and claims again. So a
/// large read is shared with as many threads as are idle, without a plan, an allocation or a lock; a small one is a
/// batch or two on the caller's thread.
///
/// A raw frame is checked whenever all of it is read, and once per process when parts of it are; a compressed one
/// whenever it is decoded.
#include <stdatomic.h>
#include <string.h>

#include "index/extent_walk.h"
#include "platform/threads.h"
#include "read/namespace.h"
#include "segment/frame_check.h"
#include "store/chunk_lookup.h"
#include "store/open_run.h"
#include "store/snapshot.h"

enum {
  BATCH_PIECES = 32,
  BATCH_BYTES = 64 * 1024,             ///< a batch ends with the piece that fills this many
  SHARED_BYTES = 256 * 1024,           ///< from this length on a read is worth waking threads for
  SHARED_RAW_BYTES = 2 * 1024 * 1024,  ///< the same for copies with checksums: assets stored raw in one piece
};

typedef struct batch {
  uint64_t offset;  ///< offset in the file
  uint64_t end;
  uint32_t count;
  pks__extent_part pieces[BATCH_PIECES];
} batch;

typedef struct reading {
  pks__effort effort;
  pks_snapshot *snapshot;
  const pks__hit *hit;
  uint64_t offset, end;  ///< the range of the file to read
  uint8_t *out;          ///< where the byte at `offset` goes
  _Atomic(uint64_t) next;
  _Atomic(bool) has_failed;
  pks_status status;  ///< of the first failure, set by the thread that set `has_failed`
  pks_error *error;
} reading;

// MARK: - Batches

static pks_status fill_batch(const reading *reading, uint64_t at, batch *out, pks_error *error) {
  pks__extent_walk walk =
    pks__extent_walk_make(&reading->snapshot->runs[reading->hit->run].open->run, &reading->hit->entry);
  pks_status status = at > 0 ? pks__extent_walk_seek(&walk, at, error) : PKS_OK;
  out->offset = out->end = at;
  out->count = 0;
  while (!status && out->end < reading->end && out->count < BATCH_PIECES) {
    pks__extent_part *piece = &out->pieces[out->count];
    bool more;
    status = pks__extent_walk_next(&walk, piece, &more, error);
    if (!status && !more) { status = pks__bad_extents(&walk, error); }
    if (status) { break; }
    // Pieces of one frame stay together: it is decoded once.
    bool is_full = out->end - at >= BATCH_BYTES && piece->index != piece[-1].index;
    if (is_full) { break; }
    piece->end = (uint32_t)pks__min64(piece->end, piece->begin + (reading->end - out->end));
    out->end += piece->end - piece->begin;
    out->count++;
  }
  return status;
}

/// The next batch; one without pieces when nothing is left to begin.
static pks_status claim(reading *reading, batch *out, pks_error *error) {
  uint64_t at = atomic_load_explicit(&reading->next, memory_order_relaxed);
  do {
    out->count = 0;
    if (at >= reading->end || atomic_load_explicit(&reading->has_failed, memory_order_relaxed)) { return PKS_OK; }
    pks_status status = fill_batch(reading, at, out, error);
    if (status) { return status; }
  } while (
    !atomic_compare_exchange_weak_explicit(&reading->next, &at, out->end, memory_order_relaxed, memory_order_relaxed)
  );
  return PKS_OK;
}

static bool is_whole(const pks__extent_part *piece) {
  return piece->begin == 0 && piece->end == piece->frame.ref.raw_length;
}

/// Whether the piece's bytes may be read directly from the file to their destination: raw bytes that are checked there, or were
/// checked before.
static bool is_direct(pks__open_run *open, const pks__extent_part *piece) {
  return piece->frame.ref.codec == PKS__CODEC_RAW && (is_whole(piece) || pks__open_run_is_checked(open, piece->index));
}

/// Whether the bytes of a raw piece directly follow those of the previous one.
static bool abuts(const pks__extent_part *piece, const pks__extent_part *before) {
  return piece->frame.segment == before->frame.segment && piece->begin == 0
    && before->end == before->frame.ref.raw_length
    && piece->frame.ref.offset == before->frame.ref.offset + before->frame.ref.stored_length;
}

/// How many pieces from `first` on are direct and abut.
static uint32_t count_direct(pks__open_run *open, const batch *batch, uint32_t first) {
  uint32_t end = first;
  while (end < batch->count && is_direct(open, &batch->pieces[end])
         && (end == first || abuts(&batch->pieces[end], &batch->pieces[end - 1]))) {
    end++;
  }
  return end - first;
}

/// Copies bytes from the segment's mapping if that is how it is read; false: they must be read from the file.
static bool copy_mapped(pks__segment *segment, uint64_t offset, size_t byte_count, uint8_t *out) {
  const uint8_t *data;
  if (!segment->is_read_mapped || pks__segment_map_data(segment, &data, NULL)) { return false; }
  if (!pks__range_fits(offset, byte_count, segment->file_length)) { return false; }
  memcpy(out, data + offset, byte_count);
  return true;
}

static bool all_checked(pks__open_run *open, const pks__extent_part *pieces, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    if (!pks__open_run_is_checked(open, pieces[i].index)) { return false; }
  }
  return true;
}

/// Reads direct pieces that abut with one call, then checks each that is whole. In the mapped mode, pieces that were all
/// checked before are copied.
static pks_status read_direct(
  pks__open_run *open, pks__segment *segment, const pks__extent_part *pieces, uint32_t count, uint8_t *out,
  pks_error *error
) {
  const pks__extent_part *last = &pieces[count - 1];
  uint64_t begin = pieces[0].frame.ref.offset + pieces[0].begin;
  size_t byte_count = (size_t)(last->frame.ref.offset + last->end - begin);
  bool may_copy = segment->is_read_mapped && all_checked(open, pieces, count);
  if (may_copy && copy_mapped(segment, begin, byte_count, out)) { return PKS_OK; }
  pks_status status = pks__segment_read(segment, begin, byte_count, out, error);
  for (uint32_t i = 0; !status && i < count; i++) {
    const pks__extent_part *piece = &pieces[i];
    if (is_whole(piece)) {
      const pks__run_frame_info *frame = &piece->frame;
      status = pks__frame_check(segment, &frame->ref, out, error);
      if (!status) { pks__open_run_set_checked(open, piece->index); }
    }
    out += piece->end - piece->begin;
  }
  return status;
}

/// Reads one piece of a frame that is remembered for those who want the rest.
static pks_status read_piece(
  const reading *reading, pks__segment *segment, pks__frame_reader *reader, const pks__extent_part *piece, uint8_t *out,
  pks_error *error
) {
  pks__open_run *open = reading->snapshot->runs[reading->hit->run].open;
  const pks__run_frame_info *frame = &piece->frame;
  pks__frame_source source = {segment, frame->ref};
  pks_store *store = reading->snapshot->store;
  pks_status status = pks__store_read_frame(store, reader, &source, piece->begin, piece->end, out, error);
  if (!status && frame->ref.codec == PKS__CODEC_RAW) { pks__open_run_set_checked(open, piece->index); }
  return status;
}

static pks_status read_batch(const reading *reading, const batch *batch, pks__frame_reader *reader, pks_error *error) {
  pks__open_run *open = reading->snapshot->runs[reading->hit->run].open;
  uint8_t *out = reading->out + (batch->offset - reading->offset);
  for (uint32_t i = 0; i < batch->count;) {
    const pks__extent_part *piece = &batch->pieces[i];
    pks__segment *segment;
    pks_status status =
      pks__snapshot_segment(reading->snapshot, reading->hit->run, piece->frame.segment, &segment, error);
    if (status) { return status; }
    uint32_t count = count_direct(open, batch, i);
    if (count > 0) {
      status = read_direct(open, segment, piece, count, out, error);
    } else {
      count = 1;
      status = read_piece(reading, segment, reader, piece, out, error);
    }
    if (status) { return status; }
    for (uint32_t end = i + count; i < end; i++) { out += batch->pieces[i].end - batch->pieces[i].begin; }
  }
  return PKS_OK;
}

// MARK: - Working on a read

/// Keeps the first failure; others see it and begin no more batches.
static void fail(reading *reading, pks_status status, const pks_error *error) {
  if (atomic_exchange(&reading->has_failed, true)) { return; }
  reading->status = status;
  if (reading->error) { *reading->error = *error; }
}

static pks_status cancelled(pks_error *error) {
  return pks__fail(error, PKS_CANCELLED, "cancelled", NULL, PKS_NO_OFFSET);
}

/// Reads batches until none is left. `goes_on` was called before the first one and is called before each further one.
static pks_status work(
  reading *reading, bool (*goes_on)(void *context), void *context, pks__frame_reader *reader, pks_error *error
) {
  for (bool is_first = true;; is_first = false) {
    batch batch;
    pks_status status = claim(reading, &batch, error);
    if (status || batch.count == 0) { return status; }
    if (!is_first && goes_on && !goes_on(context)) { return cancelled(error); }
    status = read_batch(reading, &batch, reader, error);
    if (status) { return status; }
  }
}

/// A helper's part. A helper without memory for a reader does nothing.
static void help(pks__effort *effort) {
  reading *reading = (struct reading *)(void *)effort;
  pks_error error;
  pks__frame_reader *reader;
  if (pks__frame_reader_take(&reading->snapshot->store->readers, &reader, NULL)) { return; }
  pks_status status = work(reading, NULL, NULL, reader, &error);
  pks__frame_reader_return(&reading->snapshot->store->readers, reader);
  if (status) { fail(reading, status, &error); }
}

/// Reads a short range of adjacent raw frames, the common case of small assets that do not compress: one batch, and one call. The
/// setup for several batches would take as long as checking a few kilobytes. `*done` is false in all other cases.
static pks_status read_short(const reading *reading, bool *done, pks_error *error) {
  pks__open_run *open = reading->snapshot->runs[reading->hit->run].open;
  batch batch;
  pks_status status = fill_batch(reading, reading->offset, &batch, error);
  if (status || batch.end < reading->end || count_direct(open, &batch, 0) < batch.count) { return status; }
  *done = true;
  pks__segment *segment;
  status = pks__snapshot_segment(reading->snapshot, reading->hit->run, batch.pieces[0].frame.segment, &segment, error);
  return status ? status : read_direct(open, segment, batch.pieces, batch.count, reading->out, error);
}

static pks_status read_range(reading *reading, bool (*goes_on)(void *context), void *context, pks_error *error) {
  pks_store *store = reading->snapshot->store;
  uint64_t length = reading->end - reading->offset;
  bool is_raw = reading->hit->entry.flags & PKS__FLAG_CONTIGUOUS;
  bool is_shared = length >= (is_raw ? SHARED_RAW_BYTES : SHARED_BYTES) && pks__crew_thread_count(store->crew) > 0;
  pks__frame_reader *reader;
  pks_error failure;
  if (goes_on && !goes_on(context)) { return cancelled(error); }
  bool done = false;
  pks_status status = is_raw && length <= BATCH_BYTES ? read_short(reading, &done, error) : PKS_OK;
  if (status || done) { return status; }
  status = pks__frame_reader_take(&store->readers, &reader, error);
  if (status) { return status; }
  if (is_shared) {
    pks__crew_call(store->crew, &reading->effort, (uint32_t)pks__min64(length / BATCH_BYTES - 1, UINT32_MAX));
  }
  status = work(reading, goes_on, context, reader, &failure);
  if (status) { fail(reading, status, &failure); }
  if (is_shared) { pks__crew_dismiss(store->crew, &reading->effort); }
  pks__frame_reader_return(&store->readers, reader);
  return reading->status;
}

pks_status pks_asset_read_while(
  const pks_asset *asset, uint64_t offset, void *out, size_t length, bool (*goes_on)(void *context), void *context,
  pks_error *error
) {
  pks__hit hit;
  pks_status status = pks__namespace_file(asset, &hit, error);
  if (status) { return status; }
  if (!pks__range_fits(offset, length, asset->size)) {
    return pks__fail_at_path(
      error, PKS_INVALID_ARGUMENT, "the range ends after the asset", asset->path, asset->path_length
    );
  }
  if (length == 0) { return PKS_OK; }
  if (!out) {
    return pks__fail(error, PKS_INVALID_ARGUMENT, "no memory to read into; set the buffer", NULL, PKS_NO_OFFSET);
  }
  reading reading = {
    .effort = {.run = help},
    .snapshot = pks__snapshot_mutable(asset->snapshot),
    .hit = &hit,
    .offset = offset,
    .end = offset + length,
    .out = out,
    .next = offset,
    .error = error,
  };
  return pks__namespace_blame(read_range(&reading, goes_on, context, error), asset, error);
}

pks_status pks_asset_read(const pks_asset *asset, uint64_t offset, void *out, size_t length, pks_error *error) {
  return pks_asset_read_while(asset, offset, out, length, NULL, NULL, error);
}
