/// The catalog of a version as the source of an ingest: chunks of the base are reused, the others are fetched.
#include "ingest/ingest_version.h"

#include <string.h>

#include "catalog/map_flags.h"
#include "catalog/tree_cursor.h"
#include "ingest/dedup_pass.h"
#include "ingest/frame_grouping.h"
#include "store/chunk_lookup.h"

typedef struct version_walk {
  pks__dedup_pass pass;
  const pks__version_request *request;
  pks__tree_cursor entries;
  bool more;
  pks__map_flags mapped;
} version_walk;

/// Whether the file is a map asset, according to the caller or the layout.
static bool is_mapped(version_walk *walk, const pks__catalog_entry *entry) {
  const pks__version_request *request = walk->request;
  if (entry->kind != PKS__RECORD_FILE || entry->size == 0) { return false; }
  if (request->is_mapped) { return request->is_mapped(request->context, entry->path, entry->path_length); }
  return pks__map_flags_has(&walk->mapped, entry->path, entry->path_length);
}

// MARK: - Chunks

/// A catalog of another store may have longer chunks than this store makes, but not longer than its own root allows.
static bool chunk_fits(const pks__catalog_chunk *chunk, uint32_t maximum) {
  uint32_t length = pks__get32(chunk->length);
  return length > 0 && length <= maximum;
}

pks_status pks__ingest_version_has(
  const pks__version_request *request, pks_snapshot *base, const pks__reuse_policy *reuse_policy,
  const pks__catalog_entry *entry, uint32_t chunk_maximum, bool *had, pks_error *error
) {
  *had = true;
  if (entry->kind != PKS__RECORD_FILE) { return PKS_OK; }
  pks__chunk_cursor chunks;
  pks__chunk_cursor_init(&chunks, request->pages, entry);
  pks_status status = PKS_OK;
  pks__chunk_want want = {.path = entry->path, .path_length = entry->path_length};
  for (bool more = true; !status && *had;) {
    pks__catalog_chunk chunk;
    pks__chunk_ref ref;
    status = pks__chunk_cursor_next(&chunks, &chunk, &more, error);
    if (status || !more) { break; }
    *had = chunk_fits(&chunk, chunk_maximum);
    if (!*had) { break; }
    status = reuse_policy
      ? pks__reuse_policy_find_chunk(reuse_policy, base, &chunk.id, PKS__SEGMENT_DATA, &ref, had, error)
      : pks__snapshot_find_chunk(base, &chunk.id, PKS__SEGMENT_DATA, &ref, had, error);
    want.id = &chunk.id;
    want.length = pks__get32(chunk.length);
    if (!status && !*had && request->has) { status = request->has(request->context, &want, had, error); }
    want.offset += want.length;
  }
  pks__chunk_cursor_free(&chunks);
  *had = *had && want.offset == entry->size;
  // A list of chunks that cannot be read is a loss like any other.
  if (status != PKS_CORRUPT) { return status; }
  *had = false;
  return PKS_OK;
}

static pks_status fail_chunks(const pks__catalog_entry *entry, const char *text, pks_error *error) {
  return pks__fail_at_path(error, PKS_CORRUPT, text, entry->path, entry->path_length);
}

static pks_status take_chunks(version_walk *walk, const pks__catalog_entry *entry, pks_error *error) {
  const char *text = "the chunks do not add up to its size";
  pks__chunk_cursor chunks;
  pks__chunk_cursor_init(&chunks, walk->request->pages, entry);
  pks_status status = PKS_OK;
  uint64_t size = 0;
  for (bool more = true; !status && more;) {
    pks__catalog_chunk chunk;
    status = pks__chunk_cursor_next(&chunks, &chunk, &more, error);
    if (status || !more) { break; }
    uint32_t length = pks__get32(chunk.length);
    if (!chunk_fits(&chunk, walk->pass.ingest->chunker.maximum)) {
      status = fail_chunks(entry, "has a chunk that no chunker makes", error);
    } else if (!pks__range_fits(size, length, entry->size)) {
      status = fail_chunks(entry, text, error);
    } else {
      status = pks__dedup_pass_chunk(&walk->pass, &chunk.id, NULL, length, error);
      size += length;
      walk->pass.ingest->bytes_done += length;
    }
  }
  pks__chunk_cursor_free(&chunks);
  if (status || size == entry->size) { return status; }
  return fail_chunks(entry, text, error);
}

// MARK: - Entries

static pks_status take_entry(version_walk *walk, const pks__catalog_entry *entry, pks_error *error) {
  pks__entry_list *listing = &walk->pass.ingest->listing;
  bool is_file = entry->kind == PKS__RECORD_FILE;
  pks__item item = {
    .size = entry->size,
    .path_length = (uint32_t)entry->path_length,
    .kind = (uint8_t)entry->kind,
    .executable = entry->executable,
    .mapped = is_mapped(walk, entry),
  };
  pks_status status = walk->request->needs_layout ? walk->mapped.failure.status : PKS_OK;
  if (status && error) { *error = walk->mapped.failure; }
  if (!status) { status = pks__entry_list_append(listing, &item, entry->path, entry->target, error); }
  if (status) { return status; }
  pks__dedup_pass_begin(&walk->pass, pks__entry_list_at(listing, pks__entry_list_count(listing) - 1));
  if (is_file) { status = take_chunks(walk, entry, error); }
  if (!status) { status = pks__dedup_pass_end(&walk->pass, error); }
  return status ? status : pks__dedup_pass_report(&walk->pass, error);
}

static pks_status next_entry(version_walk *walk, pks_error *error) {
  const pks__version_request *request = walk->request;
  pks__catalog_entry entry;
  bool had = true;
  pks_status status = pks__catalog_entry_read(&walk->entries, &entry, error);
  if (!status && request->lost) {
    const pks__ingest *ingest = walk->pass.ingest;
    status = pks__ingest_version_has(
      request, ingest->base, &ingest->reuse_policy, &entry, ingest->chunker.maximum, &had, error
    );
  }
  if (!status && had) { status = take_entry(walk, &entry, error); }
  if (!status && !had) { request->lost(request->context, entry.path, entry.path_length); }
  return status ? status : pks__tree_cursor_next(&walk->entries, &walk->more, error);
}

static pks_status no_chunk(void *context, const pks__chunk_want *want, uint8_t *out, pks_error *error) {
  (void)context;
  (void)out;
  return pks__chunk_want_fail(want, error);
}

static pks_status walk_catalog(
  pks__ingest *ingest, const pks__version_request *request, const pks__tree *map, pks_error *error
) {
  version_walk walk = {.request = request};
  pks__chunk_fetch nothing = {.fetch = no_chunk};
  pks__tree_cursor_init(&walk.entries, request->pages, PKS__TREE_MAP, 0, map);
  if (!request->is_mapped) { pks__map_flags_open(&walk.mapped, request->pages, &request->layout); }
  pks_status status =
    pks__dedup_pass_open(&walk.pass, ingest, request->fetch.fetch ? &request->fetch : &nothing, error);
  if (!status) { status = pks__tree_cursor_next(&walk.entries, &walk.more, error); }
  while (!status && walk.more) { status = next_entry(&walk, error); }
  if (!status) { status = pks__dedup_pass_finish(&walk.pass, error); }
  pks__dedup_pass_close(&walk.pass);
  pks__tree_cursor_free(&walk.entries);
  pks__map_flags_close(&walk.mapped);
  return status;
}

static pks_status take_attributes(pks__ingest *ingest, const pks__version_request *request, pks_error *error) {
  pks_status status = pks__ingest_load_attributes(ingest, request->pages, &request->attributes, error);
  if (status != PKS_CORRUPT || !request->lost) { return status; }
  request->lost_attributes(request->context);
  return PKS_OK;
}

// MARK: - Samples

// Samples for the choice of forms come from the version.

static pks_status visit_entry(
  const pks__catalog_entry *entry, version_walk *walk,
  pks_status (*visit)(void *visitor, const pks__sample_file *file, pks_error *error), void *visitor, pks_error *error
) {
  if (entry->kind != PKS__RECORD_FILE || entry->size == 0) { return PKS_OK; }
  pks__sample_file file = {
    .path = entry->path,
    .path_length = entry->path_length,
    .size = entry->size,
    .is_mapped = is_mapped(walk, entry),
    .identity = entry,
  };
  return visit(visitor, &file, error);
}

static pks_status walk_for_sample(
  void *context, pks_status (*visit)(void *visitor, const pks__sample_file *file, pks_error *error), void *visitor,
  pks_error *error
) {
  const pks__version_request *request = context;
  version_walk walk = {.request = request};
  pks__catalog_info info;
  pks__tree map;
  pks_status status = pks__catalog_read_root(request->pages, &request->catalog, &info, &map, error);
  if (status) { return status; }
  pks__tree_cursor_init(&walk.entries, request->pages, PKS__TREE_MAP, 0, &map);
  pks__map_flags_open(&walk.mapped, request->pages, &request->layout);
  status = pks__tree_cursor_next(&walk.entries, &walk.more, error);
  while (!status && walk.more) {
    pks__catalog_entry entry;
    status = pks__catalog_entry_read(&walk.entries, &entry, error);
    if (!status) { status = visit_entry(&entry, &walk, visit, visitor, error); }
    if (!status) { status = pks__tree_cursor_next(&walk.entries, &walk.more, error); }
  }
  pks__tree_cursor_free(&walk.entries);
  pks__map_flags_close(&walk.mapped);
  return status;
}

static bool read_for_sample(void *context, const pks__sample_file *file, uint8_t *out) {
  const pks__version_request *request = context;
  const pks__catalog_entry *entry = file->identity;
  pks__chunk_cursor chunks;
  pks__chunk_cursor_init(&chunks, request->pages, entry);
  pks__chunk_want want = {.path = entry->path, .path_length = entry->path_length};
  pks_status status = PKS_OK;
  for (bool more = true; !status;) {
    pks__catalog_chunk chunk;
    status = pks__chunk_cursor_next(&chunks, &chunk, &more, NULL);
    if (status || !more) { break; }
    want.id = &chunk.id;
    want.length = pks__get32(chunk.length);
    bool fits = pks__range_fits(want.offset, want.length, entry->size);
    status = fits ? request->fetch.fetch(request->fetch.context, &want, out + want.offset, NULL) : PKS_CORRUPT;
    want.offset += want.length;
  }
  pks__chunk_cursor_free(&chunks);
  return !status && want.offset == entry->size;
}

static pks_status choose_forms(pks__ingest *ingest, const pks__version_request *request, pks_error *error) {
  pks__sample_source files = {.context = (void *)(uintptr_t)request, .walk = walk_for_sample, .read = read_for_sample};
  return request->tries_forms ? pks__frame_grouping_run(ingest, &files, error) : PKS_OK;
}

// MARK: - Ingest

/// A frame of chunks that were given before the walk was written: once the sink has noted it, they are new ones.
static pks_status number_given(
  void *context, uint32_t segment, const pks__frame_row *row, const pks__id *ids, const uint32_t *ends,
  uint32_t chunk_count, pks_error *error
) {
  pks__ingest *ingest = context;
  pks__segment_series *series = &ingest->frames.series;
  pks_vfs_file file;
  pks_status status = series->sink ? pks__segment_series_flush(series, &file, error) : PKS_OK;
  if (!status && series->sink) {
    status = series->sink->note_frame(series->sink->context, segment, row, ids, ends, chunk_count, error);
  }
  for (uint32_t i = 0; !status && i < chunk_count; i++) { status = pks__ingest_add_new(ingest, &ids[i], error); }
  return status;
}

pks_status pks__ingest_version_open(
  pks__ingest *out, pks__staging *staging, pks_snapshot *base, const pks__version_request *request,
  uint32_t thread_count, bool sync, pks_error *error
) {
  pks_add_request add = request->encoding ? *request->encoding : (pks_add_request){0};
  add.pack = request->pack;
  add.progress = request->progress;
  add.context = request->context;
  pks__catalog_info info;
  pks__tree map;
  pks_status status = pks__ingest_init(out, staging, base, &add, error);
  out->is_kept = request->is_kept;
  if (!status) { status = pks__catalog_read_root(request->pages, &request->catalog, &info, &map, error); }
  if (status) { return status; }
  if (!pks__chunk_average_is_valid(info.chunk_average)) {
    return pks__fail_about(
      error, PKS_CORRUPT, PKS_DETAIL_NONE, PKS_SUBJECT_PACK, request->pack, "impossible average chunk in the catalog"
    );
  }
  status = take_attributes(out, request, error);
  if (status) { return status; }
  out->stores_purgeable = out->stores_purgeable && !request->stores_durably;
  out->reuse_policy.is_limited = out->reuse_policy.is_limited || request->relays || request->avoided;
  out->reuse_policy.keeps_missing = request->keeps_missing;
  out->reuse_policy.avoided = request->avoided;
  // The written catalog must equal the source catalog, regardless of this store's own chunker.
  out->chunker = pks__chunker_make(info.chunk_average);
  out->info.chunk_average = info.chunk_average;
  out->files_expected = info.file_count;
  out->bytes_expected = info.logical_bytes;
  out->thread_count = thread_count;
  out->saves_memory = request->sink != NULL;
  status = pks__ingest_open_parts(out, request->sink, sync, error);
  out->frames.observe = number_given;
  out->frames.observer = out;
  return status;
}

pks_status pks__ingest_version_walk(pks__ingest *ingest, const pks__version_request *request, pks_error *error) {
  pks__catalog_info info;
  pks__tree map;
  pks_status status = pks__frame_pipeline_flush(&ingest->frames, error);
  // The walk numbers the chunks that it stores itself; they are known from the catalog, and need not be noted.
  ingest->frames.observe = NULL;
  if (!status) { status = pks__catalog_read_root(request->pages, &request->catalog, &info, &map, error); }
  if (!status) { status = walk_catalog(ingest, request, &map, error); }
  bool is_whole = !status && pks__id_equal(&ingest->catalog_id, &request->catalog);
  if (!status && !is_whole && !request->lost) {
    return pks__fail_about(
      error, PKS_CORRUPT, PKS_DETAIL_NONE, PKS_SUBJECT_PACK, request->pack, "the catalog is not in canonical form"
    );
  }
  return status;
}

pks_status pks__ingest_version(
  pks__ingest *out, pks__staging *staging, pks_snapshot *base, const pks__version_request *request, bool sync,
  pks_error *error
) {
  pks_status status = pks__ingest_version_open(out, staging, base, request, staging->store->thread_count, sync, error);
  if (!status) { status = choose_forms(out, request, error); }
  return status ? status : pks__ingest_version_walk(out, request, error);
}
