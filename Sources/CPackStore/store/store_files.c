#include "store/store_files.h"

#include <errno.h>

pks_status pks__store_make_folders(pks_store *store, pks_error *error) {
  static const char *const folders[] = {PKS__INDEX_FOLDER, PKS__SEGMENTS_FOLDER, PKS__TMP_FOLDER};
  for (size_t i = 0; i < PKS_COUNT_OF(folders); i++) {
    int failure = pks__vfs_make_folder(store->vfs, store->root, folders[i]);
    if (failure && failure != EEXIST) { return pks__fail_system(error, failure, "cannot create", folders[i]); }
  }
  return PKS_OK;
}

static pks_status sync(
  const pks_store *store, const char *path, pks_vfs_open_mode mode, bool may_be_gone, pks_error *error
) {
  const pks_vfs *vfs = store->vfs;
  pks_vfs_file file = PKS_VFS_NO_FILE;
  int failure = pks__vfs_open(vfs, store->root, path, mode, &file);
  if (failure == ENOENT && may_be_gone) { return PKS_OK; }
  if (!failure) {
    failure = pks__vfs_sync(vfs, file);
    pks__vfs_close(vfs, file);
  }
  return failure ? pks__fail_system(error, failure, "cannot sync", path) : PKS_OK;
}

pks_status pks__store_sync_folder(const pks_store *store, const char *path, pks_error *error) {
  return sync(store, path, PKS_VFS_OPEN_FOLDER, false, error);
}

pks_status pks__store_sync_file(const pks_store *store, const char *path, bool may_be_gone, pks_error *error) {
  return sync(store, path, PKS_VFS_OPEN_READ, may_be_gone, error);
}
