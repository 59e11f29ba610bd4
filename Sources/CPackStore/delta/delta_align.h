/// Alignment of ranges of new bytes with old ones.
///
/// Common anchors show which ranges correspond; comparing bytes shows how far they reach. Inside, single bytes may differ.
#ifndef PKS_DELTA_DELTA_ALIGN_H
#define PKS_DELTA_DELTA_ALIGN_H

#include "delta/delta_index.h"

/// New bytes, and old ones.
typedef struct pks__align_search {
  const uint8_t *bytes;
  uint32_t length;
  const uint8_t *old;
  uint64_t old_length;
  const pks__delta_hit *hits;  ///< anchors of the new bytes, in order, and where the old bytes have them
  uint32_t hit_count;
  /// Whether hits are matches, so that many bytes are compared before one of them replaces the current alignment.
  bool weighs;
} pks__align_search;

/// New bytes [begin, end) aligned with old ones `shift` further on.
typedef struct pks__alignment {
  uint32_t begin, end;
  int64_t shift;
} pks__alignment;

static inline bool pks__align_equal(const pks__align_search *search, uint32_t index, int64_t shift) {
  return search->bytes[index] == search->old[index + shift];
}

/// Appends alignments, `pks__alignment`, to `out`: rising and apart. Linear in the bytes and hits.
pks_status pks__delta_align(const pks__align_search *search, pks__scratch *out, pks_error *error);

#endif
