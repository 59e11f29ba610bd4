/// Garbage collection: unlinks files that no generation needs.
#ifndef PKS_COMMIT_GC_H
#define PKS_COMMIT_GC_H

#include "commit/transaction.h"

/// Whether the snapshot's generation records that dropped versions may have left segments, unless this process has already
/// collected them.
bool pks__has_garbage(const pks_snapshot *snapshot);

/// Removes index files and segments that are needed neither by `current`, nor by generation `spared`, nor by a pinned generation,
/// nor by a version that `txn` is about to commit. The writer's lock must be held. `*complete`: nothing was kept only for an older
/// generation, or because it could not be unlinked.
pks_status pks__gc(pks_snapshot *current, const pks_txn *txn, uint64_t spared, bool *complete, pks_error *error);

/// Whether a collection after a commit of `txn`, which has nothing staged, would find segments to unlink. Takes no lock: what
/// another writer is about to commit may be among them.
pks_status pks__gc_look(const pks_txn *txn, bool *any, pks_error *error);

#endif
