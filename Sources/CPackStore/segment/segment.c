#include "segment/segment.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>

#include "base/memory.h"

// MARK: - Opening and closing

static pks__segment *make_segment(const pks_vfs *vfs, const char *path, const pks__segment_id *id) {
  pks__segment *segment = pks__allocate_zeroed(1, sizeof *segment);
  if (!segment) { return NULL; }
  segment->vfs = vfs;
  segment->id = *id;
  segment->file = PKS_VFS_NO_FILE;
  (void)snprintf(segment->name, sizeof segment->name, "%s", path);
  segment->mutex = pks__mutex_create();
  if (segment->mutex) { return segment; }
  pks__free(segment);
  return NULL;
}

/// Asks how long the open file is.
static pks_status measure_file(pks__segment *segment, const char *path, pks_error *error) {
  pks_vfs_info info;
  int failure = pks__vfs_info_of(segment->vfs, segment->file, &info);
  if (failure) { return pks__fail_system(error, failure, "cannot open", path); }
  segment->file_length = info.size;
  atomic_store(&segment->present, info.size);
  return PKS_OK;
}

static pks_status fail_gone(const char *path, pks_error *error) {
  return pks__fail_about(error, PKS_PURGED, PKS_DETAIL_SEGMENT_GONE, PKS_SUBJECT_STORE_FILE, path, "is missing");
}

pks_status pks__segment_open(
  pks__segment **out, const pks_vfs *vfs, pks_vfs_file folder, const char *path, const pks__segment_id *id,
  pks_error *error
) {
  pks__segment *segment = make_segment(vfs, path, id);
  if (!segment) { return pks__fail_memory(error); }
  int failure = pks__vfs_open(vfs, folder, path, PKS_VFS_OPEN_READ, &segment->file);
  pks_status status = failure == ENOENT ? fail_gone(path, error)
    : failure                           ? pks__fail_system(error, failure, "cannot open", path)
                                        : measure_file(segment, path, error);
  if (status) {
    pks__segment_close(segment);
    return status;
  }
  *out = segment;
  return PKS_OK;
}

void pks__segment_close(pks__segment *segment) {
  if (!segment) { return; }
  pks__table_close(&segment->table);
  uint8_t *data = atomic_load(&segment->data);
  if (data) { pks__vfs_unmap(segment->vfs, data, (size_t)segment->file_length); }
  if (segment->file != PKS_VFS_NO_FILE) { pks__vfs_close(segment->vfs, segment->file); }
  pks__scratch_free(&segment->bad_frames);
  pks__mutex_destroy(segment->mutex);
  pks__free(segment);
}

// MARK: - Table

/// A column's place within the body, or NULL when it does not fit.
static const void *column(const pks__table *table, pks_le64 stored, uint64_t count, uint64_t row_size) {
  uint64_t offset = pks__get64(stored), length;
  if (pks__mul_overflows(count, row_size, &length) || !pks__range_fits(offset, length, table->body_length)) {
    return NULL;
  }
  return table->body + offset;
}

static pks_status read_columns(pks__segment *segment, pks__table *table, pks_error *error) {
  pks__segment_columns columns;
  pks_status status = pks__table_check(table, 0, sizeof columns, error);
  if (status) { return status; }
  memcpy(&columns, table->body, sizeof columns);
  segment->kind = pks__get32(columns.kind);
  segment->frame_count = pks__get32(columns.frame_count);
  segment->chunk_count = pks__get32(columns.chunk_count);
  segment->frames_end = pks__get64(columns.frames_end);
  segment->frames = column(table, columns.frames, segment->frame_count, sizeof *segment->frames);
  segment->ids = column(table, columns.ids, segment->chunk_count, sizeof *segment->ids);
  segment->ends = column(table, columns.ends, segment->chunk_count, sizeof *segment->ends);
  segment->dictionary_count = pks__get32(columns.dictionary_count);
  segment->dictionaries = column(table, columns.dictionaries, segment->dictionary_count, sizeof *segment->dictionaries);
  bool fits = pks__get32(columns.version) == PKS__FORMAT && segment->frames && segment->ids && segment->ends
    && segment->dictionaries
    && segment->dictionary_count <= (segment->kind == PKS__SEGMENT_DATA ? PKS__DICTIONARIES_MAX : 0)
    && segment->frames_end <= table->body_offset;
  return fits
    ? PKS_OK
    : pks__fail(error, PKS_CORRUPT, "the segment table does not fit the file", segment->name, table->body_offset);
}

pks_status pks__segment_need_table(pks__segment *segment, pks_error *error) {
  if (atomic_load_explicit(&segment->has_table, memory_order_acquire)) { return PKS_OK; }
  pks__mutex_lock(segment->mutex);
  pks_status status = PKS_OK;
  if (!atomic_load_explicit(&segment->has_table, memory_order_relaxed)) {
    pks__table table = {0};
    const uint8_t *data;
    status = pks__segment_map_data(segment, &data, error);
    if (!status) {
      status = pks__table_open_mapped(
        &table, segment->vfs, segment->name, data, segment->file_length, PKS__TABLE_SEGMENT, error
      );
    }
    if (!status) { status = read_columns(segment, &table, error); }
    if (status) {
      pks__table_close(&table);
    } else {
      segment->table = table;
      atomic_store_explicit(&segment->has_table, true, memory_order_release);
    }
  }
  pks__mutex_unlock(segment->mutex);
  return status;
}

static pks_status check_row(pks__segment *segment, const void *row, size_t size, pks_error *error) {
  return pks__table_check(&segment->table, (uint64_t)((const uint8_t *)row - segment->table.body), size, error);
}

static pks_status bad_row(pks__segment *segment, const void *row, pks_error *error) {
  uint64_t at = segment->table.mapping_begin + (uint64_t)((const uint8_t *)row - segment->table.mapping);
  return pks__fail(error, PKS_CORRUPT, "the segment table contradicts itself", segment->name, at);
}

pks_status pks__segment_frame(pks__segment *segment, uint32_t index, pks__frame *out, pks_error *error) {
  PKS_ASSERT(index < segment->frame_count);
  const pks__frame_row *row = &segment->frames[index];
  bool last = index + 1 == segment->frame_count;
  pks_status status = check_row(segment, row, last ? sizeof *row : 2 * sizeof *row, error);
  if (status) { return status; }
  uint32_t first = pks__get32(row->first_chunk);
  uint32_t next = last ? segment->chunk_count : pks__get32(row[1].first_chunk);
  pks__frame frame = {
    .ref = pks__frame_ref_make(row->place, row->stored_length, 0, row->sum),
    .first_chunk = first,
    .chunk_count = next - first,
  };
  bool fits = first < next && next <= segment->chunk_count
    && frame.ref.codec < PKS__CODEC_DICTIONARY + segment->dictionary_count
    && pks__range_fits(frame.ref.offset, frame.ref.stored_length, segment->frames_end);
  if (!fits) { return bad_row(segment, row, error); }
  status = check_row(segment, &segment->ends[next - 1], sizeof *segment->ends, error);
  if (status) { return status; }
  frame.ref.raw_length = pks__get32(segment->ends[next - 1]);
  bool lengths = frame.ref.stored_length > 0 && frame.ref.raw_length <= PKS__FRAME_RAW_MAX
    && frame.ref.stored_length <= frame.ref.raw_length
    && (frame.ref.codec != PKS__CODEC_RAW || frame.ref.raw_length == frame.ref.stored_length);
  if (!lengths) { return bad_row(segment, row, error); }
  *out = frame;
  return PKS_OK;
}

pks_status pks__segment_dictionary_at(
  pks__segment *segment, uint32_t number, pks__segment_dictionary *out, pks_error *error
) {
  if (number >= segment->dictionary_count) {
    const char *text = "a frame needs a dictionary that the segment lacks";
    return pks__fail(error, PKS_CORRUPT, text, segment->name, PKS_NO_OFFSET);
  }
  const pks__dictionary_row *row = &segment->dictionaries[number];
  pks_status status = check_row(segment, row, sizeof *row, error);
  if (status) { return status; }
  pks__frame_ref ref = pks__frame_ref_make(row->place, row->stored_length, pks__get32(row->raw_length), row->sum);
  bool fits = pks__dictionary_ref_is_valid(&ref) && pks__range_fits(ref.offset, ref.stored_length, segment->frames_end);
  if (!fits) { return bad_row(segment, row, error); }
  *out = (pks__segment_dictionary){.ref = ref, .id = row->id};
  return PKS_OK;
}

pks_status pks__segment_frame_ends(
  pks__segment *segment, const pks__frame *frame, const pks_le32 **out, pks_error *error
) {
  const pks_le32 *ends = segment->ends + frame->first_chunk;
  uint64_t at = (uint64_t)((const uint8_t *)ends - segment->table.body);
  pks_status status = pks__table_check(&segment->table, at, (uint64_t)frame->chunk_count * sizeof *ends, error);
  uint32_t before = 0;
  for (uint32_t i = 0; !status && i < frame->chunk_count; i++) {
    uint32_t end = pks__get32(ends[i]);
    if (end <= before || end > frame->ref.raw_length) { status = bad_row(segment, &ends[i], error); }
    before = end;
  }
  *out = ends;
  return status;
}

pks_status pks__segment_chunk(pks__segment *segment, uint32_t row, pks__chunk_place *out, pks_error *error) {
  PKS_ASSERT(row < segment->chunk_count);
  if (segment->frame_count == 0) { return bad_row(segment, &segment->ends[row], error); }
  // The last frame whose first chunk is not after `row`.
  uint32_t low = 0, high = segment->frame_count;
  while (high - low > 1) {
    uint32_t middle = low + (high - low) / 2;
    pks_status status = check_row(segment, &segment->frames[middle], sizeof *segment->frames, error);
    if (status) { return status; }
    if (pks__get32(segment->frames[middle].first_chunk) <= row) {
      low = middle;
    } else {
      high = middle;
    }
  }
  pks__frame frame;
  pks_status status = pks__segment_frame(segment, low, &frame, error);
  if (status) { return status; }
  if (row < frame.first_chunk || row - frame.first_chunk >= frame.chunk_count) {
    return bad_row(segment, &segment->frames[low], error);
  }
  const pks_le32 *ends = &segment->ends[row];
  bool first = row == frame.first_chunk;
  status = check_row(segment, first ? ends : ends - 1, first ? sizeof *ends : 2 * sizeof *ends, error);
  if (status) { return status; }
  pks__chunk_place place = {.frame = low, .begin = first ? 0 : pks__get32(ends[-1]), .end = pks__get32(ends[0])};
  if (place.begin >= place.end || place.end > frame.ref.raw_length) { return bad_row(segment, ends, error); }
  *out = place;
  return PKS_OK;
}

pks_status pks__segment_chunk_id(pks__segment *segment, uint32_t row, const pks__id **out, pks_error *error) {
  PKS_ASSERT(row < segment->chunk_count);
  pks_status status = check_row(segment, &segment->ids[row], sizeof *segment->ids, error);
  if (!status) { *out = &segment->ids[row]; }
  return status;
}

// MARK: - Purgeable segments

pks_status pks__segment_open_purgeable(
  pks__segment **out, const pks_vfs *vfs, pks_vfs_file folder, const char *path, pks_vfs_file data,
  const pks__segment_id *id, pks_error *error
) {
  pks__segment *segment = make_segment(vfs, path, id);
  if (!segment) {
    if (data != PKS_VFS_NO_FILE) { pks__vfs_close(vfs, data); }
    return pks__fail_memory(error);
  }
  // As it is called in the cache folder.
  char name[PKS__SEGMENT_NAME];
  pks__segment_name(id, name);
  (void)snprintf(segment->name, sizeof segment->name, PKS__SEGMENTS_FOLDER "/%s", name);
  segment->is_purgeable = true;
  segment->file = data;
  pks_error found;
  pks_status status = data == PKS_VFS_NO_FILE ? PKS_OK : measure_file(segment, path, error);
  if (!status) {
    status = pks__table_open_apart(&segment->table, vfs, folder, path, PKS__TABLE_SEGMENT, &found);
    bool is_gone = status == PKS_IO_ERROR && found.system_error == ENOENT;
    if (is_gone) { status = fail_gone(path, error); }
    if (status && !is_gone && error) { *error = found; }
  }
  if (!status) { status = read_columns(segment, &segment->table, error); }
  if (status) {
    pks__segment_close(segment);
    return status;
  }
  segment->file_length = segment->table.file_length;
  atomic_store(&segment->has_table, true);
  *out = segment;
  return PKS_OK;
}

void pks__segment_measure(pks__segment *segment) {
  pks_vfs_info info;
  if (!segment->is_purgeable || segment->file == PKS_VFS_NO_FILE) { return; }
  if (pks__vfs_info_of(segment->vfs, segment->file, &info)) { return; }
  uint64_t present = atomic_load(&segment->present);
  while (info.size < present && !atomic_compare_exchange_weak(&segment->present, &present, info.size)) {}
}

pks_status pks__segment_fail_purged(
  const pks__segment *segment, bool is_damaged, uint64_t offset, uint64_t byte_count, pks_error *error
) {
  const char *text = is_damaged ? "data of the pack in the cache folder is damaged"
                                : "data of the pack is missing in the cache folder or the base";
  pks_status status = pks__fail(error, PKS_PURGED, text, segment->name, offset);
  if (error) { error->needed = byte_count; }
  return status;
}

// MARK: - Frames

pks_status pks__segment_read(pks__segment *segment, uint64_t offset, size_t byte_count, void *out, pks_error *error) {
  size_t got = 0;
  if (segment->file == PKS_VFS_NO_FILE) { return pks__segment_fail_purged(segment, false, offset, byte_count, error); }
  int failure = pks__vfs_read_at(segment->vfs, segment->file, offset, out, byte_count, &got);
  if (failure) {
    pks_status status = pks__fail_system(error, failure, "cannot read", segment->name);
    if (error) { error->offset = offset; }
    return status;
  }
  if (got == byte_count) { return PKS_OK; }
  if (segment->is_purgeable) {
    pks__segment_measure(segment);
    return pks__segment_fail_purged(segment, false, offset + got, byte_count - got, error);
  }
  return pks__fail(error, PKS_CORRUPT, "is truncated", segment->name, offset + got);
}

pks_status pks__segment_map_data(pks__segment *segment, const uint8_t **out, pks_error *error) {
  uint8_t *data = atomic_load_explicit(&segment->data, memory_order_acquire);
  if (segment->is_purgeable) {
    const char *text = "purgeable data is not mapped, because it may be truncated while in use";
    return pks__fail(error, PKS_NOT_CONTIGUOUS, text, segment->name, PKS_NO_OFFSET);
  }
  if (segment->file_length > SIZE_MAX) { return pks__fail_system(error, EFBIG, "cannot map", segment->name); }
  if (segment->file_length == 0) { return pks__fail(error, PKS_CORRUPT, "is truncated", segment->name, 0); }
  if (!data) {
    void *address = NULL;
    int failure = pks__vfs_map(segment->vfs, segment->file, (size_t)segment->file_length, false, &address);
    if (failure) { return pks__fail_system(error, failure, "cannot map", segment->name); }
    uint8_t *expected = NULL;
    if (atomic_compare_exchange_strong(&segment->data, &expected, address)) {
      data = address;
    } else {
      // Another thread was first; its mapping serves both.
      pks__vfs_unmap(segment->vfs, address, (size_t)segment->file_length);
      data = expected;
    }
  }
  *out = data;
  return PKS_OK;
}
