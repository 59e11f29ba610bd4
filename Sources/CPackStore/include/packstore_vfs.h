/// The seam: everything the core asks of the world outside its own memory.
///
/// Files, folders, mappings, locks, clocks and randomness go through a `pks_vfs`; allocation and threads do not.
/// Put your own in `pks_options.vfs`: begin with a copy of `*pks_vfs_posix()` and replace what you need, as
/// `Tests/Embedding/counting_vfs.c` does.
///
/// Rules
/// - Paths are relative to an open folder, `/`-separated, NUL-terminated; "." is the folder itself. Only `open_root`
///   takes any path.
/// - Handles are small non-negative integers of the implementation; PKS_VFS_NO_FILE is none. Handles are close-on-exec.
/// - Calls return 0 or a positive `errno` value. EINTR, short reads and short writes are
///   handled below this seam: `read_at` gives all bytes up to the end of the file, `write_at` writes all or fails.
/// - Durability: bytes are durable after `sync` of the file; a name (created, renamed, unlinked) after `sync` of its
///   folder. After a failed `sync` nothing about that file may be assumed and the descriptor must not be synced again.
/// - All calls are thread-safe on different handles; `read_at`, `write_at` on one handle too.
#ifndef PACKSTORE_VFS_H
#define PACKSTORE_VFS_H

#include "packstore_base.h"

#ifdef __cplusplus
extern "C" {
#endif

PKS_ASSUME_NONNULL_BEGIN

typedef int32_t pks_vfs_file;
enum { PKS_VFS_NO_FILE = -1 };

/// No mode but those that say so follows a symbolic link in any part of the path: ELOOP, or for a link in the last part
/// ENOTDIR for PKS_VFS_OPEN_FOLDER and EEXIST for PKS_VFS_OPEN_CREATE. None waits: a FIFO, socket or device is EINVAL.
typedef enum pks_vfs_open_mode {
  PKS_VFS_OPEN_READ,         ///< an existing regular file; EISDIR for a folder
  PKS_VFS_OPEN_READ_FOLLOW,  ///< the same, following links
  PKS_VFS_OPEN_READ_WRITE,   ///< an existing regular file
  PKS_VFS_OPEN_CREATE,       ///< a new regular file, mode 0666 & ~umask, read and write; EEXIST when the name is taken
  PKS_VFS_OPEN_OR_CREATE,    ///< read and write, created like that when missing
  /// Read and write, created when missing: for files whose locks only those may take that may write to the open folder.
  /// For all others the file has no permissions, and its owner takes away what others have. A descriptor for reading is
  /// all that a shared lock needs, and a shared lock keeps out an exclusive one.
  PKS_VFS_OPEN_LOCK,
  /// Read only, created when missing with mode 0444 & ~umask: for files on which all take shared locks alone.
  PKS_VFS_OPEN_SHARED_LOCK,
  PKS_VFS_OPEN_FOLDER,         ///< an existing folder, for relative paths, `list` and `sync`
  PKS_VFS_OPEN_FOLDER_FOLLOW,  ///< the same, following links
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
  uint64_t size;    ///< bytes; of a link, the length of its target
  uint64_t stored;  ///< bytes that the file system allotted
  uint64_t device;  ///< with `inode`: identity of the file, to see that a folder walk does not enter the store itself
  uint64_t inode;
  int64_t modified_ns;  ///< modification time, nanoseconds since 1970; compared only with itself, never stored
} pks_vfs_info;

/// Pages of all systems divide this.
enum { PKS_VFS_MAP_GRAIN = 64 * 1024 };

typedef enum pks_vfs_lock_kind { PKS_VFS_LOCK_NONE, PKS_VFS_LOCK_SHARED, PKS_VFS_LOCK_EXCLUSIVE } pks_vfs_lock_kind;

/// Who can change the files of a folder, or one file, besides this process.
typedef enum pks_vfs_privacy {
  PKS_VFS_PRIVATE,             ///< this user and the administrator, on this machine
  PKS_VFS_OTHER_OWNER,         ///< it, or a folder above it, belongs to another user
  PKS_VFS_WRITABLE_BY_OTHERS,  ///< its mode, or that of a folder above it, lets others write
  PKS_VFS_NOT_LOCAL,           ///< it may lie on another machine, or is not known to be on a disk of this one
  PKS_VFS_PRIVACY_UNKNOWN,     ///< the system does not say
} pks_vfs_privacy;

/// Called once per entry of a folder, in no particular order, without "." and "..". `kind` may be PKS_VFS_KIND_OTHER when
/// the file system does not say: `info` decides. Returning false ends the listing.
typedef bool pks_vfs_visitor(void *PKS_NULLABLE context, const char *name, size_t name_length, pks_vfs_kind kind);

typedef struct pks_vfs {
  void *PKS_NULLABLE context;

  /// A folder, by any path; follows links. With `create`, made when missing, and its name made durable.
  int (*open_root)(void *PKS_NULLABLE context, const char *path, bool create, pks_vfs_file *out);
  int (*open
  )(void *PKS_NULLABLE context, pks_vfs_file folder, const char *path, pks_vfs_open_mode mode, pks_vfs_file *out);
  void (*close)(void *PKS_NULLABLE context, pks_vfs_file file);

  int (*info)(void *PKS_NULLABLE context, pks_vfs_file folder, const char *path, bool follow, pks_vfs_info *out);
  int (*info_of)(void *PKS_NULLABLE context, pks_vfs_file file, pks_vfs_info *out);
  /// The target and a NUL; ENAMETOOLONG when both do not fit.
  int (*read_link
  )(void *PKS_NULLABLE context, pks_vfs_file folder, const char *path, char *out, size_t capacity, size_t *length);
  int (*list
  )(void *PKS_NULLABLE context, pks_vfs_file folder, pks_vfs_visitor *visit, void *PKS_NULLABLE visit_context);

  /// Reads up to `byte_count` bytes; `*got` is smaller only at the end of the file.
  int (*read_at
  )(void *PKS_NULLABLE context, pks_vfs_file file, uint64_t offset, void *out, size_t byte_count, size_t *got);
  int (*write_at)(void *PKS_NULLABLE context, pks_vfs_file file, uint64_t offset, const void *bytes, size_t byte_count);
  /// Finds the first data at or after `offset`, [*begin, *end): bytes in front of it, and behind it up to the next data, are holes,
  /// which read as zeros and take no room. Both are UINT64_MAX if only a hole follows, or nothing. A file system without holes has
  /// data from `offset` on. NULL: no holes are known, and all of a file is read
  int (*PKS_NULLABLE find_data
  )(void *PKS_NULLABLE context, pks_vfs_file file, uint64_t offset, uint64_t *begin, uint64_t *end);
  /// Makes the file at least `size` bytes long with room for them on the disk, so that writing to a mapping cannot
  /// fail.
  int (*preallocate)(void *PKS_NULLABLE context, pks_vfs_file file, uint64_t size);
  int (*sync)(void *PKS_NULLABLE context, pks_vfs_file file);  ///< a file, or a folder
  /// Hints: bytes will be read soon (`will_need`), or will not be read again. Errors are ignored.
  void (*advise)(void *PKS_NULLABLE context, pks_vfs_file file, uint64_t offset, uint64_t byte_count, bool will_need);

  int (*make_folder)(void *PKS_NULLABLE context, pks_vfs_file folder, const char *path);  ///< EEXIST when there
  /// Within one root; replaces
  int (*rename)(void *PKS_NULLABLE context, pks_vfs_file folder, const char *from, const char *to);
  int (*unlink)(void *PKS_NULLABLE context, pks_vfs_file folder, const char *path, bool is_folder);

  /// Maps `[0, byte_count)` of the file, shared if the file system has shared mappings: a file whose changes must be seen is
  /// mapped only if `map_is_live`. `*out` stays valid after `close` and `unlink` until `unmap`.
  int (*map
  )(void *PKS_NULLABLE context, pks_vfs_file file, size_t byte_count, bool writable,
    void *PKS_NULLABLE *PKS_NONNULL out);
  void (*unmap)(void *PKS_NULLABLE context, void *address, size_t byte_count);
  /// Whether a mapping of the file shows at once what other processes write to it, and only this user can cut the
  /// file short, which would make looking at it fault. False when in doubt.
  bool (*map_is_live)(void *PKS_NULLABLE context, pks_vfs_file file);
  /// Maps `byte_count` bytes at `offset`, a multiple of PKS_VFS_MAP_GRAIN, as memory of the caller's own: readable and
  /// writable, and what is written never reaches the file. `unmap` as above.
  int (*map_private
  )(void *PKS_NULLABLE context, pks_vfs_file file, uint64_t offset, size_t byte_count,
    void *PKS_NULLABLE *PKS_NONNULL out);

  /// Who can change an open file or, if it is a folder, the files in it: then all folders above are looked at as well.
  /// A folder that others may write to is none of theirs if it is sticky, as `/tmp` is.
  pks_vfs_privacy (*privacy)(void *PKS_NULLABLE context, pks_vfs_file file);

  /// A new file without a name that lies in memory; ENOSYS where there is no such thing. `seal` makes it unchangeable.
  int (*memory_file)(void *PKS_NULLABLE context, const char *label, pks_vfs_file *out);
  int (*seal)(void *PKS_NULLABLE context, pks_vfs_file file);
  /// Sets a file's modification time to now. What is read last is known by it.
  int (*touch)(void *PKS_NULLABLE context, pks_vfs_file folder, const char *path);

  /// Open-file-description locks on `length` bytes at `offset`: taken at once or EAGAIN. Gone when the last descriptor of
  /// this opening closes, however the process ends.
  int (*lock)(void *PKS_NULLABLE context, pks_vfs_file file, uint64_t offset, uint64_t length, pks_vfs_lock_kind kind);
  /// Whether another opening's lock would stand in the way of an exclusive one.
  int (*lock_held)(void *PKS_NULLABLE context, pks_vfs_file file, uint64_t offset, uint64_t length, bool *held);

  int64_t (*now_ns)(void *PKS_NULLABLE context);        ///< wall clock, nanoseconds since 1970
  int64_t (*monotonic_ns)(void *PKS_NULLABLE context);  ///< for rates and progress only
  /// Lets that much time pass, or less when a signal comes. EDEADLK where a simulator sees that nothing can change.
  int (*sleep_ns)(void *PKS_NULLABLE context, int64_t ns);
  /// Unpredictable bytes, for names and ids only
  int (*random)(void *PKS_NULLABLE context, void *out, size_t byte_count);
  uint32_t (*processor_count)(void *PKS_NULLABLE context);  ///< threads worth starting, >= 1; a simulator says 1
  /// Differs after every start of the machine
  int (*boot_id)(void *PKS_NULLABLE context, uint8_t out[PKS_NONNULL 16]);
  uint64_t (*process_id)(void *PKS_NULLABLE context);  ///< told to those that wait for a lock
  /// A word that has another value in a forked child: looking at it takes the place of a system call. It is the caller's
  /// until `fork_unmark`.
  int (*fork_mark)(void *PKS_NULLABLE context, const uint32_t *PKS_NULLABLE *PKS_NONNULL out);
  void (*fork_unmark)(void *PKS_NULLABLE context, const uint32_t *mark);
  /// Room left for this user, for messages
  int (*free_bytes)(void *PKS_NULLABLE context, pks_vfs_file folder, uint64_t *out);

  /// Not a call of the machine's, and NULL in tables of one's own: in the table of a store that was opened with
  /// `pks_options.low_space`, makes room after a call failed with ENOSPC or EDQUOT. True: the call is made once more
  bool (*PKS_NULLABLE make_room)(void *PKS_NULLABLE room_context, uint64_t byte_count);
  void *PKS_NULLABLE room_context;
} pks_vfs;

/// The machine itself: Linux and macOS. Static.
const pks_vfs *pks_vfs_posix(void);

/// Whether room that was preallocated for an open file of `pks_vfs_posix` stays the file's when it is written more than once: it
/// does on ext2 to ext4 and XFS, which write in place; of others that is not known. A mapping that is written to for long needs it,
/// for a disk that is full is a signal there.
bool pks_vfs_posix_keeps_room(pks_vfs_file file);

PKS_ASSUME_NONNULL_END

#ifdef __cplusplus
}
#endif

#endif
