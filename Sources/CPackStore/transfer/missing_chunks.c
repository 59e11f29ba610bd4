#include "transfer/missing_chunks.h"

#include <string.h>

#include "catalog/tree_cursor.h"
#include "store/chunk_lookup.h"

void pks__missing_chunks_init(
  pks__missing_chunks *needs, pks__delivery_context *context, pks__delivery_pages *pages,
  pks__delivery_changes *changes, pks__ingest *ingest
) {
  *needs = (pks__missing_chunks){.context = context, .pages = pages, .changes = changes, .ingest = ingest};
  pks__scratch *arrays[] = {&needs->texts, &needs->files, &needs->chunks, &needs->value};
  pks__hash_map *maps[] = {&needs->missing};
  pks__delivery_context_own(context, arrays, PKS_COUNT_OF(arrays), maps, PKS_COUNT_OF(maps));
}

static pks__needy_file *file_at(const pks__missing_chunks *needs, uint64_t index) {
  return PKS__SCRATCH_AT(&needs->files, pks__needy_file, index);
}

static const char *text_at(const pks__missing_chunks *needs, uint64_t offset) {
  return (const char *)needs->texts.bytes + offset;
}

static pks_status append_text(
  pks__missing_chunks *needs, const void *bytes, size_t byte_count, uint64_t *offset, pks_error *error
) {
  *offset = needs->texts.length;
  return pks__scratch_append(&needs->texts, bytes, byte_count, error);
}

bool pks__missing_chunks_layout_entry(
  const pks__missing_chunks *needs, const pks__needy_file *file, pks__layout_entry *out
) {
  return pks__layout_entry_decode(needs->texts.bytes + file->layout, file->layout_length, out);
}

uint64_t pks__missing_chunks_missing_bytes(const pks__missing_chunks *needs, const pks__needy_file *file) {
  uint64_t bytes = 0;
  for (uint64_t i = file->first; i < file->end; i++) { bytes += pks__missing_chunks_chunk(needs, i)->length; }
  return bytes;
}

pks_status pks__missing_chunks_corrupt(
  const pks__missing_chunks *needs, const pks__needy_file *file, const char *text, pks_error *error
) {
  return pks__fail_at_path(error, PKS_CORRUPT, text, text_at(needs, file->path), file->path_length);
}

// MARK: - The catalog

/// The walk over the catalog, in parallel with the current version's.
typedef struct scan {
  pks__missing_chunks *needs;
  pks__tree_cursor entries, old_entries;
  bool more, old_more;
  pks__scratch last_path;   ///< previous paths, as long as each begins the next one
  pks__scratch beginnings;  ///< uint32_t: their lengths
} scan;

/// Whether no file, link or empty folder has the path of one of the parent folders. Paths that begin with another path directly
/// follow it, so those that begin this path are among those that begin the last.
static pks_status check_folders(scan *scan, const pks__catalog_entry *entry, pks_error *error) {
  const char *path = entry->path;
  uint64_t kept = 0;
  for (uint64_t i = 0; i < PKS__SCRATCH_COUNT(&scan->beginnings, uint32_t); i++) {
    uint32_t length = *PKS__SCRATCH_AT(&scan->beginnings, const uint32_t, i);
    bool begins = length < entry->path_length && memcmp(scan->last_path.bytes, path, length) == 0;
    if (!begins) { break; }
    if (path[length] == '/') {
      return pks__fail_at_path(
        error, PKS_CORRUPT, "is in the catalog where another entry needs a folder", path, entry->path_length
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

static const pks__id *missing_id(const void *context, uint32_t index) {
  return &pks__missing_chunks_chunk(context, index)->id;
}

/// The length of a chunk that is known: to come, new, or in the base. 0 when it is not known.
static pks_status known_length(pks__missing_chunks *needs, const pks__id *id, uint32_t *length, pks_error *error) {
  uint32_t index;
  *length = 0;
  if (pks__hash_map_find_id(&needs->missing, id, missing_id, needs, &index)) {
    *length = pks__missing_chunks_chunk(needs, index)->length;
    return PKS_OK;
  }
  if (pks__ingest_find_new(needs->ingest, id, &index)) {
    *length = PKS__SCRATCH_AT(&needs->ingest->frames.places, const pks__new_place, index)->length;
    return PKS_OK;
  }
  pks__chunk_ref ref;
  pks__chunk_place place;
  bool found;
  pks_status status = pks__snapshot_find_chunk(needs->context->base, id, PKS__SEGMENT_DATA, &ref, &found, error);
  if (status || !found) { return status; }
  status = pks__segment_chunk(ref.segment, ref.row, &place, error);
  if (!status) { *length = place.end - place.begin; }
  return status;
}

static pks_status add_missing(
  pks__missing_chunks *needs, const pks__catalog_chunk *chunk, uint64_t file, uint64_t offset, bool is_listed,
  pks_error *error
) {
  uint64_t count = pks__missing_chunks_chunk_count(needs);
  if (count == UINT32_MAX || file >= UINT32_MAX) {
    return pks__delivery_corrupt(needs->context, "too many chunks for one pack", error);
  }
  pks__missing_chunk row = {
    .id = chunk->id,
    .length = pks__get32(chunk->length),
    .file = (uint32_t)file,
    .offset = offset,
  };
  pks_status status = pks__scratch_append(&needs->chunks, &row, sizeof row, error);
  if (status || !is_listed) { return status; }
  return pks__hash_map_insert_id(&needs->missing, &chunk->id, (uint32_t)count, error);
}

/// Takes note of a chunk of a file, if it is missing.
static pks_status scan_chunk(
  scan *scan, const pks__catalog_entry *entry, const pks__catalog_chunk *chunk, uint64_t offset, pks_error *error
) {
  pks__missing_chunks *needs = scan->needs;
  uint32_t length = pks__get32(chunk->length), known;
  if (length == 0 || length > needs->ingest->chunker.maximum) {
    const char *text = "has a chunk that no chunker makes";
    return pks__fail_at_path(error, PKS_CORRUPT, text, entry->path, entry->path_length);
  }
  pks_status status = known_length(needs, &chunk->id, &known, error);
  if (status || known == length) { return status; }
  uint64_t file = pks__missing_chunks_file_count(needs);
  if (known == 0) { return add_missing(needs, chunk, file, offset, true, error); }
  const char *text = "a chunk has another length than elsewhere";
  return pks__fail_at_path(error, PKS_CORRUPT, text, entry->path, entry->path_length);
}

/// Counts the rows of an entry before they are walked. All pages of the catalog have been received.
static pks_status spend_rows(pks__missing_chunks *needs, uint64_t rows, pks_error *error) {
  pks__row_budget *budget = &needs->pages->rows;
  pks__row_budget_add(budget, rows);
  return pks__row_budget_check(budget, needs->context->pack, error);
}

static pks_status scan_chunks(scan *scan, const pks__catalog_entry *entry, pks_error *error) {
  pks_status status = spend_rows(scan->needs, entry->chunk_count, error);
  if (status) { return status; }
  pks__chunk_cursor chunks;
  pks__chunk_cursor_init(&chunks, pks__delivery_pages_source(scan->needs->pages), entry);
  uint64_t size = 0;
  for (bool more = true; !status && more;) {
    pks__catalog_chunk chunk;
    status = pks__chunk_cursor_next(&chunks, &chunk, &more, error);
    if (status || !more) { break; }
    status = scan_chunk(scan, entry, &chunk, size, error);
    if (!status) { status = pks__delivery_tick(scan->needs->context, error); }
    size += pks__get32(chunk.length);
  }
  pks__chunk_cursor_free(&chunks);
  if (status || size == entry->size) { return status; }
  const char *text = "the chunks do not add up to its size";
  return pks__fail_at_path(error, PKS_CORRUPT, text, entry->path, entry->path_length);
}

static pks_status scan_file(scan *scan, const pks__catalog_entry *entry, pks_error *error) {
  pks__missing_chunks *needs = scan->needs;
  pks__needy_file file = {
    .path_length = (uint32_t)entry->path_length,
    .size = entry->size,
    .chunk_count = entry->chunk_count,
    .entry_length = (uint32_t)entry->value_length,
    .first = pks__missing_chunks_chunk_count(needs),
  };
  bool changed;
  pks_status status = scan_chunks(scan, entry, error);
  if (!status) { status = is_changed(scan, entry, &changed, error); }
  file.end = pks__missing_chunks_chunk_count(needs);
  if (status || (file.first == file.end && !changed) || entry->size == 0) { return status; }
  status = append_text(needs, entry->path, entry->path_length, &file.path, error);
  if (!status) { status = append_text(needs, entry->value, entry->value_length, &file.entry, error); }
  return status ? status : pks__scratch_append(&needs->files, &file, sizeof file, error);
}

static pks_status scan_entry(scan *scan, pks_error *error) {
  pks__catalog_entry entry;
  pks_status status = pks__catalog_entry_read(&scan->entries, &entry, error);
  if (!status) { status = check_folders(scan, &entry, error); }
  if (!status && entry.kind == PKS__RECORD_FILE) { status = scan_file(scan, &entry, error); }
  if (!status) { status = pks__delivery_tick(scan->needs->context, error); }
  return status ? status : pks__tree_cursor_next(&scan->entries, &scan->more, error);
}

/// Begins with the catalog of the pack's current version. If it cannot be read, there is nothing to compare with.
static void open_old(scan *scan) {
  const pks__missing_chunks *needs = scan->needs;
  pks_snapshot *base = needs->context->base;
  const pks__version *current = pks__generation_current(&base->generation, needs->context->pack);
  pks__page_source pages = pks__snapshot_pages(base);
  pks__catalog_info info;
  pks__tree map;
  if (!current || pks__catalog_read_root(pages, &current->catalog, &info, &map, NULL)) { return; }
  pks__tree_cursor_init(&scan->old_entries, pages, PKS__TREE_MAP, 0, &map);
  if (pks__tree_cursor_next(&scan->old_entries, &scan->old_more, NULL)) { scan->old_more = false; }
}

/// Walks the catalog in parallel with the current version's.
static pks_status scan_catalog(pks__missing_chunks *needs, pks_error *error) {
  scan scan = {.needs = needs};
  pks__catalog_info info;
  pks__tree map;
  pks__page_source pages = pks__delivery_pages_source(needs->pages);
  pks_status status = pks__catalog_read_root(pages, &needs->context->catalog, &info, &map, error);
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

/// Lays out a file by the change list. `*is_complete` is false if the list lacks the places of missing chunks.
static pks_status lay_out(pks__missing_chunks *needs, pks__needy_file *file, bool *is_complete, pks_error *error) {
  pks__delivery_changes *changes = needs->changes;
  bool is_known;
  pks__delivery_changes_begin_file(changes, text_at(needs, file->path), file->path_length, file->size, &file->mapped);
  pks_status status = PKS_OK;
  for (uint64_t i = file->first; !status && i < file->end; i++) {
    const pks__missing_chunk *chunk = pks__missing_chunks_chunk(needs, i);
    status = pks__delivery_changes_place(changes, &chunk->id, chunk->offset, chunk->length, error);
  }
  if (!status) { status = pks__delivery_changes_end_file(changes, &needs->value, &is_known, error); }
  if (status) { return status; }
  *is_complete = is_known || file->first == file->end;
  file->layout_length = (uint32_t)needs->value.length;
  return append_text(needs, needs->value.bytes, (size_t)needs->value.length, &file->layout, error);
}

/// Lays out all files by the change list, if it was accepted and contains all of them.
static pks_status lay_out_all(pks__missing_chunks *needs, pks_error *error) {
  uint64_t count = pks__missing_chunks_file_count(needs);
  bool is_complete = needs->changes->is_taken;
  pks_status status = PKS_OK;
  for (uint64_t i = 0; !status && is_complete && i < count; i++) {
    status = lay_out(needs, file_at(needs, i), &is_complete, error);
  }
  needs->is_laid_out = !status && is_complete;
  return status;
}

pks_status pks__missing_chunks_request_layout(pks__missing_chunks *needs, pks_error *error) {
  uint64_t count = pks__missing_chunks_file_count(needs);
  if (count == 0 || needs->is_laid_out) { return PKS_OK; }
  pks__layout_root root;
  pks__scratch segments = {0};
  pks_status status =
    pks__layout_read_root(pks__delivery_pages_source(needs->pages), &needs->context->layout, &root, &segments, error);
  pks__scratch_free(&segments);
  if (status) { return status; }
  if (!pks__id_equal(&root.catalog, &needs->context->catalog)) {
    return pks__delivery_corrupt(needs->context, "the layout belongs to another catalog", error);
  }
  if (!pks__id_equal(&root.attributes, &needs->context->attributes)) {
    return pks__delivery_corrupt(needs->context, "the layout names other attributes", error);
  }
  pks__page_task task = {.id = root.map.root, .role = PKS__ROLE_LAYOUT, .level = root.map.height, .end_file = count};
  return pks__delivery_pages_need(needs->pages, &task, error);
}

pks_status pks__missing_chunks_find(pks__missing_chunks *needs, pks_error *error) {
  pks_status status = scan_catalog(needs, error);
  if (!status) { status = lay_out_all(needs, error); }
  if (status || needs->is_laid_out || pks__missing_chunks_file_count(needs) == 0) { return status; }
  pks__page_task root = {.id = needs->context->layout, .role = PKS__ROLE_ROOT};
  return pks__delivery_pages_need(needs->pages, &root, error);
}

/// A look into one page of the layout.
typedef struct layout_glance {
  pks__missing_chunks *needs;
  const pks__page_task *task;
  uint64_t at;  ///< needy file that comes next
} layout_glance;

/// Compares the next needy file with a key of the page.
static int compare_next(const layout_glance *glance, const pks__tree_item *item) {
  const pks__needy_file *file = file_at(glance->needs, glance->at);
  return pks__compare_bytes(text_at(glance->needs, file->path), file->path_length, item->key, item->key_length);
}

/// The key of a child is the last one below it.
static pks_status need_part(void *context, const pks__tree_item *item, pks_error *error) {
  layout_glance *glance = context;
  uint64_t first = glance->at;
  while (glance->at < glance->task->end_file && compare_next(glance, item) <= 0) { glance->at++; }
  if (first == glance->at) { return PKS_OK; }
  pks__page_task child = {
    .id = pks__tree_child(item),
    .role = PKS__ROLE_LAYOUT,
    .level = glance->task->level - 1,
    .first_file = first,
    .end_file = glance->at,
  };
  return pks__delivery_pages_need(glance->needs->pages, &child, error);
}

static pks_status take_layout_entry(
  pks__missing_chunks *needs, uint64_t index, const pks__tree_item *item, pks_error *error
) {
  pks__layout_entry entry;
  pks__needy_file *file = file_at(needs, index);
  bool fits = pks__layout_entry_decode(item->body, item->body_length, &entry) && entry.extent_count <= file->chunk_count
    && (!entry.mapped || entry.extent_count == 1);
  if (!fits) { return pks__missing_chunks_corrupt(needs, file, "bad entry of a layout", error); }
  // The pages of the list are still to come and allow rows as well: the sum is checked after them.
  pks__row_budget_add(&needs->pages->rows, entry.extent_count);
  file->mapped = entry.mapped;
  file->layout_length = (uint32_t)item->body_length;
  pks_status status = append_text(needs, item->body, item->body_length, &file->layout, error);
  if (status || entry.extents || file->first == file->end) { return status; }
  pks__page_task root = {.id = entry.list.root, .role = PKS__ROLE_EXTENTS, .level = entry.list.height};
  return pks__delivery_pages_need(needs->pages, &root, error);
}

static pks_status take_file(void *context, const pks__tree_item *item, pks_error *error) {
  layout_glance *glance = context;
  if (glance->at == glance->task->end_file) { return PKS_OK; }
  int order = compare_next(glance, item);
  if (order > 0) { return PKS_OK; }
  if (order < 0) {
    return pks__missing_chunks_corrupt(
      glance->needs, file_at(glance->needs, glance->at), "missing in the layout", error
    );
  }
  return take_layout_entry(glance->needs, glance->at++, item, error);
}

pks_status pks__missing_chunks_visit_layout(
  void *context, const pks__page_task *task, pks__scratch *page, pks_error *error
) {
  pks__missing_chunks *needs = context;
  layout_glance glance = {.needs = needs, .task = task, .at = task->first_file};
  pks_status status = pks__tree_visit_items(
    page, &task->id, PKS__TREE_MAP, 0, task->level, task->level > 0 ? need_part : take_file, &glance, error
  );
  if (status || glance.at == task->end_file) { return status; }
  return pks__missing_chunks_corrupt(needs, file_at(needs, glance.at), "missing in the layout", error);
}

// MARK: - Map assets

/// How much of a map asset came already in one piece, from a page on.
typedef struct arrived_part {
  uint64_t bytes;
  uint64_t chunks;
  bool is_last;  ///< nothing else was written since: the next chunk will abut
} arrived_part;

static pks_status open_chunks(
  pks__missing_chunks *needs, const pks__needy_file *file, pks__chunk_cursor *out, pks_error *error
) {
  pks__catalog_entry entry;
  pks_status status = pks__catalog_entry_decode(
    text_at(needs, file->path), file->path_length, needs->texts.bytes + file->entry, file->entry_length, &entry, error
  );
  if (!status) { pks__chunk_cursor_init(out, pks__delivery_pages_source(needs->pages), &entry); }
  return status;
}

/// Returns the bytes of the asset that are contiguous from new chunk `number` on, its first one.
static pks_status measure_arrived(
  pks__missing_chunks *needs, const pks__needy_file *file, const pks__written_chunks *written, uint32_t number,
  arrived_part *out, pks_error *error
) {
  pks__chunk_cursor chunks;
  pks_status status = open_chunks(needs, file, &chunks, error);
  if (status) { return status; }
  *out = (arrived_part){0};
  for (bool more = true; more;) {
    pks__catalog_chunk chunk;
    uint64_t at = number + out->chunks;
    status = pks__delivery_tick(needs->context, error);
    if (!status) { status = pks__chunk_cursor_next(&chunks, &chunk, &more, error); }
    if (status || !more || at >= written->count) { break; }
    const pks__id *id = PKS__SCRATCH_AT(&needs->ingest->new_ids, const pks__id, at);
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
  pks__missing_chunks *needs, const pks__needy_file *file, arrived_part *out, pks_error *error
) {
  enum { COPIES_MAX = 16 };
  pks__written_chunks written = pks__ingest_written(needs->ingest);
  pks__chunk_cursor chunks;
  pks__catalog_chunk first;
  bool more;
  *out = (arrived_part){0};
  pks_status status = open_chunks(needs, file, &chunks, error);
  if (status) { return status; }
  status = pks__chunk_cursor_next(&chunks, &first, &more, error);
  pks__chunk_cursor_free(&chunks);
  uint64_t probe = 0;
  uint32_t number;
  for (uint32_t copies = 0; !status && copies < COPIES_MAX; copies++) {
    arrived_part part;
    if (!written.next(written.context, &first.id, &probe, &number)) { break; }
    if (!written.begins(written.context, number)) { continue; }
    status = measure_arrived(needs, file, &written, number, &part, error);
    if (!status && part.bytes >= out->bytes) { *out = part; }
  }
  return status;
}

/// Lists all chunks of a map asset from `part` on as missing, replacing those already listed.
static pks_status list_all_chunks(
  pks__missing_chunks *needs, uint64_t index, const arrived_part *part, pks_error *error
) {
  pks__needy_file *file = file_at(needs, index);
  pks__chunk_cursor chunks;
  pks_status status = open_chunks(needs, file, &chunks, error);
  if (status) { return status; }
  file->first = pks__missing_chunks_chunk_count(needs);
  uint64_t offset = 0, number = 0;
  for (bool more = true; !status && more; number++) {
    pks__catalog_chunk chunk;
    status = pks__chunk_cursor_next(&chunks, &chunk, &more, error);
    if (!status && more && number >= part->chunks) { status = add_missing(needs, &chunk, index, offset, false, error); }
    if (more) { offset += pks__get32(chunk.length); }
    if (!status) { status = pks__delivery_tick(needs->context, error); }
  }
  pks__chunk_cursor_free(&chunks);
  file->end = pks__missing_chunks_chunk_count(needs);
  return status;
}

/// A map asset that is almost entirely new is fetched as a whole, including known and repeated chunks: then it has its final form
/// on arrival, and need not be written twice. If a part was already received, the rest continues from there, or else only its
/// missing chunks are fetched.
pks_status pks__missing_chunks_complete_mapped(pks__missing_chunks *needs, pks_error *error) {
  pks_status status = PKS_OK;
  for (uint64_t i = 0; !status && i < pks__missing_chunks_file_count(needs); i++) {
    const pks__needy_file *file = file_at(needs, i);
    if (!file->mapped || file->first == file->end) { continue; }
    uint64_t missing = pks__missing_chunks_missing_bytes(needs, file);
    arrived_part part;
    status = find_arrived(needs, file, &part, error);
    bool is_nearly_new = pks__is_nearly_new(missing, file->size - part.bytes);
    bool goes_on = part.chunks == 0 || part.is_last;
    if (!status && is_nearly_new && goes_on) { status = list_all_chunks(needs, i, &part, error); }
  }
  return status;
}

bool pks__missing_chunks_is_mapped(void *context, const char *path, size_t path_length) {
  pks__missing_chunks *needs = context;
  while (needs->next_mapped < pks__missing_chunks_file_count(needs)) {
    const pks__needy_file *file = file_at(needs, needs->next_mapped);
    int order = pks__compare_bytes(text_at(needs, file->path), file->path_length, path, path_length);
    if (order > 0) { return false; }
    needs->next_mapped++;
    if (order == 0) { return file->mapped; }
  }
  return false;
}
