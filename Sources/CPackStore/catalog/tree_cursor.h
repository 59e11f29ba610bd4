/// Walking a page tree in order, or page by page.
#ifndef PKS_CATALOG_TREE_CURSOR_H
#define PKS_CATALOG_TREE_CURSOR_H

#include "catalog/tree.h"

typedef struct pks__tree_place {
  pks__scratch page;
  pks__scratch key;
  pks__reader reader;
  uint32_t left;  ///< items of the page not read yet
  bool is_fresh;  ///< none was read
} pks__tree_place;

/// Walks a tree in order. Bad pages are CORRUPT, and so are keys of leaves that do not rise; memory is one page a level.
typedef struct pks__tree_cursor {
  pks__page_source source;
  pks__tree_kind kind;
  uint16_t row_size;
  uint32_t height;
  bool started;
  bool skips_lost;   ///< pages below the root that cannot be had are left out, with all below them
  uint64_t skipped;  ///< items that were
  pks__id root;
  pks__tree_place places[PKS__TREE_LEVELS];
  pks__scratch last_key;  ///< key of the last leaf with a read item
  const uint8_t *value;   ///< value of the last read item, borrowed until the next call
  size_t value_length;
} pks__tree_cursor;

void pks__tree_cursor_init(
  pks__tree_cursor *cursor, pks__page_source source, pks__tree_kind kind, uint16_t row_size, const pks__tree *tree
);

void pks__tree_cursor_free(pks__tree_cursor *cursor);

/// The next item, or `*more` false after the last.
pks_status pks__tree_cursor_next(pks__tree_cursor *cursor, bool *more, pks_error *error);

/// The key of the item last read (maps).
static inline const char *pks__tree_cursor_key(const pks__tree_cursor *cursor, size_t *length) {
  *length = (size_t)cursor->places[0].key.length;
  return (const char *)cursor->places[0].key.bytes;
}

/// An item of one page: `body` is its value or row in a leaf, and a child above. On loan until the visitor returns.
typedef struct pks__tree_item {
  const uint8_t *key;  ///< maps
  size_t key_length;
  const uint8_t *body;
  size_t body_length;
} pks__tree_item;

/// Visits the items of a single page at `level` of its tree. Uses `page`, and restores it. CORRUPT if it is not such a page.
pks_status pks__tree_visit_items(
  pks__scratch *page, const pks__id *id, pks__tree_kind kind, uint16_t row_size, uint32_t level,
  pks_status (*visit)(void *context, const pks__tree_item *item, pks_error *error), void *context, pks_error *error
);

/// The page that a child leads to.
pks__id pks__tree_child(const pks__tree_item *item);

#endif
