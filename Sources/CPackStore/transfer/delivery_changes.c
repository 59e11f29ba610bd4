#include "transfer/delivery_changes.h"

#include <string.h>

#include "catalog/catalog.h"
#include "codec/chunker.h"
#include "delta/delta_recipe.h"

/// A new chunk.
typedef struct changed_chunk {
  pks__id id;
  uint32_t length;
  pks__listed_place place;
} changed_chunk;

/// A map asset.
struct pks__mapped_change {
  uint64_t path;  ///< in `texts`
  uint32_t path_length;
  bool has_place;  ///< it has new chunks
  pks__listed_place place;
};
typedef struct pks__mapped_change mapped_change;

void pks__delivery_changes_init(
  pks__delivery_changes *changes, pks__delivery_context *context, pks__delivery_requests *requests,
  pks__delivery_site *site, pks__delivery_pages *pages
) {
  *changes = (pks__delivery_changes){.context = context, .requests = requests, .site = site, .pages = pages};
  pks__scratch *arrays[] = {&changes->bytes, &changes->chunks, &changes->mapped, &changes->texts};
  pks__hash_map *maps[] = {&changes->chunks_by_id};
  pks__delivery_context_own(context, arrays, PKS_COUNT_OF(arrays), maps, PKS_COUNT_OF(maps));
  pks__rows_init(&changes->extents, pks__delivery_pages_sink(pages), sizeof(pks__layout_extent));
}

void pks__delivery_changes_leave(pks__delivery_changes *changes) { pks__rows_free(&changes->extents); }

static const changed_chunk *chunk_at(const pks__delivery_changes *changes, uint64_t index) {
  return PKS__SCRATCH_AT(&changes->chunks, const changed_chunk, index);
}

static const pks__id *chunk_id(const void *context, uint32_t index) {
  const pks__delivery_changes *changes = context;
  return &chunk_at(changes, index)->id;
}

static pks_status fail(const pks__delivery_changes *changes, pks_error *error) {
  return pks__delivery_corrupt(changes->context, "the change list is invalid", error);
}

// MARK: - Chunks and map assets

static bool is_place_of_data(const pks__delivery_changes *changes, const pks__listed_place *place) {
  pks__segment_id id;
  return pks__delivery_site_data_segment(changes->site, place->segment, &id);
}

static pks_status read_chunks(
  pks__delivery_changes *changes, const pks__change_list *list, pks__reader *reader, pks_error *error
) {
  uint32_t longest = pks__chunker_make(list->chunk_average).maximum;
  pks__listed_place expected = {0};
  uint64_t sum = 0;
  pks_status status = PKS_OK;
  for (uint32_t i = 0; !status && i < list->chunk_count; i++) {
    changed_chunk chunk = {.id = list->ids[i]};
    uint64_t length = pks__read_varint(reader);
    uint32_t other;
    bool fits = length > 0 && length <= longest && pks__listed_place_read(reader, &expected, &chunk.place)
      && length <= UINT32_MAX - chunk.place.begin && is_place_of_data(changes, &chunk.place)
      && !pks__hash_map_find_id(&changes->chunks_by_id, &chunk.id, chunk_id, changes, &other);
    if (!fits) { return fail(changes, error); }
    chunk.length = (uint32_t)length;
    sum += length;
    expected = chunk.place;
    expected.begin += chunk.length;
    status = pks__scratch_append(&changes->chunks, &chunk, sizeof chunk, error);
    if (!status) { status = pks__hash_map_insert_id(&changes->chunks_by_id, &chunk.id, i, error); }
  }
  return status || sum == list->new_bytes ? status : fail(changes, error);
}

static bool has_new_bytes(const pks__delta_recipe *recipe, uint64_t item) {
  uint64_t end = pks__delta_recipe_first_step(recipe, item + 1);
  for (uint64_t i = pks__delta_recipe_first_step(recipe, item); i < end; i++) {
    if (pks__delta_recipe_step(recipe, i)->kind == PKS__DELTA_NEW) { return true; }
  }
  return false;
}

static pks_status read_mapped(
  pks__delivery_changes *changes, const pks__delta_recipe *recipe, pks__reader *reader, pks_error *error
) {
  pks__listed_place expected = {0};
  pks_status status = PKS_OK;
  for (uint64_t i = 0; !status && i < pks__entry_list_count(recipe->listing); i++) {
    const pks__item *item = pks__entry_list_at(recipe->listing, i);
    if (!item->mapped) { continue; }
    mapped_change asset = {
      .path = changes->texts.length, .path_length = item->path_length, .has_place = has_new_bytes(recipe, i)};
    if (asset.has_place) {
      bool fits = pks__listed_place_read(reader, &expected, &asset.place) && is_place_of_data(changes, &asset.place);
      if (!fits) { return fail(changes, error); }
      expected = asset.place;
    }
    const char *path = pks__entry_list_path(recipe->listing, item);
    status = pks__scratch_append(&changes->texts, path, item->path_length, error);
    if (!status) { status = pks__scratch_append(&changes->mapped, &asset, sizeof asset, error); }
  }
  return status || pks__reader_left(reader) == 0 ? status : fail(changes, error);
}

// MARK: - The catalog

/// Builds the catalog: entries from the recipe, rows from chunks of version A and from new ones.
typedef struct catalog_making {
  pks__delivery_changes *changes;
  const pks__change_list *list;
  const pks__version_list *from;
  const pks__delta_recipe *recipe;
  pks__tree_writer entries;
  pks__rows rows;
  pks__scratch value;
  uint64_t new_chunks;  ///< so far
  uint64_t row_count;   ///< rows of all files so far
  uint64_t size;        ///< bytes of the current file so far
} catalog_making;

/// Appends a row to the file under way, which has `size` bytes.
static pks_status put_row(catalog_making *making, uint64_t size, const pks__id *id, uint32_t length, pks_error *error) {
  // At once, for a few bytes may say that something comes again and again.
  bool fits = length <= size - making->size && ++making->row_count <= PKS__CHANGE_LIST_ROWS_MAX;
  if (!fits) { return fail(making->changes, error); }
  pks__catalog_chunk row = {.id = *id, .length = pks__put32(length)};
  making->size += length;
  pks_status status = pks__rows_append(&making->rows, &row, error);
  return status ? status : pks__delivery_tick(making->changes->context, error);
}

static pks_status put_kept(catalog_making *making, uint64_t size, const pks__delta_step *step, pks_error *error) {
  pks_status status = PKS_OK;
  for (uint64_t i = step->first; !status && i < step->first + step->count; i++) {
    const pks__listed_chunk *chunk = pks__version_list_chunk(making->from, i);
    status = put_row(making, size, &chunk->id, chunk->length, error);
  }
  return status;
}

/// Appends the next new chunks, which have `step->count` bytes.
static pks_status put_new(catalog_making *making, uint64_t size, const pks__delta_step *step, pks_error *error) {
  pks_status status = PKS_OK;
  for (uint64_t left = step->count; !status && left > 0;) {
    const changed_chunk *chunk =
      making->new_chunks < making->list->chunk_count ? chunk_at(making->changes, making->new_chunks) : NULL;
    if (!chunk || chunk->length > left) { return fail(making->changes, error); }
    left -= chunk->length;
    making->new_chunks++;
    status = put_row(making, size, &chunk->id, chunk->length, error);
  }
  return status;
}

static pks_status put_again(catalog_making *making, uint64_t size, const pks__delta_step *step, pks_error *error) {
  if (!pks__range_fits(step->first, step->count, making->new_chunks)) { return fail(making->changes, error); }
  pks_status status = PKS_OK;
  for (uint64_t i = step->first; !status && i < step->first + step->count; i++) {
    const changed_chunk *chunk = chunk_at(making->changes, i);
    status = put_row(making, size, &chunk->id, chunk->length, error);
  }
  return status;
}

static pks_status put_step(catalog_making *making, uint64_t size, const pks__delta_step *step, pks_error *error) {
  switch (step->kind) {
    case PKS__DELTA_KEEP: return put_kept(making, size, step, error);
    case PKS__DELTA_NEW: return put_new(making, size, step, error);
    case PKS__DELTA_AGAIN: return put_again(making, size, step, error);
  }
  return fail(making->changes, error);
}

static pks_status put_item(catalog_making *making, uint64_t index, pks_error *error) {
  const pks__entry_list *listing = making->recipe->listing;
  const pks__item *item = pks__entry_list_at(listing, index);
  uint64_t end = pks__delta_recipe_first_step(making->recipe, index + 1);
  pks_status status = PKS_OK;
  making->size = 0;
  for (uint64_t i = pks__delta_recipe_first_step(making->recipe, index); !status && i < end; i++) {
    status = put_step(making, item->size, pks__delta_recipe_step(making->recipe, i), error);
  }
  if (status) { return status; }
  if (item->kind == PKS__RECORD_FILE && making->size != item->size) { return fail(making->changes, error); }
  status = pks__catalog_entry_encode(
    &making->value, (pks__record_kind)item->kind, item->executable, item->size, pks__entry_list_target(listing, item),
    &making->rows, error
  );
  if (status) { return status; }
  const char *path = pks__entry_list_path(listing, item);
  return pks__tree_writer_put(
    &making->entries, path, item->path_length, making->value.bytes, (size_t)making->value.length, error
  );
}

/// Builds all pages of the catalog, and keeps those that are not in the base. CORRUPT if it is not the version's catalog.
static pks_status make_catalog(catalog_making *making, pks_error *error) {
  const pks__change_list *list = making->list;
  pks__page_sink sink = pks__delivery_pages_sink(making->changes->pages);
  pks__tree map;
  pks__id id;
  pks__tree_writer_init(&making->entries, sink, PKS__TREE_MAP, 0);
  pks__rows_init(&making->rows, sink, sizeof(pks__catalog_chunk));
  pks__scratch_init(&making->value, &making->changes->context->home);
  pks_status status = PKS_OK;
  for (uint64_t i = 0; !status && i < pks__entry_list_count(making->recipe->listing); i++) {
    status = put_item(making, i, error);
  }
  if (!status) { status = pks__tree_writer_finish(&making->entries, &map, error); }
  if (!status) {
    pks__catalog_info info = {
      .chunk_average = list->chunk_average,
      .file_count = list->file_count,
      .link_count = list->link_count,
      .folder_count = list->folder_count,
      .logical_bytes = list->logical_bytes,
    };
    status = pks__catalog_put_root(sink, &info, &map, &id, error);
  }
  if (!status && !pks__id_equal(&id, &making->changes->context->catalog)) { status = fail(making->changes, error); }
  pks__tree_writer_free(&making->entries);
  pks__rows_free(&making->rows);
  pks__scratch_free(&making->value);
  return status;
}

// MARK: - Taking a list

/// The version with which the list begins, if it is kept.
static const pks__version *find_version(const pks__delivery_changes *changes, const pks__id *catalog) {
  const pks__delivery_context *context = changes->context;
  bool is_live;
  const pks__pack_state *state = pks__generation_find_state(&context->base->generation, context->pack, &is_live);
  for (uint32_t i = 0; state && i < state->version_count; i++) {
    if (pks__id_equal(&state->versions[i].catalog, catalog)) { return &state->versions[i]; }
  }
  return NULL;
}

static pks_status take_attributes(pks__delivery_changes *changes, const pks__change_list *list, pks_error *error) {
  pks__id id = {0};
  if (list->attribute_byte_count > 0) {
    id = pks__delivery_digest(changes->context, list->attributes, list->attribute_byte_count);
  }
  if (!pks__id_equal(&id, &changes->context->attributes)) { return fail(changes, error); }
  if (list->attribute_byte_count == 0) { return PKS_OK; }
  pks__page_sink sink = pks__delivery_pages_sink(changes->pages);
  return sink.put(sink.context, list->attributes, list->attribute_byte_count, &id, error);
}

/// Parses the description, and the rest of the body.
static pks_status take_body(
  pks__delivery_changes *changes, const pks__change_list *list, const pks__scratch *body, const pks__version_list *from,
  pks_error *error
) {
  pks__scratch_folder *home = &changes->context->home;
  const char *name = changes->context->pack;
  const pks__delta_header header = {
    .file_count = list->file_count,
    .link_count = list->link_count,
    .folder_count = list->folder_count,
    .logical_bytes = list->logical_bytes,
    .new_bytes = list->new_bytes,
  };
  const pks__scratch description = {.bytes = body->bytes, .length = list->description_length};
  uint64_t rest = body->length - list->description_length;
  pks__reader reader = pks__reader_make(body->bytes + list->description_length, (size_t)rest);
  pks__entry_list listing;
  pks__delta_recipe recipe;
  pks__entry_list_init(&listing, home);
  pks_status status = pks__delta_recipe_read(&recipe, &description, &header, from, &listing, home, name, error);
  if (!status) { status = read_chunks(changes, list, &reader, error); }
  if (!status) { status = read_mapped(changes, &recipe, &reader, error); }
  if (!status) {
    catalog_making making = {.changes = changes, .list = list, .from = from, .recipe = &recipe};
    status = make_catalog(&making, error);
  }
  pks__delta_recipe_close(&recipe);
  pks__entry_list_free(&listing);
  return status;
}

/// Takes a list that is authentic. CORRUPT, PURGED, NEWER_FORMAT or OTHER_DRAFT when it does not lead to the version.
static pks_status take_list(pks__delivery_changes *changes, pks_error *error) {
  pks__delivery_context *context = changes->context;
  pks__change_list list;
  pks_status status =
    pks__change_list_read(&list, changes->bytes.bytes, (size_t)changes->bytes.length, context->pack, error);
  if (status) { return status; }
  const pks__version *version = find_version(changes, &list.from);
  if (!version || !pks__id_equal(&list.to, &context->catalog)) { return fail(changes, error); }
  pks__scratch body;
  pks__version_list from;
  pks__version_list_init(&from, context->base, &context->home);
  pks__scratch_init(&body, &context->home);
  status = pks__change_list_decode(&list, context->decoder, &body, context->pack, error);
  if (!status) {
    status = pks__version_list_read(&from, version, error);
    // Unreadable parts of A are useless here; this does not concern written data.
    if (status == PKS_IO_ERROR) { status = PKS_CORRUPT; }
  }
  if (!status) { status = take_attributes(changes, &list, error); }
  if (!status) { status = take_body(changes, &list, &body, &from, error); }
  pks__version_list_close(&from);
  pks__scratch_free(&body);
  return status;
}

/// Whether a list is good for nothing; other failures are the machine's, and end the delivery.
static bool is_ignored(pks_status status) {
  return status == PKS_CORRUPT || status == PKS_PURGED || status == PKS_NEWER_FORMAT || status == PKS_OTHER_DRAFT;
}

/// Takes the list that is in `bytes`, or ignores it.
static pks_status take(pks__delivery_changes *changes, pks_error *error) {
  pks_error fault;
  pks_status status = take_list(changes, &fault);
  changes->is_taken = !status;
  if (!status || is_ignored(status)) { return PKS_OK; }
  if (error) { *error = fault; }
  return status;
}

static const pks__id *list_id(const pks__delivery_changes *changes) {
  _Static_assert(sizeof(pks__id) == sizeof changes->offered.digest, "an id is a SHA-256");
  return (const pks__id *)(const void *)changes->offered.digest;
}

pks_status pks__delivery_changes_request(
  pks__delivery_changes *changes, const pks_delivery_changes *offered, pks_error *error
) {
  changes->is_used = true;
  changes->offered = *offered;
  bool found;
  pks_status status =
    pks__transfer_staging_get_blob(&changes->context->incoming, list_id(changes), &changes->bytes, &found, error);
  if (status) { return status; }
  if (found) { return take(changes, error); }
  pks__byte_request request = {.kind = PKS__REQUEST_CHANGES, .length = offered->length};
  return pks__delivery_requests_add(changes->requests, &request, error);
}

pks_status pks__delivery_changes_give(
  pks__delivery_changes *changes, const pks__byte_request *request, const void *bytes, bool *is_final, pks_error *error
) {
  pks__id id = pks__delivery_digest(changes->context, bytes, request->length);
  if (!pks__id_equal(&id, list_id(changes))) {
    return pks__delivery_corrupt(changes->context, "the received bytes are not the change list", error);
  }
  *is_final = true;
  changes->given_bytes += request->length;
  changes->bytes.length = 0;
  pks_status status = pks__scratch_append(&changes->bytes, bytes, request->length, error);
  if (!status) { status = take(changes, error); }
  if (status || !changes->is_taken) { return status; }
  return pks__transfer_staging_put_blob(&changes->context->incoming, &id, bytes, request->length, error);
}

// MARK: - Layout

static const mapped_change *find_mapped(const pks__delivery_changes *changes, const char *path, size_t length) {
  uint64_t low = 0, high = PKS__SCRATCH_COUNT(&changes->mapped, mapped_change);
  while (low < high) {
    uint64_t middle = low + (high - low) / 2;
    const mapped_change *asset = PKS__SCRATCH_AT(&changes->mapped, const mapped_change, middle);
    int order = pks__compare_bytes((const char *)changes->texts.bytes + asset->path, asset->path_length, path, length);
    if (order == 0) { return asset; }
    if (order < 0) { low = middle + 1; }
    if (order > 0) { high = middle; }
  }
  return NULL;
}

void pks__delivery_changes_begin_file(
  pks__delivery_changes *changes, const char *path, size_t path_length, uint64_t size, bool *mapped
) {
  changes->asset = find_mapped(changes, path, path_length);
  changes->extent = (pks__layout_extent){0};
  changes->end = 0;
  changes->size = size;
  changes->is_complete = true;
  *mapped = changes->asset != NULL;
}

/// The extent that begins at a place.
static pks__layout_extent extent_at(
  const pks__delivery_changes *changes, const pks__listed_place *place, uint64_t length
) {
  pks__layout_extent extent = {
    .frame = pks__put32(place->frame), .skip = pks__put32(place->begin), .length = pks__put64(length)};
  bool is_data = pks__delivery_site_data_segment(changes->site, place->segment, &extent.segment);
  PKS_ASSERT(is_data);
  return extent;
}

/// Appends the extent under way, if there is one.
static pks_status end_extent(pks__delivery_changes *changes, pks_error *error) {
  if (pks__get64(changes->extent.length) == 0) { return PKS_OK; }
  return pks__rows_append(&changes->extents, &changes->extent, error);
}

/// Begins an extent where the last one ended.
static pks_status begin_extent(pks__delivery_changes *changes, const pks__layout_extent *extent, pks_error *error) {
  pks_status status = end_extent(changes, error);
  changes->extent = *extent;
  changes->end += pks__get64(extent->length);
  return status;
}

/// Whether a chunk goes on where the extent under way ends, in the same frame.
static bool goes_on(const pks__delivery_changes *changes, const pks__layout_extent *next) {
  const pks__layout_extent *last = &changes->extent;
  uint64_t length = pks__get64(last->length);
  return length > 0 && pks__segment_id_equal(&last->segment, &next->segment)
    && pks__get32(last->frame) == pks__get32(next->frame) && pks__get32(last->skip) + length == pks__get32(next->skip);
}

pks_status pks__delivery_changes_place(
  pks__delivery_changes *changes, const pks__id *id, uint64_t offset, uint32_t length, pks_error *error
) {
  if (changes->asset || !changes->is_complete) { return PKS_OK; }
  uint32_t index;
  bool found = pks__hash_map_find_id(&changes->chunks_by_id, id, chunk_id, changes, &index);
  const changed_chunk *chunk = found ? chunk_at(changes, index) : NULL;
  if (!chunk || chunk->length != length) {
    changes->is_complete = false;
    return PKS_OK;
  }
  pks_status status = PKS_OK;
  PKS_ASSERT(offset >= changes->end);
  if (offset > changes->end) {
    // The site's place of present chunks does not matter.
    pks__layout_extent here = {.length = pks__put64(offset - changes->end)};
    status = begin_extent(changes, &here, error);
  }
  pks__layout_extent next = extent_at(changes, &chunk->place, length);
  if (!status && offset == changes->end && goes_on(changes, &next)) {
    changes->extent.length = pks__put64(pks__get64(changes->extent.length) + length);
    changes->end += length;
    return PKS_OK;
  }
  return status ? status : begin_extent(changes, &next, error);
}

pks_status pks__delivery_changes_end_file(
  pks__delivery_changes *changes, pks__scratch *value, bool *is_complete, pks_error *error
) {
  const mapped_change *asset = changes->asset;
  pks_status status = PKS_OK;
  if (asset && asset->has_place) {
    changes->extent = extent_at(changes, &asset->place, changes->size);
  } else if (!asset && changes->end < changes->size) {
    pks__layout_extent here = {.length = pks__put64(changes->size - changes->end)};
    status = begin_extent(changes, &here, error);
  }
  if (!status) { status = end_extent(changes, error); }
  if (!status) { status = pks__layout_entry_encode(value, asset != NULL, &changes->extents, error); }
  *is_complete = changes->is_complete && (!asset || asset->has_place);
  return status;
}
