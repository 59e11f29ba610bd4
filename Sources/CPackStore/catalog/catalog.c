#include "catalog/catalog.h"

#include "catalog/tree_cursor.h"
#include "catalog/tree_writer.h"

_Static_assert(sizeof(pks__catalog_chunk) == 36, "on-disk size");
_Static_assert(sizeof(pks__layout_extent) == 32, "on-disk size");

#define CATALOG_MAGIC "PKSC"
#define LAYOUT_MAGIC "PKSL"
enum { MAGIC_SIZE = 4 };

static pks_status corrupt(const char *text, const pks__id *id, pks_error *error) {
  char name[2 * PKS__ID_SIZE + 1];
  pks__hex(id->bytes, sizeof id->bytes, name);
  return pks__fail(error, PKS_CORRUPT, text, name, PKS_NO_OFFSET);
}

/// The first eight bytes of a root page: its type, and its format.
static bool read_head(pks__reader *reader, const char *magic, uint32_t *format) {
  const uint8_t *found = pks__read_bytes(reader, MAGIC_SIZE);
  *format = pks__read32(reader);
  return !reader->failed && memcmp(found, magic, MAGIC_SIZE) == 0;
}

static pks_status check_head(
  pks__reader *reader, const char *magic, const char *text, const pks__id *id, pks_error *error
) {
  char name[2 * PKS__ID_SIZE + 1];
  uint32_t format;
  if (!read_head(reader, magic, &format)) { return corrupt(text, id, error); }
  pks__hex(id->bytes, sizeof id->bytes, name);
  return pks__check_format(format, name, MAGIC_SIZE, error);
}

// MARK: - Rows

void pks__rows_init(pks__rows *rows, pks__page_sink sink, uint16_t row_size) {
  *rows = (pks__rows){.row_size = row_size};
  pks__tree_writer_init(&rows->list, sink, PKS__TREE_LIST, row_size);
}

void pks__rows_free(pks__rows *rows) {
  pks__tree_writer_free(&rows->list);
  pks__scratch_free(&rows->inline_rows);
}

/// The rows held back so far turn out to be a list's first.
static pks_status move_to_list(pks__rows *rows, pks_error *error) {
  for (uint64_t at = 0; at < rows->inline_rows.length; at += rows->row_size) {
    pks_status status = pks__tree_writer_append(&rows->list, rows->inline_rows.bytes + at, error);
    if (status) { return status; }
  }
  rows->inline_rows.length = 0;
  return PKS_OK;
}

pks_status pks__rows_append(pks__rows *rows, const void *row, pks_error *error) {
  rows->count++;
  if (rows->count <= PKS__ENTRY_INLINE_ROWS) {
    return pks__scratch_append(&rows->inline_rows, row, rows->row_size, error);
  }
  pks_status status = rows->inline_rows.length > 0 ? move_to_list(rows, error) : PKS_OK;
  return status ? status : pks__tree_writer_append(&rows->list, row, error);
}

pks_status pks__rows_finish(pks__rows *rows, pks__scratch *value, uint8_t *flags, pks_error *error) {
  uint8_t count[PKS__VARINT_MAX];
  pks_status status = pks__scratch_append(value, count, pks__put_varint(count, rows->count), error);
  if (!status && rows->count > PKS__ENTRY_INLINE_ROWS) {
    pks__tree list;
    status = pks__tree_writer_finish(&rows->list, &list, error);
    uint8_t height = (uint8_t)list.height;
    if (!status) { status = pks__scratch_append(value, &height, sizeof height, error); }
    if (!status) { status = pks__scratch_append(value, &list.root, sizeof list.root, error); }
    *flags |= PKS__ENTRY_LISTED;
  } else if (!status) {
    status = pks__scratch_append(value, rows->inline_rows.bytes, rows->inline_rows.length, error);
  }
  rows->count = 0;
  rows->inline_rows.length = 0;
  return status;
}

// MARK: - Entries

pks_status pks__catalog_entry_encode(
  pks__scratch *value, pks__record_kind kind, bool executable, uint64_t size, const void *target, pks__rows *chunks,
  pks_error *error
) {
  uint8_t flags = (uint8_t)(kind | (executable ? PKS__ENTRY_EXECUTABLE : 0)), varint[PKS__VARINT_MAX];
  value->length = 0;
  pks_status status = pks__scratch_append(value, &flags, sizeof flags, error);
  if (status || kind == PKS__RECORD_FOLDER) { return status; }
  if (kind == PKS__RECORD_LINK) { return pks__scratch_append(value, target, size, error); }
  status = pks__scratch_append(value, varint, pks__put_varint(varint, size), error);
  if (!status) { status = pks__rows_finish(chunks, value, &flags, error); }
  if (!status) { value->bytes[0] = flags; }
  return status;
}

pks_status pks__layout_entry_encode(pks__scratch *value, bool mapped, pks__rows *extents, pks_error *error) {
  uint8_t flags = mapped ? PKS__ENTRY_MAPPED : 0;
  value->length = 0;
  pks_status status = pks__scratch_append(value, &flags, sizeof flags, error);
  if (!status) { status = pks__rows_finish(extents, value, &flags, error); }
  if (!status) { value->bytes[0] = flags; }
  return status;
}

// MARK: - Roots

pks_status pks__catalog_put_root(
  pks__page_sink sink, const pks__catalog_info *info, const pks__tree *map, pks__id *id, pks_error *error
) {
  struct {
    uint8_t magic[4];
    pks_le32 format, average, height;
    pks_le64 files, links, folders, bytes;
    pks__id root;
  } page = {
    .format = pks__put32(PKS__FORMAT),
    .average = pks__put32(info->chunk_average),
    .height = pks__put32(map->height),
    .files = pks__put64(info->file_count),
    .links = pks__put64(info->link_count),
    .folders = pks__put64(info->folder_count),
    .bytes = pks__put64(info->logical_bytes),
    .root = map->root,
  };
  _Static_assert(sizeof page == PKS__CATALOG_ROOT_SIZE, "on-disk size");
  memcpy(page.magic, CATALOG_MAGIC, sizeof page.magic);
  return sink.put(sink.context, &page, sizeof page, id, error);
}

pks_status pks__catalog_read_root(
  pks__page_source source, const pks__id *id, pks__catalog_info *info, pks__tree *map, pks_error *error
) {
  pks__scratch page = {0};
  pks_status status = source.get(source.context, id, &page, error);
  if (!status) {
    pks__reader reader = pks__reader_make(page.bytes, (size_t)page.length);
    status = check_head(&reader, CATALOG_MAGIC, "the root page of the catalog is bad", id, error);
    info->chunk_average = pks__read32(&reader);
    map->height = pks__read32(&reader);
    info->file_count = pks__read64(&reader);
    info->link_count = pks__read64(&reader);
    info->folder_count = pks__read64(&reader);
    info->logical_bytes = pks__read64(&reader);
    map->count = info->file_count + info->link_count + info->folder_count;
    const uint8_t *root = pks__read_bytes(&reader, sizeof map->root);
    if (root) { memcpy(&map->root, root, sizeof map->root); }
    bool fits = !reader.failed && pks__reader_left(&reader) == 0;
    if (!status && !fits) { status = corrupt("the root page of the catalog is bad", id, error); }
  }
  pks__scratch_free(&page);
  return status;
}

pks_status pks__layout_put_root(
  pks__page_sink sink, const pks__layout_root *root, const pks__segment_id *segments, uint32_t segment_count,
  pks__id *id, pks_error *error
) {
  uint32_t name_length = (uint32_t)strlen(root->pack);
  struct {
    uint8_t magic[4];
    pks_le32 format;
    pks__id catalog, map;
    pks_le32 height, segment_count;
    pks_le64 number;
    pks__id attributes;
    pks_le32 name_length;
  } head = {
    .format = pks__put32(PKS__FORMAT),
    .catalog = root->catalog,
    .map = root->map.root,
    .height = pks__put32(root->map.height),
    .segment_count = pks__put32(segment_count),
    .number = pks__put64(root->number),
    .attributes = root->attributes,
    .name_length = pks__put32(name_length),
  };
  _Static_assert(sizeof head == 124, "on-disk size");
  memcpy(head.magic, LAYOUT_MAGIC, sizeof head.magic);
  pks__scratch page = {0};
  pks_status status = pks__scratch_append(&page, &head, sizeof head, error);
  if (!status) { status = pks__scratch_append(&page, root->pack, name_length, error); }
  if (!status) { status = pks__scratch_append(&page, segments, segment_count * sizeof *segments, error); }
  if (!status) { status = sink.put(sink.context, page.bytes, (size_t)page.length, id, error); }
  pks__scratch_free(&page);
  return status;
}

static bool read_layout_root(pks__reader *reader, pks__layout_root *out, uint64_t *segments_length) {
  const uint8_t *catalog = pks__read_bytes(reader, sizeof out->catalog);
  const uint8_t *map = pks__read_bytes(reader, sizeof out->map.root);
  out->map.height = pks__read32(reader);
  *segments_length = (uint64_t)pks__read32(reader) * sizeof(pks__segment_id);
  out->number = pks__read64(reader);
  const uint8_t *attributes = pks__read_bytes(reader, sizeof out->attributes);
  uint32_t name_length = pks__read32(reader);
  const uint8_t *name = name_length <= PKS__PACK_NAME_MAX ? pks__read_bytes(reader, name_length) : NULL;
  if (reader->failed || !name || pks__reader_left(reader) != *segments_length) { return false; }
  memcpy(&out->catalog, catalog, sizeof out->catalog);
  memcpy(&out->map.root, map, sizeof out->map.root);
  memcpy(&out->attributes, attributes, sizeof out->attributes);
  memcpy(out->pack, name, name_length);
  return pks__version_is_valid(out->number) && pks__pack_name_is_valid(out->pack) && strlen(out->pack) == name_length;
}

bool pks__layout_is_root(const uint8_t *page, size_t length) {
  pks__reader reader = pks__reader_make(page, length);
  uint32_t format;
  return read_head(&reader, LAYOUT_MAGIC, &format) && format == PKS__FORMAT;
}

pks_status pks__layout_read_root(
  pks__page_source source, const pks__id *id, pks__layout_root *out, pks__scratch *segments, pks_error *error
) {
  pks__scratch page = {0};
  uint64_t length;
  *out = (pks__layout_root){0};
  pks_status status = source.get(source.context, id, &page, error);
  if (!status) {
    pks__reader reader = pks__reader_make(page.bytes, (size_t)page.length);
    status = check_head(&reader, LAYOUT_MAGIC, "the root page of the layout is bad", id, error);
    if (!status && !read_layout_root(&reader, out, &length)) {
      status = corrupt("the root page of the layout is bad", id, error);
    }
    if (!status) { status = pks__scratch_append(segments, reader.next, length, error); }
  }
  pks__scratch_free(&page);
  return status;
}

pks_status pks__attributes_read(pks__page_source source, const pks__id *id, pks__scratch *out, pks_error *error) {
  out->length = 0;
  if (pks__id_is_zero(id)) { return PKS_OK; }
  pks_status status = source.get(source.context, id, out, error);
  bool fits = !status && out->length > 0 && out->length <= PKS_ATTRIBUTES_MAX;
  return status || fits ? status : corrupt("the length of its attributes is impossible", id, error);
}

// MARK: - Entries

static bool read_file_entry(pks__reader *reader, uint8_t flags, pks__catalog_entry *entry) {
  entry->size = pks__read_varint(reader);
  entry->chunk_count = pks__read_varint(reader);
  bool listed = entry->chunk_count > PKS__ENTRY_INLINE_ROWS;
  if (reader->failed || listed != ((flags & PKS__ENTRY_LISTED) != 0)) { return false; }
  if ((entry->size == 0) != (entry->chunk_count == 0) || entry->chunk_count > entry->size) { return false; }
  if (listed) {
    entry->list.height = pks__read8(reader);
    const uint8_t *root = pks__read_bytes(reader, sizeof entry->list.root);
    if (root) { memcpy(&entry->list.root, root, sizeof entry->list.root); }
    entry->list.count = entry->chunk_count;
  } else {
    size_t length = (size_t)entry->chunk_count * sizeof(pks__catalog_chunk);
    entry->chunks = (const pks__catalog_chunk *)(const void *)pks__read_bytes(reader, length);
  }
  return !reader->failed && pks__reader_left(reader) == 0;
}

pks_status pks__catalog_entry_read(const pks__tree_cursor *cursor, pks__catalog_entry *out, pks_error *error) {
  size_t path_length;
  const char *path = pks__tree_cursor_key(cursor, &path_length);
  return pks__catalog_entry_decode(path, path_length, cursor->value, cursor->value_length, out, error);
}

pks_status pks__catalog_entry_decode(
  const char *path, size_t path_length, const uint8_t *value, size_t value_length, pks__catalog_entry *out,
  pks_error *error
) {
  pks__catalog_entry entry = {.path = path, .path_length = path_length, .value = value, .value_length = value_length};
  pks__reader reader = pks__reader_make(value, value_length);
  uint8_t flags = pks__read8(&reader);
  entry.kind = (pks__record_kind)(flags & PKS__ENTRY_KIND_MASK);
  entry.executable = flags & PKS__ENTRY_EXECUTABLE;
  bool fits = false;
  switch (entry.kind) {
    case PKS__RECORD_FILE:
      fits = (flags & ~(PKS__ENTRY_KIND_MASK | PKS__ENTRY_EXECUTABLE | PKS__ENTRY_LISTED)) == 0
        && read_file_entry(&reader, flags, &entry);
      break;
    case PKS__RECORD_LINK:
      entry.size = pks__reader_left(&reader);
      entry.target = reader.next;
      fits = flags == PKS__RECORD_LINK && entry.size > 0 && entry.size <= PKS__LINK_TARGET_MAX;
      break;
    case PKS__RECORD_FOLDER: fits = flags == PKS__RECORD_FOLDER && pks__reader_left(&reader) == 0; break;
    case PKS__RECORD_ABSENT: break;
  }
  if (!fits || !pks__path_is_valid(entry.path, entry.path_length)) {
    return pks__fail_at_path(error, PKS_CORRUPT, "bad entry of a catalog", entry.path, entry.path_length);
  }
  *out = entry;
  return PKS_OK;
}

bool pks__layout_entry_decode(const uint8_t *value, size_t value_length, pks__layout_entry *out) {
  pks__reader reader = pks__reader_make(value, value_length);
  uint8_t flags = pks__read8(&reader);
  *out = (pks__layout_entry){.mapped = flags & PKS__ENTRY_MAPPED, .extent_count = pks__read_varint(&reader)};
  bool listed = out->extent_count > PKS__ENTRY_INLINE_ROWS;
  bool is_known = (flags & ~(PKS__ENTRY_LISTED | PKS__ENTRY_MAPPED)) == 0;
  if (reader.failed || !is_known || out->extent_count == 0 || listed != ((flags & PKS__ENTRY_LISTED) != 0)) {
    return false;
  }
  if (listed) {
    out->list.height = pks__read8(&reader);
    const uint8_t *root = pks__read_bytes(&reader, sizeof out->list.root);
    if (root) { memcpy(&out->list.root, root, sizeof out->list.root); }
    out->list.count = out->extent_count;
  } else {
    size_t length = (size_t)out->extent_count * sizeof(pks__layout_extent);
    out->extents = (const pks__layout_extent *)(const void *)pks__read_bytes(&reader, length);
  }
  return !reader.failed && pks__reader_left(&reader) == 0;
}

// MARK: - Chunks of an entry

void pks__chunk_cursor_init(pks__chunk_cursor *cursor, pks__page_source source, const pks__catalog_entry *entry) {
  *cursor = (pks__chunk_cursor){.next = entry->chunks, .left = entry->chunk_count, .listed = !entry->chunks};
  if (cursor->listed && cursor->left > 0) {
    pks__tree_cursor_init(&cursor->list, source, PKS__TREE_LIST, sizeof(pks__catalog_chunk), &entry->list);
  }
}

void pks__chunk_cursor_free(pks__chunk_cursor *cursor) { pks__tree_cursor_free(&cursor->list); }

pks_status pks__chunk_cursor_next(pks__chunk_cursor *cursor, pks__catalog_chunk *out, bool *more, pks_error *error) {
  *more = cursor->left > 0;
  if (!*more) { return PKS_OK; }
  cursor->left--;
  if (!cursor->listed) {
    *out = *cursor->next++;
    return PKS_OK;
  }
  bool has_next = false;
  pks_status status = pks__tree_cursor_next(&cursor->list, &has_next, error);
  if (status) { return status; }
  if (!has_next) { return corrupt("a list of chunks is too short", &cursor->list.root, error); }
  memcpy(out, cursor->list.value, sizeof *out);
  return PKS_OK;
}

// MARK: - Extents of an entry

void pks__extent_cursor_init(pks__extent_cursor *cursor, pks__page_source source, const pks__layout_entry *entry) {
  *cursor = (pks__extent_cursor){.next = entry->extents, .left = entry->extent_count, .listed = !entry->extents};
  if (cursor->listed) {
    pks__tree_cursor_init(&cursor->list, source, PKS__TREE_LIST, sizeof(pks__layout_extent), &entry->list);
  }
}

void pks__extent_cursor_free(pks__extent_cursor *cursor) { pks__tree_cursor_free(&cursor->list); }

pks_status pks__extent_cursor_next(pks__extent_cursor *cursor, pks__layout_extent *out, bool *more, pks_error *error) {
  *more = cursor->left > 0;
  if (!*more) { return PKS_OK; }
  cursor->left--;
  if (!cursor->listed) {
    *out = *cursor->next++;
    return PKS_OK;
  }
  pks_status status = pks__tree_cursor_next(&cursor->list, more, error);
  if (!status && *more) { memcpy(out, cursor->list.value, sizeof *out); }
  return status;
}
