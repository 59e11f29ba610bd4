// Whole files as memory or as a descriptor of the caller's own.

#include <errno.h>
#include <string.h>

#include "base/memory.h"
#include "index/extent_walk.h"
#include "read/borrow.h"
#include "store/asset_cache.h"
#include "store/cache_folder.h"

enum {
  MAPPED_MIN = 64 * 1024,          ///< smaller raw assets are copied: a mapping costs more
  MATERIALISED_MIN = 1024 * 1024,  ///< smaller assets are decoded: a file costs more
  MEMORY_FILE_MAX = 64 * 1024 * 1024,
  WRITTEN_AT_ONCE = 4 * PKS__CACHE_BLOCK,  ///< to a file: enough for several threads to decode
};

static pks_snapshot *snapshot_of(const pks_asset *asset) { return pks__snapshot_mutable(asset->snapshot); }

// MARK: - The cache's file

/// Where one piece of an asset comes from.
typedef struct origin {
  pks__segment_id segment;
  pks_le64 offset;  ///< offset of the frame
  pks_le32 begin, end;
} origin;

/// The cache's key of a file: a hash over the origins of its pieces, in order, chained so that memory stays small.
static pks_status find_key(const pks_asset *asset, const pks__hit *hit, pks__id *key, pks_error *error) {
  enum { ORIGINS = 128 };
  struct {
    pks__id before;
    origin origins[ORIGINS];
  } block = {0};
  pks_snapshot *snapshot = snapshot_of(asset);
  pks__run *run = &snapshot->runs[hit->run].open->run;
  pks__extent_walk walk = pks__extent_walk_make(run, &hit->entry);
  pks__run_segment_info info = {0};
  uint32_t segment = UINT32_MAX;
  size_t count = 0;
  for (bool more = true; more;) {
    pks__extent_part piece;
    pks_status status = pks__extent_walk_next(&walk, &piece, &more, error);
    if (!status && more && piece.frame.segment != segment) {
      segment = piece.frame.segment;
      status = pks__run_segment_at(run, segment, &info, error);
    }
    if (status) { return status; }
    if (more) {
      block.origins[count++] = (origin){
        .segment = info.id,
        .offset = pks__put64(piece.frame.ref.offset),
        .begin = pks__put32(piece.begin),
        .end = pks__put32(piece.end),
      };
    }
    if (count == ORIGINS || !more) {
      snapshot->store->sha256(&block, sizeof block.before + count * sizeof *block.origins, key->bytes);
      block.before = *key;
      count = 0;
    }
  }
  return PKS_OK;
}

/// Returns the part of the budget for decoded copies that purgeable data in the same folder uses.
static uint64_t purgeable_bytes(const pks_store *store, const pks__generation *generation) {
  uint64_t bytes = 0, unused;
  const char *folder = generation->cache_folder;
  bool is_shared = folder && strcmp(pks__asset_cache_folder(store->cache, &unused), folder) == 0;
  if (is_shared && pks__cache_folder_use(store, folder, &bytes, NULL)) { return UINT64_MAX; }
  return bytes;
}

/// Decodes the asset into a new file of the cache. `*file` is PKS_VFS_NO_FILE when the cache will not have it.
static pks_status materialise(const pks_asset *asset, const pks__id *key, pks_vfs_file *file, pks_error *error) {
  pks__asset_cache_entry entry;
  const pks_snapshot *snapshot = snapshot_of(asset);
  uint64_t others = purgeable_bytes(snapshot->store, &snapshot->generation);
  if (!pks__asset_cache_begin(snapshot->store->cache, key, asset->size, others, &entry)) { return PKS_OK; }
  uint8_t *buffer = pks__allocate(WRITTEN_AT_ONCE);
  pks_status status = PKS_OK;
  bool fits = buffer != NULL;
  while (!status && fits && entry.written < entry.size) {
    size_t count = (size_t)pks__min64(WRITTEN_AT_ONCE, entry.size - entry.written);
    status = pks_asset_read(asset, entry.written, buffer, count, error);
    if (!status) { fits = pks__asset_cache_append(&entry, buffer, count); }
  }
  pks__free(buffer);
  if (status || !fits) {
    pks__asset_cache_abandon(&entry);
  } else {
    *file = pks__asset_cache_finish(&entry);
  }
  return status;
}

/// The asset as a file of the cache, which the caller closes; made when it is not there. PKS_VFS_NO_FILE when it is
/// smaller than `minimum` > 0, or when the cache will not have it.
static pks_status cached_file(
  const pks_asset *asset, const pks__hit *hit, uint64_t minimum, pks_vfs_file *file, pks_error *error
) {
  pks__asset_cache *cache = snapshot_of(asset)->store->cache;
  *file = PKS_VFS_NO_FILE;
  if (!cache || asset->size < minimum || asset->size > SIZE_MAX) { return PKS_OK; }
  pks__id key;
  pks_status status = find_key(asset, hit, &key, error);
  if (status) { return status; }
  *file = pks__asset_cache_find(cache, &key, asset->size);
  return *file == PKS_VFS_NO_FILE ? materialise(asset, &key, file, error) : PKS_OK;
}

// MARK: - Memory

static pks_status map_file(
  const pks_vfs *vfs, pks_vfs_file file, uint64_t offset, size_t count, pks_contents *out, pks_error *error
) {
  size_t before = (size_t)(offset % PKS_VFS_MAP_GRAIN);
  void *address;
  int failure = pks__vfs_map_private(vfs, file, offset - before, before + count, &address);
  if (failure) { return pks__fail_system(error, failure, "cannot map a file in memory", NULL); }
  *out = (pks_contents){
    .bytes = (uint8_t *)address + before,
    .count = count,
    .memory = address,
    .memory_size = before + count,
    .vfs = vfs,
  };
  return PKS_OK;
}

static pks_status map_raw(const pks_asset *asset, const pks__hit *hit, pks_contents *out, pks_error *error) {
  pks__segment *segment;
  uint64_t offset = 0;
  pks_status status = pks__borrow_place(snapshot_of(asset), hit, &segment, &offset, error);
  if (status) { return status; }
  return map_file(segment->vfs, segment->file, offset, (size_t)asset->size, out, error);
}

static pks_status decode(const pks_asset *asset, pks_contents *out, pks_error *error) {
  size_t count = (size_t)asset->size;
  void *memory = count == asset->size ? pks__allocate(count) : NULL;
  if (!memory) { return pks__fail_memory(error); }
  pks_status status = pks_asset_read(asset, 0, memory, count, error);
  if (status) {
    pks__free(memory);
    return status;
  }
  *out = (pks_contents){.bytes = memory, .count = count, .memory = memory, .memory_size = count};
  return PKS_OK;
}

pks_status pks_asset_contents(pks_contents *out, const pks_asset *asset, pks_error *error) {
  pks__hit hit;
  pks_status status = pks__namespace_file(asset, &hit, error);
  if (status) { return status; }
  if (asset->size == 0) {
    *out = (pks_contents){0};
    return PKS_OK;
  }
  if (asset->contiguous && asset->size >= MAPPED_MIN) {
    status = map_raw(asset, &hit, out, error);
    // Data in the cache folder is materialised or decoded, like data that is not in one piece.
    if (status != PKS_NOT_CONTIGUOUS) { return pks__namespace_blame(status, asset, error); }
  }
  const pks_vfs *vfs = snapshot_of(asset)->store->vfs;
  pks_vfs_file file;
  status = cached_file(asset, &hit, MATERIALISED_MIN, &file, error);
  if (status) { return pks__namespace_blame(status, asset, error); }
  bool mapped = file != PKS_VFS_NO_FILE && !map_file(vfs, file, 0, (size_t)asset->size, out, NULL);
  if (file != PKS_VFS_NO_FILE) { pks__vfs_close(vfs, file); }
  return mapped ? PKS_OK : decode(asset, out, error);
}

void pks_contents_release(pks_contents *contents) {
  if (contents->vfs) {
    pks__vfs_unmap(contents->vfs, contents->memory, contents->memory_size);
  } else {
    pks__free(contents->memory);
  }
  *contents = (pks_contents){0};
}

// MARK: - Descriptors

static pks_status no_file(const pks_asset *asset, pks_error *error) {
  pks_status status = pks__fail_case_at_path(
    error, PKS_NO_SPACE, PKS_DETAIL_CACHE_BUDGET, asset->path, asset->path_length,
    "no cache has space for the asset as a file"
  );
  if (error) { error->needed = pks__asset_cache_cost(asset->size); }
  return status;
}

/// Decodes the asset into an empty file. Written, not mapped: a process forked at this time would keep the mapping, and a file with
/// a writable mapping cannot be sealed.
static pks_status fill_file(const pks_asset *asset, pks_vfs_file file, pks_error *error) {
  const pks_vfs *vfs = snapshot_of(asset)->store->vfs;
  if (asset->size == 0) { return PKS_OK; }
  uint8_t *buffer = pks__allocate((size_t)pks__min64(WRITTEN_AT_ONCE, asset->size));
  if (!buffer) { return pks__fail_memory(error); }
  pks_status status = PKS_OK;
  for (uint64_t at = 0; !status && at < asset->size;) {
    size_t count = (size_t)pks__min64(WRITTEN_AT_ONCE, asset->size - at);
    status = pks_asset_read(asset, at, buffer, count, error);
    if (status) { break; }
    int failure = pks__vfs_write_at(vfs, file, at, buffer, count);
    if (failure) {
      status = pks__fail_system(error, failure, "cannot fill a file in memory", NULL);
      if (error) { error->needed = asset->size - at; }
    }
    at += count;
  }
  pks__free(buffer);
  return status;
}

/// Creates a sealed file in memory with the asset's bytes; PKS_VFS_NO_FILE if the system does not support it.
static pks_status make_memory_file(const pks_asset *asset, pks_vfs_file *out, pks_error *error) {
  const pks_vfs *vfs = snapshot_of(asset)->store->vfs;
  pks_vfs_file file;
  int failure = pks__vfs_memory_file(vfs, "asset", &file);
  *out = PKS_VFS_NO_FILE;
  if (failure == ENOSYS) { return PKS_OK; }
  if (failure) { return pks__fail_system(error, failure, "cannot create a file in memory", NULL); }
  pks_status status = fill_file(asset, file, error);
  if (!status) {
    failure = pks__vfs_seal(vfs, file);
    if (failure) { status = pks__fail_system(error, failure, "cannot seal a file in memory", NULL); }
  }
  if (status) {
    pks__vfs_close(vfs, file);
  } else {
    *out = file;
  }
  return status;
}

pks_status pks_asset_open_file(int *descriptor, const pks_asset *asset, pks_error *error) {
  pks__hit hit;
  pks_status status = pks__namespace_file(asset, &hit, error);
  if (status) { return status; }
  pks_vfs_file file;
  status = cached_file(asset, &hit, MATERIALISED_MIN, &file, error);
  if (!status && file == PKS_VFS_NO_FILE && asset->size <= MEMORY_FILE_MAX) {
    status = make_memory_file(asset, &file, error);
    // On systems without files in memory, small assets go to the cache as well.
    if (!status && file == PKS_VFS_NO_FILE && asset->size > 0) { status = cached_file(asset, &hit, 1, &file, error); }
  }
  if (!status && file == PKS_VFS_NO_FILE) { status = no_file(asset, error); }
  if (status) { return pks__namespace_blame(status, asset, error); }
  *descriptor = file;
  return PKS_OK;
}
