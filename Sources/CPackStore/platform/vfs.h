/// The vfs, `packstore_vfs.h`, as the core calls it. Only `vfs_posix.c`, `memory.c` and `threads.c` import system calls, which
/// `Scripts/check-seam` checks by the symbols of each object file. Tests replace it by a simulated disk that loses, tears and
/// reorders unsynced data.
#ifndef PKS_PLATFORM_VFS_H
#define PKS_PLATFORM_VFS_H

#include <errno.h>

#include "base/base.h"
#include "packstore_vfs.h"

// MARK: - Calls

/// Whether a call that failed for want of room is to be made once more.
static inline bool pks__vfs_makes_room(const pks_vfs *vfs, int failure, uint64_t byte_count) {
  bool is_full = failure == ENOSPC || failure == EDQUOT;
  return is_full && vfs->make_room && vfs->make_room(vfs->room_context, byte_count);
}

/// Each calls the function with its name and the context; calls that use disk space are repeated once if space was freed. A sync is
/// not repeated: after a failed one, the state of the file is unknown.
static inline int pks__vfs_open_root(const pks_vfs *vfs, const char *path, bool create, pks_vfs_file *out) {
  return vfs->open_root(vfs->context, path, create, out);
}
static inline int pks__vfs_open(
  const pks_vfs *vfs, pks_vfs_file folder, const char *path, pks_vfs_open_mode mode, pks_vfs_file *out
) {
  int failure = vfs->open(vfs->context, folder, path, mode, out);
  return pks__vfs_makes_room(vfs, failure, 0) ? vfs->open(vfs->context, folder, path, mode, out) : failure;
}
static inline void pks__vfs_close(const pks_vfs *vfs, pks_vfs_file file) { vfs->close(vfs->context, file); }
static inline int pks__vfs_info(
  const pks_vfs *vfs, pks_vfs_file folder, const char *path, bool follow, pks_vfs_info *out
) {
  return vfs->info(vfs->context, folder, path, follow, out);
}
static inline int pks__vfs_info_of(const pks_vfs *vfs, pks_vfs_file file, pks_vfs_info *out) {
  return vfs->info_of(vfs->context, file, out);
}
static inline int pks__vfs_read_link(
  const pks_vfs *vfs, pks_vfs_file folder, const char *path, char *out, size_t capacity, size_t *length
) {
  return vfs->read_link(vfs->context, folder, path, out, capacity, length);
}
static inline int pks__vfs_list(const pks_vfs *vfs, pks_vfs_file folder, pks_vfs_visitor *visit, void *visit_context) {
  return vfs->list(vfs->context, folder, visit, visit_context);
}
static inline int pks__vfs_read_at(
  const pks_vfs *vfs, pks_vfs_file file, uint64_t offset, void *out, size_t byte_count, size_t *got
) {
  return vfs->read_at(vfs->context, file, offset, out, byte_count, got);
}
static inline int pks__vfs_write_at(
  const pks_vfs *vfs, pks_vfs_file file, uint64_t offset, const void *bytes, size_t byte_count
) {
  int failure = vfs->write_at(vfs->context, file, offset, bytes, byte_count);
  return pks__vfs_makes_room(vfs, failure, byte_count) ? vfs->write_at(vfs->context, file, offset, bytes, byte_count)
                                                       : failure;
}
static inline int pks__vfs_find_data(
  const pks_vfs *vfs, pks_vfs_file file, uint64_t offset, uint64_t *begin, uint64_t *end
) {
  *begin = offset;
  *end = UINT64_MAX;
  return vfs->find_data ? vfs->find_data(vfs->context, file, offset, begin, end) : 0;
}
static inline int pks__vfs_preallocate(const pks_vfs *vfs, pks_vfs_file file, uint64_t size) {
  int failure = vfs->preallocate(vfs->context, file, size);
  return pks__vfs_makes_room(vfs, failure, size) ? vfs->preallocate(vfs->context, file, size) : failure;
}
static inline int pks__vfs_sync(const pks_vfs *vfs, pks_vfs_file file) { return vfs->sync(vfs->context, file); }
static inline void pks__vfs_advise(
  const pks_vfs *vfs, pks_vfs_file file, uint64_t offset, uint64_t byte_count, bool will_need
) {
  vfs->advise(vfs->context, file, offset, byte_count, will_need);
}
static inline int pks__vfs_make_folder(const pks_vfs *vfs, pks_vfs_file folder, const char *path) {
  int failure = vfs->make_folder(vfs->context, folder, path);
  return pks__vfs_makes_room(vfs, failure, 0) ? vfs->make_folder(vfs->context, folder, path) : failure;
}
static inline int pks__vfs_rename(const pks_vfs *vfs, pks_vfs_file folder, const char *from, const char *to) {
  int failure = vfs->rename(vfs->context, folder, from, to);
  return pks__vfs_makes_room(vfs, failure, 0) ? vfs->rename(vfs->context, folder, from, to) : failure;
}
static inline int pks__vfs_unlink(const pks_vfs *vfs, pks_vfs_file folder, const char *path, bool is_folder) {
  return vfs->unlink(vfs->context, folder, path, is_folder);
}
static inline int pks__vfs_map(const pks_vfs *vfs, pks_vfs_file file, size_t byte_count, bool writable, void **out) {
  return vfs->map(vfs->context, file, byte_count, writable, out);
}
static inline void pks__vfs_unmap(const pks_vfs *vfs, void *address, size_t byte_count) {
  vfs->unmap(vfs->context, address, byte_count);
}
static inline bool pks__vfs_map_is_live(const pks_vfs *vfs, pks_vfs_file file) {
  return vfs->map_is_live(vfs->context, file);
}
static inline int pks__vfs_map_private(
  const pks_vfs *vfs, pks_vfs_file file, uint64_t offset, size_t byte_count, void **out
) {
  return vfs->map_private(vfs->context, file, offset, byte_count, out);
}
static inline pks_vfs_privacy pks__vfs_privacy(const pks_vfs *vfs, pks_vfs_file file) {
  return vfs->privacy(vfs->context, file);
}
static inline int pks__vfs_memory_file(const pks_vfs *vfs, const char *label, pks_vfs_file *out) {
  return vfs->memory_file(vfs->context, label, out);
}
static inline int pks__vfs_seal(const pks_vfs *vfs, pks_vfs_file file) { return vfs->seal(vfs->context, file); }
static inline int pks__vfs_touch(const pks_vfs *vfs, pks_vfs_file folder, const char *path) {
  return vfs->touch(vfs->context, folder, path);
}
static inline int pks__vfs_lock(
  const pks_vfs *vfs, pks_vfs_file file, uint64_t offset, uint64_t length, pks_vfs_lock_kind kind
) {
  return vfs->lock(vfs->context, file, offset, length, kind);
}
static inline int pks__vfs_lock_held(
  const pks_vfs *vfs, pks_vfs_file file, uint64_t offset, uint64_t length, bool *held
) {
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
static inline int pks__vfs_free_bytes(const pks_vfs *vfs, pks_vfs_file folder, uint64_t *out) {
  return vfs->free_bytes(vfs->context, folder, out);
}

#endif
