#include "frames.h"

#include "memory.h"

pks_status pks__frame_reader_take(pks_store *store, pks__frame_reader **out, pks_error *error) {
  pks__mutex_lock(store->mutex);
  pks__frame_reader *reader = store->idle_readers;
  if (reader) { store->idle_readers = reader->next; }
  pks__mutex_unlock(store->mutex);
  if (!reader) {
    reader = pks__allocate_zeroed(1, sizeof *reader);
    if (reader) { reader->decoder = pks__decoder_create(); }
    if (!reader || !reader->decoder) {
      pks__frame_reader_destroy(reader);
      return pks__fail_memory(error);
    }
  }
  *out = reader;
  return PKS_OK;
}

void pks__frame_reader_return(pks_store *store, pks__frame_reader *reader) {
  pks__mutex_lock(store->mutex);
  reader->next = store->idle_readers;
  store->idle_readers = reader;
  pks__mutex_unlock(store->mutex);
}

void pks__frame_reader_destroy(pks__frame_reader *reader) {
  if (!reader) { return; }
  pks__decoder_destroy(reader->decoder);
  pks__free(reader->stored);
  pks__free(reader->raw);
  pks__free(reader);
}

static pks_status need_buffer(uint8_t **buffer, size_t *capacity, size_t needed, pks_error *error) {
  if (needed <= *capacity) { return PKS_OK; }
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
  if (frame->codec == PKS__CODEC_RAW) {
    return pks__segment_read_stored(frame->segment, frame->offset, frame->stored_length, frame->sum, out, error);
  }
  pks_status status = need_buffer(&reader->stored, &reader->stored_capacity, frame->stored_length, error);
  if (!status) {
    status =
      pks__segment_read_stored(frame->segment, frame->offset, frame->stored_length, frame->sum, reader->stored, error);
  }
  if (status) { return status; }
  if (!pks__decode(reader->decoder, reader->stored, frame->stored_length, out, frame->raw_length)) {
    return pks__fail(error, PKS_CORRUPT, "frame does not decode", frame->segment->name, frame->offset);
  }
  return PKS_OK;
}

static bool holds(const pks__frame_reader *reader, const pks__frame_source *frame) {
  return reader->raw_length > 0 && reader->offset == frame->offset && reader->raw_length == frame->raw_length
    && pks__segment_id_equal(&reader->segment, &frame->segment->id);
}

pks_status pks__frame_decode(
  pks__frame_reader *reader, const pks__frame_source *frame, const uint8_t **out, pks_error *error
) {
  if (!holds(reader, frame)) {
    reader->raw_length = 0;
    pks_status status = need_buffer(&reader->raw, &reader->raw_capacity, frame->raw_length, error);
    if (!status) { status = read_whole(reader, frame, reader->raw, error); }
    if (status) { return status; }
    reader->segment = frame->segment->id;
    reader->offset = frame->offset;
    reader->raw_length = frame->raw_length;
  }
  *out = reader->raw;
  return PKS_OK;
}

pks_status pks__frame_read(
  pks__frame_reader *reader, const pks__frame_source *frame, uint32_t begin, uint32_t end, void *out, pks_error *error
) {
  PKS_ASSERT(begin <= end && end <= frame->raw_length);
  if (begin == 0 && end == frame->raw_length && !holds(reader, frame)) { return read_whole(reader, frame, out, error); }
  const uint8_t *raw;
  pks_status status = pks__frame_decode(reader, frame, &raw, error);
  if (!status) { memcpy(out, raw + begin, end - begin); }
  return status;
}
