/// Making a store in an empty folder, and telling an empty folder from a store that lost its control file.
#ifndef PKS_STORE_STORE_CREATION_H
#define PKS_STORE_STORE_CREATION_H

#include "store/state.h"

/// Checks that a directory contains nothing except possible leftovers of an interrupted creation.
pks_status pks__store_check_vacant(pks_store *store, const char *path, pks_error *error);

/// Makes the store unless another process just did: the writer's lock decides.
pks_status pks__store_create(pks_store *store, uint32_t chunk_average, pks_error *error);

/// Returns the error for a directory without a control file: it was a store if it contains a store's files.
pks_status pks__store_fail_without_control(const pks_store *store, const char *path, pks_error *error);

/// Returns the error for a directory whose control file is something else, such as an empty file.
pks_status pks__store_fail_with_other_control(const pks_store *store, const char *path, pks_error *error);

#endif
