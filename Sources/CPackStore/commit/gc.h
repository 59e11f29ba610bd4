/// Garbage collection: unlinking what no generation needs.
#ifndef PKS_COMMIT_GC_H
#define PKS_COMMIT_GC_H

#include "commit/transaction.h"

/// Whether the snapshot's generation says that dropped versions may have left segments, and this process does not know
/// better.
bool pks__has_garbage(const pks_snapshot *snapshot);

/// Removes index files and segments that neither `current`, nor generation `spared`, nor any pinned generation needs,
/// nor a version that `txn` is about to commit. The writer's lock is held. `*complete` says that nothing was kept for
/// an older generation's sake alone, or because it could not be unlinked.
pks_status pks__gc(pks_snapshot *current, const pks_txn *txn, uint64_t spared, bool *complete, pks_error *error);

/// Whether a collection after a commit of `txn`, which has nothing staged, would find segments to unlink. Takes no lock: what
/// another writer is about to commit may be among them.
pks_status pks__gc_look(const pks_txn *txn, bool *any, pks_error *error);

#endif
