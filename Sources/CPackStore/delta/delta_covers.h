/// Selects ranges of a group that are stored as their difference from old bytes.
///
/// In programs, addresses change slightly in many places while everything around them stays. An encoder must code each continuation
/// of the old bytes, which is expensive; the bytewise difference is repetitive and costs almost nothing. (The idea is from bsdiff,
/// Percival 2003.) If changes are rare, or little is in common, the encoder does better with the prefix alone: only ranges between
/// the two extremes become covers.
#ifndef PKS_DELTA_DELTA_COVERS_H
#define PKS_DELTA_DELTA_COVERS_H

#include "delta/delta.h"
#include "delta/delta_align.h"

/// Appends covers, `pks__delta_cover`, to `out`: rising and apart. The old bytes of the search are the prefix; `alignments` are
/// for its own use. Linear in the bytes and hits.
pks_status pks__delta_covers_find(
  const pks__align_search *search, pks__scratch *alignments, pks__scratch *out, pks_error *error
);

#endif
