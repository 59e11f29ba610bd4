/// The commit, and the one that a repair makes.
#ifndef PKS_COMMIT_H
#define PKS_COMMIT_H

#include "commit/transaction.h"

/// As `pks_txn_commit`, without a second commit. `*drops` (may be NULL): something that was needed is not any more.
pks_status pks__txn_commit(pks_txn *txn, uint64_t *generation, bool *drops, pks_error *error);

/// How `pks__txn_replace` commits.
typedef struct pks__replacement {
  /// what the transaction sees, with what is to be said of packs beyond their versions. Its number is above all that any
  /// file, slot or reader may still name. Taken over
  pks__generation generation;
  const pks__control *control;  ///< a slot of it counts, and the other is written; NULL: a control file is made again
  pks__control_slot slot;       ///< store id and average; the rest is filled in
} pks__replacement;

/// Commits what is staged as all that the store shows, whatever state it is in: durably, as a generation that has
/// nothing in common with those before but segments. The caller holds the writer's lock. Nothing is unlinked: later
/// commits collect what is left. The transaction goes on until it is aborted. Until the control file is written, or
/// renamed into place, the store is as it was.
pks_status pks__txn_replace(pks_txn *txn, pks__replacement *with, pks_error *error);

#endif
