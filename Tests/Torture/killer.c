#include "killer.h"

#include <signal.h>
#include <unistd.h>

static const pks_vfs *machine(void) { return pks_vfs_posix(); }

static void die(killer *killer) {
  if (killer->was_killed) { atomic_store(killer->was_killed, 1); }
  (void)kill(getpid(), SIGKILL);
  for (;;) { (void)pause(); }
}

/// Counts a call, and ends the process before it if so planned. Returns true if the process must end within this write.
static bool count(killer *killer, bool is_long_write) {
  uint64_t call = atomic_fetch_add(&killer->calls, 1) + 1;
  if (killer->kinds && call < killer->kind_capacity) { killer->kinds[call] = is_long_write; }
  if (call != killer->kill_at) { return false; }
  if (killer->part == 0 || !is_long_write) { die(killer); }
  return true;
}

#define COUNTED(call)                                                                                                  \
  (void)count(context, false);                                                                                         \
  return machine()->call

static int counted_open_root(void *context, const char *path, bool create, pks_vfs_file *out) {
  COUNTED(open_root(NULL, path, create, out));
}
static int counted_open(
  void *context, pks_vfs_file folder, const char *path, pks_vfs_open_mode mode, pks_vfs_file *out
) {
  COUNTED(open(NULL, folder, path, mode, out));
}
static void counted_close(void *context, pks_vfs_file file) {
  (void)count(context, false);
  machine()->close(NULL, file);
}
static int counted_info(void *context, pks_vfs_file folder, const char *path, bool follow, pks_vfs_info *out) {
  COUNTED(info(NULL, folder, path, follow, out));
}
static int counted_info_of(void *context, pks_vfs_file file, pks_vfs_info *out) { COUNTED(info_of(NULL, file, out)); }
static int counted_read_link(
  void *context, pks_vfs_file folder, const char *path, char *out, size_t capacity, size_t *length
) {
  COUNTED(read_link(NULL, folder, path, out, capacity, length));
}
static int counted_list(void *context, pks_vfs_file folder, pks_vfs_visitor *visit, void *visit_context) {
  COUNTED(list(NULL, folder, visit, visit_context));
}
static int counted_read_at(
  void *context, pks_vfs_file file, uint64_t offset, void *out, size_t byte_count, size_t *got
) {
  COUNTED(read_at(NULL, file, offset, out, byte_count, got));
}

static int counted_write_at(void *context, pks_vfs_file file, uint64_t offset, const void *bytes, size_t byte_count) {
  killer *killer = context;
  if (count(killer, byte_count > 1)) {
    size_t part = killer->part == 1 ? 1 : killer->part == 2 ? byte_count / 2 : byte_count - 1;
    (void)machine()->write_at(NULL, file, offset, bytes, part);
    die(killer);
  }
  return machine()->write_at(NULL, file, offset, bytes, byte_count);
}

static int counted_preallocate(void *context, pks_vfs_file file, uint64_t size) {
  COUNTED(preallocate(NULL, file, size));
}
static int counted_sync(void *context, pks_vfs_file file) {
  killer *killer = context;
  (void)count(killer, false);
  return killer->skips_syncs ? 0 : machine()->sync(NULL, file);
}
static int counted_make_folder(void *context, pks_vfs_file folder, const char *path) {
  COUNTED(make_folder(NULL, folder, path));
}
static int counted_rename(void *context, pks_vfs_file folder, const char *from, const char *to) {
  COUNTED(rename(NULL, folder, from, to));
}
static int counted_unlink(void *context, pks_vfs_file folder, const char *path, bool is_folder) {
  COUNTED(unlink(NULL, folder, path, is_folder));
}
static int counted_map(void *context, pks_vfs_file file, size_t byte_count, bool writable, void **out) {
  COUNTED(map(NULL, file, byte_count, writable, out));
}
static void counted_unmap(void *context, void *address, size_t byte_count) {
  (void)count(context, false);
  machine()->unmap(NULL, address, byte_count);
}
static int counted_map_private(void *context, pks_vfs_file file, uint64_t offset, size_t byte_count, void **out) {
  COUNTED(map_private(NULL, file, offset, byte_count, out));
}
static int counted_memory_file(void *context, const char *label, pks_vfs_file *out) {
  COUNTED(memory_file(NULL, label, out));
}
static int counted_seal(void *context, pks_vfs_file file) { COUNTED(seal(NULL, file)); }
static int counted_touch(void *context, pks_vfs_file folder, const char *path) { COUNTED(touch(NULL, folder, path)); }
static int counted_lock(void *context, pks_vfs_file file, uint64_t offset, uint64_t length, pks_vfs_lock_kind kind) {
  COUNTED(lock(NULL, file, offset, length, kind));
}
static int counted_lock_held(void *context, pks_vfs_file file, uint64_t offset, uint64_t length, bool *held) {
  COUNTED(lock_held(NULL, file, offset, length, held));
}
static int counted_random(void *context, void *out, size_t byte_count) { COUNTED(random(NULL, out, byte_count)); }

void killer_arm(killer *killer) {
  killer->vfs = *machine();  // the rest of the call changes nothing that another process could see
  killer->vfs.context = killer;
  killer->vfs.open_root = counted_open_root;
  killer->vfs.open = counted_open;
  killer->vfs.close = counted_close;
  killer->vfs.info = counted_info;
  killer->vfs.info_of = counted_info_of;
  killer->vfs.read_link = counted_read_link;
  killer->vfs.list = counted_list;
  killer->vfs.read_at = counted_read_at;
  killer->vfs.write_at = counted_write_at;
  killer->vfs.preallocate = counted_preallocate;
  killer->vfs.sync = counted_sync;
  killer->vfs.make_folder = counted_make_folder;
  killer->vfs.rename = counted_rename;
  killer->vfs.unlink = counted_unlink;
  killer->vfs.map = counted_map;
  killer->vfs.unmap = counted_unmap;
  killer->vfs.map_private = counted_map_private;
  killer->vfs.memory_file = counted_memory_file;
  killer->vfs.seal = counted_seal;
  killer->vfs.touch = counted_touch;
  killer->vfs.lock = counted_lock;
  killer->vfs.lock_held = counted_lock_held;
  killer->vfs.random = counted_random;
}
