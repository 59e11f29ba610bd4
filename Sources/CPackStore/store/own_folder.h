/// A store's own folder in a folder that the user named, such as a cache folder: other users and programs may create files in the
/// user's folder.
///
/// The path of the user may lead through links. The store's own folder is opened by its name below it, never through a link, and
/// only if everyone who can write to it can write to the store as well. So no name that another user or program creates leads the
/// store to delete, replace or read files elsewhere.
#ifndef PKS_STORE_OWN_FOLDER_H
#define PKS_STORE_OWN_FOLDER_H

#include "platform/vfs.h"

typedef struct pks__own_folder {
  const pks_vfs *vfs;
  pks_vfs_file store;  ///< the store's directory, which must be at most as private as the folder
  const char *parent;  ///< the user's path
  const char *name;    ///< one name below it
} pks__own_folder;

/// Opens the folder. With `create`, missing folders are created and made durable, `parent` and those above it included.
/// Returns an errno: ENOENT if it is missing, ENOTDIR or ELOOP if it is a link, EACCES if others can write to it.
int pks__own_folder_open(const pks__own_folder *folder, bool create, pks_vfs_file *out);

#endif
