/// The folders of `incoming/`: downloaded data that is not committed yet, one folder for each version.
///
/// Each folder has a journal, and the process that works in the folder holds the journal's lock. `transfer/transfer_staging.h`
/// defines its other contents; this file is for all writers, which delete abandoned folders.
#ifndef PKS_INGEST_INCOMING_FOLDERS_H
#define PKS_INGEST_INCOMING_FOLDERS_H

#include "store/state.h"

#define PKS__INCOMING_JOURNAL "journal"
enum {
  PKS__INCOMING_PATH = 2 * PKS__INDEX_NAME,  ///< room for the path of a file
  /// The first byte of a journal's first record. The id of the catalog and the pack's name follow.
  PKS__INCOMING_OWNER = 1,
};

/// Locks a journal; `*taken` is false when another process has it. Returns an errno.
int pks__incoming_lock(pks_store *store, pks_vfs_file journal, bool *taken);
/// Whether the path still refers to the open file: its last owner may have deleted it.
bool pks__incoming_is_named(pks_store *store, pks_vfs_file file, const char *path);

/// Unlinks the files of a folder that `keeps` (may be NULL) does not want to stay; the journal last, for as long as it is
/// there the folder has an owner. What cannot be unlinked stays.
void pks__incoming_clear(
  pks_store *store, const char *path, bool (*keeps)(const void *context, const char *name), const void *context
);
void pks__incoming_remove(pks_store *store, const char *path);  ///< the folder too

/// Removes the folders in which nothing changed for a week. What cannot be removed stays for the next time.
void pks__incoming_sweep(pks_store *store);
/// Removes the folders of a pack in which no process works: another version of it came. What cannot be removed stays.
void pks__incoming_remove_of(pks_store *store, const char *pack);

#endif
