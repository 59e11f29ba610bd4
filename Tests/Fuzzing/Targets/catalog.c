/// Roots of catalogs and layouts, and a catalog's entries with their chunks.
///
/// Input: pages, the root first.
#include "../fuzzing.h"

enum { STEPS_MAX = 3000 };

static void read_chunks(pks__page_source source, const pks__catalog_entry *entry, unsigned *steps) {
  pks__chunk_cursor chunks;
  pks__catalog_chunk chunk;
  pks_error error;
  bool more = true;
  pks__chunk_cursor_init(&chunks, source, entry);
  while (++*steps < STEPS_MAX && !pks__chunk_cursor_next(&chunks, &chunk, &more, &error) && more) {
    (void)pks__checksum(&chunk, sizeof chunk);
  }
  pks__chunk_cursor_free(&chunks);
}

static void read_catalog(pks__page_source source, const pks__id *root) {
  pks__catalog_info info;
  pks__tree map;
  pks_error error;
  if (pks__catalog_read_root(source, root, &info, &map, &error)) { return; }
  pks__tree_cursor cursor;
  bool more = true;
  pks__tree_cursor_init(&cursor, source, PKS__TREE_MAP, 0, &map);
  for (unsigned steps = 0; ++steps < STEPS_MAX && !pks__tree_cursor_next(&cursor, &more, &error) && more;) {
    pks__catalog_entry entry;
    if (pks__catalog_entry_read(&cursor, &entry, &error)) { continue; }
    FUZZ_ASSERT(pks__path_is_valid(entry.path, entry.path_length));
    FUZZ_ASSERT(entry.kind >= PKS__RECORD_FILE && entry.kind <= PKS__RECORD_FOLDER);
    if (entry.kind == PKS__RECORD_LINK) { (void)pks__checksum(entry.target, (size_t)entry.size); }
    if (entry.kind == PKS__RECORD_FILE) { read_chunks(source, &entry, &steps); }
  }
  pks__tree_cursor_free(&cursor);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count) {
  fuzz_pages pages = {bytes, byte_count};
  pks__id root;
  if (!fuzz_first_page(&pages, &root)) { return 0; }
  pks__page_source source = fuzz_page_source(&pages);
  read_catalog(source, &root);
  pks__layout_root layout;
  pks__scratch segments = {0};
  pks_error error;
  if (!pks__layout_read_root(source, &root, &layout, &segments, &error)) {
    FUZZ_ASSERT(segments.length % sizeof(pks__segment_id) == 0);
    (void)pks__checksum(segments.bytes, (size_t)segments.length);
  }
  pks__scratch_free(&segments);
  return 0;
}
