/// The seam over the machine itself: Linux and macOS.
#ifndef PKS_PLATFORM_VFS_POSIX_H
#define PKS_PLATFORM_VFS_POSIX_H

#include "platform/vfs.h"

/// The machine's `fork_mark` where the kernel cannot wipe a child's pages: a word that counts forks. It misses children
/// that were made without `fork`, by a bare system call. Here for tests.
int pks__vfs_posix_count_forks(void *context, const uint32_t **out);

#endif
