/// A delta as the source of an ingest: chunks of version A are passed on by their ids, new ones with their bytes.
#include "delta/delta_ingest.h"

#include "delta/delta_literals.h"
#include "delta/delta_recipe.h"
#include "ingest/dedup_pass.h"

typedef struct delta_walk {
  pks__dedup_pass pass;
  pks__ingest *ingest;
  const pks__delta_file *file;
  pks__version_list from;
  pks__delta_recipe description;
  pks__delta_literals bytes;
  pks__scratch new_chunks;  ///< pks__listed_chunk: the new chunks so far, by number; positions are among the new bytes
  uint64_t new_position;    ///< after them
  uint64_t item;            ///< under way
  uint64_t size;            ///< of it, so far
  pks__scratch found;       ///< bytes of one chunk
  uint64_t fetch_item;      ///< whose steps were walked last for `fetch`
  uint64_t fetch_step;      ///< the step, and
  uint64_t fetch_offset;    ///< where in the item it begins
} delta_walk;

static pks_status fail_item(const delta_walk *walk, pks_error *error) {
  const pks__item *item = pks__entry_list_at(&walk->ingest->listing, walk->item);
  const char *path = pks__entry_list_path(&walk->ingest->listing, item), *text = "the delta does not produce the asset";
  return pks__fail_at_path(error, PKS_CORRUPT, text, path, item->path_length);
}

// MARK: - Chunks

static pks_status take_chunk(
  delta_walk *walk, const pks__id *id, const uint8_t *bytes, uint32_t length, pks_error *error
) {
  // At once, for a few bytes may say that something comes again and again.
  if (length > pks__entry_list_at(&walk->ingest->listing, walk->item)->size - walk->size) {
    return fail_item(walk, error);
  }
  walk->size += length;
  walk->ingest->bytes_done += length;
  return pks__dedup_pass_chunk(&walk->pass, id, bytes, length, error);
}

static pks_status take_known(
  delta_walk *walk, const pks__scratch *chunks, const pks__delta_step *step, pks_error *error
) {
  pks_status status = PKS_OK;
  for (uint64_t i = step->first; !status && i < step->first + step->count; i++) {
    // A copy, for the array may move while the chunk is taken.
    pks__listed_chunk chunk = *PKS__SCRATCH_AT(chunks, const pks__listed_chunk, i);
    status = take_chunk(walk, &chunk.id, NULL, chunk.length, error);
  }
  return status;
}

static pks_status take_new(delta_walk *walk, uint64_t byte_count, pks_error *error) {
  uint64_t end = walk->new_position + byte_count;
  pks_status status = PKS_OK;
  while (!status && walk->new_position < end) {
    pks__new_chunk chunk;
    status = pks__delta_literals_next(&walk->bytes, &chunk, error);
    if (status) { return status; }
    // Chunks end where steps do.
    PKS_ASSERT(chunk.length <= end - walk->new_position);
    pks__listed_chunk row = {.position = walk->new_position, .length = chunk.length, .id = chunk.id};
    walk->new_position += chunk.length;
    status = pks__scratch_append(&walk->new_chunks, &row, sizeof row, error);
    if (!status) { status = take_chunk(walk, &chunk.id, chunk.bytes, chunk.length, error); }
  }
  return status;
}

static pks_status take_step(delta_walk *walk, const pks__delta_step *step, pks_error *error) {
  switch (step->kind) {
    case PKS__DELTA_KEEP: return take_known(walk, &walk->from.chunks, step, error);
    case PKS__DELTA_NEW: return take_new(walk, step->count, error);
    case PKS__DELTA_AGAIN: break;
  }
  uint64_t count = PKS__SCRATCH_COUNT(&walk->new_chunks, pks__listed_chunk);
  if (!pks__range_fits(step->first, step->count, count)) { return fail_item(walk, error); }
  return take_known(walk, &walk->new_chunks, step, error);
}

static pks_status take_item(delta_walk *walk, pks_error *error) {
  const pks__delta_recipe *description = &walk->description;
  pks_status status = PKS_OK;
  walk->size = 0;
  pks__dedup_pass_begin(&walk->pass, pks__entry_list_at(&walk->ingest->listing, walk->item));
  uint64_t end = pks__delta_recipe_first_step(description, walk->item + 1);
  for (uint64_t i = pks__delta_recipe_first_step(description, walk->item); !status && i < end; i++) {
    status = take_step(walk, pks__delta_recipe_step(description, i), error);
    if (!status) { status = pks__dedup_pass_report(&walk->pass, error); }
  }
  const pks__item *item = pks__entry_list_at(&walk->ingest->listing, walk->item);
  if (!status && item->kind == PKS__RECORD_FILE && walk->size != item->size) { status = fail_item(walk, error); }
  if (!status) { status = pks__dedup_pass_end(&walk->pass, error); }
  return status ? status : pks__dedup_pass_report(&walk->pass, error);
}

// MARK: - Fetching again

/// How many bytes a step that was taken makes up.
static uint64_t step_length(const delta_walk *walk, const pks__delta_step *step) {
  uint64_t end = step->first + step->count;
  switch (step->kind) {
    case PKS__DELTA_KEEP:
      return pks__version_list_position(&walk->from, end) - pks__version_list_position(&walk->from, step->first);
    case PKS__DELTA_NEW: return step->count;
    case PKS__DELTA_AGAIN: break;
  }
  const pks__listed_chunk *first = PKS__SCRATCH_AT(&walk->new_chunks, const pks__listed_chunk, step->first);
  const pks__listed_chunk *last = PKS__SCRATCH_AT(&walk->new_chunks, const pks__listed_chunk, end - 1);
  return last->position + last->length - first->position;
}

/// Where among the new bytes a chunk begins that is at `offset` of the item under way. False when it is kept.
static bool find_new(delta_walk *walk, uint64_t offset, uint64_t *position) {
  const pks__delta_recipe *description = &walk->description;
  if (walk->fetch_item != walk->item || walk->fetch_offset > offset) {
    walk->fetch_item = walk->item;
    walk->fetch_step = pks__delta_recipe_first_step(description, walk->item);
    walk->fetch_offset = 0;
  }
  for (;; walk->fetch_step++) {
    const pks__delta_step *step = pks__delta_recipe_step(description, walk->fetch_step);
    uint64_t length = step_length(walk, step), first = step->first;
    if (offset - walk->fetch_offset >= length) {
      walk->fetch_offset += length;
      continue;
    }
    if (step->kind == PKS__DELTA_AGAIN) {
      first = PKS__SCRATCH_AT(&walk->new_chunks, const pks__listed_chunk, first)->position;
    }
    *position = first + (offset - walk->fetch_offset);
    return step->kind != PKS__DELTA_KEEP;
  }
}

/// Fetches a chunk whose bytes are needed after all: a map asset is laid out again, or only a middle version has it.
static pks_status fetch_chunk(void *context, const pks__chunk_want *want, uint8_t *out, pks_error *error) {
  delta_walk *walk = context;
  uint64_t position;
  bool found;
  pks_status status = pks__chunk_want_read(want, walk->from.snapshot, &walk->found, out, &found, error);
  if (!status && !found && find_new(walk, want->offset, &position)) {
    found = true;
    status = pks__delta_literals_read(&walk->bytes, position, out, want->length, error);
  }
  if (status) { return status; }
  pks__id id;
  if (found) { walk->file->sha256(out, want->length, id.bytes); }
  if (found && pks__id_equal(&id, want->id)) { return PKS_OK; }
  return pks__chunk_want_fail(want, error);
}

// MARK: - Ingest

static pks_status describe(delta_walk *walk, pks_error *error) {
  pks__scratch bytes;
  pks__scratch_folder *home = &walk->ingest->staging->scratch;
  pks__scratch_init(&bytes, home);
  const char *name = walk->file->source.name;
  pks_status status = pks__delta_file_describe(walk->file, &bytes, error);
  if (!status) {
    status = pks__delta_recipe_read(
      &walk->description, &bytes, &walk->file->header, &walk->from, &walk->ingest->listing, home, name, error
    );
  }
  pks__scratch_free(&bytes);
  return status;
}

static pks_status take_items(delta_walk *walk, pks_error *error) {
  pks__ingest *ingest = walk->ingest;
  const pks__chunk_fetch fetch = {.context = walk, .fetch = fetch_chunk};
  pks_status status = pks__dedup_pass_open(&walk->pass, ingest, &fetch, error);
  if (!status) {
    status = pks__delta_literals_open(
      &walk->bytes, walk->file, &walk->from, &walk->description.new_steps, ingest->staging->store->sha256_many,
      ingest->pool, &ingest->staging->scratch, error
    );
  }
  for (walk->item = 0; !status && walk->item < pks__entry_list_count(&ingest->listing); walk->item++) {
    status = take_item(walk, error);
  }
  if (!status) { status = pks__dedup_pass_finish(&walk->pass, error); }
  pks__delta_literals_close(&walk->bytes);
  pks__dedup_pass_close(&walk->pass);
  return status;
}

pks_status pks__ingest_delta(
  pks__ingest *out, pks__staging *staging, pks_snapshot *base, const pks_add_request *request,
  const pks__delta_file *file, const pks__delta_origin *from, bool sync, pks_error *error
) {
  const pks__delta_header *header = &file->header;
  pks_status status = pks__ingest_init(out, staging, base, request, error);
  if (status) { return status; }
  delta_walk walk = {.ingest = out, .file = file, .fetch_item = UINT64_MAX};
  pks__scratch_init(&walk.new_chunks, &staging->scratch);
  // The written catalog must equal the delta's, regardless of this store's own chunker.
  out->chunker = pks__chunker_make(header->chunk_average);
  out->info.chunk_average = header->chunk_average;
  out->files_expected = header->file_count;
  out->bytes_expected = header->logical_bytes;
  pks__version_list_init(&walk.from, from->snapshot, &staging->scratch);
  status = pks__version_list_read(&walk.from, from->version, error);
  if (!status) { status = describe(&walk, error); }
  if (!status) {
    uint64_t chunks = header->new_bytes / header->chunk_average;
    status = pks__scratch_expect(&walk.new_chunks, chunks * sizeof(pks__listed_chunk), error);
  }
  // Kept chunks may be longer than those of the new version.
  if (!status && walk.from.info.chunk_average > header->chunk_average) {
    out->chunker.maximum = pks__chunker_make(walk.from.info.chunk_average).maximum;
  }
  if (!status) { status = pks__ingest_set_attributes(out, header->attributes, header->attribute_byte_count, error); }
  out->saves_memory = true;
  out->rows = pks__row_budget_make(request->max_rows);
  out->row_factor = 1;
  if (!status) { status = pks__ingest_open_parts(out, NULL, sync, error); }
  if (!status) { status = take_items(&walk, error); }
  if (!status && !pks__id_equal(&out->catalog_id, &header->to_catalog)) {
    const char *text = "produces another version than it names";
    status = pks__fail_about(error, PKS_CORRUPT, PKS_DETAIL_NONE, PKS_SUBJECT_DELTA, file->source.name, text);
  }
  pks__scratch_free(&walk.found);
  pks__scratch_free(&walk.new_chunks);
  pks__delta_recipe_close(&walk.description);
  pks__version_list_close(&walk.from);
  return status;
}
