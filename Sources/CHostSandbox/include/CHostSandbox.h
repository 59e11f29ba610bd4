/// Confinement of a process that reads untrusted files: Landlock for files and TCP, seccomp for system calls. On other systems than
/// Linux, nothing is available.
///
/// Both confine the calling thread, and the threads and processes that it creates later. Confinement cannot be undone.

#ifndef CHOSTSANDBOX_H
#define CHOSTSANDBOX_H

#include <stdbool.h>

/// Returns the version of Landlock that the kernel offers; 0 if it offers none, or only version 1, which a worker cannot use.
int pkhs_landlock_version(void);

/// Permits access to these files and folders only. A missing path is ignored.
///
/// @param readable  paths that may be read and executed; ends with NULL
/// @param writable  folders in which files may be read, created, changed and deleted; ends with NULL
/// @return 0; an error number, such as ENOSYS without Landlock
int pkhs_confine_files(const char *const *readable, const char *const *writable);

/// Returns whether the kernel and this processor support `pkhs_confine_calls`.
bool pkhs_has_seccomp(void);

/// Refuses with EPERM: sockets, new processes and programs, signals and limits of other processes, `truncate`, and
/// administration of the system.
///
/// @param all_threads  whether to confine all threads of the process
/// @return 0; an error number, such as ENOSYS without seccomp
int pkhs_confine_calls(bool all_threads);

#endif
