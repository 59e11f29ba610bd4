/// Opening and closing a store.
#ifndef PKS_STORE_H
#define PKS_STORE_H

#include "store/state.h"

/// Opens the existing parts of a store: its directory and its lock. Nothing is read, and no generation is current: the caller
/// creates snapshots from what it finds. NOT_A_STORE if no part exists.
pks_status pks__store_open_parts(pks_store **out, const char *path, const pks_options *options, pks_error *error);

/// Opens the control file of such a store, PKS_VFS_NO_FILE when it is gone. Under the writer's lock: its holder may
/// put another one in its place.
pks_status pks__store_open_control(pks_store *store, pks_error *error);

#endif
