/// A version that comes by a delta: the parts of its file as blobs of the folder, and applying it.
///
/// The root names the SHA-256 of the header, and that has those of the blocks: so nothing comes twice that was verified
/// once, and the file is never put together.
#include "transfer/delivery_delta.h"

#include <errno.h>
#include <string.h>

static pks_status add_want(
  pks_delivery *delivery, pks__want_kind kind, uint32_t block, uint64_t offset, uint32_t length, pks_error *error
) {
  pks__want want = {.kind = kind, .block = block, .offset = offset, .length = length};
  return pks__scratch_append(&delivery->wants, &want, sizeof want, error);
}

/// Takes note of bytes that are here.
static void count(pks_delivery *delivery, uint64_t byte_count, bool is_resumed) {
  delivery->totals.bytes_done += byte_count;
  if (is_resumed) { delivery->totals.bytes_resumed += byte_count; }
}

// MARK: - Header

static pks_status bad_delta(const pks_delivery *delivery, const char *text, pks_error *error) {
  return pks__fail(error, PKS_CORRUPT, text, delivery->pack, PKS_NO_OFFSET);
}

/// Lists where the blocks lie; they fill the file.
static pks_status list_blocks(pks_delivery *delivery, pks_error *error) {
  pks__coming_delta *delta = &delivery->delta;
  uint64_t offset = delta->header.length;
  pks_status status = PKS_OK;
  delta->block_count = delta->header.part_count + delta->header.group_count;
  for (uint32_t i = 0; !status && i < delta->block_count; i++) {
    status = pks__scratch_append(&delta->starts, &offset, sizeof offset, error);
    offset += pks__get32(delta->blocks[i].stored_length);
  }
  if (status || offset == delta->request.length) { return status; }
  return bad_delta(delivery, "the delta is not as long as the site's root says", error);
}

/// Takes the header, whose bytes are in `delta.bytes` and authentic.
static pks_status take_header(pks_delivery *delivery, pks_error *error) {
  pks__coming_delta *delta = &delivery->delta;
  pks__delta_header *header = &delta->header;
  uint32_t length;
  pks_status status = pks__delta_read_length(delta->bytes.bytes, delivery->pack, &length, error);
  if (!status && length != delta->request.header_length) {
    return bad_delta(delivery, "the delta's header is not as long as the site's root says", error);
  }
  if (!status) {
    status = pks__delta_read_header(delta->bytes.bytes, length, delivery->pack, header, &delta->blocks, error);
  }
  if (status) { return status; }
  pks__id attributes = {0};
  if (header->attribute_byte_count > 0) {
    delivery->store->sha256(header->attributes, header->attribute_byte_count, attributes.bytes);
  }
  bool is_right = pks__id_equal(&attributes, &delivery->attributes) && strcmp(header->pack, delivery->pack) == 0
    && header->to_number == delivery->version && pks__id_equal(&header->to_catalog, &delivery->catalog)
    && header->committed_at_ns == delivery->committed_at_ns;
  return is_right ? list_blocks(delivery, error) : bad_delta(delivery, "the delta leads to another version", error);
}

static const pks__id *header_id(const pks_delivery *delivery) {
  _Static_assert(sizeof(pks__id) == sizeof delivery->delta.request.header_digest, "an id is a SHA-256");
  return (const pks__id *)(const void *)delivery->delta.request.header_digest;
}

pks_status pks__delivery_want_header(pks_delivery *delivery, pks_error *error) {
  pks__coming_delta *delta = &delivery->delta;
  uint32_t length = delta->request.header_length;
  bool found;
  pks_status status =
    pks__transfer_staging_get_blob(&delivery->incoming, header_id(delivery), &delta->bytes, &found, error);
  if (status) { return status; }
  if (!found) { return add_want(delivery, PKS__WANT_HEADER, 0, 0, length, error); }
  if (delta->bytes.length != length) { return bad_delta(delivery, "the delta's header has another length", error); }
  count(delivery, length, true);
  return take_header(delivery, error);
}

pks_status pks__delivery_give_header(
  pks_delivery *delivery, const pks__want *want, const void *bytes, bool *is_final, pks_error *error
) {
  pks__id id;
  delivery->store->sha256(bytes, want->length, id.bytes);
  if (!pks__id_equal(&id, header_id(delivery))) {
    return bad_delta(delivery, "these bytes are not the header of the delta", error);
  }
  *is_final = true;
  pks_status status = pks__scratch_append(&delivery->delta.bytes, bytes, want->length, error);
  if (!status) { status = pks__transfer_staging_put_blob(&delivery->incoming, &id, bytes, want->length, error); }
  if (!status) { status = take_header(delivery, error); }
  count(delivery, want->length, false);
  return status;
}

// MARK: - Blocks

static uint64_t start_of(const pks_delivery *delivery, uint32_t block) {
  return *PKS__SCRATCH_AT(&delivery->delta.starts, const uint64_t, block);
}

/// Bytes that the new chunks will take: more than the publisher's frames, which were made with more work, if it is known
/// what those take.
static uint64_t room_for_chunks(const pks__coming_delta *delta) {
  uint64_t raw = delta->header.new_bytes, frames = delta->frame_bytes;
  uint64_t metadata = pks__room_for_metadata(raw / delta->header.chunk_average);
  return (frames > 0 ? pks__min64(frames + frames / 4, raw) : raw) + metadata;
}

pks_status pks__delivery_want_blocks(pks_delivery *delivery, pks_error *error) {
  const pks__coming_delta *delta = &delivery->delta;
  pks_status status = PKS_OK;
  for (uint32_t i = 0; !status && i < delta->block_count; i++) {
    uint32_t length = pks__get32(delta->blocks[i].stored_length);
    if (pks__transfer_staging_has_blob(&delivery->incoming, &delta->blocks[i].digest)) {
      count(delivery, length, true);
    } else {
      status = add_want(delivery, PKS__WANT_BLOCK, i, start_of(delivery, i), length, error);
    }
  }
  uint64_t coming = delivery->totals.bytes_total - delivery->totals.bytes_done;
  return status ? status : pks__delivery_check_room(delivery, coming + room_for_chunks(delta), error);
}

pks_status pks__delivery_give_block(
  pks_delivery *delivery, const pks__want *want, const void *bytes, bool *is_final, pks_error *error
) {
  pks__id id;
  delivery->store->sha256(bytes, want->length, id.bytes);
  if (!pks__id_equal(&id, &delivery->delta.blocks[want->block].digest)) {
    return bad_delta(delivery, "these bytes are not a block of the delta", error);
  }
  *is_final = true;
  pks_status status = pks__transfer_staging_put_blob(&delivery->incoming, &id, bytes, want->length, error);
  count(delivery, want->length, false);
  return status;
}

// MARK: - Applying

/// The block that begins at `offset`.
static uint32_t block_at(const pks_delivery *delivery, uint64_t offset) {
  uint32_t begin = 0, end = delivery->delta.block_count;
  while (end - begin > 1) {
    uint32_t middle = begin + (end - begin) / 2;
    if (start_of(delivery, middle) <= offset) {
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

/// The delta as if it were a file; it is read in order, a block or a part of the header at a time.
static int read_delta(void *context, uint64_t offset, void *out, size_t byte_count, size_t *got) {
  pks_delivery *delivery = context;
  pks__coming_delta *delta = &delivery->delta;
  pks_error error = {0};
  bool found;
  *got = 0;
  if (offset < delta->bytes.length || delta->block_count == 0) {
    *got = copy_out(&delta->bytes, offset, out, byte_count);
    return 0;
  }
  uint32_t block = block_at(delivery, offset);
  const pks__id *id = &delta->blocks[block].digest;
  pks_status status = pks__transfer_staging_get_blob(&delivery->incoming, id, &delta->block, &found, &error);
  if (status == PKS_OUT_OF_MEMORY) { return ENOMEM; }
  if (status) { return error.system_error ? error.system_error : EIO; }
  if (found) { *got = copy_out(&delta->block, offset - start_of(delivery, block), out, byte_count); }
  return 0;
}

pks_status pks__delivery_apply(pks_delivery *delivery, pks_add_result *result, pks_error *error) {
  const pks_delivery_delta *delta = &delivery->delta.request;
  pks_apply_request request = {
    .delta = {.context = delivery, .read = read_delta, .name = delivery->pack},
    .header_digest = delta->header_digest,
    .provenance = delivery->provenance,
    .set_priority = delivery->set_priority,
    .priority = delivery->priority,
    .context = delta->context,
    .progress = delta->progress,
  };
  return pks_txn_apply_delta(result, delivery->txn, &request, error);
}
