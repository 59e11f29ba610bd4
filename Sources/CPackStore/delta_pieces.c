#include "delta_pieces.h"

#include "memory.h"

enum {
  MARGIN_WIDE = 64 * 1024,  // bytes around a range
  MARGIN_MIN = 128,         // below, ranges are left out instead
  RANGE_DRIFT = 256,        // anchors of one range lie at distances that differ by this much at most
  RANGE_GAP = 64 * 1024,    // and this near to each other
};

static pks_status need_hits(pks__piece_chooser *chooser, pks_error *error) {
  if (!chooser->hits) { chooser->hits = pks__allocate(PKS__DELTA_HITS_MAX * sizeof *chooser->hits); }
  return chooser->hits ? PKS_OK : pks__fail_memory(error);
}

// MARK: - Ranges

static pks_status add_range(
  pks__piece_chooser *chooser, uint64_t begin, uint64_t end, uint64_t weight, pks_error *error
) {
  uint64_t order = PKS__SCRATCH_COUNT(&chooser->ranges, pks__old_range);
  pks__old_range range = {.begin = begin, .end = end, .weight = (uint32_t)weight, .order = (uint32_t)order};
  return pks__scratch_append(&chooser->ranges, &range, sizeof range, error);
}

/// What A had where the group's stretches are. It has no weight: anchors know better.
static pks_status add_replaced(
  pks__piece_chooser *chooser, const pks__delta_plan *plan, const pks__planned_group *group, pks_error *error
) {
  uint64_t count = PKS__SCRATCH_COUNT(&plan->stretches, pks__new_stretch), group_end = group->position + group->length;
  pks_status status = PKS_OK;
  for (uint64_t i = group->first_stretch; !status && i < count; i++) {
    const pks__new_stretch *stretch = PKS__SCRATCH_AT(&plan->stretches, const pks__new_stretch, i);
    if (stretch->begin >= group_end) { break; }
    uint64_t skipped = group->position > stretch->begin ? group->position - stretch->begin : 0;
    uint64_t begin = pks__min64(stretch->old_begin + skipped, stretch->old_end), end = stretch->old_end;
    if (stretch->end > group_end) { end = pks__min64(end, begin + (group_end - stretch->begin - skipped)); }
    if (stretch->old_end > stretch->old_begin) { status = add_range(chooser, begin, end, 0, error); }
  }
  return status;
}

static bool goes_on(const pks__delta_hit *first, const pks__delta_hit *last, const pks__delta_hit *next) {
  uint64_t drift = (next->position - next->end) - (first->position - first->end);
  return next->end - last->end < RANGE_GAP && (drift < RANGE_DRIFT || -drift < RANGE_DRIFT);
}

static pks_status add_found(pks__piece_chooser *chooser, pks_error *error) {
  pks_status status = PKS_OK;
  for (uint32_t i = 0, next; !status && i < chooser->hit_count; i = next) {
    const pks__delta_hit *hits = chooser->hits;
    uint64_t begin = hits[i].position, end = begin;
    for (next = i + 1; next < chooser->hit_count && goes_on(&hits[i], &hits[next - 1], &hits[next]); next++) {
      begin = pks__min64(begin, hits[next].position);
      end = pks__max64(end, hits[next].position);
    }
    begin -= PKS__GEAR_WINDOW;
    uint64_t weight = ((uint64_t)(next - i) << 20) / (end - begin + 2 * MARGIN_WIDE);
    status = add_range(chooser, begin, end, weight + 1, error);
  }
  return status;
}

static bool by_weight(const pks__old_range *left, const pks__old_range *right) {
  return left->weight != right->weight ? left->weight > right->weight : left->order < right->order;
}

static bool by_position(const pks__old_range *left, const pks__old_range *right) {
  return left->begin != right->begin ? left->begin < right->begin : left->end < right->end;
}

typedef bool is_before(const pks__old_range *left, const pks__old_range *right);

static void sift(pks__old_range *ranges, uint64_t root, uint64_t count, is_before *before) {
  for (uint64_t child; (child = 2 * root + 1) < count; root = child) {
    if (child + 1 < count && before(&ranges[child], &ranges[child + 1])) { child++; }
    if (!before(&ranges[root], &ranges[child])) { return; }
    pks__old_range range = ranges[root];
    ranges[root] = ranges[child];
    ranges[child] = range;
  }
}

/// Heap sort.
static void sort_ranges(pks__scratch *scratch, is_before *before) {
  uint64_t count = PKS__SCRATCH_COUNT(scratch, pks__old_range);
  pks__old_range *ranges = PKS__SCRATCH_AT(scratch, pks__old_range, 0);
  for (uint64_t i = count / 2; i > 0; i--) { sift(ranges, i - 1, count, before); }
  for (uint64_t end = count; end > 1; end--) {
    pks__old_range range = ranges[0];
    ranges[0] = ranges[end - 1];
    ranges[end - 1] = range;
    sift(ranges, 0, end - 1, before);
  }
}

pks_status pks__piece_chooser_begin(
  pks__piece_chooser *chooser, const pks__delta_plan *plan, const pks__delta_index *index,
  const pks__planned_group *group, const uint8_t *bytes, pks_error *error
) {
  chooser->byte_count = plan->from.byte_count;
  chooser->ranges.length = 0;
  pks_status status = need_hits(chooser, error);
  if (status) { return status; }
  chooser->hit_count = pks__delta_index_find(index, bytes, group->length, chooser->hits, PKS__DELTA_HITS_MAX);
  status = add_replaced(chooser, plan, group, error);
  if (!status) { status = add_found(chooser, error); }
  if (!status) { sort_ranges(&chooser->ranges, by_weight); }
  return status;
}

// MARK: - Choosing

/// Puts the first `count` ranges, with `margin` bytes around each, into `chosen`, joined where they meet. `*total` is what
/// they are together.
static pks_status gather(
  pks__piece_chooser *chooser, uint64_t count, uint64_t margin, uint64_t *total, pks_error *error
) {
  pks__scratch *chosen = &chooser->chosen;
  chosen->length = *total = 0;
  if (count == 0) { return PKS_OK; }
  pks_status status = pks__scratch_append(chosen, chooser->ranges.bytes, count * sizeof(pks__old_range), error);
  if (status) { return status; }
  pks__old_range *ranges = PKS__SCRATCH_AT(chosen, pks__old_range, 0), *last = NULL;
  for (uint64_t i = 0; i < count; i++) {
    ranges[i].begin = ranges[i].begin > margin ? ranges[i].begin - margin : 0;
    ranges[i].end = pks__min64(ranges[i].end + margin, chooser->byte_count);
  }
  sort_ranges(chosen, by_position);
  uint64_t kept = 0;
  for (uint64_t i = 0; i < count; i++) {
    if (last && ranges[i].begin <= last->end) {
      *total += ranges[i].end > last->end ? ranges[i].end - last->end : 0;
      last->end = pks__max64(last->end, ranges[i].end);
    } else if (ranges[i].begin < ranges[i].end) {
      last = &ranges[kept++];
      *last = ranges[i];
      *total += last->end - last->begin;
    }
  }
  chosen->length = kept * sizeof *ranges;
  return PKS_OK;
}

static pks_status choose_wide(pks__piece_chooser *chooser, uint32_t room, pks_error *error) {
  uint64_t total, count = PKS__SCRATCH_COUNT(&chooser->ranges, pks__old_range);
  for (;; count -= (count + 7) / 8) {
    pks_status status = gather(chooser, count, MARGIN_WIDE, &total, error);
    if (status || total <= room || count <= 1) { return status; }
  }
}

static pks_status choose_narrow(pks__piece_chooser *chooser, uint32_t room, pks_error *error) {
  uint64_t total, count = PKS__SCRATCH_COUNT(&chooser->ranges, pks__old_range);
  for (uint64_t margin = MARGIN_WIDE;;) {
    pks_status status = gather(chooser, count, margin, &total, error);
    if (status || total <= room || count <= 1) { return status; }
    if (margin > MARGIN_MIN) {
      margin /= 2;
    } else {
      count -= (count + 7) / 8;
    }
  }
}

pks_status pks__piece_chooser_choose(
  pks__piece_chooser *chooser, pks__piece_choice choice, uint32_t room, pks_error *error
) {
  chooser->pieces.length = 0;
  pks_status status =
    choice == PKS__PIECES_WIDE ? choose_wide(chooser, room, error) : choose_narrow(chooser, room, error);
  for (uint64_t i = 0; !status && room > 0 && i < PKS__SCRATCH_COUNT(&chooser->chosen, pks__old_range); i++) {
    const pks__old_range *range = PKS__SCRATCH_AT(&chooser->chosen, const pks__old_range, i);
    pks__delta_piece piece = {
      .position = range->begin, .length = (uint32_t)pks__min64(range->end - range->begin, room)};
    room -= piece.length;
    status = pks__scratch_append(&chooser->pieces, &piece, sizeof piece, error);
  }
  return status;
}

void pks__piece_chooser_free(pks__piece_chooser *chooser) {
  pks__scratch_free(&chooser->ranges);
  pks__scratch_free(&chooser->chosen);
  pks__scratch_free(&chooser->pieces);
  pks__free(chooser->hits);
}
