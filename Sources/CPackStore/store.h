/// The life of a store: opening, its shared resources, and the views that snapshots and transactions stand on.
///
/// Definitions
///   view       one generation with its runs open. Immutable but for first-touch bitmaps and lazily opened segments.
///              A snapshot is a view that holds the generation's lock byte; a transaction stands on such a snapshot
///              and makes further views, of generations that are not committed yet.
///   open run   a run shared by all views of this process that name it.
///
/// Invariants
///   1. A file with its final name is never written again. `CONTROL` alone is rewritten, slot by slot.
///   2. A snapshot's generation number is locked before the generation's files are relied on, and `CONTROL` is read
///      again after locking: a collector that did not see the lock has not yet unlinked anything this view needs.
///   3. Readers take no lock that a writer waits for.
///   4. A forked child changes nothing that it shares with its parent: no lock, for they belong to openings that both
///      have, no file, no folder. Nor does it wait for a mutex or a thread, which its parent's other threads may have
///      held and did not bring along. Every public call asks `pks__store_is_ours` first, those that close too.
///
/// Threads: `mutex` guards the list of views and everything reference-counted. It is never held across a read of asset
/// data.
#ifndef PKS_STORE_H
#define PKS_STORE_H

#include <stdatomic.h>

#include "cache.h"
#include "control.h"
#include "frames.h"
#include "generation.h"
#include "path_hash.h"
#include "pins.h"
#include "run.h"
#include "segment.h"
#include "threads.h"
#include "tree.h"
#include "watch.h"

#define PKS__TMP_FOLDER "tmp"
#define PKS__INCOMING_FOLDER "incoming"

typedef struct pks__open_run {
  pks__run run;
  uint64_t name;
  uint32_t references;
  _Atomic(pks__segment *) *segments;     ///< opened when first needed
  _Atomic(_Atomic(uint64_t) *) checked;  ///< bit per raw frame that this process checked; made when first needed
} pks__open_run;

/// Whether this process has checked the bytes of a raw frame: then a part of it may be read, or looked at where it is
/// mapped, without reading all of it again.
bool pks__open_run_is_checked(const pks__open_run *open, uint32_t frame);
void pks__open_run_set_checked(pks__open_run *open, uint32_t frame);  ///< forgets it when memory is short

/// A segment that a transaction is to bring.
typedef struct pks__staged_segment {
  pks__segment *segment;
  char folder[PKS__INDEX_NAME];  ///< where its file lies until the commit
} pks__staged_segment;

typedef struct pks__view_run {
  pks__open_run *open;
  uint32_t *ranks;  ///< per pack of the run: its index in the generation, UINT32_MAX when it was removed
} pks__view_run;

/// `pks_snapshot` is a view.
struct pks_snapshot {
  pks_store *store;
  uint32_t references;
  bool is_pinned;  ///< guarded by the store's mutex
  pks__generation generation;
  pks__path_hasher hasher;  ///< of the generation's path key
  uint32_t run_count;
  pks__view_run *runs;         ///< oldest first
  const pks__scratch *staged;  ///< of a transaction's view: pks__staged_segment, its own, which no collection takes
  pks_snapshot *next;          ///< in the store's list
};
typedef struct pks_snapshot pks__view;

/// Segments open in this process.
typedef struct pks__segment_slot {
  pks__segment *segment;
  uint32_t references;
} pks__segment_slot;

struct pks_store {
  const pks_vfs *vfs;
  const uint32_t *fork_mark;  ///< has another value than `fork_value` in a forked child
  uint32_t fork_value;
  pks__file root;
  pks__file readers_file;  ///< `READERS`; PKS__NO_FILE on media without it
  pks__file lock;          ///< `LOCK`, while a store is made or repaired; PKS__NO_FILE: not open
  pks__wait wait;          ///< for the writer's lock
  pks__file control;
  pks__watch watch;    ///< of `control`
  pks_sha256 *sha256;  ///< NULL when the caller gave none
  bool may_write;      ///< there is SHA-256, and the caller wants to and the system lets us
  int write_failure;   ///< why the system does not; 0: nobody asked, or it does
  uint32_t chunk_average;
  uint32_t thread_count;
  pks__hash_key map_key;  ///< of maps in memory, drawn when the store opens
  uint8_t store_id[16];
  uint8_t boot_id[16];
  pks__mutex *mutex;
  pks__mutex *opening;  ///< one thread at a time opens a new generation; taken before `mutex`
  pks__view *views;
  pks__view *current;  ///< one reference of the store's own: the view of the newest generation seen
  uint64_t pinning;    ///< a generation whose byte is held for a view that is not made yet; 0: none
  pks__segment_slot *segments;
  uint32_t segment_count, segment_capacity;
  pks__frame_readers readers;
  pks__crew *crew;    ///< threads that help with large reads
  pks__cache *cache;  ///< NULL: none
};

/// Whether this is the process that opened the store, rather than a forked child of it.
static inline bool pks__store_is_ours(const pks_store *store) {
  return __builtin_expect(__atomic_load_n(store->fork_mark, __ATOMIC_RELAXED) == store->fork_value, 1);
}

/// FORKED in a forked child.
static inline pks_status pks__store_check_process(const pks_store *store, pks_error *error) {
  return pks__store_is_ours(store) ? PKS_OK : pks__fail_forked(error);
}

// MARK: - What is damaged

/// Opens as much of a store as there is: its directory and its lock. Nothing is read, and nothing is current: views of it
/// are made of what the caller found out. NOT_A_STORE when there is no part of one.
pks_status pks__store_open_parts(pks_store **out, const char *path, const pks_options *options, pks_error *error);
/// Opens the control file of such a store, PKS__NO_FILE when it is gone. Under the writer's lock: whoever holds that may
/// put another one in its place.
pks_status pks__store_open_control(pks_store *store, pks_error *error);
/// Makes the store's folders where they are missing.
pks_status pks__store_make_folders(pks_store *store, pks_error *error);

/// Syncs a folder or a file of the store. With `may_be_gone` a file that is not there is not missed.
pks_status pks__store_sync_folder(const pks_store *store, const char *path, pks_error *error);
pks_status pks__store_sync_file(const pks_store *store, const char *path, bool may_be_gone, pks_error *error);

// MARK: - Views

/// The view of the newest generation, with a reference for the caller.
pks_status pks__view_open_current(pks__view **out, pks_store *store, pks_error *error);
/// The view of an older generation, which somebody must have pinned or which cannot be collected for another reason.
pks_status pks__view_open_number(pks__view **out, pks_store *store, uint64_t number, pks_error *error);
/// What a control slot says of a generation's file.
typedef struct pks__generation_file {
  uint64_t length, sum;
} pks__generation_file;

/// Reads a generation's file; its own checksum decides.
pks_status pks__store_load_generation(
  pks_store *store, uint64_t number, pks__generation *out, pks__generation_file *file, pks_error *error
);
/// Reads a generation's file. With a slot, it must be the file that the slot names; without, its own checksum decides.
pks_status pks__store_read_generation(
  pks_store *store, uint64_t number, const pks__control_slot *slot, pks__generation *out, pks_error *error
);
/// A view of a generation that is not committed, sharing runs with `base`. Runs it does not share lie in the folder
/// `session`, under their run path. Takes the generation over, whatever it returns.
pks_status pks__view_create(
  pks__view **out, pks_store *store, pks__generation *generation, pks__file session, pks_error *error
);
pks__view *pks__view_retain(pks__view *view);  ///< one more reference
void pks__view_release(pks__view *view);       ///< NULL is fine

/// The open segment that run number `run` of the view knows as `index`. It stays open as long as the view.
pks_status pks__view_segment(pks__view *view, uint32_t run, uint32_t index, pks__segment **out, pks_error *error);

/// A stored chunk.
typedef struct pks__chunk_ref {
  uint32_t run;
  uint32_t segment_index;  ///< within the run
  pks__segment *segment;
  uint32_t row;
} pks__chunk_ref;

/// Walks the stored copies of a chunk, among segments of one kind, newest run first; the full id is compared. Zero
/// `*probe`, call until `*found` is false.
typedef struct pks__chunk_probe {
  uint32_t runs;  ///< that were gone through
  uint32_t row;   ///< in the present one
} pks__chunk_probe;
pks_status pks__view_next_chunk(
  pks__view *view, const pks__id *id, pks__segment_kind kind, pks__chunk_probe *probe, pks__chunk_ref *out, bool *found,
  pks_error *error
);

/// Looks a chunk up by id: the first of its copies. About two cache misses a run, and two for a hit.
pks_status pks__view_find_chunk(
  pks__view *view, const pks__id *id, pks__segment_kind kind, pks__chunk_ref *out, bool *found, pks_error *error
);

/// Appends a stored chunk's raw bytes to `out`. Its frame is checked, its id is not.
pks_status pks__view_read_chunk(pks__view *view, const pks__chunk_ref *ref, pks__scratch *out, pks_error *error);

/// Finds catalog and layout pages in the view's metadata segments. The context is the view.
pks__page_source pks__view_pages(pks__view *view);

/// Makes an open segment known under its id, with one reference for the caller; for segments that lie under another
/// name than their final one. If it is known already, `*segment` is closed and replaced.
pks_status pks__store_add_segment(pks_store *store, pks__segment **segment, pks_error *error);
pks_status pks__store_get_segment(pks_store *store, const pks__segment_id *id, pks__segment **out, pks_error *error);
void pks__store_retain_segment(pks_store *store, pks__segment *segment);  ///< one more reference to a known one
void pks__store_release_segment(pks_store *store, pks__segment *segment);
/// Whether a segment of this id, stored now, stands for one that this process knows to be damaged.
bool pks__store_mends(pks_store *store, const pks__segment_id *id);
/// Says that the segment's file was collected: who has it open may go on reading, and nothing new may refer to it.
void pks__store_forget_segment(pks_store *store, const pks__segment_id *id);

#endif
