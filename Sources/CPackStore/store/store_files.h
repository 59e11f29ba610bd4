/// Folders and files of a store, made and synced.
#ifndef PKS_STORE_STORE_FILES_H
#define PKS_STORE_STORE_FILES_H

#include "store/state.h"

/// Makes the store's folders where they are missing.
pks_status pks__store_make_folders(pks_store *store, pks_error *error);

/// Syncs a folder or a file of the store. With `may_be_gone` a file that is not there is not missed.
pks_status pks__store_sync_folder(const pks_store *store, const char *path, pks_error *error);

pks_status pks__store_sync_file(const pks_store *store, const char *path, bool may_be_gone, pks_error *error);

#endif
