#include "delta/delta_covers.h"

enum {
  CELL = 64,         // bytes that are judged together
  CHANGES_MIN = 3,   // separate changes in a cell that are too many for the encoder
  CHANGED_MAX = 40,  // changed bytes in a cell with too little in common
  COVER_MIN = 128,   // bytes of a cover that is worth saying
  FOLLOWS_MIN = 24,  // of a window's 32 bytes, so many equal ones say that the alignment goes on
  GIVE_UP = 64,      // an extension ends when it got so much worse
};

/// Bytes [begin, end) of the group beside bytes of the prefix that are `shift` further on.
typedef struct alignment {
  uint32_t begin, end;
  int64_t shift;
  bool is_set;
} alignment;

static bool equal_at(const pks__cover_search *search, uint32_t index, int64_t shift) {
  return search->bytes[index] == search->prefix[index + shift];
}

/// Whether the byte has one of the prefix beside it.
static bool is_beside(const pks__cover_search *search, int64_t index, int64_t shift) {
  return index + shift >= 0 && index + shift < search->prefix_length;
}

// MARK: - Aligning

/// How far to extend from `from` up to `limit` so that the most bytes more are equal than not.
static uint32_t extend_forward(const pks__cover_search *search, uint32_t from, uint32_t limit, int64_t shift) {
  int64_t score = 0, best = 0;
  uint32_t best_end = from;
  for (uint32_t i = from; i < limit && is_beside(search, i, shift) && score >= best - GIVE_UP; i++) {
    score += equal_at(search, i, shift) ? 1 : -1;
    if (score <= best) { continue; }
    best = score;
    best_end = i + 1;
  }
  return best_end;
}

static uint32_t extend_back(const pks__cover_search *search, uint32_t from, uint32_t limit, int64_t shift) {
  int64_t score = 0, best = 0;
  uint32_t best_begin = from;
  for (uint32_t i = from; i > limit && is_beside(search, (int64_t)i - 1, shift) && score >= best - GIVE_UP; i--) {
    score += equal_at(search, i - 1, shift) ? 1 : -1;
    if (score <= best) { continue; }
    best = score;
    best_begin = i - 1;
  }
  return best_begin;
}

/// Where the one alignment had best end and the other begin, both of which reach over [begin, end).
static uint32_t split(const pks__cover_search *search, uint32_t begin, uint32_t end, int64_t left, int64_t right) {
  int64_t score = 0, best = 0;
  uint32_t at = begin;
  for (uint32_t i = begin; i < end; i++) {
    score += (int)equal_at(search, i, left) - (int)equal_at(search, i, right);
    if (score <= best) { continue; }
    best = score;
    at = i + 1;
  }
  return at;
}

static uint32_t count_equal(const pks__cover_search *search, uint32_t begin, uint32_t length, int64_t shift) {
  uint32_t count = 0;
  for (uint32_t i = begin; i < begin + length && is_beside(search, i, shift); i++) {
    count += equal_at(search, i, shift);
  }
  return count;
}

// MARK: - Covering

/// Whether the cell at `begin` changes all over, and not altogether.
static bool is_dense(const pks__cover_search *search, uint32_t begin, int64_t shift) {
  uint32_t changes = 0, changed = 0;
  bool was_equal = true;
  for (uint32_t i = begin; i < begin + CELL; i++) {
    bool equal = equal_at(search, i, shift);
    changes += was_equal && !equal;
    changed += !equal;
    was_equal = equal;
  }
  return changes >= CHANGES_MIN && changed <= CHANGED_MAX;
}

static pks_status add_cover(const alignment *from, uint32_t begin, uint32_t end, pks__scratch *out, pks_error *error) {
  if (end - begin < COVER_MIN) { return PKS_OK; }
  pks__delta_cover cover = {.begin = begin, .length = end - begin, .prefix = (uint32_t)((int64_t)begin + from->shift)};
  return pks__scratch_append(out, &cover, sizeof cover, error);
}

/// Covers the cells of an alignment that ask for it. One cell that does not is passed over.
static pks_status cover_cells(
  const pks__cover_search *search, const alignment *from, pks__scratch *out, pks_error *error
) {
  uint32_t begin = 0, end = 0;
  pks_status status = PKS_OK;
  for (uint32_t cell = from->begin; !status && cell + CELL <= from->end; cell += CELL) {
    if (!is_dense(search, cell, from->shift)) { continue; }
    if (end > 0 && cell > end + CELL) {
      status = add_cover(from, begin, end, out, error);
      end = 0;
    }
    if (end == 0) { begin = cell; }
    end = cell + CELL;
  }
  return status || end == 0 ? status : add_cover(from, begin, end, out, error);
}

/// Whether the alignment says all that a window at `begin` would.
static bool goes_on(const pks__cover_search *search, alignment *last, uint32_t begin, int64_t shift) {
  if (!last->is_set) { return false; }
  if (begin < last->end) { return true; }
  bool is_same = shift == last->shift;
  if (is_same) { last->end = begin + PKS__GEAR_WINDOW; }
  return is_same || count_equal(search, begin, PKS__GEAR_WINDOW, last->shift) >= FOLLOWS_MIN;
}

/// Ends the last alignment where one that was found at `window` does better, and begins with that.
static pks_status change_over(
  const pks__cover_search *search, alignment *last, uint32_t window, int64_t shift, pks__scratch *out, pks_error *error
) {
  uint32_t begin = extend_back(search, window, last->is_set ? last->end : 0, shift);
  pks_status status = PKS_OK;
  if (last->is_set) {
    last->end = extend_forward(search, last->end, window, last->shift);
    if (last->end > begin) { last->end = begin = split(search, begin, last->end, last->shift, shift); }
    status = cover_cells(search, last, out, error);
  }
  *last = (alignment){.begin = begin, .end = window + PKS__GEAR_WINDOW, .shift = shift, .is_set = true};
  return status;
}

pks_status pks__delta_covers_find(const pks__cover_search *search, pks__scratch *out, pks_error *error) {
  alignment last = {0};
  pks_status status = PKS_OK;
  for (uint32_t i = 0; !status && i < search->hit_count; i++) {
    const pks__delta_hit *hit = &search->hits[i];
    uint32_t window = hit->end - PKS__GEAR_WINDOW;
    int64_t shift = (int64_t)hit->position - hit->end;
    if (!goes_on(search, &last, window, shift)) { status = change_over(search, &last, window, shift, out, error); }
  }
  if (status || !last.is_set) { return status; }
  last.end = extend_forward(search, last.end, search->length, last.shift);
  return cover_cells(search, &last, out, error);
}
