/// The seam: everything the core asks of the world outside its own memory.
///
/// Files, folders, mappings, locks, clocks and randomness go through a `pks_vfs`; allocation through `memory.h`,
/// threads through `threads.h`. Nothing but `vfs_posix.c`, `memory.c` and `threads.c` may import a system call, which
/// CI checks by the symbols that each object file imports. Tests put a simulated disk here that loses, tears and
/// reorders what was not synced.
///
/// Rules
/// - Paths are relative to an open folder, `/`-separated, NUL-terminated; "." is the folder itself. Only `open_root`
///   takes any path.
/// - Handles are small non-negative integers of the implementation; PKS__NO_FILE is none. Handles are close-on-exec.
/// - Calls return 0 or a positive `errno` value (`PKS__E...` are errno's). EINTR, short reads and short writes are
///   handled below
///   this seam: `read_at` gives all bytes up to the end of the file, `write_at` writes all or fails.
/// - Durability: bytes are durable after `sync` of the file; a name (created, renamed, unlinked) after `sync` of its
///   folder.
///   After a failed `sync` nothing about that file may be assumed and the descriptor must not be synced again.
/// - All calls are thread-safe on different handles; `read_at`, `write_at` on one handle too.
#ifndef PKS_PLATFORM_VFS_H
#define PKS_PLATFORM_VFS_H

#include <sys/types.h>

#include "base/base.h"

typedef int32_t pks__file;
enum { PKS__NO_FILE = -1 };

/// No mode but those that say so follows a symbolic link in any part of the path: ELOOP, or for a link in the last part
/// ENOTDIR for PKS__OPEN_FOLDER and EEXIST for PKS__OPEN_CREATE. None waits: a FIFO, socket or device is EINVAL.
typedef enum pks__open_mode {
  PKS__OPEN_READ,         ///< an existing regular file; EISDIR for a folder
  PKS__OPEN_READ_FOLLOW,  ///< the same, following links
  PKS__OPEN_READ_WRITE,   ///< an existing regular file
  PKS__OPEN_CREATE,       ///< a new regular file, mode 0666 & ~umask, read and write; EEXIST when the name is taken
  PKS__OPEN_OR_CREATE,    ///< read and write, created like that when missing
  /// Read and write, created when missing: for files whose locks only those may take that may write to the open folder.
  /// For all others the file has no permissions, and its owner takes away what others have. A descriptor for reading is
  /// all that a shared lock needs, and a shared lock keeps out an exclusive one.
  PKS__OPEN_LOCK,
  /// Read only, created when missing with mode 0444 & ~umask: for files on which all take shared locks alone.
  PKS__OPEN_SHARED_LOCK,
  PKS__OPEN_FOLDER,         ///< an existing folder, for relative paths, `list` and `sync`
  PKS__OPEN_FOLDER_FOLLOW,  ///< the same, following links
} pks__open_mode;

typedef enum pks__file_kind {
  PKS__KIND_FILE,
  PKS__KIND_FOLDER,
  PKS__KIND_LINK,
  PKS__KIND_OTHER,  ///< socket, device, FIFO
} pks__file_kind;

typedef struct pks__file_info {
  pks__file_kind kind;
  bool executable;  ///< any execute bit of a regular file
  uint64_t size;    ///< bytes; of a link, the length of its target
  uint64_t stored;  ///< bytes that the file system allotted
  uint64_t device;  ///< with `inode`: identity of the file, to see that a folder walk does not enter the store itself
  uint64_t inode;
  int64_t modified_ns;  ///< modification time, nanoseconds since 1970; compared only with itself, never stored
} pks__file_info;

/// Pages of all systems divide this.
enum { PKS__MAP_GRAIN = 64 * 1024 };

typedef enum pks__lock_kind { PKS__LOCK_NONE, PKS__LOCK_SHARED, PKS__LOCK_EXCLUSIVE } pks__lock_kind;

/// Called once per entry of a folder, in no particular order, without "." and "..". `kind` may be PKS__KIND_OTHER when
/// the file system does not say: `info` decides. Returning false ends the listing.
typedef bool pks__list_visitor(void *context, const char *name, size_t name_length, pks__file_kind kind);

typedef struct pks_vfs {
  void *context;

  /// A folder, by any path; follows links. With `create`, made when missing, and its name made durable.
  int (*open_root)(void *context, const char *path, bool create, pks__file *out);
  int (*open)(void *context, pks__file folder, const char *path, pks__open_mode mode, pks__file *out);
  void (*close)(void *context, pks__file file);

  int (*info)(void *context, pks__file folder, const char *path, bool follow, pks__file_info *out);
  int (*info_of)(void *context, pks__file file, pks__file_info *out);
  /// The target and a NUL; ENAMETOOLONG when both do not fit.
  int (*read_link)(void *context, pks__file folder, const char *path, char *out, size_t capacity, size_t *length);
  int (*list)(void *context, pks__file folder, pks__list_visitor *visit, void *visit_context);

  /// Reads up to `byte_count` bytes; `*got` is smaller only at the end of the file.
  int (*read_at)(void *context, pks__file file, uint64_t offset, void *out, size_t byte_count, size_t *got);
  int (*write_at)(void *context, pks__file file, uint64_t offset, const void *bytes, size_t byte_count);
  /// Makes the file at least `size` bytes long with room for them on the disk, so that writing to a mapping cannot
  /// fail.
  int (*preallocate)(void *context, pks__file file, uint64_t size);
  int (*sync)(void *context, pks__file file);  ///< a file, or a folder
  /// Hints: bytes will be read soon (`will_need`), or will not be read again. Errors are nobody's concern.
  void (*advise)(void *context, pks__file file, uint64_t offset, uint64_t byte_count, bool will_need);

  int (*make_folder)(void *context, pks__file folder, const char *path);             ///< EEXIST when there
  int (*rename)(void *context, pks__file folder, const char *from, const char *to);  ///< within one root; replaces
  int (*unlink)(void *context, pks__file folder, const char *path, bool is_folder);

  /// Maps `[0, byte_count)` of the file, shared. `*out` stays valid after `close` and `unlink` until `unmap`.
  int (*map)(void *context, pks__file file, size_t byte_count, bool writable, void **out);
  void (*unmap)(void *context, void *address, size_t byte_count);
  /// Whether a mapping of the file shows at once what other processes write to it, and nobody but this user can cut the
  /// file short, which would make looking at it fault. False when in doubt.
  bool (*map_is_live)(void *context, pks__file file);
  /// Maps `byte_count` bytes at `offset`, a multiple of PKS__MAP_GRAIN, as memory of the caller's own: readable and
  /// writable, and what is written never reaches the file. `unmap` as above.
  int (*map_private)(void *context, pks__file file, uint64_t offset, size_t byte_count, void **out);

  /// A new file without a name that lies in memory; ENOSYS where there is no such thing. `seal` makes it unchangeable.
  int (*memory_file)(void *context, const char *label, pks__file *out);
  int (*seal)(void *context, pks__file file);
  /// Sets a file's modification time to now. What is read last is known by it.
  int (*touch)(void *context, pks__file folder, const char *path);

  /// Open-file-description locks on `length` bytes at `offset`: taken at once or EAGAIN. Gone when the last descriptor of
  /// this opening closes, however the process ends.
  int (*lock)(void *context, pks__file file, uint64_t offset, uint64_t length, pks__lock_kind kind);
  /// Whether another opening's lock would stand in the way of an exclusive one.
  int (*lock_held)(void *context, pks__file file, uint64_t offset, uint64_t length, bool *held);

  int64_t (*now_ns)(void *context);        ///< wall clock, nanoseconds since 1970
  int64_t (*monotonic_ns)(void *context);  ///< for rates and progress only
  /// Lets that much time pass, or less when a signal comes. EDEADLK where a simulator sees that nothing can change.
  int (*sleep_ns)(void *context, int64_t ns);
  int (*random)(void *context, void *out, size_t byte_count);  ///< unpredictable bytes, for names and ids only
  uint32_t (*processor_count)(void *context);                  ///< threads worth starting, >= 1; a simulator says 1
  int (*boot_id)(void *context, uint8_t out[16]);              ///< differs after every start of the machine
  uint64_t (*process_id)(void *context);                       ///< told to whoever waits for a lock
  /// A word that has another value in a forked child: looking at it takes the place of a system call. It is the caller's
  /// until `fork_unmark`.
  int (*fork_mark)(void *context, const uint32_t **out);
  void (*fork_unmark)(void *context, const uint32_t *mark);
  int (*free_bytes)(void *context, pks__file folder, uint64_t *out);  ///< room left for this user, for messages
} pks_vfs;

// MARK: - Calls

/// Each calls the function of its name with the context.
static inline int pks__vfs_open_root(const pks_vfs *vfs, const char *path, bool create, pks__file *out) {
  return vfs->open_root(vfs->context, path, create, out);
}
static inline int pks__vfs_open(
  const pks_vfs *vfs, pks__file folder, const char *path, pks__open_mode mode, pks__file *out
) {
  return vfs->open(vfs->context, folder, path, mode, out);
}
static inline void pks__vfs_close(const pks_vfs *vfs, pks__file file) { vfs->close(vfs->context, file); }
static inline int pks__vfs_info(
  const pks_vfs *vfs, pks__file folder, const char *path, bool follow, pks__file_info *out
) {
  return vfs->info(vfs->context, folder, path, follow, out);
}
static inline int pks__vfs_info_of(const pks_vfs *vfs, pks__file file, pks__file_info *out) {
  return vfs->info_of(vfs->context, file, out);
}
static inline int pks__vfs_read_link(
  const pks_vfs *vfs, pks__file folder, const char *path, char *out, size_t capacity, size_t *length
) {
  return vfs->read_link(vfs->context, folder, path, out, capacity, length);
}
static inline int pks__vfs_list(const pks_vfs *vfs, pks__file folder, pks__list_visitor *visit, void *visit_context) {
  return vfs->list(vfs->context, folder, visit, visit_context);
}
static inline int pks__vfs_read_at(
  const pks_vfs *vfs, pks__file file, uint64_t offset, void *out, size_t byte_count, size_t *got
) {
  return vfs->read_at(vfs->context, file, offset, out, byte_count, got);
}
static inline int pks__vfs_write_at(
  const pks_vfs *vfs, pks__file file, uint64_t offset, const void *bytes, size_t byte_count
) {
  return vfs->write_at(vfs->context, file, offset, bytes, byte_count);
}
static inline int pks__vfs_preallocate(const pks_vfs *vfs, pks__file file, uint64_t size) {
  return vfs->preallocate(vfs->context, file, size);
}
static inline int pks__vfs_sync(const pks_vfs *vfs, pks__file file) { return vfs->sync(vfs->context, file); }
static inline void pks__vfs_advise(
  const pks_vfs *vfs, pks__file file, uint64_t offset, uint64_t byte_count, bool will_need
) {
  vfs->advise(vfs->context, file, offset, byte_count, will_need);
}
static inline int pks__vfs_make_folder(const pks_vfs *vfs, pks__file folder, const char *path) {
  return vfs->make_folder(vfs->context, folder, path);
}
static inline int pks__vfs_rename(const pks_vfs *vfs, pks__file folder, const char *from, const char *to) {
  return vfs->rename(vfs->context, folder, from, to);
}
static inline int pks__vfs_unlink(const pks_vfs *vfs, pks__file folder, const char *path, bool is_folder) {
  return vfs->unlink(vfs->context, folder, path, is_folder);
}
static inline int pks__vfs_map(const pks_vfs *vfs, pks__file file, size_t byte_count, bool writable, void **out) {
  return vfs->map(vfs->context, file, byte_count, writable, out);
}
static inline void pks__vfs_unmap(const pks_vfs *vfs, void *address, size_t byte_count) {
  vfs->unmap(vfs->context, address, byte_count);
}
static inline bool pks__vfs_map_is_live(const pks_vfs *vfs, pks__file file) {
  return vfs->map_is_live(vfs->context, file);
}
static inline int pks__vfs_map_private(
  const pks_vfs *vfs, pks__file file, uint64_t offset, size_t byte_count, void **out
) {
  return vfs->map_private(vfs->context, file, offset, byte_count, out);
}
static inline int pks__vfs_memory_file(const pks_vfs *vfs, const char *label, pks__file *out) {
  return vfs->memory_file(vfs->context, label, out);
}
static inline int pks__vfs_seal(const pks_vfs *vfs, pks__file file) { return vfs->seal(vfs->context, file); }
static inline int pks__vfs_touch(const pks_vfs *vfs, pks__file folder, const char *path) {
  return vfs->touch(vfs->context, folder, path);
}
static inline int pks__vfs_lock(
  const pks_vfs *vfs, pks__file file, uint64_t offset, uint64_t length, pks__lock_kind kind
) {
  return vfs->lock(vfs->context, file, offset, length, kind);
}
static inline int pks__vfs_lock_held(const pks_vfs *vfs, pks__file file, uint64_t offset, uint64_t length, bool *held) {
  return vfs->lock_held(vfs->context, file, offset, length, held);
}
static inline int64_t pks__vfs_now_ns(const pks_vfs *vfs) { return vfs->now_ns(vfs->context); }
static inline int64_t pks__vfs_monotonic_ns(const pks_vfs *vfs) { return vfs->monotonic_ns(vfs->context); }
static inline int pks__vfs_sleep_ns(const pks_vfs *vfs, int64_t ns) { return vfs->sleep_ns(vfs->context, ns); }
static inline int pks__vfs_random(const pks_vfs *vfs, void *out, size_t byte_count) {
  return vfs->random(vfs->context, out, byte_count);
}
static inline uint32_t pks__vfs_processor_count(const pks_vfs *vfs) { return vfs->processor_count(vfs->context); }
static inline int pks__vfs_boot_id(const pks_vfs *vfs, uint8_t out[16]) { return vfs->boot_id(vfs->context, out); }
static inline uint64_t pks__vfs_process_id(const pks_vfs *vfs) { return vfs->process_id(vfs->context); }
static inline int pks__vfs_fork_mark(const pks_vfs *vfs, const uint32_t **out) {
  return vfs->fork_mark(vfs->context, out);
}
static inline void pks__vfs_fork_unmark(const pks_vfs *vfs, const uint32_t *mark) {
  vfs->fork_unmark(vfs->context, mark);
}
static inline int pks__vfs_free_bytes(const pks_vfs *vfs, pks__file folder, uint64_t *out) {
  return vfs->free_bytes(vfs->context, folder, out);
}

#endif
