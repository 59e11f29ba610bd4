#include "delta/delta_align.h"

enum {
  FOLLOWS_MIN = 24,  // if this many of a window's 32 bytes are equal, the alignment continues
  LOOK_AHEAD = 256,  // bytes by which alignments are compared where hits are matches
  CHANGE_COST = 8,   // more of them must be equal, or a change does not pay
  GIVE_UP = 64,      // an extension ends when it got so much worse
};

/// Whether the byte has an old counterpart.
static bool is_beside(const pks__align_search *search, int64_t index, int64_t shift) {
  return index + shift >= 0 && index + shift < (int64_t)search->old_length;
}

/// How far to extend from `from` up to `limit` so that the most bytes more are equal than not.
static uint32_t extend_forward(const pks__align_search *search, uint32_t from, uint32_t limit, int64_t shift) {
  int64_t score = 0, best = 0;
  uint32_t best_end = from;
  for (uint32_t i = from; i < limit && is_beside(search, i, shift) && score >= best - GIVE_UP; i++) {
    score += pks__align_equal(search, i, shift) ? 1 : -1;
    if (score <= best) { continue; }
    best = score;
    best_end = i + 1;
  }
  return best_end;
}

static uint32_t extend_back(const pks__align_search *search, uint32_t from, uint32_t limit, int64_t shift) {
  int64_t score = 0, best = 0;
  uint32_t best_begin = from;
  for (uint32_t i = from; i > limit && is_beside(search, (int64_t)i - 1, shift) && score >= best - GIVE_UP; i--) {
    score += pks__align_equal(search, i - 1, shift) ? 1 : -1;
    if (score <= best) { continue; }
    best = score;
    best_begin = i - 1;
  }
  return best_begin;
}

/// Returns the best position to switch between two alignments that both reach over [begin, end).
static uint32_t split(const pks__align_search *search, uint32_t begin, uint32_t end, int64_t left, int64_t right) {
  int64_t score = 0, best = 0;
  uint32_t at = begin;
  for (uint32_t i = begin; i < end; i++) {
    score += (int)pks__align_equal(search, i, left) - (int)pks__align_equal(search, i, right);
    if (score <= best) { continue; }
    best = score;
    at = i + 1;
  }
  return at;
}

static uint32_t count_equal(const pks__align_search *search, uint32_t begin, uint32_t length, int64_t shift) {
  uint32_t count = 0;
  for (uint32_t i = begin; i < begin + length && is_beside(search, i, shift); i++) {
    count += pks__align_equal(search, i, shift);
  }
  return count;
}

// MARK: - From hit to hit

/// Whether the alignment already covers a window at `begin`.
static bool goes_on(const pks__align_search *search, pks__alignment *last, uint32_t begin, int64_t shift) {
  if (last->end == 0) { return false; }
  if (begin < last->end) { return true; }
  bool is_same = shift == last->shift;
  if (is_same) { last->end = begin + PKS__GEAR_WINDOW; }
  if (is_same) { return true; }
  if (!search->weighs) { return count_equal(search, begin, PKS__GEAR_WINDOW, last->shift) >= FOLLOWS_MIN; }
  uint32_t ahead = (uint32_t)pks__min64(LOOK_AHEAD, search->length - begin);
  return count_equal(search, begin, ahead, last->shift) + CHANGE_COST >= count_equal(search, begin, ahead, shift);
}

/// Ends the last alignment if a new one at `window` is better, and begins that one.
static pks_status change_over(
  const pks__align_search *search, pks__alignment *last, uint32_t window, int64_t shift, pks__scratch *out,
  pks_error *error
) {
  uint32_t begin = extend_back(search, window, last->end > 0 ? last->end : 0, shift);
  pks_status status = PKS_OK;
  if (last->end > 0) {
    last->end = extend_forward(search, last->end, window, last->shift);
    if (last->end > begin) { last->end = begin = split(search, begin, last->end, last->shift, shift); }
    status = pks__scratch_append(out, last, sizeof *last, error);
  }
  *last = (pks__alignment){.begin = begin, .end = window + PKS__GEAR_WINDOW, .shift = shift};
  return status;
}

pks_status pks__delta_align(const pks__align_search *search, pks__scratch *out, pks_error *error) {
  pks__alignment last = {0};
  pks_status status = PKS_OK;
  for (uint32_t i = 0; !status && i < search->hit_count; i++) {
    const pks__delta_hit *hit = &search->hits[i];
    uint32_t window = hit->end - PKS__GEAR_WINDOW;
    int64_t shift = (int64_t)hit->position - hit->end;
    if (!goes_on(search, &last, window, shift)) { status = change_over(search, &last, window, shift, out, error); }
  }
  if (status || last.end == 0) { return status; }
  last.end = extend_forward(search, last.end, search->length, last.shift);
  return pks__scratch_append(out, &last, sizeof last, error);
}
