#include "delta/version_list.h"

#include <string.h>

#include "catalog/map_flags.h"
#include "catalog/tree_cursor.h"
#include "codec/chunker.h"
#include "store/chunk_lookup.h"

// MARK: - Listing

/// Sets the expected lengths of the arrays, according to the catalog's root.
static pks_status expect(pks__version_list *list, pks_error *error) {
  const pks__catalog_info *info = &list->info;
  uint64_t entries = info->file_count / 2 + info->link_count / 2,
           chunks = info->logical_bytes / info->chunk_average / 2;
  pks_status status = pks__scratch_expect(&list->listing.items, entries * sizeof(pks__item), error);
  if (!status) { status = pks__scratch_expect(&list->first_rows, entries * sizeof(uint64_t), error); }
  return status ? status : pks__scratch_expect(&list->chunks, chunks * sizeof(pks__listed_chunk), error);
}

static pks_status list_chunks(
  pks__version_list *list, pks__page_source pages, const pks__catalog_entry *entry, uint32_t longest, pks_error *error
) {
  pks__chunk_cursor cursor;
  pks__chunk_cursor_init(&cursor, pages, entry);
  uint64_t begin = list->byte_count;
  pks_status status = PKS_OK;
  for (bool more = true; !status;) {
    pks__catalog_chunk chunk;
    status = pks__chunk_cursor_next(&cursor, &chunk, &more, error);
    if (status || !more) { break; }
    pks__listed_chunk row = {.position = list->byte_count, .length = pks__get32(chunk.length), .id = chunk.id};
    uint64_t end;
    if (row.length == 0 || row.length > longest || pks__add_overflows(list->byte_count, row.length, &end)) {
      const char *text = "impossible length of a chunk in a catalog";
      status = pks__fail_at_path(error, PKS_CORRUPT, text, entry->path, entry->path_length);
    } else {
      list->byte_count = end;
      status = pks__scratch_append(&list->chunks, &row, sizeof row, error);
    }
  }
  pks__chunk_cursor_free(&cursor);
  if (!status && list->byte_count - begin != entry->size) {
    const char *text = "the chunks do not add up to its size";
    status = pks__fail_at_path(error, PKS_CORRUPT, text, entry->path, entry->path_length);
  }
  return status;
}

static pks_status list_entry(
  pks__version_list *list, pks__page_source pages, const pks__catalog_entry *entry, pks__map_flags *mapped,
  pks_error *error
) {
  bool is_file = entry->kind == PKS__RECORD_FILE;
  pks__item item = {
    .size = entry->size,
    .path_length = (uint32_t)entry->path_length,
    .kind = (uint8_t)entry->kind,
    .executable = entry->executable,
    .mapped = is_file && entry->size > 0 && pks__map_flags_has(mapped, entry->path, entry->path_length),
  };
  uint64_t row = pks__version_list_rows(list);
  pks_status status = pks__entry_list_append(&list->listing, &item, entry->path, entry->target, error);
  if (!status) { status = pks__scratch_append(&list->first_rows, &row, sizeof row, error); }
  uint32_t longest = pks__chunker_make(list->info.chunk_average).maximum;
  if (!status && is_file) { status = list_chunks(list, pages, entry, longest, error); }
  return status;
}

void pks__version_list_init(pks__version_list *list, pks_snapshot *snapshot, pks__scratch_folder *home) {
  *list = (pks__version_list){.snapshot = snapshot};
  pks__entry_list_init(&list->listing, home);
  pks__scratch_init(&list->first_rows, home);
  pks__scratch_init(&list->chunks, home);
}

pks_status pks__version_list_read(pks__version_list *list, const pks__version *version, pks_error *error) {
  pks__entry_list_clear(&list->listing);
  list->first_rows.length = list->chunks.length = list->byte_count = 0;
  pks__page_source pages = pks__snapshot_pages(list->snapshot);
  pks__tree map;
  pks_status status = pks__catalog_read_root(pages, &version->catalog, &list->info, &map, error);
  if (!status && !pks__chunk_average_is_valid(list->info.chunk_average)) {
    status = pks__fail(error, PKS_CORRUPT, "impossible average chunk in a catalog", NULL, PKS_NO_OFFSET);
  }
  if (!status) { status = expect(list, error); }
  if (status) { return status; }
  pks__map_flags mapped;
  pks__tree_cursor entries;
  bool more;
  pks__map_flags_open(&mapped, pages, &version->layout);
  pks__tree_cursor_init(&entries, pages, PKS__TREE_MAP, 0, &map);
  status = pks__tree_cursor_next(&entries, &more, error);
  while (!status && more) {
    pks__catalog_entry entry;
    status = pks__catalog_entry_read(&entries, &entry, error);
    if (!status) { status = list_entry(list, pages, &entry, &mapped, error); }
    if (!status) { status = pks__tree_cursor_next(&entries, &more, error); }
  }
  uint64_t end = pks__version_list_rows(list);
  if (!status) { status = pks__scratch_append(&list->first_rows, &end, sizeof end, error); }
  pks__tree_cursor_free(&entries);
  pks__map_flags_close(&mapped);
  return status;
}

void pks__version_list_close(pks__version_list *list) {
  pks__entry_list_free(&list->listing);
  pks__scratch_free(&list->first_rows);
  pks__scratch_free(&list->chunks);
}

// MARK: - Reading

/// The row that holds `position` < byte_count. Rows are mostly read one after another.
static uint64_t find_row(const pks__version_reader *reader, uint64_t position) {
  const pks__version_list *list = reader->list;
  uint64_t rows = pks__version_list_rows(list), low = 0, high = rows;
  for (uint64_t row = reader->row; row < rows && row <= reader->row + 1; row++) {
    const pks__listed_chunk *chunk = pks__version_list_chunk(list, row);
    if (position >= chunk->position && position - chunk->position < chunk->length) { return row; }
  }
  while (high - low > 1) {
    uint64_t middle = low + (high - low) / 2;
    if (pks__version_list_chunk(list, middle)->position <= position) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

/// Whether chunk `row` is stored directly after the last found one.
static bool follows_last(pks__version_reader *reader, uint64_t row) {
  pks__chunk_ref *ref = &reader->ref;
  const pks__id *id;
  if (!reader->has_ref || row != reader->row + 1 || ref->row + 1 >= ref->segment->chunk_count) { return false; }
  if (pks__segment_chunk_id(ref->segment, ref->row + 1, &id, NULL)) { return false; }
  if (!pks__id_equal(id, &pks__version_list_chunk(reader->list, row)->id)) { return false; }
  ref->row++;
  return true;
}

static pks_status locate(pks__version_reader *reader, uint64_t row, pks_error *error) {
  if (reader->has_ref && reader->row == row) { return PKS_OK; }
  bool found = follows_last(reader, row);
  const pks__id *id = &pks__version_list_chunk(reader->list, row)->id;
  pks_status status = PKS_OK;
  reader->row = row;
  reader->has_ref = false;
  if (!found) {
    status = pks__snapshot_find_chunk(reader->list->snapshot, id, PKS__SEGMENT_DATA, &reader->ref, &found, error);
  }
  reader->has_ref = !status && found;
  if (status || found) { return status; }
  char name[2 * PKS__ID_SIZE + 1];
  pks__hex(id->bytes, sizeof id->bytes, name);
  return pks__fail_about(
    error, PKS_CORRUPT, PKS_DETAIL_NONE, PKS_SUBJECT_STORE_FILE, name, "a chunk of the version is missing in its store"
  );
}

/// Copies bytes [begin, end) of the chunk that was located.
static pks_status read_located(
  pks__version_reader *reader, uint32_t begin, uint32_t end, uint8_t *out, pks_error *error
) {
  const pks__chunk_ref *ref = &reader->ref;
  pks__chunk_place place;
  pks__frame frame;
  pks_status status = pks__segment_chunk(ref->segment, ref->row, &place, error);
  if (!status) { status = pks__segment_frame(ref->segment, place.frame, &frame, error); }
  if (!status && place.end - place.begin != pks__version_list_chunk(reader->list, reader->row)->length) {
    status = pks__fail(
      error, PKS_CORRUPT, "a chunk has another length than its catalog records", ref->segment->name, PKS_NO_OFFSET
    );
  }
  if (!status && !reader->frames) {
    status = pks__frame_reader_take(&reader->list->snapshot->store->readers, &reader->frames, error);
  }
  if (status) { return status; }
  pks__frame_source source = {ref->segment, frame.ref};
  begin += place.begin;
  end += place.begin;
  return reader->cache ? pks__frame_cache_read(reader->cache, reader->frames, &source, begin, end, out, error)
                       : pks__frame_read(reader->frames, &source, begin, end, out, error);
}

pks_status pks__version_read(
  pks__version_reader *reader, uint64_t position, void *out, size_t byte_count, pks_error *error
) {
  uint8_t *next = out;
  PKS_ASSERT(pks__range_fits(position, byte_count, reader->list->byte_count));
  while (byte_count > 0) {
    uint64_t row = find_row(reader, position);
    const pks__listed_chunk *chunk = pks__version_list_chunk(reader->list, row);
    uint32_t begin = (uint32_t)(position - chunk->position);
    uint32_t end = (uint32_t)pks__min64(chunk->length, begin + (uint64_t)byte_count);
    pks_status status = locate(reader, row, error);
    if (!status) { status = read_located(reader, begin, end, next, error); }
    if (status) { return status; }
    next += end - begin;
    position += end - begin;
    byte_count -= end - begin;
  }
  return PKS_OK;
}

void pks__version_reader_close(pks__version_reader *reader) {
  if (reader->frames) { pks__frame_reader_return(&reader->list->snapshot->store->readers, reader->frames); }
  reader->frames = NULL;
}
