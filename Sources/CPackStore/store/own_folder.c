#include "store/own_folder.h"

#include <errno.h>
#include <string.h>

#include "base/memory.h"

/// Opens a folder and creates the missing folders above it. `path` is cut and restored.
static int open_or_create(const pks_vfs *vfs, char *path, pks_vfs_file *out) {
  int failure = pks__vfs_open_root(vfs, path, false, out);
  if (failure != ENOENT) { return failure; }
  failure = pks__vfs_open_root(vfs, path, true, out);
  if (failure != ENOENT) { return failure; }
  // The folder above is missing as well.
  char *slash = strrchr(path, '/');
  if (!slash || slash == path) { return failure; }
  pks_vfs_file above;
  *slash = 0;
  failure = open_or_create(vfs, path, &above);
  *slash = '/';
  if (failure) { return failure; }
  pks__vfs_close(vfs, above);
  return pks__vfs_open_root(vfs, path, true, out);
}

static int open_parent(const pks__own_folder *folder, bool create, pks_vfs_file *out) {
  if (!create) { return pks__vfs_open_root(folder->vfs, folder->parent, false, out); }
  char *path = pks__copy_text(folder->parent);
  if (!path) { return ENOMEM; }
  int failure = open_or_create(folder->vfs, path, out);
  pks__free(path);
  return failure;
}

static bool is_shared(pks_vfs_privacy privacy) {
  return privacy == PKS_VFS_OTHER_OWNER || privacy == PKS_VFS_WRITABLE_BY_OTHERS;
}

/// A store that several users share may share its folders as well.
static bool is_as_private_as_store(const pks__own_folder *folder, pks_vfs_file own) {
  return !is_shared(pks__vfs_privacy(folder->vfs, own)) || is_shared(pks__vfs_privacy(folder->vfs, folder->store));
}

static int open_in(const pks__own_folder *folder, pks_vfs_file parent, bool create, pks_vfs_file *out) {
  const pks_vfs *vfs = folder->vfs;
  int failure = create ? pks__vfs_make_folder(vfs, parent, folder->name) : EEXIST;
  if (failure && failure != EEXIST) { return failure; }
  bool is_new = !failure;
  failure = pks__vfs_open(vfs, parent, folder->name, PKS_VFS_OPEN_FOLDER, out);
  if (failure) { return failure; }
  failure = is_as_private_as_store(folder, *out) ? 0 : EACCES;
  if (!failure && is_new) { failure = pks__vfs_sync(vfs, parent); }
  if (failure) { pks__vfs_close(vfs, *out); }
  return failure;
}

int pks__own_folder_open(const pks__own_folder *folder, bool create, pks_vfs_file *out) {
  pks_vfs_file parent;
  int failure = open_parent(folder, create, &parent);
  if (!failure) {
    failure = open_in(folder, parent, create, out);
    pks__vfs_close(folder->vfs, parent);
  }
  if (failure) { *out = PKS_VFS_NO_FILE; }
  return failure;
}
