#include "transfer/change_list.h"

#include <string.h>

#include "codec/chunker.h"
#include "delta/delta.h"

typedef struct fixed_part {
  uint8_t magic[8];                               //   0
  pks_le32 format, chunk_average;                 //   8
  pks__id from, to;                               //  16
  pks_le64 file_count, link_count, folder_count;  //  80
  pks_le64 logical_bytes, new_bytes;              // 104
  pks_le32 chunk_count, attribute_byte_count;     // 120
  pks_le32 description_length, body_length;       // 128
} fixed_part;
_Static_assert(sizeof(fixed_part) == PKS__CHANGE_LIST_FIXED, "as the format says");

static pks_status corrupt(const char *text, const char *name, pks_error *error) {
  return pks__fail(error, PKS_CORRUPT, text, name, 0);
}

// MARK: - Reading

static bool is_possible(const pks__change_list *list) {
  return pks__chunk_average_is_valid(list->chunk_average) && list->attribute_byte_count <= PKS_ATTRIBUTES_MAX
    && list->body_length <= PKS__CHANGE_LIST_BODY_MAX && list->description_length <= list->body_length;
}

pks_status pks__change_list_read(
  pks__change_list *out, const void *bytes, size_t byte_count, const char *name, pks_error *error
) {
  pks__reader reader = pks__reader_make(bytes, byte_count);
  const fixed_part *fixed = (const void *)pks__read_bytes(&reader, sizeof *fixed);
  if (!fixed || byte_count > PKS__CHANGE_LIST_MAX || memcmp(fixed->magic, PKS__CHANGE_LIST_MAGIC, sizeof fixed->magic)) {
    return corrupt("not a change list", name, error);
  }
  pks_status status = pks__check_draft(pks__get32(fixed->format), name, 8, error);
  if (status) { return status; }
  pks__change_list list = {
    .chunk_average = pks__get32(fixed->chunk_average),
    .from = fixed->from,
    .to = fixed->to,
    .file_count = pks__get64(fixed->file_count),
    .link_count = pks__get64(fixed->link_count),
    .folder_count = pks__get64(fixed->folder_count),
    .logical_bytes = pks__get64(fixed->logical_bytes),
    .new_bytes = pks__get64(fixed->new_bytes),
    .chunk_count = pks__get32(fixed->chunk_count),
    .attribute_byte_count = pks__get32(fixed->attribute_byte_count),
    .description_length = pks__get32(fixed->description_length),
    .body_length = pks__get32(fixed->body_length),
  };
  if (!is_possible(&list)) { return corrupt("impossible numbers", name, error); }
  list.attributes = pks__read_bytes(&reader, list.attribute_byte_count);
  bool fits = list.chunk_count <= pks__reader_left(&reader) / sizeof *list.ids;
  list.ids = fits ? (const void *)pks__read_bytes(&reader, list.chunk_count * sizeof *list.ids) : NULL;
  if (!list.attributes || !list.ids) { return corrupt("ends too early", name, error); }
  list.stored_length = pks__reader_left(&reader);
  list.body = reader.next;
  *out = list;
  return PKS_OK;
}

pks_status pks__change_list_decode(
  const pks__change_list *list, pks__decoder *decoder, pks__scratch *out, const char *name, pks_error *error
) {
  out->length = 0;
  if (list->stored_length == list->body_length) {
    return pks__scratch_append(out, list->body, list->body_length, error);
  }
  pks_status status = pks__scratch_reserve(out, list->body_length, error);
  if (status) { return status; }
  if (!pks__decode(decoder, list->body, list->stored_length, out->bytes, list->body_length)) {
    return corrupt("does not decode", name, error);
  }
  out->length = list->body_length;
  return PKS_OK;
}

// MARK: - Writing

static pks_status put_fixed(const pks__change_list *list, pks__scratch *out, pks_error *error) {
  fixed_part fixed = {
    .format = pks__put32(PKS__DRAFT_FORMAT),
    .chunk_average = pks__put32(list->chunk_average),
    .from = list->from,
    .to = list->to,
    .file_count = pks__put64(list->file_count),
    .link_count = pks__put64(list->link_count),
    .folder_count = pks__put64(list->folder_count),
    .logical_bytes = pks__put64(list->logical_bytes),
    .new_bytes = pks__put64(list->new_bytes),
    .chunk_count = pks__put32(list->chunk_count),
    .attribute_byte_count = pks__put32(list->attribute_byte_count),
    .description_length = pks__put32(list->description_length),
    .body_length = pks__put32(list->body_length),
  };
  memcpy(fixed.magic, PKS__CHANGE_LIST_MAGIC, sizeof fixed.magic);
  return pks__scratch_append(out, &fixed, sizeof fixed, error);
}

static pks_status put_body(const pks__change_list *list, pks__scratch *out, pks_error *error) {
  pks__encoder *encoder = pks__encoder_create(PKS__CHANGE_LIST_LEVEL);
  size_t capacity = pks__encode_capacity(list->body_length);
  pks_status status = encoder ? pks__scratch_reserve(out, capacity, error) : pks__fail_memory(error);
  if (!status) {
    size_t length = pks__encode(encoder, list->body, list->body_length, out->bytes + out->length, capacity);
    if (length == SIZE_MAX) {
      status = pks__fail_memory(error);
    } else if (length == 0) {
      status = pks__scratch_append(out, list->body, list->body_length, error);
    } else {
      out->length += length;
    }
  }
  pks__encoder_destroy(encoder);
  return status;
}

pks_status pks__change_list_write(const pks__change_list *list, pks__scratch *out, const char *name, pks_error *error) {
  const char *text = "the versions differ by more than a change list can contain";
  uint64_t without_body =
    PKS__CHANGE_LIST_FIXED + (uint64_t)list->attribute_byte_count + (uint64_t)list->chunk_count * sizeof *list->ids;
  if (without_body > PKS__CHANGE_LIST_MAX || list->body_length > PKS__CHANGE_LIST_BODY_MAX) {
    return pks__fail_about(error, PKS_INVALID_ARGUMENT, PKS_DETAIL_LIMIT, PKS_SUBJECT_PACK, name, text);
  }
  out->length = 0;
  pks_status status = put_fixed(list, out, error);
  if (!status) { status = pks__scratch_append(out, list->attributes, list->attribute_byte_count, error); }
  if (!status) { status = pks__scratch_append(out, list->ids, list->chunk_count * sizeof *list->ids, error); }
  if (!status) { status = put_body(list, out, error); }
  if (status || out->length <= PKS__CHANGE_LIST_MAX) { return status; }
  return pks__fail_about(error, PKS_INVALID_ARGUMENT, PKS_DETAIL_LIMIT, PKS_SUBJECT_PACK, name, text);
}

// MARK: - Places

/// Where a place is expected to begin, in its frame.
static uint32_t expected_begin(const pks__listed_place *expected, uint64_t segment, uint64_t frame) {
  return segment == expected->segment && frame == expected->frame ? expected->begin : 0;
}

size_t pks__listed_place_put(uint8_t *out, const pks__listed_place *place, const pks__listed_place *expected) {
  size_t length = pks__put_varint(out, pks__zigzag(place->segment, expected->segment));
  length += pks__put_varint(out + length, pks__zigzag(place->frame, expected->frame));
  uint32_t begin = expected_begin(expected, place->segment, place->frame);
  return length + pks__put_varint(out + length, pks__zigzag(place->begin, begin));
}

bool pks__listed_place_read(pks__reader *reader, const pks__listed_place *expected, pks__listed_place *out) {
  uint64_t segment = pks__unzigzag(pks__read_varint(reader), expected->segment);
  uint64_t frame = pks__unzigzag(pks__read_varint(reader), expected->frame);
  uint64_t begin = pks__unzigzag(pks__read_varint(reader), expected_begin(expected, segment, frame));
  if (reader->failed || segment > UINT32_MAX || frame > UINT32_MAX || begin > UINT32_MAX) { return false; }
  *out = (pks__listed_place){.segment = (uint32_t)segment, .frame = (uint32_t)frame, .begin = (uint32_t)begin};
  return true;
}
