/// Frame tables. Accepted tables obey the rules for frames and dictionaries.
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
      FUZZ_ASSERT(frame.raw_length <= PKS__FRAME_RAW_MAX);
      FUZZ_ASSERT(frame.codec < PKS__CODEC_DICTIONARY + table.dictionary_count);
      end = frame.offset + frame.stored_length;
      if (table.kind == PKS__SEGMENT_METADATA) { (void)pks__frame_table_page(&table, i); }
    }
    FUZZ_ASSERT(table.frame_count == 0 || end <= table.file_length);
    FUZZ_ASSERT(table.dictionary_count <= PKS__DICTIONARIES_MAX);
    for (uint32_t i = 0; i < table.dictionary_count; i++) {
      pks__tabled_dictionary dictionary = pks__frame_table_dictionary(&table, i);
      FUZZ_ASSERT(dictionary.raw_length <= PKS__DICTIONARY_RAW_MAX && dictionary.codec <= PKS__CODEC_ZSTD);
      FUZZ_ASSERT(pks__range_fits(dictionary.offset, dictionary.stored_length, table.file_length));
    }
  }
  free(copy);
  return 0;
}
