#include "transfer/delivery_delta.h"

#include <errno.h>
#include <string.h>

#include "delta/delta_header.h"
#include "delta/delta_short.h"

void pks__coming_chain_init(
  pks__coming_chain *chain, pks__delivery_context *context, pks__delivery_requests *requests
) {
  *chain = (pks__coming_chain){.context = context, .requests = requests};
  pks__scratch *block = &chain->block;
  pks__delivery_context_own(context, &block, 1, NULL, 0);
  for (uint32_t i = 0; i < PKS_DELTA_CHAIN_MAX; i++) {
    pks__coming_delta *delta = &chain->deltas[i];
    pks__scratch *arrays[] = {&delta->bytes, &delta->rows, &delta->starts};
    delta->chain = chain;
    pks__delivery_context_own(context, arrays, PKS_COUNT_OF(arrays), NULL, 0);
  }
}

bool pks__coming_chain_makes_sense(const pks_delivery_chain *request) {
  bool makes_sense = request->deltas && request->delta_count > 0 && request->delta_count <= PKS_DELTA_CHAIN_MAX;
  for (uint32_t i = 0; makes_sense && i < request->delta_count; i++) {
    const pks_delivery_delta *delta = &request->deltas[i];
    makes_sense = delta->header_length > PKS__DELTA_FIXED && delta->header_length <= PKS__DELTA_HEADER_MAX
      && delta->length >= delta->header_length && delta->length >> 56 == 0;
  }
  return makes_sense;
}

void pks__coming_chain_use(pks__coming_chain *chain, const pks_delivery_chain *request, uint64_t frame_bytes) {
  chain->count = request->delta_count;
  chain->progress_context = request->context;
  chain->progress = request->progress;
  chain->frame_bytes = frame_bytes;
  for (uint32_t i = 0; i < chain->count; i++) {
    chain->deltas[i].request = request->deltas[i];
    chain->bytes_total += request->deltas[i].length;
  }
}

/// Counts bytes that are present.
static void count(pks__coming_chain *chain, uint64_t byte_count, bool is_resumed) {
  chain->bytes_done += byte_count;
  if (is_resumed) { chain->bytes_resumed += byte_count; }
}

// MARK: - Headers

/// Lists the places of the blocks to receive, which fill the file after the header.
static pks_status list_blocks(pks__coming_delta *delta, pks_error *error) {
  uint64_t offset = delta->header.length;
  pks_status status = PKS_OK;
  bool is_short = pks__delta_is_short(&delta->header);
  delta->block_count = is_short ? 0 : delta->header.part_count + delta->header.group_count;
  for (uint32_t i = 0; !status && i < delta->block_count; i++) {
    status = pks__scratch_append(&delta->starts, &offset, sizeof offset, error);
    offset += pks__get32(delta->blocks[i].stored_length);
  }
  if (status || offset == delta->request.length) { return status; }
  return pks__delivery_corrupt(
    delta->chain->context, "the delta has another length than the site's root records", error
  );
}

/// Takes the header, whose bytes are in `bytes` and authentic.
static pks_status take_header(pks__coming_delta *delta, pks_error *error) {
  const pks__delivery_context *context = delta->chain->context;
  uint32_t length;
  pks_status status = pks__delta_read_length(delta->bytes.bytes, context->pack, &length, error);
  if (!status && length != delta->request.header_length) {
    return pks__delivery_corrupt(context, "the delta's header has another length than the site's root records", error);
  }
  if (!status) {
    status = pks__delta_read_header(
      delta->bytes.bytes, length, context->pack, &delta->header, &delta->rows, &delta->blocks, error
    );
  }
  return status ? status : list_blocks(delta, error);
}

static const pks__id *header_id(const pks__coming_delta *delta) {
  _Static_assert(sizeof(pks__id) == sizeof delta->request.header_digest, "an id is a SHA-256");
  return (const pks__id *)(const void *)delta->request.header_digest;
}

static pks_status want_header(pks__coming_chain *chain, uint32_t number, pks_error *error) {
  pks__coming_delta *delta = &chain->deltas[number];
  uint32_t length = delta->request.header_length;
  bool found;
  pks_status status =
    pks__transfer_staging_get_blob(&chain->context->incoming, header_id(delta), &delta->bytes, &found, error);
  if (status) { return status; }
  if (!found) {
    pks__byte_request request = {.kind = PKS__REQUEST_HEADER, .segment = number, .length = length};
    return pks__delivery_requests_add(chain->requests, &request, error);
  }
  if (delta->bytes.length != length) {
    return pks__delivery_corrupt(chain->context, "the delta's header has another length", error);
  }
  count(chain, length, true);
  return take_header(delta, error);
}

pks_status pks__coming_chain_request_headers(pks__coming_chain *chain, pks_error *error) {
  pks_status status = PKS_OK;
  for (uint32_t i = 0; !status && i < chain->count; i++) { status = want_header(chain, i, error); }
  return status;
}

pks_status pks__coming_chain_give_header(
  pks__coming_chain *chain, const pks__byte_request *request, const void *bytes, bool *is_final, pks_error *error
) {
  pks__coming_delta *delta = &chain->deltas[request->segment];
  pks__id id = pks__delivery_digest(chain->context, bytes, request->length);
  if (!pks__id_equal(&id, header_id(delta))) {
    return pks__delivery_corrupt(chain->context, "the received bytes are not the header of the delta", error);
  }
  *is_final = true;
  pks_status status = pks__scratch_append(&delta->bytes, bytes, request->length, error);
  if (!status) {
    status = pks__transfer_staging_put_blob(&chain->context->incoming, &id, bytes, request->length, error);
  }
  if (!status) { status = take_header(delta, error); }
  count(chain, request->length, false);
  return status;
}

/// Whether the last delta leads to the version that comes.
static bool leads_to_version(const pks__coming_chain *chain) {
  const pks__delivery_context *context = chain->context;
  const pks__delta_header *header = &chain->deltas[chain->count - 1].header;
  pks__id attributes = {0};
  if (header->attribute_byte_count > 0) {
    attributes = pks__delivery_digest(context, header->attributes, header->attribute_byte_count);
  }
  return pks__id_equal(&attributes, &context->attributes) && strcmp(header->pack, context->pack) == 0
    && header->to_number == context->version && pks__id_equal(&header->to_catalog, &context->catalog)
    && header->committed_at_ns == context->committed_at_ns;
}

/// All headers are present: checks the root's claims about them.
static pks_status check_headers(const pks__coming_chain *chain, pks_error *error) {
  if (!leads_to_version(chain)) {
    return pks__delivery_corrupt(chain->context, "the delta leads to another version", error);
  }
  for (uint32_t i = 0; i + 1 < chain->count; i++) {
    const pks__delta_header *header = &chain->deltas[i].header, *next = &chain->deltas[i + 1].header;
    if (strcmp(header->pack, next->pack) != 0 || !pks__id_equal(&header->to_catalog, &next->from_catalog)) {
      return pks__delivery_corrupt(chain->context, "the deltas do not form a chain", error);
    }
  }
  return PKS_OK;
}

// MARK: - Blocks

static uint64_t start_of(const pks__coming_delta *delta, uint32_t block) {
  return *PKS__SCRATCH_AT(&delta->starts, const uint64_t, block);
}

/// Bytes that new chunks take as they are stored last: more than the publisher's frames, which were made with more work, if it is
/// known what those take.
static uint64_t room_for_last(const pks__coming_chain *chain, uint64_t raw_bytes) {
  uint64_t frames = chain->frame_bytes;
  return frames > 0 ? pks__min64(frames + frames / 4, raw_bytes) : raw_bytes;
}

/// Returns the space for applying, in addition to the deltas. A version needs at most the new chunks of its delta and of earlier
/// ones; at the end, two versions exist at a time. New bytes of a header are below 2^50, so no sum overflows.
static uint64_t room_for_chunks(const pks__coming_chain *chain) {
  uint64_t raw_before = 0, most = 0, metadata = 0;
  for (uint32_t i = 0; i < chain->count; i++) {
    const pks__delta_header *header = &chain->deltas[i].header;
    uint64_t raw = raw_before + header->new_bytes;
    bool is_last = i + 1 == chain->count;
    most = pks__max64(most, raw_before + (is_last ? room_for_last(chain, raw) : raw));
    metadata += pks__room_for_metadata(header->new_bytes / header->chunk_average);
    raw_before = raw;
  }
  return most + metadata;
}

static pks_status want_blocks(pks__coming_chain *chain, uint32_t number, pks_error *error) {
  const pks__coming_delta *delta = &chain->deltas[number];
  pks_status status = PKS_OK;
  for (uint32_t i = 0; !status && i < delta->block_count; i++) {
    uint32_t length = pks__get32(delta->blocks[i].stored_length);
    if (pks__transfer_staging_has_blob(&chain->context->incoming, &delta->blocks[i].digest)) {
      count(chain, length, true);
    } else {
      pks__byte_request request = {
        .kind = PKS__REQUEST_BLOCK, .segment = number, .number = i, .offset = start_of(delta, i), .length = length};
      status = pks__delivery_requests_add(chain->requests, &request, error);
    }
  }
  return status;
}

pks_status pks__coming_chain_request_blocks(pks__coming_chain *chain, pks_error *error) {
  pks_status status = check_headers(chain, error);
  for (uint32_t i = 0; !status && i < chain->count; i++) { status = want_blocks(chain, i, error); }
  if (status) { return status; }
  uint64_t coming = chain->bytes_total - chain->bytes_done;
  return pks__delivery_check_room(chain->context, coming + room_for_chunks(chain), error);
}

pks_status pks__coming_chain_give_block(
  pks__coming_chain *chain, const pks__byte_request *request, const void *bytes, bool *is_final, pks_error *error
) {
  const pks__coming_delta *delta = &chain->deltas[request->segment];
  pks__id id = pks__delivery_digest(chain->context, bytes, request->length);
  if (!pks__id_equal(&id, &delta->blocks[request->number].digest)) {
    return pks__delivery_corrupt(chain->context, "the received bytes are not a block of the delta", error);
  }
  *is_final = true;
  pks_status status = pks__transfer_staging_put_blob(&chain->context->incoming, &id, bytes, request->length, error);
  count(chain, request->length, false);
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

/// Reads a delta as if it were a file; it is read in order, a block or a part of the header at a time.
static int read_delta(void *context, uint64_t offset, void *out, size_t byte_count, size_t *got) {
  pks__coming_delta *delta = context;
  pks__coming_chain *chain = delta->chain;
  pks_error error = {0};
  bool found;
  *got = 0;
  if (offset < delta->bytes.length || delta->block_count == 0) {
    *got = copy_out(&delta->bytes, offset, out, byte_count);
    return 0;
  }
  uint32_t block = block_at(delta, offset);
  const pks__id *id = &delta->blocks[block].digest;
  pks_status status = pks__transfer_staging_get_blob(&chain->context->incoming, id, &chain->block, &found, &error);
  if (status == PKS_OUT_OF_MEMORY) { return ENOMEM; }
  if (status) { return error.system_error ? error.system_error : EIO; }
  if (found) { *got = copy_out(&chain->block, offset - start_of(delta, block), out, byte_count); }
  return 0;
}

pks_delta_source pks__coming_chain_source(pks__coming_chain *chain, uint32_t delta) {
  return (pks_delta_source){.context = &chain->deltas[delta], .read = read_delta, .name = chain->context->pack};
}
