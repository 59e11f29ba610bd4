/// A vfs on top of another one that repeats failed reads.
///
/// A repair drops unreadable data: a disk that fails once in a while must not cost an asset. Calls that change something, and
/// listings, are passed on once.
///
/// Reading an unreadable sector in a mapping would end the process. So before a file is mapped for reading, its table is read
/// (`table.h`; nothing else of a mapping is accessed): the failure is then an error.
#ifndef PKS_CHECK_VFS_RETRY_H
#define PKS_CHECK_VFS_RETRY_H

#include "platform/vfs.h"

typedef struct pks__vfs_retry {
  pks_vfs vfs;  ///< whose context is this struct, which must not move
  const pks_vfs *below;
} pks__vfs_retry;

void pks__vfs_retry_init(pks__vfs_retry *patient, const pks_vfs *below);

#endif
