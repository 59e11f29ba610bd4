/// The lock bytes by which the snapshots of a process hold their generations: one opening of `READERS` has them all.
#ifndef PKS_STORE_GENERATION_PIN_H
#define PKS_STORE_GENERATION_PIN_H

#include "store/state.h"

/// Takes the byte of a generation for a snapshot that is about to be made. The lock `opening` is held.
pks_status pks__store_pin(pks_store *store, uint64_t generation, pks_error *error);

/// Releases the byte of a generation unless a snapshot, or one about to be created, needs it. All of a store's pins belong to one
/// opening of `READERS`, which holds a byte or does not, regardless of how often it was taken.
void pks__store_unpin(pks_store *store, uint64_t generation);

/// Ends what `pks__store_pin` began: the byte is the snapshot's now, or is given back when that is NULL.
void pks__store_finish_pin(pks_store *store, pks_snapshot *snapshot, uint64_t generation);

#endif
