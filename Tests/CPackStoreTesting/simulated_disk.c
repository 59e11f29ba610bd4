/// The state of a simulated machine's disk: nodes, names, logs of unsynced changes, mappings.
#ifndef _GNU_SOURCE
  #define _GNU_SOURCE 1  // MAP_ANONYMOUS under -std=c11
#endif

#include "simulated_disk.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LINKS_FOLLOWED = 40 };

static uint64_t sectors_up(uint64_t byte_count) { return pks__align_up(byte_count, SIM__SECTOR); }

// MARK: Nodes

void sim__changed(sim_disk *disk) {
  sim__plan_free(disk->plan);
  disk->plan = NULL;
}

sim__id sim__node_new(sim_disk *disk, pks_vfs_kind kind) {
  sim__id id = SIM__ROOT;
  while (id < disk->node_count && disk->nodes[id] != NULL) { id++; }
  while (disk->node_count <= id) {
    disk->nodes = sim__grow(disk->nodes, &disk->node_capacity, disk->node_count, sizeof(sim__node *));
    disk->nodes[disk->node_count++] = NULL;
  }
  sim__node *node = sim__allocate(sizeof *node);
  node->kind = kind;
  node->modified_ns = disk->clock_ns;
  if (kind == PKS_VFS_KIND_FILE) {
    node->live = sim__image_new();
    node->durable = sim__image_retain(node->live);
    node->stale = sim__image_retain(node->live);
  }
  disk->nodes[id] = node;
  return id;
}

/// Frees the contents of a node. The caller adjusts the counts of nodes that it refers to.
static void node_free(sim__node *node) {
  sim__image_release(node->live);
  sim__image_release(node->durable);
  sim__image_release(node->stale);
  free(node->pieces);
  free(node->sizes);
  if (node->area != NULL) { (void)munmap(node->area, SIM__AREA_RESERVE); }
  for (size_t i = 0; i < node->entry_count; i++) { sim__text_release(node->entries[i].name); }
  free(node->entries);
  for (size_t i = 0; i < node->op_count; i++) {
    for (size_t n = 0; n < node->ops[i].count; n++) { sim__text_release(node->ops[i].name[n]); }
  }
  free(node->ops);
  sim__text_release(node->target);
  free(node);
}

static void unlive(sim_disk *disk, sim__id id) {
  if (id == SIM__NONE) { return; }
  sim__node_of(disk, id)->live_names--;
  sim__drop_if_unused(disk, id);
}

static void unkeep(sim_disk *disk, sim__id id) {
  if (id == SIM__NONE) { return; }
  sim__node_of(disk, id)->kept_names--;
  sim__drop_if_unused(disk, id);
}

void sim__drop_if_unused(sim_disk *disk, sim__id id) {
  sim__node *node = sim__node_of(disk, id);
  if (node->live_names + node->kept_names + node->holders > 0) { return; }
  disk->nodes[id] = NULL;
  for (size_t i = 0; i < node->entry_count; i++) {
    unlive(disk, node->entries[i].live);
    unkeep(disk, node->entries[i].durable);
  }
  for (size_t i = 0; i < node->op_count; i++) {
    for (size_t n = 0; n < node->ops[i].count; n++) { unkeep(disk, node->ops[i].value[n]); }
  }
  node_free(node);
}

// MARK: Life

sim_disk *sim__new_like(const sim_disk *disk) {
  sim_disk *made = sim__allocate(sizeof *made);
  made->capacity = SIM_NEVER;
  made->stop_left = SIM_NEVER;
  if (disk != NULL) {
    made->seed = disk->seed;
    made->random = disk->random;
    made->boots = disk->boots;
    made->clock_ns = disk->clock_ns;
    made->capacity = disk->capacity;
    made->failed_sync = disk->failed_sync;
    made->read_only = disk->read_only;
    made->vague_lists = disk->vague_lists;
    made->tracing = disk->tracing;
  }
  (void)sim__process_new(made, disk != NULL ? disk->processes[0]->id : 1);
  return made;
}

sim_disk *sim_new(uint64_t seed) {
  sim_disk *disk = sim__new_like(NULL);
  disk->seed = disk->random = seed;
  disk->clock_ns = 1700000000 * (int64_t)1000000000;
  sim__id root = sim__node_new(disk, PKS_VFS_KIND_FOLDER);
  sim__node_of(disk, root)->holders = 1;
  sim__node_of(disk, root)->parent = root;
  return disk;
}

void sim_free(sim_disk *disk) {
  if (disk == NULL) { return; }
  sim_clear_faults(disk);
  sim__plan_free(disk->plan);
  for (size_t i = 0; i < disk->node_count; i++) {
    if (disk->nodes[i] != NULL) { node_free(disk->nodes[i]); }
  }
  for (size_t i = 0; i < disk->handle_count; i++) { sim__text_release(disk->handles[i].path); }
  for (size_t i = 0; i < disk->process_count; i++) { free(disk->processes[i]); }
  free(disk->nodes);
  free(disk->processes);
  free(disk->handles);
  for (size_t i = 0; i < disk->map_count; i++) { free(disk->maps[i].copy); }
  free(disk->maps);
  free(disk->locks);
  free(disk->rules);
  free(disk->trace.bytes);
  free(disk);
}

static void *copy_items(const void *items, size_t count, size_t item_size) {
  if (count == 0) { return NULL; }
  void *copy = sim__allocate(count * item_size);
  memcpy(copy, items, count * item_size);
  return copy;
}

static sim__node *node_clone(const sim__node *node) {
  sim__node *copy = sim__allocate(sizeof *copy);
  *copy = *node;
  copy->holders = 0;
  copy->area = NULL;
  copy->area_bytes = 0;
  copy->maps = copy->writable_maps = 0;
  if (node->kind == PKS_VFS_KIND_FILE) {
    copy->live = sim__image_retain(node->live);
    copy->durable = sim__image_retain(node->durable);
    copy->stale = sim__image_retain(node->stale);
  }
  copy->pieces = copy_items(node->pieces, node->piece_count, sizeof *node->pieces);
  copy->piece_capacity = node->piece_count;
  copy->sizes = copy_items(node->sizes, node->size_count, sizeof *node->sizes);
  copy->size_capacity = node->size_count;
  copy->entries = copy_items(node->entries, node->entry_count, sizeof *node->entries);
  copy->entry_capacity = node->entry_count;
  for (size_t i = 0; i < node->entry_count; i++) { (void)sim__text_retain(node->entries[i].name); }
  copy->ops = copy_items(node->ops, node->op_count, sizeof *node->ops);
  copy->op_capacity = node->op_count;
  for (size_t i = 0; i < node->op_count; i++) {
    for (size_t n = 0; n < node->ops[i].count; n++) { (void)sim__text_retain(node->ops[i].name[n]); }
  }
  (void)sim__text_retain(node->target);
  return copy;
}

sim_disk *sim_clone(sim_disk *disk) {
  sim__harvest(disk);
  sim_disk *clone = sim__new_like(disk);
  clone->nodes = sim__allocate(disk->node_count * sizeof(sim__node *));
  clone->node_count = clone->node_capacity = disk->node_count;
  for (sim__id id = SIM__ROOT; id < disk->node_count; id++) {
    if (disk->nodes[id] != NULL) { clone->nodes[id] = node_clone(disk->nodes[id]); }
  }
  clone->nodes[SIM__ROOT]->holders = 1;
  for (sim__id id = SIM__ROOT; id < disk->node_count; id++) {
    if (clone->nodes[id] != NULL) { sim__drop_if_unused(clone, id); }
  }
  return clone;
}

// MARK: Names

sim__entry *sim__find(const sim__node *folder, const char *name, size_t length, size_t *index) {
  size_t low = 0, high = folder->entry_count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    sim__entry *entry = &folder->entries[middle];
    int order = memcmp(entry->name->bytes, name, pks__min_size(entry->name->length, length));
    if (order == 0) { order = (entry->name->length > length) - (entry->name->length < length); }
    if (order == 0) {
      if (index != NULL) { *index = middle; }
      return entry;
    }
    if (order < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (index != NULL) { *index = low; }
  return NULL;
}

static sim__entry *find_or_insert(sim__node *folder, sim__text *name) {
  size_t index = 0;
  sim__entry *found = sim__find(folder, name->bytes, name->length, &index);
  if (found != NULL) { return found; }
  folder->entries = sim__grow(folder->entries, &folder->entry_capacity, folder->entry_count, sizeof *folder->entries);
  memmove(
    &folder->entries[index + 1], &folder->entries[index], (folder->entry_count - index) * sizeof *folder->entries
  );
  folder->entry_count++;
  folder->entries[index] = (sim__entry){.name = sim__text_retain(name), .live = SIM__NONE, .durable = SIM__NONE};
  return &folder->entries[index];
}

static void remove_if_empty(sim__node *folder, sim__entry *entry) {
  if (entry->live != SIM__NONE || entry->durable != SIM__NONE) { return; }
  sim__text_release(entry->name);
  size_t index = (size_t)(entry - folder->entries);
  folder->entry_count--;
  memmove(entry, entry + 1, (folder->entry_count - index) * sizeof *entry);
}

void sim__append_entry(sim__node *folder, sim__text *name, sim__id value) {
  folder->entries = sim__grow(folder->entries, &folder->entry_capacity, folder->entry_count, sizeof *folder->entries);
  folder->entries[folder->entry_count++] = (sim__entry){.name = name, .live = value, .durable = value};
}

size_t sim__live_entry_count(const sim__node *folder) {
  size_t count = 0;
  for (size_t i = 0; i < folder->entry_count; i++) { count += folder->entries[i].live != SIM__NONE; }
  return count;
}

static void set_live(sim_disk *disk, sim__node *folder, sim__text *name, sim__id value) {
  sim__entry *entry = find_or_insert(folder, name);
  sim__id old = entry->live;
  entry->live = value;
  if (value != SIM__NONE) { sim__node_of(disk, value)->live_names++; }
  remove_if_empty(folder, entry);
  unlive(disk, old);
  folder->modified_ns = disk->clock_ns;
}

static void set_durable(sim_disk *disk, sim__node *folder, sim__text *name, sim__id value) {
  sim__entry *entry = find_or_insert(folder, name);
  sim__id old = entry->durable;
  entry->durable = value;
  if (value != SIM__NONE) { sim__node_of(disk, value)->kept_names++; }
  remove_if_empty(folder, entry);
  unkeep(disk, old);
}

/// Takes the references of the names.
static void log_op(sim_disk *disk, sim__node *folder, sim__name_op op) {
  folder->ops = sim__grow(folder->ops, &folder->op_capacity, folder->op_count, sizeof op);
  folder->ops[folder->op_count++] = op;
  for (size_t n = 0; n < op.count; n++) {
    if (op.value[n] != SIM__NONE) { sim__node_of(disk, op.value[n])->kept_names++; }
  }
  sim__changed(disk);
}

static void log_one(sim_disk *disk, sim__node *folder, sim__text *name, sim__id value) {
  log_op(disk, folder, (sim__name_op){.count = 1, .name = {name, NULL}, .value = {value, SIM__NONE}});
}

void sim__name_add(sim_disk *disk, sim__id folder, const char *name, sim__id node) {
  sim__text *text = sim__text_new(name, strlen(name));
  log_one(disk, sim__node_of(disk, folder), text, node);
  set_live(disk, sim__node_of(disk, folder), text, node);
}

void sim__name_remove(sim_disk *disk, sim__id folder, const char *name) {
  sim__text *text = sim__text_new(name, strlen(name));
  log_one(disk, sim__node_of(disk, folder), text, SIM__NONE);
  set_live(disk, sim__node_of(disk, folder), text, SIM__NONE);
}

void sim__name_move(sim_disk *disk, sim__id from, const char *from_name, sim__id to, const char *to_name) {
  sim__node *source = sim__node_of(disk, from), *target = sim__node_of(disk, to);
  sim__id moved = sim__find(source, from_name, strlen(from_name), NULL)->live;
  sim__text *old = sim__text_new(from_name, strlen(from_name));
  sim__text *new = sim__text_new(to_name, strlen(to_name));
  if (from == to) {
    log_op(disk, source, (sim__name_op){.count = 2, .name = {old, new}, .value = {SIM__NONE, moved}});
  } else {
    log_one(disk, target, new, moved);
    log_one(disk, source, old, SIM__NONE);
  }
  set_live(disk, target, new, moved);
  set_live(disk, source, old, SIM__NONE);
  if (sim__node_of(disk, moved)->kind == PKS_VFS_KIND_FOLDER) { sim__node_of(disk, moved)->parent = to; }
}

void sim__sync_folder(sim_disk *disk, sim__id id, const bool *survives) {
  sim__node *folder = sim__node_of(disk, id);
  for (size_t i = 0; i < folder->op_count; i++) {
    for (size_t n = 0; n < folder->ops[i].count; n++) {
      if (survives == NULL || survives[i]) {
        set_durable(disk, folder, folder->ops[i].name[n], folder->ops[i].value[n]);
      }
    }
  }
  for (size_t i = 0; i < folder->op_count; i++) {
    for (size_t n = 0; n < folder->ops[i].count; n++) {
      unkeep(disk, folder->ops[i].value[n]);
      sim__text_release(folder->ops[i].name[n]);
    }
  }
  folder->op_count = 0;
  sim__changed(disk);
}

// MARK: Paths

int sim__resolve(sim_disk *disk, sim__id start, const char *path, bool follow_last, sim__place *out) {
  char text[2 * SIM__PATH_MAX + 2], longer[2 * SIM__PATH_MAX + 2];
  *out = (sim__place){0};
  if (path[0] == '\0') { return ENOENT; }
  if (strlen(path) > SIM__PATH_MAX) { return ENAMETOOLONG; }
  (void)snprintf(text, sizeof text, "%s", path);
  sim__id folder = path[0] == '/' ? SIM__ROOT : start;
  const char *rest = text;
  for (int links = 0;;) {
    rest += strspn(rest, "/");
    if (sim__node_of(disk, folder)->kind != PKS_VFS_KIND_FOLDER) { return ENOTDIR; }
    size_t length = strcspn(rest, "/");
    if (length == 0) {
      *out = (sim__place){.node = folder};
      return 0;
    }
    const char *part = rest;
    rest += length;
    if (length == 1 && part[0] == '.') { continue; }
    if (length == 2 && part[0] == '.' && part[1] == '.') {
      // The parent of a removed folder may be gone.
      if (folder != SIM__ROOT && sim__node_of(disk, folder)->live_names == 0) { return ENOENT; }
      folder = sim__node_of(disk, folder)->parent;
      continue;
    }
    if (length > SIM__NAME_MAX) { return ENAMETOOLONG; }
    const sim__entry *entry = sim__find(sim__node_of(disk, folder), part, length, NULL);
    sim__id child = entry != NULL ? entry->live : SIM__NONE;
    bool last = rest[strspn(rest, "/")] == '\0';
    if (child != SIM__NONE && sim__node_of(disk, child)->kind == PKS_VFS_KIND_LINK && (!last || follow_last || *rest == '/')) {
      if (++links > LINKS_FOLLOWED) { return ELOOP; }
      int total = snprintf(longer, sizeof longer, "%s/%s", sim__node_of(disk, child)->target->bytes, rest);
      if (total < 0 || total > SIM__PATH_MAX) { return ENAMETOOLONG; }
      // A slash after the last part requires a folder; do not require one if the path had none.
      if (*rest == '\0') { longer[total - 1] = '\0'; }
      memcpy(text, longer, sizeof text);
      if (text[0] == '/') { folder = SIM__ROOT; }
      rest = text;
      continue;
    }
    if (last) {
      out->parent = folder;
      out->node = child;
      memcpy(out->name, part, length);
      out->name[length] = '\0';
      if (child == SIM__NONE) { return ENOENT; }
      return *rest == '/' && sim__node_of(disk, child)->kind != PKS_VFS_KIND_FOLDER ? ENOTDIR : 0;
    }
    if (child == SIM__NONE) { return ENOENT; }
    folder = child;
  }
}

// MARK: Bytes of files

static void area_protect(const sim__node *file, bool writable) {
  if (file->area_bytes == 0) { return; }
  if (mprotect(file->area, file->area_bytes, writable ? PROT_READ | PROT_WRITE : PROT_READ) != 0) { abort(); }
}

/// Updates the pages of a mapping after the live bytes of a range changed. Pages up to the end of the file are
/// accessible, as in a real mapping; access beyond them faults.
static void area_show(sim__node *file, uint64_t offset, uint64_t byte_count) {
  if (file->area == NULL) { return; }
  uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
  uint64_t wanted = pks__min64(pks__align_up(file->live->size, page), SIM__AREA_RESERVE);
  if (wanted < file->area_bytes && mprotect(file->area + wanted, file->area_bytes - wanted, PROT_NONE) != 0) {
    abort();
  }
  file->area_bytes = wanted;
  area_protect(file, true);
  if (offset < wanted) {
    sim__image_read(file->live, offset, file->area + offset, (size_t)pks__min64(byte_count, wanted - offset));
  }
  if (file->writable_maps == 0) { area_protect(file, false); }
}

int sim__area_open(sim__node *file, bool writable) {
  bool first = file->area == NULL;
  if (first) {
    void *area = mmap(NULL, SIM__AREA_RESERVE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (area == MAP_FAILED) { return ENOMEM; }
    file->area = area;
  }
  file->maps++;
  file->writable_maps += writable;
  if (first) {
    area_show(file, 0, file->live->size);
  } else if (writable && file->writable_maps == 1) {
    area_protect(file, true);
  }
  return 0;
}

void sim__area_close(sim__node *file, bool writable) {
  file->maps--;
  file->writable_maps -= writable;
  if (file->maps == 0) {
    (void)munmap(file->area, SIM__AREA_RESERVE);
    file->area = NULL;
    file->area_bytes = 0;
  } else if (writable && file->writable_maps == 0) {
    area_protect(file, false);
  }
}

static uint64_t logged_size(const sim__node *file) {
  return file->size_count > 0 ? file->sizes[file->size_count - 1] : file->durable->size;
}

static void log_size(sim__node *file) {
  if (file->live->size <= logged_size(file)) { return; }
  file->sizes = sim__grow(file->sizes, &file->size_capacity, file->size_count, sizeof *file->sizes);
  file->sizes[file->size_count++] = file->live->size;
}

/// One piece: part of one sector. A sector that did not change is not logged, as its states would be equal, unless the
/// disk may hold something else than the live image.
static void write_piece(sim__node *file, uint64_t offset, const uint8_t *bytes, size_t byte_count) {
  uint64_t start = offset - offset % SIM__SECTOR;
  uint8_t before[SIM__SECTOR];
  sim__image_read(file->live, start, before, SIM__SECTOR);
  bool changes = memcmp(before + (offset - start), bytes, byte_count) != 0;
  if (!changes) { sim__image_extend(&file->live, offset + byte_count); }
  if (changes || file->lost) {
    sim__image_write(&file->live, offset, bytes, byte_count);
    file->pieces = sim__grow(file->pieces, &file->piece_capacity, file->piece_count, sizeof *file->pieces);
    sim__piece *piece = &file->pieces[file->piece_count++];
    piece->sector = start / SIM__SECTOR;
    memcpy(piece->bytes, before, SIM__SECTOR);
    memcpy(piece->bytes + (offset - start), bytes, byte_count);
  }
  log_size(file);
}

static void write_pieces(sim_disk *disk, sim__node *file, uint64_t offset, const uint8_t *bytes, size_t byte_count) {
  while (byte_count > 0) {
    size_t part = pks__min_size(SIM__SECTOR - (size_t)(offset % SIM__SECTOR), byte_count);
    write_piece(file, offset, bytes, part);
    offset += part;
    bytes += part;
    byte_count -= part;
    disk->bytes_written += part;
  }
  file->modified_ns = disk->clock_ns;
  sim__changed(disk);
}

void sim__file_write(sim_disk *disk, sim__node *file, uint64_t offset, const void *bytes, size_t byte_count) {
  if (byte_count == 0) { return; }
  uint64_t shown_from = pks__min64(offset, file->live->size);
  write_pieces(disk, file, offset, bytes, byte_count);
  area_show(file, shown_from, offset + byte_count - shown_from);
}

void sim__file_extend(sim_disk *disk, sim__node *file, uint64_t size) {
  if (size <= file->live->size) { return; }
  uint64_t old = file->live->size;
  sim__image_extend(&file->live, size);
  log_size(file);
  area_show(file, old, size - old);
  sim__changed(disk);
}

void sim__file_forget_log(sim__node *file) {
  file->piece_count = 0;
  file->size_count = 0;
}

void sim__sync_file(sim_disk *disk, sim__node *file) {
  sim__image_release(file->stale);
  file->stale = sim__image_retain(file->durable);
  if (!file->lost) {
    sim__image_release(file->durable);
    file->durable = sim__image_retain(file->live);
  } else {
    uint64_t size = logged_size(file);
    sim__image_extend(&file->durable, size);
    for (size_t i = 0; i < file->piece_count; i++) {
      uint64_t start = file->pieces[i].sector * SIM__SECTOR;
      sim__image_write(&file->durable, start, file->pieces[i].bytes, (size_t)pks__min64(SIM__SECTOR, size - start));
    }
  }
  sim__file_forget_log(file);
  sim__changed(disk);
}

static void harvest_file(sim_disk *disk, sim__node *file) {
  uint64_t end = pks__min64(file->live->size, file->area_bytes);
  for (uint64_t offset = 0; offset < end; offset += SIM__PAGE) {
    uint8_t shadow[SIM__PAGE];
    size_t length = (size_t)pks__min64(SIM__PAGE, end - offset);
    sim__image_read(file->live, offset, shadow, length);
    if (memcmp(shadow, file->area + offset, length) == 0) { continue; }
    for (size_t within = 0; within < length; within += SIM__SECTOR) {
      size_t part = pks__min_size(SIM__SECTOR, length - within);
      if (memcmp(shadow + within, file->area + offset + within, part) == 0) { continue; }
      write_pieces(disk, file, offset + within, file->area + offset + within, part);
      if (disk->tracing) {
        sim__build(&disk->trace, "     mapped write at %llu\n", (unsigned long long)(offset + within));
      }
    }
  }
}

void sim__harvest(sim_disk *disk) {
  if (disk->frozen || disk->writable_map_count == 0) { return; }
  for (size_t i = 0; i < disk->map_count; i++) {
    if (disk->maps[i].writable) { harvest_file(disk, sim__node_of(disk, disk->maps[i].node)); }
  }
}

// MARK: Settings and counters

void sim_set_process_id(sim_disk *disk, uint64_t process_id) { disk->processes[0]->id = process_id; }
void sim_set_failed_sync(sim_disk *disk, sim_failed_sync mode) { disk->failed_sync = mode; }
void sim_set_capacity(sim_disk *disk, uint64_t byte_count) { disk->capacity = byte_count; }
void sim_set_read_only(sim_disk *disk, bool read_only) { disk->read_only = read_only; }
void sim_set_vague_lists(sim_disk *disk, bool vague) { disk->vague_lists = vague; }
void sim_advance_clock(sim_disk *disk, int64_t nanoseconds) { disk->clock_ns += nanoseconds; }

uint64_t sim_used_bytes(const sim_disk *disk) {
  uint64_t used = 0;
  for (sim__id id = SIM__ROOT; id < disk->node_count; id++) {
    const sim__node *node = disk->nodes[id];
    if (node != NULL && node->kind == PKS_VFS_KIND_FILE && node->live_names + node->holders > 0) {
      used += sectors_up(node->live->size);
    }
  }
  return used;
}

sim_counts sim_counts_now(sim_disk *disk) {
  sim__harvest(disk);
  sim_counts counts = {.bytes_written = disk->bytes_written, .bytes_read = disk->bytes_read};
  for (size_t i = 0; i < disk->handle_count; i++) { counts.handles += disk->handles[i].owner != NULL; }
  for (size_t i = 0; i < disk->map_count; i++) { counts.maps += !disk->maps[i].owner->killed; }
  counts.locks = disk->lock_count;
  for (sim__id id = SIM__ROOT; id < disk->node_count; id++) {
    const sim__node *node = disk->nodes[id];
    if (node == NULL) { continue; }
    if (node->live_names + node->kept_names > 0) { counts.unsynced_pieces += node->piece_count; }
    counts.unsynced_names += node->op_count;
  }
  return counts;
}

uint64_t sim_next_random(uint64_t *state) {
  uint64_t z = (*state += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

// MARK: Helpers of tests

static sim__id node_at(sim_disk *disk, const char *path, bool follow) {
  sim__place place;
  return sim__resolve(disk, SIM__ROOT, path, follow, &place) == 0 ? place.node : SIM__NONE;
}

/// The folder above the last part, made with all above it; `*name` is the last part.
static sim__id parent_made(sim_disk *disk, const char *path, const char **name) {
  const char *slash = strrchr(path, '/');
  if (slash == NULL || slash[1] == '\0') { sim__misuse("a helper's path must be absolute and end in a name"); }
  *name = slash + 1;
  if (slash == path) { return SIM__ROOT; }
  sim__text *above = sim__text_new(path, (size_t)(slash - path));
  sim_put_folder(disk, above->bytes);
  sim__id folder = node_at(disk, above->bytes, true);
  sim__text_release(above);
  return folder;
}

static sim__id put_node(sim_disk *disk, const char *path, pks_vfs_kind kind) {
  const char *name = NULL;
  sim__id folder = parent_made(disk, path, &name);
  sim__entry *entry = sim__find(sim__node_of(disk, folder), name, strlen(name), NULL);
  sim__id id = entry != NULL ? entry->live : SIM__NONE;
  if (id == SIM__NONE) {
    id = sim__node_new(disk, kind);
    sim__node_of(disk, id)->parent = folder;
    sim__name_add(disk, folder, name, id);
  } else if (sim__node_of(disk, id)->kind != kind) {
    sim__misuse("something of another kind is at the helper's path");
  }
  sim__sync_folder(disk, folder, NULL);
  return id;
}

void sim_put_folder(sim_disk *disk, const char *path) {
  sim__id there = node_at(disk, path, true);
  if (there == SIM__ROOT) { return; }
  if (there != SIM__NONE && sim__node_of(disk, there)->kind == PKS_VFS_KIND_FOLDER) {
    sim__sync_folder(disk, sim__node_of(disk, there)->parent, NULL);
    return;
  }
  (void)put_node(disk, path, PKS_VFS_KIND_FOLDER);
}

/// Writes to the live image of a file, and makes it the durable one.
static void put_bytes(sim_disk *disk, sim__node *file, uint64_t offset, const void *bytes, size_t byte_count) {
  sim__image_release(file->durable);
  sim__image_extend(&file->live, offset);
  if (byte_count > 0) { sim__image_write(&file->live, offset, bytes, byte_count); }
  file->durable = sim__image_retain(file->live);
  file->lost = false;
  file->modified_ns = disk->clock_ns;
  sim__file_forget_log(file);
  area_show(file, 0, UINT64_MAX);
  sim__changed(disk);
}

void sim_put_file(sim_disk *disk, const char *path, const void *bytes, size_t byte_count) {
  sim__harvest(disk);
  sim__node *file = sim__node_of(disk, put_node(disk, path, PKS_VFS_KIND_FILE));
  sim__image_release(file->live);
  file->live = sim__image_new();
  put_bytes(disk, file, 0, bytes, byte_count);
}

void sim_put_part(sim_disk *disk, const char *path, uint64_t offset, const void *bytes, size_t byte_count) {
  sim__harvest(disk);
  put_bytes(disk, sim__node_of(disk, put_node(disk, path, PKS_VFS_KIND_FILE)), offset, bytes, byte_count);
}

void sim_put_link(sim_disk *disk, const char *path, const char *target) {
  sim__node *link = sim__node_of(disk, put_node(disk, path, PKS_VFS_KIND_LINK));
  sim__text_release(link->target);
  link->target = sim__text_new(target, strlen(target));
}

int sim_set_executable(sim_disk *disk, const char *path, bool executable) {
  sim__id id = node_at(disk, path, true);
  if (id == SIM__NONE || sim__node_of(disk, id)->kind != PKS_VFS_KIND_FILE) { return ENOENT; }
  sim__node_of(disk, id)->executable = executable;
  return 0;
}

int sim_remove(sim_disk *disk, const char *path) {
  sim__harvest(disk);
  sim__place place;
  int error = sim__resolve(disk, SIM__ROOT, path, false, &place);
  if (error != 0) { return error; }
  if (place.parent == SIM__NONE) { return EINVAL; }
  sim__name_remove(disk, place.parent, place.name);
  sim__sync_folder(disk, place.parent, NULL);
  return 0;
}

int sim_corrupt(sim_disk *disk, const char *path, uint64_t offset, uint8_t mask) {
  sim__harvest(disk);
  sim__id id = node_at(disk, path, true);
  if (id == SIM__NONE || sim__node_of(disk, id)->kind != PKS_VFS_KIND_FILE) { return ENOENT; }
  sim__node *file = sim__node_of(disk, id);
  if (offset >= file->live->size) { return EINVAL; }
  bool same = file->durable == file->live;
  uint8_t byte = 0;
  if (!same && offset < file->durable->size) {
    sim__image_read(file->durable, offset, &byte, 1);
    byte ^= mask;
    sim__image_write(&file->durable, offset, &byte, 1);
  }
  sim__image_read(file->live, offset, &byte, 1);
  byte ^= mask;
  sim__image_write(&file->live, offset, &byte, 1);
  if (same) {
    sim__image_release(file->durable);
    file->durable = sim__image_retain(file->live);
  }
  for (size_t i = 0; i < file->piece_count; i++) {
    if (file->pieces[i].sector == offset / SIM__SECTOR) { file->pieces[i].bytes[offset % SIM__SECTOR] ^= mask; }
  }
  area_show(file, offset, 1);
  return 0;
}

void *sim_read_file(sim_disk *disk, const char *path, size_t *byte_count) {
  sim__harvest(disk);
  sim__id id = node_at(disk, path, true);
  if (id == SIM__NONE || sim__node_of(disk, id)->kind != PKS_VFS_KIND_FILE) { return NULL; }
  const sim__image *image = sim__node_of(disk, id)->live;
  void *bytes = sim__allocate((size_t)image->size);
  sim__image_read(image, 0, bytes, (size_t)image->size);
  if (byte_count != NULL) { *byte_count = (size_t)image->size; }
  return bytes;
}

bool sim_exists(sim_disk *disk, const char *path) { return node_at(disk, path, false) != SIM__NONE; }

static void list_below(sim_disk *disk, sim__id folder, const char *above, sim__builder *out) {
  const sim__node *node = sim__node_of(disk, folder);
  for (size_t i = 0; i < node->entry_count; i++) {
    if (node->entries[i].live == SIM__NONE) { continue; }
    const sim__node *child = sim__node_of(disk, node->entries[i].live);
    const char *name = node->entries[i].name->bytes;
    if (child->kind == PKS_VFS_KIND_FOLDER) {
      sim__builder path = {0};
      sim__build(&path, "%s%s/", above, name);
      sim__build(out, "%s\n", path.bytes);
      list_below(disk, node->entries[i].live, path.bytes, out);
      free(path.bytes);
    } else if (child->kind == PKS_VFS_KIND_LINK) {
      sim__build(out, "%s%s -> %s\n", above, name, child->target->bytes);
    } else {
      sim__build(out, "%s%s\n", above, name);
    }
  }
}

char *sim_list(sim_disk *disk, const char *folder) {
  sim__id id = node_at(disk, folder, true);
  if (id == SIM__NONE || sim__node_of(disk, id)->kind != PKS_VFS_KIND_FOLDER) { return NULL; }
  sim__builder out = {0};
  sim__build(&out, "%s", "");
  list_below(disk, id, "", &out);
  return out.bytes;
}

static uint64_t mix(uint64_t hash, const void *bytes, size_t byte_count) {
  const uint8_t *from = bytes;
  for (; byte_count >= 8; from += 8, byte_count -= 8) {
    uint64_t word = 0;
    memcpy(&word, from, 8);
    hash = (hash ^ word) * 0x9fb21c651e98df25;
    hash ^= hash >> 32;
  }
  for (size_t i = 0; i < byte_count; i++) { hash = ((hash ^ from[i]) * 0x100000001b3) ^ (hash >> 47); }
  return sim_next_random(&hash);
}

/// Very many disks share pages, so each page is summed once.
static uint64_t page_sum(sim__page *page) {
  uint64_t sum = atomic_load_explicit(&page->sum, memory_order_relaxed);
  if (sum == 0) {
    sum = mix(1, page->bytes, SIM__PAGE);
    atomic_store_explicit(&page->sum, sum, memory_order_relaxed);
  }
  return sum;
}

static uint64_t fingerprint_below(sim_disk *disk, const sim__node *folder, uint64_t hash) {
  static sim__page zeros;
  for (size_t i = 0; i < folder->entry_count; i++) {
    if (folder->entries[i].live == SIM__NONE) { continue; }
    const sim__node *child = sim__node_of(disk, folder->entries[i].live);
    hash = mix(hash, folder->entries[i].name->bytes, folder->entries[i].name->length + 1);
    uint64_t facts[2] = {
      (uint64_t)child->kind * 2 + child->executable, child->kind == PKS_VFS_KIND_FILE ? child->live->size : 0};
    hash = mix(hash, facts, sizeof facts);
    if (child->kind == PKS_VFS_KIND_LINK) { hash = mix(hash, child->target->bytes, child->target->length + 1); }
    if (child->kind == PKS_VFS_KIND_FOLDER) { hash = mix(fingerprint_below(disk, child, hash), "/", 1); }
    for (size_t p = 0; child->kind == PKS_VFS_KIND_FILE && p < child->live->page_count; p++) {
      uint64_t sum = page_sum(child->live->pages[p] != NULL ? child->live->pages[p] : &zeros);
      hash = mix(hash, &sum, sizeof sum);
    }
  }
  return hash;
}

uint64_t sim_fingerprint(sim_disk *disk) { return sim_fingerprint_of(disk, "/"); }

uint64_t sim_fingerprint_of(sim_disk *disk, const char *folder) {
  sim__harvest(disk);
  sim__id id = node_at(disk, folder, true);
  if (id == SIM__NONE || sim__node_of(disk, id)->kind != PKS_VFS_KIND_FOLDER) { return 0; }
  return fingerprint_below(disk, sim__node_of(disk, id), 0);
}

void sim_set_trace(sim_disk *disk, bool on) { disk->tracing = on; }
const char *sim_trace(const sim_disk *disk) { return disk->trace.bytes != NULL ? disk->trace.bytes : ""; }
