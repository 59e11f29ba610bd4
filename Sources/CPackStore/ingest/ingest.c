#include "ingest/ingest.h"

#include <string.h>

#include "base/memory.h"
#include "store/chunk_lookup.h"

pks_status pks__chunk_want_read(
  const pks__chunk_want *want, pks_snapshot *snapshot, pks__scratch *bytes, uint8_t *out, bool *found, pks_error *error
) {
  pks__chunk_ref ref;
  pks_status status = pks__snapshot_find_chunk(snapshot, want->id, PKS__SEGMENT_DATA, &ref, found, error);
  bytes->length = 0;
  if (!status && *found) { status = pks__snapshot_read_chunk(snapshot, &ref, bytes, error); }
  if (status || !*found) { return status; }
  *found = bytes->length == want->length;
  if (*found) { memcpy(out, bytes->bytes, want->length); }
  return PKS_OK;
}

pks_status pks__chunk_want_fail(const pks__chunk_want *want, pks_error *error) {
  if (!want->may_be_purged) {
    return pks__fail_at_path(error, PKS_CORRUPT, "a chunk is missing", want->path, want->path_length);
  }
  const char *text = "data was purged";
  pks_status status = pks__fail_at_path(error, PKS_PURGED, text, want->path, want->path_length);
  if (error) { error->needed = want->length; }
  return status;
}

static pks_status fetch_own(void *context, const pks__chunk_want *want, uint8_t *out, pks_error *error) {
  pks__own_chunks *own = context;
  bool found;
  pks_status status = pks__chunk_want_read(want, own->snapshot, &own->bytes, out, &found, error);
  if (status) { return status; }
  if (!found) { return pks__chunk_want_fail(want, error); }
  pks__id id;
  own->sha256(out, want->length, id.bytes);
  return pks__id_equal(&id, want->id) ? PKS_OK : pks__chunk_want_fail(want, error);
}

void pks__own_chunks_init(pks__own_chunks *own, pks_snapshot *snapshot, pks__scratch_folder *home) {
  *own = (pks__own_chunks){.snapshot = snapshot, .sha256 = snapshot->store->sha256};
  pks__scratch_init(&own->bytes, home);
}

pks__chunk_fetch pks__own_chunks_fetch(pks__own_chunks *own) {
  return (pks__chunk_fetch){.context = own, .fetch = fetch_own};
}

void pks__own_chunks_free(pks__own_chunks *own) { pks__scratch_free(&own->bytes); }

static void init_scratch(pks__ingest *ingest) {
  pks__scratch_folder *home = &ingest->staging->scratch;
  pks__scratch *all[] = {&ingest->assets,  &ingest->spans,   &ingest->old_segments,
                         &ingest->new_ids, &ingest->removed, &ingest->attributes};
  for (size_t i = 0; i < PKS_COUNT_OF(all); i++) { pks__scratch_init(all[i], home); }
  pks__entry_list_init(&ingest->listing, home);
  pks__hash_map_init(&ingest->old_segment_map, home);
  pks__hash_map_init(&ingest->new_chunks, home);
}

pks_status pks__ingest_init(
  pks__ingest *out, pks__staging *staging, pks_snapshot *base, const pks_add_request *request, pks_error *error
) {
  *out = (pks__ingest){.staging = staging, .base = base, .request = *request};
  out->base_pack = pks__generation_find_pack(&base->generation, request->pack);
  out->chunker = pks__chunker_make(staging->store->chunk_average);
  out->info.chunk_average = staging->store->chunk_average;
  out->thread_count = staging->store->thread_count;
  init_scratch(out);
  // An existing or removed pack keeps its placement until that is changed.
  const pks__pack_state *state = pks__generation_find_state(&base->generation, request->pack, NULL);
  bool purgeable = state ? state->purgeable : request->placement == PKS_PLACE_PURGEABLE;
  out->stores_purgeable = purgeable;
  return pks__reuse_policy_open(&out->reuse_policy, base, request->pack, purgeable, NULL, &staging->scratch, error);
}

pks_status pks__ingest_report(const pks__ingest *ingest, pks_phase phase, pks_error *error) {
  const pks_add_request *request = &ingest->request;
  pks_progress progress = {
    .phase = phase,
    .files_done = ingest->info.file_count,
    .files_total = ingest->files_expected,
    .bytes_done = ingest->bytes_done,
    .bytes_total = ingest->bytes_expected,
    .bytes_stored = ingest->frames.series.stored_bytes,
  };
  if (!request->progress || request->progress(request->context, &progress)) { return PKS_OK; }
  return pks__fail(error, PKS_CANCELLED, "cancelled", NULL, PKS_NO_OFFSET);
}

pks_status pks__ingest_add_row(pks__ingest *ingest, pks_phase phase, pks_error *error) {
  pks__row_budget *budget = &ingest->rows;
  pks__row_budget_add(budget, 1);
  if (budget->count % PKS__ROWS_PER_TICK != 0) { return PKS_OK; }
  budget->page_bytes = ingest->pages.page_bytes;
  bool is_above = ingest->row_factor > 0 && budget->count / ingest->row_factor > pks__row_budget_limit(budget);
  return is_above ? pks__row_budget_check(budget, ingest->request.pack, error)
                  : pks__ingest_report(ingest, phase, error);
}

pks_status pks__ingest_check_rows(pks__ingest *ingest, pks_error *error) {
  ingest->rows.page_bytes = ingest->pages.page_bytes;
  return ingest->row_factor > 0 ? pks__row_budget_check(&ingest->rows, ingest->request.pack, error) : PKS_OK;
}

pks_status pks__ingest_open_parts(pks__ingest *ingest, const pks__frame_sink *sink, bool sync, pks_error *error) {
  ingest->pool = pks__pool_create(ingest->thread_count);
  if (!ingest->pool) { return pks__fail_memory(error); }
  pks_status status = pks__frame_pipeline_open(
    &ingest->frames, ingest->staging, sink, ingest->pool, &ingest->request, ingest->chunker.maximum,
    ingest->saves_memory, sync, error
  );
  if (status) { return status; }
  if (!ingest->staging->is_for_site) { ingest->frames.series.target = pks__segment_target(ingest->bytes_expected); }
  status = pks__page_writer_open(&ingest->pages, ingest->staging, ingest->base, ingest->frames.level, sync, error);
  ingest->pages.reuse_policy = &ingest->reuse_policy;
  return status;
}

pks_status pks__ingest_set_attributes(pks__ingest *ingest, const void *bytes, size_t byte_count, pks_error *error) {
  if (byte_count > PKS_ATTRIBUTES_MAX) {
    const char *text = "the attributes have more than 65536 bytes";
    return pks__fail_about(error, PKS_INVALID_ARGUMENT, PKS_DETAIL_LIMIT, PKS_SUBJECT_PACK, ingest->request.pack, text);
  }
  ingest->attributes.length = 0;
  ingest->attributes_id = (pks__id){0};
  if (byte_count == 0) { return PKS_OK; }
  ingest->staging->store->sha256(bytes, byte_count, ingest->attributes_id.bytes);
  return pks__scratch_append(&ingest->attributes, bytes, byte_count, error);
}

pks_status pks__ingest_load_attributes(
  pks__ingest *ingest, pks__page_source pages, const pks__id *id, pks_error *error
) {
  pks_status status = pks__attributes_read(pages, id, &ingest->attributes, error);
  ingest->attributes_id = status ? (pks__id){0} : *id;
  return status;
}

static const pks__id *new_id(const void *context, uint32_t number) {
  const pks__ingest *ingest = context;
  return PKS__SCRATCH_AT(&ingest->new_ids, const pks__id, number);
}

bool pks__ingest_find_new(const pks__ingest *ingest, const pks__id *id, uint32_t *number) {
  return pks__hash_map_find_id(&ingest->new_chunks, id, new_id, ingest, number);
}

/// Whether as many copies of the chunk are known as are ever looked at.
static bool has_copies_enough(const pks__ingest *ingest, const pks__id *id) {
  uint64_t probe = 0;
  uint32_t copies = 0, number;
  while (copies < PKS__COPIES_MAX && pks__hash_map_next_id(&ingest->new_chunks, id, new_id, ingest, &probe, &number)) {
    copies++;
  }
  return copies == PKS__COPIES_MAX;
}

pks_status pks__ingest_add_new(pks__ingest *ingest, const pks__id *id, pks_error *error) {
  uint64_t count = PKS__SCRATCH_COUNT(&ingest->new_ids, pks__id);
  if (count == UINT32_MAX) {
    return pks__fail_about(
      error, PKS_INVALID_ARGUMENT, PKS_DETAIL_LIMIT, PKS_SUBJECT_NONE, NULL, "too many new chunks for one pack"
    );
  }
  pks_status status = pks__scratch_append(&ingest->new_ids, id, sizeof *id, error);
  if (status || has_copies_enough(ingest, id)) { return status; }
  return pks__hash_map_insert_id(&ingest->new_chunks, id, (uint32_t)count, error);
}

static bool next_written(void *context, const pks__id *id, uint64_t *probe, uint32_t *number) {
  const pks__ingest *ingest = context;
  return pks__hash_map_next_id(&ingest->new_chunks, id, new_id, ingest, probe, number);
}

/// Returns the raw place of a written chunk in its segment file; false if it is not raw.
static bool written_at(const pks__ingest *ingest, uint32_t number, const pks__new_place **place, uint64_t *begin) {
  *place = PKS__SCRATCH_AT(&ingest->frames.places, const pks__new_place, number);
  const pks__frame_ref *frame = pks__frame_pipeline_frame(&ingest->frames, (*place)->segment, (*place)->frame);
  *begin = frame->offset + (*place)->begin;
  return frame->codec == PKS__CODEC_RAW;
}

static bool begins_page(void *context, uint32_t number) {
  const pks__new_place *place;
  uint64_t begin;
  return written_at(context, number, &place, &begin) && begin % PKS__PAGE == 0;
}

static bool follows_before(void *context, uint32_t number) {
  const pks__new_place *before, *place;
  uint64_t end, begin;
  if (!written_at(context, number - 1, &before, &end) || !written_at(context, number, &place, &begin)) { return false; }
  return before->segment == place->segment && end + before->length == begin;
}

pks__written_chunks pks__ingest_written(pks__ingest *ingest) {
  return (pks__written_chunks){
    .context = ingest,
    .count = (uint32_t)PKS__SCRATCH_COUNT(&ingest->new_ids, pks__id),
    .next = next_written,
    .begins = begins_page,
    .follows = follows_before,
  };
}

void pks__ingest_close(pks__ingest *ingest) {
  if (!ingest->staging) { return; }
  pks__run_writer_free(&ingest->run);
  pks__frame_pipeline_close(&ingest->frames);
  pks__frame_grouping_kinds_free(&ingest->forms);
  if (ingest->pages.base) { pks__page_writer_close(&ingest->pages); }
  pks__pool_destroy(ingest->pool);
  pks__scratch *all[] = {&ingest->assets,  &ingest->spans,   &ingest->old_segments,
                         &ingest->new_ids, &ingest->removed, &ingest->attributes};
  for (size_t i = 0; i < PKS_COUNT_OF(all); i++) { pks__scratch_free(all[i]); }
  pks__entry_list_free(&ingest->listing);
  pks__hash_map_free(&ingest->old_segment_map);
  pks__hash_map_free(&ingest->new_chunks);
  pks__reuse_policy_free(&ingest->reuse_policy);
  *ingest = (pks__ingest){0};
}
