/// Locks: who writes, who reads which generation, who stages.
///
/// All are open-file-description locks on bytes of two files; the kernel drops them however their holder ends.
///
/// `LOCK`, which only those can open that may write to the store:
///   byte 0                      the writer, exclusive, while it commits
///   byte 2^62 + staging id      a staging staging, exclusive, while `tmp/<staging id>/` is in use
/// Its text names the last writer, for messages; nothing relies on it.
///
/// `READERS`, which all can open that may read the store:
///   byte 0                      locked for a moment by an opening, to see whether the file system has locks
///   byte g, 0 < g < 2^62        readers of generation g, shared
/// Readers' locks block neither readers nor writers: they only show which bytes are locked. So a reader can keep files from being
/// collected, and nothing else.
#ifndef PKS_STORE_LOCKS_H
#define PKS_STORE_LOCKS_H

#include "base/status.h"
#include "platform/vfs.h"

#define PKS__LOCK_FILE "LOCK"
#define PKS__READERS_FILE "READERS"

enum { PKS__STAGING_BITS = 60 };
#define PKS__STAGINGS_BEGIN ((uint64_t)1 << 62)

/// Opens the lock files, which are made when they are missing. READ_ONLY when this user may not write to the store.
pks_status pks__open_lock(const pks_vfs *vfs, pks_vfs_file root, pks_vfs_file *out, pks_error *error);
pks_status pks__open_readers(const pks_vfs *vfs, pks_vfs_file root, pks_vfs_file *out, pks_error *error);

/// Whether `readers` is on a file system without locks, such as NFS without its lock service.
bool pks__lacks_locks(const pks_vfs *vfs, pks_vfs_file readers);

/// How the writer's lock is waited for.
typedef struct pks__wait {
  bool is_refused;  ///< BUSY in place of waiting
  void *context;
  bool (*goes_on)(void *context);  ///< asked before each look; false: CANCELLED. NULL: waits as long as it takes
} pks__wait;

/// Takes the writer's lock, and notes who has it. With BUSY, `error->needed` is the id of the process that has it, or 0.
pks_status pks__lock_writer(const pks_vfs *vfs, pks_vfs_file lock, const pks__wait *wait, pks_error *error);
void pks__unlock_writer(const pks_vfs *vfs, pks_vfs_file lock);

pks_status pks__pin_generation(const pks_vfs *vfs, pks_vfs_file readers, uint64_t generation, pks_error *error);
void pks__unpin_generation(const pks_vfs *vfs, pks_vfs_file readers, uint64_t generation);

/// Whether any generation in [first, end) is read. One system call, for any number of readers.
pks_status pks__is_pinned(
  const pks_vfs *vfs, pks_vfs_file readers, uint64_t first, uint64_t end, bool *pinned, pks_error *error
);

/// Takes a staging's lock at once; `*taken` is false when a living process has it.
pks_status pks__lock_staging(const pks_vfs *vfs, pks_vfs_file lock, uint64_t staging, bool *taken, pks_error *error);
void pks__unlock_staging(const pks_vfs *vfs, pks_vfs_file lock, uint64_t staging);

#endif
