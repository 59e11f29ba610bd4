#include "segment/frame_decoding.h"

#include "base/memory.h"
#include "segment/frame_check.h"

static void destroy(pks__frame_reader *reader) {
  if (!reader) { return; }
  pks__decoder_destroy(reader->decoder);
  pks__free(reader->stored);
  for (size_t i = 0; i < PKS__DECODED_FRAMES; i++) { pks__free(reader->decoded[i].bytes); }
  pks__free(reader);
}

pks_status pks__frame_readers_open(pks__frame_readers *out, pks_sha256 *sha256, pks_error *error) {
  for (size_t i = 0; i < PKS_COUNT_OF(out->idle); i++) { atomic_init(&out->idle[i], NULL); }
  return pks__dictionaries_open(&out->dictionaries, sha256, error);
}

void pks__frame_readers_close(pks__frame_readers *readers) {
  for (size_t i = 0; i < PKS_COUNT_OF(readers->idle); i++) { destroy(atomic_exchange(&readers->idle[i], NULL)); }
  pks__dictionaries_close(&readers->dictionaries);
}

pks_status pks__frame_reader_take(pks__frame_readers *readers, pks__frame_reader **out, pks_error *error) {
  for (size_t i = 0; i < PKS_COUNT_OF(readers->idle); i++) {
    if (!atomic_load_explicit(&readers->idle[i], memory_order_relaxed)) { continue; }
    *out = atomic_exchange_explicit(&readers->idle[i], NULL, memory_order_acquire);
    if (*out) { return PKS_OK; }
  }
  pks__frame_reader *reader = pks__allocate_zeroed(1, sizeof *reader);
  if (reader) {
    *reader = (pks__frame_reader){.decoder = pks__decoder_create(), .dictionaries = &readers->dictionaries};
  }
  if (!reader || !reader->decoder) {
    destroy(reader);
    return pks__fail_memory(error);
  }
  *out = reader;
  return PKS_OK;
}

void pks__frame_reader_return(pks__frame_readers *readers, pks__frame_reader *reader) {
  for (size_t i = 0; i < PKS_COUNT_OF(readers->idle); i++) {
    pks__frame_reader *none = NULL;
    if (atomic_load_explicit(&readers->idle[i], memory_order_relaxed)) { continue; }
    bool put = atomic_compare_exchange_strong_explicit(
      &readers->idle[i], &none, reader, memory_order_release, memory_order_relaxed
    );
    if (put) { return; }
  }
  destroy(reader);
}

static pks_status need_buffer(uint8_t **buffer, size_t *capacity, size_t needed, pks_error *error) {
  enum { STEP = 32 * 1024 };
  if (needed <= *capacity) { return PKS_OK; }
  // Frames come in all lengths; buffers that grew by a little each time would leave holes behind.
  needed = (size_t)pks__align_up(needed, STEP);
  uint8_t *larger = pks__allocate(needed);
  if (!larger) { return pks__fail_memory(error); }
  pks__free(*buffer);
  *buffer = larger;
  *capacity = needed;
  return PKS_OK;
}

/// Reads the whole frame to `out`, which has room for its raw bytes.
static pks_status read_whole(
  pks__frame_reader *reader, const pks__frame_source *frame, uint8_t *out, pks_error *error
) {
  if (frame->ref.codec == PKS__CODEC_RAW) { return pks__frame_read_stored(frame->segment, &frame->ref, out, error); }
  pks_status status = need_buffer(&reader->stored, &reader->stored_capacity, frame->ref.stored_length, error);
  if (!status) { status = pks__frame_read_stored(frame->segment, &frame->ref, reader->stored, error); }
  if (status) { return status; }
  bool decodes;
  status = pks__dictionaries_decode_frame(
    reader->dictionaries, reader->decoder, frame->segment, &frame->ref, reader->stored, out, &decodes, error
  );
  if (status || decodes) { return status; }
  return pks__fail(error, PKS_CORRUPT, "a frame does not decode", frame->segment->name, frame->ref.offset);
}

/// The frame in decoded form, if the reader remembers it.
static pks__decoded_frame *find_decoded(pks__frame_reader *reader, const pks__frame_source *frame) {
  for (size_t i = 0; i < PKS__DECODED_FRAMES; i++) {
    pks__decoded_frame *decoded = &reader->decoded[i];
    bool is_it = decoded->length == frame->ref.raw_length && decoded->offset == frame->ref.offset
      && decoded->sum == frame->ref.sum && pks__segment_id_equal(&decoded->segment, &frame->segment->id);
    if (!is_it) { continue; }
    decoded->used = ++reader->uses;
    return decoded;
  }
  return NULL;
}

/// The place to decode into: the one used longest ago.
static pks__decoded_frame *choose_place(pks__frame_reader *reader, const pks__frame_source *frame) {
  size_t places = frame->ref.raw_length > PKS__DECODED_LARGE ? 2 : PKS__DECODED_FRAMES;
  pks__decoded_frame *oldest = &reader->decoded[0];
  for (size_t i = 1; i < places; i++) {
    if (reader->decoded[i].used < oldest->used) { oldest = &reader->decoded[i]; }
  }
  return oldest;
}

pks_status pks__frame_decode(
  pks__frame_reader *reader, const pks__frame_source *frame, const uint8_t **out, pks_error *error
) {
  pks__decoded_frame *decoded = find_decoded(reader, frame);
  if (!decoded) {
    decoded = choose_place(reader, frame);
    decoded->length = 0;
    pks_status status = need_buffer(&decoded->bytes, &decoded->capacity, frame->ref.raw_length, error);
    if (!status) { status = read_whole(reader, frame, decoded->bytes, error); }
    if (status) { return status; }
    decoded->segment = frame->segment->id;
    decoded->offset = frame->ref.offset;
    decoded->sum = frame->ref.sum;
    decoded->length = frame->ref.raw_length;
    decoded->used = ++reader->uses;
  }
  *out = decoded->bytes;
  return PKS_OK;
}

pks_status pks__frame_read(
  pks__frame_reader *reader, const pks__frame_source *frame, uint32_t begin, uint32_t end, void *out, pks_error *error
) {
  PKS_ASSERT(begin <= end && end <= frame->ref.raw_length);
  bool is_whole = begin == 0 && end == frame->ref.raw_length;
  if (is_whole && !find_decoded(reader, frame)) { return read_whole(reader, frame, out, error); }
  const uint8_t *raw;
  pks_status status = pks__frame_decode(reader, frame, &raw, error);
  if (!status) { memcpy(out, raw + begin, end - begin); }
  return status;
}
