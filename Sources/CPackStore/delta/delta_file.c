#include "delta/delta_file.h"

#include "base/memory.h"
#include "delta/delta_header.h"
#include "delta/delta_part.h"
#include "delta/delta_short.h"

static const char *name_of(const pks__delta_file *file) { return file->source.name ? file->source.name : "delta"; }

static pks_status read_exactly(
  const pks__delta_file *file, uint64_t offset, void *out, size_t byte_count, pks_error *error
) {
  size_t got = 0;
  int failure = file->source.read(file->source.context, offset, out, byte_count, &got);
  if (failure) {
    return pks__fail_system_about(error, failure, PKS_DETAIL_NONE, PKS_SUBJECT_DELTA, name_of(file), "cannot read");
  }
  if (got >= byte_count) { return PKS_OK; }
  return pks__fail_at(
    error, PKS_CORRUPT, PKS_DETAIL_NONE, PKS_SUBJECT_DELTA, name_of(file), offset + got, "ends too early"
  );
}

/// Reads `length` bytes from the beginning, in steps: a large claimed length uses no memory before that many bytes exist.
static pks_status read_start(pks__delta_file *file, uint32_t length, pks_error *error) {
  enum { STEP = 256 * 1024 };
  pks_status status = PKS_OK;
  while (!status && file->bytes.length < length) {
    size_t next = (size_t)pks__min64(STEP, length - file->bytes.length);
    status = pks__scratch_reserve(&file->bytes, next, error);
    if (!status) {
      status = read_exactly(file, file->bytes.length, file->bytes.bytes + file->bytes.length, next, error);
    }
    if (!status) { file->bytes.length += next; }
  }
  return status;
}

static pks_status read_header(pks__delta_file *file, pks_error *error) {
  uint8_t first[16];
  uint32_t length;
  pks_status status = read_exactly(file, 0, first, sizeof first, error);
  if (!status) { status = pks__delta_read_length(first, name_of(file), &length, error); }
  if (!status) { status = read_start(file, length, error); }
  if (status) { return status; }
  file->sha256(file->bytes.bytes, length, file->digest.bytes);
  status =
    pks__delta_read_header(file->bytes.bytes, length, name_of(file), &file->header, &file->rows, &file->blocks, error);
  if (status) { return status; }
  if (file->header.attribute_byte_count > 0) {
    file->sha256(file->header.attributes, file->header.attribute_byte_count, file->attributes.bytes);
  }
  file->length = length;
  if (pks__delta_is_short(&file->header)) { return PKS_OK; }
  // At most 2^24 blocks of less than 2^32 bytes: the sum fits.
  for (uint32_t i = 0; i < file->header.part_count + file->header.group_count; i++) {
    file->length += pks__get32(file->blocks[i].stored_length);
  }
  return PKS_OK;
}

pks_status pks__delta_file_open(
  pks__delta_file *out, const pks_delta_source *source, pks_sha256 *sha256, pks__scratch_folder *home, pks_error *error
) {
  *out = (pks__delta_file){.source = *source, .sha256 = sha256};
  pks__scratch_init(&out->bytes, home);
  pks__scratch_init(&out->rows, home);
  if (!source->read) {
    return pks__fail_about(
      error, PKS_INVALID_ARGUMENT, PKS_DETAIL_NONE, PKS_SUBJECT_DELTA, name_of(out), "no reader given; set 'read'"
    );
  }
  return read_header(out, error);
}

void pks__delta_file_close(pks__delta_file *file) {
  pks__scratch_free(&file->bytes);
  pks__scratch_free(&file->rows);
}

pks_status pks__delta_file_read(
  const pks__delta_file *file, const pks__delta_block *block, uint64_t offset, uint8_t *out, pks_error *error
) {
  uint32_t length = pks__get32(block->stored_length);
  if (!pks__delta_is_short(&file->header)) { return read_exactly(file, offset, out, length, error); }
  PKS_ASSERT(pks__range_fits(offset, length, file->bytes.length));
  memcpy(out, file->bytes.bytes + offset, length);
  return PKS_OK;
}

pks_status pks__delta_file_check(
  const pks__delta_file *file, const pks__delta_block *block, uint64_t offset, const uint8_t *stored, pks_error *error
) {
  // The block was copied from the header, whose sum is correct.
  if (pks__delta_is_short(&file->header)) { return PKS_OK; }
  pks__id digest;
  file->sha256(stored, pks__get32(block->stored_length), digest.bytes);
  if (pks__id_equal(&digest, &block->digest)) { return PKS_OK; }
  return pks__fail_at(
    error, PKS_CORRUPT, PKS_DETAIL_NONE, PKS_SUBJECT_DELTA, name_of(file), offset, "a block is damaged"
  );
}

pks_status pks__delta_file_bad_block(const pks__delta_file *file, uint64_t offset, pks_error *error) {
  return pks__fail_at(
    error, PKS_CORRUPT, PKS_DETAIL_NONE, PKS_SUBJECT_DELTA, name_of(file), offset, "a block is invalid"
  );
}

uint64_t pks__delta_file_groups(const pks__delta_file *file) {
  uint64_t offset = file->header.blocks_offset;
  for (uint32_t i = 0; i < file->header.part_count; i++) { offset += pks__get32(file->blocks[i].stored_length); }
  return offset;
}

void pks__delta_file_tell(const pks__delta_file *file, pks_delta_info *out) {
  const pks__delta_header *header = &file->header;
  *out = (pks_delta_info){
    .from_version = header->from_number,
    .to_version = header->to_number,
    .file_count = header->file_count,
    .link_count = header->link_count,
    .folder_count = header->folder_count,
    .logical_bytes = header->logical_bytes,
    .new_bytes = header->new_bytes,
    .header_length = header->length,
    .length = file->length,
  };
  _Static_assert(sizeof out->pack == sizeof header->pack, "the public name is as long");
  memcpy(out->pack, header->pack, sizeof out->pack);
  memcpy(out->from_catalog, header->from_catalog.bytes, sizeof out->from_catalog);
  memcpy(out->to_catalog, header->to_catalog.bytes, sizeof out->to_catalog);
  memcpy(out->to_attributes, file->attributes.bytes, sizeof out->to_attributes);
  memcpy(out->header_digest, file->digest.bytes, sizeof out->header_digest);
}

// MARK: - Description

static pks_status append_part(
  const pks__delta_file *file, const pks__delta_block *block, uint64_t offset, pks__decoder *decoder, uint8_t *stored,
  pks__scratch *out, pks_error *error
) {
  uint32_t stored_length = pks__get32(block->stored_length), raw_length = pks__get32(block->raw_length);
  pks_status status = pks__delta_file_read(file, block, offset, stored, error);
  if (!status) { status = pks__delta_file_check(file, block, offset, stored, error); }
  if (status) { return status; }
  status = pks__scratch_reserve(out, raw_length, error);
  if (status) { return status; }
  bool decodes;
  status =
    pks__delta_part_decode(decoder, stored, stored_length, out->bytes + out->length, raw_length, &decodes, error);
  if (status) { return status; }
  if (!decodes) { return pks__delta_file_bad_block(file, offset, error); }
  out->length += raw_length;
  return PKS_OK;
}

pks_status pks__delta_file_describe(const pks__delta_file *file, pks__scratch *out, pks_error *error) {
  uint32_t longest = 0;
  for (uint32_t i = 0; i < file->header.part_count; i++) {
    uint32_t stored_length = pks__get32(file->blocks[i].stored_length);
    if (stored_length > longest) { longest = stored_length; }
  }
  pks__decoder *decoder = pks__decoder_create();
  uint8_t *stored = pks__allocate(longest);
  pks_status status = decoder && stored ? PKS_OK : pks__fail_memory(error);
  uint64_t offset = file->header.blocks_offset;
  for (uint32_t i = 0; !status && i < file->header.part_count; i++) {
    status = append_part(file, &file->blocks[i], offset, decoder, stored, out, error);
    if (!status && stored[0] == PKS__DELTA_PART_CODED && i + 1 < file->header.part_count) {
      status = pks__delta_file_bad_block(file, offset, error);
    }
    offset += pks__get32(file->blocks[i].stored_length);
  }
  pks__decoder_destroy(decoder);
  pks__free(stored);
  return status;
}
