/// Maintain stores: statistics, differences, verification, availability, purging, repair.
#ifndef PACKSTORE_ADMIN_H
#define PACKSTORE_ADMIN_H

#include "packstore_write.h"

#ifdef __cplusplus
extern "C" {
#endif

PKS_ASSUME_NONNULL_BEGIN

// MARK: - Whole-store walks

/// Counts and bytes of one pack's current version, or of all current versions.
typedef struct pks_usage {
  uint64_t file_count, link_count, folder_count;
  uint64_t logical_bytes;  ///< sum of the files' sizes
  uint64_t chunk_count;    ///< distinct chunks
  uint64_t unique_bytes;   ///< raw bytes of distinct chunks
  /// bytes of those chunks in segments; a frame's stored size is divided among its chunks by raw length
  uint64_t stored_bytes;
  uint64_t own_unique_bytes;  ///< part of `unique_bytes` in chunks that no other pack uses
  uint64_t own_stored_bytes;
} pks_usage;

typedef struct pks_stat {
  pks_usage all;  ///< all current versions together
  uint64_t segment_count;
  uint64_t segment_bytes;  ///< sizes of all segment files, including history, catalogs and garbage
  uint64_t index_bytes;    ///< sizes of all index files
  uint64_t run_count;      ///< index runs of the generation
} pks_stat;

/// Measures the current versions of a snapshot. `usages` has room for one `pks_usage` per pack, or is NULL. Time is linear in
/// assets and chunks.
PKS_MUST_CHECK pks_status pks_snapshot_stat(
  pks_stat *out, pks_usage *PKS_NULLABLE usages, const pks_snapshot *snapshot, pks_error *PKS_NULLABLE error
);

/// Files in one part of the store's folder.
typedef struct pks_files {
  uint64_t count;
  uint64_t bytes;            ///< sum of their sizes
  uint64_t allocated_bytes;  ///< bytes allocated by the file system for them and for their folders
} pks_files;

/// Space used by a pack with all its kept versions: bytes of chunks in data segments, and of pages (of catalogs, layouts and
/// attributes) in metadata segments. A frame's stored size is divided among its chunks by raw length. Every stored copy that is
/// referenced counts.
typedef struct pks_pack_space {
  uint64_t current_bytes;  ///< needed by its current version; 0 for a removed pack
  uint64_t needed_bytes;   ///< needed by its kept versions, including the current one
  uint64_t page_bytes;     ///< part of `needed_bytes` in pages
  uint64_t own_bytes;      ///< part of `needed_bytes` that no other pack needs and that is not in the base
  uint64_t base_bytes;     ///< part of `needed_bytes` in the base that no pack listed earlier needs
  uint64_t missing_bytes;  ///< part of `needed_bytes` that was purged from the cache folder or is missing there
  uint64_t freed_bytes;    ///< sizes of segment files that only its versions need: deleted together with the pack
  uint64_t freed_allocated_bytes;  ///< bytes allocated by the file system for those files
  uint64_t cache_bytes;            ///< part of `freed_bytes` in the cache folder, where files may be missing or purged
} pks_pack_space;

/// Space used by a store's folder, and by its folder in the cache folder. The bytes of `segments`, `tables` and `cache` together
/// equal own + shared + dead + table + unneeded, and also freed + shared_file + unneeded, unless a transaction is staging in the
/// cache folder.
typedef struct pks_space {
  pks_files segments;       ///< `segments/`
  pks_files tables;         ///< `tables/`: tables of the segments in the cache folder
  pks_files cache;          ///< the cache folder: data of purgeable packs
  pks_files index;          ///< `index/`
  pks_files incoming;       ///< `incoming/`: downloaded data of versions that are not committed yet
  pks_files tmp;            ///< `tmp/`: work of running writers, and leftovers of killed writers until the next commit
  pks_files other;          ///< everything else: CONTROL, locks, the folder itself
  uint64_t own_bytes;       ///< chunks and pages that only one pack needs: sum over all packs
  uint64_t base_bytes;      ///< chunks that packs need and that are in the base: not in a file of this store
  uint64_t shared_bytes;    ///< chunks and pages that several packs need
  uint64_t dead_bytes;      ///< chunks and pages that no kept version needs, in files that are needed
  uint64_t table_bytes;     ///< headers, tables and padding of files that are needed
  uint64_t unneeded_bytes;  ///< sizes of segment files that no kept version needs, although a reader may need them
  uint64_t freed_bytes;     ///< sizes of files that only one pack needs: the sum over all packs
  uint64_t shared_file_bytes;  ///< sizes of files that several packs need
} pks_space;

/// Measures the space that the packs of a snapshot use on disk. `packs` has room for one row per pack, first the packs and then the
/// removed packs with a kept history, or is NULL. Time is linear in assets and chunks of all kept versions and in the files of the
/// folder. While a writer is active, the figures may be from different moments.
PKS_MUST_CHECK pks_status pks_snapshot_space(
  pks_space *out, pks_pack_space *PKS_NULLABLE packs, const pks_snapshot *snapshot, pks_error *PKS_NULLABLE error
);

/// Counts and bytes of all files with one file name extension, in all current versions.
typedef struct pks_extension_use {
  const char
    *extension;  ///< in lower-case ASCII, without the dot, NOT NUL-terminated; borrowed until the callback returns
  size_t extension_length;  ///< bytes of `extension`, at most 16; 0: names without an extension
  uint64_t file_count;
  uint64_t logical_bytes;  ///< sum of the file sizes
  /// Of the files' chunks; a chunk counts only for the first file that contains it, in order of paths.
  uint64_t unique_bytes, stored_bytes;
} pks_extension_use;

/// Measures files by extension, in no particular order. Time is linear in assets and chunks.
PKS_MUST_CHECK pks_status pks_snapshot_extensions(
  const pks_snapshot *snapshot, void (*visit)(void *PKS_NULLABLE context, const pks_extension_use *use),
  void *PKS_NULLABLE context, pks_error *PKS_NULLABLE error
);

enum { PKS_HOLDS_MAX = 32 };

/// A generation older than a snapshot's that a reader retains, so that its files are not collected.
typedef struct pks_hold {
  uint64_t generation;
  /// sizes of the files that it needs and the snapshot's generation does not, even if other retained generations need them
  uint64_t kept_bytes;
} pks_hold;

typedef struct pks_holds {
  pks_hold holds[PKS_HOLDS_MAX];  ///< in no particular order
  uint32_t count;
  bool has_more;        ///< more generations may be retained; nothing is collected then
  uint64_t kept_bytes;  ///< for all listed generations together, each file once
} pks_holds;

/// Returns the older generations that readers retain, including other snapshots of this process.
PKS_MUST_CHECK pks_status
pks_snapshot_holds(pks_holds *out, const pks_snapshot *snapshot, pks_error *PKS_NULLABLE error);

typedef enum pks_change {
  PKS_ADDED,
  PKS_REMOVED,
  PKS_CHANGED,
  PKS_MOVED,  ///< same content at another path; `old_path` is the previous path
} pks_change;

typedef struct pks_difference {
  pks_change change;
  pks_kind kind;
  const char *path;
  size_t path_length;
  const char *PKS_NULLABLE old_path;  ///< NULL unless PKS_MOVED
  size_t old_path_length;
  uint64_t old_size, new_size;
  /// Raw bytes of its chunks that are in neither the older version nor a difference reported before: the sum over all differences
  /// equals `new_bytes` of the totals
  uint64_t new_bytes;
} pks_difference;

typedef struct pks_diff_totals {
  uint64_t added, removed, changed, moved, unchanged;  ///< entries
  uint64_t chunk_count;                                ///< distinct chunks of the newer version
  uint64_t new_chunk_count;                            ///< of these, not in the older version
  uint64_t new_bytes;                                  ///< raw bytes of the new chunks
} pks_diff_totals;

/// Compares two kept versions, also of different packs or stores, and of removed packs. Calls `visit` once per difference, in order
/// of paths, but with moves last; false cancels. `visit` and `totals` may be NULL.
PKS_MUST_CHECK pks_status pks_snapshot_diff(
  const pks_snapshot *old_snapshot, uint32_t old_pack, uint64_t old_version, const pks_snapshot *new_snapshot,
  uint32_t new_pack, uint64_t new_version,
  bool (*PKS_NULLABLE visit)(void *PKS_NULLABLE context, const pks_difference *difference), void *PKS_NULLABLE context,
  pks_diff_totals *PKS_NULLABLE totals, pks_error *PKS_NULLABLE error
);

/// Counts the differences between two versions of a pack as they will be after the commit. Errors: INVALID_ARGUMENT, NOT_FOUND (no
/// such pack or version), PURGED, CORRUPT, IO_ERROR, OUT_OF_MEMORY.
PKS_MUST_CHECK pks_status pks_txn_diff(
  pks_diff_totals *totals, const pks_txn *txn, const char *pack, uint64_t old_version, uint64_t new_version,
  pks_error *PKS_NULLABLE error
);

/// A fault in a store, and the asset it damages. All text is borrowed until the callback returns.
typedef struct pks_fault {
  /// number of the fault, from 1; a fault that damages several assets is reported once for each, with the same number
  uint64_t number;
  pks_status status;      ///< CORRUPT; PURGED: a file is missing; IO_ERROR: it cannot be read; NEWER_FORMAT
  bool is_cached_damage;  ///< PURGED, and the bytes exist in the cache folder, but with a wrong checksum
  int32_t system_error;   ///< errno of the failed system call, or 0
  const char *text;       ///< the fault, in English, static
  const char *file;       ///< the store's file, such as `segments/...`, or the id of a missing page; may be empty
  uint64_t offset;        ///< byte offset within `file`, or PKS_NO_OFFSET
  uint64_t length;        ///< number of bytes from `offset`, at least one of which is bad; 0: unknown
  const char *PKS_NULLABLE pack;  ///< the damaged pack; NULL: none or unknown
  uint64_t version;               ///< its version; 0 without `pack`
  /// Path of the damaged asset, NOT NUL-terminated; NULL: none, or the whole version
  const char *PKS_NULLABLE asset;
  size_t asset_length;  ///< bytes of `asset`
} pks_fault;

typedef struct pks_verify_totals {
  uint64_t files_checked;  ///< files of the store
  uint64_t frames_checked;
  uint64_t chunks_checked;      ///< by SHA-256; only with `deep`
  uint64_t bytes_checked;       ///< stored bytes read
  uint64_t fault_count;         ///< faults, each counted once
  uint64_t asset_count;         ///< assets of kept versions with damage or purged data, each counted once per version
  uint64_t damaged_copy_count;  ///< faults that are damaged copies of a control slot
  bool may_hide_commit;         ///< as reported by `pks_store_check_control`
} pks_verify_totals;

/// Checks every file of the snapshot's generation: structure and checksums. With `deep` (which requires `sha256`), it also decodes
/// every frame, hashes every chunk, and compares the catalogs of all kept versions with the data that the index or their layouts
/// refer to.
///
/// Calls `fault` for each fault, and again for each further asset that it damages, in no particular order. False from `progress`
/// cancels. Both are called on the caller's thread. A second walk finds the damaged assets; a store without faults does not need
/// it. `fault`, `progress` and `totals` may be NULL. Returns OK if the check itself could be completed, regardless of the number of
/// faults.
PKS_MUST_CHECK pks_status pks_snapshot_verify(
  const pks_snapshot *snapshot, bool deep,
  void (*PKS_NULLABLE fault)(void *PKS_NULLABLE context, const pks_fault *fault),
  bool (*PKS_NULLABLE progress)(void *PKS_NULLABLE context, uint64_t bytes_done, uint64_t bytes_total),
  void *PKS_NULLABLE context, pks_verify_totals *PKS_NULLABLE totals, pks_error *PKS_NULLABLE error
);

/// Whether a file is a valid data segment: its table has the id, and every chunk its SHA-256. `path` is relative to the store's
/// folder and contains no link; the file may come from another store. A missing, damaged or foreign file sets `*is_valid` to false.
/// Reads the whole file. Errors: INVALID_ARGUMENT (the store was opened without `sha256`), IO_ERROR, NO_SPACE, OUT_OF_MEMORY.
PKS_MUST_CHECK pks_status pks_store_check_segment_file(
  bool *is_valid, const pks_store *store, const char *path, const uint8_t id[PKS_NONNULL 16],
  pks_error *PKS_NULLABLE error
);

// MARK: - Data that may be missing

/// The part of a version or an asset that can be read now.
typedef struct pks_availability {
  uint64_t total_bytes;          ///< sum of the files' sizes
  uint64_t missing_bytes;        ///< part of it that cannot be read: 0 if all data exists, everything if all is purged
  uint64_t asset_count;          ///< files
  uint64_t missing_asset_count;  ///< of these, files with missing bytes
  /// pages of the catalog or layout are missing: the version cannot be compared, copied or kept, but its assets may be readable
  bool lacks_pages;
} pks_availability;

/// Returns how much of a kept version is available. Checks the existence and length of its files in the store and in the cache
/// folder, and the cached frames that this process has found to be damaged. Reads no frame; `pks_snapshot_check_cached` does. A
/// site's copy without frames counts as complete.
///
/// `pack` and `version` are numbered as for `pks_snapshot_version` (asserted). Time is linear in the segments that the store's
/// index lists, with one to three system calls for each segment of the version; if anything is missing, also in the assets of the
/// version. Errors: CORRUPT, IO_ERROR (a file cannot be examined), OUT_OF_MEMORY.
PKS_MUST_CHECK pks_status pks_snapshot_availability(
  pks_availability *out, const pks_snapshot *snapshot, uint32_t pack, uint32_t version, pks_error *PKS_NULLABLE error
);

/// Reads a kept version's data in the cache folder and verifies its checksums. Damaged data then counts as missing in this process,
/// so that `pks_snapshot_availability` reports it, and adds and deliveries restore it. `pack` and `version` are numbered as for
/// `pks_snapshot_version`. Time is linear in the bytes read.
PKS_MUST_CHECK pks_status
pks_snapshot_check_cached(const pks_snapshot *snapshot, uint32_t pack, uint32_t version, pks_error *PKS_NULLABLE error);

/// Returns for one asset what `pks_snapshot_availability` returns for a version.
PKS_MUST_CHECK pks_status
pks_asset_availability(pks_availability *out, const pks_asset *asset, pks_error *PKS_NULLABLE error);

typedef struct pks_purge_result {
  uint64_t freed_bytes;     ///< sizes of the unlinked files
  uint64_t deferred_bytes;  ///< sizes of files that would have been unlinked, but a reader has them open
  uint64_t file_count;      ///< number of unlinked files
  /// whether `bytes` were freed, or will be when those readers finish
  bool is_enough;
} pks_purge_result;

/// Frees at least `bytes` in the cache folder, if possible. Unlinks whole files, the least valuable first: decoded copies of
/// assets, then files that no version needs, then data of purgeable packs. Packs with lower priority come first, then packs used
/// longest ago; of one pack, older versions first. The time of last use has a resolution of an hour.
///
/// Never deletes the store's own files, data of pinned versions, or files that a reader in any process has open. Takes no lock and
/// commits nothing. Packs that lost data are marked, so that a plain fetch does not restore them: see `pks_store_purge_mark`.
/// Errors: READ_ONLY, IS_SITE, IO_ERROR, OUT_OF_MEMORY, CORRUPT.
PKS_MUST_CHECK pks_status
pks_store_purge(pks_purge_result *out, pks_store *store, uint64_t bytes, pks_error *PKS_NULLABLE error);

/// Whether `pks_store_purge` deleted data of the pack, as opposed to another program.
bool pks_store_purge_mark(pks_store *store, const char *pack);
/// Removes the mark, so that the pack's missing data may be fetched again.
void pks_store_clear_purge_mark(pks_store *store, const char *pack);

// MARK: - Repair

/// The outcome for one thing that was damaged, or that was in a damaged file. All text is borrowed until the callback returns.
typedef struct pks_repair_note {
  bool lost;   ///< whether it is lost; otherwise its bytes were found and stored again
  bool moved;  ///< it was undamaged, but in a damaged file
  const char *pack;
  uint64_t version;                ///< its number before the repair; 0: the whole pack
  const char *PKS_NULLABLE asset;  ///< path, NOT NUL-terminated; NULL: the whole version
  size_t asset_length;             ///< bytes of `asset`
  /// without `asset`: number of lost assets of the version whose paths are unknown; 0: the version itself is lost
  uint64_t unnamed_count;
  bool attributes;  ///< the note concerns only the version's attributes: the version continues without them
  const char
    *PKS_NULLABLE origin;  ///< not lost: the source of the bytes, in English, or the path of a donor; NULL: lost
} pks_repair_note;

typedef enum pks_repair_phase {
  PKS_REPAIR_CHECK,    ///< finding faults, as a deep `pks_snapshot_verify` does
  PKS_REPAIR_SURVEY,   ///< finding undamaged data
  PKS_REPAIR_RESTORE,  ///< restoring versions
} pks_repair_phase;

/// A version in a site's store, as the site's signed files describe it.
typedef struct pks_restored_version {
  const char *PKS_NULLABLE pack;  ///< required
  int32_t priority;               ///< the pack's priority
  uint64_t number;
  uint8_t catalog[32];
  uint8_t layout[32];
  uint8_t attributes[32];  ///< zeros: no attributes
  int64_t committed_at_ns;
  uint64_t file_count, link_count, folder_count, logical_bytes;
} pks_restored_version;

/// How to repair. Zero-initialise; all fields are optional.
typedef struct pks_repair_request {
  /// The versions that the store is to contain, for a folder without control file and index, but with metadata segments and, in
  /// `tables/`, the tables of data segments that are stored elsewhere. Only these versions are restored, and none of their frames
  /// is read. The versions of one pack are adjacent, the current one first. NULL: repair from the store's own records
  const pks_restored_version *PKS_NULLABLE versions;
  uint32_t version_count;
  const uint8_t *PKS_NULLABLE store_id;                ///< with `versions`: the id of the store, 16 bytes
  const char *PKS_NONNULL const *PKS_NULLABLE donors;  ///< paths of other stores that may contain the same data
  uint32_t donor_count;
  /// Report what would be done, without changing what the store shows. Missing folders of the store and LOCK are created, and
  /// leftovers in tmp/ may be deleted.
  bool dry_run;
  bool no_wait;  ///< PKS_BUSY, rather than waiting, if another writer holds the lock
  /// Part of a publication, as in `pks_txn_options`; marks the repaired store as a site's. Without it, repairing a marked store is
  /// PKS_IS_SITE, unless there is nothing to do or it is a dry run.
  bool publication;
  void *PKS_NULLABLE context;  ///< for the callbacks, which are called on the caller's thread and may be NULL
  /// As for `pks_snapshot_verify`
  void (*PKS_NULLABLE fault)(void *PKS_NULLABLE context, const pks_fault *fault);
  void (*PKS_NULLABLE note)(void *PKS_NULLABLE context, const pks_repair_note *note);
  /// Bytes of the current phase; false cancels and leaves the store unchanged.
  bool (*PKS_NULLABLE progress
  )(void *PKS_NULLABLE context, pks_repair_phase phase, uint64_t bytes_done, uint64_t bytes_total);
} pks_repair_request;

typedef struct pks_repair_totals {
  bool was_whole;  ///< the store was undamaged, and nothing was written
  /// damaged copies of control slots that were rewritten, or would be. If nothing else was damaged, no new generation is created
  uint64_t mended_copy_count;
  bool has_lost;         ///< whether assets, versions or packs were lost
  bool is_rebuilt;       ///< no generation was readable: priorities, dates, pins and current versions are guesses
  uint64_t generation;   ///< the new generation; 0 if none was created
  uint64_t fault_count;  ///< faults found before the repair; 0 if the store could not be opened
  uint64_t segment_count, damaged_segment_count;
  uint64_t pack_count, version_count;  ///< kept
  uint64_t healed_asset_count;         ///< in all versions, damaged assets that were restored
  uint64_t lost_asset_count;           ///< in current versions
  uint64_t lost_version_count;         ///< older versions, dropped because part of their data was not found
  uint64_t lost_pack_count;
  uint64_t stored_bytes;  ///< written to new segments
} pks_repair_totals;

/// Repairs a damaged store from every place where its bytes still exist: undamaged segments, intact parts of damaged ones, the old
/// index, and the donor stores. Data is reused only after a check by SHA-256.
///
/// If only copies of control slots are damaged, they are rewritten, and a commit that the damage hid is restored if its files
/// exist.
///
/// The store is read in full. The recovered data becomes a new generation in one durable commit, and nothing of the old generation
/// is changed: a crash leaves the store either unrepaired or repaired. Later commits delete files that are no longer needed.
/// Readers keep their snapshots; other writers wait. If the control file had to be created again, processes that have the store
/// open must reopen it: until then they see no new generation, and their commits fail with CONFLICT.
///
/// A current version with losses becomes a new version of the remaining assets, with a number above all others of its pack. Older
/// versions with losses are dropped. If the whole index is missing, versions are restored from records in the segments: for each
/// pack, the two with the highest numbers.
///
/// `options` are as for `pks_store_open`; `sha256` is required, `create` and `read_only` are ignored. `request` may be NULL, which
/// is equivalent to zeros. Returns OK if the store is usable afterwards, even if something was lost; `totals` (may be NULL) reports
/// losses. Errors: INVALID_ARGUMENT, NOT_A_STORE (also a donor), NEWER_FORMAT, READ_ONLY, IS_SITE, BUSY, CANCELLED, NO_SPACE,
/// IO_ERROR, OUT_OF_MEMORY, CORRUPT (a donor cannot be opened); the store is then unchanged.
PKS_MUST_CHECK pks_status pks_store_repair(
  const char *path, const pks_options *options, const pks_repair_request *PKS_NULLABLE request,
  pks_repair_totals *PKS_NULLABLE totals, pks_error *PKS_NULLABLE error
);

PKS_ASSUME_NONNULL_END

#ifdef __cplusplus
}
#endif

#endif
