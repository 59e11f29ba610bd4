/// Catalogs and layouts: the contents of a pack version, and the places of its bytes. Both are maps from path to entry, kept as
/// page trees.
///
/// A catalog is a pure function of the folder and the chunker; the SHA-256 of its root page is the version's identity. A layout
/// depends on the store's history.
///
/// Catalog root page            Layout root page
///   0 "PKSC", le32 format        0 "PKSL", le32 format
///   8 le32 average chunk         8 id of the catalog's root page
///  12 le32 height of the map    40 id of the map's root
///  16 le64 files                72 le32 height of the map
///  24 le64 links                76 le32 segments
///  32 le64 folders              80 le64 number of the version
///  40 le64 sum of files' sizes  88 id of the attributes; zeros: none
///  48 id of the map's root     120 le32 length of the pack's name, the name
///                                  ids of the segments that its extents name, 16 bytes each, in order of first use
///
/// The layout contains pack, version and attributes so that a store can be rebuilt from its segments alone. *Attributes* are a
/// version's metadata other than its content: policies, platforms. The core stores them as a page and does not interpret them.
///
/// Catalog entry: u8 kind (low 2 bits) and flags, then
///   file    varint size, varint chunk count, and either a row per chunk, or (PKS__ENTRY_LISTED) u8 height and id of a
///           list of rows. Chunk row: 32 bytes id, le32 length. Sizes of the chunks add up to the file's.
///   link    the target
///   folder  nothing; only empty folders have entries
///
/// Layout entry of a file that has bytes: u8 flags (PKS__ENTRY_LISTED, PKS__ENTRY_MAPPED or 0), varint extent count, and
/// either the extents or (same rule) u8 height and id of a list.
///
/// Layout extent: 16 bytes segment id, le32 frame within the segment, le32 bytes to skip in the frame, le64 length. It
/// runs through consecutive frames.
#ifndef PKS_CATALOG_H
#define PKS_CATALOG_H

#include "catalog/tree.h"
#include "catalog/tree_cursor.h"
#include "catalog/tree_writer.h"

enum {
  PKS__CATALOG_ROOT_SIZE = 80,
  PKS__ENTRY_KIND_MASK = 3,  ///< pks__record_kind
  PKS__ENTRY_EXECUTABLE = 4,
  PKS__ENTRY_LISTED = 8,
  PKS__ENTRY_MAPPED = 16,       ///< layouts: a map asset, in one extent
  PKS__ENTRY_INLINE_ROWS = 64,  ///< more rows than this go to a list of their own
};

typedef struct pks__catalog_chunk {
  pks__id id;
  pks_le32 length;
} pks__catalog_chunk;

typedef struct pks__layout_extent {
  pks__segment_id segment;
  pks_le32 frame;
  pks_le32 skip;
  pks_le64 length;
} pks__layout_extent;

/// Numbers of a catalog.
typedef struct pks__catalog_info {
  uint32_t chunk_average;
  uint64_t file_count, link_count, folder_count, logical_bytes;
} pks__catalog_info;

// MARK: - Writing

/// Collects rows of one entry: inline while few, a list when many. Reused from entry to entry.
typedef struct pks__rows {
  pks__tree_writer list;
  pks__scratch inline_rows;
  uint64_t count;
  uint16_t row_size;
} pks__rows;

void pks__rows_init(pks__rows *rows, pks__page_sink sink, uint16_t row_size);
void pks__rows_free(pks__rows *rows);
pks_status pks__rows_append(pks__rows *rows, const void *row, pks_error *error);
/// Appends the count and the rows (or the list) to `value`; sets PKS__ENTRY_LISTED in `*flags` when a list was made.
/// Empties the collection.
pks_status pks__rows_finish(pks__rows *rows, pks__scratch *value, uint8_t *flags, pks_error *error);

/// Encodes a catalog entry to `value`, which is emptied first. `target` is the target of a link, `size` bytes; `chunks` are the
/// rows of a file, which are consumed.
pks_status pks__catalog_entry_encode(
  pks__scratch *value, pks__record_kind kind, bool executable, uint64_t size, const void *target, pks__rows *chunks,
  pks_error *error
);

/// Encodes a layout entry to `value`, which is emptied first. `extents` are used up.
pks_status pks__layout_entry_encode(pks__scratch *value, bool mapped, pks__rows *extents, pks_error *error);

pks_status pks__catalog_put_root(
  pks__page_sink sink, const pks__catalog_info *info, const pks__tree *map, pks__id *id, pks_error *error
);

/// The contents of a layout's root page.
typedef struct pks__layout_root {
  pks__id catalog;
  pks__tree map;  ///< its count is not known
  uint64_t number;
  pks__id attributes;  ///< zero: none
  char pack[PKS__PACK_NAME_MAX + 1];
} pks__layout_root;

pks_status pks__layout_put_root(
  pks__page_sink sink, const pks__layout_root *root, const pks__segment_id *segments, uint32_t segment_count,
  pks__id *id, pks_error *error
);

// MARK: - Reading

/// A decoded catalog entry. Everything is on loan from the cursor.
typedef struct pks__catalog_entry {
  const char *path;
  size_t path_length;
  const uint8_t *value;  ///< the whole encoded value: equal entries have equal values
  size_t value_length;
  pks__record_kind kind;
  bool executable;
  uint64_t size;          ///< for a link, the length of its target
  const uint8_t *target;  ///< target of a link
  uint64_t chunk_count;
  const pks__catalog_chunk *chunks;  ///< `chunk_count` rows, or NULL when they are in `list`
  pks__tree list;
} pks__catalog_entry;

pks_status pks__catalog_read_root(
  pks__page_source source, const pks__id *id, pks__catalog_info *info, pks__tree *map, pks_error *error
);
/// Decodes the entry at the cursor. CORRUPT when it breaks a rule.
pks_status pks__catalog_entry_read(const pks__tree_cursor *cursor, pks__catalog_entry *out, pks_error *error);

/// Decodes an entry from a path and a value that do not come from a cursor.
pks_status pks__catalog_entry_decode(
  const char *path, size_t path_length, const uint8_t *value, size_t value_length, pks__catalog_entry *out,
  pks_error *error
);

/// A decoded layout entry. Everything is on loan from the bytes.
typedef struct pks__layout_entry {
  bool mapped;
  uint64_t extent_count;
  const pks__layout_extent *extents;  ///< `extent_count` rows, or NULL when they are in `list`
  pks__tree list;
} pks__layout_entry;
/// False when it breaks a rule.
bool pks__layout_entry_decode(const uint8_t *value, size_t value_length, pks__layout_entry *out);

/// The chunks of an entry, one after another.
typedef struct pks__chunk_cursor {
  const pks__catalog_chunk *next;
  uint64_t left;
  bool listed;
  pks__tree_cursor list;
} pks__chunk_cursor;
void pks__chunk_cursor_init(pks__chunk_cursor *cursor, pks__page_source source, const pks__catalog_entry *entry);
void pks__chunk_cursor_free(pks__chunk_cursor *cursor);
pks_status pks__chunk_cursor_next(pks__chunk_cursor *cursor, pks__catalog_chunk *out, bool *more, pks_error *error);

/// The extents of a layout entry, one after another.
typedef struct pks__extent_cursor {
  const pks__layout_extent *next;
  uint64_t left;
  bool listed;
  pks__tree_cursor list;
} pks__extent_cursor;
void pks__extent_cursor_init(pks__extent_cursor *cursor, pks__page_source source, const pks__layout_entry *entry);
void pks__extent_cursor_free(pks__extent_cursor *cursor);
pks_status pks__extent_cursor_next(pks__extent_cursor *cursor, pks__layout_extent *out, bool *more, pks_error *error);

/// Whether a page begins as the root of a layout does, of the format that is read here.
bool pks__layout_is_root(const uint8_t *page, size_t length);
/// Root of a layout; the segments that it names are appended to `segments`. Errors: CORRUPT, NEWER_FORMAT, OTHER_DRAFT.
pks_status pks__layout_read_root(
  pks__page_source source, const pks__id *id, pks__layout_root *out, pks__scratch *segments, pks_error *error
);

/// The attributes of that id, none for zeros; `out` is emptied first. CORRUPT when there are too many bytes.
pks_status pks__attributes_read(pks__page_source source, const pks__id *id, pks__scratch *out, pks_error *error);

#endif
