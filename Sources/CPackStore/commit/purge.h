/// Room in the cache folder.
#ifndef PKS_COMMIT_PURGE_H
#define PKS_COMMIT_PURGE_H

#include "store/state.h"

/// Sees that `bytes` more may land in the cache folder of `generation` within its budget: else the least valuable goes, as by
/// `pks_store_purge`, but nothing of the pack `spared`. NO_SPACE when that is not enough.
pks_status pks__cache_make_room(
  pks_store *store, const pks__generation *generation, const char *spared, uint64_t bytes, pks_error *error
);

/// How many bytes more may land in the cache folder of `generation` as it is; UINT64_MAX: it has no budget.
uint64_t pks__cache_room(const pks_store *store, const pks__generation *generation);

/// For `pks_store.purge_for_room`: like `pks_store_purge`, at least 16 MiB, so that a full disk is not freed block by block. Safe
/// while the caller stages or commits: its open files stay.
void pks__purge_some(pks_store *store, uint64_t bytes);

#endif
