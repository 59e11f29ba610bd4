/// Tables: trailer, checksums and pages, of either kind.
///
/// Input: u8 whether to correct checksums (1), requested kind (2); le16, le16 a range; the file.
#include "../fuzzing.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count) {
  fuzz_input input = {bytes, byte_count};
  uint64_t flags = fuzz_take(&input, 1), offset = fuzz_take(&input, 2), length = fuzz_take(&input, 2);
  fuzz_file file = {.bytes = fuzz_copy(input.next, input.left), .length = input.left};
  if (flags & 1) { fuzz_sum_table(file.bytes, file.length); }
  pks_vfs vfs = fuzz_vfs(&file);
  pks__table table;
  pks_error error;
  if (!pks__table_open(&table, &vfs, 3, "index/table", flags & 2 ? PKS__TABLE_RUN : PKS__TABLE_SEGMENT, &error)) {
    if (!pks__table_check(&table, offset, length, &error)) { (void)pks__checksum(table.body + offset, length); }
    (void)pks__table_check(&table, UINT64_MAX - offset, length, &error);
    if (!pks__table_check_all(&table, &error)) {
      FUZZ_ASSERT(!pks__table_check(&table, 0, table.body_length, &error));
      (void)pks__checksum(table.body, (size_t)table.body_length);
    }
    pks__table_close(&table);
  }
  free(file.bytes);
  return 0;
}
