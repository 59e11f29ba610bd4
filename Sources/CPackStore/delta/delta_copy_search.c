#include "delta/delta_copy_search.h"

enum {
  COPY_MIN = PKS__DELTA_COPY_MIN,  // bytes of a copy that is worth its numbers, in an alignment that goes on
  COPY_MIN_MOVED = 16,             // the same at the beginning of an alignment, whose position is further away
};

/// Converts an offset of the old bytes to a position in A. Returns the number of bytes that follow it there.
static uint64_t locate(
  const pks__align_search *search, const pks__scratch *pieces, uint64_t offset, uint64_t *position
) {
  *position = offset;
  if (!pieces) { return search->old_length - offset; }
  for (uint64_t i = 0; i < PKS__SCRATCH_COUNT(pieces, pks__delta_prefix_part); i++) {
    const pks__delta_prefix_part *piece = PKS__SCRATCH_AT(pieces, const pks__delta_prefix_part, i);
    if (offset < piece->length) {
      *position = piece->position + offset;
      return piece->length - offset;
    }
    offset -= piece->length;
  }
  return 0;
}

/// Appends equal bytes, in as many copies as they have pieces.
static pks_status add_equal(
  const pks__align_search *search, const pks__scratch *pieces, uint32_t begin, uint32_t end, int64_t shift,
  pks__scratch *out, pks_error *error
) {
  pks_status status = PKS_OK;
  while (!status && begin < end) {
    pks__delta_copy copy = {.begin = begin};
    uint64_t following = locate(search, pieces, (uint64_t)((int64_t)begin + shift), &copy.position);
    copy.length = (uint32_t)pks__min64(following, end - begin);
    if (copy.length == 0) { break; }
    begin += copy.length;
    if (copy.length >= COPY_MIN) { status = pks__scratch_append(out, &copy, sizeof copy, error); }
  }
  return status;
}

static pks_status add_alignment(
  const pks__align_search *search, const pks__alignment *from, const pks__scratch *pieces, pks__scratch *out,
  pks_error *error
) {
  pks_status status = PKS_OK;
  uint32_t least = COPY_MIN_MOVED;
  for (uint32_t begin = from->begin, end; !status && begin < from->end; begin = end) {
    end = begin;
    while (end < from->end && pks__align_equal(search, end, from->shift)) { end++; }
    if (end - begin >= least) {
      status = add_equal(search, pieces, begin, end, from->shift, out, error);
      least = COPY_MIN;
    }
    if (end == begin) { end++; }
  }
  return status;
}

pks_status pks__delta_copy_search(
  const pks__align_search *search, const pks__scratch *alignments, const pks__scratch *pieces, pks__scratch *out,
  pks_error *error
) {
  pks_status status = PKS_OK;
  out->length = 0;
  for (uint64_t i = 0; !status && i < PKS__SCRATCH_COUNT(alignments, pks__alignment); i++) {
    status = add_alignment(search, PKS__SCRATCH_AT(alignments, const pks__alignment, i), pieces, out, error);
  }
  return status;
}
