/// Emptying segments: what is needed of them is stored again, and all versions that lead to them are laid out without them.
///
/// One transaction. The content, number and attributes of no version change; only layouts, and the records of assets that
/// lay there. The commit then unlinks the segments as any others that nothing needs, unless a reader holds them.
///
/// What is needed is stored in the order in which the versions are read, frames as they are where that serves (`copy_order.h`);
/// chunks that lie in another segment, too, to which a version leads are not copied, unless they lie raw among neighbours that
/// are. Map assets are found where they were copied to; should one not be, it is laid out afresh.
///
/// A crash at any point leaves the store as it was, or emptied: it is a commit like any other.
#ifndef PKS_COMMIT_EVACUATION_H
#define PKS_COMMIT_EVACUATION_H

#include "commit/transaction.h"
#include "space/evacuation_plan.h"

/// Stages what a plan says, which was made for the snapshot that the transaction stands on. `*copied_bytes` is what new
/// segments take. `progress` as of an add; NULL: none. Errors: CORRUPT, PURGED when something that is needed cannot be read;
/// CANCELLED; those of staging.
pks_status pks__evacuate(
  pks_txn *txn, const pks__evacuation_plan *plan, bool (*progress)(void *context, const pks_progress *progress),
  void *context, uint64_t *copied_bytes, pks_error *error
);

#endif
