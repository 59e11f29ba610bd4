#include "store/asset_cache.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "codec/checksum.h"
#include "store/own_folder.h"

#define FILES "files"
#define TMP "tmp"
#define LOCK "LOCK"
#define SUMS ".sums"

enum {
  BLOCK = PKS__CACHE_BLOCK,
  SEEN_MAX = 64,  ///< files whose bytes this process compared, and remembers that it did
  NAME_SIZE = 2 * PKS__ID_SIZE + sizeof SUMS,
  PATH_SIZE = sizeof FILES + NAME_SIZE,
};

/// `<key>.sums`, followed by the sums.
typedef struct sums_header {
  uint8_t magic[8];
  pks_le64 size;  ///< size of the file
  pks_le64 sum;   ///< checksum of the checksums
} sums_header;

static const uint8_t magic[8] = "PKSSUMS";

/// The identity of a file: another file with the same name has another inode, and a later file with the same inode usually has
/// another name.
typedef struct seen_file {
  pks__id key;
  uint64_t device, inode;
} seen_file;

struct pks__asset_cache {
  const pks_vfs *vfs;
  pks__own_folder own;  ///< named by the store's id
  char *parent;
  char name[33];
  uint64_t budget;
  pks__mutex *mutex;  ///< guards the following fields
  bool is_making;
  seen_file seen[SEEN_MAX];
  uint32_t next_seen;
};

// MARK: - Names

static void path_of(const char *folder, const pks__id *key, const char *suffix, char out[PATH_SIZE]) {
  char hex[2 * PKS__ID_SIZE + 1];
  pks__hex(key->bytes, sizeof key->bytes, hex);
  (void)snprintf(out, PATH_SIZE, "%s/%s%s", folder, hex, suffix);
}

static void remove_pair(const pks__asset_cache *cache, pks_vfs_file root, const pks__id *key) {
  char path[PATH_SIZE];
  path_of(FILES, key, "", path);
  (void)pks__vfs_unlink(cache->vfs, root, path, false);
  path_of(FILES, key, SUMS, path);
  (void)pks__vfs_unlink(cache->vfs, root, path, false);
}

// MARK: - Opening

static int open_root(const pks__asset_cache *cache, bool create, pks_vfs_file *root) {
  return pks__own_folder_open(&cache->own, create, root);
}

/// `*root` is PKS_VFS_NO_FILE on failure.
static int make_folders(const pks__asset_cache *cache, pks_vfs_file *root) {
  const pks_vfs *vfs = cache->vfs;
  // Creating syncs the folder above, so only a missing folder is created.
  int failure = open_root(cache, false, root);
  if (failure == ENOENT) { failure = open_root(cache, true, root); }
  if (failure) { return failure; }
  static const char *const folders[] = {FILES, TMP};
  for (size_t i = 0; !failure && i < PKS_COUNT_OF(folders); i++) {
    failure = pks__vfs_make_folder(vfs, *root, folders[i]);
    if (failure == EEXIST) { failure = 0; }
  }
  if (failure) {
    pks__vfs_close(vfs, *root);
    *root = PKS_VFS_NO_FILE;
  }
  return failure;
}

pks_status pks__asset_cache_open(
  pks__asset_cache **out, const pks_vfs *vfs, pks_vfs_file store, const char *folder, const uint8_t store_id[16],
  uint64_t budget, pks_error *error
) {
  pks__asset_cache *cache = pks__allocate_zeroed(1, sizeof *cache);
  if (!cache) { return pks__fail_memory(error); }
  cache->vfs = vfs;
  cache->budget = budget;
  cache->mutex = pks__mutex_create();
  cache->parent = pks__copy_text(folder);
  pks__hex(store_id, 16, cache->name);
  cache->own = (pks__own_folder){.vfs = vfs, .store = store, .parent = cache->parent, .name = cache->name};
  pks_status status = cache->mutex && cache->parent ? PKS_OK : pks__fail_memory(error);
  if (!status) {
    pks_vfs_file root;
    // Nothing in it is needed: what cannot be made now is tried again when a file is to be made.
    if (!make_folders(cache, &root)) { pks__vfs_close(vfs, root); }
  }
  if (status) {
    pks__asset_cache_close(cache);
  } else {
    *out = cache;
  }
  return status;
}

const char *pks__asset_cache_folder(const pks__asset_cache *cache, uint64_t *budget) {
  *budget = cache->budget;
  return cache->parent;
}

void pks__asset_cache_close(pks__asset_cache *cache) {
  if (!cache) { return; }
  pks__mutex_destroy(cache->mutex);
  pks__free(cache->parent);
  pks__free(cache);
}

// MARK: - Sums

static uint64_t block_count(uint64_t size) { return size / BLOCK + (size % BLOCK > 0); }

static uint64_t sums_size(uint64_t size) { return sizeof(sums_header) + block_count(size) * sizeof(pks_le64); }

static uint64_t in_pages(uint64_t size) { return (size + PKS__PAGE - 1) / PKS__PAGE * PKS__PAGE; }

uint64_t pks__asset_cache_cost(uint64_t size) { return in_pages(size) + in_pages(sums_size(size)); }

/// The result of checking a file. Only wrong files are deleted: a process without memory or descriptors cannot decide.
typedef enum verdict { INTACT, WRONG, UNKNOWN } verdict;

static bool sums_are_whole(const uint8_t *bytes, size_t length, uint64_t size) {
  sums_header header;
  if (length != sums_size(size)) { return false; }
  memcpy(&header, bytes, sizeof header);
  return memcmp(header.magic, magic, sizeof magic) == 0 && pks__get64(header.size) == size
    && pks__checksum(bytes + sizeof header, length - sizeof header) == pks__get64(header.sum);
}

/// The sums of a file of `size` bytes, which the caller frees if they are INTACT.
static verdict read_sums(
  const pks__asset_cache *cache, pks_vfs_file root, const pks__id *key, uint64_t size, uint8_t **out
) {
  const pks_vfs *vfs = cache->vfs;
  char path[PATH_SIZE];
  path_of(FILES, key, SUMS, path);
  pks_vfs_file file;
  int failure = pks__vfs_open(vfs, root, path, PKS_VFS_OPEN_READ, &file);
  if (failure) { return failure == ENOENT ? WRONG : UNKNOWN; }
  size_t length = (size_t)sums_size(size), got = 0;
  uint8_t *bytes = pks__allocate(length + 1);
  failure = bytes ? pks__vfs_read_at(vfs, file, 0, bytes, length + 1, &got) : ENOMEM;
  pks__vfs_close(vfs, file);
  verdict verdict = failure ? UNKNOWN : sums_are_whole(bytes, got, size) ? INTACT : WRONG;
  if (verdict == INTACT) {
    *out = bytes;
  } else {
    pks__free(bytes);
  }
  return verdict;
}

static uint64_t sum_at(const uint8_t *sums, uint64_t block) {
  pks_le64 stored;
  memcpy(&stored, sums + sizeof(sums_header) + block * sizeof stored, sizeof stored);
  return pks__get64(stored);
}

/// Reads the whole file and compares it with its sums.
static verdict compare(
  const pks__asset_cache *cache, pks_vfs_file root, pks_vfs_file file, const pks__id *key, uint64_t size
) {
  uint8_t *sums = NULL, *buffer = pks__allocate(BLOCK);
  verdict verdict = buffer ? read_sums(cache, root, key, size, &sums) : UNKNOWN;
  for (uint64_t block = 0; verdict == INTACT && block < block_count(size); block++) {
    size_t length = (size_t)pks__min64(BLOCK, size - block * BLOCK), got = 0;
    int failure = pks__vfs_read_at(cache->vfs, file, block * BLOCK, buffer, length, &got);
    if (failure) {
      verdict = UNKNOWN;
    } else if (got != length || pks__checksum(buffer, length) != sum_at(sums, block)) {
      verdict = WRONG;
    }
  }
  pks__free(sums);
  pks__free(buffer);
  return verdict;
}

/// Writes `<key>.sums` of a file that is full.
static bool write_sums(pks__asset_cache_entry *entry) {
  const pks_vfs *vfs = entry->cache->vfs;
  size_t length = (size_t)sums_size(entry->size);
  sums_header header = {
    .size = pks__put64(entry->size),
    .sum = pks__put64(pks__checksum(entry->sums + sizeof header, length - sizeof header)),
  };
  memcpy(header.magic, magic, sizeof magic);
  memcpy(entry->sums, &header, sizeof header);
  char path[PATH_SIZE], final[PATH_SIZE];
  path_of(TMP, &entry->key, SUMS, path);
  path_of(FILES, &entry->key, SUMS, final);
  pks_vfs_file file;
  int failure = pks__vfs_open(vfs, entry->root, path, PKS_VFS_OPEN_CREATE, &file);
  if (!failure) {
    failure = pks__vfs_write_at(vfs, file, 0, entry->sums, length);
    pks__vfs_close(vfs, file);
  }
  if (!failure) { failure = pks__vfs_rename(vfs, entry->root, path, final); }
  return !failure;
}

// MARK: - Finding

static bool was_seen(pks__asset_cache *cache, const pks__id *key, const pks_vfs_info *info) {
  bool found = false;
  pks__mutex_lock(cache->mutex);
  for (uint32_t i = 0; i < SEEN_MAX && !found; i++) {
    const seen_file *seen = &cache->seen[i];
    found = seen->device == info->device && seen->inode == info->inode && pks__id_equal(&seen->key, key);
  }
  pks__mutex_unlock(cache->mutex);
  return found;
}

static void set_seen(pks__asset_cache *cache, const pks__id *key, const pks_vfs_info *info) {
  pks__mutex_lock(cache->mutex);
  cache->seen[cache->next_seen++ % SEEN_MAX] = (seen_file){.key = *key, .device = info->device, .inode = info->inode};
  pks__mutex_unlock(cache->mutex);
}

/// Opens the file of `key` if it has `size` bytes that are, or were before, the ones summed.
static pks_vfs_file find_below(pks__asset_cache *cache, pks_vfs_file root, const pks__id *key, uint64_t size) {
  const pks_vfs *vfs = cache->vfs;
  char path[PATH_SIZE];
  path_of(FILES, key, "", path);
  pks_vfs_file file;
  if (pks__vfs_open(vfs, root, path, PKS_VFS_OPEN_READ, &file)) { return PKS_VFS_NO_FILE; }
  pks_vfs_info info;
  verdict verdict = pks__vfs_info_of(vfs, file, &info) ? UNKNOWN : info.size == size ? INTACT : WRONG;
  if (verdict == INTACT && !was_seen(cache, key, &info)) {
    verdict = compare(cache, root, file, key, size);
    if (verdict == INTACT) { set_seen(cache, key, &info); }
  }
  if (verdict == INTACT) {
    (void)pks__vfs_touch(vfs, root, path);
    return file;
  }
  pks__vfs_close(vfs, file);
  if (verdict == WRONG) { remove_pair(cache, root, key); }
  return PKS_VFS_NO_FILE;
}

pks_vfs_file pks__asset_cache_find(pks__asset_cache *cache, const pks__id *key, uint64_t size) {
  pks_vfs_file root;
  if (open_root(cache, false, &root)) { return PKS_VFS_NO_FILE; }
  pks_vfs_file file = find_below(cache, root, key, size);
  pks__vfs_close(cache->vfs, root);
  return file;
}

// MARK: - Making room

/// The files in `files/` or `tmp/`.
typedef struct listing {
  char (*names)[NAME_SIZE];
  size_t count, capacity;
  bool failed;
} listing;

/// Whether a name is a key, or a key with the suffix of its sums.
static bool is_ours(const char *name) {
  size_t length = 0;
  while ((name[length] >= '0' && name[length] <= '9') || (name[length] >= 'a' && name[length] <= 'f')) { length++; }
  return length == 2 * (size_t)PKS__ID_SIZE && (name[length] == 0 || strcmp(name + length, SUMS) == 0);
}

/// Files with other names are not the cache's, and stay.
static bool note_name(void *context, const char *name, size_t length, pks_vfs_kind kind) {
  (void)kind;
  listing *list = context;
  char copy[NAME_SIZE];
  if (length >= NAME_SIZE) { return true; }
  memcpy(copy, name, length);
  copy[length] = 0;
  if (!is_ours(copy)) { return true; }
  if (list->count == list->capacity) {
    size_t capacity = list->capacity ? 2 * list->capacity : 64;
    void *larger = pks__reallocate(list->names, capacity * NAME_SIZE);
    list->failed = !larger;
    if (!larger) { return false; }
    list->names = larger;
    list->capacity = capacity;
  }
  memcpy(list->names[list->count++], copy, length + 1);
  return true;
}

/// The names in a folder of the cache; the caller frees `names`.
static bool list_folder(const pks__asset_cache *cache, pks_vfs_file root, const char *path, listing *out) {
  const pks_vfs *vfs = cache->vfs;
  *out = (listing){0};
  pks_vfs_file folder;
  if (pks__vfs_open(vfs, root, path, PKS_VFS_OPEN_FOLDER, &folder)) { return false; }
  int failure = pks__vfs_list(vfs, folder, note_name, out);
  pks__vfs_close(vfs, folder);
  return !failure && !out->failed;
}

static bool is_file(const pks__asset_cache *cache, pks_vfs_file root, const char *path, pks_vfs_info *info) {
  return !pks__vfs_info(cache->vfs, root, path, false, info) && info->kind == PKS_VFS_KIND_FILE;
}

/// Whether the file was deleted: a file that stays counts. Other items are not the store's, and do not count.
static bool remove_named(const pks__asset_cache *cache, pks_vfs_file root, const char *folder, const char *name) {
  char path[PATH_SIZE + sizeof SUMS];
  (void)snprintf(path, sizeof path, "%s/%s", folder, name);
  int failure = pks__vfs_unlink(cache->vfs, root, path, false);
  if (!failure || failure == ENOENT) { return true; }
  pks_vfs_info info;
  return !pks__vfs_info(cache->vfs, root, path, false, &info) && info.kind != PKS_VFS_KIND_FILE;
}

/// The process that made these is dead: the lock is ours.
static bool sweep_tmp(const pks__asset_cache *cache, pks_vfs_file root) {
  listing list;
  bool swept = list_folder(cache, root, TMP, &list);
  for (size_t i = 0; swept && i < list.count; i++) { swept = remove_named(cache, root, TMP, list.names[i]); }
  pks__free(list.names);
  return swept;
}

/// A file of the cache.
typedef struct cached {
  const char *name;
  uint64_t cost;
  int64_t used_ns;
} cached;

static bool has_suffix(const char *name, const char *suffix) {
  size_t length = strlen(name), end = strlen(suffix);
  return length > end && strcmp(name + length - end, suffix) == 0;
}

/// Collects the files; deletes files and checksums without their counterpart. False if one of them stays.
static bool collect_files(
  const pks__asset_cache *cache, pks_vfs_file root, const listing *list, cached *out, size_t *count
) {
  *count = 0;
  for (size_t i = 0; i < list->count; i++) {
    const char *name = list->names[i];
    bool is_sums = has_suffix(name, SUMS);
    char path[PATH_SIZE], other[PATH_SIZE + sizeof SUMS];
    pks_vfs_info info, other_info;
    (void)snprintf(path, sizeof path, FILES "/%s", name);
    (void)snprintf(other, sizeof other, FILES "/%s%s", name, is_sums ? "" : SUMS);
    if (is_sums) { other[strlen(other) - strlen(SUMS)] = 0; }
    bool whole = is_file(cache, root, path, &info) && is_file(cache, root, other, &other_info);
    if (!whole && !remove_named(cache, root, FILES, name)) { return false; }
    if (!whole || is_sums) { continue; }
    out[(*count)++] =
      (cached){.name = name, .cost = in_pages(info.size) + in_pages(other_info.size), .used_ns = info.modified_ns};
  }
  return true;
}

static bool is_older(const cached *one, const cached *other) {
  if (one->used_ns != other->used_ns) { return one->used_ns < other->used_ns; }
  return strcmp(one->name, other->name) < 0;
}

static size_t find_oldest(const cached *files, size_t count) {
  size_t oldest = 0;
  for (size_t i = 1; i < count; i++) {
    if (is_older(&files[i], &files[oldest])) { oldest = i; }
  }
  return oldest;
}

static bool remove_copy(const pks__asset_cache *cache, pks_vfs_file root, const cached *file) {
  char sums[NAME_SIZE + sizeof SUMS];
  (void)snprintf(sums, sizeof sums, "%s" SUMS, file->name);
  return remove_named(cache, root, FILES, file->name) && remove_named(cache, root, FILES, sums);
}

/// Deletes the files used longest ago until the remaining ones and `cost` more fit in the budget. False if one cannot be deleted.
static bool evict(
  const pks__asset_cache *cache, pks_vfs_file root, cached *files, size_t count, uint64_t cost, uint64_t budget
) {
  uint64_t total = 0;
  for (size_t i = 0; i < count; i++) { total += files[i].cost; }
  while (count > 0 && total > budget - cost) {
    size_t oldest = find_oldest(files, count);
    if (!remove_copy(cache, root, &files[oldest])) { return false; }
    total -= files[oldest].cost;
    files[oldest] = files[--count];
  }
  return true;
}

/// The files of the cache, which the caller frees with the names that they point to; NULL when they are not all known,
/// because memory is short or something stays that should not.
static cached *list_copies(const pks__asset_cache *cache, pks_vfs_file root, listing *list, size_t *count) {
  *count = 0;
  bool listed = list_folder(cache, root, FILES, list);
  cached *files = listed ? pks__allocate((list->count + 1) * sizeof *files) : NULL;
  if (files && !collect_files(cache, root, list, files, count)) {
    pks__free(files);
    files = NULL;
    *count = 0;
  }
  return files;
}

static bool make_room(const pks__asset_cache *cache, pks_vfs_file root, uint64_t cost, uint64_t others) {
  uint64_t budget = cache->budget > others ? cache->budget - others : 0;
  if (cost > budget || !sweep_tmp(cache, root)) { return false; }
  listing list;
  size_t count;
  cached *files = list_copies(cache, root, &list, &count);
  bool made = files && evict(cache, root, files, count, cost, budget);
  pks__free(files);
  pks__free(list.names);
  return made;
}

uint64_t pks__asset_cache_use(pks__asset_cache *cache) {
  pks_vfs_file root;
  if (open_root(cache, false, &root)) { return 0; }
  listing list;
  size_t count;
  uint64_t bytes = 0;
  cached *files = list_copies(cache, root, &list, &count);
  for (size_t i = 0; i < count; i++) { bytes += files[i].cost; }
  pks__free(files);
  pks__free(list.names);
  pks__vfs_close(cache->vfs, root);
  return bytes;
}

uint64_t pks__asset_cache_purge(pks__asset_cache *cache, uint64_t bytes) {
  pks_vfs_file root;
  if (bytes == 0 || open_root(cache, false, &root)) { return 0; }
  listing list;
  size_t count;
  uint64_t freed = 0;
  cached *files = list_copies(cache, root, &list, &count);
  for (; count > 0 && freed < bytes; count--) {
    size_t oldest = find_oldest(files, count);
    if (remove_copy(cache, root, &files[oldest])) { freed += files[oldest].cost; }
    files[oldest] = files[count - 1];
  }
  pks__free(files);
  pks__free(list.names);
  pks__vfs_close(cache->vfs, root);
  return freed;
}

// MARK: - Making a file

/// One thread of this process at a time: locks of a descriptor are not between its threads.
static bool begin_making(pks__asset_cache *cache) {
  pks__mutex_lock(cache->mutex);
  bool free = !cache->is_making;
  cache->is_making = true;
  pks__mutex_unlock(cache->mutex);
  return free;
}

static void end_making(pks__asset_cache *cache) {
  pks__mutex_lock(cache->mutex);
  cache->is_making = false;
  pks__mutex_unlock(cache->mutex);
}

static bool take_lock(pks__asset_cache_entry *entry) {
  const pks_vfs *vfs = entry->cache->vfs;
  if (make_folders(entry->cache, &entry->root)) { return false; }
  bool locked = !pks__vfs_open(vfs, entry->root, LOCK, PKS_VFS_OPEN_LOCK, &entry->lock)
    && !pks__vfs_lock(vfs, entry->lock, 0, 1, PKS_VFS_LOCK_EXCLUSIVE);
  return locked;
}

static bool make_file(pks__asset_cache_entry *entry) {
  char path[PATH_SIZE];
  path_of(TMP, &entry->key, "", path);
  entry->sums = pks__allocate((size_t)sums_size(entry->size));
  const pks_vfs *vfs = entry->cache->vfs;
  return entry->sums && !pks__vfs_open(vfs, entry->root, path, PKS_VFS_OPEN_CREATE, &entry->file);
}

bool pks__asset_cache_begin(
  pks__asset_cache *cache, const pks__id *key, uint64_t size, uint64_t others, pks__asset_cache_entry *out
) {
  PKS_ASSERT(size > 0);
  bool fits = size <= cache->budget && size <= SIZE_MAX && pks__asset_cache_cost(size) <= cache->budget;
  if (!fits || !begin_making(cache)) { return false; }
  pks__asset_cache_entry entry = {
    .cache = cache,
    .key = *key,
    .size = size,
    .root = PKS_VFS_NO_FILE,
    .lock = PKS_VFS_NO_FILE,
    .file = PKS_VFS_NO_FILE};
  bool begun =
    take_lock(&entry) && make_room(cache, entry.root, pks__asset_cache_cost(size), others) && make_file(&entry);
  *out = entry;
  if (!begun) { pks__asset_cache_abandon(out); }
  return begun;
}

bool pks__asset_cache_append(pks__asset_cache_entry *entry, const void *bytes, size_t byte_count) {
  const pks_vfs *vfs = entry->cache->vfs;
  PKS_ASSERT(entry->written % BLOCK == 0 && byte_count <= entry->size - entry->written);
  if (pks__vfs_write_at(vfs, entry->file, entry->written, bytes, byte_count)) { return false; }
  for (size_t at = 0; at < byte_count; at += BLOCK) {
    pks_le64 sum = pks__put64(pks__checksum((const uint8_t *)bytes + at, pks__min_size(BLOCK, byte_count - at)));
    uint64_t block = (entry->written + at) / BLOCK;
    memcpy(entry->sums + sizeof(sums_header) + block * sizeof sum, &sum, sizeof sum);
  }
  entry->written += byte_count;
  return true;
}

/// Closes and frees the entry's resources; the lock last.
static void release_entry(pks__asset_cache_entry *entry) {
  const pks_vfs *vfs = entry->cache->vfs;
  pks__free(entry->sums);
  // Unlocked explicitly, because a forked child may have this opening of the file too.
  if (entry->lock != PKS_VFS_NO_FILE) { (void)pks__vfs_lock(vfs, entry->lock, 0, 1, PKS_VFS_LOCK_NONE); }
  pks_vfs_file files[] = {entry->file, entry->lock, entry->root};
  for (size_t i = 0; i < PKS_COUNT_OF(files); i++) {
    if (files[i] != PKS_VFS_NO_FILE) { pks__vfs_close(vfs, files[i]); }
  }
  end_making(entry->cache);
  *entry = (pks__asset_cache_entry){.cache = entry->cache};
}

/// Opens the file that now has the name, if it is the one created here: after `LOCK` was deleted, another process may create the
/// same file at the same time, and its version may have got the name.
static pks_vfs_file open_made(const pks__asset_cache_entry *entry, const char *path) {
  const pks_vfs *vfs = entry->cache->vfs;
  pks_vfs_info made, named;
  pks_vfs_file file;
  if (pks__vfs_open(vfs, entry->root, path, PKS_VFS_OPEN_READ, &file)) { return PKS_VFS_NO_FILE; }
  bool is_it = !pks__vfs_info_of(vfs, entry->file, &made) && !pks__vfs_info_of(vfs, file, &named)
    && made.device == named.device && made.inode == named.inode;
  if (is_it) {
    set_seen(entry->cache, &entry->key, &named);
    return file;
  }
  pks__vfs_close(vfs, file);
  return PKS_VFS_NO_FILE;
}

pks_vfs_file pks__asset_cache_finish(pks__asset_cache_entry *entry) {
  PKS_ASSERT(entry->written == entry->size);
  const pks_vfs *vfs = entry->cache->vfs;
  char path[PATH_SIZE], final[PATH_SIZE];
  path_of(TMP, &entry->key, "", path);
  path_of(FILES, &entry->key, "", final);
  pks_vfs_file file = PKS_VFS_NO_FILE;
  if (write_sums(entry) && !pks__vfs_rename(vfs, entry->root, path, final)) { file = open_made(entry, final); }
  if (file == PKS_VFS_NO_FILE) {
    pks__asset_cache_abandon(entry);
  } else {
    release_entry(entry);
  }
  return file;
}

void pks__asset_cache_abandon(pks__asset_cache_entry *entry) {
  if (entry->root != PKS_VFS_NO_FILE && entry->file != PKS_VFS_NO_FILE) {
    char path[PATH_SIZE];
    path_of(TMP, &entry->key, "", path);
    (void)pks__vfs_unlink(entry->cache->vfs, entry->root, path, false);
    path_of(TMP, &entry->key, SUMS, path);
    (void)pks__vfs_unlink(entry->cache->vfs, entry->root, path, false);
  }
  release_entry(entry);
}
