#include "segment/frame_table.h"

#include <string.h>

#include "base/memory.h"
#include "codec/hash_batch.h"
#include "segment/frame_check.h"

#define MAGIC "PKSFRAM0"

typedef struct header {
  uint8_t magic[8];           //  0
  pks_le32 version;           //  8
  pks_le32 kind;              // 12  pks__segment_kind
  pks__segment_id segment;    // 16
  pks_le64 file_length;       // 32
  pks_le32 frame_count;       // 40
  pks_le32 dictionary_count;  // 44
} header;
_Static_assert(sizeof(header) == PKS__FRAME_TABLE_HEADER, "on-disk size");

typedef struct row {
  pks_le64 place;          //  0
  pks_le32 stored_length;  //  8
  pks_le32 raw_length;     // 12
  pks__id digest;          // 16
} row;
_Static_assert(sizeof(row) == PKS__FRAME_TABLE_ROW, "on-disk size");

typedef struct dictionary_row {
  row stored;  //  0
  pks__id id;  // 48
} dictionary_row;
_Static_assert(sizeof(dictionary_row) == PKS__FRAME_TABLE_DICTIONARY, "on-disk size");

static uint64_t table_length(uint32_t frame_count, uint32_t dictionary_count, bool is_metadata) {
  return sizeof(header) + (uint64_t)frame_count * (sizeof(row) + (is_metadata ? sizeof(pks__id) : 0))
    + (uint64_t)dictionary_count * sizeof(dictionary_row);
}

// MARK: - Reading

static row row_at(const pks__frame_table *table, uint32_t index) {
  row copy;
  memcpy(&copy, table->rows + (size_t)index * sizeof copy, sizeof copy);
  return copy;
}

pks__tabled_frame pks__frame_table_at(const pks__frame_table *table, uint32_t index) {
  PKS_ASSERT(index < table->frame_count);
  row stored = row_at(table, index);
  uint64_t place = pks__get64(stored.place);
  return (pks__tabled_frame){
    .offset = pks__place_offset(place),
    .stored_length = pks__get32(stored.stored_length),
    .raw_length = pks__get32(stored.raw_length),
    .codec = pks__place_codec(place),
    .digest = stored.digest,
  };
}

const pks__id *pks__frame_table_page(const pks__frame_table *table, uint32_t index) {
  PKS_ASSERT(index < table->frame_count && table->pages);
  return (const pks__id *)(const void *)table->pages + index;
}

pks__tabled_dictionary pks__frame_table_dictionary(const pks__frame_table *table, uint32_t number) {
  PKS_ASSERT(number < table->dictionary_count);
  dictionary_row listed;
  memcpy(&listed, table->dictionaries + (size_t)number * sizeof listed, sizeof listed);
  uint64_t place = pks__get64(listed.stored.place);
  return (pks__tabled_dictionary){
    .offset = pks__place_offset(place),
    .stored_length = pks__get32(listed.stored.stored_length),
    .raw_length = pks__get32(listed.stored.raw_length),
    .codec = pks__place_codec(place),
    .digest = listed.stored.digest,
    .id = listed.id,
  };
}

/// Whether a dictionary's row is valid, and inside the file.
static bool dictionary_fits(const pks__tabled_dictionary *dictionary, uint64_t file_length) {
  pks__frame_ref ref = {
    .offset = dictionary->offset,
    .stored_length = dictionary->stored_length,
    .raw_length = dictionary->raw_length,
    .codec = dictionary->codec,
  };
  return pks__dictionary_ref_is_valid(&ref) && dictionary->offset >= sizeof(pks__segment_header)
    && pks__range_fits(dictionary->offset, dictionary->stored_length, file_length);
}

/// Whether a frame's row is valid, and between the end of the previous one and the end of the file. `*end` is its end.
static bool frame_fits(const pks__tabled_frame *frame, uint64_t file_length, uint32_t dictionary_count, uint64_t *end) {
  bool lengths = frame->stored_length > 0 && frame->raw_length <= PKS__FRAME_RAW_MAX
    && frame->stored_length <= frame->raw_length
    && (frame->codec != PKS__CODEC_RAW || frame->raw_length == frame->stored_length);
  bool fits = frame->codec < PKS__CODEC_DICTIONARY + dictionary_count && lengths && frame->offset >= *end
    && pks__range_fits(frame->offset, frame->stored_length, file_length);
  if (fits) { *end = frame->offset + frame->stored_length; }
  return fits;
}

static pks_status bad_table(const char *text, const char *name, uint64_t offset, pks_error *error) {
  return pks__fail(error, PKS_CORRUPT, text, name, offset);
}

static pks_status read_header(
  const void *bytes, size_t byte_count, const char *name, pks__frame_table *out, pks_error *error
) {
  header head;
  if (byte_count < sizeof head || byte_count > PKS__FRAME_TABLE_MAX || memcmp(bytes, MAGIC, sizeof head.magic) != 0) {
    return bad_table("is not a frame table", name, 0, error);
  }
  memcpy(&head, bytes, sizeof head);
  pks_status status = pks__check_draft(pks__get32(head.version), name, 8, error);
  if (status) { return status; }
  uint32_t kind = pks__get32(head.kind);
  if (kind != PKS__SEGMENT_DATA && kind != PKS__SEGMENT_METADATA) {
    return bad_table("has an unknown kind of frame table", name, 12, error);
  }
  bool is_metadata = kind == PKS__SEGMENT_METADATA;
  uint32_t dictionary_count = pks__get32(head.dictionary_count);
  if (dictionary_count > (is_metadata ? 0 : PKS__DICTIONARIES_MAX)) {
    return bad_table("the frame table contradicts itself", name, 44, error);
  }
  *out = (pks__frame_table){
    .kind = (pks__segment_kind)kind,
    .segment = head.segment,
    .file_length = pks__get64(head.file_length),
    .frame_count = pks__get32(head.frame_count),
    .dictionary_count = dictionary_count,
  };
  if (table_length(out->frame_count, dictionary_count, is_metadata) != byte_count) {
    return bad_table("the frame table has another length than its frames", name, 40, error);
  }
  out->rows = (const uint8_t *)bytes + sizeof head;
  const uint8_t *behind = out->rows + (size_t)out->frame_count * sizeof(row);
  out->pages = is_metadata ? behind : NULL;
  out->dictionaries = is_metadata ? NULL : behind;
  return PKS_OK;
}

pks_status pks__frame_table_read(
  const void *bytes, size_t byte_count, const char *name, pks__frame_table *out, pks_error *error
) {
  pks__frame_table table;
  pks_status status = read_header(bytes, byte_count, name, &table, error);
  if (status) { return status; }
  uint64_t end = sizeof(pks__segment_header);
  for (uint32_t i = 0; i < table.frame_count; i++) {
    pks__tabled_frame frame = pks__frame_table_at(&table, i);
    if (!frame_fits(&frame, table.file_length, table.dictionary_count, &end)) {
      return bad_table("the frame table contradicts itself", name, sizeof(header) + (uint64_t)i * sizeof(row), error);
    }
  }
  for (uint32_t i = 0; i < table.dictionary_count; i++) {
    pks__tabled_dictionary dictionary = pks__frame_table_dictionary(&table, i);
    if (dictionary_fits(&dictionary, table.file_length)) { continue; }
    uint64_t at = table_length(table.frame_count, i, false);
    return bad_table("the frame table contradicts itself", name, at, error);
  }
  *out = table;
  return PKS_OK;
}

void pks__frame_table_view(const void *bytes, size_t byte_count, pks__frame_table *out) {
  pks_status status = read_header(bytes, byte_count, "", out, NULL);
  PKS_ASSERT(!status);
}

// MARK: - Writing

/// Stored bytes of frames that are read before they are hashed, unless one frame is longer.
enum { BATCH_BYTES = 1024 * 1024 };

/// A table being written. Frames are hashed in batches: their rows are kept until then, and their stored bytes are one
/// after another in `stored`.
typedef struct writer {
  pks__segment *segment;
  pks__hash_batch batch;
  row rows[PKS__HASH_BATCH_MAX];  ///< rows of the frames in `batch`
  uint32_t row_count;
  size_t used;  ///< bytes of `stored`
  bool (*write)(void *context, const void *bytes, size_t byte_count);
  void *context;
  uint8_t *stored;
  size_t capacity;
  uint64_t end;  ///< end of the previous frame
} writer;

static pks_status put(writer *writer, const void *bytes, size_t byte_count, pks_error *error) {
  if (writer->write(writer->context, bytes, byte_count)) { return PKS_OK; }
  return pks__fail(error, PKS_CANCELLED, "cancelled", NULL, PKS_NO_OFFSET);
}

static pks_status put_header(writer *writer, pks_error *error) {
  const pks__segment *segment = writer->segment;
  header head = {
    .version = pks__put32(PKS__DRAFT_FORMAT),
    .kind = pks__put32(segment->kind),
    .segment = segment->id,
    .file_length = pks__put64(segment->file_length),
    .frame_count = pks__put32(segment->frame_count),
    .dictionary_count = pks__put32(segment->dictionary_count),
  };
  memcpy(head.magic, MAGIC, sizeof head.magic);
  return put(writer, &head, sizeof head, error);
}

static pks_status need_room(writer *writer, size_t needed, pks_error *error) {
  if (needed <= writer->capacity) { return PKS_OK; }
  uint8_t *larger = pks__allocate(needed);
  if (!larger) { return pks__fail_memory(error); }
  pks__free(writer->stored);
  writer->stored = larger;
  writer->capacity = needed;
  return PKS_OK;
}

/// Hashes the frames of the batch, and writes their rows.
static pks_status put_rows(writer *writer, pks_error *error) {
  pks__hash_batch_flush(&writer->batch);
  pks_status status = PKS_OK;
  for (uint32_t i = 0; !status && i < writer->row_count; i++) {
    status = put(writer, &writer->rows[i], sizeof writer->rows[i], error);
  }
  writer->row_count = 0;
  writer->used = 0;
  return status;
}

/// Makes room for the stored bytes of one more frame, in an empty batch if the present one is full.
static pks_status begin_row(writer *writer, size_t stored_length, pks_error *error) {
  bool is_full = writer->row_count == PKS__HASH_BATCH_MAX || stored_length > writer->capacity - writer->used;
  pks_status status = is_full ? put_rows(writer, error) : PKS_OK;
  return status ? status : need_room(writer, (size_t)pks__max64(stored_length, BATCH_BYTES), error);
}

static pks_status add_row(writer *writer, uint32_t index, pks_error *error) {
  pks__segment *segment = writer->segment;
  pks__frame frame;
  pks_status status = pks__segment_frame(segment, index, &frame, error);
  if (!status) { status = begin_row(writer, frame.ref.stored_length, error); }
  if (status) { return status; }
  uint8_t *bytes = writer->stored + writer->used;
  status = pks__frame_read_stored(segment, &frame.ref, bytes, error);
  if (status) { return status; }
  pks__tabled_frame listed = {
    .offset = frame.ref.offset,
    .stored_length = frame.ref.stored_length,
    .raw_length = frame.ref.raw_length,
    .codec = frame.ref.codec,
  };
  bool fits = frame_fits(&listed, segment->frames_end, segment->dictionary_count, &writer->end)
    && (segment->kind == PKS__SEGMENT_DATA || frame.chunk_count == 1);
  if (!fits) {
    return pks__fail(error, PKS_CORRUPT, "the segment table contradicts itself", segment->name, frame.ref.offset);
  }
  row *stored = &writer->rows[writer->row_count++];
  *stored = (row){
    .place = pks__put64(pks__place_make(frame.ref.offset, frame.ref.codec)),
    .stored_length = pks__put32(frame.ref.stored_length),
    .raw_length = pks__put32(frame.ref.raw_length),
  };
  pks__hash_batch_add(&writer->batch, bytes, frame.ref.stored_length, stored->digest.bytes);
  writer->used += frame.ref.stored_length;
  return PKS_OK;
}

static pks_status put_dictionary(writer *writer, uint32_t number, pks_error *error) {
  pks__segment *segment = writer->segment;
  pks__segment_dictionary dictionary;
  pks_status status = pks__segment_dictionary_at(segment, number, &dictionary, error);
  const pks__frame_ref *ref = &dictionary.ref;
  if (!status) { status = need_room(writer, ref->stored_length, error); }
  if (!status) { status = pks__frame_read_stored(segment, ref, writer->stored, error); }
  if (status) { return status; }
  dictionary_row listed = {
    .stored =
      {
        .place = pks__put64(pks__place_make(ref->offset, ref->codec)),
        .stored_length = pks__put32(ref->stored_length),
        .raw_length = pks__put32(ref->raw_length),
      },
    .id = dictionary.id,
  };
  writer->batch.sha256(writer->stored, ref->stored_length, listed.stored.digest.bytes);
  return put(writer, &listed, sizeof listed, error);
}

static pks_status put_page_id(writer *writer, uint32_t index, pks_error *error) {
  pks__frame frame;
  const pks__id *id = NULL;
  pks_status status = pks__segment_frame(writer->segment, index, &frame, error);
  if (!status) { status = pks__segment_chunk_id(writer->segment, frame.first_chunk, &id, error); }
  return status ? status : put(writer, id, sizeof *id, error);
}

pks_status pks__frame_table_write(
  pks__segment *segment, pks_sha256 *sha256, pks_sha256_many *sha256_many,
  bool (*write)(void *context, const void *bytes, size_t byte_count), void *context, pks_error *error
) {
  writer writer = {.segment = segment, .write = write, .context = context, .end = sizeof(pks__segment_header)};
  pks__hash_batch_begin(&writer.batch, sha256, sha256_many);
  pks_status status = pks__segment_need_table(segment, error);
  if (status) { return status; }
  bool is_metadata = segment->kind == PKS__SEGMENT_METADATA;
  if (!is_metadata && segment->kind != PKS__SEGMENT_DATA) {
    return pks__fail(error, PKS_CORRUPT, "has an unknown kind of segment", segment->name, PKS_NO_OFFSET);
  }
  if (table_length(segment->frame_count, segment->dictionary_count, is_metadata) > PKS__FRAME_TABLE_MAX) {
    return pks__fail(error, PKS_INVALID_ARGUMENT, "has too many frames to be published", segment->name, PKS_NO_OFFSET);
  }
  status = put_header(&writer, error);
  for (uint32_t i = 0; !status && i < segment->frame_count; i++) { status = add_row(&writer, i, error); }
  if (!status) { status = put_rows(&writer, error); }
  for (uint32_t i = 0; !status && is_metadata && i < segment->frame_count; i++) {
    status = put_page_id(&writer, i, error);
  }
  for (uint32_t i = 0; !status && i < segment->dictionary_count; i++) { status = put_dictionary(&writer, i, error); }
  pks__free(writer.stored);
  return status;
}
