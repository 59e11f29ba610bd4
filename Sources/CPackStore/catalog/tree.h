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
#ifndef PKS_CATALOG_TREE_H
#define PKS_CATALOG_TREE_H

#include "format/format.h"
#include "platform/scratch.h"

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

#endif
