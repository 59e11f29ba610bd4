/// Reading assets: from a record's extents to bytes in the caller's memory.
#include <string.h>

#include "checksum.h"
#include "frames.h"
#include "memory.h"
#include "names.h"

/// A stretch of a file: where it begins in the run's running sum of raw lengths, and how much of it there is.
typedef struct stretch {
  uint32_t first_frame;
  uint64_t position;
  uint64_t length;
} stretch;

/// Position of an extent's first byte in the running sum.
static pks_status extent_position(pks__run *run, uint32_t frame, uint32_t skip, uint64_t *position, pks_error *error) {
  pks__run_frame_info info;
  pks_status status = pks__run_frame_at(run, frame, &info, error);
  if (!status && pks__add_overflows(info.raw_start, skip, position)) {
    status = pks__fail(error, PKS_CORRUPT, "index contradicts itself", run->table.name, PKS_NO_OFFSET);
  }
  return status;
}

static pks_status bad_extents(const pks__run *run, const pks__run_entry *entry, pks_error *error) {
  return pks__fail(
    error, PKS_CORRUPT, "extents do not cover the asset", run->table.name, run->records.offset + entry->offset
  );
}

/// The extent that holds byte `offset` of the file: the first that ends behind it.
static pks_status find_extent(
  pks__run *run, const pks__run_entry *entry, uint64_t offset, uint64_t *index, pks_error *error
) {
  uint64_t low = 0, high = entry->extent_count;
  while (low < high) {
    uint64_t middle = low + (high - low) / 2;
    if (pks__get64(entry->extents[middle].end) > offset) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  *index = low;
  return low < entry->extent_count ? PKS_OK : bad_extents(run, entry, error);
}

/// The stretch of the file from `offset` to the end of its extent.
static pks_status find_stretch(
  pks__run *run, const pks__run_entry *entry, uint64_t offset, stretch *out, pks_error *error
) {
  uint64_t begin = 0, end = entry->size;
  uint32_t frame = entry->frame, skip = entry->skip;
  if (entry->extents) {
    uint64_t index;
    pks_status status = find_extent(run, entry, offset, &index, error);
    if (status) { return status; }
    frame = pks__get32(entry->extents[index].frame);
    skip = pks__get32(entry->extents[index].skip);
    end = pks__get64(entry->extents[index].end);
    begin = index > 0 ? pks__get64(entry->extents[index - 1].end) : 0;
  }
  if (begin > offset || end <= offset || end > entry->size) { return bad_extents(run, entry, error); }
  pks_status status = extent_position(run, frame, skip, &out->position, error);
  out->first_frame = frame;
  out->length = end - offset;
  if (status) { return status; }
  uint64_t last;
  bool overflows = pks__add_overflows(out->position, offset - begin, &out->position)
    || pks__add_overflows(out->position, out->length, &last);
  return overflows ? bad_extents(run, entry, error) : PKS_OK;
}

/// Reads `length` bytes of a stretch, frame by frame.
static pks_status read_stretch(
  pks__view *view, uint32_t run_number, pks__frame_reader *reader, const stretch *from, uint64_t length, uint8_t *out,
  pks_error *error
) {
  pks__run *run = &view->runs[run_number].open->run;
  uint32_t index;
  pks_status status = pks__run_frame_find(run, from->first_frame, from->position, &index, error);
  uint64_t position = from->position, left = length;
  while (!status && left > 0) {
    pks__run_frame_info info;
    status = pks__run_frame_at(run, index++, &info, error);
    if (status) { break; }
    pks__frame_source source = {
      .offset = info.offset,
      .stored_length = info.stored_length,
      .raw_length = info.raw_length,
      .codec = info.codec,
      .sum = info.sum,
    };
    status = pks__view_segment(view, run_number, info.segment, &source.segment, error);
    if (status) { break; }
    uint32_t begin = (uint32_t)(position - info.raw_start);
    uint32_t end = (uint32_t)pks__min64(info.raw_length, begin + left);
    status = pks__frame_read(reader, &source, begin, end, out, error);
    out += end - begin;
    position += end - begin;
    left -= end - begin;
  }
  return status;
}

/// Names the asset in an error that names a segment: both matter, and the offset is the segment's.
static pks_status with_asset(pks_status status, const pks_asset *asset, pks_error *error) {
  if (!error || !status || (status != PKS_CORRUPT && status != PKS_PURGED)) { return status; }
  size_t used = strlen(error->file), room = sizeof error->file - 1 - used;
  static const char link[] = ", asset ";
  if (room < sizeof link + asset->path_length) { return status; }
  memcpy(error->file + used, link, sizeof link - 1);
  memcpy(error->file + used + sizeof link - 1, asset->path, asset->path_length);
  error->file[used + sizeof link - 1 + asset->path_length] = 0;
  return status;
}

static pks_status need_file(const pks_asset *asset, pks__hit *hit, pks_error *error) {
  if (asset->kind != PKS_FILE) {
    return pks__fail_at_path(error, PKS_WRONG_KIND, "not a file", asset->path, asset->path_length);
  }
  return pks__names_record(asset, hit, error);
}

pks_status pks_asset_read(const pks_asset *asset, uint64_t offset, void *out, size_t length, pks_error *error) {
  pks__hit hit;
  pks_status status = need_file(asset, &hit, error);
  if (status) { return status; }
  if (!pks__range_fits(offset, length, asset->size)) {
    return pks__fail_at_path(
      error, PKS_INVALID_ARGUMENT, "range past the end of the asset", asset->path, asset->path_length
    );
  }
  if (length == 0) { return PKS_OK; }
  pks__view *view = (pks__view *)(uintptr_t)asset->snapshot;
  pks__frame_reader *reader;
  status = pks__frame_reader_take(view->store, &reader, error);
  if (status) { return status; }
  uint8_t *next = out;
  for (uint64_t at = offset, end = offset + length; !status && at < end;) {
    stretch from;
    status = find_stretch(&view->runs[hit.run].open->run, &hit.entry, at, &from, error);
    if (status) { break; }
    uint64_t piece = pks__min64(from.length, end - at);
    status = read_stretch(view, hit.run, reader, &from, piece, next, error);
    next += piece;
    at += piece;
  }
  pks__frame_reader_return(view->store, reader);
  return with_asset(status, asset, error);
}

// MARK: - Borrowing

static _Atomic(uint64_t) *checked_frames(pks__open_run *open) {
  _Atomic(uint64_t) *checked = atomic_load_explicit(&open->checked, memory_order_acquire);
  if (checked) { return checked; }
  _Atomic(uint64_t) *made = pks__allocate_zeroed(open->run.frame_count / 64 + 1, sizeof *made);
  if (!made) { return NULL; }
  if (atomic_compare_exchange_strong(&open->checked, &checked, made)) { return made; }
  pks__free((void *)made);
  return checked;
}

/// Checks frames [first, ...) until `end` of the running sum, each once per process; `*bytes` is where the first lies.
static pks_status check_mapped(
  pks__view *view, uint32_t run_number, const stretch *whole, const uint8_t **bytes, pks_error *error
) {
  pks__open_run *open = view->runs[run_number].open;
  _Atomic(uint64_t) *checked = checked_frames(open);
  if (!checked) { return pks__fail_memory(error); }
  uint64_t end = whole->position + whole->length;
  uint32_t first_segment = 0;
  const uint8_t *next = NULL;
  *bytes = NULL;
  for (uint32_t index = whole->first_frame;; index++) {
    pks__run_frame_info info;
    pks__segment *segment;
    const uint8_t *data;
    pks_status status = pks__run_frame_at(&open->run, index, &info, error);
    if (!status) { status = pks__view_segment(view, run_number, info.segment, &segment, error); }
    if (!status) { status = pks__segment_map_data(segment, &data, error); }
    if (status) { return status; }
    if (!pks__range_fits(info.offset, info.stored_length, segment->file_length)) {
      return pks__fail(error, PKS_CORRUPT, "segment is truncated", segment->name, segment->file_length);
    }
    bool goes_on = !*bytes || (info.segment == first_segment && data + info.offset == next);
    if (info.codec != PKS__CODEC_RAW || !goes_on) {
      return pks__fail(
        error, PKS_CORRUPT, "the index calls an asset contiguous that is not", segment->name, info.offset
      );
    }
    bool done = atomic_load_explicit(&checked[index / 64], memory_order_acquire) >> (index % 64) & 1;
    if (!done) {
      if (pks__checksum(data + info.offset, info.stored_length) != info.sum) {
        return pks__fail(error, PKS_CORRUPT, "checksum mismatch", segment->name, info.offset);
      }
      atomic_fetch_or_explicit(&checked[index / 64], (uint64_t)1 << (index % 64), memory_order_release);
    }
    if (!*bytes) {
      first_segment = info.segment;
      *bytes = data + info.offset + (whole->position - info.raw_start);
    }
    next = data + info.offset + info.stored_length;
    if (info.raw_start + info.raw_length >= end) { return PKS_OK; }
  }
}

pks_status pks_asset_borrow(const pks_asset *asset, pks_bytes *out, pks_error *error) {
  pks__hit hit;
  pks_status status = need_file(asset, &hit, error);
  if (status) { return status; }
  if (asset->size == 0) {
    *out = (pks_bytes){.bytes = "", .count = 0};
    return PKS_OK;
  }
  if (!asset->contiguous) {
    return pks__fail_at_path(
      error, PKS_NOT_CONTIGUOUS, "the asset is not stored raw in one piece", asset->path, asset->path_length
    );
  }
  pks__view *view = (pks__view *)(uintptr_t)asset->snapshot;
  stretch whole;
  const uint8_t *bytes = NULL;
  status = find_stretch(&view->runs[hit.run].open->run, &hit.entry, 0, &whole, error);
  if (!status && whole.length != asset->size) {
    status = bad_extents(&view->runs[hit.run].open->run, &hit.entry, error);
  }
  if (!status) { status = check_mapped(view, hit.run, &whole, &bytes, error); }
  if (status) { return with_asset(status, asset, error); }
  *out = (pks_bytes){.bytes = bytes, .count = (size_t)asset->size};
  return PKS_OK;
}

pks_status pks_asset_link_target(const pks_asset *asset, pks_bytes *out, pks_error *error) {
  if (asset->kind != PKS_LINK) {
    return pks__fail_at_path(error, PKS_WRONG_KIND, "not a symbolic link", asset->path, asset->path_length);
  }
  pks__hit hit;
  pks_status status = pks__names_record(asset, &hit, error);
  if (!status) { *out = (pks_bytes){.bytes = hit.entry.target, .count = (size_t)hit.entry.size}; }
  return status;
}
