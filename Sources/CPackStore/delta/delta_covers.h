/// Which stretches of a group are kept as their difference to old bytes.
///
/// In programs, addresses change by little all over the place while everything around them stays: too much for an encoder
/// that has to say each time where the old bytes go on, and next to nothing as a difference, byte by byte, which repeats
/// itself. (The idea is that of bsdiff, Percival 2003.) Where changes are far between, or there is little in common, the
/// encoder does better with the prefix alone: only stretches between the two become covers.
#ifndef PKS_DELTA_DELTA_COVERS_H
#define PKS_DELTA_DELTA_COVERS_H

#include "delta/delta.h"
#include "delta/delta_index.h"

/// A group and what it may refer to.
typedef struct pks__cover_search {
  const uint8_t *bytes;  ///< of the group
  uint32_t length;
  const uint8_t *prefix;
  uint32_t prefix_length;
  const pks__delta_hit *hits;  ///< anchors of the group, and where the prefix has them
  uint32_t hit_count;
} pks__cover_search;

/// Appends covers, `pks__delta_cover`, to `out`: rising and apart. Linear in the bytes and hits.
pks_status pks__delta_covers_find(const pks__cover_search *search, pks__scratch *out, pks_error *error);

#endif
