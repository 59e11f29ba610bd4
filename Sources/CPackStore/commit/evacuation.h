/// Empties segments: their live data is stored again, and all versions that use them are laid out without them.
///
/// One transaction. Content, number and attributes of versions do not change; only layouts do, and the records of assets in these
/// segments. The commit then unlinks the segments like any other unneeded ones, unless a reader retains them.
///
/// Live data is stored in the reading order of the versions, with frames copied unchanged if useful (`copy_order.h`). Chunks that
/// are also in another segment used by a version are not copied, unless they are raw among copied neighbours. Map assets are found
/// where they were copied to; otherwise one is laid out again.
///
/// A crash at any point leaves the store as it was, or emptied: it is a commit like any other.
#ifndef PKS_COMMIT_EVACUATION_H
#define PKS_COMMIT_EVACUATION_H

#include "commit/transaction.h"
#include "space/evacuation_plan.h"

/// Stages a plan, which was made for the transaction's base snapshot. `*copied_bytes` is the size of the new segments. `progress`
/// is as for an add; NULL: none. Errors: CORRUPT, PURGED if needed data cannot be read; CANCELLED; and those of staging.
pks_status pks__evacuate(
  pks_txn *txn, const pks__evacuation_plan *plan, bool (*progress)(void *context, const pks_progress *progress),
  void *context, uint64_t *copied_bytes, pks_error *error
);

#endif
