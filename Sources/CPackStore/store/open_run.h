/// Runs that are open in this process: shared by all snapshots that name them.
#ifndef PKS_STORE_OPEN_RUN_H
#define PKS_STORE_OPEN_RUN_H

#include "store/state.h"

/// Returns the run with that name: one that a live snapshot has open, or opened now from `index/`, or from the folder `staging`
/// (PKS_VFS_NO_FILE: none) of a transaction that has not moved it yet. With a reference for the caller. CORRUPT if it differs from
/// `ref`.
pks_status pks__open_run_take(
  pks_store *store, const pks__run_ref *ref, pks_vfs_file staging, pks__open_run **out, pks_error *error
);
void pks__open_run_release(pks_store *store, pks__open_run *open);  ///< drops a reference; the mutex is not held

/// Whether this process has checked the bytes of a raw frame: then a part of it may be read, or looked at where it is
/// mapped, without reading all of it again.
bool pks__open_run_is_checked(const pks__open_run *open, uint32_t frame);

void pks__open_run_set_checked(pks__open_run *open, uint32_t frame);  ///< forgets it when memory is short

/// Whether this process found that the frames `first` to `last` are raw, consecutive in one segment, and intact: a condition that
/// `contents` and `borrow` check for an asset each time. O(frames / 64).
bool pks__open_run_is_one_piece(const pks__open_run *open, uint32_t first, uint32_t last);

/// A raw frame ends where the next raw frame of the run begins, in the same segment. Forgotten when memory is short.
void pks__open_run_set_abuts_next(pks__open_run *open, uint32_t frame);

#endif
