/// Pages of trees, as maps and as lists.
///
/// Input: u8 kind, u8 height, u8 bytes of a row; pages, the root first.
#include "../fuzzing.h"

enum { STEPS_MAX = 3000 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count) {
  fuzz_input input = {bytes, byte_count};
  pks__tree_kind kind = fuzz_take(&input, 1) & 1 ? PKS__TREE_MAP : PKS__TREE_LIST;
  pks__tree tree = {.height = (uint32_t)fuzz_take(&input, 1)};
  uint16_t row = (uint16_t)fuzz_take(&input, 1);
  fuzz_pages pages = {input.next, input.left};
  if (!fuzz_first_page(&pages, &tree.root)) { return 0; }
  pks__tree_cursor cursor;
  pks_error error;
  bool more = true;
  pks__tree_cursor_init(&cursor, fuzz_page_source(&pages), kind, kind == PKS__TREE_MAP ? 0 : row, &tree);
  for (unsigned i = 0; i < STEPS_MAX && !pks__tree_cursor_next(&cursor, &more, &error) && more; i++) {
    size_t length = 0;
    const char *key = pks__tree_cursor_key(&cursor, &length);
    if (kind == PKS__TREE_MAP && length > 0) { (void)pks__checksum(key, length); }
    (void)pks__checksum(cursor.value, cursor.value_length);
    FUZZ_ASSERT(kind == PKS__TREE_MAP || cursor.value_length == row);
  }
  pks__tree_cursor_free(&cursor);
  return 0;
}
