#include "repair/catalog_rebuild.h"

#include <string.h>

#include "catalog/tree_writer.h"
#include "codec/hash_batch.h"

typedef struct draft_page {
  pks__id id;
  uint64_t offset;
  uint32_t length;
} draft_page;

// MARK: - Pages

static const pks__id *page_id(const void *context, uint32_t index) {
  const pks__catalog_rebuild *draft = context;
  return &PKS__SCRATCH_AT(&draft->pages, const draft_page, index)->id;
}

static const draft_page *find_page(const pks__catalog_rebuild *draft, const pks__id *id) {
  uint32_t index;
  bool found = pks__hash_map_find_id(&draft->by_id, id, page_id, draft, &index);
  return found ? PKS__SCRATCH_AT(&draft->pages, const draft_page, index) : NULL;
}

static pks_status put_page(void *context, const void *bytes, size_t length, pks__id *id, pks_error *error) {
  pks__catalog_rebuild *draft = context;
  draft->sha256(bytes, length, id->bytes);
  if (find_page(draft, id)) { return PKS_OK; }
  draft_page page = {.id = *id, .offset = draft->bytes.length, .length = (uint32_t)length};
  uint32_t index = (uint32_t)PKS__SCRATCH_COUNT(&draft->pages, draft_page);
  pks_status status = pks__scratch_append(&draft->bytes, bytes, length, error);
  if (!status) { status = pks__scratch_append(&draft->pages, &page, sizeof page, error); }
  if (!status) { status = pks__hash_map_insert_id(&draft->by_id, id, index, error); }
  draft->has_failed = draft->has_failed || status;
  return status;
}

pks_status pks__catalog_rebuild_page(
  const pks__catalog_rebuild *draft, const pks__id *id, pks__scratch *out, bool *found, pks_error *error
) {
  const draft_page *page = find_page(draft, id);
  *found = page != NULL;
  return page ? pks__scratch_append(out, draft->bytes.bytes + page->offset, page->length, error) : PKS_OK;
}

// MARK: - Life

void pks__catalog_rebuild_open(
  pks__catalog_rebuild *draft, pks_sha256 *sha256, pks_sha256_many *sha256_many, pks__scratch_folder *home,
  uint32_t average
) {
  *draft = (pks__catalog_rebuild){
    .sha256 = sha256,
    .sha256_many = sha256_many,
    .chunker = pks__chunker_make(average),
    .info.chunk_average = average,
  };
  pks__scratch_init(&draft->bytes, home);
  pks__scratch_init(&draft->pages, home);
  pks__hash_map_init(&draft->by_id, home);
  pks__page_sink sink = {.context = draft, .put = put_page};
  pks__tree_writer_init(&draft->entries, sink, PKS__TREE_MAP, 0);
  pks__rows_init(&draft->chunks, sink, sizeof(pks__catalog_chunk));
}

void pks__catalog_rebuild_close(pks__catalog_rebuild *draft) {
  pks__tree_writer_free(&draft->entries);
  pks__rows_free(&draft->chunks);
  pks__scratch_free(&draft->bytes);
  pks__scratch_free(&draft->pages);
  pks__scratch_free(&draft->value);
  pks__scratch_free(&draft->window);
  pks__hash_map_free(&draft->by_id);
  *draft = (pks__catalog_rebuild){0};
}

pks_status pks__catalog_rebuild_finish(pks__catalog_rebuild *draft, pks__id *id, pks_error *error) {
  pks__tree map;
  pks__page_sink sink = {.context = draft, .put = put_page};
  pks_status status = pks__tree_writer_finish(&draft->entries, &map, error);
  return status ? status : pks__catalog_put_root(sink, &draft->info, &map, id, error);
}

// MARK: - Entries

static pks_status put_value(
  pks__catalog_rebuild *draft, const char *path, size_t length, pks__record_kind kind, uint64_t size,
  const uint8_t *value, size_t value_length, pks_error *error
) {
  pks__catalog_info *info = &draft->info;
  info->file_count += kind == PKS__RECORD_FILE;
  info->link_count += kind == PKS__RECORD_LINK;
  info->folder_count += kind == PKS__RECORD_FOLDER;
  info->logical_bytes += kind == PKS__RECORD_FILE ? size : 0;
  return pks__tree_writer_put(&draft->entries, path, length, value, value_length, error);
}

pks_status pks__catalog_rebuild_put_entry(
  pks__catalog_rebuild *draft, const pks__catalog_entry *entry, pks_error *error
) {
  return put_value(
    draft, entry->path, entry->path_length, entry->kind, entry->size, entry->value, entry->value_length, error
  );
}

// MARK: - Assets

/// Whether the bytes from `at` on contain a whole chunk.
static bool has_chunk(const pks__catalog_rebuild *draft, uint64_t at, bool at_end) {
  uint64_t left = draft->window.length - at;
  return left > 0 && (at_end || left >= draft->chunker.maximum);
}

/// Cuts the bytes in the window into chunks, and lists these. If the asset does not end there, an uncut rest remains.
static pks_status cut(pks__catalog_rebuild *draft, bool at_end, pks_error *error) {
  pks__scratch *window = &draft->window;
  pks__hash_batch batch;
  pks__catalog_chunk rows[PKS__HASH_BATCH_MAX];
  uint64_t at = 0;
  pks_status status = PKS_OK;
  pks__hash_batch_begin(&batch, draft->sha256, draft->sha256_many);
  while (!status && has_chunk(draft, at, at_end)) {
    uint32_t count = 0;
    while (count < PKS__HASH_BATCH_MAX && has_chunk(draft, at, at_end)) {
      size_t length = pks__chunker_cut(&draft->chunker, window->bytes + at, (size_t)(window->length - at));
      rows[count].length = pks__put32((uint32_t)length);
      pks__hash_batch_add(&batch, window->bytes + at, length, rows[count++].id.bytes);
      at += length;
    }
    pks__hash_batch_flush(&batch);
    for (uint32_t i = 0; !status && i < count; i++) { status = pks__rows_append(&draft->chunks, &rows[i], error); }
  }
  memmove(window->bytes, window->bytes + at, (size_t)(window->length - at));
  window->length -= at;
  return status;
}

/// Reads a file and collects its chunks.
static pks_status cut_file(pks__catalog_rebuild *draft, const pks_asset *asset, pks_error *error) {
  uint64_t step = (uint64_t)draft->chunker.maximum * 4;
  pks_status status = PKS_OK;
  draft->window.length = 0;
  for (uint64_t at = 0; !status && at < asset->size;) {
    uint64_t length = pks__min64(step, asset->size - at), before = draft->window.length;
    status = pks__scratch_append(&draft->window, NULL, length, error);
    if (!status) { status = pks_asset_read(asset, at, draft->window.bytes + before, (size_t)length, error); }
    at += length;
    if (!status) { status = cut(draft, at == asset->size, error); }
  }
  return status;
}

static pks_status encode_file(pks__catalog_rebuild *draft, const pks_asset *asset, uint8_t flags, pks_error *error) {
  uint8_t size[PKS__VARINT_MAX];
  pks_status status = cut_file(draft, asset, error);
  if (status) {
    // The collected data does not form an asset.
    pks__rows_free(&draft->chunks);
    pks__rows_init(&draft->chunks, (pks__page_sink){.context = draft, .put = put_page}, sizeof(pks__catalog_chunk));
    return status;
  }
  status = pks__scratch_append(&draft->value, size, pks__put_varint(size, asset->size), error);
  if (!status) { status = pks__rows_finish(&draft->chunks, &draft->value, &flags, error); }
  if (!status) { draft->value.bytes[0] = flags; }
  return status;
}

/// Whether a catalog may contain the record. Its content is read and chunked, which decides about the rest.
static bool is_allowed(const pks__run_entry *entry, const char *path, size_t length) {
  bool is_link = entry->kind == PKS__RECORD_LINK;
  return entry->kind != PKS__RECORD_ABSENT && pks__path_is_valid(path, length)
    && (!is_link || (entry->size > 0 && entry->size <= PKS__LINK_TARGET_MAX));
}

pks_status pks__catalog_rebuild_put_record(
  pks__catalog_rebuild *draft, pks_snapshot *snapshot, const pks__hit *hit, const char *path, size_t length,
  pks_error *error
) {
  const pks__run_entry *entry = &hit->entry;
  bool executable = entry->kind == PKS__RECORD_FILE && (entry->flags & PKS__FLAG_EXECUTABLE);
  uint8_t flags = (uint8_t)(entry->kind | (executable ? PKS__ENTRY_EXECUTABLE : 0));
  if (!is_allowed(entry, path, length)) {
    return pks__fail_at_path(error, PKS_CORRUPT, "cannot be part of a catalog", path, length);
  }
  draft->value.length = 0;
  pks_status status = pks__scratch_append(&draft->value, &flags, sizeof flags, error);
  if (!status && entry->kind == PKS__RECORD_LINK) {
    status = pks__scratch_append(&draft->value, entry->target, entry->size, error);
  } else if (!status && entry->kind == PKS__RECORD_FILE) {
    pks_asset asset = pks__namespace_asset(snapshot, hit, path, length);
    status = encode_file(draft, &asset, flags, error);
  }
  if (status) { return status; }
  return put_value(
    draft, path, length, entry->kind, entry->size, draft->value.bytes, (size_t)draft->value.length, error
  );
}
