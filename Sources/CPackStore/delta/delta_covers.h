/// Which stretches of a group are kept as their difference to old bytes.
///
/// In programs, addresses change by little all over the place while everything around them stays: too much for an encoder
/// that has to say each time where the old bytes go on, and next to nothing as a difference, byte by byte, which repeats
/// itself. (The idea is that of bsdiff, Percival 2003.) Where changes are far between, or there is little in common, the
/// encoder does better with the prefix alone: only stretches between the two become covers.
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
