/// Writing a page tree from its items in order.
#ifndef PKS_CATALOG_TREE_WRITER_H
#define PKS_CATALOG_TREE_WRITER_H

#include "catalog/tree.h"

typedef struct pks__tree_level {
  pks__scratch page;
  pks__scratch last_key;
  uint32_t items;  ///< in the page
  uint64_t below;  ///< leaf items below the page
  bool has_flushed;
} pks__tree_level;

typedef struct pks__tree_writer {
  pks__page_sink sink;
  pks__tree_kind kind;
  uint16_t row_size;
  pks__tree_level levels[PKS__TREE_LEVELS];
} pks__tree_writer;

/// `row_size` is the row size of a list; 0 for a map. Holds no resources until the first item.
void pks__tree_writer_init(pks__tree_writer *writer, pks__page_sink sink, pks__tree_kind kind, uint16_t row_size);

void pks__tree_writer_free(pks__tree_writer *writer);

/// Appends to a map; keys come in strictly rising bytewise order (asserted).
pks_status pks__tree_writer_put(
  pks__tree_writer *writer, const void *key, size_t key_length, const void *value, size_t value_length, pks_error *error
);

/// Appends a row to a list.
pks_status pks__tree_writer_append(pks__tree_writer *writer, const void *row, pks_error *error);

/// Writes the rest and returns the root. The writer is then empty and can be used again.
pks_status pks__tree_writer_finish(pks__tree_writer *writer, pks__tree *out, pks_error *error);

#endif
