#include "delta/delta_covers.h"

enum {
  CELL = 64,         // bytes that are judged together
  CHANGES_MIN = 3,   // separate changes in a cell that are too many for the encoder
  CHANGED_MAX = 40,  // changed bytes in a cell with too little in common
  COVER_MIN = 128,   // bytes of a cover that is worth saying
};

// MARK: - Covering

/// Whether the cell at `begin` changes all over, and not altogether.
static bool is_dense(const pks__align_search *search, uint32_t begin, int64_t shift) {
  uint32_t changes = 0, changed = 0;
  bool was_equal = true;
  for (uint32_t i = begin; i < begin + CELL; i++) {
    bool equal = pks__align_equal(search, i, shift);
    changes += was_equal && !equal;
    changed += !equal;
    was_equal = equal;
  }
  return changes >= CHANGES_MIN && changed <= CHANGED_MAX;
}

static pks_status add_cover(
  const pks__alignment *from, uint32_t begin, uint32_t end, pks__scratch *out, pks_error *error
) {
  if (end - begin < COVER_MIN) { return PKS_OK; }
  pks__delta_cover cover = {.begin = begin, .length = end - begin, .prefix = (uint32_t)((int64_t)begin + from->shift)};
  return pks__scratch_append(out, &cover, sizeof cover, error);
}

/// Covers the cells of an alignment that ask for it. One cell that does not is passed over.
static pks_status cover_cells(
  const pks__align_search *search, const pks__alignment *from, pks__scratch *out, pks_error *error
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

pks_status pks__delta_covers_find(
  const pks__align_search *search, pks__scratch *alignments, pks__scratch *out, pks_error *error
) {
  alignments->length = 0;
  pks_status status = pks__delta_align(search, alignments, error);
  for (uint64_t i = 0; !status && i < PKS__SCRATCH_COUNT(alignments, pks__alignment); i++) {
    status = cover_cells(search, PKS__SCRATCH_AT(alignments, const pks__alignment, i), out, error);
  }
  return status;
}
