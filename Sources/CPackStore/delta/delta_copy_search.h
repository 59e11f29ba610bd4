/// Finds copies for a group: the equal bytes of its alignments with A.
#ifndef PKS_DELTA_DELTA_COPY_SEARCH_H
#define PKS_DELTA_DELTA_COPY_SEARCH_H

#include "delta/delta_align.h"
#include "delta/delta_copies.h"

/// Replaces `out` by copies, pks__delta_copy. `pieces`, pks__delta_prefix_part, are the parts of A that form the old bytes of the
/// search; NULL: the old bytes are A.
pks_status pks__delta_copy_search(
  const pks__align_search *search, const pks__scratch *alignments, const pks__scratch *pieces, pks__scratch *out,
  pks_error *error
);

#endif
