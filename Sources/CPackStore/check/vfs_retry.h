/// A seam over another that tries again what failed to be read.
///
/// A repair drops what cannot be read: a disk that fails once in a while must not cost an asset. Calls
/// that change something, and listings, go through once.
///
/// A sector that cannot be read would end the process when it is looked at in a mapping. So before a file is mapped for
/// reading, its table is read (`table.h`; nothing else of a mapping is looked at): the failure to read is an error then.
#ifndef PKS_CHECK_VFS_RETRY_H
#define PKS_CHECK_VFS_RETRY_H

#include "platform/vfs.h"

typedef struct pks__vfs_retry {
  pks_vfs vfs;  ///< whose context is this struct, which must not move
  const pks_vfs *below;
} pks__vfs_retry;

void pks__vfs_retry_init(pks__vfs_retry *patient, const pks_vfs *below);

#endif
