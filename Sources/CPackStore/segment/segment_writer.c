#include "segment/segment_writer.h"

#include "codec/checksum.h"
#include "codec/codec.h"
#include "format/table.h"

/// Columns begin at multiples of a cache line.
enum { COLUMN_ALIGNMENT = 64 };

/// Begins with the header. Takes over the writer, whose file is open.
static pks_status begin(
  pks__segment_writer *out, pks__segment_writer *writer, pks__scratch_folder *home, pks_error *error
) {
  pks__scratch_init(&writer->frames, home);
  pks__scratch_init(&writer->ids, home);
  pks__scratch_init(&writer->ends, home);
  pks__scratch_init(&writer->dictionaries, home);
  // Pages are read one by one: in how long pieces the kernel keeps them matters little.
  if (writer->kind == PKS__SEGMENT_METADATA) { writer->file.block = PKS__SHORT_WRITE_BLOCK; }
  pks__segment_header header = {.version = pks__put32(PKS__FORMAT), .kind = pks__put32((uint32_t)writer->kind)};
  memcpy(header.magic, PKS__SEGMENT_MAGIC, sizeof header.magic);
  pks_status status = pks__file_writer_append(&writer->file, &header, sizeof header, error);
  if (status) {
    pks__segment_writer_abandon(writer);
    return status;
  }
  *out = *writer;
  return PKS_OK;
}

pks_status pks__segment_writer_open(
  pks__segment_writer *out, pks__scratch_folder *home, const char *path, pks__segment_kind kind, pks_error *error
) {
  pks__segment_writer writer = {.kind = kind};
  pks_status status = pks__file_writer_open(&writer.file, home->vfs, home->folder, path, error);
  return status ? status : begin(out, &writer, home, error);
}

pks_status pks__segment_writer_resume(
  pks__segment_writer *out, pks__scratch_folder *home, pks_vfs_file file, const char *path, pks__segment_kind kind,
  pks_error *error
) {
  pks__segment_writer writer = {.kind = kind};
  pks_vfs_info info;
  int failure = pks__vfs_info_of(home->vfs, file, &info);
  pks_status status = failure ? pks__fail_system(error, failure, "cannot examine", path)
                              : pks__file_writer_adopt(&writer.file, home->vfs, file, path, error);
  if (status) {
    pks__vfs_close(home->vfs, file);
    return status;
  }
  writer.old_length = info.size;
  return begin(out, &writer, home, error);
}

/// Whether stored bytes may come next in a file that was taken up again.
static bool comes_next(const pks__segment_writer *writer, uint64_t begin, uint32_t length) {
  return begin >= writer->file.length && begin - writer->file.length < PKS__PAGE
    && pks__range_fits(begin, length, writer->old_length);
}

/// Skips existing stored bytes. The bytes before them have no checksum of their own.
static pks_status pass_over(pks__segment_writer *writer, uint64_t begin, uint32_t length, pks_error *error) {
  static const uint8_t zeros[PKS__PAGE];
  pks_status status = pks__file_writer_append(&writer->file, zeros, (size_t)(begin - writer->file.length), error);
  return status ? status : pks__file_writer_skip(&writer->file, begin + length, error);
}

pks_status pks__segment_writer_restore(
  pks__segment_writer *writer, const pks__frame_row *row, const pks__id *ids, const pks_le32 *ends,
  uint32_t chunk_count, bool *fits, pks_error *error
) {
  uint64_t begin = pks__place_offset(pks__get64(row->place)), codec = pks__place_codec(pks__get64(row->place));
  uint32_t length = pks__get32(row->stored_length);
  *fits = comes_next(writer, begin, length) && pks__get32(row->first_chunk) == pks__segment_writer_chunk_count(writer)
    && codec < PKS__CODEC_DICTIONARY + pks__segment_writer_dictionary_count(writer);
  if (!*fits) { return PKS_OK; }
  pks_status status = pass_over(writer, begin, length, error);
  if (!status) { status = pks__scratch_append(&writer->frames, row, sizeof *row, error); }
  if (!status) { status = pks__scratch_append(&writer->ids, ids, chunk_count * sizeof *ids, error); }
  return status ? status : pks__scratch_append(&writer->ends, ends, chunk_count * sizeof *ends, error);
}

// MARK: - Dictionaries

uint32_t pks__segment_writer_dictionary_count(const pks__segment_writer *writer) {
  return (uint32_t)PKS__SCRATCH_COUNT(&writer->dictionaries, pks__dictionary_row);
}

const pks__dictionary_row *pks__segment_writer_dictionary_row(const pks__segment_writer *writer, uint32_t number) {
  return PKS__SCRATCH_AT(&writer->dictionaries, const pks__dictionary_row, number);
}

bool pks__segment_writer_find_dictionary(const pks__segment_writer *writer, const pks__id *id, uint32_t *number) {
  uint32_t count = pks__segment_writer_dictionary_count(writer);
  for (*number = 0; *number < count; ++*number) {
    if (pks__id_equal(&pks__segment_writer_dictionary_row(writer, *number)->id, id)) { return true; }
  }
  return false;
}

/// Appends stored bytes, or a hole of their length.
static pks_status append_stored(
  pks__segment_writer *writer, const void *stored, uint32_t stored_length, pks_error *error
) {
  return stored ? pks__file_writer_append(&writer->file, stored, stored_length, error)
                : pks__file_writer_skip(&writer->file, writer->file.length + stored_length, error);
}

pks_status pks__segment_writer_add_dictionary(
  pks__segment_writer *writer, const pks__stored_dictionary *dictionary, uint32_t *number, bool *added, pks_error *error
) {
  *added = !pks__segment_writer_find_dictionary(writer, &dictionary->id, number);
  if (!*added) { return PKS_OK; }
  PKS_ASSERT(*number < PKS__DICTIONARIES_MAX && writer->kind == PKS__SEGMENT_DATA);
  uint32_t length = dictionary->stored_length;
  pks__dictionary_row row = {
    .place = pks__put64(pks__place_make(writer->file.length, dictionary->codec)),
    .stored_length = pks__put32(length),
    .raw_length = pks__put32(dictionary->raw_length),
    .sum = pks__put64(dictionary->stored ? pks__checksum(dictionary->stored, length) : 0),
    .id = dictionary->id,
  };
  pks_status status = append_stored(writer, dictionary->stored, length, error);
  return status ? status : pks__scratch_append(&writer->dictionaries, &row, sizeof row, error);
}

pks_status pks__segment_writer_restore_dictionary(
  pks__segment_writer *writer, const pks__dictionary_row *row, bool *fits, pks_error *error
) {
  uint64_t begin = pks__place_offset(pks__get64(row->place));
  uint32_t length = pks__get32(row->stored_length), number;
  *fits = comes_next(writer, begin, length) && pks__segment_writer_dictionary_count(writer) < PKS__DICTIONARIES_MAX
    && !pks__segment_writer_find_dictionary(writer, &row->id, &number);
  if (!*fits) { return PKS_OK; }
  pks_status status = pass_over(writer, begin, length, error);
  return status ? status : pks__scratch_append(&writer->dictionaries, row, sizeof *row, error);
}

// MARK: - Frames

uint32_t pks__segment_writer_frame_count(const pks__segment_writer *writer) {
  return (uint32_t)PKS__SCRATCH_COUNT(&writer->frames, pks__frame_row);
}

uint32_t pks__segment_writer_chunk_count(const pks__segment_writer *writer) {
  return (uint32_t)PKS__SCRATCH_COUNT(&writer->ids, pks__id);
}

pks_status pks__segment_writer_append(
  pks__segment_writer *writer, const void *stored, uint32_t stored_length, uint32_t codec, uint64_t alignment,
  const pks__id *ids, const uint32_t *ends, uint32_t chunk_count, pks__frame_row *row, pks_error *error
) {
  PKS_ASSERT(chunk_count > 0 && stored_length > 0);
  pks_status status = pks__file_writer_align(&writer->file, alignment, error);
  if (status) { return status; }
  pks__frame_row frame = {
    .place = pks__put64(pks__place_make(writer->file.length, codec)),
    .stored_length = pks__put32(stored_length),
    .first_chunk = pks__put32(pks__segment_writer_chunk_count(writer)),
    .sum = pks__put64(stored ? pks__checksum(stored, stored_length) : 0),
  };
  status = append_stored(writer, stored, stored_length, error);
  if (!status) { status = pks__scratch_append(&writer->frames, &frame, sizeof frame, error); }
  if (!status) { status = pks__scratch_append(&writer->ids, ids, chunk_count * sizeof *ids, error); }
  for (uint32_t i = 0; !status && i < chunk_count; i++) {
    pks_le32 end = pks__put32(ends[i]);
    status = pks__scratch_append(&writer->ends, &end, sizeof end, error);
  }
  if (!status) { *row = frame; }
  return status;
}

/// Appends a column to the body at the next multiple of a cache line; `*offset` is where.
static pks_status add_column(pks__scratch *body, const pks__scratch *rows, pks_le64 *offset, pks_error *error) {
  uint64_t begin = pks__align_up(body->length, COLUMN_ALIGNMENT);
  pks_status status = pks__scratch_append(body, NULL, begin - body->length, error);
  if (!status) { status = pks__scratch_append(body, rows->bytes, rows->length, error); }
  *offset = pks__put64(begin);
  return status;
}

static pks_status build_body(pks__segment_writer *writer, pks__scratch *body, pks_error *error) {
  pks__segment_columns columns = {
    .version = pks__put32(PKS__FORMAT),
    .kind = pks__put32((uint32_t)writer->kind),
    .frame_count = pks__put32(pks__segment_writer_frame_count(writer)),
    .chunk_count = pks__put32(pks__segment_writer_chunk_count(writer)),
    .frames_end = pks__put64(writer->file.length),
    .dictionary_count = pks__put32(pks__segment_writer_dictionary_count(writer)),
  };
  pks_status status = pks__scratch_append(body, &columns, sizeof columns, error);
  if (!status) { status = add_column(body, &writer->frames, &columns.frames, error); }
  if (!status) { status = add_column(body, &writer->ids, &columns.ids, error); }
  if (!status) { status = add_column(body, &writer->ends, &columns.ends, error); }
  if (!status && writer->dictionaries.length > 0) {
    status = add_column(body, &writer->dictionaries, &columns.dictionaries, error);
  }
  if (!status) { memcpy(body->bytes, &columns, sizeof columns); }
  return status;
}

/// Zeroes leftovers of an earlier process after the frames, so that the file ends where the table does.
static pks_status clear_rest(pks__segment_writer *writer, pks_error *error) {
  static const uint8_t zeros[4096];
  pks_status status = PKS_OK;
  while (!status && writer->file.length < writer->old_length) {
    uint64_t left = writer->old_length - writer->file.length;
    status = pks__file_writer_append(&writer->file, zeros, (size_t)pks__min64(left, sizeof zeros), error);
  }
  return status;
}

static pks_status append_table(
  pks__segment_writer *writer, pks_sha256 *sha256, pks__scratch *body, pks__scratch *tail, pks__segment_id *id,
  pks_error *error
) {
  pks_status status = build_body(writer, body, error);
  if (!status) { status = clear_rest(writer, error); }
  if (!status) { status = pks__file_writer_align(&writer->file, PKS__PAGE, error); }
  if (!status) { status = pks__table_finish(body, writer->file.length, PKS__TABLE_SEGMENT, tail, error); }
  if (!status) { status = pks__file_writer_append(&writer->file, body->bytes, (size_t)body->length, error); }
  if (!status) { status = pks__file_writer_append(&writer->file, tail->bytes, (size_t)tail->length, error); }
  if (!status) { status = pks__file_writer_flush(&writer->file, error); }
  if (!status) {
    uint8_t digest[PKS__ID_SIZE];
    sha256(body->bytes, (size_t)body->length, digest);
    memcpy(id->bytes, digest, sizeof id->bytes);
  }
  return status;
}

pks_status pks__segment_writer_seal(
  pks__segment_writer *writer, pks_sha256 *sha256, pks__segment_id *id, uint64_t *file_length, pks_vfs_file *file,
  pks_error *error
) {
  pks__scratch body, tail;
  pks__scratch_init(&body, writer->frames.home);
  pks__scratch_init(&tail, writer->frames.home);
  pks_status status = append_table(writer, sha256, &body, &tail, id, error);
  if (!status) {
    *file_length = writer->file.length;
    *file = pks__file_writer_release(&writer->file);
  }
  pks__scratch_free(&body);
  pks__scratch_free(&tail);
  pks__segment_writer_abandon(writer);
  return status;
}

void pks__segment_writer_abandon(pks__segment_writer *writer) {
  pks__file_writer_abandon(&writer->file);
  pks__scratch_free(&writer->frames);
  pks__scratch_free(&writer->ids);
  pks__scratch_free(&writer->ends);
  pks__scratch_free(&writer->dictionaries);
}
