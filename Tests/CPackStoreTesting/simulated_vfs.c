/// The seam of the simulated disk: acts as kernel and process. Each call begins with `sim__enter`, which may refuse it,
/// and ends with `sim__traced`.
#include "simulated_disk.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t largest_file = (uint64_t)1 << 40;
static const uint64_t free_without_limit = (uint64_t)1 << 40;

// MARK: Handles

static sim__handle *handle_of(sim__process *process, pks_vfs_file file) {
  sim_disk *disk = process->disk;
  if (file >= 0 && (size_t)file < disk->handle_count && disk->handles[file].owner == process) {
    return &disk->handles[file];
  }
  return NULL;
}

/// Returns NULL only for a killed process, whose calls fail anyway.
static sim__handle *require_handle(sim__process *process, pks_vfs_file file) {
  sim__handle *handle = handle_of(process, file);
  if (handle == NULL && !process->killed) { sim__misuse("a handle that is not open"); }
  return handle;
}

static const char *path_of(const sim__handle *handle) { return handle != NULL ? handle->path->bytes : "?"; }

/// The absolute path of a call, in `out` of the disk.
static const char *full_path(sim__process *process, const sim__handle *folder, const char *path, char *out) {
  const char *above = folder == NULL || strcmp(folder->path->bytes, "/") == 0 ? "" : folder->path->bytes;
  if (folder == NULL && path[0] == '/') { path++; }
  if (strcmp(path, ".") == 0 || path[0] == '\0') {
    (void)snprintf(out, sizeof process->disk->path, "%s", above[0] == '\0' ? "/" : above);
  } else {
    (void)snprintf(out, sizeof process->disk->path, "%s/%s", above, path);
    size_t length = strlen(out);
    while (length > 1 && out[length - 1] == '/') { out[--length] = '\0'; }
  }
  return out;
}

static pks_vfs_file handle_new(sim__process *process, sim__id node, bool readable, bool writable, const char *path) {
  sim_disk *disk = process->disk;
  size_t index = 0;
  while (index < disk->handle_count && disk->handles[index].owner != NULL) { index++; }
  if (index == disk->handle_count) {
    disk->handles = sim__grow(disk->handles, &disk->handle_capacity, index, sizeof *disk->handles);
    disk->handle_count++;
  }
  disk->handles[index] = (sim__handle
  ){.owner = process,
    .node = node,
    .readable = readable,
    .writable = writable,
    .path = sim__text_new(path, strlen(path))};
  sim__node_of(disk, node)->holders++;
  return (pks_vfs_file)index;
}

static void handle_free(sim_disk *disk, pks_vfs_file file) {
  sim__handle *handle = &disk->handles[file];
  size_t kept = 0;
  for (size_t i = 0; i < disk->lock_count; i++) {
    if (disk->locks[i].handle != file) { disk->locks[kept++] = disk->locks[i]; }
  }
  disk->lock_count = kept;
  sim__text_release(handle->path);
  sim__node_of(disk, handle->node)->holders--;
  sim__drop_if_unused(disk, handle->node);
  *handle = (sim__handle){.owner = NULL};
}

/// Resolves a path below an open folder; the seam allows relative ones only.
static int resolve_below(
  sim__process *process, const sim__handle *folder, const char *path, bool follow, sim__place *out
) {
  if (path[0] == '/') { return EINVAL; }
  return sim__resolve(process->disk, folder->node, path, follow, out);
}

/// Whether `place.name` may be created: its folder still exists, and the disk has space for a name.
static int may_create(const sim_disk *disk, const sim__place *place) {
  const sim__node *parent = sim__node_of(disk, place->parent);
  if (place->parent != SIM__ROOT && parent->live_names == 0) { return ENOENT; }
  return sim_used_bytes(disk) >= disk->capacity ? ENOSPC : 0;
}

static sim__id create(sim_disk *disk, const sim__place *place, pks_vfs_kind kind) {
  sim__id id = sim__node_new(disk, kind);
  sim__node_of(disk, id)->parent = place->parent;
  sim__name_add(disk, place->parent, place->name, id);
  return id;
}

// MARK: Sync

static void fail_sync(sim_disk *disk, sim__id id) {
  sim__node *node = sim__node_of(disk, id);
  bool folder = node->kind == PKS_VFS_KIND_FOLDER;
  if (disk->failed_sync == SIM_FAILED_SYNC_RANDOM) {
    sim__sync_some(disk, id);
  } else if (folder) {
    bool *none = sim__allocate(node->op_count * sizeof *none);
    sim__sync_folder(disk, id, disk->failed_sync == SIM_FAILED_SYNC_KEEPS ? NULL : none);
    free(none);
  } else if (disk->failed_sync == SIM_FAILED_SYNC_KEEPS) {
    sim__sync_file(disk, node);
  } else {
    node->lost = node->lost || node->piece_count + node->size_count > 0;
    sim__file_forget_log(node);
    sim__changed(disk);
  }
}

static int sync_node(const void *site, sim__process *process, sim__id id, const char *path) {
  sim_disk *disk = process->disk;
  bool folder = id != SIM__NONE && sim__node_of(disk, id)->kind == PKS_VFS_KIND_FOLDER;
  sim_call call = folder ? SIM_CALL_SYNC_FOLDER : SIM_CALL_SYNC_FILE;
  sim__verdict verdict = sim__enter_from(site, process, call, true, path, NULL);
  if (verdict.injected) {
    fail_sync(disk, id);
  } else if (verdict.error == 0 && !verdict.lies) {
    if (folder) {
      sim__sync_folder(disk, id, NULL);
    } else {
      sim__sync_file(disk, sim__node_of(disk, id));
    }
  }
  return sim__traced(process, verdict.error, "sync %s%s", path, verdict.lies ? " (ignored)" : "");
}

static int do_sync(void *context, pks_vfs_file file) {
  const sim__handle *handle = require_handle(context, file);
  return sync_node(__builtin_return_address(0), context, handle != NULL ? handle->node : SIM__NONE, path_of(handle));
}

// MARK: Opening

/// With `create` it makes the root's own name durable, as no other call can, which is one more mutating call: a `sync` of
/// the parent.
static int do_open_root(void *context, const char *path, bool create_it, pks_vfs_file *out) {
  sim__process *process = context;
  sim_disk *disk = process->disk;
  *out = PKS_VFS_NO_FILE;
  sim__place place;
  int error = sim__resolve(disk, SIM__ROOT, path, true, &place);
  bool creates = create_it && error == ENOENT && place.parent != SIM__NONE;
  const char *full = full_path(process, NULL, path, disk->path);
  sim__verdict verdict = sim__enter(process, SIM_CALL_OPEN, creates, full, NULL);
  if (verdict.error != 0) {
    error = verdict.error;
  } else if (creates) {
    error = may_create(disk, &place);
    if (error == 0) { place.node = create(disk, &place, PKS_VFS_KIND_FOLDER); }
  }
  if (error == 0 && sim__node_of(disk, place.node)->kind != PKS_VFS_KIND_FOLDER) { error = ENOTDIR; }
  (void)sim__traced(process, error, "open_root %s%s", full, creates ? " (new)" : "");
  if (error == 0 && create_it) {
    sim__text *above = sim__text_new(full, strlen(full));
    char *slash = strrchr(above->bytes, '/');
    slash[slash == above->bytes ? 1 : 0] = '\0';
    error = sync_node(__builtin_return_address(0), process, sim__node_of(disk, place.node)->parent, above->bytes);
    sim__text_release(above);
    // As the real one does: a folder whose name could not be made durable is taken back.
    if (error != 0 && creates && !sim_stopped(disk)) { sim__name_remove(disk, place.parent, place.name); }
  }
  if (error == 0) { *out = handle_new(process, place.node, true, false, full); }
  return error;
}

static int check_open(const sim__node *node, pks_vfs_open_mode mode) {
  if (mode == PKS_VFS_OPEN_CREATE) { return EEXIST; }
  if (mode == PKS_VFS_OPEN_FOLDER || mode == PKS_VFS_OPEN_FOLDER_FOLLOW) {
    return node->kind == PKS_VFS_KIND_FOLDER ? 0 : ENOTDIR;
  }
  if (node->kind == PKS_VFS_KIND_LINK) { return ELOOP; }
  return node->kind == PKS_VFS_KIND_FOLDER ? EISDIR : 0;
}

static int do_open(void *context, pks_vfs_file folder, const char *path, pks_vfs_open_mode mode, pks_vfs_file *out) {
  static const char *const modes[] = {
    [PKS_VFS_OPEN_READ] = "read",
    [PKS_VFS_OPEN_READ_FOLLOW] = "read-follow",
    [PKS_VFS_OPEN_READ_WRITE] = "read-write",
    [PKS_VFS_OPEN_CREATE] = "create",
    [PKS_VFS_OPEN_OR_CREATE] = "open-or-create",
    [PKS_VFS_OPEN_LOCK] = "lock",
    [PKS_VFS_OPEN_SHARED_LOCK] = "shared-lock",
    [PKS_VFS_OPEN_FOLDER] = "folder",
    [PKS_VFS_OPEN_FOLDER_FOLLOW] = "folder-follow",
  };
  sim__process *process = context;
  sim_disk *disk = process->disk;
  *out = PKS_VFS_NO_FILE;
  const sim__handle *above = require_handle(process, folder);
  if (above == NULL) { return EIO; }
  sim__place place = {0};
  bool follows = mode == PKS_VFS_OPEN_READ_FOLLOW || mode == PKS_VFS_OPEN_FOLDER_FOLLOW;
  int error = resolve_below(process, above, path, follows, &place);
  bool opens_or_creates = mode == PKS_VFS_OPEN_OR_CREATE || mode == PKS_VFS_OPEN_LOCK;
  bool may_make = mode == PKS_VFS_OPEN_CREATE || opens_or_creates || mode == PKS_VFS_OPEN_SHARED_LOCK;
  bool creates = may_make && error == ENOENT && place.parent != SIM__NONE;
  bool writable = mode == PKS_VFS_OPEN_READ_WRITE || mode == PKS_VFS_OPEN_CREATE || opens_or_creates;
  const char *full = full_path(process, above, path, disk->path);
  sim__verdict verdict = sim__enter(process, SIM_CALL_OPEN, creates, full, NULL);
  if (verdict.error != 0) {
    error = verdict.error;
  } else if (creates) {
    error = may_create(disk, &place);
    if (error == 0) { place.node = create(disk, &place, PKS_VFS_KIND_FILE); }
  } else if (error == 0) {
    error = check_open(sim__node_of(disk, place.node), mode);
    if (error == 0 && writable && disk->read_only) { error = EROFS; }
  }
  if (error == 0) { *out = handle_new(process, place.node, true, writable, full); }
  return sim__traced(
    process, error, "open %s %s%s (%u) -> %d", modes[mode], full, creates ? " (new)" : "", place.node, *out
  );
}

static void do_close(void *context, pks_vfs_file file) {
  sim__process *process = context;
  const sim__handle *handle = require_handle(process, file);
  if (handle == NULL) { return; }
  (void)sim__traced(process, 0, "close %d %s", file, handle->path->bytes);
  handle_free(process->disk, file);
}

// MARK: Looking

static void fill_info(const sim__node *node, sim__id id, pks_vfs_info *out) {
  *out = (pks_vfs_info
  ){.kind = node->kind, .executable = node->executable, .device = 1, .inode = id, .modified_ns = node->modified_ns};
  if (node->kind == PKS_VFS_KIND_FILE) { out->size = node->live->size; }
  if (node->kind == PKS_VFS_KIND_LINK) { out->size = node->target->length; }
  out->stored = node->kind == PKS_VFS_KIND_FILE ? pks__align_up(out->size, SIM__SECTOR) : 0;
}

static int do_info(void *context, pks_vfs_file folder, const char *path, bool follow, pks_vfs_info *out) {
  sim__process *process = context;
  const sim__handle *above = require_handle(process, folder);
  if (above == NULL) { return EIO; }
  const char *full = full_path(process, above, path, process->disk->path);
  int error = sim__enter(process, SIM_CALL_INFO, false, full, NULL).error;
  sim__place place;
  if (error == 0) { error = resolve_below(process, above, path, follow, &place); }
  if (error == 0) { fill_info(sim__node_of(process->disk, place.node), place.node, out); }
  return sim__traced(process, error, "info %s", full);
}

static int do_info_of(void *context, pks_vfs_file file, pks_vfs_info *out) {
  sim__process *process = context;
  const sim__handle *handle = require_handle(process, file);
  int error = sim__enter(process, SIM_CALL_INFO, false, path_of(handle), NULL).error;
  if (error == 0) { fill_info(sim__node_of(process->disk, handle->node), handle->node, out); }
  return sim__traced(process, error, "info_of %s", path_of(handle));
}

static int do_read_link(
  void *context, pks_vfs_file folder, const char *path, char *out, size_t capacity, size_t *length
) {
  sim__process *process = context;
  const sim__handle *above = require_handle(process, folder);
  if (above == NULL) { return EIO; }
  const char *full = full_path(process, above, path, process->disk->path);
  int error = sim__enter(process, SIM_CALL_READ_LINK, false, full, NULL).error;
  sim__place place;
  if (error == 0) { error = resolve_below(process, above, path, false, &place); }
  if (error == 0 && sim__node_of(process->disk, place.node)->kind != PKS_VFS_KIND_LINK) { error = EINVAL; }
  if (error == 0) {
    const sim__text *target = sim__node_of(process->disk, place.node)->target;
    if (target->length >= capacity) {
      error = ENAMETOOLONG;
    } else {
      *length = target->length;
      memcpy(out, target->bytes, target->length + 1);
    }
  }
  return sim__traced(process, error, "read_link %s", full);
}

/// Entries come in an order that depends on seed and folder, and that no caller may rely on; the visitor may change the
/// folder.
static int do_list(void *context, pks_vfs_file folder, pks_vfs_visitor *visit, void *visit_context) {
  sim__process *process = context;
  sim_disk *disk = process->disk;
  const sim__handle *handle = require_handle(process, folder);
  int error = sim__enter(process, SIM_CALL_LIST, false, path_of(handle), NULL).error;
  if (error == 0 && sim__node_of(disk, handle->node)->kind != PKS_VFS_KIND_FOLDER) { error = ENOTDIR; }
  (void)sim__traced(process, error, "list %s", path_of(handle));
  if (error != 0) { return error; }

  const sim__node *node = sim__node_of(disk, handle->node);
  struct {
    sim__text *name;
    pks_vfs_kind kind;
  } *items = sim__allocate(node->entry_count * sizeof *items);
  uint64_t random = disk->seed ^ handle->node;
  size_t count = 0;
  for (size_t i = 0; i < node->entry_count; i++) {
    if (node->entries[i].live == SIM__NONE) { continue; }
    size_t place = (size_t)(sim_next_random(&random) % (count + 1));
    items[count++] = items[place];
    items[place].name = sim__text_retain(node->entries[i].name);
    items[place].kind = disk->vague_lists ? PKS_VFS_KIND_OTHER : sim__node_of(disk, node->entries[i].live)->kind;
  }
  bool going = true;
  for (size_t i = 0; i < count; i++) {
    if (going) { going = visit(visit_context, items[i].name->bytes, items[i].name->length, items[i].kind); }
    sim__text_release(items[i].name);
  }
  free(items);
  return 0;
}

// MARK: Bytes

/// Chooses a place that a call hits by mistake: a sector of any file, in `*file` and `*offset`. Returns false if all
/// files are empty.
static bool wrong_place(const sim_disk *disk, uint64_t *random, sim__id *file, uint64_t *offset) {
  uint64_t sectors = 0;
  for (int pass = 0; pass < 2; pass++) {
    uint64_t chosen = pass == 0 || sectors == 0 ? UINT64_MAX : sim_next_random(random) % sectors;
    for (sim__id id = SIM__ROOT; id < disk->node_count; id++) {
      const sim__node *node = sim__node_of(disk, id);
      if (node == NULL || node->kind != PKS_VFS_KIND_FILE || node->live_names == 0) { continue; }
      uint64_t count = pks__align_up(node->live->size, SIM__SECTOR) / SIM__SECTOR;
      if (pass == 0) {
        sectors += count;
      } else if (chosen < count) {
        *file = id;
        *offset = chosen * SIM__SECTOR;
        return true;
      } else {
        chosen -= count;
      }
    }
  }
  return false;
}

static void flip_bit(uint64_t *random, uint8_t *bytes, size_t byte_count) {
  uint64_t draw = sim_next_random(random);
  if (byte_count > 0) { bytes[draw / 8 % byte_count] ^= (uint8_t)(1 << draw % 8); }
}

/// Applies the effect of `sim_lie` to the bytes read from a file.
static void distort(
  const sim_disk *disk, const sim__verdict *verdict, const sim__node *node, uint64_t offset, uint8_t *bytes, size_t *got
) {
  uint64_t random = verdict->seed, elsewhere = 0;
  sim__id other = SIM__NONE;
  switch (verdict->lie) {
    case SIM_LIE_FLIPPED: flip_bit(&random, bytes, *got); break;
    case SIM_LIE_MISDIRECTED:
      if (wrong_place(disk, &random, &other, &elsewhere)) {
        sim__image_read(sim__node_of(disk, other)->live, elsewhere, bytes, *got);
      }
      break;
    case SIM_LIE_STALE: sim__image_read(node->stale, offset, bytes, *got); break;
    case SIM_LIE_SHORT: *got = *got > 0 ? (size_t)(sim_next_random(&random) % *got) : 0; break;
    case SIM_LIE_LOST: break;
  }
}

static int do_read_at(void *context, pks_vfs_file file, uint64_t offset, void *out, size_t byte_count, size_t *got) {
  sim__process *process = context;
  const sim__handle *handle = require_handle(process, file);
  *got = 0;
  sim__verdict verdict = sim__enter(process, SIM_CALL_READ, false, path_of(handle), NULL);
  int error = verdict.error;
  if (error == 0 && !pks__range_fits(offset, byte_count, INT64_MAX)) { error = EOVERFLOW; }
  if (error == 0 && sim__node_of(process->disk, handle->node)->kind != PKS_VFS_KIND_FILE) { error = EISDIR; }
  if (error == 0) {
    const sim__image *image = sim__node_of(process->disk, handle->node)->live;
    if (offset < image->size) { *got = (size_t)pks__min64(byte_count, image->size - offset); }
    sim__image_read(image, offset, out, *got);
    if (verdict.lie != 0) {
      distort(process->disk, &verdict, sim__node_of(process->disk, handle->node), offset, out, got);
    }
    process->disk->bytes_read += *got;
  }
  return sim__traced(
    process, error, "read %s %llu+%zu -> %zu", path_of(handle), (unsigned long long)offset, byte_count, *got
  );
}

/// Returns the size up to which the file may grow.
static uint64_t size_limit(const sim_disk *disk, const sim__node *file) {
  uint64_t used = sim_used_bytes(disk), limit = 0;
  uint64_t room = disk->capacity > used ? disk->capacity - used : 0;
  if (pks__add_overflows(pks__align_up(file->live->size, SIM__SECTOR), room, &limit)) { return UINT64_MAX; }
  return limit / SIM__SECTOR * SIM__SECTOR;
}

/// Performs a write with the effect of `sim_lie`.
static void write_wrongly(
  sim_disk *disk, const sim__verdict *verdict, sim__node *node, uint64_t offset, const uint8_t *bytes, size_t byte_count
) {
  uint64_t random = verdict->seed, elsewhere = 0;
  sim__id other = SIM__NONE;
  if (verdict->lie == SIM_LIE_FLIPPED) {
    uint8_t *copy = sim__allocate(byte_count);
    memcpy(copy, bytes, byte_count);
    flip_bit(&random, copy, byte_count);
    sim__file_write(disk, node, offset, copy, byte_count);
    free(copy);
    return;
  }
  if (verdict->lie == SIM_LIE_MISDIRECTED && wrong_place(disk, &random, &other, &elsewhere)) {
    sim__node *hit = sim__node_of(disk, other);
    uint64_t room = hit->live->size - pks__min64(elsewhere, hit->live->size);
    sim__file_write(disk, hit, elsewhere, bytes, (size_t)pks__min64(byte_count, room));
  }
  sim__file_extend(disk, node, offset + byte_count);
}

static int do_find_data(void *context, pks_vfs_file file, uint64_t offset, uint64_t *begin, uint64_t *end) {
  sim__process *process = context;
  const sim__handle *handle = require_handle(process, file);
  if (handle == NULL) { return EIO; }
  sim__image_find_data(sim__node_of(process->disk, handle->node)->live, offset, begin, end);
  return 0;
}

static int do_write_at(void *context, pks_vfs_file file, uint64_t offset, const void *bytes, size_t byte_count) {
  sim__process *process = context;
  sim_disk *disk = process->disk;
  const sim__handle *handle = require_handle(process, file);
  sim__verdict verdict = sim__enter(process, SIM_CALL_WRITE, true, path_of(handle), NULL);
  int error = verdict.error;
  if (handle != NULL && (error == 0 || verdict.injected)) {
    sim__node *node = sim__node_of(disk, handle->node);
    uint64_t end = 0;
    size_t written = verdict.injected ? byte_count / 2 : byte_count;
    if (!handle->writable) {
      error = byte_count > 0 ? EBADF : error;
      written = 0;
    } else if (pks__add_overflows(offset, byte_count, &end) || end > largest_file) {
      error = error != 0 ? error : EFBIG;
      written = 0;
    } else if (disk->capacity != SIM_NEVER && end > node->live->size) {
      uint64_t limit = size_limit(disk, node);
      if (end > limit && error == 0) { error = ENOSPC; }
      written = (size_t)pks__min64(written, limit > offset ? limit - offset : 0);
    }
    if (verdict.lie == SIM_LIE_LOST || verdict.lie == SIM_LIE_FLIPPED || verdict.lie == SIM_LIE_MISDIRECTED) {
      write_wrongly(disk, &verdict, node, offset, bytes, written);
    } else {
      sim__file_write(disk, node, offset, bytes, written);
    }
  }
  return sim__traced(process, error, "write %s %llu+%zu", path_of(handle), (unsigned long long)offset, byte_count);
}

static int do_preallocate(void *context, pks_vfs_file file, uint64_t size) {
  sim__process *process = context;
  sim_disk *disk = process->disk;
  const sim__handle *handle = require_handle(process, file);
  int error = sim__enter(process, SIM_CALL_PREALLOCATE, true, path_of(handle), NULL).error;
  if (error == 0) {
    sim__node *node = sim__node_of(disk, handle->node);
    if (!handle->writable) {
      error = EBADF;
    } else if (size > largest_file) {
      error = EFBIG;
    } else if (disk->capacity != SIM_NEVER && size > node->live->size && size > size_limit(disk, node)) {
      error = ENOSPC;
    } else {
      sim__file_extend(disk, node, size);
    }
  }
  return sim__traced(process, error, "preallocate %s %llu", path_of(handle), (unsigned long long)size);
}

static void do_advise(void *context, pks_vfs_file file, uint64_t offset, uint64_t byte_count, bool will_need) {
  (void)require_handle(context, file);
  (void)offset;
  (void)byte_count;
  (void)will_need;
}

// MARK: Names

static int do_make_folder(void *context, pks_vfs_file folder, const char *path) {
  sim__process *process = context;
  sim_disk *disk = process->disk;
  const sim__handle *above = require_handle(process, folder);
  if (above == NULL) { return EIO; }
  const char *full = full_path(process, above, path, disk->path);
  int error = sim__enter(process, SIM_CALL_MAKE_FOLDER, true, full, NULL).error;
  if (error == 0) {
    sim__place place;
    error = resolve_below(process, above, path, false, &place);
    if (error == 0 || place.node != SIM__NONE) {
      error = EEXIST;
    } else if (error == ENOENT && place.parent != SIM__NONE) {
      error = may_create(disk, &place);
      if (error == 0) { (void)create(disk, &place, PKS_VFS_KIND_FOLDER); }
    }
  }
  return sim__traced(process, error, "make_folder %s", full);
}

static bool is_within(const sim_disk *disk, sim__id id, sim__id folder) {
  while (id != folder && sim__node_of(disk, id)->live_names > 0) { id = sim__node_of(disk, id)->parent; }
  return id == folder;
}

static int check_rename(const sim_disk *disk, const sim__place *from, const sim__place *to) {
  if (from->parent == SIM__NONE || to->parent == SIM__NONE) { return EBUSY; }
  if (to->parent != SIM__ROOT && sim__node_of(disk, to->parent)->live_names == 0) { return ENOENT; }
  if (is_within(disk, to->parent, from->node)) { return EINVAL; }
  if (to->node == SIM__NONE || to->node == from->node) { return 0; }
  if (is_within(disk, from->parent, to->node)) { return ENOTEMPTY; }
  bool moves_folder = sim__node_of(disk, from->node)->kind == PKS_VFS_KIND_FOLDER;
  bool onto_folder = sim__node_of(disk, to->node)->kind == PKS_VFS_KIND_FOLDER;
  if (moves_folder && !onto_folder) { return ENOTDIR; }
  if (!moves_folder && onto_folder) { return EISDIR; }
  return onto_folder && sim__live_entry_count(sim__node_of(disk, to->node)) > 0 ? ENOTEMPTY : 0;
}

static int do_rename(void *context, pks_vfs_file folder, const char *from, const char *to) {
  sim__process *process = context;
  sim_disk *disk = process->disk;
  const sim__handle *above = require_handle(process, folder);
  if (above == NULL) { return EIO; }
  const char *full_from = full_path(process, above, from, disk->path),
             *full_to = full_path(process, above, to, disk->other_path);
  int error = sim__enter(process, SIM_CALL_RENAME, true, full_from, full_to).error;
  if (error == 0) {
    // Like kernels: resolves both paths up to their last parts first, then checks that the source exists.
    sim__place source, target;
    error = resolve_below(process, above, from, false, &source);
    if (error == 0 || source.parent != SIM__NONE) {
      int missing = error;
      error = resolve_below(process, above, to, false, &target);
      if (error == ENOENT && target.parent != SIM__NONE) { error = 0; }
      if (error == 0) { error = target.parent == SIM__NONE ? EBUSY : missing; }
    }
    if (error == 0) { error = check_rename(disk, &source, &target); }
    if (error == 0 && source.node != target.node) {
      sim__name_move(disk, source.parent, source.name, target.parent, target.name);
    }
  }
  return sim__traced(process, error, "rename %s %s", full_from, full_to);
}

static int do_unlink(void *context, pks_vfs_file folder, const char *path, bool is_folder) {
  sim__process *process = context;
  sim_disk *disk = process->disk;
  const sim__handle *above = require_handle(process, folder);
  if (above == NULL) { return EIO; }
  const char *full = full_path(process, above, path, disk->path);
  int error = sim__enter(process, SIM_CALL_UNLINK, true, full, NULL).error;
  if (error == 0) {
    sim__place place;
    error = resolve_below(process, above, path, false, &place);
    if (error == 0 && place.parent == SIM__NONE) { error = is_folder ? EINVAL : EISDIR; }
    if (error == 0) {
      const sim__node *node = sim__node_of(disk, place.node);
      if (is_folder && node->kind != PKS_VFS_KIND_FOLDER) { error = ENOTDIR; }
      if (!is_folder && node->kind == PKS_VFS_KIND_FOLDER) { error = EISDIR; }
      if (is_folder && error == 0 && sim__live_entry_count(node) > 0) { error = ENOTEMPTY; }
    }
    if (error == 0) { sim__name_remove(disk, place.parent, place.name); }
  }
  return sim__traced(process, error, "unlink %s", full);
}

static int do_touch(void *context, pks_vfs_file folder, const char *path) {
  sim__process *process = context;
  sim_disk *disk = process->disk;
  const sim__handle *above = require_handle(process, folder);
  if (above == NULL) { return EIO; }
  const char *full = full_path(process, above, path, disk->path);
  int error = sim__enter(process, SIM_CALL_TOUCH, true, full, NULL).error;
  sim__place place;
  if (error == 0) { error = resolve_below(process, above, path, false, &place); }
  if (error == 0) { sim__node_of(disk, place.node)->modified_ns = process->vfs.now_ns(context); }
  return sim__traced(process, error, "touch %s", full);
}

// MARK: Mappings

/// Registers memory of the disk's own as a mapping.
static void map_copy(sim__process *process, uint8_t *copy, size_t byte_count) {
  sim_disk *disk = process->disk;
  disk->maps = sim__grow(disk->maps, &disk->map_capacity, disk->map_count, sizeof *disk->maps);
  disk->maps[disk->map_count++] = (sim__map){.owner = process, .byte_count = byte_count, .copy = copy};
}

/// Makes a copy of the file with the effect of `sim_lie`, for a mapping.
static uint8_t *map_wrongly(
  const sim_disk *disk, const sim__verdict *verdict, const sim__node *node, size_t byte_count
) {
  uint8_t *copy = sim__allocate(byte_count);
  size_t shown = byte_count;
  sim__image_read(node->live, 0, copy, byte_count);
  distort(disk, verdict, node, 0, copy, &shown);
  memset(copy + shown, 0, byte_count - shown);
  return copy;
}

static int do_map(void *context, pks_vfs_file file, size_t byte_count, bool writable, void **out) {
  sim__process *process = context;
  sim_disk *disk = process->disk;
  *out = NULL;
  const sim__handle *handle = require_handle(process, file);
  sim__verdict verdict = sim__enter(process, SIM_CALL_MAP, false, path_of(handle), NULL);
  int error = verdict.error;
  if (error == 0 && byte_count == 0) { error = EINVAL; }
  if (error == 0 && sim__node_of(disk, handle->node)->kind != PKS_VFS_KIND_FILE) { error = EACCES; }
  if (error == 0 && writable && !handle->writable) { error = EACCES; }
  if (error == 0 && byte_count > SIM__AREA_RESERVE) { error = ENOMEM; }
  if (error == 0 && verdict.lie != 0 && !writable) {
    uint8_t *copy = map_wrongly(disk, &verdict, sim__node_of(disk, handle->node), byte_count);
    map_copy(process, copy, byte_count);
    *out = copy;
    return sim__traced(process, error, "map %s %zu (a lie)", path_of(handle), byte_count);
  }
  if (error == 0) { error = sim__area_open(sim__node_of(disk, handle->node), writable); }
  if (error == 0) {
    disk->maps = sim__grow(disk->maps, &disk->map_capacity, disk->map_count, sizeof *disk->maps);
    disk->maps[disk->map_count++] =
      (sim__map){.owner = process, .node = handle->node, .byte_count = byte_count, .writable = writable};
    disk->writable_map_count += writable;
    sim__node_of(disk, handle->node)->holders++;
    *out = sim__node_of(disk, handle->node)->area;
  }
  return sim__traced(process, error, "map %s %zu%s", path_of(handle), byte_count, writable ? " writable" : "");
}

/// A private mapping is a copy of the file's current bytes.
static int do_map_private(void *context, pks_vfs_file file, uint64_t offset, size_t byte_count, void **out) {
  sim__process *process = context;
  *out = NULL;
  const sim__handle *handle = require_handle(process, file);
  int error = sim__enter(process, SIM_CALL_MAP, false, path_of(handle), NULL).error;
  if (error == 0 && (byte_count == 0 || offset % PKS_VFS_MAP_GRAIN != 0)) { error = EINVAL; }
  if (error == 0) {
    uint8_t *copy = sim__allocate(byte_count);
    size_t got;
    error = process->vfs.read_at(context, file, offset, copy, byte_count, &got);
    if (error != 0) {
      free(copy);
    } else {
      map_copy(process, copy, byte_count);
      *out = copy;
    }
  }
  return sim__traced(process, error, "map_private %s %zu", path_of(handle), byte_count);
}

/// Closes a private mapping. Returns false if none is at the address.
static bool unmap_private(sim_disk *disk, const void *address) {
  for (size_t i = 0; i < disk->map_count; i++) {
    if (!disk->maps[i].copy || disk->maps[i].copy != address) { continue; }
    free(disk->maps[i].copy);
    disk->maps[i] = disk->maps[--disk->map_count];
    return true;
  }
  return false;
}

static int do_memory_file(void *context, const char *label, pks_vfs_file *out) {
  (void)context;
  (void)label;
  *out = PKS_VFS_NO_FILE;
  return ENOSYS;
}

static int do_seal(void *context, pks_vfs_file file) {
  (void)context;
  (void)file;
  return ENOSYS;
}

static void do_unmap(void *context, void *address, size_t byte_count) {
  sim__process *process = context;
  sim_disk *disk = process->disk;
  sim__harvest(disk);
  if (unmap_private(disk, address)) { return; }
  for (size_t i = 0; i < disk->map_count; i++) {
    sim__map map = disk->maps[i];
    if (map.copy || map.owner != process || map.byte_count != byte_count || sim__node_of(disk, map.node)->area != address) {
      continue;
    }
    (void)sim__traced(process, 0, "unmap (%u) %zu", map.node, byte_count);
    disk->maps[i] = disk->maps[--disk->map_count];
    disk->writable_map_count -= map.writable;
    sim__area_close(sim__node_of(disk, map.node), map.writable);
    sim__node_of(disk, map.node)->holders--;
    sim__drop_if_unused(disk, map.node);
    return;
  }
  sim__misuse("a mapping that is not there");
}

static bool do_map_is_live(void *context, pks_vfs_file file) {
  sim__process *process = context;
  return require_handle(process, file) != NULL;
}

static pks_vfs_privacy do_privacy(void *context, pks_vfs_file file) {
  sim__process *process = context;
  return require_handle(process, file) != NULL ? PKS_VFS_PRIVATE : PKS_VFS_PRIVACY_UNKNOWN;
}

// MARK: Locks

static bool overlaps(const sim__lock *lock, sim__id node, uint64_t start, uint64_t end) {
  return lock->node == node && lock->start < end && start < lock->end;
}

static uint64_t lock_end(uint64_t offset, uint64_t length) {
  if (length == 0 || !pks__range_fits(offset, length, INT64_MAX)) {
    sim__misuse("a lock of no bytes, or beyond the largest offset");
  }
  return offset + length;
}

static void lock_add(sim_disk *disk, sim__lock lock) {
  disk->locks = sim__grow(disk->locks, &disk->lock_capacity, disk->lock_count, sizeof *disk->locks);
  disk->locks[disk->lock_count++] = lock;
}

/// Removes a range from the locks of a handle.
static void lock_carve(sim_disk *disk, pks_vfs_file file, uint64_t start, uint64_t end) {
  size_t count = disk->lock_count;
  for (size_t i = 0; i < count;) {
    sim__lock lock = disk->locks[i];
    if (lock.handle != file || !overlaps(&lock, lock.node, start, end)) {
      i++;
      continue;
    }
    disk->locks[i] = disk->locks[--count];
    disk->locks[count] = disk->locks[--disk->lock_count];
    if (lock.start < start) {
      sim__lock left = lock;
      left.end = start;
      lock_add(disk, left);
    }
    if (end < lock.end) {
      sim__lock right = lock;
      right.start = end;
      lock_add(disk, right);
    }
  }
}

static int do_lock(void *context, pks_vfs_file file, uint64_t offset, uint64_t length, pks_vfs_lock_kind kind) {
  static const char *const kinds[] = {"none", "shared", "exclusive"};
  sim__process *process = context;
  sim_disk *disk = process->disk;
  const sim__handle *handle = require_handle(process, file);
  int error = sim__enter(process, SIM_CALL_LOCK, false, path_of(handle), NULL).error;
  uint64_t end = lock_end(offset, length);
  if (error == 0 && kind == PKS_VFS_LOCK_EXCLUSIVE && !handle->writable) { error = EBADF; }
  for (size_t i = 0; error == 0 && kind != PKS_VFS_LOCK_NONE && i < disk->lock_count; i++) {
    const sim__lock *other = &disk->locks[i];
    if (other->handle == file || !overlaps(other, handle->node, offset, end)) { continue; }
    if (kind == PKS_VFS_LOCK_EXCLUSIVE || other->exclusive) { error = EAGAIN; }
  }
  if (error == 0) {
    lock_carve(disk, file, offset, end);
    if (kind != PKS_VFS_LOCK_NONE) {
      lock_add(
        disk,
        (sim__lock
        ){.handle = file,
          .node = handle->node,
          .start = offset,
          .end = end,
          .exclusive = kind == PKS_VFS_LOCK_EXCLUSIVE}
      );
    }
  }
  return sim__traced(
    process, error, "lock %s %llu+%llu %s", path_of(handle), (unsigned long long)offset, (unsigned long long)length,
    kinds[kind]
  );
}

static int do_lock_held(void *context, pks_vfs_file file, uint64_t offset, uint64_t length, bool *held) {
  sim__process *process = context;
  sim_disk *disk = process->disk;
  const sim__handle *handle = require_handle(process, file);
  int error = sim__enter(process, SIM_CALL_LOCK, false, path_of(handle), NULL).error;
  *held = false;
  disk->lock_questions++;
  for (size_t i = 0; error == 0 && i < disk->lock_count; i++) {
    const sim__lock *other = &disk->locks[i];
    if (other->handle == file || !overlaps(other, handle->node, offset, lock_end(offset, length))) { continue; }
    *held = true;
  }
  return sim__traced(
    process, error, "lock_held %s %llu+%llu -> %d", path_of(handle), (unsigned long long)offset,
    (unsigned long long)length, *held
  );
}

// MARK: The rest of the machine

static int64_t do_now_ns(void *context) {
  sim__process *process = context;
  return process->disk->clock_ns += SIM__CALL_NS;
}

/// On a simulated machine, only the calling thread acts. A caller that polls for longer than an hour waits for an
/// action that this thread would have to perform.
static int do_sleep_ns(void *context, int64_t ns) {
  static const int64_t hour = (int64_t)3600 * 1000 * 1000 * 1000;
  sim__process *process = context;
  sim_disk *disk = process->disk;
  disk->clock_ns += ns;
  disk->slept_ns += ns;
  return sim__traced(process, disk->slept_ns > hour ? EDEADLK : 0, "sleep %lld", (long long)ns);
}

static int do_random(void *context, void *out, size_t byte_count) {
  sim__process *process = context;
  int error = sim__enter(process, SIM_CALL_RANDOM, false, "", NULL).error;
  uint8_t *to = out;
  for (size_t i = 0; error == 0 && i < byte_count; i++) {
    to[i] = (uint8_t)(sim_next_random(&process->disk->random) >> 32);
  }
  return sim__traced(process, error, "random %zu", byte_count);
}

static uint32_t do_processor_count(void *context) {
  (void)context;
  return 1;
}

static int do_boot_id(void *context, uint8_t out[16]) {
  sim__process *process = context;
  int error = sim__enter(process, SIM_CALL_BOOT_ID, false, "", NULL).error;
  uint64_t state = process->disk->seed ^ process->disk->boots * 0x2545f4914f6cdd1d;
  for (size_t i = 0; error == 0 && i < 16; i++) { out[i] = (uint8_t)(sim_next_random(&state) >> 32); }
  return sim__traced(process, error, "boot_id");
}

static uint64_t do_process_id(void *context) {
  sim__process *process = context;
  return process->id;
}

static int do_free_bytes(void *context, pks_vfs_file folder, uint64_t *out) {
  sim__process *process = context;
  const sim__handle *handle = require_handle(process, folder);
  int error = sim__enter(process, SIM_CALL_FREE_BYTES, false, path_of(handle), NULL).error;
  uint64_t used = sim_used_bytes(process->disk), capacity = process->disk->capacity;
  if (error == 0) { *out = capacity == SIM_NEVER ? free_without_limit : capacity > used ? capacity - used : 0; }
  return sim__traced(process, error, "free_bytes");
}

static int do_fork_mark(void *context, const uint32_t **out) {
  sim__process *process = context;
  *out = &process->forks;
  return 0;
}

static void do_fork_unmark(void *context, const uint32_t *mark) {
  sim__process *process = context;
  if (mark != &process->forks) { sim__misuse("a mark that was not given out"); }
}

// MARK: Processes

sim__process *sim__process_new(sim_disk *disk, uint64_t id) {
  sim__process *process = sim__allocate(sizeof *process);
  process->disk = disk;
  process->id = id;
  process->vfs = (pks_vfs){
    .context = process,
    .open_root = do_open_root,
    .open = do_open,
    .close = do_close,
    .info = do_info,
    .info_of = do_info_of,
    .read_link = do_read_link,
    .list = do_list,
    .read_at = do_read_at,
    .find_data = do_find_data,
    .write_at = do_write_at,
    .preallocate = do_preallocate,
    .sync = do_sync,
    .advise = do_advise,
    .make_folder = do_make_folder,
    .rename = do_rename,
    .unlink = do_unlink,
    .map = do_map,
    .unmap = do_unmap,
    .map_is_live = do_map_is_live,
    .privacy = do_privacy,
    .map_private = do_map_private,
    .memory_file = do_memory_file,
    .seal = do_seal,
    .touch = do_touch,
    .lock = do_lock,
    .lock_held = do_lock_held,
    .now_ns = do_now_ns,
    .monotonic_ns = do_now_ns,
    .sleep_ns = do_sleep_ns,
    .random = do_random,
    .processor_count = do_processor_count,
    .boot_id = do_boot_id,
    .process_id = do_process_id,
    .fork_mark = do_fork_mark,
    .fork_unmark = do_fork_unmark,
    .free_bytes = do_free_bytes,
  };
  disk->processes = sim__grow(disk->processes, &disk->process_capacity, disk->process_count, sizeof(sim__process *));
  disk->processes[disk->process_count++] = process;
  return process;
}

const pks_vfs *sim_vfs(sim_disk *disk) { return &disk->processes[0]->vfs; }

const pks_vfs *sim_start_process(sim_disk *disk, uint64_t process_id) {
  return &sim__process_new(disk, process_id)->vfs;
}

void sim_fork(const pks_vfs *vfs) {
  sim__process *process = vfs->context;
  process->forks++;
}

void sim_kill(const pks_vfs *vfs) {
  sim__process *process = vfs->context;
  sim_disk *disk = process->disk;
  sim__harvest(disk);
  process->killed = true;
  (void)sim__traced(process, 0, "kill");
  for (size_t i = 0; i < disk->handle_count; i++) {
    if (disk->handles[i].owner == process) { handle_free(disk, (pks_vfs_file)i); }
  }
  // Its mappings stay until it unmaps them, as its objects are still to be freed; nothing more is taken from them.
  for (size_t i = 0; i < disk->map_count; i++) {
    if (disk->maps[i].owner != process || !disk->maps[i].writable) { continue; }
    disk->maps[i].writable = false;
    disk->writable_map_count--;
    sim__node_of(disk, disk->maps[i].node)->writable_maps--;
  }
}
