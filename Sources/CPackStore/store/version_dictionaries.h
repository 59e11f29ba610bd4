/// The dictionaries that the segments of a version have. Only writers ask.
#ifndef PKS_STORE_VERSION_DICTIONARIES_H
#define PKS_STORE_VERSION_DICTIONARIES_H

#include "store/snapshot.h"

/// Sees one dictionary of a segment; false ends the visit.
typedef bool pks__dictionary_visitor(
  void *context, pks__segment *segment, uint32_t number, const pks__segment_dictionary *dictionary
);

/// Visits the dictionaries of all segments in the version's layout; a dictionary in several segments is visited several times.
/// Segments that cannot be opened, and invalid rows, are skipped. O(segments). Errors: of reading the layout.
pks_status pks__version_dictionaries_visit(
  pks_snapshot *snapshot, const pks__version *version, pks__dictionary_visitor *visit, void *context, pks_error *error
);

#endif
