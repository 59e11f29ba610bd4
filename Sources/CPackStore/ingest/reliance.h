/// Which stored copies of chunks and pages a new layout may refer to.
///
/// An ingest refers to what the store has, wherever that lies, unless it is to make segments unneeded: then their copies
/// count for reading alone, and what lies nowhere else is stored again. Records of the pack's current version that lead to
/// such a copy are made again, though the assets did not change.
#ifndef PKS_INGEST_RELIANCE_H
#define PKS_INGEST_RELIANCE_H

#include "read/namespace.h"
#include "segment/segment_set.h"
#include "store/chunk_lookup.h"

/// Zeroed: all copies.
typedef struct pks__reliance {
  const pks__segment_set *avoided;  ///< segments that nothing new may refer to; NULL: none
} pks__reliance;

static inline bool pks__reliance_is_limited(const pks__reliance *reliance) { return reliance->avoided != NULL; }

static inline bool pks__reliance_allows(const pks__reliance *reliance, const pks__segment_id *segment) {
  return !reliance->avoided || !pks__segment_set_has(reliance->avoided, segment);
}

/// As `pks__snapshot_find_chunk`, among the copies that may be referred to.
pks_status pks__reliance_find_chunk(
  const pks__reliance *reliance, pks_snapshot *snapshot, const pks__id *id, pks__segment_kind kind, pks__chunk_ref *out,
  bool *found, pks_error *error
);

/// Whether all frames that the record of a file leads to lie where a new layout may refer to them.
pks_status pks__reliance_allows_record(
  const pks__reliance *reliance, pks_snapshot *snapshot, const pks__hit *hit, bool *allowed, pks_error *error
);

#endif
