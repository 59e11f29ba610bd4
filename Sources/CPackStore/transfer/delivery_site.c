#include "transfer/delivery_site.h"

#include <string.h>

typedef struct page_place {
  uint32_t segment, frame;
} page_place;

void pks__delivery_site_init(
  pks__delivery_site *site, pks__delivery_context *context, pks__delivery_requests *requests
) {
  *site = (pks__delivery_site){.context = context, .requests = requests, .table_batch = 1};
  pks__scratch *arrays[] = {&site->segments, &site->tables, &site->page_places, &site->kept};
  pks__hash_map *maps[] = {&site->segments_by_id, &site->pages_by_id};
  pks__delivery_context_own(context, arrays, PKS_COUNT_OF(arrays), maps, PKS_COUNT_OF(maps));
}

// MARK: - Segments

static pks__site_segment *segment_at(const pks__delivery_site *site, uint64_t index) {
  return PKS__SCRATCH_AT(&site->segments, pks__site_segment, index);
}

pks_status pks__delivery_site_list(pks__delivery_site *site, const pks_delivery_request *request, pks_error *error) {
  pks_status status = PKS_OK;
  for (uint32_t i = 0; !status && i < request->segment_count; i++) {
    pks__site_segment segment = {.info = request->segments[i]};
    uint64_t key = pks__hash_map_key(&site->segments_by_id, segment.info.id, sizeof segment.info.id);
    status = pks__scratch_append(&site->segments, &segment, sizeof segment, error);
    if (!status) { status = pks__hash_map_insert(&site->segments_by_id, key, i, error); }
  }
  return status;
}

uint32_t pks__delivery_site_find_data(const pks__delivery_site *site, const pks__segment_id *id) {
  uint64_t key = pks__hash_map_key(&site->segments_by_id, id, sizeof *id), probe = 0;
  uint32_t index;
  while (pks__hash_map_next(&site->segments_by_id, key, &probe, &index)) {
    const pks_site_segment *info = &segment_at(site, index)->info;
    if (memcmp(info->id, id->bytes, sizeof id->bytes) == 0) { return info->is_metadata ? UINT32_MAX : index; }
  }
  return UINT32_MAX;
}

bool pks__delivery_site_data_segment(const pks__delivery_site *site, uint32_t number, pks__segment_id *id) {
  if (number >= pks__delivery_site_count(site) || segment_at(site, number)->info.is_metadata) { return false; }
  memcpy(id->bytes, segment_at(site, number)->info.id, sizeof id->bytes);
  return true;
}

pks_status pks__delivery_site_corrupt(
  const pks__delivery_site *site, uint32_t segment, const char *text, uint64_t offset, pks_error *error
) {
  char name[PKS__SEGMENT_NAME];
  pks__segment_id id;
  memcpy(id.bytes, segment_at(site, segment)->info.id, sizeof id.bytes);
  pks__segment_name(&id, name);
  return pks__fail(error, PKS_CORRUPT, text, name, offset);
}

// MARK: - Pages

static const pks__id *placed_id(const void *context, uint32_t index) {
  const pks__delivery_site *site = context;
  const page_place *place = PKS__SCRATCH_AT(&site->page_places, const page_place, index);
  pks__frame_table table = pks__delivery_site_table(site, place->segment);
  return pks__frame_table_page(&table, place->frame);
}

static bool find_place(const pks__delivery_site *site, const pks__id *id, page_place *out) {
  uint32_t index;
  if (!pks__hash_map_find_id(&site->pages_by_id, id, placed_id, site, &index)) { return false; }
  *out = *PKS__SCRATCH_AT(&site->page_places, const page_place, index);
  return true;
}

pks_status pks__delivery_site_request_page(
  pks__delivery_site *site, const pks__id *id, bool *is_known, pks_error *error
) {
  page_place place;
  *is_known = find_place(site, id, &place);
  if (!*is_known) { return PKS_OK; }
  pks__site_segment *segment = segment_at(site, place.segment);
  if (segment->is_small && segment->is_wanted) { return PKS_OK; }
  pks__frame_table table = pks__delivery_site_table(site, place.segment);
  pks__byte_request request = {
    .kind = PKS__REQUEST_PAGES, .segment = place.segment, .first_frame = place.frame, .frame_count = 1};
  if (segment->is_small) {
    segment->is_wanted = true;
    request.first_frame = 0;
    request.frame_count = table.frame_count;
  }
  pks__tabled_frame first = pks__frame_table_at(&table, request.first_frame);
  pks__tabled_frame last = pks__frame_table_at(&table, request.first_frame + request.frame_count - 1);
  request.offset = first.offset;
  request.length = (uint32_t)(last.offset + last.stored_length - first.offset);
  return pks__delivery_requests_add(site->requests, &request, error);
}

/// Records the place of a page. A table may list a page any number of times: the first place is used.
static pks_status list_page(
  pks__delivery_site *site, uint32_t segment, uint32_t frame, const pks__id *id, pks_error *error
) {
  page_place place;
  if (find_place(site, id, &place)) { return PKS_OK; }
  place = (page_place){.segment = segment, .frame = frame};
  uint64_t count = PKS__SCRATCH_COUNT(&site->page_places, page_place);
  if (count == UINT32_MAX) { return pks__delivery_corrupt(site->context, "too many pages", error); }
  pks_status status = pks__scratch_append(&site->page_places, &place, sizeof place, error);
  return status ? status : pks__hash_map_insert_id(&site->pages_by_id, id, (uint32_t)count, error);
}

/// Records the pages of a metadata segment.
static pks_status list_pages(
  pks__delivery_site *site, uint32_t segment, const pks__frame_table *table, pks_error *error
) {
  uint64_t stored = 0;
  pks_status status = PKS_OK;
  for (uint32_t i = 0; !status && i < table->frame_count; i++) {
    stored += pks__frame_table_at(table, i).stored_length;
    status = list_page(site, segment, i, pks__frame_table_page(table, i), error);
  }
  if (status || table->frame_count == 0) { return status; }
  pks__tabled_frame first = pks__frame_table_at(table, 0), last = pks__frame_table_at(table, table->frame_count - 1);
  uint64_t spread = last.offset + last.stored_length - first.offset;
  segment_at(site, segment)->is_small = pks__site_segment_is_small(stored, spread);
  return PKS_OK;
}

// MARK: - Tables

pks__frame_table pks__delivery_site_table(const pks__delivery_site *site, uint32_t segment) {
  const pks__site_segment *named = segment_at(site, segment);
  PKS_ASSERT(named->has_table);
  pks__frame_table table;
  pks__frame_table_view(site->tables.bytes + named->table_at, named->info.table_length, &table);
  return table;
}

/// Takes a table whose SHA-256 was checked. CORRUPT when it makes no sense.
static pks_status take_table(
  pks__delivery_site *site, uint32_t index, const void *bytes, size_t byte_count, pks_error *error
) {
  pks__site_segment *segment = segment_at(site, index);
  pks__frame_table table;
  pks_status status = pks__frame_table_read(bytes, byte_count, site->context->pack, &table, error);
  if (status) { return status; }
  bool is_it = memcmp(table.segment.bytes, segment->info.id, sizeof segment->info.id) == 0
    && table.file_length == segment->info.file_length
    && (table.kind == PKS__SEGMENT_METADATA) == segment->info.is_metadata;
  if (!is_it) {
    return pks__delivery_site_corrupt(site, index, "the frame table belongs to another segment", PKS_NO_OFFSET, error);
  }
  segment->table_at = site->tables.length;
  status = pks__scratch_append(&site->tables, bytes, byte_count, error);
  if (status) { return status; }
  segment->has_table = true;
  return segment->info.is_metadata ? list_pages(site, index, &table, error) : PKS_OK;
}

pks_status pks__delivery_site_request_table(pks__delivery_site *site, uint32_t segment, pks_error *error) {
  pks__site_segment *named = segment_at(site, segment);
  pks__id id;
  bool found;
  memcpy(id.bytes, named->info.table_digest, sizeof id.bytes);
  named->is_asked = true;
  pks_status status = pks__transfer_staging_get_blob(&site->context->incoming, &id, &site->kept, &found, error);
  if (status) { return status; }
  if (found && site->kept.length == named->info.table_length) {
    return take_table(site, segment, site->kept.bytes, (size_t)site->kept.length, error);
  }
  pks__byte_request request = {.kind = PKS__REQUEST_TABLE, .segment = segment, .length = named->info.table_length};
  return pks__delivery_requests_add(site->requests, &request, error);
}

pks_status pks__delivery_site_request_more_tables(pks__delivery_site *site, bool *any, pks_error *error) {
  uint32_t left = site->table_batch;
  *any = false;
  pks_status status = PKS_OK;
  for (uint64_t i = pks__delivery_site_count(site); !status && left > 0 && i > 0; i--) {
    const pks__site_segment *segment = segment_at(site, i - 1);
    if (!segment->info.is_metadata || segment->is_asked) { continue; }
    status = pks__delivery_site_request_table(site, (uint32_t)(i - 1), error);
    *any = true;
    left--;
  }
  if (site->table_batch < UINT32_MAX / 2) { site->table_batch *= 2; }
  return status;
}

pks_status pks__delivery_site_give_table(
  pks__delivery_site *site, const pks__byte_request *request, const void *bytes, bool *is_final, pks_error *error
) {
  pks__transfer_staging *incoming = &site->context->incoming;
  pks__id id = pks__delivery_digest(site->context, bytes, request->length);
  if (memcmp(id.bytes, segment_at(site, request->segment)->info.table_digest, sizeof id.bytes) != 0) {
    const char *text = "the received bytes are not the segment's frame table";
    return pks__delivery_site_corrupt(site, request->segment, text, PKS_NO_OFFSET, error);
  }
  *is_final = true;
  pks_status status = take_table(site, request->segment, bytes, request->length, error);
  if (!status && !pks__transfer_staging_has_blob(incoming, &id)) {
    status = pks__transfer_staging_put_blob(incoming, &id, bytes, request->length, error);
  }
  site->given_bytes += request->length;
  return status;
}
