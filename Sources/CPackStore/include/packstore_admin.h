/// Looking after stores: statistics, differences, verification, repair.
#ifndef PACKSTORE_ADMIN_H
#define PACKSTORE_ADMIN_H

#include "packstore_write.h"

#ifdef __cplusplus
extern "C" {
#endif

PKS_ASSUME_NONNULL_BEGIN

// MARK: - Whole-store walks

/// Bytes of one pack's current version, or of all.
typedef struct pks_usage {
  uint64_t file_count, link_count, folder_count;
  uint64_t logical_bytes;  ///< sum of the files' sizes
  uint64_t chunk_count;    ///< distinct chunks
  uint64_t unique_bytes;   ///< raw bytes of distinct chunks
  /// what those chunks take in segments; a frame's cost is spread over its chunks by raw length
  uint64_t stored_bytes;
  uint64_t own_unique_bytes;  ///< of `unique_bytes`, in chunks that no other pack uses
  uint64_t own_stored_bytes;
} pks_usage;

typedef struct pks_stat {
  pks_usage all;  ///< all current versions together
  uint64_t segment_count;
  uint64_t segment_bytes;  ///< sizes of all segment files, history, catalogs and not yet collected ones included
  uint64_t index_bytes;    ///< sizes of all index files
  uint64_t run_count;      ///< index runs of the generation
} pks_stat;

/// Measures what the current versions of a snapshot hold. `usages` has room for one `pks_usage` per pack, or is NULL. Time
/// is linear in assets and chunks.
PKS_MUST_CHECK pks_status pks_snapshot_stat(
  pks_stat *out, pks_usage *PKS_NULLABLE usages, const pks_snapshot *snapshot, pks_error *PKS_NULLABLE error
);

/// Files of a part of the store's folder.
typedef struct pks_files {
  uint64_t count;
  uint64_t bytes;            ///< their sizes
  uint64_t allocated_bytes;  ///< what the file system allotted to them, and to the folders that they are in
} pks_files;

/// What a pack costs, with all its kept versions: bytes of chunks in data segments, and of pages (of catalogs, layouts and
/// attributes) in metadata segments. A frame's stored bytes are spread over its chunks by raw length. Each stored copy that
/// something leads to counts.
typedef struct pks_pack_space {
  uint64_t current_bytes;  ///< that its current version needs; 0 for a removed pack
  uint64_t needed_bytes;   ///< that its kept versions need, the current one among them
  uint64_t page_bytes;     ///< of `needed_bytes`: pages
  uint64_t own_bytes;      ///< of `needed_bytes`: what no other pack needs, and does not lie in the base
  uint64_t base_bytes;     ///< of `needed_bytes`: what lies in the base, and no other pack needs that is listed before
  uint64_t missing_bytes;  ///< of `needed_bytes`: what was purged from the cache folder or vanished there
  uint64_t freed_bytes;    ///< sizes of the segments' files that only its versions need: they go with the pack
  uint64_t freed_allocated_bytes;  ///< what the file system allotted to those
  uint64_t cache_bytes;            ///< of `freed_bytes`: files in the cache folder, which may vanish or be purged
} pks_pack_space;

/// What lies in a store's folder, and in its own in the cache folder. The bytes of `segments`, `tables` and `cache` together are
/// own + shared + dead + table + unneeded, and freed + shared_file + unneeded, unless a transaction is staging in the cache folder.
typedef struct pks_space {
  pks_files segments;          ///< `segments/`
  pks_files tables;            ///< `tables/`: tables of segments in the cache folder
  pks_files cache;             ///< the cache folder: data of purgeable packs
  pks_files index;             ///< `index/`
  pks_files incoming;          ///< `incoming/`: what was fetched of versions that are not committed yet
  pks_files tmp;               ///< `tmp/`: work of running writers, and what a killed one left until the next commit
  pks_files other;             ///< all else: CONTROL, locks, the folder itself
  uint64_t own_bytes;          ///< of chunks and pages that one pack needs: the sum over all packs
  uint64_t base_bytes;         ///< of chunks that packs need and the base has: in no file of this store
  uint64_t shared_bytes;       ///< of those that several packs need
  uint64_t dead_bytes;         ///< of those that no kept version needs, in files that are needed
  uint64_t table_bytes;        ///< headers, tables and padding of files that are needed
  uint64_t unneeded_bytes;     ///< sizes of segments' files that no kept version needs, though a reader may
  uint64_t freed_bytes;        ///< sizes of files that only one pack needs: the sum over all packs
  uint64_t shared_file_bytes;  ///< sizes of files that several packs need
} pks_space;

/// Measures what the packs of a snapshot cost on disk. `packs` has room for one row per pack, those that were removed with
/// their history kept after the others, or is NULL. Time is linear in assets and chunks of all kept versions and in the
/// files of the folder; nothing is kept up to date for it. Beside a writer, figures may be of different moments.
PKS_MUST_CHECK pks_status pks_snapshot_space(
  pks_space *out, pks_pack_space *PKS_NULLABLE packs, const pks_snapshot *snapshot, pks_error *PKS_NULLABLE error
);

/// What files whose names end alike hold and cost, in all current versions.
typedef struct pks_extension_use {
  const char *extension;    ///< in small ASCII letters, without the dot, NOT NUL-terminated; on loan
  size_t extension_length;  ///< bytes of `extension`, at most 16; 0: the names have none
  uint64_t file_count;
  uint64_t logical_bytes;  ///< sizes of the files
  /// Of the chunks that they lead to; a chunk counts for the file that comes first in order of paths.
  uint64_t unique_bytes, stored_bytes;
} pks_extension_use;

/// Measures the kinds of files, in no order. Time is linear in assets and chunks.
PKS_MUST_CHECK pks_status pks_snapshot_extensions(
  const pks_snapshot *snapshot, void (*visit)(void *PKS_NULLABLE context, const pks_extension_use *use),
  void *PKS_NULLABLE context, pks_error *PKS_NULLABLE error
);

enum { PKS_HOLDS_MAX = 32 };

/// A generation older than a snapshot's that some reader holds, so that its files are not collected.
typedef struct pks_hold {
  uint64_t generation;
  uint64_t kept_bytes;  ///< sizes of the files that it needs and the snapshot's does not, be they other holds' as well
} pks_hold;

typedef struct pks_holds {
  pks_hold holds[PKS_HOLDS_MAX];  ///< in no order
  uint32_t count;
  bool has_more;        ///< there may be more than these; then nothing at all is collected
  uint64_t kept_bytes;  ///< of all these together, each file once
} pks_holds;

/// Says which older generations readers hold, other snapshots of this process included.
PKS_MUST_CHECK pks_status
pks_snapshot_holds(pks_holds *out, const pks_snapshot *snapshot, pks_error *PKS_NULLABLE error);

typedef enum pks_change {
  PKS_ADDED,
  PKS_REMOVED,
  PKS_CHANGED,
  PKS_MOVED,  ///< same content at another path; `old_path` is where it was
} pks_change;

typedef struct pks_difference {
  pks_change change;
  pks_kind kind;
  const char *path;
  size_t path_length;
  const char *PKS_NULLABLE old_path;  ///< NULL unless PKS_MOVED
  size_t old_path_length;
  uint64_t old_size, new_size;
  /// Raw bytes of its chunks that neither the older version has, nor a difference that was told of before: over all
  /// differences, the sum is that of the totals
  uint64_t new_bytes;
} pks_difference;

typedef struct pks_diff_totals {
  uint64_t added, removed, changed, moved, unchanged;  ///< entries
  uint64_t chunk_count;                                ///< distinct chunks of the newer version
  uint64_t new_chunk_count;                            ///< of them, not in the older one
  uint64_t new_bytes;                                  ///< raw bytes of those
} pks_diff_totals;

/// Compares two kept versions, perhaps of different packs or of different stores, removed packs included. `visit` is
/// called once per difference, in order of paths but with moves last; false cancels. `visit` and `totals` may be NULL.
PKS_MUST_CHECK pks_status pks_snapshot_diff(
  const pks_snapshot *old_snapshot, uint32_t old_pack, uint64_t old_version, const pks_snapshot *new_snapshot,
  uint32_t new_pack, uint64_t new_version,
  bool (*PKS_NULLABLE visit)(void *PKS_NULLABLE context, const pks_difference *difference), void *PKS_NULLABLE context,
  pks_diff_totals *PKS_NULLABLE totals, pks_error *PKS_NULLABLE error
);

/// Counts what differs between two versions of a pack as they would be after the commit. Errors: INVALID_ARGUMENT,
/// NOT_FOUND (no such pack or version), PURGED, CORRUPT, IO_ERROR, OUT_OF_MEMORY.
PKS_MUST_CHECK pks_status pks_txn_diff(
  pks_diff_totals *totals, const pks_txn *txn, const char *pack, uint64_t old_version, uint64_t new_version,
  pks_error *PKS_NULLABLE error
);

/// Something that is wrong with a store, and what it damages. All text is on loan until the callback returns.
typedef struct pks_fault {
  /// counts the faults of a walk from 1 on: one fault that hurts several assets is told once for each, with this number
  uint64_t number;
  pks_status status;      ///< CORRUPT; PURGED: a file is gone; IO_ERROR: it cannot be read; NEWER_FORMAT
  bool is_cached_damage;  ///< PURGED, and the cache folder has the bytes: their checksum is wrong
  int32_t system_error;   ///< errno of the failed system call, or 0
  const char *text;       ///< what is wrong, in English, static
  const char *file;       ///< the store's file, as `segments/...`, or the id of a page that is nowhere; may be empty
  uint64_t offset;        ///< byte offset within `file`, or PKS_NO_OFFSET
  uint64_t length;        ///< bytes from `offset` on, at least one of them bad; 0: unknown
  const char *PKS_NULLABLE pack;  ///< the pack that is hurt; NULL: none, or not known
  uint64_t version;               ///< its version; 0 without `pack`
  /// Path of the asset that is hurt, NOT NUL-terminated; NULL: none, or all of the version
  const char *PKS_NULLABLE asset;
  size_t asset_length;  ///< bytes of `asset`
} pks_fault;

typedef struct pks_verify_totals {
  uint64_t files_checked;  ///< files of the store
  uint64_t frames_checked;
  uint64_t chunks_checked;      ///< by SHA-256; only with `deep`
  uint64_t bytes_checked;       ///< stored bytes read
  uint64_t fault_count;         ///< faults, each counted once
  uint64_t asset_count;         ///< assets of kept versions that faults name, each counted once for each such version
  uint64_t damaged_copy_count;  ///< of the faults, those that are damaged copies of a control slot
  bool may_hide_commit;         ///< as `pks_store_check_control` says
} pks_verify_totals;

/// Checks every file of the snapshot's generation: structure and checksums; with `deep` (which needs `sha256`) also
/// decodes every frame, hashes every chunk, and compares all kept versions' catalogs with what the index or their layouts
/// lead to. `fault` is called for each fault, and again for each further asset that it hurts, in no particular order.
/// False from `progress` cancels. Both are called on the caller's thread. What a fault damages is found by a second walk,
/// which a sound store does not cost. `fault`, `progress` and `totals` may be NULL. Returns OK when the walk itself could
/// be done, however many faults it found.
PKS_MUST_CHECK pks_status pks_snapshot_verify(
  const pks_snapshot *snapshot, bool deep,
  void (*PKS_NULLABLE fault)(void *PKS_NULLABLE context, const pks_fault *fault),
  bool (*PKS_NULLABLE progress)(void *PKS_NULLABLE context, uint64_t bytes_done, uint64_t bytes_total),
  void *PKS_NULLABLE context, pks_verify_totals *PKS_NULLABLE totals, pks_error *PKS_NULLABLE error
);

// MARK: - Data that may vanish

/// How much of a version, or of an asset, can be read now.
typedef struct pks_availability {
  uint64_t total_bytes;          ///< sum of the files' sizes
  uint64_t missing_bytes;        ///< of them, what cannot be read: 0 for what is present, all of it for what is purged
  uint64_t asset_count;          ///< files
  uint64_t missing_asset_count;  ///< of them, those that lack bytes
  /// pages of the catalog or of the layout are lost: the version cannot be compared, copied or kept; its assets may be readable
  bool lacks_pages;
} pks_availability;

/// Returns how much of a kept version is available: by the existence and the lengths of its files among the store's own and in the
/// cache folder, and by the cached frames that were found damaged in this process. No frame is read: `pks_snapshot_check_cached`
/// does that. A site's copy without frames lacks nothing. `pack` and `version` count as in `pks_snapshot_version` (asserted). Time
/// is linear in the segments that the store's index lists, with one to three system calls for each segment of the version; and in
/// the assets of the version if anything is missing. Errors: CORRUPT, IO_ERROR (a file cannot be examined), OUT_OF_MEMORY.
PKS_MUST_CHECK pks_status pks_snapshot_availability(
  pks_availability *out, const pks_snapshot *snapshot, uint32_t pack, uint32_t version, pks_error *PKS_NULLABLE error
);

/// Reads what of a kept version lies in the cache folder and compares it with its checksums. What is bad counts as missing from
/// then on, for `pks_snapshot_availability`, adds and deliveries of this process, so that these bring it back. `pack` and
/// `version` count as there. Time is linear in the bytes that are read.
PKS_MUST_CHECK pks_status
pks_snapshot_check_cached(const pks_snapshot *snapshot, uint32_t pack, uint32_t version, pks_error *PKS_NULLABLE error);

/// What `pks_snapshot_availability` says of a version, of one asset.
PKS_MUST_CHECK pks_status
pks_asset_availability(pks_availability *out, const pks_asset *asset, pks_error *PKS_NULLABLE error);

typedef struct pks_purge_result {
  uint64_t freed_bytes;     ///< of the files that were unlinked
  uint64_t deferred_bytes;  ///< of files that could have gone, and that a reader has open
  uint64_t file_count;      ///< that were unlinked
  /// whether `bytes` were freed, or will be once those readers are done
  bool is_enough;
} pks_purge_result;

/// Frees at least `bytes` in the cache folder, if that much may go: unlinks whole files, the least valuable first:
/// decoded copies of assets, files that no version needs, then data of purgeable packs by their priority, lowest first,
/// and by their last use, longest ago first; of a pack, older versions first. Never anything among the store's files,
/// of versions that are pinned, or that a live reader has open, in any process. It takes no lock, commits nothing and
/// rewrites nothing. Packs that lost data get a mark, by which a plain fetch leaves them as they are:
/// `pks_store_purge_mark`. Last use is known to the hour. Errors: READ_ONLY, IS_SITE, IO_ERROR, OUT_OF_MEMORY, CORRUPT.
PKS_MUST_CHECK pks_status
pks_store_purge(pks_purge_result *out, pks_store *store, uint64_t bytes, pks_error *PKS_NULLABLE error);

/// Whether a purge took data of the pack, rather than another hand.
bool pks_store_purge_mark(pks_store *store, const char *pack);
/// Takes the mark away: the pack is to be whole again.
void pks_store_clear_purge_mark(pks_store *store, const char *pack);

// MARK: - Repair

/// What became of something that a repair found damaged, or in a damaged file. All text is on loan until the callback returns.
typedef struct pks_repair_note {
  bool lost;   ///< or else its bytes were found, and stored again
  bool moved;  ///< it was not damaged itself: its bytes lay whole in a file that is
  const char *pack;
  uint64_t version;                ///< as it was numbered; 0: all of the pack
  const char *PKS_NULLABLE asset;  ///< path, NOT NUL-terminated; NULL: all of the version
  size_t asset_length;             ///< bytes of `asset`
  /// without `asset`: assets of the version that are lost, whose paths are not known; 0: the version itself is
  uint64_t unnamed_count;
  bool attributes;                  ///< not the version, but its attributes: it goes on without
  const char *PKS_NULLABLE origin;  ///< not lost: where the bytes were, in English, or the path of a donor; NULL: lost
} pks_repair_note;

typedef enum pks_repair_phase {
  PKS_REPAIR_CHECK,    ///< looking for faults, as `pks_snapshot_verify` does when deep
  PKS_REPAIR_SURVEY,   ///< looking for what is whole
  PKS_REPAIR_RESTORE,  ///< putting versions together again
} pks_repair_phase;

/// A version that a site's store has, as the site's signed files say.
typedef struct pks_restored_version {
  const char *PKS_NULLABLE pack;  ///< must be given
  int32_t priority;               ///< the pack's
  uint64_t number;
  uint8_t catalog[32];
  uint8_t layout[32];
  uint8_t attributes[32];  ///< zeros: none
  int64_t committed_at_ns;
  uint64_t file_count, link_count, folder_count, logical_bytes;
} pks_restored_version;

/// How to repair. Zero-initialise; all of it may stay so.
typedef struct pks_repair_request {
  /// What the store is to have, where the folder has no control file and no index, but metadata segments and, in `tables/`, the
  /// tables of data segments that lie elsewhere: nothing else is looked for, and none of their frames is read. Those of a pack come
  /// one after another, the current one first. NULL: what the store itself says
  const pks_restored_version *PKS_NULLABLE versions;
  uint32_t version_count;
  const uint8_t *PKS_NULLABLE store_id;                ///< with `versions`: 16 bytes, the id of the store
  const char *PKS_NONNULL const *PKS_NULLABLE donors;  ///< paths of other stores that may have the same content
  uint32_t donor_count;
  /// Find out what would be done, and leave what the store shows as it is. Folders of the store and LOCK are made where
  /// they are missing, and what others left in tmp/ may be swept.
  bool dry_run;
  bool no_wait;  ///< PKS_BUSY, rather than waiting, when another writer holds the lock
  /// Part of a publication, as in `pks_txn_options`; the repaired store is marked as a site's. Without it the repair of a
  /// store that is marked is PKS_IS_SITE, unless nothing has to be done or it is a dry run.
  bool publication;
  void *PKS_NULLABLE context;  ///< for the callbacks, which are called on the caller's thread and may be NULL
  /// As `pks_snapshot_verify` calls it
  void (*PKS_NULLABLE fault)(void *PKS_NULLABLE context, const pks_fault *fault);
  void (*PKS_NULLABLE note)(void *PKS_NULLABLE context, const pks_repair_note *note);
  /// Bytes of the phase; false cancels, and leaves the store as it was.
  bool (*PKS_NULLABLE progress
  )(void *PKS_NULLABLE context, pks_repair_phase phase, uint64_t bytes_done, uint64_t bytes_total);
} pks_repair_request;

typedef struct pks_repair_totals {
  bool was_whole;  ///< there was nothing to do, and nothing was written
  /// copies of control slots that were damaged and are written again, or would be. Where nothing else was damaged, that
  /// is all there was to do, and no new generation is made
  uint64_t mended_copy_count;
  bool has_lost;  ///< assets, versions or packs
  bool
    is_rebuilt;  ///< no generation could be read: priorities, dates, pins, and which versions are current, were guessed
  uint64_t generation;   ///< the new one; 0 when none was made
  uint64_t fault_count;  ///< that were found at first; 0 when the store could not even be opened
  uint64_t segment_count, damaged_segment_count;
  uint64_t pack_count, version_count;  ///< kept
  uint64_t healed_asset_count;         ///< of all versions, those that were damaged and are whole again
  uint64_t lost_asset_count;           ///< of current versions
  uint64_t lost_version_count;         ///< older ones, dropped because something of them is nowhere
  uint64_t lost_pack_count;
  uint64_t stored_bytes;  ///< written to new segments
} pks_repair_totals;

/// Makes a damaged store whole again, as far as its bytes are anywhere: in segments that are whole, in intact parts of
/// others, by way of the old index, or in the stores that are named as donors. Everything that goes on to be used was
/// checked by SHA-256.
///
/// Where only copies of control slots are damaged, they are written again. A commit that they hid is brought back as
/// far as its files are there.
///
/// The store is read in full; what can be salvaged becomes a new generation, which a single durable commit makes
/// current, and nothing of the old one is touched, so that a crash leaves the store as it was or repaired. Files that
/// are not needed any more go with later commits. Readers go on with what they have; other writers wait. When the control
/// file had to be made afresh, processes that have the store open must open it again: they see nothing newer, and their
/// commits fail with CONFLICT.
///
/// A current version with losses becomes a new version, with a number above all others of its pack, of the assets that
/// are left. Older versions with losses are dropped. The index of a store may be gone as a whole: then the versions are
/// taken from what segments say of themselves, the two of the highest numbers of each pack.
///
/// `options` are as for `pks_store_open`; `sha256` is needed, `create` and `read_only` mean nothing. `request` may be
/// NULL, which is as if all were 0. Returns OK when the store is usable afterwards, be something lost or not: `totals`
/// (may be NULL) says. Errors: INVALID_ARGUMENT, NOT_A_STORE (also a donor), NEWER_FORMAT, READ_ONLY, IS_SITE, BUSY,
/// CANCELLED, NO_SPACE, IO_ERROR, OUT_OF_MEMORY, CORRUPT (a donor cannot be opened): the store is as it was.
PKS_MUST_CHECK pks_status pks_store_repair(
  const char *path, const pks_options *options, const pks_repair_request *PKS_NULLABLE request,
  pks_repair_totals *PKS_NULLABLE totals, pks_error *PKS_NULLABLE error
);

PKS_ASSUME_NONNULL_END

#ifdef __cplusplus
}
#endif

#endif
