/// Frame tables. What is accepted obeys the rules for frames.
///
/// Input: the table.
#include "../fuzzing.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count) {
  uint8_t *copy = fuzz_copy(bytes, byte_count);
  pks__frame_table table;
  pks_error error;
  if (!pks__frame_table_read(copy, byte_count, "name", &table, &error)) {
    uint64_t end = sizeof(pks__segment_header);
    for (uint32_t i = 0; i < table.frame_count; i++) {
      pks__tabled_frame frame = pks__frame_table_at(&table, i);
      FUZZ_ASSERT(frame.offset >= end && frame.stored_length > 0 && frame.stored_length <= frame.raw_length);
      FUZZ_ASSERT(frame.raw_length <= PKS__FRAME_RAW_MAX && frame.codec <= PKS__CODEC_ZSTD);
      end = frame.offset + frame.stored_length;
      if (table.kind == PKS__SEGMENT_METADATA) { (void)pks__frame_table_page(&table, i); }
    }
    FUZZ_ASSERT(table.frame_count == 0 || end <= table.file_length);
  }
  free(copy);
  return 0;
}
