/// The cache folder: where the data of purgeable packs lies, which may vanish at any moment.
///
/// A generation names a folder, by an absolute path that is never worked out from the environment. What one store keeps there
/// lies in a folder of its own, named by the store's id and the inode of its directory, so that a copy of a store does not share
/// files with it:
///
///     <cache folder>/<store id>-<inode>/segments/<32 digits>   files of purgeable segments (`segment.h`)
///                                       tmp/<16 digits>/       files of the staging of that number (`staging.h`)
///
/// Nothing relies on what lies there: what is gone is PURGED. It may be another file system than the store's, so nothing is
/// renamed from one to the other.
#ifndef PKS_STORE_CACHE_FOLDER_H
#define PKS_STORE_CACHE_FOLDER_H

#include "store/state.h"

/// Opens the store's own folder in `folder` (`own_folder.h`). With `create` it is created if missing, with all folders in it and
/// above it. `*out` is PKS_VFS_NO_FILE after an error. Errors: IO_ERROR, which names `folder`, also if the store's own folder is a
/// link or others can write to it; OUT_OF_MEMORY.
pks_status pks__cache_folder_open(
  const pks_store *store, const char *folder, bool create, pks_vfs_file *out, pks_error *error
);

/// Notes the cache folder of the newest generation. The mutex is held. When memory is short the one before stays: what lies in
/// the new one is purged for this process.
void pks__cache_folder_note(pks_store *store, const char *folder);

/// Opens the file of a purgeable segment, holds it against a purge as long as it is open, and notes that it is used.
/// PKS_VFS_NO_FILE where it is not there, or there is no cache folder.
pks_vfs_file pks__cache_folder_open_segment(pks_store *store, const char *name);

/// What lies in a folder of the cache folder, one after another: `name` is that of a regular file. False ends it.
typedef bool pks__cache_visitor(void *context, const char *name, const pks_vfs_info *info);
pks_status pks__cache_folder_list(
  const pks_store *store, pks_vfs_file root, pks__cache_visitor *visit, void *context, pks_error *error
);

/// Bytes that a file takes, as far as the file system says.
static inline uint64_t pks__cache_file_cost(const pks_vfs_info *info) {
  return info->stored ? info->stored : info->size;
}

/// What the store's files in `folder` take: data of purgeable packs. What is not there takes nothing.
pks_status pks__cache_folder_use(const pks_store *store, const char *folder, uint64_t *bytes, pks_error *error);

#endif
