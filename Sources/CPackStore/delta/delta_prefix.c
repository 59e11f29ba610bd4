#include "delta/delta_prefix.h"

#include "base/memory.h"

enum {
  MARGIN_WIDE = 64 * 1024,   // bytes around a range
  MARGIN_NARROW = 4 * 1024,  // around replaced data, if far ranges should have room
  MARGIN_FAR_MIN = 1024,     // below, far ranges are left out instead
  RANGE_DRIFT = 256,         // the distances of anchors of one range differ by at most this much
  RANGE_GAP = 64 * 1024,     // and this near to each other
  WEIGHT_MIN = 2,            // anchors of a far range
  PIECE_DRIFT = 256,         // by which bytes move in one fitted piece at most
};

static pks_status need_hits(pks__prefix_chooser *chooser, pks_error *error) {
  if (!chooser->hits) { chooser->hits = pks__allocate(PKS__DELTA_HITS_MAX * sizeof *chooser->hits); }
  return chooser->hits ? PKS_OK : pks__fail_memory(error);
}

// MARK: - Ranges

static pks_status add_range(pks__scratch *to, uint64_t begin, uint64_t end, uint32_t weight, pks_error *error) {
  uint64_t order = PKS__SCRATCH_COUNT(to, pks__old_range);
  pks__old_range range = {.begin = begin, .end = end, .weight = weight, .order = (uint32_t)order};
  return pks__scratch_append(to, &range, sizeof range, error);
}

/// Adds the data of A at the places of the group's ranges.
static pks_status add_replaced(
  pks__prefix_chooser *chooser, const pks__delta_plan *plan, const pks__planned_group *group, pks_error *error
) {
  uint64_t count = PKS__SCRATCH_COUNT(&plan->stretches, pks__new_stretch), group_end = group->position + group->length;
  pks_status status = PKS_OK;
  for (uint64_t i = group->first_stretch; !status && i < count; i++) {
    const pks__new_stretch *stretch = PKS__SCRATCH_AT(&plan->stretches, const pks__new_stretch, i);
    if (stretch->begin >= group_end) { break; }
    uint64_t skipped = group->position > stretch->begin ? group->position - stretch->begin : 0;
    uint64_t begin = pks__min64(stretch->old_begin + skipped, stretch->old_end), end = stretch->old_end;
    if (stretch->end > group_end) { end = pks__min64(end, begin + (group_end - stretch->begin - skipped)); }
    if (stretch->old_end > stretch->old_begin) { status = add_range(&chooser->replaced, begin, end, 0, error); }
  }
  return status;
}

static bool goes_on(const pks__delta_hit *first, const pks__delta_hit *last, const pks__delta_hit *next) {
  uint64_t drift = (next->position - next->end) - (first->position - first->end);
  return next->end - last->end < RANGE_GAP && (drift < RANGE_DRIFT || -drift < RANGE_DRIFT);
}

static pks_status add_far(pks__prefix_chooser *chooser, uint32_t hit_count, pks_error *error) {
  const pks__delta_hit *hits = chooser->hits;
  pks_status status = PKS_OK;
  for (uint32_t i = 0, next; !status && i < hit_count; i = next) {
    uint64_t begin = hits[i].position, end = begin;
    for (next = i + 1; next < hit_count && goes_on(&hits[i], &hits[next - 1], &hits[next]); next++) {
      begin = pks__min64(begin, hits[next].position);
      end = pks__max64(end, hits[next].position);
    }
    if (next - i < WEIGHT_MIN) { continue; }
    status = add_range(&chooser->far, begin - PKS__GEAR_WINDOW, end, next - i, error);
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

// MARK: - Choosing

/// Appends ranges with `margin` bytes around each.
static pks_status widen(
  pks__prefix_chooser *chooser, const pks__scratch *ranges, uint64_t count, uint64_t margin, pks_error *error
) {
  pks_status status = PKS_OK;
  for (uint64_t i = 0; !status && i < count; i++) {
    pks__old_range range = *PKS__SCRATCH_AT(ranges, const pks__old_range, i);
    range.begin = range.begin > margin ? range.begin - margin : 0;
    range.end = pks__min64(range.end + margin, chooser->byte_count);
    if (range.begin < range.end) { status = pks__scratch_append(&chooser->chosen, &range, sizeof range, error); }
  }
  return status;
}

/// Joins chosen ranges that meet. Returns how long they are together.
static uint64_t join(pks__prefix_chooser *chooser) {
  pks__scratch *chosen = &chooser->chosen;
  uint64_t count = PKS__SCRATCH_COUNT(chosen, pks__old_range), kept = 0, total = 0;
  sort_ranges(chosen, by_position);
  pks__old_range *ranges = PKS__SCRATCH_AT(chosen, pks__old_range, 0);
  for (uint64_t i = 0; i < count; i++) {
    if (kept > 0 && ranges[i].begin <= ranges[kept - 1].end) {
      ranges[kept - 1].end = pks__max64(ranges[kept - 1].end, ranges[i].end);
    } else {
      ranges[kept++] = ranges[i];
    }
  }
  for (uint64_t i = 0; i < kept; i++) { total += ranges[i].end - ranges[i].begin; }
  chosen->length = kept * sizeof *ranges;
  return total;
}

/// The data around ranges: margins, and the number of far ranges.
typedef struct extent {
  uint64_t replaced_margin, far_margin, far_count;
} extent;

static pks_status gather(pks__prefix_chooser *chooser, const extent *extent, uint64_t *total, pks_error *error) {
  uint64_t replaced_count = PKS__SCRATCH_COUNT(&chooser->replaced, pks__old_range);
  chooser->chosen.length = 0;
  pks_status status = widen(chooser, &chooser->replaced, replaced_count, extent->replaced_margin, error);
  if (!status) { status = widen(chooser, &chooser->far, extent->far_count, extent->far_margin, error); }
  if (!status) { *total = join(chooser); }
  return status;
}

/// Makes the replaced data fit, with smaller margins if necessary, and without far ranges.
static pks_status fit_replaced(pks__prefix_chooser *chooser, extent *extent, uint32_t room, pks_error *error) {
  extent->far_count = 0;
  for (;; extent->replaced_margin /= 2) {
    uint64_t total;
    pks_status status = gather(chooser, extent, &total, error);
    if (status || total <= room || extent->replaced_margin == 0) { return status; }
  }
}

/// Makes all of it fit: with less around far ranges, down to `least`, and then with fewer of them.
static pks_status fit_far(
  pks__prefix_chooser *chooser, extent *extent, uint64_t least, uint32_t room, pks_error *error
) {
  extent->far_count = PKS__SCRATCH_COUNT(&chooser->far, pks__old_range);
  for (;;) {
    uint64_t total;
    pks_status status = gather(chooser, extent, &total, error);
    if (status || total <= room || extent->far_count == 0) { return status; }
    if (extent->far_margin > least) {
      extent->far_margin /= 2;
    } else {
      extent->far_count -= (extent->far_count + 7) / 8;
    }
  }
}

/// Converts the collected ranges to pieces. Replaced data alone may be too long: then its end is left out.
static pks_status cut_pieces(pks__prefix_chooser *chooser, uint32_t room, pks_error *error) {
  pks_status status = PKS_OK;
  chooser->pieces.length = 0;
  for (uint64_t i = 0; !status && room > 0 && i < PKS__SCRATCH_COUNT(&chooser->chosen, pks__old_range); i++) {
    const pks__old_range *range = PKS__SCRATCH_AT(&chooser->chosen, const pks__old_range, i);
    pks__delta_prefix_part piece = {
      .position = range->begin, .length = (uint32_t)pks__min64(range->end - range->begin, room)};
    room -= piece.length;
    status = pks__scratch_append(&chooser->pieces, &piece, sizeof piece, error);
  }
  return status;
}

pks_status pks__prefix_chooser_begin(
  pks__prefix_chooser *chooser, const pks__delta_plan *plan, const pks__planned_group *group, uint32_t room,
  pks_error *error
) {
  chooser->byte_count = plan->from.byte_count;
  chooser->replaced.length = chooser->far.length = 0;
  extent extent = {.replaced_margin = MARGIN_WIDE};
  pks_status status = need_hits(chooser, error);
  if (!status) { status = add_replaced(chooser, plan, group, error); }
  if (!status) { status = fit_replaced(chooser, &extent, room, error); }
  return status ? status : cut_pieces(chooser, room, error);
}

pks_status pks__prefix_chooser_search(
  pks__prefix_chooser *chooser, const pks__delta_index *index, const pks__delta_index *known, const uint8_t *bytes,
  uint32_t length, uint32_t most, pks_error *error
) {
  uint32_t hit_count = pks__delta_index_find(index, known, bytes, length, chooser->hits, PKS__DELTA_HITS_MAX);
  pks_status status = add_far(chooser, hit_count, error);
  if (status) { return status; }
  sort_ranges(&chooser->far, by_weight);
  chooser->far.length = pks__min64(chooser->far.length, (uint64_t)most * sizeof(pks__old_range));
  return PKS_OK;
}

pks_status pks__prefix_chooser_align(
  pks__prefix_chooser *chooser, const pks__delta_index *index, const uint8_t *bytes, uint32_t length, pks_error *error
) {
  const pks__align_search search = {
    .bytes = bytes,
    .length = length,
    .old = index->bytes.bytes,
    .old_length = index->bytes.length,
    .hits = chooser->hits,
    .hit_count = pks__delta_index_match(index, bytes, length, chooser->hits, PKS__DELTA_HITS_MAX),
    .weighs = true,
  };
  chooser->length = length;
  chooser->alignments.length = 0;
  return pks__delta_align(&search, &chooser->alignments, error);
}

/// Finds the alignments from `first` on that form one piece: each has nearly the same distance as the one before. Returns the index
/// after the last one.
static uint64_t find_piece_end(const pks__alignment *alignments, uint64_t first, uint64_t count) {
  uint64_t next = first + 1;
  for (; next < count; next++) {
    int64_t drift = alignments[next].shift - alignments[next - 1].shift;
    if (drift > PIECE_DRIFT || drift < -PIECE_DRIFT) { break; }
  }
  return next;
}

/// Converts the counterparts of the group's bytes to pieces, in the order of the group. A piece extends up to the beginning of the
/// next one, for that many bytes of the group. So the prefix is the group with its changes undone, nearly at the same place, and an
/// encoder need not code the distance of each piece.
static pks_status choose_fitted(pks__prefix_chooser *chooser, uint32_t room, pks_error *error) {
  uint64_t count = PKS__SCRATCH_COUNT(&chooser->alignments, pks__alignment);
  const pks__alignment *alignments = PKS__SCRATCH_AT(&chooser->alignments, const pks__alignment, 0);
  pks_status status = PKS_OK;
  chooser->chosen.length = 0;
  for (uint64_t i = 0, next; !status && i < count; i = next) {
    next = find_piece_end(alignments, i, count);
    uint32_t group_end = next < count ? alignments[next].begin : chooser->length;
    uint64_t begin = alignments[i].begin + (uint64_t)alignments[i].shift;
    uint64_t end = pks__min64(group_end + (uint64_t)alignments[next - 1].shift, chooser->byte_count);
    if (begin < end) { status = add_range(&chooser->chosen, begin, end, 0, error); }
  }
  return status ? status : cut_pieces(chooser, room, error);
}

pks_status pks__prefix_chooser_choose(
  pks__prefix_chooser *chooser, pks__prefix_choice choice, uint32_t room, pks_error *error
) {
  if (choice == PKS__PIECES_FITTED) { return choose_fitted(chooser, room, error); }
  bool wide = choice == PKS__PIECES_WIDE;
  extent extent = {.replaced_margin = wide ? MARGIN_WIDE : MARGIN_NARROW, .far_margin = MARGIN_WIDE};
  pks_status status = fit_replaced(chooser, &extent, wide ? room - room / 4 : room, error);
  if (!status) { status = fit_far(chooser, &extent, wide ? MARGIN_WIDE : MARGIN_FAR_MIN, room, error); }
  return status ? status : cut_pieces(chooser, room, error);
}

void pks__prefix_chooser_free(pks__prefix_chooser *chooser) {
  pks__scratch *all[] = {&chooser->replaced, &chooser->far, &chooser->chosen, &chooser->pieces, &chooser->alignments};
  for (size_t i = 0; i < PKS_COUNT_OF(all); i++) { pks__scratch_free(all[i]); }
  pks__free(chooser->hits);
}
