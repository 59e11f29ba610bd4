#include "delta/delta_header.h"

#include "delta/delta_short.h"

typedef struct fixed_part {
  uint8_t magic[8];                                 //   0
  pks_le32 version;                                 //   8
  pks_le32 length;                                  //  12
  pks_le64 from_number, to_number;                  //  16
  pks__id from_catalog, to_catalog;                 //  32
  pks_le64 committed_at_ns;                         //  96
  pks_le64 file_count, link_count, folder_count;    // 104
  pks_le64 logical_bytes, new_bytes;                // 128
  pks_le32 chunk_average, part_count, group_count;  // 144
  pks_le32 name_length;                             // 156
} fixed_part;
// Then the name; le32 group_max, le32 prefix_max, le32 length of the attributes; these, and the rows of the blocks.
enum { LENGTHS = 12, MAGIC = 8 };

pks_status pks__delta_put_header(
  pks__delta_header *header, const pks__delta_block *blocks, pks__scratch *out, pks_error *error
) {
  size_t name_length = strlen(header->pack);
  uint64_t rows = (uint64_t)header->part_count + header->group_count;
  uint64_t length = PKS__DELTA_FIXED + name_length + LENGTHS + header->attribute_byte_count + rows * sizeof *blocks;
  if (length > PKS__DELTA_HEADER_MAX) {
    const char *text = "the versions differ by more than one delta can contain";
    return pks__fail_about(error, PKS_INVALID_ARGUMENT, PKS_DETAIL_LIMIT, PKS_SUBJECT_PACK, header->pack, text);
  }
  header->length = header->blocks_offset = (uint32_t)length;
  fixed_part fixed = {
    .version = pks__put32(PKS__DRAFT_FORMAT),
    .length = pks__put32(header->length),
    .from_number = pks__put64(header->from_number),
    .to_number = pks__put64(header->to_number),
    .from_catalog = header->from_catalog,
    .to_catalog = header->to_catalog,
    .committed_at_ns = pks__put64((uint64_t)header->committed_at_ns),
    .file_count = pks__put64(header->file_count),
    .link_count = pks__put64(header->link_count),
    .folder_count = pks__put64(header->folder_count),
    .logical_bytes = pks__put64(header->logical_bytes),
    .new_bytes = pks__put64(header->new_bytes),
    .chunk_average = pks__put32(header->chunk_average),
    .part_count = pks__put32(header->part_count),
    .group_count = pks__put32(header->group_count),
    .name_length = pks__put32((uint32_t)name_length),
  };
  memcpy(fixed.magic, PKS__DELTA_MAGIC, sizeof fixed.magic);
  _Static_assert(sizeof fixed == PKS__DELTA_FIXED, "the layout in Docs/FORMAT.md");
  pks_le32 lengths[3] = {
    pks__put32(header->group_max), pks__put32(header->prefix_max), pks__put32(header->attribute_byte_count)};
  _Static_assert(sizeof lengths == LENGTHS, "the layout in Docs/FORMAT.md");
  pks_status status = pks__scratch_append(out, &fixed, sizeof fixed, error);
  if (!status) { status = pks__scratch_append(out, header->pack, name_length, error); }
  if (!status) { status = pks__scratch_append(out, lengths, sizeof lengths, error); }
  if (!status) { status = pks__scratch_append(out, header->attributes, header->attribute_byte_count, error); }
  return status ? status : pks__scratch_append(out, blocks, rows * sizeof *blocks, error);
}

static pks_status corrupt(const char *text, const char *name, pks_error *error) {
  return pks__fail_at(error, PKS_CORRUPT, PKS_DETAIL_NONE, PKS_SUBJECT_DELTA, name, 0, text);
}

pks_status pks__delta_read_length(const uint8_t first[16], const char *name, uint32_t *length, pks_error *error) {
  pks__reader reader = pks__reader_make(first, 16);
  const uint8_t *magic = pks__read_bytes(&reader, MAGIC);
  bool is_short = memcmp(magic, PKS__DELTA_SHORT_MAGIC, MAGIC) == 0;
  if (!is_short && memcmp(magic, PKS__DELTA_MAGIC, MAGIC) != 0) { return corrupt("not a delta", name, error); }
  pks_status status = pks__check_draft(pks__read32(&reader), name, MAGIC, error);
  if (status) { return status; }
  *length = pks__read32(&reader);
  bool fits = is_short ? *length >= PKS__DELTA_SHORT_MIN && *length <= PKS__DELTA_SHORT_MAX
                       : *length >= PKS__DELTA_FIXED && *length <= PKS__DELTA_HEADER_MAX;
  return fits ? PKS_OK : corrupt("the length of its header is impossible", name, error);
}

static void read_fixed(pks__reader *reader, pks__delta_header *header, uint32_t *name_length) {
  (void)pks__read_bytes(reader, 12);  // magic and version, read already
  header->length = pks__read32(reader);
  header->from_number = pks__read64(reader);
  header->to_number = pks__read64(reader);
  memcpy(&header->from_catalog, pks__read_bytes(reader, PKS__ID_SIZE), PKS__ID_SIZE);
  memcpy(&header->to_catalog, pks__read_bytes(reader, PKS__ID_SIZE), PKS__ID_SIZE);
  header->committed_at_ns = (int64_t)pks__read64(reader);
  header->file_count = pks__read64(reader);
  header->link_count = pks__read64(reader);
  header->folder_count = pks__read64(reader);
  header->logical_bytes = pks__read64(reader);
  header->new_bytes = pks__read64(reader);
  header->chunk_average = pks__read32(reader);
  header->part_count = pks__read32(reader);
  header->group_count = pks__read32(reader);
  *name_length = pks__read32(reader);
}

/// Reads a header that is not short. Its rows are in `bytes`.
static bool read_long(
  const uint8_t *bytes, uint32_t length, pks__delta_header *header, const pks__delta_block **blocks
) {
  uint32_t name_length;
  pks__reader reader = pks__reader_make(bytes, length);
  read_fixed(&reader, header, &name_length);
  header->blocks_offset = header->length;
  if (name_length > PKS__PACK_NAME_MAX) { return false; }
  const uint8_t *pack = pks__read_bytes(&reader, name_length);
  header->group_max = pks__read32(&reader);
  header->prefix_max = pks__read32(&reader);
  header->attribute_byte_count = pks__read32(&reader);
  if (header->attribute_byte_count > PKS_ATTRIBUTES_MAX) { return false; }
  header->attributes = pks__read_bytes(&reader, header->attribute_byte_count);
  if (reader.failed || header->length != length || memchr(pack, 0, name_length)) { return false; }
  memcpy(header->pack, pack, name_length);
  *blocks = (const pks__delta_block *)(const void *)reader.next;
  uint64_t rows = (uint64_t)header->part_count + header->group_count;
  return rows * sizeof **blocks == pks__reader_left(&reader);
}

pks_status pks__delta_read_header(
  const uint8_t *bytes, uint32_t length, const char *name, pks__delta_header *out, pks__scratch *rows,
  const pks__delta_block **blocks, pks_error *error
) {
  pks__delta_header header = {0};
  PKS_ASSERT(length >= PKS__DELTA_FIXED);
  bool fits;
  if (memcmp(bytes, PKS__DELTA_SHORT_MAGIC, MAGIC) == 0) {
    pks_status status = pks__delta_read_short(bytes, length, &header, rows, &fits, error);
    if (status) { return status; }
    *blocks = (const pks__delta_block *)(const void *)rows->bytes;
  } else {
    fits = read_long(bytes, length, &header, blocks);
  }
  if (!fits || !pks__delta_header_is_valid(&header) || !pks__delta_blocks_are_valid(&header, *blocks)) {
    return corrupt("the header is invalid", name, error);
  }
  *out = header;
  return PKS_OK;
}
