/// The commit, and the commit of a repair.
#ifndef PKS_COMMIT_H
#define PKS_COMMIT_H

#include "commit/transaction.h"

/// As `pks_txn_commit`, without a second commit. `*drops` (may be NULL): something that was needed is not any more.
pks_status pks__txn_commit(pks_txn *txn, uint64_t *generation, bool *drops, pks_error *error);

/// How `pks__txn_replace` commits.
typedef struct pks__replacement {
  /// the transaction's view, with attributes of packs other than their versions. Its number is above all numbers in files, slots or
  /// readers. Ownership is transferred
  pks__generation generation;
  const pks__control *control;  ///< a slot of it counts, and the other is written; NULL: a control file is made again
  pks__control_slot slot;       ///< store id and average; the rest is filled in
} pks__replacement;

/// Commits the staged generation as the store's whole contents, regardless of the store's state: durably, sharing only segments
/// with earlier generations. The caller holds the writer's lock. Nothing is unlinked: later commits collect the rest. The
/// transaction continues until it is aborted. Until the control file is written, or renamed into place, the store is unchanged.
pks_status pks__txn_replace(pks_txn *txn, pks__replacement *with, pks_error *error);

#endif
