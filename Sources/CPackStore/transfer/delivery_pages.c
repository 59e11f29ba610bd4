/// Pages and tables of a delivery: what is wanted to have them, and what becomes of them when they come.
#include "transfer/delivery_pages.h"

#include <string.h>

#include "base/sort.h"
#include "catalog/tree_cursor.h"
#include "store/chunk_lookup.h"

static pks_status corrupt_segment(const pks__site_segment *segment, const char *text, pks_error *error) {
  char name[PKS__SEGMENT_NAME];
  pks__segment_id id;
  memcpy(id.bytes, segment->info.id, sizeof id.bytes);
  pks__segment_name(&id, name);
  return pks__fail(error, PKS_CORRUPT, text, name, PKS_NO_OFFSET);
}

static void digest(const pks_delivery *delivery, const void *bytes, size_t byte_count, pks__id *out) {
  delivery->store->sha256(bytes, byte_count, out->bytes);
}

// MARK: - Having pages

/// Whether a failure to read a page here means that it must come from the site.
static bool is_loss(pks_status status) {
  return status == PKS_CORRUPT || status == PKS_PURGED || status == PKS_IO_ERROR;
}

/// Finds a page in the base.
static pks_status find_in_base(
  pks_delivery *delivery, const pks__id *id, pks__chunk_ref *ref, bool *found, pks_error *error
) {
  pks_status status = pks__snapshot_find_chunk(delivery->base, id, PKS__SEGMENT_METADATA, ref, found, error);
  if (!status && *found) { *found = !pks__segment_row_is_bad(ref->segment, ref->row); }
  return status;
}

/// Reads a page from wherever it is. `out` is emptied first.
static pks_status find_page(
  pks_delivery *delivery, const pks__id *id, pks__scratch *out, bool *found, pks_error *error
) {
  pks__chunk_ref ref;
  pks_error lost;
  out->length = 0;
  pks_status status = find_in_base(delivery, id, &ref, found, error);
  if (!status && *found) {
    status = pks__snapshot_read_chunk(delivery->base, &ref, out, &lost);
    if (!status) { return PKS_OK; }
    if (!is_loss(status)) {
      if (error) { *error = lost; }
      return status;
    }
    status = PKS_OK;
  }
  return status ? status : pks__transfer_staging_get_blob(&delivery->incoming, id, out, found, error);
}

static pks_status get_page(void *context, const pks__id *id, pks__scratch *out, pks_error *error) {
  pks_delivery *delivery = context;
  bool found;
  pks_status status = find_page(delivery, id, out, &found, error);
  return status || found ? status : pks__delivery_corrupt(delivery, "a page of the version is missing", error);
}

pks__page_source pks__delivery_pages(pks_delivery *delivery) {
  return (pks__page_source){.context = delivery, .get = get_page};
}

// MARK: - Looking into pages

/// Whether the page was met in this role before; it is from now on. Not asked of layouts, in which each file is met
/// once a level.
static pks_status was_seen(pks_delivery *delivery, const pks__page_task *task, bool *seen, pks_error *error) {
  *seen = false;
  if (task->role == PKS__ROLE_LAYOUT || task->role == PKS__ROLE_ROOT) { return PKS_OK; }
  uint64_t key = pks__hash_map_key(&delivery->seen_by_id, &task->id, sizeof task->id), probe = 0;
  uint32_t index;
  while (pks__hash_map_next(&delivery->seen_by_id, key, &probe, &index)) {
    const pks__page_task *other = PKS__SCRATCH_AT(&delivery->seen, const pks__page_task, index);
    *seen = pks__id_equal(&other->id, &task->id) && other->role == task->role && other->level == task->level;
    if (*seen) { return PKS_OK; }
  }
  uint64_t count = PKS__SCRATCH_COUNT(&delivery->seen, pks__page_task);
  if (count == UINT32_MAX) { return pks__delivery_corrupt(delivery, "too many pages", error); }
  pks_status status = pks__scratch_append(&delivery->seen, task, sizeof *task, error);
  return status ? status : pks__hash_map_insert(&delivery->seen_by_id, key, (uint32_t)count, error);
}

pks_status pks__delivery_need_page(
  pks_delivery *delivery, const pks__id *id, pks__page_role role, uint32_t level, uint64_t first_file,
  uint64_t end_file, pks_error *error
) {
  if (level >= PKS__TREE_LEVELS) { return pks__delivery_corrupt(delivery, "a tree of pages is too high", error); }
  pks__page_task task = {
    .id = *id, .role = (uint8_t)role, .level = (uint8_t)level, .first_file = first_file, .end_file = end_file};
  bool seen;
  pks_status status = was_seen(delivery, &task, &seen, error);
  return status || seen ? status : pks__scratch_append(&delivery->tasks, &task, sizeof task, error);
}

/// What looks into one page.
typedef struct glance {
  pks_delivery *delivery;
  const pks__page_task *task;
} glance;

static pks_status need_child(void *context, const pks__tree_item *item, pks_error *error) {
  const glance *glance = context;
  const pks__page_task *task = glance->task;
  pks__id child = pks__tree_child(item);
  return pks__delivery_need_page(glance->delivery, &child, (pks__page_role)task->role, task->level - 1u, 0, 0, error);
}

/// Sees that the list of chunks of a file comes, if it has one.
static pks_status need_list(void *context, const pks__tree_item *item, pks_error *error) {
  const glance *glance = context;
  pks__catalog_entry entry;
  pks_status status =
    pks__catalog_entry_decode((const char *)item->key, item->key_length, item->body, item->body_length, &entry, error);
  if (status || entry.kind != PKS__RECORD_FILE || entry.chunks || entry.chunk_count == 0) { return status; }
  return pks__delivery_need_page(glance->delivery, &entry.list.root, PKS__ROLE_CHUNKS, entry.list.height, 0, 0, error);
}

static bool is_leaf_of_list(const pks__page_task *task) {
  return task->level == 0 && (task->role == PKS__ROLE_CHUNKS || task->role == PKS__ROLE_EXTENTS);
}

/// Looks into a page that is there: what hangs on it is needed, too.
static pks_status look_into(
  pks_delivery *delivery, const pks__page_task *task, pks__layout_visitor *visit_layout, pks_error *error
) {
  glance glance = {.delivery = delivery, .task = task};
  pks__scratch *page = &delivery->page;
  switch ((pks__page_role)task->role) {
    case PKS__ROLE_ROOT: return PKS_OK;
    case PKS__ROLE_CATALOG:
      return pks__tree_visit_items(
        page, &task->id, PKS__TREE_MAP, 0, task->level, task->level > 0 ? need_child : need_list, &glance, error
      );
    case PKS__ROLE_CHUNKS:
      return pks__tree_visit_items(
        page, &task->id, PKS__TREE_LIST, sizeof(pks__catalog_chunk), task->level, need_child, &glance, error
      );
    case PKS__ROLE_EXTENTS:
      return pks__tree_visit_items(
        page, &task->id, PKS__TREE_LIST, sizeof(pks__layout_extent), task->level, need_child, &glance, error
      );
    case PKS__ROLE_LAYOUT: return visit_layout(delivery, task, page, error);
  }
  return PKS_OK;
}

/// Looks into the page of a task, or puts the task aside when the page is not there.
static pks_status do_task(
  pks_delivery *delivery, const pks__page_task *task, pks__layout_visitor *visit_layout, pks_error *error
) {
  bool found, is_leaf = is_leaf_of_list(task);
  if (is_leaf && pks__transfer_staging_has_blob(&delivery->incoming, &task->id)) { return PKS_OK; }
  pks_status status = find_page(delivery, &task->id, &delivery->page, &found, error);
  if (status) { return status; }
  if (found) { return is_leaf ? PKS_OK : look_into(delivery, task, visit_layout, error); }
  return pks__scratch_append(&delivery->waiting, task, sizeof *task, error);
}

static pks_status do_tasks(pks_delivery *delivery, pks__layout_visitor *visit_layout, pks_error *error) {
  pks_status status = PKS_OK;
  while (!status && delivery->next_task < PKS__SCRATCH_COUNT(&delivery->tasks, pks__page_task)) {
    pks__page_task task = *PKS__SCRATCH_AT(&delivery->tasks, const pks__page_task, delivery->next_task++);
    status = do_task(delivery, &task, visit_layout, error);
  }
  return status;
}

/// Those tasks that were put aside are to be done: their pages came, or tables that may have them.
static void take_up_waiting(pks_delivery *delivery) {
  pks__scratch done = delivery->tasks;
  delivery->tasks = delivery->waiting;
  delivery->waiting = done;
  delivery->waiting.length = 0;
  delivery->next_task = 0;
}

// MARK: - Wanting pages

static pks_status add_want(pks_delivery *delivery, const pks__want *want, pks_error *error) {
  return pks__scratch_append(&delivery->wants, want, sizeof *want, error);
}

static const pks__id *placed_id(const void *context, uint32_t index) {
  const pks_delivery *delivery = context;
  const pks__page_place *place = PKS__SCRATCH_AT(&delivery->page_places, const pks__page_place, index);
  pks__frame_table table = pks__delivery_table(delivery, place->segment);
  return pks__frame_table_page(&table, place->frame);
}

static bool find_place(const pks_delivery *delivery, const pks__id *id, pks__page_place *out) {
  uint32_t index;
  if (!pks__hash_map_find_id(&delivery->pages_by_id, id, placed_id, delivery, &index)) { return false; }
  *out = *PKS__SCRATCH_AT(&delivery->page_places, const pks__page_place, index);
  return true;
}

/// Wants a page, or all of the small segment that it lies in.
static pks_status want_page(pks_delivery *delivery, const pks__page_place *place, pks_error *error) {
  pks__site_segment *segment = pks__delivery_segment(delivery, place->segment);
  if (segment->is_small && segment->is_wanted) { return PKS_OK; }
  pks__frame_table table = pks__delivery_table(delivery, place->segment);
  pks__want want = {.kind = PKS__WANT_PAGES, .segment = place->segment, .first_frame = place->frame, .frame_count = 1};
  if (segment->is_small) {
    segment->is_wanted = true;
    want.first_frame = 0;
    want.frame_count = table.frame_count;
  }
  pks__tabled_frame first = pks__frame_table_at(&table, want.first_frame);
  pks__tabled_frame last = pks__frame_table_at(&table, want.first_frame + want.frame_count - 1);
  want.offset = first.offset;
  want.length = (uint32_t)(last.offset + last.stored_length - first.offset);
  return add_want(delivery, &want, error);
}

/// Wants the next tables of metadata segments, from the newest on. `*any` is false when there are none left.
static pks_status want_more_tables(pks_delivery *delivery, bool *any, pks_error *error) {
  uint32_t left = delivery->table_batch;
  *any = false;
  pks_status status = PKS_OK;
  for (uint64_t i = PKS__SCRATCH_COUNT(&delivery->segments, pks__site_segment); !status && left > 0 && i > 0; i--) {
    pks__site_segment *segment = pks__delivery_segment(delivery, (uint32_t)(i - 1));
    if (!segment->info.is_metadata || segment->is_asked) { continue; }
    status = pks__delivery_want_table(delivery, (uint32_t)(i - 1), error);
    *any = true;
    left--;
  }
  if (delivery->table_batch < UINT32_MAX / 2) { delivery->table_batch *= 2; }
  return status;
}

static bool stands_before(const void *context, const void *first, const void *second) {
  const pks__want *a = first, *b = second;
  (void)context;
  if (a->segment != b->segment) { return a->segment < b->segment; }
  if (a->kind != b->kind) { return a->kind < b->kind; }
  return a->offset < b->offset;
}

/// By segment and place, and each once: neighbours may be fetched together.
static void sort_wants(pks_delivery *delivery) {
  pks__want *wants = PKS__SCRATCH_AT(&delivery->wants, pks__want, 0);
  uint64_t count = PKS__SCRATCH_COUNT(&delivery->wants, pks__want), kept = 0;
  pks__sort(wants, count, sizeof *wants, stands_before, NULL);
  for (uint64_t i = 0; i < count; i++) {
    if (kept > 0 && !stands_before(NULL, &wants[kept - 1], &wants[i])) { continue; }
    wants[kept++] = wants[i];
  }
  delivery->wants.length = kept * sizeof(pks__want);
}

/// Wants the pages that are waited for, as far as it is known where they lie; for the others, further tables.
static pks_status want_waiting(pks_delivery *delivery, pks_error *error) {
  uint64_t lost = 0;
  pks_status status = PKS_OK;
  for (uint64_t i = 0; !status && i < PKS__SCRATCH_COUNT(&delivery->waiting, pks__page_task); i++) {
    const pks__page_task *task = PKS__SCRATCH_AT(&delivery->waiting, const pks__page_task, i);
    pks__page_place place;
    bool is_known = find_place(delivery, &task->id, &place);
    if (is_known) { status = want_page(delivery, &place, error); }
    lost += !is_known;
  }
  bool any = true;
  if (!status && lost > 0) { status = want_more_tables(delivery, &any, error); }
  if (!status && !any) { status = pks__delivery_corrupt(delivery, "a page is in no segment of the version", error); }
  if (!status) { sort_wants(delivery); }
  return status;
}

pks_status pks__delivery_want_pages(pks_delivery *delivery, pks__layout_visitor *visit_layout, pks_error *error) {
  // Tables that the folder has come without being wanted, and then there is more to be found out.
  pks_status status = PKS_OK;
  do {
    if (delivery->waiting.length > 0) { take_up_waiting(delivery); }
    status = do_tasks(delivery, visit_layout, error);
    if (!status && delivery->waiting.length > 0) { status = want_waiting(delivery, error); }
  } while (!status && delivery->waiting.length > 0 && delivery->wants.length == 0);
  return status;
}

// MARK: - Tables

pks__frame_table pks__delivery_table(const pks_delivery *delivery, uint32_t segment) {
  const pks__site_segment *site = pks__delivery_segment(delivery, segment);
  PKS_ASSERT(site->has_table);
  pks__frame_table table;
  const uint8_t *bytes = delivery->tables.bytes + site->table_at;
  pks__frame_table_view(bytes, site->info.table_length, &table);
  return table;
}

/// Knows where a page is. A table may list one any number of times: the first place will do.
static pks_status list_page(
  pks_delivery *delivery, uint32_t segment, uint32_t frame, const pks__id *id, pks_error *error
) {
  pks__page_place place;
  if (find_place(delivery, id, &place)) { return PKS_OK; }
  place = (pks__page_place){.segment = segment, .frame = frame};
  uint64_t count = PKS__SCRATCH_COUNT(&delivery->page_places, pks__page_place);
  if (count == UINT32_MAX) { return pks__delivery_corrupt(delivery, "too many pages", error); }
  pks_status status = pks__scratch_append(&delivery->page_places, &place, sizeof place, error);
  return status ? status : pks__hash_map_insert_id(&delivery->pages_by_id, id, (uint32_t)count, error);
}

/// Knows the pages of a metadata segment.
static pks_status list_pages(
  pks_delivery *delivery, uint32_t segment, const pks__frame_table *table, pks_error *error
) {
  uint64_t stored = 0;
  pks_status status = PKS_OK;
  for (uint32_t i = 0; !status && i < table->frame_count; i++) {
    stored += pks__frame_table_at(table, i).stored_length;
    status = list_page(delivery, segment, i, pks__frame_table_page(table, i), error);
  }
  if (status || table->frame_count == 0) { return status; }
  pks__tabled_frame first = pks__frame_table_at(table, 0), last = pks__frame_table_at(table, table->frame_count - 1);
  uint64_t spread = last.offset + last.stored_length - first.offset;
  pks__delivery_segment(delivery, segment)->is_small = stored <= PKS__SMALL_SEGMENT && spread <= 2 * PKS__SMALL_SEGMENT;
  return PKS_OK;
}

/// Prepares the frames of a data segment: where each begins among the raw bytes, and what is missing of it.
static pks_status list_frames(
  pks_delivery *delivery, uint32_t segment, const pks__frame_table *table, pks_error *error
) {
  uint64_t sum = 0;
  uint32_t none = PKS__NO_CHUNK;
  pks_status status = PKS_OK;
  pks__delivery_segment(delivery, segment)->frames_at = PKS__SCRATCH_COUNT(&delivery->heads, uint32_t);
  for (uint32_t i = 0; !status && i <= table->frame_count; i++) {
    status = pks__scratch_append(&delivery->starts, &sum, sizeof sum, error);
    if (!status) { status = pks__scratch_append(&delivery->heads, &none, sizeof none, error); }
    if (i < table->frame_count) { sum += pks__frame_table_at(table, i).raw_length; }
  }
  return status;
}

/// Takes a table whose SHA-256 was checked. CORRUPT when it makes no sense.
static pks_status take_table(
  pks_delivery *delivery, uint32_t index, const void *bytes, size_t byte_count, pks_error *error
) {
  pks__site_segment *segment = pks__delivery_segment(delivery, index);
  pks__frame_table table;
  pks_status status = pks__frame_table_read(bytes, byte_count, delivery->pack, &table, error);
  if (status) { return status; }
  bool is_it = memcmp(table.segment.bytes, segment->info.id, sizeof segment->info.id) == 0
    && table.file_length == segment->info.file_length
    && (table.kind == PKS__SEGMENT_METADATA) == segment->info.is_metadata;
  if (!is_it) { return corrupt_segment(segment, "the frame table is of another segment", error); }
  segment->table_at = delivery->tables.length;
  status = pks__scratch_append(&delivery->tables, bytes, byte_count, error);
  if (status) { return status; }
  segment->has_table = true;
  return segment->info.is_metadata ? list_pages(delivery, index, &table, error)
                                   : list_frames(delivery, index, &table, error);
}

pks_status pks__delivery_want_table(pks_delivery *delivery, uint32_t segment, pks_error *error) {
  pks__site_segment *site = pks__delivery_segment(delivery, segment);
  pks__id id;
  bool found;
  memcpy(id.bytes, site->info.table_digest, sizeof id.bytes);
  site->is_asked = true;
  pks_status status = pks__transfer_staging_get_blob(&delivery->incoming, &id, &delivery->page, &found, error);
  if (status) { return status; }
  if (found && delivery->page.length == site->info.table_length) {
    return take_table(delivery, segment, delivery->page.bytes, (size_t)delivery->page.length, error);
  }
  pks__want want = {.kind = PKS__WANT_TABLE, .segment = segment, .length = site->info.table_length};
  return add_want(delivery, &want, error);
}

pks_status pks__delivery_give_table(
  pks_delivery *delivery, const pks__want *want, const void *bytes, bool *is_final, pks_error *error
) {
  const pks__site_segment *segment = pks__delivery_segment(delivery, want->segment);
  pks__id id;
  digest(delivery, bytes, want->length, &id);
  if (memcmp(id.bytes, segment->info.table_digest, sizeof id.bytes) != 0) {
    return corrupt_segment(segment, "these bytes are not the frame table of the segment", error);
  }
  *is_final = true;
  pks_status status = take_table(delivery, want->segment, bytes, want->length, error);
  if (!status && !pks__transfer_staging_has_blob(&delivery->incoming, &id)) {
    status = pks__transfer_staging_put_blob(&delivery->incoming, &id, bytes, want->length, error);
  }
  delivery->totals.metadata_bytes += want->length;
  return status;
}

// MARK: - Pages that come

static pks_status decode_page(
  pks_delivery *delivery, const pks__tabled_frame *frame, const uint8_t *stored, pks_error *error
) {
  pks__scratch *page = &delivery->page;
  page->length = 0;
  if (frame->codec == PKS__CODEC_RAW) { return pks__scratch_append(page, stored, frame->raw_length, error); }
  pks_status status = pks__scratch_reserve(page, frame->raw_length, error);
  if (status) { return status; }
  if (!pks__decode(delivery->decoder, stored, frame->stored_length, page->bytes, frame->raw_length)) {
    return pks__delivery_corrupt(delivery, "a page does not decode", error);
  }
  page->length = frame->raw_length;
  return PKS_OK;
}

/// Takes a page whose stored bytes were checked.
static pks_status take_page(
  pks_delivery *delivery, const pks__frame_table *table, uint32_t index, const uint8_t *stored, pks_error *error
) {
  pks__tabled_frame frame = pks__frame_table_at(table, index);
  const pks__id *expected = pks__frame_table_page(table, index);
  pks__id id;
  if (pks__transfer_staging_has_blob(&delivery->incoming, expected)) { return PKS_OK; }
  pks_status status = decode_page(delivery, &frame, stored, error);
  if (status) { return status; }
  digest(delivery, delivery->page.bytes, (size_t)delivery->page.length, &id);
  if (!pks__id_equal(&id, expected)) {
    return pks__delivery_corrupt(delivery, "a page is not what its frame table says", error);
  }
  return pks__transfer_staging_put_blob(
    &delivery->incoming, &id, delivery->page.bytes, (size_t)delivery->page.length, error
  );
}

pks_status pks__delivery_give_pages(
  pks_delivery *delivery, const pks__want *want, const void *bytes, bool *is_final, pks_error *error
) {
  pks__frame_table table = pks__delivery_table(delivery, want->segment);
  for (uint32_t i = want->first_frame; i < want->first_frame + want->frame_count; i++) {
    pks__tabled_frame frame = pks__frame_table_at(&table, i);
    pks__id id;
    digest(delivery, (const uint8_t *)bytes + (frame.offset - want->offset), frame.stored_length, &id);
    if (!pks__id_equal(&id, &frame.digest)) {
      return corrupt_segment(
        pks__delivery_segment(delivery, want->segment), "these bytes are not those of the segment", error
      );
    }
  }
  *is_final = true;
  pks_status status = PKS_OK;
  for (uint32_t i = want->first_frame; !status && i < want->first_frame + want->frame_count; i++) {
    uint64_t at = pks__frame_table_at(&table, i).offset - want->offset;
    status = take_page(delivery, &table, i, (const uint8_t *)bytes + at, error);
  }
  delivery->totals.metadata_bytes += want->length;
  return status;
}
