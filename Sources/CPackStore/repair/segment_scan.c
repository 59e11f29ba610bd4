#include "repair/segment_scan.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "catalog/catalog.h"

enum { PROGRESS_BYTES = 4 * 1024 * 1024 };

// MARK: - Listing

typedef struct listing {
  pks__segment_scan *survey;
  bool is_remote;  ///< the listed files are tables
  pks_status status;
  pks_error *error;
} listing;

/// Inserts a segment in order of ids, regardless of the order of the listing.
static pks_status insert_segment(pks__segment_scan *survey, const pks__scanned_segment *row, pks_error *error) {
  uint64_t low = 0, high = PKS__SCRATCH_COUNT(&survey->segments, pks__scanned_segment), count = high;
  pks_status status = pks__scratch_append(&survey->segments, row, sizeof *row, error);
  if (status) { return status; }
  pks__scanned_segment *rows = PKS__SCRATCH_AT(&survey->segments, pks__scanned_segment, 0);
  while (low < high) {
    uint64_t middle = low + (high - low) / 2;
    if (memcmp(&rows[middle].id, &row->id, sizeof row->id) < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  memmove(&rows[low + 1], &rows[low], (size_t)(count - low) * sizeof *rows);
  rows[low] = *row;
  return PKS_OK;
}

static bool list_segment(void *context, const char *name, size_t length, pks_vfs_kind kind) {
  listing *listing = context;
  pks__scanned_segment row = {.is_remote = listing->is_remote};
  char text[PKS__SEGMENT_NAME];
  if (kind == PKS_VFS_KIND_FOLDER || length != sizeof text - 1) { return true; }
  memcpy(text, name, length);
  text[length] = 0;
  if (!pks__segment_name_parse(text, &row.id)) { return true; }
  listing->status = insert_segment(listing->survey, &row, listing->error);
  return listing->status == PKS_OK;
}

static pks_status list_folder(pks__segment_scan *survey, const char *name, bool is_remote, pks_error *error) {
  const pks_vfs *vfs = survey->store->vfs;
  pks_vfs_file folder = PKS_VFS_NO_FILE;
  listing listing = {.survey = survey, .is_remote = is_remote, .error = error};
  int failure = pks__vfs_open(vfs, survey->store->root, name, PKS_VFS_OPEN_FOLDER, &folder);
  if (failure == ENOENT) { return PKS_OK; }
  if (!failure) {
    failure = pks__vfs_list(vfs, folder, list_segment, &listing);
    pks__vfs_close(vfs, folder);
  }
  if (failure) { return pks__fail_system(error, failure, "cannot list", name); }
  return listing.status;
}

static pks_status list_segments(pks__segment_scan *survey, pks_error *error) {
  pks_status status = list_folder(survey, PKS__SEGMENTS_FOLDER, false, error);
  if (status || !survey->has_tables) { return status; }
  return list_folder(survey, PKS__TABLES_FOLDER, true, error);
}

// MARK: - Inspecting

static void count_fault(void *context, const pks_error *fault, const pks__frame *frame) {
  (void)context;
  (void)fault;
  (void)frame;
}

static pks_status show_progress(pks__segment_scan *survey, bool always, pks_error *error) {
  bool due = always || survey->bytes_done - survey->bytes_shown >= PROGRESS_BYTES;
  if (!survey->progress || !due) { return PKS_OK; }
  survey->bytes_shown = survey->bytes_done;
  if (survey->progress(survey->context, survey->bytes_done, survey->bytes_total)) { return PKS_OK; }
  return pks__fail(error, PKS_CANCELLED, "cancelled", NULL, PKS_NO_OFFSET);
}

static pks_status advance(void *context, uint64_t offset, pks_error *error) {
  pks__segment_scan *survey = context;
  survey->bytes_done = survey->bytes_begin + offset;
  return show_progress(survey, false, error);
}

/// Notes the chunks of a frame that is whole.
static pks_status note_frame(
  void *context, pks__segment *segment, uint32_t index, const pks__frame *frame, const uint8_t *raw, pks_error *error
) {
  pks__segment_scan *survey = context;
  pks_status status = PKS_OK;
  uint32_t begin = 0;
  for (uint32_t row = frame->first_chunk; !status && row < frame->first_chunk + frame->chunk_count; row++) {
    pks__intact_chunk chunk = {.segment = survey->present, .frame = index, .row = row};
    uint32_t end = pks__get32(segment->ends[row]);
    status = pks__scratch_append(&survey->chunks, &chunk, sizeof chunk, error);
    bool is_root = segment->kind == PKS__SEGMENT_METADATA && pks__layout_is_root(raw + begin, end - begin);
    if (!status && is_root) {
      status = pks__scratch_append(&survey->layouts, &segment->ids[row], sizeof(pks__id), error);
    }
    begin = end;
  }
  return status;
}

/// Keeps the chunks of a damaged segment; those of an intact one are found by the run.
static pks_status keep_chunks(pks__segment_scan *survey, const pks__scanned_segment *row, pks_error *error) {
  uint64_t count = PKS__SCRATCH_COUNT(&survey->chunks, pks__intact_chunk);
  pks_status status = PKS_OK;
  if (row->is_whole) {
    survey->chunks.length = survey->first_chunk * sizeof(pks__intact_chunk);
    return PKS_OK;
  }
  for (uint64_t i = survey->first_chunk; !status && i < count; i++) {
    const pks__intact_chunk *chunk = PKS__SCRATCH_AT(&survey->chunks, const pks__intact_chunk, i);
    const pks__id *id = &row->segment->ids[chunk->row];
    if (pks__segment_scan_has(survey, id)) { continue; }
    status = pks__hash_map_insert_id(&survey->by_id, id, (uint32_t)i, error);
  }
  return status;
}

static bool is_kind(const pks__segment *segment) {
  return segment->kind == PKS__SEGMENT_DATA || segment->kind == PKS__SEGMENT_METADATA;
}

static pks_status inspect(
  pks__segment_scan *survey, pks__segment_checker *inspector, pks__scanned_segment *row, pks_error *error
) {
  pks__segment *segment = row->segment;
  uint64_t faults = inspector->fault_count;
  bool sound;
  survey->first_chunk = PKS__SCRATCH_COUNT(&survey->chunks, pks__intact_chunk);
  pks_status status = pks__check_segment_table(inspector, segment, &sound, error);
  bool has_table = atomic_load(&segment->has_table);
  if (!status && has_table && !row->is_remote) { status = pks__check_frames(inspector, segment, error); }
  row->is_whole = !status && has_table && faults == inspector->fault_count && is_kind(segment);
  survey->whole_count += row->is_whole;
  return status ? status : keep_chunks(survey, row, error);
}

static pks_status open_segment(pks__segment_scan *survey, pks__scanned_segment *row, pks_error *error) {
  const pks_vfs *vfs = survey->store->vfs;
  char name[PKS__SEGMENT_NAME], path[PKS__INDEX_NAME];
  pks__segment_name(&row->id, name);
  (void)snprintf(path, sizeof path, "%s/%s", row->is_remote ? PKS__TABLES_FOLDER : PKS__SEGMENTS_FOLDER, name);
  if (!row->is_remote) { return pks__segment_open(&row->segment, vfs, survey->store->root, path, &row->id, error); }
  return pks__segment_open_purgeable(&row->segment, vfs, survey->store->root, path, PKS_VFS_NO_FILE, &row->id, error);
}

static pks_status open_segments(pks__segment_scan *survey, pks_error *error) {
  for (uint64_t i = 0; i < PKS__SCRATCH_COUNT(&survey->segments, pks__scanned_segment); i++) {
    pks__scanned_segment *row = PKS__SCRATCH_AT(&survey->segments, pks__scanned_segment, i);
    pks_error found;
    pks_status status = open_segment(survey, row, &found);
    if (status && !pks__error_is_damage(&found)) {
      if (error) { *error = found; }
      return status;
    }
    if (!status) { survey->bytes_total += row->segment->file_length; }
  }
  return PKS_OK;
}

// MARK: - Dictionaries

/// A damaged copy counts as missing; any other error is a failure.
static pks_status pass_damage(pks_status status, const pks_error *found, pks_error *error) {
  if (!status || pks__error_is_damage(found)) { return PKS_OK; }
  if (error) { *error = *found; }
  return status;
}

/// Reads a copy of a dictionary, if this is one of it and it is whole.
static pks_status read_copy(
  const pks__segment_scan *survey, pks__segment *segment, uint32_t number, const pks__segment_dictionary *wanted,
  uint8_t *out, bool *found, pks_error *error
) {
  pks__segment_dictionary dictionary;
  pks__stored_dictionary stored;
  pks_error damage = {0};
  bool is_it = !pks__segment_dictionary_at(segment, number, &dictionary, NULL)
    && pks__id_equal(&dictionary.id, &wanted->id) && dictionary.ref.raw_length == wanted->ref.raw_length;
  if (!is_it) { return PKS_OK; }
  pks__scratch bytes = {0};
  pks_status status = pks__stored_dictionary_read(segment, PKS__CODEC_DICTIONARY + number, &bytes, &stored, &damage);
  bool is_read = !status;
  status = pass_damage(status, &damage, error);
  if (is_read) { status = pks__stored_dictionary_check(&stored, survey->store->sha256, found, error); }
  if (!status && *found) {
    status =
      pks__dictionary_decode(stored.codec, stored.stored, stored.stored_length, out, stored.raw_length, found, error);
  }
  pks__scratch_free(&bytes);
  return status;
}

/// Looks for a whole copy of a dictionary in all segments: a `find_other`.
static pks_status find_copy(
  void *context, const pks__segment_dictionary *wanted, uint8_t *out, bool *found, pks_error *error
) {
  const pks__segment_scan *survey = context;
  pks_status status = PKS_OK;
  *found = false;
  for (uint64_t i = 0; !status && !*found && i < PKS__SCRATCH_COUNT(&survey->segments, pks__scanned_segment); i++) {
    pks__segment *segment = PKS__SCRATCH_AT(&survey->segments, const pks__scanned_segment, i)->segment;
    pks_error damage = {0};
    if (!segment) { continue; }
    bool has_table = !pks__segment_need_table(segment, &damage);
    if (!has_table) { status = pass_damage(damage.status, &damage, error); }
    for (uint32_t number = 0; has_table && !status && !*found && number < segment->dictionary_count; number++) {
      status = read_copy(survey, segment, number, wanted, out, found, error);
    }
  }
  return status;
}

/// Lets damaged dictionaries be found elsewhere.
static void find_elsewhere(pks__segment_scan *survey, pks__dictionaries *dictionaries) {
  dictionaries->find_other = find_copy;
  dictionaries->find_context = survey;
}

// MARK: - All segments

static pks_status inspect_segments(pks__segment_scan *survey, pks_error *error) {
  pks__segment_checker inspector = {
    .sha256 = survey->store->sha256,
    .sha256_many = survey->store->sha256_many,
    .deep = true,
    .goes_on = true,
    .context = survey,
    .fault = count_fault,
    .whole = note_frame,
    .advance = advance,
  };
  pks_status status = pks__segment_checker_open(&inspector, error);
  find_elsewhere(survey, &inspector.dictionaries);
  for (uint32_t i = 0; !status && i < PKS__SCRATCH_COUNT(&survey->segments, pks__scanned_segment); i++) {
    pks__scanned_segment *row = PKS__SCRATCH_AT(&survey->segments, pks__scanned_segment, i);
    if (!row->segment) { continue; }
    survey->present = i;
    status = inspect(survey, &inspector, row, error);
    survey->bytes_begin += row->segment->file_length;
    survey->bytes_done = survey->bytes_begin;
    if (!status) { status = show_progress(survey, true, error); }
  }
  pks__segment_checker_close(&inspector);
  return status;
}

pks_status pks__segment_scan_open(
  pks__segment_scan *out, pks_store *store, pks__scratch_folder *home,
  bool (*progress)(void *context, uint64_t bytes_done, uint64_t bytes_total), void *context, pks_error *error
) {
  bool has_tables = out->has_tables;
  *out = (pks__segment_scan){.store = store, .has_tables = has_tables, .progress = progress, .context = context};
  pks__scratch *all[] = {&out->segments, &out->chunks, &out->layouts};
  for (size_t i = 0; i < PKS_COUNT_OF(all); i++) { pks__scratch_init(all[i], home); }
  pks__hash_map_init(&out->by_id, home);
  pks_status status = list_segments(out, error);
  if (!status) { status = open_segments(out, error); }
  if (!status) { status = inspect_segments(out, error); }
  if (!status) { status = pks__frame_readers_open(&out->readers, store->sha256, error); }
  find_elsewhere(out, &out->readers.dictionaries);
  return status ? status : pks__frame_reader_take(&out->readers, &out->reader, error);
}

void pks__segment_scan_close(pks__segment_scan *survey) {
  for (uint64_t i = 0; i < PKS__SCRATCH_COUNT(&survey->segments, pks__scanned_segment); i++) {
    pks__segment_close(PKS__SCRATCH_AT(&survey->segments, pks__scanned_segment, i)->segment);
  }
  if (survey->reader) { pks__frame_reader_return(&survey->readers, survey->reader); }
  pks__frame_readers_close(&survey->readers);
  pks__scratch_free(&survey->segments);
  pks__scratch_free(&survey->chunks);
  pks__scratch_free(&survey->layouts);
  pks__hash_map_free(&survey->by_id);
  *survey = (pks__segment_scan){0};
}

// MARK: - The run of what is whole

static pks_status list_whole(const pks__segment_scan *survey, pks__run_writer *writer, pks_error *error) {
  pks_status status = PKS_OK;
  uint32_t number = 0;
  for (uint64_t i = 0; !status && i < PKS__SCRATCH_COUNT(&survey->segments, pks__scanned_segment); i++) {
    const pks__scanned_segment *row = PKS__SCRATCH_AT(&survey->segments, const pks__scanned_segment, i);
    if (!row->is_whole) { continue; }
    const pks__segment *segment = row->segment;
    pks__run_segment_info info = {
      .id = row->id,
      .chunk_count = segment->chunk_count,
      .kind = segment->kind,
      .file_length = segment->file_length,
    };
    uint32_t unused;
    if (number > UINT32_MAX - segment->chunk_count) {
      return pks__fail_about(
        error, PKS_INVALID_ARGUMENT, PKS_DETAIL_LIMIT, PKS_SUBJECT_NONE, NULL, "too many chunks for one index run"
      );
    }
    status = pks__run_writer_add_segment(writer, &info, &unused, error);
    for (uint32_t chunk = 0; !status && chunk < segment->chunk_count; chunk++) {
      status = pks__run_writer_add_chunk(writer, pks__id_prefix(&segment->ids[chunk]), number++, error);
    }
  }
  return status;
}

pks_status pks__segment_scan_write_run(
  const pks__segment_scan *survey, pks__scratch_folder *home, const char *path, pks__run_name *name, pks_error *error
) {
  pks__run_writer writer;
  pks__run_writer_init(&writer, home, NULL, 0);
  pks_status status = list_whole(survey, &writer, error);
  if (!status) { status = pks__run_writer_finish(&writer, path, true, &name->file_length, &name->trailer_sum, error); }
  pks__run_writer_free(&writer);
  return status;
}

// MARK: - Intact chunks

static const pks__id *intact_id(const void *context, uint32_t index) {
  const pks__segment_scan *survey = context;
  const pks__intact_chunk *chunk = PKS__SCRATCH_AT(&survey->chunks, const pks__intact_chunk, index);
  return &PKS__SCRATCH_AT(&survey->segments, const pks__scanned_segment, chunk->segment)->segment->ids[chunk->row];
}

static const pks__intact_chunk *find_chunk(const pks__segment_scan *survey, const pks__id *id) {
  uint32_t index;
  bool found = pks__hash_map_find_id(&survey->by_id, id, intact_id, survey, &index);
  return found ? PKS__SCRATCH_AT(&survey->chunks, const pks__intact_chunk, index) : NULL;
}

bool pks__segment_scan_has(const pks__segment_scan *survey, const pks__id *id) {
  return find_chunk(survey, id) != NULL;
}

pks_status pks__segment_scan_read(
  pks__segment_scan *survey, const pks__id *id, pks__scratch *out, bool *found, pks_error *error
) {
  const pks__intact_chunk *chunk = find_chunk(survey, id);
  *found = chunk != NULL;
  if (!chunk) { return PKS_OK; }
  pks__segment *segment = PKS__SCRATCH_AT(&survey->segments, pks__scanned_segment, chunk->segment)->segment;
  pks__frame frame;
  const uint8_t *raw;
  pks_status status = pks__segment_frame(segment, chunk->frame, &frame, error);
  if (status) { return status; }
  pks__frame_source source = {segment, frame.ref};
  // The rows were checked when the frame was found whole.
  uint32_t begin = chunk->row == frame.first_chunk ? 0 : pks__get32(segment->ends[chunk->row - 1]);
  uint32_t end = pks__get32(segment->ends[chunk->row]);
  status = pks__frame_decode(survey->reader, &source, &raw, error);
  return status ? status : pks__scratch_append(out, raw + begin, end - begin, error);
}
