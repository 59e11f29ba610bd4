/// The snapshot of the generation that the control file names.
#ifndef PKS_STORE_CURRENT_H
#define PKS_STORE_CURRENT_H

#include "store/state.h"

/// The snapshot of the newest generation, with a reference for the caller.
pks_status pks__snapshot_open_current(pks_snapshot **out, pks_store *store, pks_error *error);

/// The snapshot of an older generation, which must be pinned, or must not be collected for another reason.
pks_status pks__snapshot_open_number(pks_snapshot **out, pks_store *store, uint64_t number, pks_error *error);

/// Lets go of the snapshot that the store keeps to itself, unless a caller of this process has it or any other: then its files
/// are open no more. The next opening makes it again.
void pks__snapshot_drop_idle(pks_store *store);

#endif
