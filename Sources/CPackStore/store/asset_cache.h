/// The cache: large assets as plain files, which may be deleted at any moment.
///
/// `<folder>/<store id>/` contains `files/`, `tmp/` and `LOCK`. An asset that is not stored raw in one piece is *materialised*
/// there: decoded once into a file of exactly its bytes, so that later it is mapped, or opened, like any file.
///
/// The name of a file is its *key*, the SHA-256 of the places of its bytes (segments, whose names identify their contents, and
/// offsets in them), so a name never refers to other bytes. Next to each file is `<key>.sums`: its length, and an XXH3 of every
/// MiB. A file without checksums, or checksums without a file, is garbage.
///
/// Invariants
///   1. Nothing in the cache is needed. If anything fails here, the asset is decoded instead; any process may delete any part of it
///      at any time.
///   2. A file is trusted after its bytes were compared with its checksums, once per process; the process that created it trusts it
///      at once. Nothing is synced, so a crash may leave wrong files, which are found and deleted.
///   3. Files are created under the lock, one at a time, and only if the lock is free: otherwise the asset is decoded. The lock's
///      holder deletes leftovers of ended processes in `tmp/`, and the files used longest ago, until the new file fits in the
///      budget. Only then does it create the new one, and not at all if a file cannot be deleted.
///   4. An opened or mapped file stays readable after it is deleted.
///
/// A file's modification time is the time of its last use.
#ifndef PKS_STORE_ASSET_CACHE_H
#define PKS_STORE_ASSET_CACHE_H

#include "format/format.h"
#include "platform/threads.h"
#include "platform/vfs.h"

typedef struct pks__asset_cache pks__asset_cache;

/// Opens the cache in `folder` and creates missing folders. `budget` bounds the bytes of files and sums together. `store` is the
/// directory of the store (`own_folder.h`), which stays open as long as the cache.
pks_status pks__asset_cache_open(
  pks__asset_cache **out, const pks_vfs *vfs, pks_vfs_file store, const char *folder, const uint8_t store_id[16],
  uint64_t budget, pks_error *error
);
/// The folder that it was opened in, and its budget.
const char *pks__asset_cache_folder(const pks__asset_cache *cache, uint64_t *budget);
/// Returns the size of files and checksums, in whole pages; 0 if the folder cannot be listed.
uint64_t pks__asset_cache_use(pks__asset_cache *cache);
/// Removes files, those used longest ago first, until `bytes` of room came of it; hands out how much did.
uint64_t pks__asset_cache_purge(pks__asset_cache *cache, uint64_t bytes);
void pks__asset_cache_close(pks__asset_cache *cache);  ///< NULL is fine

/// Returns the part of the budget for a file of `size` bytes and its checksums, in whole pages.
uint64_t pks__asset_cache_cost(uint64_t size);

/// Opens the file of `key` for reading; the caller closes it. PKS_VFS_NO_FILE if no intact file of `size` bytes exists.
pks_vfs_file pks__asset_cache_find(pks__asset_cache *cache, const pks__id *key, uint64_t size);

/// A file that is being made.
typedef struct pks__asset_cache_entry {
  pks__asset_cache *cache;
  pks__id key;
  uint64_t size;
  pks_vfs_file root, lock;
  pks_vfs_file file;
  uint64_t written;
  uint8_t *sums;  ///< the checksums to write next to the file
} pks__asset_cache_entry;

/// Bytes of a file under one sum.
enum { PKS__CACHE_BLOCK = 1024 * 1024 };

/// Takes the lock, makes room and the file. `others` is what something else takes of the budget. False when that cannot be had
/// now: busy, over budget, no room, no folder.
bool pks__asset_cache_begin(
  pks__asset_cache *cache, const pks__id *key, uint64_t size, uint64_t others, pks__asset_cache_entry *out
);
/// Appends bytes and computes their checksums: whole blocks, except at the end of the file. Written, not mapped: the kernel stores
/// large writes in large folios, which are faster to map later. On false, abandon the entry.
bool pks__asset_cache_append(pks__asset_cache_entry *entry, const void *bytes, size_t byte_count);
/// Gives the file, which is full, its name, and gives the lock back. As `pks__asset_cache_find`, for the new file.
pks_vfs_file pks__asset_cache_finish(pks__asset_cache_entry *entry);
void pks__asset_cache_abandon(pks__asset_cache_entry *entry);  ///< removes the file, and gives the lock back

#endif
