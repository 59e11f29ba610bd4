/// The cache folder: the place of purgeable packs' data, which may be deleted at any moment.
///
/// A generation contains the absolute path of a folder, never derived from the environment. A store's files there are in a folder
/// of its own, named by the store's id and the inode of its directory, so that a copy of a store does not share files with it:
///
///     <cache folder>/<store id>-<inode>/segments/<32 digits>   files of purgeable segments (`segment.h`)
///                                       tmp/<16 digits>/       files of the staging of that number (`staging.h`)
///
/// Nothing depends on these files: missing data is PURGED. The folder may be on another file system than the store's, so nothing is
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

/// Records the cache folder of the newest generation. The mutex must be held. If memory is short, the previous one stays: data in
/// the new one is then purged for this process.
void pks__cache_folder_note(pks_store *store, const char *folder);

/// Opens the file of a purgeable segment, protects it from a purge while it is open, and marks it as used. PKS_VFS_NO_FILE if it is
/// missing, or no cache folder is set.
pks_vfs_file pks__cache_folder_open_segment(pks_store *store, const char *name);

/// Called for each regular file in a folder of the cache folder. False ends the listing.
typedef bool pks__cache_visitor(void *context, const char *name, const pks_vfs_info *info);
pks_status pks__cache_folder_list(
  const pks_store *store, pks_vfs_file root, pks__cache_visitor *visit, void *context, pks_error *error
);

/// Returns the bytes that a file uses according to the file system.
static inline uint64_t pks__cache_file_cost(const pks_vfs_info *info) {
  return info->stored ? info->stored : info->size;
}

/// Returns the size of the store's files in `folder`: data of purgeable packs. A missing folder counts as empty.
pks_status pks__cache_folder_use(const pks_store *store, const char *folder, uint64_t *bytes, pks_error *error);

#endif
