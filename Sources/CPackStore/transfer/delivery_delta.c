#include "transfer/delivery_delta.h"

#include <errno.h>
#include <string.h>

void pks__coming_delta_init(pks__coming_delta *delta, pks__delivery_context *context, pks__delivery_wants *wants) {
  *delta = (pks__coming_delta){.context = context, .wants = wants};
  pks__scratch *arrays[] = {&delta->bytes, &delta->starts, &delta->block};
  pks__delivery_context_own(context, arrays, PKS_COUNT_OF(arrays), NULL, 0);
}

void pks__coming_delta_use(pks__coming_delta *delta, const pks_delivery_delta *request, uint64_t frame_bytes) {
  delta->is_used = true;
  delta->request = *request;
  delta->frame_bytes = frame_bytes;
}

/// Takes note of bytes that are here.
static void count(pks__coming_delta *delta, uint64_t byte_count, bool is_resumed) {
  delta->bytes_done += byte_count;
  if (is_resumed) { delta->bytes_resumed += byte_count; }
}

// MARK: - Header

/// Lists where the blocks lie; they fill the file.
static pks_status list_blocks(pks__coming_delta *delta, pks_error *error) {
  uint64_t offset = delta->header.length;
  pks_status status = PKS_OK;
  delta->block_count = delta->header.part_count + delta->header.group_count;
  for (uint32_t i = 0; !status && i < delta->block_count; i++) {
    status = pks__scratch_append(&delta->starts, &offset, sizeof offset, error);
    offset += pks__get32(delta->blocks[i].stored_length);
  }
  if (status || offset == delta->request.length) { return status; }
  return pks__delivery_corrupt(delta->context, "the delta is not as long as the site's root says", error);
}

/// Takes the header, whose bytes are in `bytes` and authentic.
static pks_status take_header(pks__coming_delta *delta, pks_error *error) {
  pks__delta_header *header = &delta->header;
  uint32_t length;
  pks_status status = pks__delta_read_length(delta->bytes.bytes, delta->context->pack, &length, error);
  if (!status && length != delta->request.header_length) {
    return pks__delivery_corrupt(delta->context, "the delta's header is not as long as the site's root says", error);
  }
  if (!status) {
    status = pks__delta_read_header(delta->bytes.bytes, length, delta->context->pack, header, &delta->blocks, error);
  }
  if (status) { return status; }
  const pks__delivery_context *context = delta->context;
  pks__id attributes = {0};
  if (header->attribute_byte_count > 0) {
    attributes = pks__delivery_digest(context, header->attributes, header->attribute_byte_count);
  }
  bool is_right = pks__id_equal(&attributes, &context->attributes) && strcmp(header->pack, context->pack) == 0
    && header->to_number == context->version && pks__id_equal(&header->to_catalog, &context->catalog)
    && header->committed_at_ns == context->committed_at_ns;
  if (!is_right) { return pks__delivery_corrupt(context, "the delta leads to another version", error); }
  return list_blocks(delta, error);
}

static const pks__id *header_id(const pks__coming_delta *delta) {
  _Static_assert(sizeof(pks__id) == sizeof delta->request.header_digest, "an id is a SHA-256");
  return (const pks__id *)(const void *)delta->request.header_digest;
}

pks_status pks__coming_delta_want_header(pks__coming_delta *delta, pks_error *error) {
  uint32_t length = delta->request.header_length;
  bool found;
  pks_status status =
    pks__transfer_staging_get_blob(&delta->context->incoming, header_id(delta), &delta->bytes, &found, error);
  if (status) { return status; }
  if (!found) {
    return pks__delivery_wants_add(delta->wants, &(pks__want){.kind = PKS__WANT_HEADER, .length = length}, error);
  }
  if (delta->bytes.length != length) {
    return pks__delivery_corrupt(delta->context, "the delta's header has another length", error);
  }
  count(delta, length, true);
  return take_header(delta, error);
}

pks_status pks__coming_delta_give_header(
  pks__coming_delta *delta, const pks__want *want, const void *bytes, bool *is_final, pks_error *error
) {
  pks__id id = pks__delivery_digest(delta->context, bytes, want->length);
  if (!pks__id_equal(&id, header_id(delta))) {
    return pks__delivery_corrupt(delta->context, "these bytes are not the header of the delta", error);
  }
  *is_final = true;
  pks_status status = pks__scratch_append(&delta->bytes, bytes, want->length, error);
  if (!status) { status = pks__transfer_staging_put_blob(&delta->context->incoming, &id, bytes, want->length, error); }
  if (!status) { status = take_header(delta, error); }
  count(delta, want->length, false);
  return status;
}

// MARK: - Blocks

static uint64_t start_of(const pks__coming_delta *delta, uint32_t block) {
  return *PKS__SCRATCH_AT(&delta->starts, const uint64_t, block);
}

/// Bytes that the new chunks will take: more than the publisher's frames, which were made with more work, if it is known
/// what those take.
static uint64_t room_for_chunks(const pks__coming_delta *delta) {
  uint64_t raw = delta->header.new_bytes, frames = delta->frame_bytes;
  uint64_t metadata = pks__room_for_metadata(raw / delta->header.chunk_average);
  return (frames > 0 ? pks__min64(frames + frames / 4, raw) : raw) + metadata;
}

pks_status pks__coming_delta_want_blocks(pks__coming_delta *delta, pks_error *error) {
  pks_status status = PKS_OK;
  for (uint32_t i = 0; !status && i < delta->block_count; i++) {
    uint32_t length = pks__get32(delta->blocks[i].stored_length);
    if (pks__transfer_staging_has_blob(&delta->context->incoming, &delta->blocks[i].digest)) {
      count(delta, length, true);
    } else {
      pks__want want = {.kind = PKS__WANT_BLOCK, .number = i, .offset = start_of(delta, i), .length = length};
      status = pks__delivery_wants_add(delta->wants, &want, error);
    }
  }
  uint64_t coming = delta->request.length - delta->bytes_done;
  return status ? status : pks__delivery_check_room(delta->context, coming + room_for_chunks(delta), error);
}

pks_status pks__coming_delta_give_block(
  pks__coming_delta *delta, const pks__want *want, const void *bytes, bool *is_final, pks_error *error
) {
  pks__id id = pks__delivery_digest(delta->context, bytes, want->length);
  if (!pks__id_equal(&id, &delta->blocks[want->number].digest)) {
    return pks__delivery_corrupt(delta->context, "these bytes are not a block of the delta", error);
  }
  *is_final = true;
  pks_status status = pks__transfer_staging_put_blob(&delta->context->incoming, &id, bytes, want->length, error);
  count(delta, want->length, false);
  return status;
}

// MARK: - Reading

/// The block that begins at `offset`.
static uint32_t block_at(const pks__coming_delta *delta, uint64_t offset) {
  uint32_t begin = 0, end = delta->block_count;
  while (end - begin > 1) {
    uint32_t middle = begin + (end - begin) / 2;
    if (start_of(delta, middle) <= offset) {
      begin = middle;
    } else {
      end = middle;
    }
  }
  return begin;
}

static size_t copy_out(const pks__scratch *bytes, uint64_t offset, void *out, size_t byte_count) {
  if (offset >= bytes->length) { return 0; }
  size_t got = (size_t)pks__min64(byte_count, bytes->length - offset);
  memcpy(out, bytes->bytes + offset, got);
  return got;
}

/// Reads the delta as if it were a file; it is read in order, a block or a part of the header at a time.
static int read_delta(void *context, uint64_t offset, void *out, size_t byte_count, size_t *got) {
  pks__coming_delta *delta = context;
  pks_error error = {0};
  bool found;
  *got = 0;
  if (offset < delta->bytes.length || delta->block_count == 0) {
    *got = copy_out(&delta->bytes, offset, out, byte_count);
    return 0;
  }
  uint32_t block = block_at(delta, offset);
  const pks__id *id = &delta->blocks[block].digest;
  pks_status status = pks__transfer_staging_get_blob(&delta->context->incoming, id, &delta->block, &found, &error);
  if (status == PKS_OUT_OF_MEMORY) { return ENOMEM; }
  if (status) { return error.system_error ? error.system_error : EIO; }
  if (found) { *got = copy_out(&delta->block, offset - start_of(delta, block), out, byte_count); }
  return 0;
}

pks_delta_source pks__coming_delta_source(pks__coming_delta *delta) {
  return (pks_delta_source){.context = delta, .read = read_delta, .name = delta->context->pack};
}
