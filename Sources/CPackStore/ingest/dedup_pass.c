#include "ingest/dedup_pass.h"

#include <string.h>

#include "catalog/tree_cursor.h"
#include "catalog/tree_writer.h"
#include "store/chunk_lookup.h"

enum { PROGRESS_BYTES = 4 * 1024 * 1024, PROGRESS_ITEMS = 1000 };

// MARK: - Finding chunks

/// Whether the row after the last hit holds the chunk; saves a look-up for content that is stored in order.
static bool follows_last_hit(pks__dedup_pass *pass, const pks__id *id) {
  pks__chunk_ref *hit = &pass->last_hit;
  const pks__id *stored;
  if (!pass->has_last_hit || hit->row + 1 >= hit->segment->chunk_count) { return false; }
  if (pks__segment_chunk_id(hit->segment, hit->row + 1, &stored, NULL) || !pks__id_equal(stored, id)) { return false; }
  if (!pks__reuse_policy_allows(&pass->ingest->reuse_policy, hit->segment, hit->row + 1, false)) { return false; }
  hit->row++;
  return true;
}

/// Whether the row of the last hit holds the chunk: the file goes on with the same bytes.
static bool repeats_last_hit(const pks__dedup_pass *pass, const pks__id *id) {
  const pks__id *stored;
  return pass->has_last_hit && !pks__segment_chunk_id(pass->last_hit.segment, pass->last_hit.row, &stored, NULL)
    && pks__id_equal(stored, id);
}

static pks_status find_old_chunk(pks__dedup_pass *pass, const pks__id *id, bool *found, pks_error *error) {
  *found = repeats_last_hit(pass, id) || follows_last_hit(pass, id);
  if (*found) { return PKS_OK; }
  const pks__ingest *ingest = pass->ingest;
  pks_status status = pks__reuse_policy_find_chunk(
    &ingest->reuse_policy, ingest->base, id, PKS__SEGMENT_DATA, &pass->last_hit, found, error
  );
  pass->has_last_hit = !status && *found;
  return status;
}

/// Returns a store segment's number among the segments that this add refers to.
static pks_status old_segment_number(
  pks__ingest *ingest, const pks__chunk_ref *ref, uint32_t *number, pks_error *error
) {
  uint64_t key = (uint64_t)(uintptr_t)ref->segment, probe = 0;
  if (pks__hash_map_next(&ingest->old_segment_map, key, &probe, number)) { return PKS_OK; }
  pks__old_segment old = {
    .segment = ref->segment, .run = ref->run, .index = ref->segment_index, .run_segment = UINT32_MAX};
  *number = (uint32_t)PKS__SCRATCH_COUNT(&ingest->old_segments, pks__old_segment);
  pks_status status = pks__scratch_append(&ingest->old_segments, &old, sizeof old, error);
  return status ? status : pks__hash_map_insert(&ingest->old_segment_map, key, *number, error);
}

// MARK: - Chunks

/// Appends a chunk to the asset's spans, extending the last one where it goes on.
static pks_status add_span(pks__dedup_pass *pass, uint32_t source, uint32_t row, pks_error *error) {
  pks__ingest *ingest = pass->ingest;
  if (pass->asset.span_count > 0) {
    uint64_t last = PKS__SCRATCH_COUNT(&ingest->spans, pks__chunk_span) - 1;
    pks__chunk_span *span = PKS__SCRATCH_AT(&ingest->spans, pks__chunk_span, last);
    if (span->source == source && span->first + span->count == row && span->count < UINT32_MAX) {
      span->count++;
      return PKS_OK;
    }
  }
  if (pass->asset.span_count == UINT32_MAX) {
    return pks__fail_about(
      error, PKS_INVALID_ARGUMENT, PKS_DETAIL_LIMIT, PKS_SUBJECT_NONE, NULL, "an asset has too many chunks"
    );
  }
  pks__chunk_span span = {.source = source, .first = row, .count = 1};
  pass->asset.span_count++;
  return pks__scratch_append(&ingest->spans, &span, sizeof span, error);
}

/// The bytes of a chunk of the asset under way, checked when they are fetched; on loan until the next one.
static pks_status fetch_chunk(
  pks__dedup_pass *pass, const pks__id *id, uint64_t offset, uint32_t length, const uint8_t **bytes, pks_error *error
) {
  pass->fetched.length = 0;
  pks_status status = pks__scratch_reserve(&pass->fetched, length, error);
  if (status) { return status; }
  pks__chunk_want want = {
    .id = id,
    .length = length,
    .path = pks__entry_list_path(&pass->ingest->listing, pass->item),
    .path_length = pass->item->path_length,
    .offset = offset,
    .item = pass->item,
    // Also of kept versions of a pack that is durable now.
    .may_be_purged = pass->ingest->base->generation.cache_folder != NULL,
  };
  *bytes = pass->fetched.bytes;
  return pass->fetch.fetch(pass->fetch.context, &want, pass->fetched.bytes, error);
}

/// Stores the chunk at `offset` of the asset, and hands out the number that it has among the new ones.
static pks_status store_chunk(
  pks__dedup_pass *pass, const pks__id *id, const uint8_t *bytes, uint64_t offset, uint32_t length, uint32_t *number,
  pks_error *error
) {
  pks__ingest *ingest = pass->ingest;
  uint64_t count = PKS__SCRATCH_COUNT(&ingest->new_ids, pks__id);
  if (count == UINT32_MAX) {
    return pks__fail_about(
      error, PKS_INVALID_ARGUMENT, PKS_DETAIL_LIMIT, PKS_SUBJECT_NONE, NULL, "too many new chunks for one pack"
    );
  }
  *number = (uint32_t)count;
  bool is_first = pass->asset.span_count == 0;
  pks_status status = bytes ? PKS_OK : fetch_chunk(pass, id, offset, length, &bytes, error);
  if (!status) { status = pks__scratch_append(&ingest->new_ids, id, sizeof *id, error); }
  return status ? status : pks__frame_pipeline_add(&ingest->frames, id, bytes, length, is_first, error);
}

/// Registers a new chunk, so that the rest of this add finds it.
static pks_status note_new_chunk(
  pks__ingest *ingest, const pks__id *id, uint32_t length, uint32_t number, pks_error *error
) {
  ingest->result.new_chunk_count++;
  ingest->result.new_raw_bytes += length;
  return pks__hash_map_insert_id(&ingest->new_chunks, id, number, error);
}

/// Finds or stores a chunk of an asset that is not a map asset.
static pks_status place_chunk(
  pks__dedup_pass *pass, const pks__id *id, const uint8_t *bytes, uint32_t length, pks_error *error
) {
  pks__ingest *ingest = pass->ingest;
  uint32_t source = PKS__SPAN_NEW, number = 0;
  bool is_known = pks__ingest_find_new(ingest, id, &number), found = false;
  pks_status status = is_known ? PKS_OK : find_old_chunk(pass, id, &found, error);
  if (is_known || found) { pks__frame_pipeline_skip(&ingest->frames); }
  if (!status && found) {
    number = pass->last_hit.row;
    status = old_segment_number(ingest, &pass->last_hit, &source, error);
  } else if (!status && !is_known) {
    status = store_chunk(pass, id, bytes, pass->offset, length, &number, error);
    if (!status) { status = note_new_chunk(ingest, id, length, number, error); }
  }
  return status ? status : add_span(pass, source, number, error);
}

// MARK: - Map assets

/// Stores a chunk of a map asset that is laid out afresh, be it known or not.
static pks_status lay_out_chunk(
  pks__dedup_pass *pass, const pks__id *id, const uint8_t *bytes, uint64_t offset, uint32_t length, pks_error *error
) {
  pks__ingest *ingest = pass->ingest;
  uint32_t number;
  bool is_new = !pks__ingest_find_new(ingest, id, &number), is_old = false;
  pks_status status = is_new ? find_old_chunk(pass, id, &is_old, error) : PKS_OK;
  if (!status) { status = store_chunk(pass, id, bytes, offset, length, &number, error); }
  if (!status && is_new && !is_old) { status = note_new_chunk(ingest, id, length, number, error); }
  ingest->result.mapped_new_bytes += length;
  return status ? status : add_span(pass, PKS__SPAN_NEW, number, error);
}

/// Lays out the chunks that were skipped during the search for an existing place.
static pks_status lay_out_passed(pks__dedup_pass *pass, pks_error *error) {
  uint64_t count = PKS__SCRATCH_COUNT(&pass->passed, pks__catalog_chunk), offset = 0;
  pks_status status = PKS_OK;
  for (uint64_t i = 0; !status && i < count; i++) {
    const pks__catalog_chunk *chunk = PKS__SCRATCH_AT(&pass->passed, const pks__catalog_chunk, i);
    uint32_t length = pks__get32(chunk->length);
    status = lay_out_chunk(pass, &chunk->id, NULL, offset, length, error);
    offset += length;
    pass->bytes_again += length;
    if (!status) { status = pks__dedup_pass_report(pass, error); }
  }
  return status;
}

/// Searches for the chunk where the asset may already be stored.
static pks_status search_chunk(pks__dedup_pass *pass, const pks__catalog_chunk *chunk, pks_error *error) {
  const pks__item *item = pass->item;
  const char *path = pks__entry_list_path(&pass->ingest->listing, item);
  bool is_first = pass->passed.length == 0;
  pks_status status = is_first ? pks__map_search_begin(&pass->search, path, item->path_length, &chunk->id, error)
                               : pks__map_search_next(&pass->search, &chunk->id, error);
  if (status) { return status; }
  pass->is_searching = pass->search.place_count > 0;
  return pass->is_searching ? pks__scratch_append(&pass->passed, chunk, sizeof *chunk, error)
                            : lay_out_passed(pass, error);
}

static pks_status place_mapped_chunk(
  pks__dedup_pass *pass, const pks__catalog_chunk *chunk, const uint8_t *bytes, pks_error *error
) {
  pks_status status = pass->is_searching ? search_chunk(pass, chunk, error) : PKS_OK;
  if (status || pass->is_searching) { return status; }
  return lay_out_chunk(pass, &chunk->id, bytes, pass->offset, pks__get32(chunk->length), error);
}

/// Takes the place where all of the asset was found.
static pks_status take_place(pks__dedup_pass *pass, pks_error *error) {
  pks__ingest *ingest = pass->ingest;
  const pks__map_search *search = &pass->search;
  const pks__map_place *place = &search->places[0];
  pks__chunk_span span = {.source = PKS__SPAN_NEW, .first = place->new_first, .count = search->chunk_count};
  pks_status status = PKS_OK;
  if (place->first.segment) {
    span.first = place->first.row;
    status = old_segment_number(ingest, &place->first, &span.source, error);
  }
  pass->asset.span_count = 1;
  return status ? status : pks__scratch_append(&ingest->spans, &span, sizeof span, error);
}

/// Determines the place of a map asset once all of its chunks were seen.
static pks_status end_mapped(pks__dedup_pass *pass, pks_error *error) {
  pks__ingest *ingest = pass->ingest;
  bool is_kept = pass->is_searching && pass->search.places[0].is_kept;
  pass->asset.mapped = true;
  pass->asset.relaid = pass->asset.relaid || (!pass->asset.changed && !is_kept);
  ingest->result.mapped_count++;
  ingest->result.relaid_count += pass->asset.relaid;
  if (pass->is_searching) { return take_place(pass, error); }
  PKS_ASSERT(pass->asset.span_count == 1);
  const pks__chunk_span *span = PKS__SCRATCH_AT(&ingest->spans, const pks__chunk_span, pass->asset.first_span);
  return pks__map_search_note(&pass->search, span->first, span->count, error);
}

pks_status pks__dedup_pass_chunk(
  pks__dedup_pass *pass, const pks__id *id, const uint8_t *bytes, uint32_t length, pks_error *error
) {
  pks__catalog_chunk row = {.id = *id, .length = pks__put32(length)};
  pks_status status = pks__ingest_add_row(pass->ingest, PKS_PHASE_STORE, error);
  if (!status) { status = pks__rows_append(&pass->chunk_rows, &row, error); }
  pass->ingest->result.chunk_count++;
  if (!status) {
    status =
      pass->item->mapped ? place_mapped_chunk(pass, &row, bytes, error) : place_chunk(pass, id, bytes, length, error);
  }
  pass->offset += length;
  return status;
}

// MARK: - Catalog entries

/// The next path of the current version by the index. Its entry is unknown, so the asset counts as changed.
static pks_status next_old_record(pks__dedup_pass *pass, pks_error *error) {
  pks__run_merge *records = &pass->old_records;
  pass->old_more = false;
  for (bool more = true; more && !pass->old_more;) {
    pks_status status = pks__run_merge_next(records, &more, error);
    if (status) { return status; }
    for (uint32_t i = 0; more && i < records->hit_count; i++) {
      pass->old_more = pass->old_more || records->hits[i].rank == pass->ingest->base_pack;
    }
  }
  pass->old = (pks__catalog_entry){.path = records->path, .path_length = records->path_length};
  return PKS_OK;
}

static pks_status next_old_entry(pks__dedup_pass *pass, pks_error *error) {
  if (pass->old_is_indexed) { return next_old_record(pass, error); }
  pks_status status = pks__tree_cursor_next(&pass->old_entries, &pass->old_more, error);
  if (status || !pass->old_more) { return status; }
  return pks__catalog_entry_read(&pass->old_entries, &pass->old, error);
}

static pks_status note_removed(pks__dedup_pass *pass, pks_error *error) {
  pks_le16 length = pks__put16((uint16_t)pass->old.path_length);
  pks_status status = pks__scratch_append(&pass->ingest->removed, &length, sizeof length, error);
  if (!status) { status = pks__scratch_append(&pass->ingest->removed, pass->old.path, pass->old.path_length, error); }
  return status;
}

/// Advances the current version's catalog to `path`, or past it at the end; skipped entries were removed.
static pks_status pass_old_entries(
  pks__dedup_pass *pass, const char *path, size_t length, int *order, pks_error *error
) {
  *order = 1;
  while (pass->has_old && pass->old_more) {
    const pks__catalog_entry *old = &pass->old;
    int compared = path ? pks__compare_bytes(old->path, old->path_length, path, length) : -1;
    *order = compared;
    if (compared >= 0) { return PKS_OK; }
    pks_status status = note_removed(pass, error);
    if (!status) { status = next_old_entry(pass, error); }
    if (status) { return status; }
  }
  *order = 1;
  return PKS_OK;
}

/// Whether the current version lacks this very entry.
static pks_status compare_with_old(
  pks__dedup_pass *pass, const char *path, size_t length, bool *changed, pks_error *error
) {
  int order;
  pks_status status = pass_old_entries(pass, path, length, &order, error);
  *changed = true;
  if (status || order != 0) { return status; }
  const pks__catalog_entry *old = &pass->old;
  pass->indexed_count += pass->old_is_indexed;
  *changed = old->value_length != pass->value.length || memcmp(old->value, pass->value.bytes, old->value_length) != 0;
  return next_old_entry(pass, error);
}

/// Encodes the entry of an item whose chunks were all consumed.
static pks_status encode_entry(pks__dedup_pass *pass, const pks__item *item, pks_error *error) {
  return pks__catalog_entry_encode(
    &pass->value, (pks__record_kind)item->kind, item->executable, item->size,
    pks__entry_list_target(&pass->ingest->listing, item), &pass->chunk_rows, error
  );
}

static void count_item(pks__catalog_info *info, const pks__item *item) {
  switch ((pks__record_kind)item->kind) {
    case PKS__RECORD_FILE:
      info->file_count++;
      info->logical_bytes += item->size;
      break;
    case PKS__RECORD_LINK: info->link_count++; break;
    case PKS__RECORD_FOLDER: info->folder_count++; break;
    case PKS__RECORD_ABSENT: break;
  }
}

/// Finds out whether an asset that did not change needs a new record.
static pks_status find_relaid(pks__dedup_pass *pass, const char *path, size_t length, pks_error *error) {
  pks__ingest *ingest = pass->ingest;
  if (!ingest->reuse_policy.is_limited || pass->asset.changed || pass->asset.span_count == 0) { return PKS_OK; }
  pks__hit hit;
  bool found, allows = true;
  pks_status status = pks__namespace_find(ingest->base, path, length, ingest->base_pack, &hit, &found, error);
  if (!status && found) {
    status = pks__reuse_policy_allows_record(&ingest->reuse_policy, ingest->base, &hit, &allows, error);
  }
  pass->asset.relaid = !allows;
  ingest->result.restored_count += !allows;
  return status;
}

void pks__dedup_pass_begin(pks__dedup_pass *pass, const pks__item *item) {
  pks__ingest *ingest = pass->ingest;
  pass->item = item;
  pass->offset = 0;
  pass->asset = (pks__ingest_asset){.first_span = PKS__SCRATCH_COUNT(&ingest->spans, pks__chunk_span)};
  pass->is_searching = item->mapped;
  pass->passed.length = 0;
  const pks__frame_form *form = pks__frame_grouping_kinds_for(
    &ingest->forms, pks__entry_list_path(&ingest->listing, item), item->path_length, item->size, item->mapped
  );
  pks__frame_pipeline_begin_asset(&ingest->frames, item->size, item->mapped, form);
}

pks_status pks__dedup_pass_end(pks__dedup_pass *pass, pks_error *error) {
  pks__ingest *ingest = pass->ingest;
  const pks__item *item = pass->item;
  const char *path = pks__entry_list_path(&ingest->listing, item);
  pks__frame_pipeline_end_asset(&ingest->frames);
  pks_status status = encode_entry(pass, item, error);
  if (!status) { status = compare_with_old(pass, path, item->path_length, &pass->asset.changed, error); }
  if (!status && item->mapped) { status = end_mapped(pass, error); }
  if (!status && !item->mapped) { status = find_relaid(pass, path, item->path_length, error); }
  if (!status) {
    status = pks__tree_writer_put(
      &pass->entries, path, item->path_length, pass->value.bytes, (size_t)pass->value.length, error
    );
  }
  if (!status) { status = pks__scratch_append(&ingest->assets, &pass->asset, sizeof pass->asset, error); }
  count_item(&ingest->info, item);
  pass->items++;
  return status;
}

// MARK: - Progress

pks_status pks__dedup_pass_report(pks__dedup_pass *pass, pks_error *error) {
  pks__ingest *ingest = pass->ingest;
  uint64_t bytes_read = ingest->bytes_done + pass->bytes_again;
  bool due =
    bytes_read - pass->reported_bytes >= PROGRESS_BYTES || pass->items - pass->reported_items >= PROGRESS_ITEMS;
  if (!due) { return PKS_OK; }
  pass->reported_bytes = bytes_read;
  pass->reported_items = pass->items;
  return pks__ingest_report(ingest, PKS_PHASE_STORE, error);
}

// MARK: - Life

/// Begins with the records of the current version.
static pks_status open_old_records(pks__dedup_pass *pass, pks_error *error) {
  pks_status status = pks__run_merge_open(&pass->old_records, pass->ingest->base, error);
  if (!status) { status = pks__run_merge_seek(&pass->old_records, "", 0, error); }
  pass->has_old = !status;
  return status ? status : next_old_entry(pass, error);
}

static pks_status open_old_catalog(pks__dedup_pass *pass, pks_error *error) {
  pks__ingest *ingest = pass->ingest;
  const pks__version *current = pks__generation_current(&ingest->base->generation, ingest->request.pack);
  if (!current || ingest->is_kept) { return PKS_OK; }
  pks__catalog_info info;
  pks__tree map;
  pass->old_is_indexed = ingest->reuse_policy.lacks_pages;
  if (pass->old_is_indexed) { return open_old_records(pass, error); }
  pks_status status = pks__catalog_read_root(pks__snapshot_pages(ingest->base), &current->catalog, &info, &map, error);
  if (status) { return status; }
  pks__tree_cursor_init(&pass->old_entries, pks__snapshot_pages(ingest->base), PKS__TREE_MAP, 0, &map);
  pass->has_old = true;
  return next_old_entry(pass, error);
}

pks_status pks__dedup_pass_open(
  pks__dedup_pass *out, pks__ingest *ingest, const pks__chunk_fetch *fetch, pks_error *error
) {
  *out = (pks__dedup_pass){.ingest = ingest, .fetch = *fetch};
  pks__page_sink sink = pks__page_writer_sink(&ingest->pages);
  pks__rows_init(&out->chunk_rows, sink, sizeof(pks__catalog_chunk));
  pks__tree_writer_init(&out->entries, sink, PKS__TREE_MAP, 0);
  pks__scratch_folder *home = &ingest->staging->scratch;
  pks__map_search_init(&out->search, ingest->base, ingest->base_pack, &ingest->new_ids, home);
  out->search.written = pks__ingest_written(ingest);
  out->search.reuse_policy = &ingest->reuse_policy;
  pks__scratch_init(&out->passed, home);
  pks_status status = pks__ingest_report(ingest, PKS_PHASE_STORE, error);
  return status ? status : open_old_catalog(out, error);
}

void pks__dedup_pass_close(pks__dedup_pass *pass) {
  pks__rows_free(&pass->chunk_rows);
  pks__tree_writer_free(&pass->entries);
  pks__tree_cursor_free(&pass->old_entries);
  pks__run_merge_close(&pass->old_records);
  pks__scratch_free(&pass->value);
  pks__scratch_free(&pass->passed);
  pks__scratch_free(&pass->fetched);
  pks__map_search_free(&pass->search);
}

pks_status pks__dedup_pass_finish(pks__dedup_pass *pass, pks_error *error) {
  pks__ingest *ingest = pass->ingest;
  int order;
  pks_status status = pass_old_entries(pass, NULL, 0, &order, error);
  if (!status) { status = pks__tree_writer_finish(&pass->entries, &ingest->catalog, error); }
  if (!status) {
    status = pks__catalog_put_root(
      pks__page_writer_sink(&ingest->pages), &ingest->info, &ingest->catalog, &ingest->catalog_id, error
    );
  }
  if (status) { return status; }
  const pks__version *current = pks__generation_current(&ingest->base->generation, ingest->request.pack);
  ingest->result.unchanged = current && pks__version_is(current, &ingest->catalog_id, &ingest->attributes_id);
  if (ingest->result.unchanged) { ingest->result.restored_count += pass->indexed_count; }
  status = pks__ingest_check_rows(ingest, error);
  if (!status) { status = pks__frame_pipeline_finish(&ingest->frames, error); }
  return status ? status : pks__ingest_report(ingest, PKS_PHASE_STORE, error);
}
