#include "segment/frame_check.h"

#include <stdatomic.h>

#include "codec/checksum.h"

/// Whether a frame is known to be bad. The mutex is held.
static bool is_bad_frame(const pks__segment *segment, uint64_t offset) {
  if (segment->all_bad) { return true; }
  for (uint64_t i = 0; i < PKS__SCRATCH_COUNT(&segment->bad_frames, uint64_t); i++) {
    if (*PKS__SCRATCH_AT(&segment->bad_frames, const uint64_t, i) == offset) { return true; }
  }
  return false;
}

/// Remembers a bad frame. When there are too many to look through, or memory is short, all frames count as bad.
static void note_bad_frame(pks__segment *segment, uint64_t offset) {
  enum { BAD_FRAMES_MAX = 1000 };
  pks__mutex_lock(segment->mutex);
  bool is_full = PKS__SCRATCH_COUNT(&segment->bad_frames, uint64_t) == BAD_FRAMES_MAX;
  if (!is_bad_frame(segment, offset)) {
    segment->all_bad = is_full || pks__scratch_append(&segment->bad_frames, &offset, sizeof offset, NULL);
  }
  pks__mutex_unlock(segment->mutex);
  atomic_store(&segment->has_bad_frames, true);
}

/// Whether stored bytes were there when that was asked last, and are not known to be bad.
static bool has_bytes(pks__segment *segment, const pks__frame_ref *frame) {
  if (!pks__range_fits(frame->offset, frame->stored_length, atomic_load(&segment->present))) { return false; }
  if (!atomic_load(&segment->has_bad_frames)) { return true; }
  pks__mutex_lock(segment->mutex);
  bool is_bad = is_bad_frame(segment, frame->offset);
  pks__mutex_unlock(segment->mutex);
  return !is_bad;
}

bool pks__frame_is_present(pks__segment *segment, const pks__frame_ref *frame) {
  if (!has_bytes(segment, frame)) { return false; }
  if (!pks__codec_has_dictionary(frame->codec) || !atomic_load_explicit(&segment->has_table, memory_order_acquire)) {
    return true;
  }
  pks__segment_dictionary dictionary;
  uint32_t number = frame->codec - PKS__CODEC_DICTIONARY;
  return !pks__segment_dictionary_at(segment, number, &dictionary, NULL) && has_bytes(segment, &dictionary.ref);
}

bool pks__frame_of_chunk_is_bad(pks__segment *segment, uint32_t row) {
  pks__chunk_place place;
  pks__frame frame;
  bool may_be_bad = atomic_load(&segment->has_bad_frames) || atomic_load(&segment->present) < segment->file_length;
  if (!may_be_bad) { return false; }
  if (pks__segment_chunk(segment, row, &place, NULL) || pks__segment_frame(segment, place.frame, &frame, NULL)) {
    return true;
  }
  return !pks__frame_is_present(segment, &frame.ref);
}

pks_status pks__frame_check(pks__segment *segment, const pks__frame_ref *frame, const void *stored, pks_error *error) {
  if (pks__checksum(stored, frame->stored_length) == frame->sum) { return PKS_OK; }
  note_bad_frame(segment, frame->offset);
  if (segment->is_purgeable) {
    return pks__segment_fail_purged(segment, true, frame->offset, frame->stored_length, error);
  }
  return pks__fail(error, PKS_CORRUPT, "checksum mismatch", segment->name, frame->offset);
}

pks_status pks__frame_read_stored(pks__segment *segment, const pks__frame_ref *frame, void *out, pks_error *error) {
  pks_status status = pks__segment_read(segment, frame->offset, frame->stored_length, out, error);
  return status ? status : pks__frame_check(segment, frame, out, error);
}
