#include "transfer/delivery_pages.h"

#include "catalog/tree_cursor.h"
#include "segment/frame_check.h"
#include "store/chunk_lookup.h"

void pks__delivery_pages_init(
  pks__delivery_pages *pages, pks__delivery_context *context, pks__delivery_requests *requests, pks__delivery_site *site
) {
  *pages = (pks__delivery_pages){.context = context, .requests = requests, .site = site};
  pages->rows = pks__row_budget_make(context->max_rows);
  pks__scratch *arrays[] = {&pages->tasks, &pages->waiting, &pages->seen, &pages->counted, &pages->page};
  pks__hash_map *maps[] = {&pages->seen_by_id, &pages->counted_by_id};
  pks__delivery_context_own(context, arrays, PKS_COUNT_OF(arrays), maps, PKS_COUNT_OF(maps));
}

// MARK: - Having pages

/// Whether a failure to read a page here means that it must come from the site.
static bool is_loss(pks_status status) {
  return status == PKS_CORRUPT || status == PKS_PURGED || status == PKS_IO_ERROR;
}

/// Finds a page in the base.
static pks_status find_in_base(
  pks__delivery_pages *pages, const pks__id *id, pks__chunk_ref *ref, bool *found, pks_error *error
) {
  pks_status status = pks__snapshot_find_chunk(pages->context->base, id, PKS__SEGMENT_METADATA, ref, found, error);
  if (!status && *found) { *found = !pks__frame_of_chunk_is_bad(ref->segment, ref->row); }
  return status;
}

/// Reads a page from wherever it is. `out` is emptied first.
static pks_status find_page(
  pks__delivery_pages *pages, const pks__id *id, pks__scratch *out, bool *found, pks_error *error
) {
  pks__chunk_ref ref;
  pks_error lost;
  out->length = 0;
  pks_status status = find_in_base(pages, id, &ref, found, error);
  if (!status && *found) {
    status = pks__snapshot_read_chunk(pages->context->base, &ref, out, &lost);
    if (!status) { return PKS_OK; }
    if (!is_loss(status)) {
      if (error) { *error = lost; }
      return status;
    }
    status = PKS_OK;
  }
  return status ? status : pks__transfer_staging_get_blob(&pages->context->incoming, id, out, found, error);
}

static pks_status get_page(void *context, const pks__id *id, pks__scratch *out, pks_error *error) {
  pks__delivery_pages *pages = context;
  bool found;
  pks_status status = find_page(pages, id, out, &found, error);
  return status || found ? status : pks__delivery_corrupt(pages->context, "a page of the version is missing", error);
}

pks__page_source pks__delivery_pages_source(pks__delivery_pages *pages) {
  return (pks__page_source){.context = pages, .get = get_page};
}

static pks_status put_page(void *context, const void *page, size_t length, pks__id *id, pks_error *error) {
  pks__delivery_pages *pages = context;
  pks__transfer_staging *incoming = &pages->context->incoming;
  pks__chunk_ref ref;
  bool found;
  *id = pks__delivery_digest(pages->context, page, length);
  if (pks__transfer_staging_has_blob(incoming, id)) { return PKS_OK; }
  pks_status status = find_in_base(pages, id, &ref, &found, error);
  if (status || found) { return status; }
  return pks__transfer_staging_put_blob(incoming, id, page, length, error);
}

pks__page_sink pks__delivery_pages_sink(pks__delivery_pages *pages) {
  return (pks__page_sink){.context = pages, .put = put_page};
}

// MARK: - Looking into pages

/// Whether the page was met in this role before; it is from now on. Not asked of layouts, in which each file is met
/// once a level.
static pks_status was_seen(pks__delivery_pages *pages, const pks__page_task *task, bool *seen, pks_error *error) {
  *seen = false;
  if (task->role == PKS__ROLE_LAYOUT || task->role == PKS__ROLE_ROOT) { return PKS_OK; }
  uint64_t key = pks__hash_map_key(&pages->seen_by_id, &task->id, sizeof task->id), probe = 0;
  uint32_t index;
  while (pks__hash_map_next(&pages->seen_by_id, key, &probe, &index)) {
    const pks__page_task *other = PKS__SCRATCH_AT(&pages->seen, const pks__page_task, index);
    *seen = pks__id_equal(&other->id, &task->id) && other->role == task->role && other->level == task->level;
    if (*seen) { return PKS_OK; }
  }
  uint64_t count = PKS__SCRATCH_COUNT(&pages->seen, pks__page_task);
  if (count == UINT32_MAX) { return pks__delivery_corrupt(pages->context, "too many pages", error); }
  pks_status status = pks__scratch_append(&pages->seen, task, sizeof *task, error);
  return status ? status : pks__hash_map_insert(&pages->seen_by_id, key, (uint32_t)count, error);
}

pks_status pks__delivery_pages_need(pks__delivery_pages *pages, const pks__page_task *task, pks_error *error) {
  if (task->level >= PKS__TREE_LEVELS) {
    return pks__delivery_corrupt(pages->context, "a tree of pages is too high", error);
  }
  bool seen;
  pks_status status = was_seen(pages, task, &seen, error);
  return status || seen ? status : pks__scratch_append(&pages->tasks, task, sizeof *task, error);
}

/// The state of processing one page.
typedef struct glance {
  pks__delivery_pages *pages;
  const pks__page_task *task;
} glance;

static pks_status need_child(void *context, const pks__tree_item *item, pks_error *error) {
  const glance *glance = context;
  pks__page_task child = {.id = pks__tree_child(item), .role = glance->task->role, .level = glance->task->level - 1};
  return pks__delivery_pages_need(glance->pages, &child, error);
}

/// Sees that the list of chunks of a file comes, if it has one.
static pks_status need_list(void *context, const pks__tree_item *item, pks_error *error) {
  const glance *glance = context;
  pks__catalog_entry entry;
  pks_status status =
    pks__catalog_entry_decode((const char *)item->key, item->key_length, item->body, item->body_length, &entry, error);
  if (status || entry.kind != PKS__RECORD_FILE || entry.chunks || entry.chunk_count == 0) { return status; }
  pks__page_task root = {.id = entry.list.root, .role = PKS__ROLE_CHUNKS, .level = entry.list.height};
  return pks__delivery_pages_need(glance->pages, &root, error);
}

static bool is_leaf_of_list(const pks__page_task *task) {
  return task->level == 0 && (task->role == PKS__ROLE_CHUNKS || task->role == PKS__ROLE_EXTENTS);
}

/// Processes a present page: the pages it refers to are needed, too.
static pks_status look_into(
  pks__delivery_pages *pages, const pks__page_task *task, const pks__layout_visitor *visitor, pks_error *error
) {
  glance glance = {.pages = pages, .task = task};
  pks__scratch *page = &pages->page;
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
    case PKS__ROLE_LAYOUT: return visitor->visit(visitor->context, task, page, error);
  }
  return PKS_OK;
}

static const pks__id *counted_id(const void *context, uint32_t index) {
  const pks__delivery_pages *pages = context;
  return PKS__SCRATCH_AT(&pages->counted, const pks__id, index);
}

/// Counts the bytes of a page, unless they were counted before.
static pks_status count_page(pks__delivery_pages *pages, const pks__id *id, uint64_t byte_count, pks_error *error) {
  uint32_t index;
  if (pks__hash_map_find_id(&pages->counted_by_id, id, counted_id, pages, &index)) { return PKS_OK; }
  uint64_t count = PKS__SCRATCH_COUNT(&pages->counted, pks__id);
  if (count == UINT32_MAX) { return pks__delivery_corrupt(pages->context, "too many pages", error); }
  pages->rows.page_bytes += byte_count;
  pks_status status = pks__scratch_append(&pages->counted, id, sizeof *id, error);
  return status ? status : pks__hash_map_insert_id(&pages->counted_by_id, id, (uint32_t)count, error);
}

/// Looks into the page of a task, or puts the task aside when the page is not there.
static pks_status do_task(
  pks__delivery_pages *pages, const pks__page_task *task, const pks__layout_visitor *visitor, pks_error *error
) {
  bool found, is_leaf = is_leaf_of_list(task);
  uint64_t length = is_leaf ? pks__transfer_staging_blob_length(&pages->context->incoming, &task->id) : 0;
  if (length > 0) { return count_page(pages, &task->id, length, error); }
  pks_status status = find_page(pages, &task->id, &pages->page, &found, error);
  if (status) { return status; }
  if (!found) { return pks__scratch_append(&pages->waiting, task, sizeof *task, error); }
  status = count_page(pages, &task->id, pages->page.length, error);
  return status || is_leaf ? status : look_into(pages, task, visitor, error);
}

static pks_status do_tasks(pks__delivery_pages *pages, const pks__layout_visitor *visitor, pks_error *error) {
  pks_status status = PKS_OK;
  while (!status && pages->next_task < PKS__SCRATCH_COUNT(&pages->tasks, pks__page_task)) {
    pks__page_task task = *PKS__SCRATCH_AT(&pages->tasks, const pks__page_task, pages->next_task++);
    status = do_task(pages, &task, visitor, error);
    if (!status) { status = pks__delivery_tick(pages->context, error); }
  }
  return status;
}

/// Those tasks that were put aside are to be done: their pages came, or tables that may have them.
static void take_up_waiting(pks__delivery_pages *pages) {
  pks__scratch done = pages->tasks;
  pages->tasks = pages->waiting;
  pages->waiting = done;
  pages->waiting.length = 0;
  pages->next_task = 0;
}

// MARK: - Wanting pages

/// Requests the waiting pages whose places are known; for the others, further tables.
static pks_status want_waiting(pks__delivery_pages *pages, pks_error *error) {
  bool all_known = true;
  pks_status status = PKS_OK;
  for (uint64_t i = 0; !status && i < PKS__SCRATCH_COUNT(&pages->waiting, pks__page_task); i++) {
    bool is_known;
    const pks__page_task *task = PKS__SCRATCH_AT(&pages->waiting, const pks__page_task, i);
    status = pks__delivery_site_request_page(pages->site, &task->id, &is_known, error);
    all_known = all_known && is_known;
  }
  bool any = true;
  if (!status && !all_known) { status = pks__delivery_site_request_more_tables(pages->site, &any, error); }
  if (!status && !any) {
    status = pks__delivery_corrupt(pages->context, "a page is in no segment of the version", error);
  }
  if (!status) { pks__delivery_requests_sort(pages->requests); }
  return status;
}

pks_status pks__delivery_pages_request(
  pks__delivery_pages *pages, const pks__layout_visitor *visitor, pks_error *error
) {
  // Tables that the folder has come without being wanted, and then there is more to be found out.
  pks_status status = PKS_OK;
  do {
    if (pages->waiting.length > 0) { take_up_waiting(pages); }
    status = do_tasks(pages, visitor, error);
    if (!status && pages->waiting.length > 0) { status = want_waiting(pages, error); }
  } while (!status && pages->waiting.length > 0 && !pks__delivery_requests_any(pages->requests));
  return status;
}

// MARK: - Pages that come

static pks_status decode_page(
  pks__delivery_pages *pages, const pks__tabled_frame *frame, const uint8_t *stored, pks_error *error
) {
  pks__scratch *page = &pages->page;
  page->length = 0;
  if (frame->codec == PKS__CODEC_RAW) { return pks__scratch_append(page, stored, frame->raw_length, error); }
  pks_status status = pks__scratch_reserve(page, frame->raw_length, error);
  if (status) { return status; }
  if (!pks__decode(pages->context->decoder, stored, frame->stored_length, page->bytes, frame->raw_length)) {
    return pks__delivery_corrupt(pages->context, "a page does not decode", error);
  }
  page->length = frame->raw_length;
  return PKS_OK;
}

/// Takes a page whose stored bytes were checked.
static pks_status take_page(
  pks__delivery_pages *pages, const pks__frame_table *table, uint32_t index, const uint8_t *stored, pks_error *error
) {
  pks__tabled_frame frame = pks__frame_table_at(table, index);
  const pks__id *expected = pks__frame_table_page(table, index);
  if (pks__transfer_staging_has_blob(&pages->context->incoming, expected)) { return PKS_OK; }
  pks_status status = decode_page(pages, &frame, stored, error);
  if (status) { return status; }
  pks__id id = pks__delivery_digest(pages->context, pages->page.bytes, (size_t)pages->page.length);
  if (!pks__id_equal(&id, expected)) {
    return pks__delivery_corrupt(pages->context, "a page differs from its frame table", error);
  }
  return pks__transfer_staging_put_blob(
    &pages->context->incoming, &id, pages->page.bytes, (size_t)pages->page.length, error
  );
}

pks_status pks__delivery_pages_give(
  pks__delivery_pages *pages, const pks__byte_request *request, const void *bytes, bool *is_final, pks_error *error
) {
  pks__frame_table table = pks__delivery_site_table(pages->site, request->segment);
  for (uint32_t i = request->first_frame; i < request->first_frame + request->frame_count; i++) {
    pks__tabled_frame frame = pks__frame_table_at(&table, i);
    const uint8_t *stored = (const uint8_t *)bytes + (frame.offset - request->offset);
    pks__id id = pks__delivery_digest(pages->context, stored, frame.stored_length);
    if (!pks__id_equal(&id, &frame.digest)) {
      const char *text = "the received bytes are not the segment's";
      return pks__delivery_site_corrupt(pages->site, request->segment, text, PKS_NO_OFFSET, error);
    }
  }
  *is_final = true;
  pks_status status = PKS_OK;
  for (uint32_t i = request->first_frame; !status && i < request->first_frame + request->frame_count; i++) {
    uint64_t at = pks__frame_table_at(&table, i).offset - request->offset;
    status = take_page(pages, &table, i, (const uint8_t *)bytes + at, error);
  }
  pages->given_bytes += request->length;
  return status;
}
