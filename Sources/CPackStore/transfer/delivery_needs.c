/// What a delivery needs: missing chunks, where the site's layout says that they lie, and the frames that hold them.
#include "transfer/delivery_needs.h"

#include <string.h>

#include "base/sort.h"
#include "catalog/tree_cursor.h"
#include "store/chunk_lookup.h"
#include "transfer/delivery_pages.h"

static pks__needy_file *file_at(pks_delivery *delivery, uint64_t index) {
  return PKS__SCRATCH_AT(&delivery->files, pks__needy_file, index);
}

static pks__missing_chunk *chunk_at(const pks_delivery *delivery, uint64_t index) {
  return PKS__SCRATCH_AT(&delivery->chunks, pks__missing_chunk, index);
}

static const char *text_at(const pks_delivery *delivery, uint64_t offset) {
  return (const char *)delivery->texts.bytes + offset;
}

static pks_status corrupt_file(
  const pks_delivery *delivery, const pks__needy_file *file, const char *text, pks_error *error
) {
  return pks__fail_at_path(error, PKS_CORRUPT, text, text_at(delivery, file->path), file->path_length);
}

static pks_status append_text(
  pks_delivery *delivery, const void *bytes, size_t byte_count, uint64_t *offset, pks_error *error
) {
  *offset = delivery->texts.length;
  return pks__scratch_append(&delivery->texts, bytes, byte_count, error);
}

// MARK: - The catalog

/// The walk over the catalog, beside that of the current version.
typedef struct scan {
  pks_delivery *delivery;
  pks__tree_cursor entries, old_entries;
  bool more, old_more;
  pks__scratch last_path;   ///< those before it, as far as they begin it, lie in it
  pks__scratch beginnings;  ///< uint32_t: their lengths
  uint64_t chunk_count;     ///< of the whole version
} scan;

/// Whether no file, link or empty folder stands where the path needs a folder. Paths that begin like another one come
/// right after it, so that those which begin this one are among those that begin the last.
static pks_status check_folders(scan *scan, const pks__catalog_entry *entry, pks_error *error) {
  const char *path = entry->path;
  uint64_t kept = 0;
  for (uint64_t i = 0; i < PKS__SCRATCH_COUNT(&scan->beginnings, uint32_t); i++) {
    uint32_t length = *PKS__SCRATCH_AT(&scan->beginnings, const uint32_t, i);
    bool begins = length < entry->path_length && memcmp(scan->last_path.bytes, path, length) == 0;
    if (!begins) { break; }
    if (path[length] == '/') {
      return pks__fail_at_path(
        error, PKS_CORRUPT, "an entry of the catalog stands where another needs a folder", path, entry->path_length
      );
    }
    kept = i + 1;
  }
  uint32_t length = (uint32_t)entry->path_length;
  scan->beginnings.length = kept * sizeof(uint32_t);
  scan->last_path.length = 0;
  pks_status status = pks__scratch_append(&scan->beginnings, &length, sizeof length, error);
  return status ? status : pks__scratch_append(&scan->last_path, path, entry->path_length, error);
}

/// Whether the current version lacks this very entry.
static pks_status is_changed(scan *scan, const pks__catalog_entry *entry, bool *changed, pks_error *error) {
  *changed = true;
  while (scan->old_more) {
    size_t length;
    const char *old = pks__tree_cursor_key(&scan->old_entries, &length);
    int order = pks__compare_bytes(old, length, entry->path, entry->path_length);
    if (order > 0) { return PKS_OK; }
    if (order == 0) {
      const pks__tree_cursor *at = &scan->old_entries;
      *changed = at->value_length != entry->value_length || memcmp(at->value, entry->value, at->value_length) != 0;
      return PKS_OK;
    }
    pks_status status = pks__tree_cursor_next(&scan->old_entries, &scan->old_more, error);
    if (status) { return status; }
  }
  return PKS_OK;
}

static const pks__id *missing_id(const void *context, uint32_t index) { return &chunk_at(context, index)->id; }

/// The length of a chunk that is known: to come, new, or in the base. 0 when it is not known.
static pks_status known_length(pks_delivery *delivery, const pks__id *id, uint32_t *length, pks_error *error) {
  uint32_t index;
  *length = 0;
  if (pks__hash_map_find_id(&delivery->missing, id, missing_id, delivery, &index)) {
    *length = chunk_at(delivery, index)->length;
    return PKS_OK;
  }
  if (pks__ingest_find_new(&delivery->ingest, id, &index)) {
    *length = PKS__SCRATCH_AT(&delivery->ingest.frames.places, const pks__new_place, index)->length;
    return PKS_OK;
  }
  pks__chunk_ref ref;
  pks__chunk_place place;
  bool found;
  pks_status status = pks__snapshot_find_chunk(delivery->base, id, PKS__SEGMENT_DATA, &ref, &found, error);
  if (status || !found) { return status; }
  status = pks__segment_chunk(ref.segment, ref.row, &place, error);
  if (!status) { *length = place.end - place.begin; }
  return status;
}

static pks_status add_missing(
  pks_delivery *delivery, const pks__catalog_chunk *chunk, uint64_t file, uint64_t offset, bool is_listed,
  pks_error *error
) {
  uint64_t count = PKS__SCRATCH_COUNT(&delivery->chunks, pks__missing_chunk);
  if (count >= PKS__NO_CHUNK || file >= UINT32_MAX) {
    return pks__delivery_corrupt(delivery, "too many chunks for one pack", error);
  }
  pks__missing_chunk row = {
    .id = chunk->id,
    .length = pks__get32(chunk->length),
    .file = (uint32_t)file,
    .offset = offset,
    .next = PKS__NO_CHUNK,
  };
  pks_status status = pks__scratch_append(&delivery->chunks, &row, sizeof row, error);
  if (status || !is_listed) { return status; }
  return pks__hash_map_insert_id(&delivery->missing, &chunk->id, (uint32_t)count, error);
}

/// Takes note of a chunk of a file, if it is missing.
static pks_status scan_chunk(
  scan *scan, const pks__catalog_entry *entry, const pks__catalog_chunk *chunk, uint64_t offset, pks_error *error
) {
  pks_delivery *delivery = scan->delivery;
  uint32_t length = pks__get32(chunk->length), known;
  if (length == 0 || length > delivery->ingest.chunker.maximum) {
    const char *text = "the asset has a chunk that no chunker makes";
    return pks__fail_at_path(error, PKS_CORRUPT, text, entry->path, entry->path_length);
  }
  pks_status status = known_length(delivery, &chunk->id, &known, error);
  if (status || known == length) { return status; }
  uint64_t file = PKS__SCRATCH_COUNT(&delivery->files, pks__needy_file);
  if (known == 0) { return add_missing(delivery, chunk, file, offset, true, error); }
  const char *text = "a chunk of the asset has another length than elsewhere";
  return pks__fail_at_path(error, PKS_CORRUPT, text, entry->path, entry->path_length);
}

static pks_status scan_chunks(scan *scan, const pks__catalog_entry *entry, pks_error *error) {
  // Lists may have the same page many times, so few pages can speak of any number of chunks.
  if (entry->chunk_count > UINT32_MAX - scan->chunk_count) {
    return pks__fail_at_path(
      error, PKS_CORRUPT, "the version has more chunks than can be numbered", entry->path, entry->path_length
    );
  }
  scan->chunk_count += entry->chunk_count;
  pks__chunk_cursor chunks;
  pks__chunk_cursor_init(&chunks, pks__delivery_pages(scan->delivery), entry);
  uint64_t size = 0;
  pks_status status = PKS_OK;
  for (bool more = true; !status && more;) {
    pks__catalog_chunk chunk;
    status = pks__chunk_cursor_next(&chunks, &chunk, &more, error);
    if (status || !more) { break; }
    status = scan_chunk(scan, entry, &chunk, size, error);
    size += pks__get32(chunk.length);
  }
  pks__chunk_cursor_free(&chunks);
  if (status || size == entry->size) { return status; }
  const char *text = "the chunks of the asset do not make up its size";
  return pks__fail_at_path(error, PKS_CORRUPT, text, entry->path, entry->path_length);
}

static pks_status scan_file(scan *scan, const pks__catalog_entry *entry, pks_error *error) {
  pks_delivery *delivery = scan->delivery;
  pks__needy_file file = {
    .path_length = (uint32_t)entry->path_length,
    .size = entry->size,
    .chunk_count = entry->chunk_count,
    .entry_length = (uint32_t)entry->value_length,
    .first = PKS__SCRATCH_COUNT(&delivery->chunks, pks__missing_chunk),
  };
  bool changed;
  pks_status status = scan_chunks(scan, entry, error);
  if (!status) { status = is_changed(scan, entry, &changed, error); }
  file.end = PKS__SCRATCH_COUNT(&delivery->chunks, pks__missing_chunk);
  if (status || (file.first == file.end && !changed) || entry->size == 0) { return status; }
  status = append_text(delivery, entry->path, entry->path_length, &file.path, error);
  if (!status) { status = append_text(delivery, entry->value, entry->value_length, &file.entry, error); }
  return status ? status : pks__scratch_append(&delivery->files, &file, sizeof file, error);
}

static pks_status scan_entry(scan *scan, pks_error *error) {
  pks__catalog_entry entry;
  pks_status status = pks__catalog_entry_read(&scan->entries, &entry, error);
  if (!status) { status = check_folders(scan, &entry, error); }
  if (!status && entry.kind == PKS__RECORD_FILE) { status = scan_file(scan, &entry, error); }
  return status ? status : pks__tree_cursor_next(&scan->entries, &scan->more, error);
}

/// Begins with the catalog of the pack's current version. One that cannot be read any more has nothing to compare with.
static void open_old(scan *scan) {
  const pks_delivery *delivery = scan->delivery;
  uint32_t pack = delivery->ingest.base_pack;
  if (pack == UINT32_MAX) { return; }
  pks__page_source pages = pks__snapshot_pages(delivery->base);
  pks__catalog_info info;
  pks__tree map;
  if (pks__catalog_read_root(pages, &delivery->base->generation.packs[pack].versions[0].catalog, &info, &map, NULL)) {
    return;
  }
  pks__tree_cursor_init(&scan->old_entries, pages, PKS__TREE_MAP, 0, &map);
  if (pks__tree_cursor_next(&scan->old_entries, &scan->old_more, NULL)) { scan->old_more = false; }
}

pks_status pks__delivery_find_needs(pks_delivery *delivery, pks_error *error) {
  scan scan = {.delivery = delivery};
  pks__catalog_info info;
  pks__tree map;
  pks__page_source pages = pks__delivery_pages(delivery);
  pks_status status = pks__catalog_read_root(pages, &delivery->catalog, &info, &map, error);
  if (status) { return status; }
  pks__tree_cursor_init(&scan.entries, pages, PKS__TREE_MAP, 0, &map);
  open_old(&scan);
  status = pks__tree_cursor_next(&scan.entries, &scan.more, error);
  while (!status && scan.more) { status = scan_entry(&scan, error); }
  pks__tree_cursor_free(&scan.entries);
  pks__tree_cursor_free(&scan.old_entries);
  pks__scratch_free(&scan.last_path);
  pks__scratch_free(&scan.beginnings);
  return status;
}

// MARK: - The layout

pks_status pks__delivery_need_layout(pks_delivery *delivery, pks_error *error) {
  uint64_t count = PKS__SCRATCH_COUNT(&delivery->files, pks__needy_file);
  if (count == 0) { return PKS_OK; }
  pks__layout_root root;
  pks__scratch segments = {0};
  pks_status status = pks__layout_read_root(pks__delivery_pages(delivery), &delivery->layout, &root, &segments, error);
  pks__scratch_free(&segments);
  if (status) { return status; }
  if (!pks__id_equal(&root.catalog, &delivery->catalog)) {
    return pks__delivery_corrupt(delivery, "the layout is that of another catalog", error);
  }
  if (!pks__id_equal(&root.attributes, &delivery->attributes)) {
    return pks__delivery_corrupt(delivery, "the layout names other attributes", error);
  }
  return pks__delivery_need_page(delivery, &root.map.root, PKS__ROLE_LAYOUT, root.map.height, 0, count, error);
}

/// A look into one page of the layout.
typedef struct layout_glance {
  pks_delivery *delivery;
  const pks__page_task *task;
  uint64_t at;  ///< needy file that comes next
} layout_glance;

/// How the next needy file stands to a key of the page.
static int compare_next(const layout_glance *glance, const pks__tree_item *item) {
  const pks__needy_file *file = file_at(glance->delivery, glance->at);
  return pks__compare_bytes(text_at(glance->delivery, file->path), file->path_length, item->key, item->key_length);
}

/// The key of a child is the last one below it.
static pks_status need_part(void *context, const pks__tree_item *item, pks_error *error) {
  layout_glance *glance = context;
  uint64_t first = glance->at;
  while (glance->at < glance->task->end_file && compare_next(glance, item) <= 0) { glance->at++; }
  if (first == glance->at) { return PKS_OK; }
  pks__id child = pks__tree_child(item);
  return pks__delivery_need_page(
    glance->delivery, &child, PKS__ROLE_LAYOUT, glance->task->level - 1u, first, glance->at, error
  );
}

static pks_status take_layout_entry(
  pks_delivery *delivery, uint64_t index, const pks__tree_item *item, pks_error *error
) {
  pks__layout_entry entry;
  pks__needy_file *file = file_at(delivery, index);
  bool fits = pks__layout_entry_decode(item->body, item->body_length, &entry) && entry.extent_count <= file->chunk_count
    && (!entry.mapped || entry.extent_count == 1);
  if (!fits) { return corrupt_file(delivery, file, "bad layout entry", error); }
  file->mapped = entry.mapped;
  file->layout_length = (uint32_t)item->body_length;
  pks_status status = append_text(delivery, item->body, item->body_length, &file->layout, error);
  if (status || entry.extents || file->first == file->end) { return status; }
  return pks__delivery_need_page(delivery, &entry.list.root, PKS__ROLE_EXTENTS, entry.list.height, 0, 0, error);
}

static pks_status take_file(void *context, const pks__tree_item *item, pks_error *error) {
  layout_glance *glance = context;
  if (glance->at == glance->task->end_file) { return PKS_OK; }
  int order = compare_next(glance, item);
  if (order > 0) { return PKS_OK; }
  if (order < 0) {
    return corrupt_file(
      glance->delivery, file_at(glance->delivery, glance->at), "the layout does not have the asset", error
    );
  }
  return take_layout_entry(glance->delivery, glance->at++, item, error);
}

pks_status pks__delivery_read_layout(
  pks_delivery *delivery, const pks__page_task *task, pks__scratch *page, pks_error *error
) {
  layout_glance glance = {.delivery = delivery, .task = task, .at = task->first_file};
  pks_status status = pks__tree_visit_items(
    page, &task->id, PKS__TREE_MAP, 0, task->level, task->level > 0 ? need_part : take_file, &glance, error
  );
  if (status || glance.at == task->end_file) { return status; }
  return corrupt_file(delivery, file_at(delivery, glance.at), "the layout does not have the asset", error);
}

// MARK: - Where chunks lie

/// The extents of a file, one after another.
typedef struct extent_walk {
  pks_delivery *delivery;
  const pks__needy_file *file;
  const pks__layout_extent *next;
  uint64_t left;
  bool listed;
  pks__tree_cursor list;
  pks__layout_extent extent;  ///< the present one, [begin, end) of the file
  uint64_t begin, end;
} extent_walk;

static void open_extents(extent_walk *walk, pks_delivery *delivery, const pks__needy_file *file) {
  pks__layout_entry entry;
  const uint8_t *value = delivery->texts.bytes + file->layout;
  bool decodes = pks__layout_entry_decode(value, file->layout_length, &entry);
  PKS_ASSERT(decodes);
  *walk = (extent_walk){
    .delivery = delivery,
    .file = file,
    .next = entry.extents,
    .left = entry.extent_count,
    .listed = !entry.extents,
  };
  if (walk->listed) {
    pks__tree_cursor_init(
      &walk->list, pks__delivery_pages(delivery), PKS__TREE_LIST, sizeof(pks__layout_extent), &entry.list
    );
  }
}

static pks_status next_extent(extent_walk *walk, pks_error *error) {
  bool more = walk->left > 0;
  pks_status status = PKS_OK;
  if (more && walk->listed) {
    status = pks__tree_cursor_next(&walk->list, &more, error);
    if (!status && more) { memcpy(&walk->extent, walk->list.value, sizeof walk->extent); }
  } else if (more) {
    walk->extent = *walk->next++;
  }
  if (status) { return status; }
  walk->left -= more;
  uint64_t length = more ? pks__get64(walk->extent.length) : 0;
  walk->begin = walk->end;
  bool fits = length > 0 && length <= walk->file->size - walk->begin;
  if (!fits) { return corrupt_file(walk->delivery, walk->file, "the layout does not lead to all of the asset", error); }
  walk->end += length;
  return PKS_OK;
}

/// Moves to the extent that holds a chunk.
static pks_status seek_extent(extent_walk *walk, const pks__missing_chunk *chunk, pks_error *error) {
  while (chunk->offset >= walk->end) {
    pks_status status = next_extent(walk, error);
    if (status) { return status; }
  }
  if (chunk->length <= walk->end - chunk->offset) { return PKS_OK; }
  return corrupt_file(walk->delivery, walk->file, "a chunk of the asset does not lie in one piece", error);
}

static uint32_t segment_of(const pks_delivery *delivery, const pks__segment_id *id) {
  uint64_t key = pks__hash_map_key(&delivery->segments_by_id, id, sizeof *id), probe = 0;
  uint32_t index;
  while (pks__hash_map_next(&delivery->segments_by_id, key, &probe, &index)) {
    const pks__site_segment *segment = pks__delivery_segment(delivery, index);
    if (memcmp(segment->info.id, id->bytes, sizeof id->bytes) == 0) { return index; }
  }
  return UINT32_MAX;
}

/// The data segment of the present extent.
static pks_status find_segment(const extent_walk *walk, uint32_t *out, pks_error *error) {
  *out = segment_of(walk->delivery, &walk->extent.segment);
  bool fits = *out != UINT32_MAX && !pks__delivery_segment(walk->delivery, *out)->info.is_metadata;
  if (fits) { return PKS_OK; }
  return corrupt_file(walk->delivery, walk->file, "the layout names a segment that the version does not have", error);
}

/// Visits the missing chunks of a file, each with the extent that holds it.
static pks_status visit_file(
  pks_delivery *delivery, const pks__needy_file *file,
  pks_status (*visit)(extent_walk *walk, uint32_t segment, uint64_t chunk, pks_error *error), pks_error *error
) {
  extent_walk walk;
  open_extents(&walk, delivery, file);
  pks_status status = PKS_OK;
  for (uint64_t i = file->first; !status && i < file->end; i++) {
    uint32_t segment;
    status = seek_extent(&walk, chunk_at(delivery, i), error);
    if (!status) { status = find_segment(&walk, &segment, error); }
    if (!status) { status = visit(&walk, segment, i, error); }
  }
  pks__tree_cursor_free(&walk.list);
  return status;
}

static pks_status visit_files(
  pks_delivery *delivery, pks_status (*visit)(extent_walk *walk, uint32_t segment, uint64_t chunk, pks_error *error),
  pks_error *error
) {
  pks_status status = PKS_OK;
  for (uint64_t i = 0; !status && i < PKS__SCRATCH_COUNT(&delivery->files, pks__needy_file); i++) {
    pks__needy_file file = *file_at(delivery, i);
    if (file.first < file.end) { status = visit_file(delivery, &file, visit, error); }
  }
  return status;
}

// MARK: - Map assets

/// How much of a map asset came already in one piece, from a page on.
typedef struct arrived_part {
  uint64_t bytes;
  uint64_t chunks;
  bool is_last;  ///< nothing else was written since: what comes next will abut
} arrived_part;

static pks_status open_chunks(
  pks_delivery *delivery, const pks__needy_file *file, pks__chunk_cursor *out, pks_error *error
) {
  pks__catalog_entry entry;
  pks_status status = pks__catalog_entry_decode(
    text_at(delivery, file->path), file->path_length, delivery->texts.bytes + file->entry, file->entry_length, &entry,
    error
  );
  if (!status) { pks__chunk_cursor_init(out, pks__delivery_pages(delivery), &entry); }
  return status;
}

/// How much of the asset lies from new chunk `number` on, where its first one is.
static pks_status measure_arrived(
  pks_delivery *delivery, const pks__needy_file *file, const pks__written_chunks *written, uint32_t number,
  arrived_part *out, pks_error *error
) {
  pks__chunk_cursor chunks;
  pks_status status = open_chunks(delivery, file, &chunks, error);
  if (status) { return status; }
  *out = (arrived_part){0};
  for (bool more = true; more;) {
    pks__catalog_chunk chunk;
    uint64_t at = number + out->chunks;
    status = pks__chunk_cursor_next(&chunks, &chunk, &more, error);
    if (status || !more || at >= written->count) { break; }
    const pks__id *id = PKS__SCRATCH_AT(&delivery->ingest.new_ids, const pks__id, at);
    bool goes_on = out->chunks == 0 || written->follows(written->context, (uint32_t)at);
    if (!goes_on || !pks__id_equal(id, &chunk.id)) { break; }
    out->chunks++;
    out->bytes += pks__get32(chunk.length);
  }
  out->is_last = number + out->chunks == written->count;
  pks__chunk_cursor_free(&chunks);
  return status;
}

/// The largest part of a map asset that came already.
static pks_status find_arrived(
  pks_delivery *delivery, const pks__needy_file *file, arrived_part *out, pks_error *error
) {
  enum { COPIES_MAX = 16 };
  pks__written_chunks written = pks__ingest_written(&delivery->ingest);
  pks__chunk_cursor chunks;
  pks__catalog_chunk first;
  bool more;
  *out = (arrived_part){0};
  pks_status status = open_chunks(delivery, file, &chunks, error);
  if (status) { return status; }
  status = pks__chunk_cursor_next(&chunks, &first, &more, error);
  pks__chunk_cursor_free(&chunks);
  uint64_t probe = 0;
  uint32_t number;
  for (uint32_t copies = 0; !status && copies < COPIES_MAX; copies++) {
    arrived_part part;
    if (!written.next(written.context, &first.id, &probe, &number)) { break; }
    if (!written.begins(written.context, number)) { continue; }
    status = measure_arrived(delivery, file, &written, number, &part, error);
    if (!status && part.bytes >= out->bytes) { *out = part; }
  }
  return status;
}

/// Lists all chunks of a map asset from `part` on as missing, in the place of those that are.
static pks_status list_all_chunks(pks_delivery *delivery, uint64_t index, const arrived_part *part, pks_error *error) {
  pks__needy_file *file = file_at(delivery, index);
  pks__chunk_cursor chunks;
  pks_status status = open_chunks(delivery, file, &chunks, error);
  if (status) { return status; }
  file->first = PKS__SCRATCH_COUNT(&delivery->chunks, pks__missing_chunk);
  uint64_t offset = 0, number = 0;
  for (bool more = true; !status && more; number++) {
    pks__catalog_chunk chunk;
    status = pks__chunk_cursor_next(&chunks, &chunk, &more, error);
    if (!status && more && number >= part->chunks) {
      status = add_missing(delivery, &chunk, index, offset, false, error);
    }
    if (more) { offset += pks__get32(chunk.length); }
  }
  pks__chunk_cursor_free(&chunks);
  file->end = PKS__SCRATCH_COUNT(&delivery->chunks, pks__missing_chunk);
  return status;
}

/// A map asset of which nearly all is new comes as a whole, known chunks and repeated ones included: then it lies as a
/// map asset must as soon as it is there, and need not be written twice. One of which a part came already goes on where
/// that ends, or else only what is missing of it comes.
static pks_status complete_mapped(pks_delivery *delivery, pks_error *error) {
  pks_status status = PKS_OK;
  for (uint64_t i = 0; !status && i < PKS__SCRATCH_COUNT(&delivery->files, pks__needy_file); i++) {
    const pks__needy_file *file = file_at(delivery, i);
    if (!file->mapped || file->first == file->end) { continue; }
    uint64_t missing = 0;
    for (uint64_t at = file->first; at < file->end; at++) { missing += chunk_at(delivery, at)->length; }
    arrived_part part;
    status = find_arrived(delivery, file, &part, error);
    bool is_nearly_new = missing >= (file->size - part.bytes) - (file->size - part.bytes) / 8;
    bool goes_on = part.chunks == 0 || part.is_last;
    if (!status && is_nearly_new && goes_on) { status = list_all_chunks(delivery, i, &part, error); }
  }
  return status;
}

// MARK: - Tables

static pks_status note_segment(extent_walk *walk, uint32_t segment, uint64_t chunk, pks_error *error) {
  (void)chunk;
  pks_delivery *delivery = walk->delivery;
  pks__site_segment *site = pks__delivery_segment(delivery, segment);
  if (site->is_needed) { return PKS_OK; }
  site->is_needed = true;
  return pks__scratch_append(&delivery->needed_segments, &segment, sizeof segment, error);
}

pks_status pks__delivery_want_tables(pks_delivery *delivery, pks_error *error) {
  pks_status status = complete_mapped(delivery, error);
  if (!status) { status = visit_files(delivery, note_segment, error); }
  for (uint64_t i = 0; !status && i < PKS__SCRATCH_COUNT(&delivery->needed_segments, uint32_t); i++) {
    status = pks__delivery_want_table(delivery, *PKS__SCRATCH_AT(&delivery->needed_segments, const uint32_t, i), error);
  }
  return status;
}

// MARK: - The plan

/// The frame, from `first` on, whose raw bytes hold `position` of all raw bytes of the segment.
static uint32_t frame_holding(const uint64_t *starts, uint32_t first, uint32_t count, uint64_t position) {
  uint32_t low = first, high = count;
  while (high - low > 1) {
    uint32_t middle = low + (high - low) / 2;
    if (starts[middle] <= position) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

/// Notes with its frame that a chunk lies there.
static pks_status place_chunk(extent_walk *walk, uint32_t segment, uint64_t index, pks_error *error) {
  pks_delivery *delivery = walk->delivery;
  const pks__site_segment *site = pks__delivery_segment(delivery, segment);
  pks__frame_table table = pks__delivery_table(delivery, segment);
  const uint64_t *starts = PKS__SCRATCH_AT(&delivery->starts, const uint64_t, site->frames_at);
  pks__missing_chunk *chunk = chunk_at(delivery, index);
  uint32_t first = pks__get32(walk->extent.frame), skip = pks__get32(walk->extent.skip);
  uint64_t position;
  bool fits = first < table.frame_count && skip < starts[first + 1] - starts[first]
    && !pks__add_overflows(starts[first] + skip, chunk->offset - walk->begin, &position)
    && position < starts[table.frame_count];
  uint32_t frame = fits ? frame_holding(starts, first, table.frame_count, position) : 0;
  fits = fits && chunk->length <= starts[frame + 1] - position;
  if (!fits) { return corrupt_file(delivery, walk->file, "the layout does not lead to frames", error); }
  uint32_t *head = PKS__SCRATCH_AT(&delivery->heads, uint32_t, site->frames_at + frame);
  chunk->begin = (uint32_t)(position - starts[frame]);
  chunk->next = *head;
  *head = (uint32_t)index;
  return PKS_OK;
}

static bool lies_before(const void *context, const void *a, const void *b) {
  return chunk_at(context, *(const uint32_t *)a)->begin < chunk_at(context, *(const uint32_t *)b)->begin;
}

/// Puts the chunks of a frame in order, each once. CORRUPT when they overlap otherwise.
static pks_status order_chunks(pks_delivery *delivery, pks__planned_frame *frame, pks_error *error) {
  uint32_t *order = PKS__SCRATCH_AT(&delivery->order, uint32_t, frame->first);
  pks__sort(order, frame->chunk_count, sizeof *order, lies_before, delivery);
  uint32_t kept = 0;
  for (uint32_t i = 0; i < frame->chunk_count; i++) {
    const pks__missing_chunk *chunk = chunk_at(delivery, order[i]);
    const pks__missing_chunk *before = kept > 0 ? chunk_at(delivery, order[kept - 1]) : NULL;
    bool is_repeated = before && before->begin == chunk->begin && before->length == chunk->length
      && pks__id_equal(&before->id, &chunk->id);
    if (is_repeated) {
      // That of a map asset says how it must lie.
      if (pks__delivery_file(delivery, chunk->file)->mapped) { order[kept - 1] = order[i]; }
      continue;
    }
    if (before && chunk->begin - before->begin < before->length) {
      return corrupt_file(
        delivery, pks__delivery_file(delivery, chunk->file), "chunks overlap in a frame of the site", error
      );
    }
    frame->needed += chunk->length;
    order[kept++] = order[i];
  }
  frame->chunk_count = kept;
  delivery->order.length = (frame->first + kept) * sizeof(uint32_t);
  return PKS_OK;
}

/// Plans a frame if chunks lie in it.
static pks_status plan_frame(
  pks_delivery *delivery, uint32_t segment, const pks__frame_table *table, uint32_t index, pks_error *error
) {
  uint64_t at = pks__delivery_segment(delivery, segment)->frames_at + index;
  uint32_t chunk = *PKS__SCRATCH_AT(&delivery->heads, const uint32_t, at);
  if (chunk == PKS__NO_CHUNK) { return PKS_OK; }
  pks__planned_frame frame = {
    .first = PKS__SCRATCH_COUNT(&delivery->order, uint32_t), .segment = segment, .frame = index};
  pks_status status = PKS_OK;
  for (; !status && chunk != PKS__NO_CHUNK; chunk = chunk_at(delivery, chunk)->next) {
    status = pks__scratch_append(&delivery->order, &chunk, sizeof chunk, error);
    frame.chunk_count++;
  }
  if (!status) { status = order_chunks(delivery, &frame, error); }
  if (!status) { status = pks__scratch_append(&delivery->plan, &frame, sizeof frame, error); }
  if (status) { return status; }
  pks__tabled_frame tabled = pks__frame_table_at(table, index);
  pks__want want = {
    .kind = PKS__WANT_FRAME, .segment = segment, .offset = tabled.offset, .length = tabled.stored_length};
  delivery->totals.bytes_total += tabled.stored_length;
  delivery->totals.chunks_total += frame.chunk_count;
  delivery->totals.raw_bytes += frame.needed;
  return pks__scratch_append(&delivery->wants, &want, sizeof want, error);
}

/// Bytes that will be written: frames that are kept as they are, chunks of others, and map assets that are laid out
/// afresh for sure.
static uint64_t room_needed(const pks_delivery *delivery) {
  uint64_t bytes = 0, chunks = 0;
  for (uint64_t i = 0; i < PKS__SCRATCH_COUNT(&delivery->plan, pks__planned_frame); i++) {
    const pks__planned_frame *frame = PKS__SCRATCH_AT(&delivery->plan, const pks__planned_frame, i);
    const pks__want *want = PKS__SCRATCH_AT(&delivery->wants, const pks__want, i);
    bytes += want->length < frame->needed ? want->length : frame->needed;
    chunks += frame->chunk_count;
  }
  for (uint64_t i = 0; i < PKS__SCRATCH_COUNT(&delivery->files, pks__needy_file); i++) {
    const pks__needy_file *file = pks__delivery_file(delivery, i);
    uint64_t listed = 0;
    for (uint64_t at = file->first; at < file->end; at++) { listed += chunk_at(delivery, at)->length; }
    if (file->mapped && listed < file->size && file->size < UINT64_MAX / 2 - bytes) { bytes += file->size; }
  }
  return bytes + pks__room_for_metadata(chunks);
}

pks_status pks__delivery_plan(pks_delivery *delivery, pks_error *error) {
  pks_status status = visit_files(delivery, place_chunk, error);
  for (uint64_t i = 0; !status && i < PKS__SCRATCH_COUNT(&delivery->needed_segments, uint32_t); i++) {
    uint32_t segment = *PKS__SCRATCH_AT(&delivery->needed_segments, const uint32_t, i);
    pks__frame_table table = pks__delivery_table(delivery, segment);
    for (uint32_t frame = 0; !status && frame < table.frame_count; frame++) {
      status = plan_frame(delivery, segment, &table, frame, error);
    }
  }
  delivery->totals.is_planned = !status;
  if (status || PKS__SCRATCH_COUNT(&delivery->plan, pks__planned_frame) == 0) { return status; }
  return pks__delivery_check_room(delivery, room_needed(delivery), error);
}
