/// Page trees: sorted maps and long lists, kept as pages that are split by content.
///
/// A tree is a function of its items alone. Whether a page ends after an item depends on a hash of that item (and on
/// the page's size so far), never on history: two trees that differ in one item share all pages but the few on the way
/// to it. Pages are named by the SHA-256 of their bytes and stored like chunks, so equal pages of two versions are
/// stored and transferred once. (The idea is known as a prolly tree, after Noms; content-defined splitting of B-tree
/// nodes.)
///
/// Page: 8 bytes of header, then items.
///     0  u8    pks__tree_kind
///     1  u8    level, 0 for leaves
///     2  le16  list: bytes of one row; map: 0
///     4  le32  items in the page
/// Items of a map are front-coded within their page: varint bytes shared with the previous key, varint further bytes,
/// those bytes. In a leaf: varint length of the value, the value. In an inner page the key is the last key below the
/// child, followed by the child. Items of a list: leaf rows of fixed size; children in inner pages. A child: 32 bytes
/// id, le64 leaf items below it.
#ifndef PKS_TREE_H
#define PKS_TREE_H

#include "format.h"
#include "scratch.h"

typedef enum pks__tree_kind { PKS__TREE_MAP = 1, PKS__TREE_LIST = 2 } pks__tree_kind;

enum {
  PKS__TREE_PAGE_MIN = 2048,      ///< a page is not split before this size, bytes
  PKS__TREE_PAGE_AVERAGE = 8192,  ///< expected bytes between split points
  PKS__TREE_PAGE_MAX = 32768,     ///< a page is split when it reaches this size
  PKS__TREE_PAGE_LIMIT = 65536,   ///< no page is larger: the last item may overshoot the maximum
  PKS__TREE_LEVELS = 12,
  PKS__TREE_VALUE_MAX = 8192,  ///< bytes of one value
};

/// Stores pages under their identity.
typedef struct pks__page_sink {
  void *context;
  pks_status (*put)(void *context, const void *page, size_t length, pks__id *id, pks_error *error);
} pks__page_sink;

/// Finds pages by identity. `out` is emptied first.
typedef struct pks__page_source {
  void *context;
  pks_status (*get)(void *context, const pks__id *id, pks__scratch *out, pks_error *error);
} pks__page_source;

/// A finished tree.
typedef struct pks__tree {
  pks__id root;
  uint32_t height;  ///< level of the root page
  uint64_t count;   ///< items
} pks__tree;

// MARK: - Writing

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

/// `row_size` is that of a list; 0 for a map. Holds no resources until the first item.
void pks__tree_writer_init(pks__tree_writer *writer, pks__page_sink sink, pks__tree_kind kind, uint16_t row_size);
void pks__tree_writer_free(pks__tree_writer *writer);

/// Appends to a map; keys come in strictly rising bytewise order (asserted).
pks_status pks__tree_writer_put(
  pks__tree_writer *writer, const void *key, size_t key_length, const void *value, size_t value_length, pks_error *error
);
/// Appends a row to a list.
pks_status pks__tree_writer_append(pks__tree_writer *writer, const void *row, pks_error *error);
/// Writes what is left and names the root. The writer is empty afterwards and can be used again.
pks_status pks__tree_writer_finish(pks__tree_writer *writer, pks__tree *out, pks_error *error);

// MARK: - Reading

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
  pks__scratch last_key;  ///< of the last leaf of which anything was read
  const uint8_t *value;   ///< of the item last read, on loan until the next call
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

/// Visits the items of one page by itself, which lies at `level` of its tree. `page` is used, and is as it was afterwards.
/// CORRUPT when it is no such page.
pks_status pks__tree_visit_items(
  pks__scratch *page, const pks__id *id, pks__tree_kind kind, uint16_t row_size, uint32_t level,
  pks_status (*visit)(void *context, const pks__tree_item *item, pks_error *error), void *context, pks_error *error
);
/// The page that a child leads to.
pks__id pks__tree_child(const pks__tree_item *item);

/// Calls `visit` for every page of the tree, inner pages included.
pks_status pks__tree_visit_pages(
  pks__page_source source, const pks__id *root, uint32_t height,
  pks_status (*visit)(void *context, const pks__id *id, pks_error *error), void *context, pks_error *error
);

#endif
