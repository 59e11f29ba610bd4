/// Lays out a known version again, so that its data is in the right place.
#ifndef PKS_COMMIT_RELAYOUT_H
#define PKS_COMMIT_RELAYOUT_H

#include "commit/transaction.h"
#include "ingest/ingest_version.h"

/// Returns a request that lays a version out again unchanged, except for data in `avoided` (may be NULL); callers may add to it.
pks__version_request pks__relayout_request(
  pks_snapshot *snapshot, const char *pack, const pks__version *version, bool is_current,
  const pks__segment_set *avoided
);

/// Lays a version of the pack out again, and stages it if any data has another place now: data that must not be used
/// (`reuse_policy.h`), or that is in `avoided` (may be NULL), is stored again. With `keeps_missing` the version continues without
/// missing data; otherwise that is PURGED.
pks_status pks__txn_relayout(
  pks_txn *txn, const char *pack, const pks__version *version, bool is_current, const pks__segment_set *avoided,
  bool keeps_missing, pks_add_result *result, pks_error *error
);

/// Lays the versions of a pack from index `first` on out again if they lack anything and the store has their bytes elsewhere.
/// `pack` and versions count as in `pks_snapshot_version`. `*count` rises by the versions that were staged; the others stay.
pks_status pks__txn_heal_versions(pks_txn *txn, uint32_t pack, uint32_t first, uint32_t *count, pks_error *error);

#endif
