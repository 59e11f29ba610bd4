#include "transfer/delivery_plan.h"

#include "base/sort.h"
#include "catalog/catalog.h"

enum { NO_CHUNK = UINT32_MAX, NO_SEGMENT = UINT32_MAX };

typedef struct needed_segment {
  uint32_t segment;    ///< segment of the site
  uint64_t frames_at;  ///< in `starts` and `heads`
} needed_segment;

/// The place of a missing chunk in its frame.
typedef struct frame_place {
  uint32_t begin;
  uint32_t next;  ///< the next one in the same frame, NO_CHUNK: none
} frame_place;

void pks__delivery_plan_init(
  pks__delivery_plan *plan, pks__delivery_context *context, pks__delivery_requests *requests, pks__delivery_site *site,
  pks__missing_chunks *needs
) {
  *plan = (pks__delivery_plan){.context = context, .requests = requests, .site = site, .needs = needs};
  pks__scratch *arrays[] = {&plan->segments, &plan->segment_numbers, &plan->starts, &plan->heads,
                            &plan->places,   &plan->order,           &plan->frames};
  pks__delivery_context_own(context, arrays, PKS_COUNT_OF(arrays), NULL, 0);
}

static frame_place *place_at(const pks__delivery_plan *plan, uint32_t chunk) {
  return PKS__SCRATCH_AT(&plan->places, frame_place, chunk);
}

static needed_segment *needed_at(const pks__delivery_plan *plan, uint64_t index) {
  return PKS__SCRATCH_AT(&plan->segments, needed_segment, index);
}

/// The index of a segment of the site among the needed ones; it may be NO_SEGMENT.
static uint32_t *number_of(const pks__delivery_plan *plan, uint32_t segment) {
  return PKS__SCRATCH_AT(&plan->segment_numbers, uint32_t, segment);
}

pks__planned_chunk pks__delivery_plan_chunk(
  const pks__delivery_plan *plan, const pks__planned_frame *frame, uint32_t index
) {
  uint32_t number = *PKS__SCRATCH_AT(&plan->order, const uint32_t, frame->first + index);
  return (pks__planned_chunk){
    .chunk = pks__missing_chunks_chunk(plan->needs, number),
    .number = number,
    .begin = place_at(plan, number)->begin,
  };
}

// MARK: - Where chunks lie

/// The extents of a file, one after another.
typedef struct extent_walk {
  pks__delivery_plan *plan;
  const pks__needy_file *file;
  pks__extent_cursor extents;
  pks__layout_extent extent;  ///< the present one, [begin, end) of the file
  uint64_t begin, end;
} extent_walk;

static void open_extents(extent_walk *walk, pks__delivery_plan *plan, const pks__needy_file *file) {
  pks__layout_entry entry;
  bool decodes = pks__missing_chunks_layout_entry(plan->needs, file, &entry);
  PKS_ASSERT(decodes);
  *walk = (extent_walk){.plan = plan, .file = file};
  pks__extent_cursor_init(&walk->extents, pks__delivery_pages_source(plan->needs->pages), &entry);
}

static pks_status next_extent(extent_walk *walk, pks_error *error) {
  bool more;
  pks_status status = pks__extent_cursor_next(&walk->extents, &walk->extent, &more, error);
  if (status) { return status; }
  uint64_t length = more ? pks__get64(walk->extent.length) : 0;
  walk->begin = walk->end;
  status = pks__delivery_tick(walk->plan->context, error);
  if (status) { return status; }
  bool fits = length > 0 && length <= walk->file->size - walk->begin;
  if (!fits) {
    const char *text = "the layout covers only a part";
    return pks__missing_chunks_corrupt(walk->plan->needs, walk->file, text, error);
  }
  walk->end += length;
  return PKS_OK;
}

/// Moves to the extent that holds a chunk.
static pks_status seek_extent(extent_walk *walk, const pks__missing_chunk *chunk, pks_error *error) {
  while (chunk->offset >= walk->end) {
    pks_status status = next_extent(walk, error);
    if (status) { return status; }
  }
  if (chunk->length <= walk->end - chunk->offset) { return PKS_OK; }
  return pks__missing_chunks_corrupt(walk->plan->needs, walk->file, "a chunk is split", error);
}

/// The data segment of the present extent.
static pks_status find_segment(const extent_walk *walk, uint32_t *out, pks_error *error) {
  *out = pks__delivery_site_find_data(walk->plan->site, &walk->extent.segment);
  if (*out != UINT32_MAX) { return PKS_OK; }
  const char *text = "the layout names a segment that the version lacks";
  return pks__missing_chunks_corrupt(walk->plan->needs, walk->file, text, error);
}

/// Visits the missing chunks of a file, each with the extent that holds it.
static pks_status visit_file(
  pks__delivery_plan *plan, const pks__needy_file *file,
  pks_status (*visit)(extent_walk *walk, uint32_t segment, uint64_t chunk, pks_error *error), pks_error *error
) {
  extent_walk walk;
  open_extents(&walk, plan, file);
  pks_status status = PKS_OK;
  for (uint64_t i = file->first; !status && i < file->end; i++) {
    uint32_t segment;
    status = seek_extent(&walk, pks__missing_chunks_chunk(plan->needs, i), error);
    if (!status) { status = find_segment(&walk, &segment, error); }
    if (!status) { status = visit(&walk, segment, i, error); }
    if (!status) { status = pks__delivery_tick(plan->context, error); }
  }
  pks__extent_cursor_free(&walk.extents);
  return status;
}

static pks_status visit_files(
  pks__delivery_plan *plan, pks_status (*visit)(extent_walk *walk, uint32_t segment, uint64_t chunk, pks_error *error),
  pks_error *error
) {
  pks_status status = PKS_OK;
  for (uint64_t i = 0; !status && i < pks__missing_chunks_file_count(plan->needs); i++) {
    pks__needy_file file = *pks__missing_chunks_file(plan->needs, i);
    if (file.first < file.end) { status = visit_file(plan, &file, visit, error); }
  }
  return status;
}

// MARK: - Tables

static pks_status note_segment(extent_walk *walk, uint32_t segment, uint64_t chunk, pks_error *error) {
  (void)chunk;
  pks__delivery_plan *plan = walk->plan;
  needed_segment needed = {.segment = segment};
  if (*number_of(plan, segment) != NO_SEGMENT) { return PKS_OK; }
  *number_of(plan, segment) = (uint32_t)PKS__SCRATCH_COUNT(&plan->segments, needed_segment);
  return pks__scratch_append(&plan->segments, &needed, sizeof needed, error);
}

/// Notes that no segment is needed yet.
static pks_status number_none(pks__delivery_plan *plan, pks_error *error) {
  uint32_t none = NO_SEGMENT;
  pks_status status = PKS_OK;
  for (uint64_t i = pks__delivery_site_count(plan->site); !status && i > 0; i--) {
    status = pks__scratch_append(&plan->segment_numbers, &none, sizeof none, error);
  }
  return status;
}

pks_status pks__delivery_plan_request_tables(pks__delivery_plan *plan, pks_error *error) {
  pks_status status = pks__row_budget_check(&plan->needs->pages->rows, plan->context->pack, error);
  if (!status) { status = number_none(plan, error); }
  if (!status) { status = visit_files(plan, note_segment, error); }
  for (uint64_t i = 0; !status && i < PKS__SCRATCH_COUNT(&plan->segments, needed_segment); i++) {
    status = pks__delivery_site_request_table(plan->site, needed_at(plan, i)->segment, error);
  }
  return status;
}

// MARK: - The plan

/// The frame, from `first` on, whose raw bytes hold `position` of all raw bytes of the segment.
static uint32_t frame_holding(const uint64_t *starts, uint32_t first, uint32_t count, uint64_t position) {
  uint32_t low = first, high = count;
  while (high - low > 1) {
    uint32_t middle = low + (high - low) / 2;
    if (starts[middle] <= position) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

/// Lists the frames of a needed segment: where each begins among the raw bytes, and no chunk in it yet.
static pks_status list_frames(pks__delivery_plan *plan, needed_segment *needed, pks_error *error) {
  pks__frame_table table = pks__delivery_site_table(plan->site, needed->segment);
  uint64_t sum = 0;
  uint32_t none = NO_CHUNK;
  pks_status status = PKS_OK;
  needed->frames_at = PKS__SCRATCH_COUNT(&plan->heads, uint32_t);
  for (uint32_t i = 0; !status && i <= table.frame_count; i++) {
    status = pks__scratch_append(&plan->starts, &sum, sizeof sum, error);
    if (!status) { status = pks__scratch_append(&plan->heads, &none, sizeof none, error); }
    if (i < table.frame_count) { sum += pks__frame_table_at(&table, i).raw_length; }
  }
  return status;
}

/// Records a chunk's place with its frame.
static pks_status place_chunk(extent_walk *walk, uint32_t segment, uint64_t index, pks_error *error) {
  pks__delivery_plan *plan = walk->plan;
  uint64_t frames_at = needed_at(plan, *number_of(plan, segment))->frames_at;
  pks__frame_table table = pks__delivery_site_table(plan->site, segment);
  const uint64_t *starts = PKS__SCRATCH_AT(&plan->starts, const uint64_t, frames_at);
  const pks__missing_chunk *chunk = pks__missing_chunks_chunk(plan->needs, index);
  uint32_t first = pks__get32(walk->extent.frame), skip = pks__get32(walk->extent.skip);
  uint64_t position;
  bool fits = first < table.frame_count && skip < starts[first + 1] - starts[first]
    && !pks__add_overflows(starts[first] + skip, chunk->offset - walk->begin, &position)
    && position < starts[table.frame_count];
  uint32_t frame = fits ? frame_holding(starts, first, table.frame_count, position) : 0;
  fits = fits && chunk->length <= starts[frame + 1] - position;
  if (!fits) {
    return pks__missing_chunks_corrupt(plan->needs, walk->file, "the layout does not lead to frames", error);
  }
  uint32_t *head = PKS__SCRATCH_AT(&plan->heads, uint32_t, frames_at + frame);
  *place_at(plan, (uint32_t)index) = (frame_place){.begin = (uint32_t)(position - starts[frame]), .next = *head};
  *head = (uint32_t)index;
  return PKS_OK;
}

static bool lies_before(const void *context, const void *a, const void *b) {
  return place_at(context, *(const uint32_t *)a)->begin < place_at(context, *(const uint32_t *)b)->begin;
}

/// Puts the chunks of a frame in order, each once. CORRUPT when they overlap otherwise.
static pks_status order_chunks(pks__delivery_plan *plan, pks__planned_frame *frame, pks_error *error) {
  const pks__missing_chunks *needs = plan->needs;
  uint32_t *order = PKS__SCRATCH_AT(&plan->order, uint32_t, frame->first);
  pks__sort(order, frame->chunk_count, sizeof *order, lies_before, plan);
  uint32_t kept = 0;
  for (uint32_t i = 0; i < frame->chunk_count; i++) {
    const pks__missing_chunk *chunk = pks__missing_chunks_chunk(needs, order[i]);
    const pks__needy_file *file = pks__missing_chunks_file(needs, chunk->file);
    const pks__missing_chunk *before = kept > 0 ? pks__missing_chunks_chunk(needs, order[kept - 1]) : NULL;
    uint32_t apart = before ? place_at(plan, order[i])->begin - place_at(plan, order[kept - 1])->begin : 0;
    bool is_repeated =
      before && apart == 0 && before->length == chunk->length && pks__id_equal(&before->id, &chunk->id);
    if (is_repeated) {
      // The place in a map asset determines the form.
      if (file->mapped) { order[kept - 1] = order[i]; }
      continue;
    }
    if (before && apart < before->length) {
      return pks__missing_chunks_corrupt(needs, file, "chunks overlap in a frame of the site", error);
    }
    frame->needed += chunk->length;
    order[kept++] = order[i];
  }
  frame->chunk_count = kept;
  plan->order.length = (frame->first + kept) * sizeof(uint32_t);
  return PKS_OK;
}

/// Plans frame `index` of a needed segment if it contains missing chunks, and adds its local size to `*room`.
static pks_status plan_frame(
  pks__delivery_plan *plan, const needed_segment *needed, uint32_t index, uint64_t *room, pks_error *error
) {
  uint32_t chunk = *PKS__SCRATCH_AT(&plan->heads, const uint32_t, needed->frames_at + index);
  if (chunk == NO_CHUNK) { return PKS_OK; }
  pks__planned_frame frame = {
    .first = PKS__SCRATCH_COUNT(&plan->order, uint32_t), .segment = needed->segment, .frame = index};
  pks_status status = PKS_OK;
  for (; !status && chunk != NO_CHUNK; chunk = place_at(plan, chunk)->next) {
    status = pks__scratch_append(&plan->order, &chunk, sizeof chunk, error);
    frame.chunk_count++;
  }
  if (!status) { status = order_chunks(plan, &frame, error); }
  if (!status) { status = pks__scratch_append(&plan->frames, &frame, sizeof frame, error); }
  if (status) { return status; }
  pks__frame_table table = pks__delivery_site_table(plan->site, needed->segment);
  pks__tabled_frame tabled = pks__frame_table_at(&table, index);
  plan->bytes += tabled.stored_length;
  plan->chunks += frame.chunk_count;
  plan->raw_bytes += frame.needed;
  // It is kept as it is, or its chunks are written on their own.
  if (!plan->context->without_frames) { *room += pks__min64(tabled.stored_length, frame.needed); }
  return PKS_OK;
}

/// Returns the bytes of partly present map assets that will certainly be laid out again.
static uint64_t room_for_mapped(const pks__delivery_plan *plan, uint64_t room) {
  for (uint64_t i = 0; i < pks__missing_chunks_file_count(plan->needs); i++) {
    const pks__needy_file *file = pks__missing_chunks_file(plan->needs, i);
    bool is_laid_out = file->mapped && pks__missing_chunks_missing_bytes(plan->needs, file) < file->size;
    if (is_laid_out && file->size < UINT64_MAX / 2 - room) { room += file->size; }
  }
  return room;
}

static pks_status plan_frames(pks__delivery_plan *plan, uint64_t *room, pks_error *error) {
  pks_status status = PKS_OK;
  for (uint64_t i = 0; !status && i < PKS__SCRATCH_COUNT(&plan->segments, needed_segment); i++) {
    const needed_segment *needed = needed_at(plan, i);
    uint32_t frame_count = pks__delivery_site_table(plan->site, needed->segment).frame_count;
    for (uint32_t frame = 0; !status && frame < frame_count; frame++) {
      status = plan_frame(plan, needed, frame, room, error);
    }
  }
  return status;
}

pks_status pks__delivery_plan_make(pks__delivery_plan *plan, pks_error *error) {
  uint64_t room = 0, chunk_count = pks__missing_chunks_chunk_count(plan->needs);
  pks_status status = pks__scratch_append(&plan->places, NULL, chunk_count * sizeof(frame_place), error);
  for (uint64_t i = 0; !status && i < PKS__SCRATCH_COUNT(&plan->segments, needed_segment); i++) {
    status = list_frames(plan, needed_at(plan, i), error);
  }
  if (!status) { status = visit_files(plan, place_chunk, error); }
  if (!status) { status = plan_frames(plan, &room, error); }
  plan->is_made = !status;
  if (status || PKS__SCRATCH_COUNT(&plan->frames, pks__planned_frame) == 0) { return status; }
  if (!plan->context->without_frames) { room = room_for_mapped(plan, room); }
  room += pks__room_for_metadata(plan->chunks);
  return pks__delivery_check_room(plan->context, room, error);
}

static pks_status want_frame(pks__delivery_plan *plan, uint32_t number, pks_error *error) {
  const pks__planned_frame *frame = pks__delivery_plan_frame(plan, number);
  pks__frame_table table = pks__delivery_site_table(plan->site, frame->segment);
  pks__tabled_frame tabled = pks__frame_table_at(&table, frame->frame);
  pks__byte_request request = {
    .kind = PKS__REQUEST_FRAME,
    .segment = frame->segment,
    .offset = tabled.offset,
    .length = tabled.stored_length,
    .number = number,
  };
  return pks__delivery_requests_add(plan->requests, &request, error);
}

pks_status pks__delivery_plan_request_frames(pks__delivery_plan *plan, pks_error *error) {
  uint32_t count = (uint32_t)PKS__SCRATCH_COUNT(&plan->frames, pks__planned_frame);
  pks_status status = PKS_OK;
  for (uint32_t i = 0; !status && i < count; i++) { status = want_frame(plan, i, error); }
  return status;
}
