/// Segments: rows, chunks, and the frames and dictionaries that they refer to.
///
/// Input: u8 whether to correct the frames' checksums; le16 length of the frames, with the header; frames; table body.
#include "../fuzzing.h"

enum { ROWS_MAX = 300 };

static void read_frame(pks__segment *segment, pks__frame_reader *reader, uint32_t index) {
  pks__frame frame, same;
  pks_error error;
  if (pks__segment_frame(segment, index, &frame, &error)) { return; }
  FUZZ_ASSERT(
    frame.chunk_count > 0 && frame.ref.raw_length <= PKS__FRAME_RAW_MAX
    && frame.ref.stored_length <= frame.ref.raw_length
  );
  pks__frame_source source = {segment, frame.ref};
  const uint8_t *raw;
  if (!pks__frame_decode(reader, &source, &raw, &error)) { (void)pks__checksum(raw, frame.ref.raw_length); }
  if (frame.ref.raw_length <= 65536) {
    uint8_t *out = malloc(frame.ref.raw_length + 1u);
    FUZZ_ASSERT(out);
    if (!pks__frame_read(reader, &source, frame.ref.raw_length / 2, frame.ref.raw_length, out, &error)) {
      (void)pks__checksum(out, frame.ref.raw_length - frame.ref.raw_length / 2);
    }
    free(out);
  }
  pks__run_frame_info wanted = {.ref = frame.ref};
  uint32_t found = index / 2;
  if (!pks__segment_find_frame(segment, &wanted, &found, &same, &error)) {
    FUZZ_ASSERT(found < segment->frame_count && pks__frame_ref_equal(&same.ref, &frame.ref));
  }
}

static void read_chunk(pks__segment *segment, uint32_t row) {
  pks__chunk_place place;
  pks_error error;
  const pks__id *id;
  if (!pks__segment_chunk_id(segment, row, &id, &error)) { (void)pks__checksum(id, sizeof *id); }
  if (pks__segment_chunk(segment, row, &place, &error)) { return; }
  FUZZ_ASSERT(place.frame < segment->frame_count && place.begin < place.end && place.end <= PKS__FRAME_RAW_MAX);
}

static void read_dictionary(pks__segment *segment, uint32_t number) {
  pks__segment_dictionary dictionary;
  pks__stored_dictionary stored;
  pks__scratch bytes = {0};
  pks_error error;
  if (!pks__segment_dictionary_at(segment, number, &dictionary, &error)) {
    FUZZ_ASSERT(dictionary.ref.raw_length <= PKS__DICTIONARY_RAW_MAX && dictionary.ref.codec <= PKS__CODEC_ZSTD);
  }
  if (!pks__stored_dictionary_read(segment, PKS__CODEC_DICTIONARY + number, &bytes, &stored, &error)) {
    (void)pks__checksum(stored.stored, stored.stored_length);
  }
  pks__scratch_free(&bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count) {
  fuzz_input input = {bytes, byte_count};
  bool summed = fuzz_take(&input, 1) & 1;
  size_t front_length, body_length, asked = (size_t)fuzz_take(&input, 2);
  const uint8_t *front = fuzz_take_bytes(&input, asked, &front_length);
  const uint8_t *body = fuzz_take_bytes(&input, SIZE_MAX, &body_length);
  fuzz_file file = fuzz_table_file(PKS__TABLE_SEGMENT, front, front_length, body, body_length);
  if (summed) {
    fuzz_sum_frames(file.bytes, file.length);
    fuzz_sum_table(file.bytes, file.length);
  }
  pks_vfs vfs = fuzz_vfs(&file);
  pks__segment_id id = {{0}};
  pks__segment *segment;
  pks_error error;
  pks__frame_readers readers;
  pks__frame_reader *reader;
  FUZZ_ASSERT(!pks__frame_readers_open(&readers, NULL, &error));
  FUZZ_ASSERT(!pks__frame_reader_take(&readers, &reader, &error));
  FUZZ_ASSERT(!pks__segment_open(&segment, &vfs, 3, "segments/segment", &id, &error));
  if (!pks__segment_need_table(segment, &error)) {
    for (uint32_t i = 0; i < segment->frame_count && i < ROWS_MAX; i++) { read_frame(segment, reader, i); }
    for (uint32_t i = 0; i < segment->chunk_count && i < ROWS_MAX; i++) { read_chunk(segment, i); }
    for (uint32_t i = 0; i < segment->dictionary_count; i++) { read_dictionary(segment, i); }
    if (segment->frame_count > 0) { read_frame(segment, reader, segment->frame_count - 1); }
    if (segment->chunk_count > 0) { read_chunk(segment, segment->chunk_count - 1); }
  }
  pks__segment_close(segment);
  pks__frame_reader_return(&readers, reader);
  pks__frame_readers_close(&readers);
  free(file.bytes);
  return 0;
}
