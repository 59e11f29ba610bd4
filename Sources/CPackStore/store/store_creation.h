/// Making a store in an empty folder, and telling an empty folder from a store that lost its control file.
#ifndef PKS_STORE_STORE_CREATION_H
#define PKS_STORE_STORE_CREATION_H

#include "store/state.h"

/// A directory that holds nothing but what an interrupted creation may have left.
pks_status pks__store_check_vacant(pks_store *store, const char *path, pks_error *error);

/// Makes the store unless another process just did: the writer's lock decides.
pks_status pks__store_create(pks_store *store, uint32_t chunk_average, pks_error *error);

/// A directory without a control file was a store if it holds what stores hold.
pks_status pks__store_fail_without_control(const pks_store *store, const char *path, pks_error *error);

/// The same where the control file is there, but is none: empty, for one.
pks_status pks__store_fail_with_other_control(const pks_store *store, const char *path, pks_error *error);

#endif
