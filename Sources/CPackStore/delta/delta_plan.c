#include "delta/delta_plan.h"

#include <string.h>

// All that one comparison leaves to be cleared for the next.
#define ARRAYS_OF(plan)                                                                                                \
  {                                                                                                                    \
    &(plan)->kept, &(plan)->description, &(plan)->new_rows, &(plan)->stretches, &(plan)->groups, &(plan)->matches,     \
      &(plan)->steps.ends, &(plan)->steps.replaced                                                                     \
  }

enum {
  SLACK = 64 * 1024
};  // bytes of A that new data may replace in any case; beyond, up to four times its own length

/// The relation of an entry of B to A.
typedef struct match {
  uint64_t from_item;  ///< the first entry of A that has no lesser path
  bool found;          ///< that has the same path
  bool same;           ///< and all properties in the delta are equal
} match;

/// A chunk of a file of B that is not the same in A.
typedef struct wanted_chunk {
  uint64_t to_row;    ///< the first of these that has it
  uint64_t from_row;  ///< the first row of A that has it; UINT64_MAX: none
} wanted_chunk;

typedef struct planner {
  pks__delta_plan *plan;
  pks__scratch wanted;       ///< wanted_chunk
  pks__hash_map wanted_ids;  ///< id prefix -> number of the wanted chunk
  pks__hash_map new_chunks;  ///< id prefix -> number of the new chunk
  pks__scratch steps;        ///< pks__delta_step: of the file under way
  uint64_t from_item;        ///< the next entry of A
  uint64_t same, gone;       ///< numbers of entries not yet written: unchanged, and removed
  uint64_t row, again;       ///< as in the description: after the last chunks that were kept, and new before
  const pks__item *last;     ///< of B, described last
  bool is_open;              ///< the last stretch may go on
} planner;

// MARK: - Writing

static pks_status put(planner *planner, uint64_t value, pks_error *error) {
  uint8_t bytes[PKS__VARINT_MAX];
  return pks__scratch_append(&planner->plan->description, bytes, pks__put_varint(bytes, value), error);
}

static pks_status put_op(planner *planner, pks__delta_op op, uint64_t rest, pks_error *error) {
  return put(planner, rest << PKS__DELTA_OP_BITS | op, error);
}

/// Writes the counts: removed entries come before unchanged ones.
static pks_status put_counts(planner *planner, pks_error *error) {
  pks_status status = PKS_OK;
  if (planner->gone > 0) { status = put_op(planner, PKS__DELTA_GONE, planner->gone, error); }
  if (!status && planner->same > 0) { status = put_op(planner, PKS__DELTA_SAME, planner->same, error); }
  planner->same = planner->gone = 0;
  return status;
}

static uint64_t flags_of(const pks__item *item) {
  return (uint64_t)item->kind | (item->executable ? PKS__DELTA_EXECUTABLE : 0) | (item->mapped ? PKS__DELTA_MAPPED : 0);
}

static pks_status put_path(planner *planner, const pks__item *item, pks_error *error) {
  const pks__entry_list *listing = &planner->plan->to.listing;
  const char *path = pks__entry_list_path(listing, item);
  const char *last = planner->last ? pks__entry_list_path(listing, planner->last) : "";
  size_t shared = 0, most = planner->last ? pks__min_size(planner->last->path_length, item->path_length) : 0;
  while (shared < most && path[shared] == last[shared]) { shared++; }
  pks_status status = put(planner, shared, error);
  if (!status) { status = put(planner, item->path_length - shared, error); }
  if (status) { return status; }
  return pks__scratch_append(&planner->plan->description, path + shared, item->path_length - shared, error);
}

/// Returns the number of rows of A, from `row` on, that a step of new bytes replaces: up to the next kept row, or to the end of the
/// file in A. None if that is much more data than the new one, because it was removed or moved.
static uint64_t count_replaced(const planner *planner, uint64_t step_index, uint64_t row, uint64_t file_end) {
  const pks__version_list *from = &planner->plan->from;
  uint64_t length = PKS__SCRATCH_AT(&planner->steps, const pks__delta_step, step_index)->count, end = file_end;
  if (step_index + 1 < PKS__SCRATCH_COUNT(&planner->steps, pks__delta_step)) {
    const pks__delta_step *next = PKS__SCRATCH_AT(&planner->steps, const pks__delta_step, step_index + 1);
    end = next->kind == PKS__DELTA_KEEP ? next->first : 0;
  }
  if (end <= row) { return 0; }
  uint64_t replaced = pks__version_list_position(from, end) - pks__version_list_position(from, row);
  return replaced <= 4 * length + SLACK ? end - row : 0;
}

/// Writes a step of new bytes. Rows that it replaces are passed, so that only the difference in length needs a number.
static pks_status put_new(planner *planner, uint64_t step_index, uint64_t *row, uint64_t file_end, pks_error *error) {
  pks__delta_plan *plan = planner->plan;
  const pks__delta_step *step = PKS__SCRATCH_AT(&planner->steps, const pks__delta_step, step_index);
  uint64_t count = count_replaced(planner, step_index, *row, file_end), end = step->first + step->count;
  uint64_t begin = pks__version_list_position(&plan->from, *row);
  uint64_t replaced = pks__version_list_position(&plan->from, *row + count) - begin;
  *row += count;
  pks_status status = put(planner, count << PKS__DELTA_STEP_BITS | PKS__DELTA_NEW, error);
  if (!status) { status = put(planner, pks__zigzag(step->count, replaced), error); }
  if (!status) { status = pks__scratch_append(&plan->steps.ends, &end, sizeof end, error); }
  return status ? status : pks__scratch_append(&plan->steps.replaced, &begin, sizeof begin, error);
}

/// Writes the steps of a file, and moves `planner->row` on. `file_end` is the row after the file's in A; 0 if A lacks the file.
static pks_status put_steps(planner *planner, uint64_t row, uint64_t again, uint64_t file_end, pks_error *error) {
  uint64_t count = PKS__SCRATCH_COUNT(&planner->steps, pks__delta_step);
  pks_status status = put(planner, count, error);
  for (uint64_t i = 0; !status && i < count; i++) {
    const pks__delta_step *step = PKS__SCRATCH_AT(&planner->steps, const pks__delta_step, i);
    if (step->kind == PKS__DELTA_NEW) {
      status = put_new(planner, i, &row, file_end, error);
      continue;
    }
    status = put(planner, step->count << PKS__DELTA_STEP_BITS | step->kind, error);
    uint64_t *after = step->kind == PKS__DELTA_KEEP ? &row : &again;
    if (!status) { status = put(planner, pks__zigzag(step->first, *after), error); }
    *after = step->first + step->count;
  }
  planner->row = row;
  return status;
}

// MARK: - Chunks

static const pks__id *wanted_id(const void *context, uint32_t number) {
  const planner *planner = context;
  uint64_t row = PKS__SCRATCH_AT(&planner->wanted, const wanted_chunk, number)->to_row;
  return &pks__version_list_chunk(&planner->plan->to, row)->id;
}

/// NULL: no file of B that is not the same in A has the chunk.
static wanted_chunk *find_wanted(const planner *planner, const pks__id *id) {
  uint32_t number;
  bool found = pks__hash_map_find_id(&planner->wanted_ids, id, wanted_id, planner, &number);
  return found ? PKS__SCRATCH_AT(&planner->wanted, wanted_chunk, number) : NULL;
}

/// Where A has a chunk that is wanted.
static bool find_row(const planner *planner, const pks__id *id, uint64_t *row) {
  const pks__version_list *from = &planner->plan->from;
  // The next chunk in A is usually also the next one in B.
  *row = planner->row;
  if (*row < pks__version_list_rows(from) && pks__id_equal(&pks__version_list_chunk(from, *row)->id, id)) {
    return true;
  }
  const wanted_chunk *wanted = find_wanted(planner, id);
  *row = wanted ? wanted->from_row : UINT64_MAX;
  return *row != UINT64_MAX;
}

static const pks__id *new_id(const void *context, uint32_t number) {
  const planner *planner = context;
  const pks__delta_plan *plan = planner->plan;
  return &pks__version_list_chunk(&plan->to, *PKS__SCRATCH_AT(&plan->new_rows, const uint64_t, number))->id;
}

static bool find_new(const planner *planner, const pks__id *id, uint64_t *number) {
  uint64_t count = PKS__SCRATCH_COUNT(&planner->plan->new_rows, uint64_t);
  uint32_t value = 0;
  *number = planner->again;
  if (*number < count && pks__id_equal(new_id(planner, (uint32_t)*number), id)) { return true; }
  bool found = pks__hash_map_find_id(&planner->new_chunks, id, new_id, planner, &value);
  *number = value;
  return found;
}

/// Appends to the file's steps, extending the last one where it goes on.
static pks_status add_step(
  planner *planner, pks__delta_step_kind kind, uint64_t first, uint64_t count, pks_error *error
) {
  uint64_t steps = PKS__SCRATCH_COUNT(&planner->steps, pks__delta_step);
  pks__delta_step *last = steps > 0 ? PKS__SCRATCH_AT(&planner->steps, pks__delta_step, steps - 1) : NULL;
  if (last && last->kind == kind && last->first + last->count == first) {
    last->count += count;
    return PKS_OK;
  }
  pks__delta_step step = {.kind = kind, .first = first, .count = count};
  return pks__scratch_append(&planner->steps, &step, sizeof step, error);
}

/// Where something of `length` bytes was, that came before `end`.
static uint64_t back_from(uint64_t end, uint64_t length) { return end > length ? end - length : 0; }

/// Ends the current range. `after` is the place in A of the following chunk; UINT64_MAX: none.
static void close_stretch(planner *planner, uint64_t after) {
  if (!planner->is_open) { return; }
  planner->is_open = false;
  pks__delta_plan *plan = planner->plan;
  uint64_t last = PKS__SCRATCH_COUNT(&plan->stretches, pks__new_stretch) - 1;
  pks__new_stretch *stretch = PKS__SCRATCH_AT(&plan->stretches, pks__new_stretch, last);
  uint64_t length = stretch->end - stretch->begin, before = stretch->old_begin;
  bool has_before = before != UINT64_MAX, has_after = after != UINT64_MAX;
  // Much more than the new data was removed or moved: only its ends are likely to be similar.
  bool between = has_before && has_after && after >= before && after - before <= 4 * length + SLACK;
  if (!has_before) { stretch->old_begin = has_after ? back_from(after, length) : 0; }
  stretch->old_end = between ? after : stretch->old_begin + length;
  if (!has_before) { stretch->old_end = has_after ? after : 0; }
  stretch->old_end = pks__min64(stretch->old_end, plan->from.byte_count);
}

static void note_kept(const planner *planner, uint64_t begin, uint64_t end) {
  memset(planner->plan->kept.bytes + begin, 1, (size_t)(end - begin));
}

static pks_status take_kept(planner *planner, uint64_t row, pks_error *error) {
  note_kept(planner, row, row + 1);
  close_stretch(planner, pks__version_list_chunk(&planner->plan->from, row)->position);
  planner->row = row + 1;
  return add_step(planner, PKS__DELTA_KEEP, row, 1, error);
}

/// `before` is the place in A of the previous chunk; UINT64_MAX: none.
static pks_status take_new(planner *planner, uint64_t row, uint64_t before, pks_error *error) {
  pks__delta_plan *plan = planner->plan;
  const pks__listed_chunk *chunk = pks__version_list_chunk(&plan->to, row);
  uint64_t number = PKS__SCRATCH_COUNT(&plan->new_rows, uint64_t);
  if (number == UINT32_MAX) {
    return pks__fail_about(
      error, PKS_INVALID_ARGUMENT, PKS_DETAIL_LIMIT, PKS_SUBJECT_NONE, NULL, "the delta has too many new chunks"
    );
  }
  pks_status status = PKS_OK;
  if (!planner->is_open) {
    pks__new_stretch stretch = {.begin = plan->new_bytes, .end = plan->new_bytes, .old_begin = before};
    status = pks__scratch_append(&plan->stretches, &stretch, sizeof stretch, error);
    planner->is_open = !status;
  }
  if (!status) { status = pks__scratch_append(&plan->new_rows, &row, sizeof row, error); }
  if (!status) { status = pks__hash_map_insert_id(&planner->new_chunks, &chunk->id, (uint32_t)number, error); }
  if (!status) { status = add_step(planner, PKS__DELTA_NEW, plan->new_bytes, chunk->length, error); }
  if (status) { return status; }
  plan->new_bytes += chunk->length;
  uint64_t last = PKS__SCRATCH_COUNT(&plan->stretches, pks__new_stretch) - 1;
  PKS__SCRATCH_AT(&plan->stretches, pks__new_stretch, last)->end = plan->new_bytes;
  return PKS_OK;
}

/// `before` is where the file begins in A, or UINT64_MAX.
static pks_status take_file(planner *planner, uint64_t to_item, uint64_t before, pks_error *error) {
  pks__delta_plan *plan = planner->plan;
  pks_status status = PKS_OK;
  planner->steps.length = 0;
  uint64_t end = pks__version_list_first_row(&plan->to, to_item + 1);
  for (uint64_t i = pks__version_list_first_row(&plan->to, to_item); !status && i < end; i++) {
    const pks__id *id = &pks__version_list_chunk(&plan->to, i)->id;
    uint64_t row, number;
    if (find_row(planner, id, &row)) {
      status = take_kept(planner, row, error);
      before = pks__version_list_position(&plan->from, row + 1);
    } else if (find_new(planner, id, &number)) {
      close_stretch(planner, UINT64_MAX);
      planner->again = number + 1;
      status = add_step(planner, PKS__DELTA_AGAIN, number, 1, error);
    } else {
      status = take_new(planner, i, before, error);
    }
  }
  close_stretch(planner, UINT64_MAX);
  return status;
}

// MARK: - Entries

/// Writes the size of a file, as a difference if A has a file of that path, or of a link's target.
static pks_status put_size(planner *planner, const pks__item *item, bool is_other, pks_error *error) {
  const pks__item *old = is_other ? pks__entry_list_at(&planner->plan->from.listing, planner->from_item) : NULL;
  bool is_relative = old && old->kind == PKS__RECORD_FILE && item->kind == PKS__RECORD_FILE;
  return put(planner, is_relative ? pks__zigzag(item->size, old->size) : item->size, error);
}

/// Describes an entry of B; `is_other`: the path is A's next entry.
static pks_status put_entry(planner *planner, uint64_t to_item, bool is_other, pks_error *error) {
  const pks__version_list *to = &planner->plan->to, *from = &planner->plan->from;
  const pks__item *item = pks__entry_list_at(&to->listing, to_item);
  pks_status status = put_counts(planner, error);
  if (!status) { status = put_op(planner, is_other ? PKS__DELTA_OTHER : PKS__DELTA_ADDED, flags_of(item), error); }
  if (!status && !is_other) { status = put_path(planner, item, error); }
  if (!status && item->kind != PKS__RECORD_FOLDER) { status = put_size(planner, item, is_other, error); }
  if (!status && item->kind == PKS__RECORD_LINK) {
    const uint8_t *target = pks__entry_list_target(&to->listing, item);
    status = pks__scratch_append(&planner->plan->description, target, item->size, error);
  }
  uint64_t before = UINT64_MAX, file_end = 0;
  if (is_other) {
    planner->row = pks__version_list_first_row(from, planner->from_item);
    before = pks__version_list_position(from, planner->row);
    file_end = pks__version_list_first_row(from, planner->from_item + 1);
  }
  if (status || item->kind != PKS__RECORD_FILE) { return status; }
  uint64_t row = planner->row, again = planner->again;
  status = take_file(planner, to_item, before, error);
  return status ? status : put_steps(planner, row, again, file_end, error);
}

static bool equal_chunks(const planner *planner, uint64_t from_item, uint64_t to_item) {
  const pks__version_list *from = &planner->plan->from, *to = &planner->plan->to;
  uint64_t a = pks__version_list_first_row(from, from_item), b = pks__version_list_first_row(to, to_item);
  uint64_t count = pks__version_list_first_row(from, from_item + 1) - a;
  if (count != pks__version_list_first_row(to, to_item + 1) - b) { return false; }
  for (uint64_t i = 0; i < count; i++) {
    if (!pks__id_equal(&pks__version_list_chunk(from, a + i)->id, &pks__version_list_chunk(to, b + i)->id)) {
      return false;
    }
  }
  return true;
}

/// Whether the entries of one path are equal in all properties in the delta. A map asset is described each time, because the
/// receiver may have stored it differently.
static bool is_same(const planner *planner, uint64_t from_item, uint64_t to_item) {
  const pks__entry_list *old_listing = &planner->plan->from.listing, *new_listing = &planner->plan->to.listing;
  const pks__item *old = pks__entry_list_at(old_listing, from_item), *now = pks__entry_list_at(new_listing, to_item);
  if (now->mapped || old->kind != now->kind || old->executable != now->executable || old->size != now->size) {
    return false;
  }
  if (now->kind != PKS__RECORD_LINK) { return equal_chunks(planner, from_item, to_item); }
  const uint8_t *old_target = pks__entry_list_target(old_listing, old);
  return memcmp(old_target, pks__entry_list_target(new_listing, now), (size_t)now->size) == 0;
}

static int compare_paths(const planner *planner, uint64_t from_item, uint64_t to_item) {
  const pks__entry_list *old_listing = &planner->plan->from.listing, *new_listing = &planner->plan->to.listing;
  const pks__item *old = pks__entry_list_at(old_listing, from_item), *now = pks__entry_list_at(new_listing, to_item);
  const char *old_path = pks__entry_list_path(old_listing, old), *new_path = pks__entry_list_path(new_listing, now);
  return pks__compare_bytes(old_path, old->path_length, new_path, now->path_length);
}

static void take_same(planner *planner) {
  const pks__version_list *from = &planner->plan->from;
  uint64_t begin = pks__version_list_first_row(from, planner->from_item);
  uint64_t end = pks__version_list_first_row(from, planner->from_item + 1);
  if (begin < end) { note_kept(planner, begin, end); }
  planner->same++;
  planner->from_item++;
  planner->row = pks__version_list_first_row(&planner->plan->from, planner->from_item);
}

/// Passes entries of A that B lacks, up to an entry of B.
static pks_status pass_gone(planner *planner, const match *match, pks_error *error) {
  uint64_t gone = match->from_item - planner->from_item;
  if (gone == 0) { return PKS_OK; }
  pks_status status = planner->same > 0 ? put_counts(planner, error) : PKS_OK;
  planner->gone += gone;
  planner->from_item = match->from_item;
  return status;
}

static pks_status describe(planner *planner, pks_error *error) {
  const pks__entry_list *listing = &planner->plan->to.listing;
  pks_status status = PKS_OK;
  for (uint64_t i = 0; !status && i < pks__entry_list_count(listing); i++) {
    const match *match = PKS__SCRATCH_AT(&planner->plan->matches, const struct match, i);
    status = pass_gone(planner, match, error);
    if (!status && match->same) {
      take_same(planner);
    } else if (!status) {
      status = put_entry(planner, i, match->found, error);
      planner->from_item += match->found;
    }
    planner->last = pks__entry_list_at(listing, i);
  }
  if (planner->same == 0) { planner->gone = 0; }  // the rest of A need not be described
  return status ? status : put_counts(planner, error);
}

// MARK: - Comparing

/// Compares entries path by path.
static pks_status match_entries(planner *planner, pks_error *error) {
  uint64_t from_count = pks__entry_list_count(&planner->plan->from.listing), from_item = 0;
  pks_status status = PKS_OK;
  for (uint64_t i = 0; !status && i < pks__entry_list_count(&planner->plan->to.listing); i++) {
    int order = -1;
    while (from_item < from_count && (order = compare_paths(planner, from_item, i)) < 0) { from_item++; }
    match match = {.from_item = from_item, .found = order == 0};
    match.same = match.found && is_same(planner, from_item, i);
    from_item += match.found;
    status = pks__scratch_append(&planner->plan->matches, &match, sizeof match, error);
  }
  return status;
}

static pks_status want_chunk(planner *planner, uint64_t row, pks_error *error) {
  const pks__id *id = &pks__version_list_chunk(&planner->plan->to, row)->id;
  if (find_wanted(planner, id)) { return PKS_OK; }
  uint64_t number = PKS__SCRATCH_COUNT(&planner->wanted, wanted_chunk);
  wanted_chunk wanted = {.to_row = row, .from_row = UINT64_MAX};
  pks_status status = pks__scratch_append(&planner->wanted, &wanted, sizeof wanted, error);
  return status ? status : pks__hash_map_insert_id(&planner->wanted_ids, id, (uint32_t)number, error);
}

/// Finds the chunks of changed files anywhere in A. The cost is proportional to the change, except for one pass over the ids of A.
static pks_status find_chunks(planner *planner, pks_error *error) {
  const pks__version_list *from = &planner->plan->from, *to = &planner->plan->to;
  pks_status status = PKS_OK;
  for (uint64_t i = 0; !status && i < pks__entry_list_count(&to->listing); i++) {
    if (PKS__SCRATCH_AT(&planner->plan->matches, const match, i)->same) { continue; }
    uint64_t end = pks__version_list_first_row(to, i + 1);
    for (uint64_t row = pks__version_list_first_row(to, i); !status && row < end; row++) {
      status = want_chunk(planner, row, error);
    }
  }
  if (planner->wanted.length == 0) { return status; }
  for (uint64_t row = 0; !status && row < pks__version_list_rows(from); row++) {
    wanted_chunk *wanted = find_wanted(planner, &pks__version_list_chunk(from, row)->id);
    if (wanted && wanted->from_row == UINT64_MAX) { wanted->from_row = row; }
  }
  return status;
}

// MARK: - Planning

static pks_status check_counts(const pks__delta_plan *plan, pks_error *error) {
  bool fits = pks__version_list_rows(&plan->from) <= UINT32_MAX && pks__version_list_rows(&plan->to) <= UINT32_MAX;
  if (fits) { return PKS_OK; }
  return pks__fail_about(
    error, PKS_INVALID_ARGUMENT, PKS_DETAIL_LIMIT, PKS_SUBJECT_NONE, NULL, "the delta has too many chunks"
  );
}

static pks_status compare(planner *planner, pks_error *error) {
  pks_status status = check_counts(planner->plan, error);
  if (!status) { status = match_entries(planner, error); }
  if (!status) { status = find_chunks(planner, error); }
  return status ? status : describe(planner, error);
}

pks_status pks__delta_plan_open(
  pks__delta_plan *out, pks_snapshot *snapshot, const pks__version *to, pks__scratch_folder *home, pks_error *error
) {
  *out = (pks__delta_plan){0};
  pks__scratch *all[] = ARRAYS_OF(out);
  for (size_t i = 0; i < PKS_COUNT_OF(all); i++) { pks__scratch_init(all[i], home); }
  pks__version_list_init(&out->from, snapshot, home);
  pks__version_list_init(&out->to, snapshot, home);
  return pks__version_list_read(&out->to, to, error);
}

pks_status pks__delta_plan_compare(pks__delta_plan *plan, const pks__version *from, pks_error *error) {
  pks__scratch *all[] = ARRAYS_OF(plan);
  for (size_t i = 0; i < PKS_COUNT_OF(all); i++) { all[i]->length = 0; }
  plan->new_bytes = 0;
  planner planner = {.plan = plan};
  pks__scratch_folder *home = plan->kept.home;
  pks__hash_map_init(&planner.wanted_ids, home);
  pks__hash_map_init(&planner.new_chunks, home);
  pks__scratch_init(&planner.wanted, home);
  pks__scratch_init(&planner.steps, home);
  pks_status status = pks__version_list_read(&plan->from, from, error);
  if (!status) { status = pks__scratch_append(&plan->kept, NULL, pks__version_list_rows(&plan->from), error); }
  if (!status) { status = compare(&planner, error); }
  pks__hash_map_free(&planner.wanted_ids);
  pks__hash_map_free(&planner.new_chunks);
  pks__scratch_free(&planner.wanted);
  pks__scratch_free(&planner.steps);
  return status;
}

pks_status pks__delta_plan_group(pks__delta_plan *plan, uint32_t length_max, pks_error *error) {
  uint64_t position = 0, stretch = 0, count = PKS__SCRATCH_COUNT(&plan->new_rows, uint64_t);
  pks__planned_group group = {0};
  pks_status status = PKS_OK;
  plan->groups.length = 0;
  for (uint64_t i = 0; !status && i < count; i++) {
    uint64_t row = *PKS__SCRATCH_AT(&plan->new_rows, const uint64_t, i);
    uint32_t length = pks__version_list_chunk(&plan->to, row)->length;
    while (PKS__SCRATCH_AT(&plan->stretches, const pks__new_stretch, stretch)->end <= position) { stretch++; }
    bool is_full = group.chunk_count == PKS__DELTA_GROUP_CHUNKS || group.length + (uint64_t)length > length_max;
    if (group.chunk_count > 0 && is_full) {
      status = pks__scratch_append(&plan->groups, &group, sizeof group, error);
      group.chunk_count = 0;
    }
    if (group.chunk_count == 0) {
      group = (pks__planned_group){.first_chunk = i, .position = position, .first_stretch = stretch};
    }
    group.chunk_count++;
    group.length += length;
    position += length;
  }
  if (status || count == 0) { return status; }
  return pks__scratch_append(&plan->groups, &group, sizeof group, error);
}

pks_status pks__delta_plan_list_gone(const pks__delta_plan *plan, pks__scratch *out, pks_error *error) {
  enum { NEAR = 16 * 1024 };
  const pks__version_list *from = &plan->from;
  pks_status status = PKS_OK;
  for (uint64_t row = 0; !status && row < pks__version_list_rows(from); row++) {
    if (plan->kept.bytes[row]) { continue; }
    uint64_t count = PKS__SCRATCH_COUNT(out, pks__old_span), begin = pks__version_list_position(from, row);
    pks__old_span *last = count > 0 ? PKS__SCRATCH_AT(out, pks__old_span, count - 1) : NULL;
    pks__old_span span = {.begin = begin, .end = pks__version_list_position(from, row + 1)};
    if (last && begin - last->end <= NEAR) {
      last->end = span.end;
    } else {
      status = pks__scratch_append(out, &span, sizeof span, error);
    }
  }
  return status;
}

void pks__delta_plan_close(pks__delta_plan *plan) {
  pks__version_list_close(&plan->from);
  pks__version_list_close(&plan->to);
  pks__scratch *all[] = ARRAYS_OF(plan);
  for (size_t i = 0; i < PKS_COUNT_OF(all); i++) { pks__scratch_free(all[i]); }
}
