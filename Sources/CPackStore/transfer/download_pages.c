#include "transfer/download_pages.h"

#include "catalog/catalog.h"
#include "store/chunk_lookup.h"

void pks__download_pages_init(pks__download_pages *pages, pks_snapshot *snapshot, pks__segment_marks *marks) {
  *pages = (pks__download_pages){.snapshot = snapshot, .marks = marks, .table_batch = 1};
  pages->lists_by_id.key = snapshot->store->map_key;
}

void pks__download_pages_free(pks__download_pages *pages) {
  pks__scratch *arrays[] = {&pages->tasks, &pages->waiting, &pages->page, &pages->lists};
  for (size_t i = 0; i < PKS_COUNT_OF(arrays); i++) { pks__scratch_free(arrays[i]); }
  pks__hash_map_free(&pages->lists_by_id);
}

// MARK: - Segments

/// Finds out whether a segment is small.
static pks_status measure(pks__marked_segment *marked, pks_error *error) {
  uint64_t stored = 0, begin = 0, end = 0;
  for (uint32_t i = 0; i < marked->segment->frame_count; i++) {
    pks__frame frame;
    pks_status status = pks__segment_frame(marked->segment, i, &frame, error);
    if (status) { return status; }
    if (i == 0) { begin = frame.ref.offset; }
    end = frame.ref.offset + frame.ref.stored_length;
    stored += frame.ref.stored_length;
  }
  // Frames of a damaged table may be in any order.
  marked->span = end > begin && pks__site_segment_is_small(stored, end - begin) ? end - begin : 0;
  return PKS_OK;
}

/// Gives turns to metadata segments [begin, end) of the list: a client asks for the tables of that many at once, and
/// they come in the order of the list.
static pks_status give_turns(
  pks__download_pages *pages, const pks__segment_id *ids, uint64_t begin, uint64_t end, pks_error *error
) {
  pks_status status = PKS_OK;
  for (uint64_t i = begin; !status && i < end; i++) {
    pks__marked_segment *marked;
    status = pks__segment_marks_get(pages->marks, &ids[i], &marked, error);
    if (status) { return status; }
    marked->turn = ++pages->metadata_count;
    status = measure(marked, error);
  }
  return status;
}

static pks_status keep_metadata(
  pks__download_pages *pages, const pks__scratch *segments, pks__scratch *out, pks_error *error
) {
  pks_status status = PKS_OK;
  for (uint64_t i = 0; !status && i < PKS__SCRATCH_COUNT(segments, pks__segment_id); i++) {
    const pks__segment_id *id = PKS__SCRATCH_AT(segments, const pks__segment_id, i);
    pks__marked_segment *marked;
    status = pks__segment_marks_get(pages->marks, id, &marked, error);
    if (!status && marked->segment->kind == PKS__SEGMENT_METADATA) {
      status = pks__scratch_append(out, id, sizeof *id, error);
    }
  }
  return status;
}

pks_status pks__download_pages_list(pks__download_pages *pages, const pks__scratch *segments, pks_error *error) {
  pks__scratch metadata = {0};
  pks_status status = keep_metadata(pages, segments, &metadata, error);
  uint64_t left = PKS__SCRATCH_COUNT(&metadata, pks__segment_id);
  for (uint64_t batch = 1; !status && left > 0; batch *= 2) {
    uint64_t begin = left - pks__min64(batch, left);
    status = give_turns(pages, PKS__SCRATCH_AT(&metadata, const pks__segment_id, 0), begin, left, error);
    left = begin;
  }
  pks__scratch_free(&metadata);
  return status;
}

// MARK: - Looking into pages

/// Roots of lists that were noted.
static const pks__id *list_at(const void *context, uint32_t index) {
  const pks__download_pages *pages = context;
  return PKS__SCRATCH_AT(&pages->lists, const pks__id, index);
}

pks_status pks__download_pages_need_list(pks__download_pages *pages, const pks__id *root, pks_error *error) {
  uint32_t index;
  if (pks__hash_map_find_id(&pages->lists_by_id, root, list_at, pages, &index)) { return PKS_OK; }
  uint64_t count = PKS__SCRATCH_COUNT(&pages->lists, pks__id);
  if (count == UINT32_MAX) { return pks__fail(error, PKS_CORRUPT, "too many lists of extents", NULL, PKS_NO_OFFSET); }
  pks_status status = pks__scratch_append(&pages->lists, root, sizeof *root, error);
  return status ? status : pks__hash_map_insert_id(&pages->lists_by_id, root, (uint32_t)count, error);
}

pks_status pks__download_pages_need(
  pks__download_pages *pages, const pks__id *id, pks__page_role role, uint32_t level, pks_error *error
) {
  pks__chunk_ref ref;
  bool found;
  pks_status status = pks__snapshot_find_chunk(pages->snapshot, id, PKS__SEGMENT_METADATA, &ref, &found, error);
  if (!status && (!found || level >= PKS__TREE_LEVELS)) {
    status = pks__fail(error, PKS_CORRUPT, "a page of the version is missing", NULL, PKS_NO_OFFSET);
  }
  pks__marked_segment *marked;
  if (!status) { status = pks__segment_marks_get(pages->marks, &ref.segment->id, &marked, error); }
  if (status || !pks__mark(marked->frames, ref.row)) { return status; }
  pks__page_task task = {.id = *id, .role = (uint8_t)role, .level = level};
  return pks__scratch_append(&pages->tasks, &task, sizeof task, error);
}

/// The state of processing one page.
typedef struct glance {
  pks__download_pages *pages;
  const pks__page_task *task;
} glance;

static pks_status need_child(void *context, const pks__tree_item *item, pks_error *error) {
  const glance *glance = context;
  pks__id child = pks__tree_child(item);
  return pks__download_pages_need(
    glance->pages, &child, (pks__page_role)glance->task->role, glance->task->level - 1, error
  );
}

static pks_status need_chunks(void *context, const pks__tree_item *item, pks_error *error) {
  const glance *glance = context;
  pks__catalog_entry entry;
  pks_status status =
    pks__catalog_entry_decode((const char *)item->key, item->key_length, item->body, item->body_length, &entry, error);
  if (status || entry.kind != PKS__RECORD_FILE || entry.chunks || entry.chunk_count == 0) { return status; }
  return pks__download_pages_need(glance->pages, &entry.list.root, PKS__ROLE_CHUNKS, entry.list.height, error);
}

static pks_status need_extents(void *context, const pks__tree_item *item, pks_error *error) {
  const glance *glance = context;
  pks__download_pages *pages = glance->pages;
  pks__layout_entry entry;
  uint32_t index;
  if (!pks__layout_entry_decode(item->body, item->body_length, &entry)) {
    return pks__fail_at_path(error, PKS_CORRUPT, "bad entry of a layout", (const char *)item->key, item->key_length);
  }
  bool is_needed =
    !entry.extents && pks__hash_map_find_id(&pages->lists_by_id, &entry.list.root, list_at, pages, &index);
  if (!is_needed) { return PKS_OK; }
  return pks__download_pages_need(pages, &entry.list.root, PKS__ROLE_EXTENTS, entry.list.height, error);
}

/// Processes a page that the client has: the pages it refers to are needed, too.
static pks_status look_into(pks__download_pages *pages, const pks__page_task *task, pks_error *error) {
  pks__page_role role = (pks__page_role)task->role;
  bool is_map = role == PKS__ROLE_CATALOG || role == PKS__ROLE_LAYOUT;
  if (role == PKS__ROLE_ROOT || (!is_map && task->level == 0)) { return PKS_OK; }
  uint16_t row_size = 0;
  if (!is_map) { row_size = role == PKS__ROLE_CHUNKS ? sizeof(pks__catalog_chunk) : sizeof(pks__layout_extent); }
  glance glance = {.pages = pages, .task = task};
  pks__page_source source = pks__snapshot_pages(pages->snapshot);
  pks_status status = source.get(source.context, &task->id, &pages->page, error);
  if (status) { return status; }
  return pks__tree_visit_items(
    &pages->page, &task->id, is_map ? PKS__TREE_MAP : PKS__TREE_LIST, row_size, task->level,
    task->level > 0               ? need_child
      : role == PKS__ROLE_CATALOG ? need_chunks
                                  : need_extents,
    &glance, error
  );
}

// MARK: - Rounds

/// The places of a page in the segments of the version.
typedef struct page_copies {
  bool is_here;             ///< the client has one
  pks__segment_id segment;  ///< segment of the copy that the client learned first
  uint32_t row;             ///< row of that copy
  uint32_t turn;            ///< turn of that copy; UINT32_MAX: no received table contains it
} page_copies;

static pks_status find_copies(pks__download_pages *pages, const pks__id *id, page_copies *out, pks_error *error) {
  pks__chunk_probe probe = {0};
  *out = (page_copies){.turn = UINT32_MAX};
  while (true) {
    pks__chunk_ref ref;
    bool found;
    pks__marked_segment *marked;
    pks_status status =
      pks__snapshot_next_chunk(pages->snapshot, id, PKS__SEGMENT_METADATA, &probe, &ref, &found, error);
    if (status || !found) { return status; }
    status = pks__segment_marks_get(pages->marks, &ref.segment->id, &marked, error);
    if (status) { return status; }
    out->is_here = out->is_here || marked->is_fetched || pks__is_marked(marked->rows, ref.row);
    bool is_first = marked->turn < out->turn || (marked->turn == out->turn && ref.row < out->row);
    if (marked->turn == 0 || marked->turn > pages->tabled || !is_first) { continue; }
    *out = (page_copies){.is_here = out->is_here, .segment = ref.segment->id, .row = ref.row, .turn = marked->turn};
  }
}

/// Does the tasks whose pages are present, and puts the others aside.
static pks_status do_tasks(pks__download_pages *pages, pks_error *error) {
  pks_status status = PKS_OK;
  while (!status && pages->next_task < PKS__SCRATCH_COUNT(&pages->tasks, pks__page_task)) {
    pks__page_task task = *PKS__SCRATCH_AT(&pages->tasks, const pks__page_task, pages->next_task++);
    page_copies copies;
    status = find_copies(pages, &task.id, &copies, error);
    if (status) { return status; }
    status =
      copies.is_here ? look_into(pages, &task, error) : pks__scratch_append(&pages->waiting, &task, sizeof task, error);
  }
  return status;
}

/// Fetches a page from its place, with its whole segment if that is small.
static pks_status fetch(pks__download_pages *pages, const page_copies *copies, pks_error *error) {
  pks__marked_segment *marked;
  pks__chunk_place place;
  pks__frame frame;
  pks_status status = pks__segment_marks_get(pages->marks, &copies->segment, &marked, error);
  if (status || marked->is_fetched) { return status; }
  if (marked->span > 0) {
    marked->is_fetched = true;
    pages->bytes += marked->span;
    return PKS_OK;
  }
  status = pks__segment_chunk(marked->segment, copies->row, &place, error);
  if (!status) { status = pks__segment_frame(marked->segment, place.frame, &frame, error); }
  if (!status && pks__mark(marked->rows, copies->row)) { pages->bytes += frame.ref.stored_length; }
  return status;
}

/// Fetches the waiting pages in received tables; for the others, further tables.
static pks_status fetch_waiting(pks__download_pages *pages, pks_error *error) {
  bool all_known = true;
  pks_status status = PKS_OK;
  for (uint64_t i = 0; !status && i < PKS__SCRATCH_COUNT(&pages->waiting, pks__page_task); i++) {
    const pks__page_task *task = PKS__SCRATCH_AT(&pages->waiting, const pks__page_task, i);
    page_copies copies;
    status = find_copies(pages, &task->id, &copies, error);
    if (status) { return status; }
    bool is_known = copies.turn != UINT32_MAX;
    if (is_known) { status = fetch(pages, &copies, error); }
    all_known = all_known && is_known;
  }
  if (status || all_known) { return status; }
  if (pages->tabled == pages->metadata_count) {
    return pks__fail(error, PKS_CORRUPT, "a page is in no segment of the version", NULL, PKS_NO_OFFSET);
  }
  pages->tabled += (uint32_t)pks__min64(pages->table_batch, pages->metadata_count - pages->tabled);
  if (pages->table_batch < UINT32_MAX / 2) { pages->table_batch *= 2; }
  return PKS_OK;
}

pks_status pks__download_pages_fetch(pks__download_pages *pages, pks_error *error) {
  pks_status status = do_tasks(pages, error);
  while (!status && pages->waiting.length > 0) {
    status = fetch_waiting(pages, error);
    pks__scratch done = pages->tasks;
    pages->tasks = pages->waiting;
    pages->waiting = done;
    pages->waiting.length = 0;
    pages->next_task = 0;
    if (!status) { status = do_tasks(pages, error); }
  }
  return status;
}
