#include "catalog/map_flags.h"

#include <string.h>

#include "catalog/tree_cursor.h"

static void step(pks__map_flags *mapped) {
  pks_error error;
  if (!pks__tree_cursor_next(&mapped->layout, &mapped->more, &error)) { return; }
  mapped->failure = error;
  mapped->more = false;
}

void pks__map_flags_open(pks__map_flags *out, pks__page_source pages, const pks__id *layout) {
  *out = (pks__map_flags){0};
  pks__layout_root root;
  pks__scratch segments = {0};
  pks_error error;
  if (pks__layout_read_root(pages, layout, &root, &segments, &error)) {
    out->failure = error;
  } else {
    pks__tree_cursor_init(&out->layout, pages, PKS__TREE_MAP, 0, &root.map);
    step(out);
  }
  pks__scratch_free(&segments);
}

void pks__map_flags_close(pks__map_flags *mapped) { pks__tree_cursor_free(&mapped->layout); }

bool pks__map_flags_has(pks__map_flags *mapped, const char *path, size_t length) {
  while (mapped->more) {
    size_t key_length;
    const char *key = pks__tree_cursor_key(&mapped->layout, &key_length);
    int order = pks__compare_bytes(key, key_length, path, length);
    if (order > 0) { return false; }
    if (order == 0) { return mapped->layout.value_length > 0 && (mapped->layout.value[0] & PKS__ENTRY_MAPPED); }
    step(mapped);
  }
  return false;
}
