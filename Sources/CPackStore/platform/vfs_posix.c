// The machine itself: `pks_vfs` over Linux and macOS system calls.
//
// Special properties, and their reasons
// - Everything is relative to an open folder, so that a renamed or swapped parent cannot redirect a path.
// - No descriptor is ever 0, 1 or 2: in a host that closed those, its output would go into a store's files.
// - Locks belong to the opening, not to the process: classic `F_SETLK` locks end when any descriptor of the file closes.
// - `sync` failures are final (see `vfs.h`); calls are repeated only after EINTR, which reports no damage.

#if defined(__APPLE__)
  #ifndef _DARWIN_C_SOURCE
    #define _DARWIN_C_SOURCE 1
  #endif
#elif !defined(_GNU_SOURCE)
  #define _GNU_SOURCE 1
#endif
#ifndef _FILE_OFFSET_BITS
  #define _FILE_OFFSET_BITS 64
#endif

#include "platform/vfs_posix.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>  // renameat
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#if defined(__linux__)
  #include <sys/vfs.h>
#else
  #include <sys/mount.h>
  #include <sys/param.h>
#endif
#include <time.h>
#include <unistd.h>

#if defined(__linux__)
  #include <linux/openat2.h>
  #include <sched.h>
  #include <sys/random.h>
  #include <sys/syscall.h>
#elif defined(__APPLE__)
  #include <mach/vm_inherit.h>
  #include <sys/random.h>
  #include <sys/sysctl.h>
#endif

#if !defined(F_OFD_SETLK) || !defined(F_OFD_GETLK)
  #error                                                                                                               \
    "open-file-description locks are needed: classic POSIX locks are lost whenever the process closes any descriptor of the file"
#endif

_Static_assert(sizeof(off_t) == 8, "files beyond 2 GiB need a 64-bit off_t");

// The kernels' own limit for one call is just under 2 GiB (macOS refuses more).
enum { IO_STEP = 1 << 30 };

static size_t io_step(size_t byte_count) { return pks__min_size(byte_count, IO_STEP); }

static bool is_offset(uint64_t offset, uint64_t length) { return pks__range_fits(offset, length, INT64_MAX); }

// MARK: Opening

// Linux closes the descriptor even if it reports EINTR: closing again could close one that another thread just opened.
static void close_descriptor(int descriptor) { (void)close(descriptor); }

// Moves a descriptor out of the range 0 to 2.
static int keep_above_standard(int *descriptor) {
  if (*descriptor > STDERR_FILENO) { return 0; }
  int moved = fcntl(*descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  int error = moved < 0 ? errno : 0;
  close_descriptor(*descriptor);
  *descriptor = moved;
  return error;
}

// A large store has more segments than the usual limit of 1024 descriptors; the limit may be raised without asking.
static bool raise_limit(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= limit.rlim_max) { return false; }
#if defined(__APPLE__)
  if (limit.rlim_cur >= OPEN_MAX) { return false; }
  limit.rlim_cur = limit.rlim_max < OPEN_MAX ? limit.rlim_max : OPEN_MAX;
#else
  limit.rlim_cur = limit.rlim_max;
#endif
  return setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

// Opens each folder on the way by itself, so that none of them may be a link.
static int walk_without_links(int folder, const char *path, int flags, mode_t mode) {
  int parent = folder;
  const char *slash;
  while (parent >= 0 && (slash = strchr(path, '/'))) {
    char part[NAME_MAX + 1];
    size_t length = (size_t)(slash - path);
    int next = -1;
    if (length > NAME_MAX) {
      errno = ENAMETOOLONG;
    } else {
      memcpy(part, path, length);
      part[length] = 0;
      next = openat(parent, length > 0 ? part : ".", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    }
    int error = errno;
    if (parent != folder) { close_descriptor(parent); }
    errno = error == ENOTDIR ? ELOOP : error;  // one call reports a link in place of a folder in this way, too
    parent = next;
    path = slash + 1;
  }
  int descriptor = parent < 0 ? -1 : openat(parent, path, flags, mode);
  int error = errno;
  if (parent >= 0 && parent != folder) { close_descriptor(parent); }
  errno = error;
  return descriptor;
}

// Follows no link in any part. One call where the kernel has it and no filter of system calls forbids it.
static int openat_without_links(int folder, const char *path, int flags, mode_t mode) {
#if defined(SYS_openat2)
  if (!strchr(path, '/')) { return openat(folder, path, flags, mode); }
  struct open_how how = {.flags = (uint64_t)flags, .mode = flags & O_CREAT ? mode : 0, .resolve = RESOLVE_NO_SYMLINKS};
  long descriptor = syscall(SYS_openat2, folder, path, &how, sizeof how);
  if (descriptor >= 0 || (errno != ENOSYS && errno != EPERM)) { return (int)descriptor; }
#endif
  return walk_without_links(folder, path, flags, mode);
}

static int open_with_mode(int folder, const char *path, int flags, mode_t mode, int *out) {
  int descriptor;
  flags |= O_CLOEXEC | O_NOCTTY;
  do {
    descriptor =
      flags & O_NOFOLLOW ? openat_without_links(folder, path, flags, mode) : openat(folder, path, flags, mode);
  } while (descriptor < 0 && (errno == EINTR || (errno == EMFILE && raise_limit())));
  if (descriptor < 0) { return errno; }
  int error = keep_above_standard(&descriptor);
  if (error != 0 && (flags & O_EXCL)) { (void)unlinkat(folder, path, 0); }  // it is ours: leave no empty file behind
  *out = error == 0 ? descriptor : PKS_VFS_NO_FILE;
  return error;
}

static int open_descriptor(int folder, const char *path, int flags, int *out) {
  return open_with_mode(folder, path, flags, 0666, out);
}

static int require_regular(int descriptor) {
  struct stat status;
  if (fstat(descriptor, &status) != 0) { return errno; }
  if (S_ISDIR(status.st_mode)) { return EISDIR; }
  return S_ISREG(status.st_mode) ? 0 : EINVAL;
}

// O_NONBLOCK keeps a FIFO from waiting for its other end before its kind is known; it means nothing to regular files.
static int open_regular(int folder, const char *path, int flags, int *out) {
  int descriptor = PKS_VFS_NO_FILE;
  int error = open_descriptor(folder, path, flags | O_NONBLOCK, &descriptor);
  if (error == ENXIO || error == ENODEV) { return EINVAL; }  // a socket, or a device without a driver
  if (error != 0) { return error; }
  error = require_regular(descriptor);
  if (error != 0) {
    close_descriptor(descriptor);
    return error;
  }
  *out = descriptor;
  return 0;
}

// Opens a regular file, or creates it, in separate calls: in a folder that all may write to and where only owners unlink, some
// kernels refuse to open another user's file with O_CREAT, regardless of its mode.
static int open_or_create(int folder, const char *path, int access, mode_t mode, int *out) {
  for (;;) {
    int error = open_regular(folder, path, access | O_NOFOLLOW, out);
    if (error != ENOENT) { return error; }
    error = open_with_mode(folder, path, access | O_CREAT | O_EXCL | O_NOFOLLOW, mode, out);
    if (error != EEXIST) { return error; }
  }
}

// Opens or creates a file for writing. A file with other names is refused, because writing would change a file elsewhere.
static int open_alone(int folder, const char *path, mode_t mode, int *out) {
  struct stat status;
  int error = open_or_create(folder, path, O_RDWR, mode, out);
  if (error != 0) { return error; }
  error = fstat(*out, &status) != 0 ? errno : status.st_nlink > 1 ? EMLINK : 0;
  if (error != 0) {
    close_descriptor(*out);
    *out = PKS_VFS_NO_FILE;
  }
  return error;
}

// Read and write permission for users who may write to the folder, none for others.
static int mode_of_writers(int folder, mode_t *out) {
  struct stat status;
  if (fstat(folder, &status) != 0) { return errno; }
  *out = 0600 | (status.st_mode & S_IWGRP ? 0060 : 0) | (status.st_mode & S_IWOTH ? 0006 : 0);
  return 0;
}

// Removes read permission from users without write permission: the umask may have removed only write permission, and the folder's
// mode may have changed. Only the owner can; for others the file stays as it is.
static void keep_to_writers(int descriptor, mode_t writers) {
  struct stat status;
  if (fstat(descriptor, &status) != 0) { return; }
  mode_t all = status.st_mode & 0777, mode = all & writers;
  if ((mode & 0060) != 0060) { mode &= ~(mode_t)0060; }
  if ((mode & 0006) != 0006) { mode &= ~(mode_t)0006; }
  if (mode != all && status.st_uid == geteuid()) { (void)fchmod(descriptor, mode); }
}

static int open_lock(int folder, const char *path, int *out) {
  mode_t writers;
  int error = mode_of_writers(folder, &writers);
  if (error == 0) { error = open_alone(folder, path, writers, out); }
  if (error == 0) { keep_to_writers(*out, writers); }
  return error;
}

static int posix_open(void *context, pks_vfs_file folder, const char *path, pks_vfs_open_mode mode, pks_vfs_file *out) {
  (void)context;
  *out = PKS_VFS_NO_FILE;
  switch (mode) {
    case PKS_VFS_OPEN_READ: return open_regular(folder, path, O_RDONLY | O_NOFOLLOW, out);
    case PKS_VFS_OPEN_READ_FOLLOW: return open_regular(folder, path, O_RDONLY, out);
    case PKS_VFS_OPEN_READ_WRITE: return open_regular(folder, path, O_RDWR | O_NOFOLLOW, out);
    case PKS_VFS_OPEN_CREATE: return open_descriptor(folder, path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, out);
    case PKS_VFS_OPEN_OR_CREATE: return open_alone(folder, path, 0666, out);
    case PKS_VFS_OPEN_LOCK: return open_lock(folder, path, out);
    case PKS_VFS_OPEN_SHARED_LOCK: return open_or_create(folder, path, O_RDONLY, 0444, out);
    case PKS_VFS_OPEN_FOLDER: return open_descriptor(folder, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, out);
    case PKS_VFS_OPEN_FOLDER_FOLLOW: return open_descriptor(folder, path, O_RDONLY | O_DIRECTORY, out);
  }
  return EINVAL;
}

static void posix_close(void *context, pks_vfs_file file) {
  (void)context;
  close_descriptor(file);
}

// MARK: Synchronisation

static int sync_once(int descriptor) {
#if defined(__APPLE__)
  // Plain fsync leaves the bytes in the drive's cache. Network volumes know no F_FULLFSYNC.
  if (fcntl(descriptor, F_FULLFSYNC) == 0) { return 0; }
  if (errno != ENOTSUP && errno != EINVAL && errno != ENOTTY) { return errno; }
#endif
  return fsync(descriptor) == 0 ? 0 : errno;
}

// Some file systems cannot sync a folder and say EINVAL; their names are as durable as they will ever be.
static int sync_descriptor(int descriptor) {
  int error;
  do { error = sync_once(descriptor); } while (error == EINTR);
  struct stat status;
  if (error == EINVAL && fstat(descriptor, &status) == 0 && S_ISDIR(status.st_mode)) { return 0; }
  return error;
}

static int posix_sync(void *context, pks_vfs_file file) {
  (void)context;
  return sync_descriptor(file);
}

// Makes the name of a root durable, which no caller can, for want of a handle. Done whether or not the root is new: who
// made it may have died before this point. A parent that may not be read cannot be synced by any process.
static int sync_parent(int root) {
  int parent = PKS_VFS_NO_FILE;
  int error = open_descriptor(root, "..", O_RDONLY | O_DIRECTORY, &parent);
  if (error == EACCES || error == EPERM) { return 0; }
  if (error != 0) { return error; }
  error = sync_descriptor(parent);
  close_descriptor(parent);
  return error;
}

static int posix_open_root(void *context, const char *path, bool create, pks_vfs_file *out) {
  (void)context;
  *out = PKS_VFS_NO_FILE;
  int root = PKS_VFS_NO_FILE;
  bool made = false;
  int error = open_descriptor(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, &root);
  if (error == ENOENT && create) {
    made = mkdir(path, 0777) == 0;
    if (!made && errno != EEXIST) { return errno; }
    error = open_descriptor(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, &root);
  }
  if (error != 0) { return error; }
  if (create) { error = sync_parent(root); }
  if (error != 0) {
    // A name whose sync failed does not become durable by another sync: the next attempt makes it again.
    if (made) { (void)rmdir(path); }
    close_descriptor(root);
    return error;
  }
  *out = root;
  return 0;
}

// MARK: Names and kinds

static pks_vfs_info info_from(const struct stat *status) {
#if defined(__APPLE__)
  struct timespec modified = status->st_mtimespec;
#else
  struct timespec modified = status->st_mtim;
#endif
  pks_vfs_info info = {
    .kind = PKS_VFS_KIND_OTHER,
    .size = (uint64_t)status->st_size,
    .stored = (uint64_t)status->st_blocks * 512,
    .device = (uint64_t)status->st_dev,
    .inode = (uint64_t)status->st_ino,
    .modified_ns = (int64_t)((uint64_t)modified.tv_sec * 1000000000u + (uint64_t)modified.tv_nsec),
  };
  if (S_ISREG(status->st_mode)) {
    info.kind = PKS_VFS_KIND_FILE;
    info.executable = (status->st_mode & (S_IXUSR | S_IXGRP | S_IXOTH)) != 0;
  } else if (S_ISDIR(status->st_mode)) {
    info.kind = PKS_VFS_KIND_FOLDER;
  } else if (S_ISLNK(status->st_mode)) {
    info.kind = PKS_VFS_KIND_LINK;
  }
  return info;
}

static int posix_info(void *context, pks_vfs_file folder, const char *path, bool follow, pks_vfs_info *out) {
  (void)context;
  struct stat status;
  if (fstatat(folder, path, &status, follow ? 0 : AT_SYMLINK_NOFOLLOW) != 0) { return errno; }
  *out = info_from(&status);
  return 0;
}

static int posix_info_of(void *context, pks_vfs_file file, pks_vfs_info *out) {
  (void)context;
  struct stat status;
  if (fstat(file, &status) != 0) { return errno; }
  *out = info_from(&status);
  return 0;
}

// A target that fills the room to the last byte may have been cut: refused, which leaves a byte for the NUL.
static int posix_read_link(
  void *context, pks_vfs_file folder, const char *path, char *out, size_t capacity, size_t *length
) {
  (void)context;
  ssize_t got = readlinkat(folder, path, out, capacity);
  if (got < 0) { return errno; }
  if ((size_t)got >= capacity) { return ENAMETOOLONG; }
  out[got] = '\0';
  *length = (size_t)got;
  return 0;
}

static pks_vfs_kind kind_of_entry(const struct dirent *entry) {
  switch (entry->d_type) {
    case DT_REG: return PKS_VFS_KIND_FILE;
    case DT_DIR: return PKS_VFS_KIND_FOLDER;
    case DT_LNK: return PKS_VFS_KIND_LINK;
    default: return PKS_VFS_KIND_OTHER;
  }
}

static int visit_entries(DIR *stream, pks_vfs_visitor *visit, void *visit_context) {
  for (;;) {
    errno = 0;  // the only way to tell the end from an error
    const struct dirent *entry = readdir(stream);
    if (!entry) { return errno; }
    const char *name = entry->d_name;
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) { continue; }
    if (!visit(visit_context, name, strlen(name), kind_of_entry(entry))) { return 0; }
  }
}

// Opens the folder again, for its own position: a duplicate would share it with the handle and with other listings.
static int posix_list(void *context, pks_vfs_file folder, pks_vfs_visitor *visit, void *visit_context) {
  (void)context;
  int descriptor = PKS_VFS_NO_FILE;
  int error = open_descriptor(folder, ".", O_RDONLY | O_DIRECTORY, &descriptor);
  if (error != 0) { return error; }
  DIR *stream = fdopendir(descriptor);
  if (!stream) {
    error = errno;
    close_descriptor(descriptor);
    return error;
  }
  error = visit_entries(stream, visit, visit_context);
  (void)closedir(stream);
  return error;
}

enum { PATH_ROOM = 4096 };  // bytes of a path in a store

// A name in a folder that is open.
typedef struct place {
  int folder;
  const char *name;  // the last part of the path
  bool is_open;      // the folder was opened for this
} place;

// Calls that change names follow links in all parts of a path but the last. So the folder is opened first, without links.
static int open_place(int folder, const char *path, place *out) {
  char parent[PATH_ROOM];
  const char *slash = strrchr(path, '/');
  *out = (place){.folder = folder, .name = slash ? slash + 1 : path, .is_open = slash != NULL};
  if (!slash) { return 0; }
  size_t length = (size_t)(slash - path);
  if (length >= sizeof parent) { return ENAMETOOLONG; }
  memcpy(parent, path, length);
  parent[length] = '\0';
  return open_descriptor(folder, parent, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, &out->folder);
}

// Closes the opened folder, and returns the result of the call: `result`, with `errno` as the reason if it is not 0.
static int end_place(const place *place, int result) {
  int error = result == 0 ? 0 : errno;
  if (place->is_open) { close_descriptor(place->folder); }
  return error;
}

static int posix_make_folder(void *context, pks_vfs_file folder, const char *path) {
  (void)context;
  place place;
  int error = open_place(folder, path, &place);
  return error ? error : end_place(&place, mkdirat(place.folder, place.name, 0777));
}

static int posix_rename(void *context, pks_vfs_file folder, const char *from, const char *to) {
  (void)context;
  place source, target;
  int error = open_place(folder, from, &source);
  if (error != 0) { return error; }
  error = open_place(folder, to, &target);
  if (error != 0) {
    (void)end_place(&source, 0);
    return error;
  }
  error = end_place(&target, renameat(source.folder, source.name, target.folder, target.name));
  (void)end_place(&source, 0);
  return error;
}

static int posix_unlink(void *context, pks_vfs_file folder, const char *path, bool is_folder) {
  (void)context;
  place place;
  int error = open_place(folder, path, &place);
  return error ? error : end_place(&place, unlinkat(place.folder, place.name, is_folder ? AT_REMOVEDIR : 0));
}

// MARK: Bytes

static int posix_read_at(void *context, pks_vfs_file file, uint64_t offset, void *out, size_t byte_count, size_t *got) {
  (void)context;
  *got = 0;
  if (!is_offset(offset, byte_count)) { return EOVERFLOW; }
  while (*got < byte_count) {
    ssize_t step = pread(file, (char *)out + *got, io_step(byte_count - *got), (off_t)(offset + *got));
    if (step < 0 && errno == EINTR) { continue; }
    if (step < 0) { return errno; }
    if (step == 0) { break; }
    *got += (size_t)step;
  }
  return 0;
}

static int posix_find_data(void *context, pks_vfs_file file, uint64_t offset, uint64_t *begin, uint64_t *end) {
  (void)context;
  *begin = offset;
  *end = UINT64_MAX;
#if defined(SEEK_DATA) && defined(SEEK_HOLE)
  if (!is_offset(offset, 0)) { return EOVERFLOW; }
  off_t data = lseek(file, (off_t)offset, SEEK_DATA);
  if (data < 0) {
    if (errno == ENXIO) { *begin = UINT64_MAX; }
    // Any other failure: the file system does not report holes.
    return 0;
  }
  off_t hole = lseek(file, data, SEEK_HOLE);
  *begin = (uint64_t)data;
  if (hole > data) { *end = (uint64_t)hole; }
#else
  (void)file;
#endif
  return 0;
}

static int write_all(int file, uint64_t offset, const void *bytes, size_t byte_count) {
  if (!is_offset(offset, byte_count)) { return EFBIG; }
  size_t done = 0;
  while (done < byte_count) {
    ssize_t step = pwrite(file, (const char *)bytes + done, io_step(byte_count - done), (off_t)(offset + done));
    if (step < 0 && errno == EINTR) { continue; }
    if (step < 0) { return errno; }
    if (step == 0) { return EIO; }  // no progress and no reason: never spin on it
    done += (size_t)step;
  }
  return 0;
}

static int posix_write_at(void *context, pks_vfs_file file, uint64_t offset, const void *bytes, size_t byte_count) {
  (void)context;
  return write_all(file, offset, bytes, byte_count);
}

// For file systems that cannot allocate. Existing bytes are not changed, so holes among them stay holes.
static int write_zeros_past_end(int file, uint64_t size) {
  static const char zeros[64 * 1024];
  struct stat status;
  if (fstat(file, &status) != 0) { return errno; }
  uint64_t end = (uint64_t)status.st_size;
  while (end < size) {
    size_t step = (size_t)pks__min64(size - end, sizeof zeros);
    int error = write_all(file, end, zeros, step);
    if (error != 0) { return error; }
    end += step;
  }
  return 0;
}

static int posix_preallocate(void *context, pks_vfs_file file, uint64_t size) {
  (void)context;
  if (size == 0) { return 0; }
  if (!is_offset(0, size)) { return EFBIG; }
#if defined(__linux__)
  // The system call itself: glibc's posix_fallocate would imitate it by writes that race with other writers.
  int result;
  do { result = fallocate(file, 0, 0, (off_t)size); } while (result != 0 && errno == EINTR);
  if (result == 0) { return 0; }
  if (errno != EOPNOTSUPP && errno != ENOSYS) { return errno; }
#endif
  return write_zeros_past_end(file, size);
}

static void posix_advise(void *context, pks_vfs_file file, uint64_t offset, uint64_t byte_count, bool will_need) {
  (void)context;
  if (!is_offset(offset, byte_count)) { return; }
#if defined(__APPLE__)
  struct radvisory advice = {.ra_offset = (off_t)offset, .ra_count = (int)pks__min64(byte_count, INT32_MAX)};
  if (will_need) { (void)fcntl(file, F_RDADVISE, &advice); }
#else
  (void)posix_fadvise(file, (off_t)offset, (off_t)byte_count, will_need ? POSIX_FADV_WILLNEED : POSIX_FADV_DONTNEED);
#endif
}

static int map_with(pks_vfs_file file, size_t byte_count, int protection, int flags, void **out) {
  void *address = mmap(NULL, byte_count, protection, flags, file, 0);
  *out = address == MAP_FAILED ? NULL : address;
  return *out ? 0 : errno;
}

// FUSE with direct_io, 9p without a cache and some network file systems have no shared mappings, or none at all.
static bool lacks_mappings(int error) { return error == ENODEV || error == EINVAL || error == EACCES; }

// The most bytes of a file that are read into memory because it cannot be mapped.
enum { READ_INSTEAD_MAX = 1 << 30 };

// Reads a file into memory of its own, which `posix_unmap` releases. Bytes after its end are zero, as in a mapping's last page.
static int read_instead(pks_vfs_file file, size_t byte_count, void **out) {
  int error = map_with(-1, byte_count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, out);
  if (error != 0) { return error; }
  size_t got = 0;
  error = posix_read_at(NULL, file, 0, *out, byte_count, &got);
  if (error == 0 && mprotect(*out, byte_count, PROT_READ) != 0) { error = errno; }
  if (error != 0) {
    (void)munmap(*out, byte_count);
    *out = NULL;
  }
  return error;
}

// Mapped files are read-only and never change, or are scratch files without a name that only this process maps: for both a
// private mapping is as good as a shared one.
static int posix_map(void *context, pks_vfs_file file, size_t byte_count, bool writable, void **out) {
  (void)context;
  int protection = writable ? PROT_READ | PROT_WRITE : PROT_READ;
  int error = map_with(file, byte_count, protection, MAP_SHARED, out);
  if (!lacks_mappings(error)) { return error; }
  int without_sharing = map_with(file, byte_count, protection, MAP_PRIVATE, out);
  if (without_sharing == 0) { return 0; }
  return writable || byte_count > READ_INSTEAD_MAX ? error : read_instead(file, byte_count, out);
}

static void posix_unmap(void *context, void *address, size_t byte_count) {
  (void)context;
  PKS_ASSERT(munmap(address, byte_count) == 0);  // fails only for an address that is not a mapping
}

// A local file system keeps mappings and `write` of all processes in one page cache. Known ones are listed, because others may be
// backed by a network, a hypervisor or a program.
#if defined(__linux__)
static bool is_local(int file) {
  static const uint32_t local[] = {
    0xef53,      // ext2, ext3, ext4
    0x58465342,  // XFS
    0x9123683e,  // Btrfs
    0x01021994,  // tmpfs
    0xf2f52010,  // F2FS
    0x2fc12fc1,  // ZFS
    0xca451a4e,  // bcachefs
    0x4d44,      // FAT
    0x2011bab0,  // exFAT
    0x7366746e,  // NTFS
  };
  enum { OVERLAY = 0x794c7630 };
  struct statfs status;
  if (fstatfs(file, &status) != 0) { return false; }
  uint32_t type = (uint32_t)status.f_type;
  // There, the first writer gets a copy of the file; mappings of processes that opened it before, for reading, permanently show the
  // original.
  if (type == OVERLAY) { return (fcntl(file, F_GETFL) & O_ACCMODE) == O_RDWR; }
  for (size_t i = 0; i < PKS_COUNT_OF(local); i++) {
    if (local[i] == type) { return true; }
  }
  return false;
}
#else
static bool is_local(int file) {
  struct statfs status;
  return fstatfs(file, &status) == 0 && (status.f_flags & MNT_LOCAL);
}
#endif

bool pks_vfs_posix_keeps_room(pks_vfs_file file) {
#if defined(__linux__)
  enum { EXT = 0xef53, XFS = 0x58465342 };
  struct statfs status;
  return fstatfs(file, &status) == 0 && ((uint32_t)status.f_type == EXT || (uint32_t)status.f_type == XFS);
#else
  (void)file;
  return false;
#endif
}

static bool posix_map_is_live(void *context, pks_vfs_file file) {
  (void)context;
  struct stat status;
  if (fstat(file, &status) != 0 || (status.st_mode & S_IWOTH)) { return false; }
  return (status.st_uid == geteuid() || status.st_uid == 0) && is_local(file);
}

// The administrator can write anything, so the administrator's files are as private as this user's own. A sticky folder lets only
// the owner of a file remove or rename it; that is enough above a folder of this user's, but not for a folder whose own files must
// be safe.
static pks_vfs_privacy privacy_of(const struct stat *status, bool is_above) {
  if (status->st_uid != geteuid() && status->st_uid != 0) { return PKS_VFS_OTHER_OWNER; }
  bool is_sticky = is_above && (status->st_mode & S_ISVTX);
  return (status->st_mode & (S_IWGRP | S_IWOTH)) && !is_sticky ? PKS_VFS_WRITABLE_BY_OTHERS : PKS_VFS_PRIVATE;
}

/// The same for all folders above an open one, up to the root: by its real location, not by the links on its path.
static pks_vfs_privacy privacy_above(int folder, const struct stat *status) {
#if defined(O_PATH)
  enum { MODE = O_PATH | O_DIRECTORY | O_CLOEXEC };
#else
  enum { MODE = O_RDONLY | O_DIRECTORY | O_CLOEXEC };
#endif
  enum { DEPTH_MAX = PATH_MAX };
  struct stat below = *status, above;
  int open_folder = folder;
  pks_vfs_privacy found = PKS_VFS_PRIVACY_UNKNOWN;
  for (int depth = 0; depth < DEPTH_MAX; depth++) {
    int parent = openat(open_folder, "..", MODE);
    if (open_folder != folder) { (void)close(open_folder); }
    if (parent < 0) { return PKS_VFS_PRIVACY_UNKNOWN; }
    open_folder = parent;
    found = fstat(parent, &above) == 0 ? privacy_of(&above, true) : PKS_VFS_PRIVACY_UNKNOWN;
    bool is_root = above.st_dev == below.st_dev && above.st_ino == below.st_ino;
    if (found != PKS_VFS_PRIVATE || is_root) { break; }
    below = above;
    found = PKS_VFS_PRIVACY_UNKNOWN;
  }
  if (open_folder != folder) { (void)close(open_folder); }
  return found;
}

static pks_vfs_privacy posix_privacy(void *context, pks_vfs_file file) {
  (void)context;
  struct stat status;
  if (fstat(file, &status) != 0) { return PKS_VFS_PRIVACY_UNKNOWN; }
  pks_vfs_privacy own = privacy_of(&status, false);
  if (own != PKS_VFS_PRIVATE) { return own; }
  if (!is_local(file)) { return PKS_VFS_NOT_LOCAL; }
  return S_ISDIR(status.st_mode) ? privacy_above(file, &status) : PKS_VFS_PRIVATE;
}

// Room is not reserved for a copy of it all: most of it is never written to, and it may be larger than the memory.
static int posix_map_private(void *context, pks_vfs_file file, uint64_t offset, size_t byte_count, void **out) {
  (void)context;
  *out = NULL;
  if (!is_offset(offset, byte_count)) { return EFBIG; }
  void *address = mmap(NULL, byte_count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, file, (off_t)offset);
  if (address == MAP_FAILED) { return errno; }
  *out = address;
  return 0;
}

static int posix_memory_file(void *context, const char *label, pks_vfs_file *out) {
  (void)context;
  *out = PKS_VFS_NO_FILE;
#if defined(__linux__)
  int descriptor = memfd_create(label, MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (descriptor < 0) { return errno; }
  int error = keep_above_standard(&descriptor);
  if (error == 0) { *out = descriptor; }
  return error;
#else
  (void)label;
  return ENOSYS;
#endif
}

static int posix_seal(void *context, pks_vfs_file file) {
  (void)context;
#if defined(__linux__)
  int seals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
  return fcntl(file, F_ADD_SEALS, seals) == 0 ? 0 : errno;
#else
  (void)file;
  return ENOSYS;
#endif
}

static int posix_touch(void *context, pks_vfs_file folder, const char *path) {
  (void)context;
  place place;
  int error = open_place(folder, path, &place);
  return error ? error : end_place(&place, utimensat(place.folder, place.name, NULL, AT_SYMLINK_NOFOLLOW));
}

// MARK: Locks

// The whole struct is set: the kernel refuses a `l_pid` other than 0.
static struct flock lock_range(uint64_t offset, uint64_t length, short type) {
  PKS_ASSERT(length > 0 && is_offset(offset, length));  // 0 would mean "to the end of all files" to the kernel
  struct flock range;
  memset(&range, 0, sizeof range);
  range.l_type = type;
  range.l_whence = SEEK_SET;
  range.l_start = (off_t)offset;
  range.l_len = (off_t)length;
  return range;
}

static short lock_type(pks_vfs_lock_kind kind) {
  switch (kind) {
    case PKS_VFS_LOCK_NONE: return F_UNLCK;
    case PKS_VFS_LOCK_SHARED: return F_RDLCK;
    case PKS_VFS_LOCK_EXCLUSIVE: return F_WRLCK;
  }
  __builtin_trap();
}

static int posix_lock(void *context, pks_vfs_file file, uint64_t offset, uint64_t length, pks_vfs_lock_kind kind) {
  (void)context;
  struct flock range = lock_range(offset, length, lock_type(kind));
  int result;
  do { result = fcntl(file, F_OFD_SETLK, &range); } while (result != 0 && errno == EINTR);
  if (result == 0) { return 0; }
  return errno == EACCES ? EAGAIN : errno;  // POSIX lets a system say either for a lock that is taken
}

static int posix_lock_held(void *context, pks_vfs_file file, uint64_t offset, uint64_t length, bool *held) {
  (void)context;
  struct flock range = lock_range(offset, length, F_WRLCK);
  int result;
  do { result = fcntl(file, F_OFD_GETLK, &range); } while (result != 0 && errno == EINTR);
  if (result != 0) { return errno; }
  *held = range.l_type != F_UNLCK;
  return 0;
}

// MARK: The rest of the world

static int64_t clock_ns(clockid_t clock) {
  struct timespec now;
  PKS_ASSERT(clock_gettime(clock, &now) == 0);
  return (int64_t)now.tv_sec * 1000000000 + (int64_t)now.tv_nsec;
}

static int64_t posix_now_ns(void *context) {
  (void)context;
  return clock_ns(CLOCK_REALTIME);
}

static int64_t posix_monotonic_ns(void *context) {
  (void)context;
  return clock_ns(CLOCK_MONOTONIC);
}

static int posix_sleep_ns(void *context, int64_t ns) {
  (void)context;
  struct timespec time = {.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000)};
  (void)nanosleep(&time, NULL);  // the caller looks again, however long it was
  return 0;
}

static int posix_random(void *context, void *out, size_t byte_count) {
  (void)context;
  size_t done = 0;
  while (done < byte_count) {
    size_t step = pks__min_size(byte_count - done, 256);  // more than this, and both calls may stop short
#if defined(__APPLE__)
    if (getentropy((char *)out + done, step) != 0) { return errno; }
    done += step;
#else
    ssize_t got = getrandom((char *)out + done, step, 0);
    if (got < 0 && errno == EINTR) { continue; }
    if (got < 0) { return errno; }
    done += (size_t)got;
#endif
  }
  return 0;
}

#if defined(__linux__)
// The processors that this process may run on, or 0 when the kernel has more than we are ready to ask about.
static uint32_t allowed_processors(void) {
  cpu_set_t sets[16];  // 16,384 processors; fewer, and the call fails with EINVAL on larger machines
  if (sched_getaffinity(0, sizeof sets, sets) != 0) { return 0; }
  int count = CPU_COUNT_S(sizeof sets, sets);
  return count > 0 ? (uint32_t)count : 0;
}
#else
static uint32_t allowed_processors(void) { return 0; }
#endif

static uint32_t posix_processor_count(void *context) {
  (void)context;
  uint32_t allowed = allowed_processors();
  if (allowed > 0) { return allowed; }
  long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online > 0 && online <= INT32_MAX ? (uint32_t)online : 1;
}

#if defined(__linux__)
static int boot_text(char text[37]) {
  int descriptor = PKS_VFS_NO_FILE;
  int error = open_descriptor(AT_FDCWD, "/proc/sys/kernel/random/boot_id", O_RDONLY, &descriptor);
  if (error != 0) { return error; }
  size_t got;
  error = posix_read_at(NULL, descriptor, 0, text, 36, &got);
  close_descriptor(descriptor);
  if (error != 0) { return error; }
  text[got] = '\0';
  return got == 36 ? 0 : EIO;
}
#else
static int boot_text(char text[37]) {
  size_t length = 37;
  return sysctlbyname("kern.bootsessionuuid", text, &length, NULL, 0) == 0 ? 0 : errno;
}
#endif

static int hex_value(char digit) {
  if (digit >= '0' && digit <= '9') { return digit - '0'; }
  if (digit >= 'a' && digit <= 'f') { return digit - 'a' + 10; }
  if (digit >= 'A' && digit <= 'F') { return digit - 'A' + 10; }
  return -1;
}

// Both kernels tell it as the text of a UUID.
static int posix_boot_id(void *context, uint8_t out[16]) {
  (void)context;
  char text[37];
  int error = boot_text(text);
  if (error != 0) { return error; }
  size_t digits = 0;
  memset(out, 0, 16);
  for (const char *at = text; *at && digits < 32; at++) {
    int value = hex_value(*at);
    if (value < 0) { continue; }
    out[digits / 2] = (uint8_t)(out[digits / 2] << 4 | value);
    digits++;
  }
  return digits == 32 ? 0 : EIO;
}

static uint64_t posix_process_id(void *context) {
  (void)context;
  return (uint64_t)getpid();
}

// MARK: Forks

// Counted by the handler. The one thing here that belongs to the whole process, as forks do.
static uint32_t forks;

static void count_fork(void) { __atomic_fetch_add(&forks, 1, __ATOMIC_RELAXED); }

static int counting_failure;
static void begin_counting(void) { counting_failure = pthread_atfork(NULL, NULL, count_fork); }

int pks__vfs_posix_count_forks(void *context, const uint32_t **out) {
  (void)context;
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  (void)pthread_once(&once, begin_counting);
  *out = &forks;
  return counting_failure;
}

// Requests that the kernel gives children zeros instead of the page. An emulated kernel that accepts any advice did not understand
// this one either.
static bool wipe_in_children(void *page, size_t size) {
#if defined(__linux__) && defined(MADV_WIPEONFORK)
  return madvise(page, size, -1) != 0 && madvise(page, size, MADV_WIPEONFORK) == 0;
#elif defined(__APPLE__)
  return minherit(page, size, VM_INHERIT_ZERO) == 0;
#else
  (void)page;
  (void)size;
  return false;
#endif
}

static size_t page_size(void) { return (size_t)sysconf(_SC_PAGESIZE); }

static int posix_fork_mark(void *context, const uint32_t **out) {
  void *page = mmap(NULL, page_size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) { return errno; }
  if (!wipe_in_children(page, page_size())) {
    (void)munmap(page, page_size());
    return pks__vfs_posix_count_forks(context, out);
  }
  uint32_t *mark = page;
  *mark = 1;
  *out = mark;
  return 0;
}

static void posix_fork_unmark(void *context, const uint32_t *mark) {
  (void)context;
  if (mark != &forks) { (void)munmap((void *)(uintptr_t)mark, page_size()); }
}

static int posix_free_bytes(void *context, pks_vfs_file folder, uint64_t *out) {
  (void)context;
  struct statvfs status;
  int result;
  do { result = fstatvfs(folder, &status); } while (result != 0 && errno == EINTR);
  if (result != 0) { return errno; }
  if (pks__mul_overflows((uint64_t)status.f_bavail, (uint64_t)status.f_frsize, out)) { *out = UINT64_MAX; }
  return 0;
}

const pks_vfs *pks_vfs_posix(void) {
  static const pks_vfs machine = {
    .context = NULL,
    .open_root = posix_open_root,
    .open = posix_open,
    .close = posix_close,
    .info = posix_info,
    .info_of = posix_info_of,
    .read_link = posix_read_link,
    .list = posix_list,
    .read_at = posix_read_at,
    .find_data = posix_find_data,
    .write_at = posix_write_at,
    .preallocate = posix_preallocate,
    .sync = posix_sync,
    .advise = posix_advise,
    .make_folder = posix_make_folder,
    .rename = posix_rename,
    .unlink = posix_unlink,
    .map = posix_map,
    .unmap = posix_unmap,
    .map_is_live = posix_map_is_live,
    .privacy = posix_privacy,
    .map_private = posix_map_private,
    .memory_file = posix_memory_file,
    .seal = posix_seal,
    .touch = posix_touch,
    .lock = posix_lock,
    .lock_held = posix_lock_held,
    .now_ns = posix_now_ns,
    .monotonic_ns = posix_monotonic_ns,
    .sleep_ns = posix_sleep_ns,
    .random = posix_random,
    .processor_count = posix_processor_count,
    .boot_id = posix_boot_id,
    .process_id = posix_process_id,
    .fork_mark = posix_fork_mark,
    .fork_unmark = posix_fork_unmark,
    .free_bytes = posix_free_bytes,
  };
  return &machine;
}
