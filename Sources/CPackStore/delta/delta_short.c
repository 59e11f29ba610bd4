#include "delta/delta_short.h"

#include "codec/checksum.h"

enum {
  FIXED = 88,        // bytes before the varints
  SUM = 8,           // bytes of the sum, at the end
  NUMBERS_MAX = 12,  // varints between the fixed bytes and the name
};

// MARK: - Writing

static pks_status put_fixed(const pks__delta_header *header, pks__scratch *out, pks_error *error) {
  struct {
    uint8_t magic[8];                  //  0
    pks_le32 format, length;           //  8, the length once it is known
    pks__id from_catalog, to_catalog;  // 16
    pks_le64 committed_at_ns;          // 80
  } fixed = {
    .format = pks__put32(PKS__DRAFT_FORMAT),
    .from_catalog = header->from_catalog,
    .to_catalog = header->to_catalog,
    .committed_at_ns = pks__put64((uint64_t)header->committed_at_ns),
  };
  _Static_assert(sizeof fixed == FIXED, "the layout in Docs/FORMAT.md");
  memcpy(fixed.magic, PKS__DELTA_SHORT_MAGIC, sizeof fixed.magic);
  return pks__scratch_append(out, &fixed, sizeof fixed, error);
}

static pks_status put_numbers(const uint64_t *numbers, size_t count, pks__scratch *out, pks_error *error) {
  uint8_t bytes[NUMBERS_MAX * PKS__VARINT_MAX];
  size_t used = 0;
  PKS_ASSERT(count <= NUMBERS_MAX);
  for (size_t i = 0; i < count; i++) { used += pks__put_varint(bytes + used, numbers[i]); }
  return pks__scratch_append(out, bytes, used, error);
}

static pks_status put_fields(const pks__delta_header *header, pks__scratch *out, pks_error *error) {
  size_t name_length = strlen(header->pack);
  const uint64_t before_name[] = {
    header->from_number,  header->to_number,     header->file_count, header->link_count,
    header->folder_count, header->logical_bytes, header->new_bytes,  header->chunk_average,
    header->part_count,   header->group_count,   name_length,
  };
  const uint64_t after_name[] = {header->prefix_max, header->attribute_byte_count};
  pks_status status = put_fixed(header, out, error);
  if (!status) { status = put_numbers(before_name, PKS_COUNT_OF(before_name), out, error); }
  if (!status) { status = pks__scratch_append(out, header->pack, name_length, error); }
  if (!status) { status = put_numbers(after_name, PKS_COUNT_OF(after_name), out, error); }
  return status ? status : pks__scratch_append(out, header->attributes, header->attribute_byte_count, error);
}

/// Writes the length and the sum of a delta that is complete otherwise.
static pks_status finish(pks__delta_header *header, pks__scratch *out, pks_error *error) {
  if (out->length < PKS__DELTA_SHORT_MIN - SUM) {
    pks_status status = pks__scratch_append(out, NULL, PKS__DELTA_SHORT_MIN - SUM - out->length, error);
    if (status) { return status; }
  }
  header->length = (uint32_t)out->length + SUM;
  pks_le32 length = pks__put32(header->length);
  memcpy(out->bytes + 12, &length, sizeof length);
  pks_le64 sum = pks__put64(pks__checksum(out->bytes, (size_t)out->length));
  return pks__scratch_append(out, &sum, sizeof sum, error);
}

pks_status pks__delta_put_short(
  pks__delta_header *header, const pks__delta_block *blocks, const uint8_t *stored, uint64_t stored_length,
  pks__scratch *out, bool *fits, pks_error *error
) {
  uint64_t count = (uint64_t)header->part_count + header->group_count;
  *fits = header->attribute_byte_count + 2 * count + stored_length <= PKS__DELTA_SHORT_MAX;
  if (!*fits) { return PKS_OK; }
  pks_status status = put_fields(header, out, error);
  for (uint64_t i = 0; !status && i < count; i++) {
    const uint64_t row[] = {pks__get32(blocks[i].stored_length), pks__get32(blocks[i].raw_length)};
    status = put_numbers(row, PKS_COUNT_OF(row), out, error);
  }
  if (status) { return status; }
  header->blocks_offset = (uint32_t)out->length;
  *fits = out->length + stored_length + SUM <= PKS__DELTA_SHORT_MAX;
  if (!*fits) { return PKS_OK; }
  status = pks__scratch_append(out, stored, stored_length, error);
  return status ? status : finish(header, out, error);
}

// MARK: - Reading

/// Reads a number of at most 32 bits.
static uint32_t read_short_number(pks__reader *reader) {
  uint64_t number = pks__read_varint(reader);
  if (number > UINT32_MAX) { reader->failed = true; }
  return reader->failed ? 0 : (uint32_t)number;
}

static void read_fields(pks__reader *reader, pks__delta_header *header) {
  const uint8_t *ids = pks__read_bytes(reader, 2 * PKS__ID_SIZE);
  memcpy(&header->from_catalog, ids, PKS__ID_SIZE);
  memcpy(&header->to_catalog, ids + PKS__ID_SIZE, PKS__ID_SIZE);
  header->committed_at_ns = (int64_t)pks__read64(reader);
  header->from_number = pks__read_varint(reader);
  header->to_number = pks__read_varint(reader);
  header->file_count = pks__read_varint(reader);
  header->link_count = pks__read_varint(reader);
  header->folder_count = pks__read_varint(reader);
  header->logical_bytes = pks__read_varint(reader);
  header->new_bytes = pks__read_varint(reader);
  header->chunk_average = read_short_number(reader);
  header->part_count = read_short_number(reader);
  header->group_count = read_short_number(reader);
  uint32_t name_length = read_short_number(reader);
  const uint8_t *pack = pks__read_bytes(reader, name_length);
  if (!pack || name_length > PKS__PACK_NAME_MAX || memchr(pack, 0, name_length)) { reader->failed = true; }
  if (!reader->failed) { memcpy(header->pack, pack, name_length); }
  header->prefix_max = read_short_number(reader);
  header->attribute_byte_count = read_short_number(reader);
  header->attributes = pks__read_bytes(reader, header->attribute_byte_count);
}

/// Reads the rows, up to the first block. `*stored_length` is the sum of the stored lengths.
static pks_status read_rows(
  pks__reader *reader, pks__delta_header *header, pks__scratch *rows, uint64_t *stored_length, pks_error *error
) {
  uint64_t count = (uint64_t)header->part_count + header->group_count;
  pks_status status = PKS_OK;
  *stored_length = 0;
  for (uint64_t i = 0; !status && !reader->failed && i < count; i++) {
    uint32_t stored = read_short_number(reader), raw = read_short_number(reader);
    pks__delta_block row = {.stored_length = pks__put32(stored), .raw_length = pks__put32(raw)};
    *stored_length += stored;
    if (i >= header->part_count && raw > header->group_max) { header->group_max = raw; }
    status = pks__scratch_append(rows, &row, sizeof row, error);
  }
  return status;
}

/// Whether nothing but zeros follows the blocks, and only as many as the shortest length requires.
static bool ends_well(pks__reader *reader, uint32_t length) {
  size_t padding = pks__reader_left(reader);
  bool fits = padding == 0 || length == PKS__DELTA_SHORT_MIN;
  while (fits && pks__reader_left(reader) > 0) { fits = pks__read8(reader) == 0; }
  return fits;
}

pks_status pks__delta_read_short(
  const uint8_t *bytes, uint32_t length, pks__delta_header *out, pks__scratch *rows, bool *fits, pks_error *error
) {
  PKS_ASSERT(length >= PKS__DELTA_SHORT_MIN);
  pks__reader sum = pks__reader_make(bytes + length - SUM, SUM);
  *fits = pks__read64(&sum) == pks__checksum(bytes, length - SUM);
  if (!*fits) { return PKS_OK; }
  pks__reader reader = pks__reader_make(bytes, length - SUM);
  (void)pks__read_bytes(&reader, 12);  // magic and format, read already
  out->length = pks__read32(&reader);
  read_fields(&reader, out);
  uint64_t stored_length;
  pks_status status = read_rows(&reader, out, rows, &stored_length, error);
  if (status) { return status; }
  out->blocks_offset = length - SUM - (uint32_t)pks__reader_left(&reader);
  *fits = !reader.failed && out->length == length && stored_length <= pks__reader_left(&reader);
  if (!*fits) { return PKS_OK; }
  (void)pks__read_bytes(&reader, (size_t)stored_length);
  *fits = ends_well(&reader, length);
  return PKS_OK;
}
