/// The parts of an open store and its snapshots. The files of this folder that use them include this one.
///
/// Definitions
///   snapshot   one generation with its runs open. Immutable except for first-touch bitmaps and lazily opened segments. A reader's
///              snapshot is *pinned*: it holds the generation's lock byte. A transaction is based on such a snapshot and creates
///              further ones, unpinned, of generations that are not committed yet.
///   open run   a run shared by all snapshots of this process that name it.
///
/// Invariants
///   1. A file with its final name is never written again. `CONTROL` alone is rewritten, slot by slot.
///   2. A snapshot's generation number is locked before the generation's files are relied on, and `CONTROL` is read
///      again after locking: a collector that did not see the lock has not yet unlinked anything this snapshot needs.
///   3. Readers take no lock that a writer waits for.
///   4. A forked child changes nothing that it shares with its parent: no lock, because locks belong to openings that both have, no
///      file, no folder. Nor does it wait for a mutex or a thread, because its parent's other threads do not exist in the child.
///      Every public call first calls `pks__store_is_ours`, including calls that close.
///
/// Threads: `mutex` guards the list of snapshots and everything reference-counted. It is never held across a read of
/// asset data.
#ifndef PKS_STORE_STATE_H
#define PKS_STORE_STATE_H

#include <stdatomic.h>

#include "catalog/tree.h"
#include "index/path_hash.h"
#include "index/run.h"
#include "platform/threads.h"
#include "segment/frame_cache.h"
#include "segment/frame_decoding.h"
#include "segment/segment.h"
#include "store/asset_cache.h"
#include "store/control.h"
#include "store/generation.h"
#include "store/generation_watch.h"
#include "store/locks.h"

#define PKS__TMP_FOLDER "tmp"
#define PKS__INCOMING_FOLDER "incoming"
#define PKS__PURGED_FOLDER "purged"

typedef struct pks__open_run {
  pks__run run;
  uint64_t name;
  uint32_t references;
  _Atomic(pks__segment *) *segments;  ///< opened when first needed
  /// Made when first needed: a bit per raw frame that this process checked, then a bit per frame that is known to abut the
  /// next one of the run.
  _Atomic(_Atomic(uint64_t) *) checked;
} pks__open_run;

/// A segment that a transaction is to bring.
typedef struct pks__staged_segment {
  pks__segment *segment;
  char folder[PKS__INDEX_NAME];  ///< folder of its file until the commit: in the store, or in the cache folder
} pks__staged_segment;

typedef struct pks__snapshot_run {
  pks__open_run *open;
  uint32_t *ranks;  ///< per pack of the run: its index in the generation, UINT32_MAX when it was removed
} pks__snapshot_run;

struct pks_snapshot {
  pks_store *store;
  uint32_t references;
  bool is_pinned;  ///< guarded by the store's mutex
  pks__generation generation;
  pks__path_hasher hasher;  ///< hasher with the generation's path key
  uint32_t run_count;
  pks__snapshot_run *runs;  ///< oldest first; then those of the base, for its chunks: without ranks
  uint32_t base_run_count;
  const pks__scratch
    *staged;           ///< for a transaction's snapshot: pks__staged_segment, its own, which no collection deletes
  pks_snapshot *next;  ///< in the store's list
};

/// Segments open in this process.
typedef struct pks__segment_slot {
  pks__segment *segment;
  uint32_t references;
} pks__segment_slot;

/// Remembered facts about layouts (`layout_segments.h`).
typedef struct pks__known_layouts {
  pks__scratch layouts;   ///< rows of that file's own
  pks__scratch segments;  ///< pks__segment_id
  pks__hash_map by_id;    ///< id of a layout -> index in `layouts`
} pks__known_layouts;

/// Purges at least `byte_count` bytes, if possible. Set by writers (`commit/purge.h`).
typedef void pks__purge_for_room(pks_store *store, uint64_t byte_count);

struct pks_store {
  const pks_vfs *vfs;
  const uint32_t *fork_mark;  ///< has another value than `fork_value` in a forked child
  uint32_t fork_value;
  pks_vfs_file root;
  pks_vfs_file readers_file;  ///< `READERS`; PKS_VFS_NO_FILE on media without it or without locks
  bool lacks_locks;           ///< of its file system
  pks_vfs_file lock;          ///< `LOCK`, while a store is made or repaired; PKS_VFS_NO_FILE: not open
  pks__wait wait;             ///< for the writer's lock
  pks_vfs_file control;
  pks__generation_watch watch;   ///< of `control`
  pks_sha256 *sha256;            ///< NULL when the caller gave none
  pks_sha256_many *sha256_many;  ///< NULL: chunks are hashed one by one; set only with `sha256`
  bool may_write;                ///< SHA-256 is available, and both the caller and the system allow writing
  int write_failure;             ///< why the system does not; 0: not asked, or it does
  uint32_t chunk_average;
  uint32_t thread_count;
  pks__hash_key map_key;  ///< for maps in memory; random, generated when the store opens
  uint8_t store_id[16];
  uint8_t boot_id[16];
  pks__mutex *mutex;
  pks__mutex *opening;  ///< one thread at a time opens a new generation; taken before `mutex`
  pks_snapshot *snapshots;
  pks_snapshot *current;  ///< one reference of the store's own: the snapshot of the newest generation seen
  /// a generation whose garbage this process has unlinked completely; 0: none
  _Atomic(uint64_t) collected;
  _Atomic(uint64_t) freed_bytes;  ///< sizes of the segment files that commits of this process unlinked here
  uint64_t pinning;               ///< a generation whose byte is held for a snapshot that is not made yet; 0: none
  pks__segment_slot *segments;
  uint32_t segment_count, segment_capacity;
  pks__known_layouts known_layouts;  ///< under the mutex
  pks__frame_readers readers;
  pks__frame_cache short_frames, long_frames;  ///< frames that reads need in parts (`store.c`)
  pks__crew *crew;                             ///< threads that help with large reads
  pks__asset_cache *cache;                     ///< NULL: none
  pks_store *base;                             ///< the store beneath this one (`base_store.h`); NULL: none
  pks_snapshot *base_snapshot;
  bool is_base;  ///< this store is the base of another
  pks_mapped_mode mapped_mode;
  char *cache_folder;  ///< of the newest opened generation; NULL: none. Guarded by the mutex
  pks_vfs roomy_vfs;   ///< `vfs`, with the owner's callback for space
  bool (*low_space)(void *context, uint64_t byte_count);
  void *low_space_context;
  _Atomic(bool) is_making_room;
  _Atomic(pks__purge_for_room *) purge_for_room;  ///< NULL: nothing of this store writes yet
};

/// The public interface has constant snapshots: their mutable parts are opened when first needed, by atomics or under the store's
/// mutex.
static inline pks_snapshot *pks__snapshot_mutable(const pks_snapshot *snapshot) {
  return (pks_snapshot *)(uintptr_t)snapshot;
}

/// Whether this is the process that opened the store, rather than a forked child of it.
static inline bool pks__store_is_ours(const pks_store *store) {
  return __builtin_expect(__atomic_load_n(store->fork_mark, __ATOMIC_RELAXED) == store->fork_value, 1);
}

/// FORKED in a forked child.
static inline pks_status pks__store_check_process(const pks_store *store, pks_error *error) {
  return pks__store_is_ours(store) ? PKS_OK : pks__fail_forked(error);
}

#endif
