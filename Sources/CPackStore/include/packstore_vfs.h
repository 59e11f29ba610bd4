/// The interface between the core and the machine.
///
/// The core accesses files, folders, mappings, locks, clocks and random numbers only through a `pks_vfs`; memory allocation and
/// threads are separate. To replace it, copy `*pks_vfs_posix()`, replace functions, and set `pks_options.vfs`.
/// `Tests/Embedding/counting_vfs.c` is an example.
///
/// Rules
/// - Paths are relative to an open folder, `/`-separated and NUL-terminated; "." is the folder itself. Only `open_root` accepts any
///   path.
/// - Handles are small non-negative integers chosen by the implementation and are close-on-exec. PKS_VFS_NO_FILE is not a handle.
/// - Calls return 0 or a positive `errno` value. The implementation handles EINTR, short reads and short writes: `read_at` returns
///   all bytes up to the end of the file, and `write_at` writes all bytes or fails.
/// - Durability: the bytes of a file are durable after `sync` of the file; a name that was created, renamed or unlinked is durable
///   after `sync` of its folder. After a failed `sync`, the state of the file is unknown, and the descriptor must not be synced
///   again.
/// - All calls are thread-safe on different handles; `read_at` and `write_at` also on one handle.
#ifndef PACKSTORE_VFS_H
#define PACKSTORE_VFS_H

#include "packstore_base.h"

#ifdef __cplusplus
extern "C" {
#endif

PKS_ASSUME_NONNULL_BEGIN

typedef int32_t pks_vfs_file;
enum { PKS_VFS_NO_FILE = -1 };

/// How to open a file or folder. Except in the modes that follow links, a symbolic link in any part of the path is ELOOP; in the
/// last part it is ENOTDIR for PKS_VFS_OPEN_FOLDER and EEXIST for PKS_VFS_OPEN_CREATE. Opening never waits: a FIFO, socket or
/// device is EINVAL.
typedef enum pks_vfs_open_mode {
  PKS_VFS_OPEN_READ,         ///< an existing regular file; EISDIR for a folder
  PKS_VFS_OPEN_READ_FOLLOW,  ///< an existing regular file, following links
  PKS_VFS_OPEN_READ_WRITE,   ///< an existing regular file
  PKS_VFS_OPEN_CREATE,       ///< a new regular file, mode 0666 & ~umask, read and write; EEXIST if the name exists
  PKS_VFS_OPEN_OR_CREATE,    ///< read and write; created in the same way if missing
  /// Read and write, created if missing: for files that only users with write access to the open folder may lock. Other users have
  /// no permissions on the file; if they have some, its owner removes them. This is necessary because a descriptor for reading is
  /// sufficient for a shared lock, and a shared lock prevents an exclusive one.
  PKS_VFS_OPEN_LOCK,
  /// Read only, created if missing with mode 0444 & ~umask: for files on which every user takes only shared locks.
  PKS_VFS_OPEN_SHARED_LOCK,
  PKS_VFS_OPEN_FOLDER,         ///< an existing folder, for relative paths, `list` and `sync`
  PKS_VFS_OPEN_FOLDER_FOLLOW,  ///< an existing folder, following links
} pks_vfs_open_mode;

typedef enum pks_vfs_kind {
  PKS_VFS_KIND_FILE,
  PKS_VFS_KIND_FOLDER,
  PKS_VFS_KIND_LINK,
  PKS_VFS_KIND_OTHER,  ///< socket, device, FIFO
} pks_vfs_kind;

typedef struct pks_vfs_info {
  pks_vfs_kind kind;
  bool executable;  ///< any execute bit of a regular file
  uint64_t size;    ///< bytes; for a link, the length of its target
  uint64_t stored;  ///< bytes allocated by the file system
  uint64_t device;  ///< with `inode`: the file's identity, so that a folder walk can skip the store itself
  uint64_t inode;
  int64_t modified_ns;  ///< modification time, nanoseconds since 1970; compared only with itself, never stored
} pks_vfs_info;

/// A multiple of the page size of all supported systems.
enum { PKS_VFS_MAP_GRAIN = 64 * 1024 };

typedef enum pks_vfs_lock_kind { PKS_VFS_LOCK_NONE, PKS_VFS_LOCK_SHARED, PKS_VFS_LOCK_EXCLUSIVE } pks_vfs_lock_kind;

/// Who can change a file, or the files of a folder, besides this process.
typedef enum pks_vfs_privacy {
  PKS_VFS_PRIVATE,             ///< this user and the administrator, on this machine
  PKS_VFS_OTHER_OWNER,         ///< it, or a folder above it, belongs to another user
  PKS_VFS_WRITABLE_BY_OTHERS,  ///< its mode, or the mode of a folder above it, lets others write
  PKS_VFS_NOT_LOCAL,           ///< it is on another machine, or not known to be on a disk of this machine
  PKS_VFS_PRIVACY_UNKNOWN,     ///< the system does not report it
} pks_vfs_privacy;

/// Called once per entry of a folder, in no particular order, without "." and "..". `kind` may be PKS_VFS_KIND_OTHER if the file
/// system does not report it; `info` then returns it. False ends the listing.
typedef bool pks_vfs_visitor(void *PKS_NULLABLE context, const char *name, size_t name_length, pks_vfs_kind kind);

typedef struct pks_vfs {
  void *PKS_NULLABLE context;

  /// Opens a folder by any path, following links. With `create`, creates a missing folder and makes its name durable.
  int (*open_root)(void *PKS_NULLABLE context, const char *path, bool create, pks_vfs_file *out);
  int (*open
  )(void *PKS_NULLABLE context, pks_vfs_file folder, const char *path, pks_vfs_open_mode mode, pks_vfs_file *out);
  void (*close)(void *PKS_NULLABLE context, pks_vfs_file file);

  int (*info)(void *PKS_NULLABLE context, pks_vfs_file folder, const char *path, bool follow, pks_vfs_info *out);
  int (*info_of)(void *PKS_NULLABLE context, pks_vfs_file file, pks_vfs_info *out);
  /// Reads the target, followed by a NUL; ENAMETOOLONG if both do not fit.
  int (*read_link
  )(void *PKS_NULLABLE context, pks_vfs_file folder, const char *path, char *out, size_t capacity, size_t *length);
  int (*list
  )(void *PKS_NULLABLE context, pks_vfs_file folder, pks_vfs_visitor *visit, void *PKS_NULLABLE visit_context);

  /// Reads up to `byte_count` bytes; `*got` is smaller only at the end of the file.
  int (*read_at
  )(void *PKS_NULLABLE context, pks_vfs_file file, uint64_t offset, void *out, size_t byte_count, size_t *got);
  int (*write_at)(void *PKS_NULLABLE context, pks_vfs_file file, uint64_t offset, const void *bytes, size_t byte_count);
  /// Finds the first data at or after `offset`, [*begin, *end). Bytes before it, and after it up to the next data, are holes, which
  /// read as zeros and use no disk space. Both are UINT64_MAX if only a hole or nothing follows. On a file system without holes,
  /// data begins at `offset`. NULL: holes are not detected, and files are read in full
  int (*PKS_NULLABLE find_data
  )(void *PKS_NULLABLE context, pks_vfs_file file, uint64_t offset, uint64_t *begin, uint64_t *end);
  /// Makes the file at least `size` bytes long and allocates disk space for them, so that writing to a mapping cannot fail.
  int (*preallocate)(void *PKS_NULLABLE context, pks_vfs_file file, uint64_t size);
  int (*sync)(void *PKS_NULLABLE context, pks_vfs_file file);  ///< a file, or a folder
  /// Hints: bytes will be read soon (`will_need`), or will not be read again. Errors are ignored.
  void (*advise)(void *PKS_NULLABLE context, pks_vfs_file file, uint64_t offset, uint64_t byte_count, bool will_need);

  int (*make_folder)(void *PKS_NULLABLE context, pks_vfs_file folder, const char *path);  ///< EEXIST if it exists
  /// Both paths are in one folder tree; replaces an existing file
  int (*rename)(void *PKS_NULLABLE context, pks_vfs_file folder, const char *from, const char *to);
  int (*unlink)(void *PKS_NULLABLE context, pks_vfs_file folder, const char *path, bool is_folder);

  /// Maps `[0, byte_count)` of the file, shared if the file system supports shared mappings. A file whose changes must be visible
  /// is mapped only if `map_is_live`. `*out` stays valid after `close` and `unlink`, until `unmap`.
  int (*map
  )(void *PKS_NULLABLE context, pks_vfs_file file, size_t byte_count, bool writable,
    void *PKS_NULLABLE *PKS_NONNULL out);
  void (*unmap)(void *PKS_NULLABLE context, void *address, size_t byte_count);
  /// Whether a mapping of the file immediately shows writes of other processes, and only this user can truncate the file, which
  /// would make access to the mapping fault. False when in doubt.
  bool (*map_is_live)(void *PKS_NULLABLE context, pks_vfs_file file);
  /// Maps `byte_count` bytes at `offset`, a multiple of PKS_VFS_MAP_GRAIN, as private memory: readable and writable, and writes
  /// never reach the file. Released with `unmap`.
  int (*map_private
  )(void *PKS_NULLABLE context, pks_vfs_file file, uint64_t offset, size_t byte_count,
    void *PKS_NULLABLE *PKS_NONNULL out);

  /// Returns who can change an open file; for a folder, who can change the files in it, which includes a check of all folders
  /// above. A sticky folder above, such as `/tmp`, does not count as writable by others.
  pks_vfs_privacy (*privacy)(void *PKS_NULLABLE context, pks_vfs_file file);

  /// Creates a file in memory, without a name; ENOSYS if the system does not support it. `seal` makes it immutable.
  int (*memory_file)(void *PKS_NULLABLE context, const char *label, pks_vfs_file *out);
  int (*seal)(void *PKS_NULLABLE context, pks_vfs_file file);
  /// Sets a file's modification time to now. It serves as the time of last use.
  int (*touch)(void *PKS_NULLABLE context, pks_vfs_file folder, const char *path);

  /// Takes an open-file-description lock on `length` bytes at `offset`, or returns EAGAIN at once. The lock ends when the last
  /// descriptor of this opening closes, even if the process is killed.
  int (*lock)(void *PKS_NULLABLE context, pks_vfs_file file, uint64_t offset, uint64_t length, pks_vfs_lock_kind kind);
  /// Whether the lock of another opening would prevent an exclusive lock.
  int (*lock_held)(void *PKS_NULLABLE context, pks_vfs_file file, uint64_t offset, uint64_t length, bool *held);

  int64_t (*now_ns)(void *PKS_NULLABLE context);        ///< wall clock, nanoseconds since 1970
  int64_t (*monotonic_ns)(void *PKS_NULLABLE context);  ///< for rates and progress only
  /// Sleeps for `ns` nanoseconds, or less if a signal arrives. EDEADLK if a simulator detects that nothing can change.
  int (*sleep_ns)(void *PKS_NULLABLE context, int64_t ns);
  /// Generates unpredictable bytes, for names and ids only
  int (*random)(void *PKS_NULLABLE context, void *out, size_t byte_count);
  uint32_t (*processor_count)(void *PKS_NULLABLE context);  ///< number of threads to start, >= 1; 1 in a simulator
  /// Returns an id that differs after every start of the machine
  int (*boot_id)(void *PKS_NULLABLE context, uint8_t out[PKS_NONNULL 16]);
  uint64_t (*process_id)(void *PKS_NULLABLE context);  ///< shown to processes that wait for a lock
  /// Returns the address of a word whose value differs in a forked child, so that checking for a fork needs no system call. Valid
  /// until `fork_unmark`.
  int (*fork_mark)(void *PKS_NULLABLE context, const uint32_t *PKS_NULLABLE *PKS_NONNULL out);
  void (*fork_unmark)(void *PKS_NULLABLE context, const uint32_t *mark);
  /// Returns the disk space available to this user, for messages
  int (*free_bytes)(void *PKS_NULLABLE context, pks_vfs_file folder, uint64_t *out);

  /// Set by the core only, NULL in other tables. For a store with `pks_options.low_space`, frees space after a call failed with
  /// ENOSPC or EDQUOT. True: the call is made once more
  bool (*PKS_NULLABLE make_room)(void *PKS_NULLABLE room_context, uint64_t byte_count);
  void *PKS_NULLABLE room_context;
} pks_vfs;

/// The implementation for Linux and macOS. Static.
const pks_vfs *pks_vfs_posix(void);

/// Whether preallocated space of an open file of `pks_vfs_posix` stays allocated when the file is overwritten. True on ext2 to ext4
/// and XFS, which write in place; false if unknown. Mappings that are written for a long time require it, because a full disk
/// raises a signal there.
bool pks_vfs_posix_keeps_room(pks_vfs_file file);

PKS_ASSUME_NONNULL_END

#ifdef __cplusplus
}
#endif

#endif
