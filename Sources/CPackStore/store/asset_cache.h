/// The cache: large assets as plain files, which may vanish at any moment.
///
/// `<folder>/<store id>/` holds `files/`, `tmp/` and `LOCK`. An asset that does not lie raw in one piece is
/// *materialised* there: decoded once into a file of exactly its bytes, so that later it is mapped, or opened, like any file.
///
/// A file is named by its *key*, the SHA-256 of where its bytes come from (segments, which are named by what they hold,
/// and places in them), so a name never means other bytes. Beside each file lies `<key>.sums`: its length, and an XXH3 of
/// every MiB. A file without sums, or sums without a file, is garbage.
///
/// Invariants
///   1. Nothing in the cache is needed. Whatever fails here, the asset is decoded instead; any process may delete any of it,
///      or all of it, at any time.
///   2. A file is believed after its bytes were compared with its sums, once per process; the one that made it believes
///      it. Nothing is synced, so a crash may leave files that are then found to be wrong and removed.
///   3. Files are made under the lock, one at a time, taken only if it is free: who finds it busy decodes. Its holder
///      removes what dead processes left in `tmp/`, and files that were used longest ago, until the new file fits in the
///      budget; only then does it allot the new one, and not at all when something cannot be removed.
///   4. A file that was opened or mapped stays readable when it is removed.
///
/// A file was last used when its modification time says.
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
/// What files and sums take: whole pages. 0 where the folder cannot be listed.
uint64_t pks__asset_cache_use(pks__asset_cache *cache);
/// Removes files, those used longest ago first, until `bytes` of room came of it; hands out how much did.
uint64_t pks__asset_cache_purge(pks__asset_cache *cache, uint64_t bytes);
void pks__asset_cache_close(pks__asset_cache *cache);  ///< NULL is fine

/// What a file of `size` bytes and its sums take of the budget: whole pages.
uint64_t pks__asset_cache_cost(uint64_t size);

/// The file of `key`, opened for reading, which the caller closes; PKS_VFS_NO_FILE when there is none of `size` intact
/// bytes.
pks_vfs_file pks__asset_cache_find(pks__asset_cache *cache, const pks__id *key, uint64_t size);

/// A file that is being made.
typedef struct pks__asset_cache_entry {
  pks__asset_cache *cache;
  pks__id key;
  uint64_t size;
  pks_vfs_file root, lock;
  pks_vfs_file file;
  uint64_t written;
  uint8_t *sums;  ///< what goes beside the file
} pks__asset_cache_entry;

/// Bytes of a file under one sum.
enum { PKS__CACHE_BLOCK = 1024 * 1024 };

/// Takes the lock, makes room and the file. `others` is what something else takes of the budget. False when that cannot be had
/// now: busy, over budget, no room, no folder.
bool pks__asset_cache_begin(
  pks__asset_cache *cache, const pks__id *key, uint64_t size, uint64_t others, pks__asset_cache_entry *out
);
/// Appends bytes and sums them: whole blocks, but for what ends the file. Written, not mapped: the kernel keeps what
/// comes in large pieces in large folios, which are faster to map later. False when it cannot be had; abandon the
/// entry.
bool pks__asset_cache_append(pks__asset_cache_entry *entry, const void *bytes, size_t byte_count);
/// Gives the file, which is full, its name, and gives the lock back. As `pks__asset_cache_find`, for the new file.
pks_vfs_file pks__asset_cache_finish(pks__asset_cache_entry *entry);
void pks__asset_cache_abandon(pks__asset_cache_entry *entry);  ///< removes the file, and gives the lock back

#endif
