#include "ingest.h"

#include <errno.h>
#include <string.h>

#include "block.h"
#include "checksum.h"
#include "map_search.h"
#include "memory.h"

enum { PROGRESS_BYTES = 4 * 1024 * 1024, PROGRESS_ITEMS = 1000 };

/// State of the first pass that the second does not need.
typedef struct consumer {
  pks__ingest *ingest;
  pks__rows chunk_rows;  ///< of the asset under way
  pks__tree_writer entries;
  pks__scratch value;
  pks__tree_cursor old_entries;  ///< the current version's catalog
  bool has_old, old_more;
  pks__catalog_entry old;
  const pks__source_item *item;  ///< under way
  pks__ingest_asset asset;       ///< likewise
  pks__map_search search;
  bool is_searching;        ///< the asset under way is a map asset, and may turn out to lie somewhere already
  pks__scratch passed;      ///< pks__catalog_chunk: what was consumed of it while searching
  uint64_t bytes_again;     ///< read a second time, to be laid out
  pks__chunk_ref last_hit;  ///< the next chunk is often the next row
  bool has_last_hit;
  uint64_t reported_bytes, items, reported_items;
} consumer;

// MARK: - Finding chunks

static bool find_new_chunk(const pks__ingest *ingest, const pks__id *id, uint32_t *number) {
  uint64_t probe = 0;
  while (pks__map_next(&ingest->new_chunks, pks__id_prefix(id), &probe, number)) {
    if (pks__id_equal(PKS__SCRATCH_AT(&ingest->new_ids, pks__id, *number), id)) { return true; }
  }
  return false;
}

/// Whether the row after the last hit holds the chunk; saves a look-up for content that is stored in order.
static bool follows_last_hit(consumer *consumer, const pks__id *id) {
  pks__chunk_ref *hit = &consumer->last_hit;
  const pks__id *stored;
  if (!consumer->has_last_hit || hit->row + 1 >= hit->segment->chunk_count) { return false; }
  if (pks__segment_chunk_id(hit->segment, hit->row + 1, &stored, NULL) || !pks__id_equal(stored, id)) { return false; }
  hit->row++;
  return true;
}

static pks_status find_old_chunk(consumer *consumer, const pks__id *id, bool *found, pks_error *error) {
  *found = follows_last_hit(consumer, id);
  if (*found) { return PKS_OK; }
  pks_status status =
    pks__view_find_chunk(consumer->ingest->base, id, PKS__SEGMENT_DATA, &consumer->last_hit, found, error);
  consumer->has_last_hit = !status && *found;
  return status;
}

/// The number of a segment of the store among those that this add refers to.
static pks_status old_segment_number(
  pks__ingest *ingest, const pks__chunk_ref *ref, uint32_t *number, pks_error *error
) {
  uint64_t key = (uint64_t)(uintptr_t)ref->segment, probe = 0;
  if (pks__map_next(&ingest->old_segment_map, key, &probe, number)) { return PKS_OK; }
  pks__old_segment old = {
    .segment = ref->segment, .run = ref->run, .index = ref->segment_index, .run_segment = UINT32_MAX};
  *number = (uint32_t)PKS__SCRATCH_COUNT(&ingest->old_segments, pks__old_segment);
  pks_status status = pks__scratch_append(&ingest->old_segments, &old, sizeof old, error);
  return status ? status : pks__map_insert(&ingest->old_segment_map, key, *number, error);
}

// MARK: - Chunks

/// Appends a chunk to the asset's spans, extending the last one where it goes on.
static pks_status add_span(consumer *consumer, uint32_t source, uint32_t row, pks_error *error) {
  pks__ingest *ingest = consumer->ingest;
  if (consumer->asset.span_count > 0) {
    uint64_t last = PKS__SCRATCH_COUNT(&ingest->spans, pks__chunk_span) - 1;
    pks__chunk_span *span = PKS__SCRATCH_AT(&ingest->spans, pks__chunk_span, last);
    if (span->source == source && span->first + span->count == row && span->count < UINT32_MAX) {
      span->count++;
      return PKS_OK;
    }
  }
  if (consumer->asset.span_count == UINT32_MAX) {
    return pks__fail(error, PKS_INVALID_ARGUMENT, "an asset has too many chunks", NULL, PKS_NO_OFFSET);
  }
  pks__chunk_span span = {.source = source, .first = row, .count = 1};
  consumer->asset.span_count++;
  return pks__scratch_append(&ingest->spans, &span, sizeof span, error);
}

/// Stores a chunk, and hands out the number that it has among the new ones.
static pks_status store_chunk(
  consumer *consumer, const pks__id *id, const uint8_t *bytes, uint32_t length, uint32_t *number, pks_error *error
) {
  pks__ingest *ingest = consumer->ingest;
  uint64_t count = PKS__SCRATCH_COUNT(&ingest->new_ids, pks__id);
  if (count == UINT32_MAX) {
    return pks__fail(error, PKS_INVALID_ARGUMENT, "too many new chunks for one pack", NULL, PKS_NO_OFFSET);
  }
  *number = (uint32_t)count;
  bool is_first = consumer->asset.span_count == 0;
  pks_status status = pks__scratch_append(&ingest->new_ids, id, sizeof *id, error);
  return status ? status : pks__frame_pipeline_add(&ingest->frames, id, bytes, length, is_first, error);
}

/// Makes a chunk that was stored known to what comes later in this add.
static pks_status note_new_chunk(
  pks__ingest *ingest, const pks__id *id, uint32_t length, uint32_t number, pks_error *error
) {
  ingest->result.new_chunk_count++;
  ingest->result.new_raw_bytes += length;
  return pks__map_insert(&ingest->new_chunks, pks__id_prefix(id), number, error);
}

/// Finds or stores a chunk of an asset that is no map asset.
static pks_status place_chunk(
  consumer *consumer, const pks__id *id, const uint8_t *bytes, uint32_t length, pks_error *error
) {
  pks__ingest *ingest = consumer->ingest;
  uint32_t source = PKS__SPAN_NEW, number = 0;
  if (find_new_chunk(ingest, id, &number)) { return add_span(consumer, source, number, error); }
  bool found;
  pks_status status = find_old_chunk(consumer, id, &found, error);
  if (!status && found) {
    number = consumer->last_hit.row;
    status = old_segment_number(ingest, &consumer->last_hit, &source, error);
  } else if (!status) {
    status = store_chunk(consumer, id, bytes, length, &number, error);
    if (!status) { status = note_new_chunk(ingest, id, length, number, error); }
  }
  return status ? status : add_span(consumer, source, number, error);
}

// MARK: - Map assets

/// Stores a chunk of a map asset that is laid out afresh, be it known or not.
static pks_status lay_out_chunk(
  consumer *consumer, const pks__id *id, const uint8_t *bytes, uint32_t length, pks_error *error
) {
  pks__ingest *ingest = consumer->ingest;
  uint32_t number;
  bool is_new = !find_new_chunk(ingest, id, &number), is_old = false;
  pks_status status = is_new ? find_old_chunk(consumer, id, &is_old, error) : PKS_OK;
  if (!status) { status = store_chunk(consumer, id, bytes, length, &number, error); }
  if (!status && is_new && !is_old) { status = note_new_chunk(ingest, id, length, number, error); }
  ingest->result.mapped_new_bytes += length;
  return status ? status : add_span(consumer, PKS__SPAN_NEW, number, error);
}

/// Reads one chunk again, sees that it is what it was, and lays it out.
static pks_status lay_out_again(
  consumer *consumer, pks__file file, uint64_t offset, const pks__catalog_chunk *chunk, uint8_t *bytes, pks_error *error
) {
  pks__ingest *ingest = consumer->ingest;
  uint32_t length = pks__get32(chunk->length);
  pks__id id;
  pks_status status = pks__source_read(&ingest->source, consumer->item, file, offset, bytes, length, error);
  if (status) { return status; }
  ingest->session->store->sha256(bytes, length, id.bytes);
  if (!pks__id_equal(&id, &chunk->id)) { return pks__source_changed(&ingest->source, consumer->item, error); }
  consumer->bytes_again += length;
  return lay_out_chunk(consumer, &id, bytes, length, error);
}

static pks_status report(consumer *consumer, pks_error *error);

/// Lays out what was passed over while there was hope that it lies somewhere already.
static pks_status lay_out_passed(consumer *consumer, pks_error *error) {
  pks__ingest *ingest = consumer->ingest;
  uint64_t count = PKS__SCRATCH_COUNT(&consumer->passed, pks__catalog_chunk), offset = 0;
  if (count == 0) { return PKS_OK; }
  uint8_t *bytes = pks__allocate(ingest->chunker.maximum);
  pks__file file = PKS__NO_FILE;
  pks_status status = bytes ? PKS_OK : pks__fail_memory(error);
  if (!status) { status = pks__source_open(&ingest->source, consumer->item, &file, error); }
  for (uint64_t i = 0; !status && i < count; i++) {
    const pks__catalog_chunk *chunk = PKS__SCRATCH_AT(&consumer->passed, const pks__catalog_chunk, i);
    status = lay_out_again(consumer, file, offset, chunk, bytes, error);
    offset += pks__get32(chunk->length);
    if (!status) { status = report(consumer, error); }
  }
  if (file != PKS__NO_FILE) { ingest->source.vfs->close(ingest->source.vfs->context, file); }
  pks__free(bytes);
  return status;
}

/// Looks for the chunk where the asset may lie already.
static pks_status search_chunk(consumer *consumer, const pks__catalog_chunk *chunk, pks_error *error) {
  const pks__source_item *item = consumer->item;
  const char *path = pks__source_path(&consumer->ingest->source, item);
  bool is_first = consumer->passed.length == 0;
  pks_status status = is_first ? pks__map_search_begin(&consumer->search, path, item->path_length, &chunk->id, error)
                               : pks__map_search_next(&consumer->search, &chunk->id, error);
  if (status) { return status; }
  consumer->is_searching = consumer->search.place_count > 0;
  return consumer->is_searching ? pks__scratch_append(&consumer->passed, chunk, sizeof *chunk, error)
                                : lay_out_passed(consumer, error);
}

static pks_status place_mapped_chunk(
  consumer *consumer, const pks__catalog_chunk *chunk, const uint8_t *bytes, pks_error *error
) {
  pks_status status = consumer->is_searching ? search_chunk(consumer, chunk, error) : PKS_OK;
  if (status || consumer->is_searching) { return status; }
  return lay_out_chunk(consumer, &chunk->id, bytes, pks__get32(chunk->length), error);
}

/// Takes the place where all of the asset was found.
static pks_status take_place(consumer *consumer, pks_error *error) {
  pks__ingest *ingest = consumer->ingest;
  const pks__map_search *search = &consumer->search;
  const pks__map_place *place = &search->places[0];
  pks__chunk_span span = {.source = PKS__SPAN_NEW, .first = place->new_first, .count = search->chunk_count};
  pks_status status = PKS_OK;
  if (place->first.segment) {
    span.first = place->first.row;
    status = old_segment_number(ingest, &place->first, &span.source, error);
  }
  consumer->asset.span_count = 1;
  return status ? status : pks__scratch_append(&ingest->spans, &span, sizeof span, error);
}

/// Settles where a map asset lies once all of its chunks were seen.
static pks_status end_mapped(consumer *consumer, pks_error *error) {
  pks__ingest *ingest = consumer->ingest;
  bool is_kept = consumer->is_searching && consumer->search.places[0].is_kept;
  consumer->asset.mapped = true;
  consumer->asset.relaid = !consumer->asset.changed && !is_kept;
  ingest->result.mapped_count++;
  ingest->result.relaid_count += consumer->asset.relaid;
  if (consumer->is_searching) { return take_place(consumer, error); }
  PKS_ASSERT(consumer->asset.span_count == 1);
  const pks__chunk_span *span = PKS__SCRATCH_AT(&ingest->spans, const pks__chunk_span, consumer->asset.first_span);
  return pks__map_search_note(&consumer->search, span->first, span->count, error);
}

static pks_status consume_chunk(
  consumer *consumer, const pks__id *id, const uint8_t *bytes, uint32_t length, pks_error *error
) {
  pks__catalog_chunk row = {.id = *id, .length = pks__put32(length)};
  pks_status status = pks__rows_append(&consumer->chunk_rows, &row, error);
  consumer->ingest->result.chunk_count++;
  if (status) { return status; }
  return consumer->item->mapped ? place_mapped_chunk(consumer, &row, bytes, error)
                                : place_chunk(consumer, id, bytes, length, error);
}

// MARK: - Catalog entries

static pks_status next_old_entry(consumer *consumer, pks_error *error) {
  pks_status status = pks__tree_cursor_next(&consumer->old_entries, &consumer->old_more, error);
  if (status || !consumer->old_more) { return status; }
  return pks__catalog_entry_read(&consumer->old_entries, &consumer->old, error);
}

static pks_status note_removed(consumer *consumer, pks_error *error) {
  pks_le16 length = pks__put16((uint16_t)consumer->old.path_length);
  pks_status status = pks__scratch_append(&consumer->ingest->removed, &length, sizeof length, error);
  if (!status) {
    status = pks__scratch_append(&consumer->ingest->removed, consumer->old.path, consumer->old.path_length, error);
  }
  consumer->ingest->removed_count++;
  return status;
}

/// Moves the current version's catalog to `path`, or past it at the end; what lies between was removed.
static pks_status pass_old_entries(consumer *consumer, const char *path, size_t length, int *order, pks_error *error) {
  *order = 1;
  while (consumer->has_old && consumer->old_more) {
    const pks__catalog_entry *old = &consumer->old;
    int compared = path ? memcmp(old->path, path, pks__min_size(old->path_length, length)) : -1;
    if (compared == 0) { compared = old->path_length < length ? -1 : old->path_length > length; }
    *order = compared;
    if (compared >= 0) { return PKS_OK; }
    pks_status status = note_removed(consumer, error);
    if (!status) { status = next_old_entry(consumer, error); }
    if (status) { return status; }
  }
  *order = 1;
  return PKS_OK;
}

/// Whether the current version lacks this very entry.
static pks_status compare_with_old(
  consumer *consumer, const char *path, size_t length, bool *changed, pks_error *error
) {
  int order;
  pks_status status = pass_old_entries(consumer, path, length, &order, error);
  *changed = true;
  if (status || order != 0) { return status; }
  const pks__catalog_entry *old = &consumer->old;
  *changed =
    old->value_length != consumer->value.length || memcmp(old->value, consumer->value.bytes, old->value_length) != 0;
  return next_old_entry(consumer, error);
}

/// Encodes the entry of an item whose chunks were all consumed.
static pks_status encode_entry(consumer *consumer, const pks__source_item *item, pks_error *error) {
  const pks__source *source = &consumer->ingest->source;
  uint8_t flags = (uint8_t)(item->kind | (item->executable ? PKS__ENTRY_EXECUTABLE : 0));
  consumer->value.length = 0;
  pks_status status = pks__scratch_append(&consumer->value, &flags, sizeof flags, error);
  if (status) { return status; }
  if (item->kind == PKS__RECORD_LINK) {
    return pks__scratch_append(&consumer->value, pks__source_target(source, item), item->size, error);
  }
  if (item->kind == PKS__RECORD_FOLDER) { return PKS_OK; }
  uint8_t size[PKS__VARINT_MAX];
  status = pks__scratch_append(&consumer->value, size, pks__put_varint(size, item->size), error);
  if (!status) { status = pks__rows_finish(&consumer->chunk_rows, &consumer->value, &flags, error); }
  if (!status) { consumer->value.bytes[0] = flags; }
  return status;
}

static void count_item(pks__catalog_info *info, const pks__source_item *item) {
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

static void begin_asset(consumer *consumer, const pks__source_item *item) {
  pks__ingest *ingest = consumer->ingest;
  consumer->item = item;
  consumer->asset = (pks__ingest_asset){.first_span = PKS__SCRATCH_COUNT(&ingest->spans, pks__chunk_span)};
  consumer->is_searching = item->mapped;
  consumer->passed.length = 0;
  pks__frame_pipeline_begin_asset(&ingest->frames, item->size, item->mapped);
}

static pks_status end_asset(consumer *consumer, const pks__source_item *item, pks_error *error) {
  pks__ingest *ingest = consumer->ingest;
  const char *path = pks__source_path(&ingest->source, item);
  pks__frame_pipeline_end_asset(&ingest->frames);
  pks_status status = encode_entry(consumer, item, error);
  if (!status) { status = compare_with_old(consumer, path, item->path_length, &consumer->asset.changed, error); }
  if (!status && item->mapped) { status = end_mapped(consumer, error); }
  if (!status) {
    status = pks__tree_writer_put(
      &consumer->entries, path, item->path_length, consumer->value.bytes, (size_t)consumer->value.length, error
    );
  }
  if (!status) { status = pks__scratch_append(&ingest->assets, &consumer->asset, sizeof consumer->asset, error); }
  ingest->changed_count += consumer->asset.changed;
  count_item(&ingest->info, item);
  consumer->items++;
  return status;
}

// MARK: - Blocks

static pks_status report(consumer *consumer, pks_error *error) {
  pks__ingest *ingest = consumer->ingest;
  const pks_add_request *request = ingest->request;
  uint64_t bytes_read = ingest->bytes_done + consumer->bytes_again;
  bool due = bytes_read - consumer->reported_bytes >= PROGRESS_BYTES
    || consumer->items - consumer->reported_items >= PROGRESS_ITEMS;
  if (!request->progress || !due) { return PKS_OK; }
  consumer->reported_bytes = bytes_read;
  consumer->reported_items = consumer->items;
  pks_progress progress = {
    .phase = PKS_PHASE_STORE,
    .files_done = ingest->info.file_count,
    .files_total = ingest->source.file_count,
    .bytes_done = ingest->bytes_done,
    .bytes_total = ingest->source.byte_count,
    .bytes_stored = ingest->frames.series.stored_bytes,
  };
  if (request->progress(request->context, &progress)) { return PKS_OK; }
  return pks__fail(error, PKS_CANCELLED, "cancelled", NULL, PKS_NO_OFFSET);
}

static pks_status consume_chunks(
  consumer *consumer, const pks__block *block, uint32_t first, uint32_t count, pks_error *error
) {
  pks_status status = PKS_OK;
  for (uint32_t i = first; !status && i < first + count; i++) {
    const pks__block_chunk *chunk = &block->chunks[i];
    status = consume_chunk(consumer, &chunk->id, block->bytes + chunk->offset, chunk->length, error);
  }
  return status;
}

static pks_status consume_block(consumer *consumer, const pks__block *block, pks_error *error) {
  const pks__source *source = &consumer->ingest->source;
  pks_status status = PKS_OK;
  for (uint32_t i = 0, chunk = 0; !status && i < block->item_count; chunk += block->item_chunks[i++]) {
    const pks__source_item *item = pks__source_at(source, block->first_item + i);
    if (!block->is_stretch || block->begins_file) { begin_asset(consumer, item); }
    status = consume_chunks(consumer, block, chunk, block->item_chunks[i], error);
    bool ends = !block->is_stretch || block->ends_file;
    if (!status && ends) { status = end_asset(consumer, item, error); }
  }
  consumer->ingest->bytes_done += block->byte_count;
  return status ? status : report(consumer, error);
}

/// Blocks in a ring: filled ahead, hashed by any thread, consumed in order.
typedef struct block_ring {
  pks__block **blocks;
  uint32_t size, oldest, count;
} block_ring;

static pks_status make_ring(block_ring *ring, pks__ingest *ingest, pks_error *error) {
  ring->size = pks__pool_thread_count(ingest->pool) * 2 + 2;
  ring->blocks = pks__allocate_zeroed(ring->size, sizeof *ring->blocks);
  if (!ring->blocks) { return pks__fail_memory(error); }
  pks_status status = PKS_OK;
  for (uint32_t i = 0; !status && i < ring->size; i++) {
    status =
      pks__block_create(&ring->blocks[i], &ingest->source, &ingest->chunker, ingest->session->store->sha256, error);
  }
  return status;
}

static void free_ring(block_ring *ring, pks__pool *pool) {
  for (uint32_t i = 0; i < ring->count; i++) {
    pks__pool_finish(pool, &ring->blocks[(ring->oldest + i) % ring->size]->task);
  }
  for (uint32_t i = 0; ring->blocks && i < ring->size; i++) { pks__block_destroy(ring->blocks[i]); }
  pks__free(ring->blocks);
}

/// Fills blocks while there is room. One stays unfilled: the uncut rest of a large file lies in the block before.
static pks_status fill_ring(block_ring *ring, pks__block_filler *filler, pks__pool *pool, pks_error *error) {
  while (ring->count < ring->size - 1) {
    pks__block *block = ring->blocks[(ring->oldest + ring->count) % ring->size];
    bool filled;
    pks_status status = pks__block_fill(filler, block, &filled, error);
    if (status || !filled) { return status; }
    ring->count++;
    pks__pool_submit(pool, &block->task);
  }
  return PKS_OK;
}

static pks_status consume_source(consumer *consumer, pks_error *error) {
  pks__ingest *ingest = consumer->ingest;
  block_ring ring = {0};
  pks__block_filler filler = {
    .source = &ingest->source, .chunker = &ingest->chunker, .file = PKS__NO_FILE, .carry = (const uint8_t *)""};
  pks_status status = make_ring(&ring, ingest, error);
  if (!status) { status = fill_ring(&ring, &filler, ingest->pool, error); }
  while (!status && ring.count > 0) {
    pks__block *block = ring.blocks[ring.oldest];
    pks__pool_finish(ingest->pool, &block->task);
    ring.oldest = (ring.oldest + 1) % ring.size;
    ring.count--;
    status = block->status;
    if (status && error) { *error = block->error; }
    if (!status) { status = consume_block(consumer, block, error); }
    if (!status) { status = fill_ring(&ring, &filler, ingest->pool, error); }
  }
  pks__block_filler_close(&filler);
  free_ring(&ring, ingest->pool);
  return status;
}

// MARK: - First pass

static pks_status open_old_catalog(consumer *consumer, pks_error *error) {
  pks__ingest *ingest = consumer->ingest;
  if (ingest->base_pack == UINT32_MAX) { return PKS_OK; }
  const pks__version *current = &ingest->base->generation.packs[ingest->base_pack].versions[0];
  pks__catalog_info info;
  pks__tree map;
  pks_status status = pks__catalog_read_root(pks__view_pages(ingest->base), &current->catalog, &info, &map, error);
  if (status) { return status; }
  pks__tree_cursor_init(&consumer->old_entries, pks__view_pages(ingest->base), PKS__TREE_MAP, 0, &map);
  consumer->has_old = true;
  return next_old_entry(consumer, error);
}

static pks_status finish_catalog(consumer *consumer, pks_error *error) {
  pks__ingest *ingest = consumer->ingest;
  int order;
  pks_status status = pass_old_entries(consumer, NULL, 0, &order, error);
  if (!status) { status = pks__tree_writer_finish(&consumer->entries, &ingest->catalog, error); }
  if (!status) {
    status = pks__catalog_put_root(
      pks__page_store_sink(&ingest->pages), &ingest->info, &ingest->catalog, &ingest->catalog_id, error
    );
  }
  return status;
}

static pks_status run_first_pass(pks__ingest *ingest, pks_error *error) {
  consumer consumer = {.ingest = ingest};
  pks__page_sink sink = pks__page_store_sink(&ingest->pages);
  pks__rows_init(&consumer.chunk_rows, sink, sizeof(pks__catalog_chunk));
  pks__tree_writer_init(&consumer.entries, sink, PKS__TREE_MAP, 0);
  pks__scratch_folder *home = &ingest->session->scratch;
  pks__map_search_init(&consumer.search, ingest->base, ingest->base_pack, &ingest->new_ids, home);
  pks__scratch_init(&consumer.passed, home);
  pks_status status = open_old_catalog(&consumer, error);
  if (!status) { status = consume_source(&consumer, error); }
  if (!status) { status = finish_catalog(&consumer, error); }
  if (!status) { status = pks__frame_pipeline_finish(&ingest->frames, error); }
  pks__rows_free(&consumer.chunk_rows);
  pks__tree_writer_free(&consumer.entries);
  pks__tree_cursor_free(&consumer.old_entries);
  pks__scratch_free(&consumer.value);
  pks__scratch_free(&consumer.passed);
  pks__map_search_free(&consumer.search);
  return status;
}

static void init_scratch(pks__ingest *ingest) {
  pks__scratch_folder *home = &ingest->session->scratch;
  pks__scratch *all[] = {&ingest->assets, &ingest->spans, &ingest->old_segments, &ingest->new_ids, &ingest->removed};
  for (size_t i = 0; i < PKS_COUNT_OF(all); i++) { pks__scratch_init(all[i], home); }
  pks__map_init(&ingest->old_segment_map, home);
  pks__map_init(&ingest->new_chunks, home);
}

static pks_status open_parts(pks__ingest *ingest, bool sync, pks_error *error) {
  pks_store *store = ingest->session->store;
  pks__file_info own = {0};
  int failure = store->vfs->info_of(store->vfs->context, store->root, &own);
  if (failure) { return pks__fail_system(error, failure, "cannot examine", "."); }
  pks_status status = pks__source_scan(&ingest->source, &ingest->session->scratch, ingest->request, &own, error);
  if (!status) { status = pks__page_store_open(&ingest->pages, ingest->session, ingest->base, sync, error); }
  if (!status) {
    ingest->pool = pks__pool_create(store->thread_count);
    if (!ingest->pool) { status = pks__fail_memory(error); }
  }
  if (!status) {
    status = pks__frame_pipeline_open(
      &ingest->frames, ingest->session, ingest->pool, ingest->request, ingest->chunker.maximum, sync, error
    );
  }
  return status;
}

pks_status pks__ingest_store(
  pks__ingest *out, pks__session *session, pks__view *base, const pks_add_request *request, bool sync, pks_error *error
) {
  *out = (pks__ingest){.session = session, .base = base, .request = request};
  out->base_pack = pks__generation_find_pack(&base->generation, request->pack);
  out->chunker = pks__chunker_make(session->store->chunk_average);
  out->info.chunk_average = session->store->chunk_average;
  init_scratch(out);
  pks_status status = open_parts(out, sync, error);
  if (!status) { status = run_first_pass(out, error); }
  // One file without permission is seldom alone: all are reported at once.
  if (status == PKS_IO_ERROR && error && (error->system_error == EACCES || error->system_error == EPERM)) {
    pks__source_report_unreadable(&out->source, request);
    status =
      pks__fail(error, PKS_REFUSED, "the folder holds files that cannot be read", request->folder, PKS_NO_OFFSET);
  }
  // What is left of the source is enough for sure; what is staged so far goes with the transaction. With map assets, what
  // was consumed already may have to be written again.
  if (status == PKS_NO_SPACE && error) {
    error->needed += out->source.byte_count - (out->source.mapped_count > 0 ? 0 : out->bytes_done);
  }
  if (status) { return status; }
  if (out->base_pack != UINT32_MAX) {
    const pks__version *current = &base->generation.packs[out->base_pack].versions[0];
    out->result.unchanged = pks__id_equal(&current->catalog, &out->catalog_id);
  }
  return PKS_OK;
}

void pks__ingest_close(pks__ingest *ingest) {
  if (!ingest->session) { return; }
  pks__run_writer_free(&ingest->run);
  pks__frame_pipeline_close(&ingest->frames);
  if (ingest->pages.base) { pks__page_store_close(&ingest->pages); }
  pks__pool_destroy(ingest->pool);
  pks__source_close(&ingest->source);
  pks__scratch *all[] = {&ingest->assets, &ingest->spans, &ingest->old_segments, &ingest->new_ids, &ingest->removed};
  for (size_t i = 0; i < PKS_COUNT_OF(all); i++) { pks__scratch_free(all[i]); }
  pks__map_free(&ingest->old_segment_map);
  pks__map_free(&ingest->new_chunks);
  *ingest = (pks__ingest){0};
}
