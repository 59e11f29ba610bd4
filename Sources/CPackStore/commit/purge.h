/// Room in the cache folder.
#ifndef PKS_COMMIT_PURGE_H
#define PKS_COMMIT_PURGE_H

#include "store/state.h"

/// Sees that `bytes` more may land in the cache folder of `generation` within its budget: else the least valuable goes, as by
/// `pks_store_purge`, but nothing of the pack `spared`. NO_SPACE when that is not enough.
pks_status pks__cache_make_room(
  pks_store *store, const pks__generation *generation, const char *spared, uint64_t bytes, pks_error *error
);

#endif
