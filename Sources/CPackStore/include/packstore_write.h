/// Change stores: add, copy, place, order and remove packs in transactions; commit; collect garbage.
#ifndef PACKSTORE_WRITE_H
#define PACKSTORE_WRITE_H

#include "packstore_read.h"

#ifdef __cplusplus
extern "C" {
#endif

PKS_ASSUME_NONNULL_BEGIN

// MARK: - Transactions

typedef enum pks_durability {
  PKS_DURABLE,  ///< survives power loss once committed
  /// no syncs: survives a crash of the process; power loss may return the store to the last durable generation
  PKS_ATOMIC,
} pks_durability;

typedef struct pks_txn_options {
  pks_durability durability;
  bool no_wait;            ///< PKS_BUSY at commit, rather than waiting, if another writer holds the lock
  uint32_t keep_versions;  ///< versions kept of each pack that the transaction adds to, including the new one; 0: 2
  /// Part of a publication. The caller holds the site's lock, lists the committed versions in the site's root, and calls
  /// `pks_txn_keep_segment` for segments that clients of that root still fetch. The commit permanently marks the store as a site's;
  /// a marked store refuses all other commits with PKS_IS_SITE.
  bool publication;
  /// Keeps the files of the previous generation until the next commit, so that this commit can be undone. By default, a durable
  /// commit that drops something unlinks, right after the switch, files that no version, pin or reader needs.
  bool keep_generation;
  /// A durable commit that drops something is followed by another commit, which empties segments that are mostly dead. It copies at
  /// most this percentage of the bytes that the first commit wrote; 0: 25. See `pks_store_collect`.
  uint32_t gc_percent;
  bool no_gc;       ///< copy nothing after the commit
  bool set_date;    ///< give new versions the date `date_ns`, so that they do not depend on a clock
  int64_t date_ns;  ///< nanoseconds since 1970
} pks_txn_options;

/// Begins a transaction on top of the newest generation. `options` may be NULL. Takes no lock. Errors: READ_ONLY (also if the store
/// was opened without `pks_options.sha256`), IS_SITE, IO_ERROR, NO_SPACE, OUT_OF_MEMORY.
PKS_MUST_CHECK pks_status pks_txn_begin(
  pks_txn *PKS_NULLABLE *PKS_NONNULL out, pks_store *store, const pks_txn_options *PKS_NULLABLE options,
  pks_error *PKS_NULLABLE error
);

typedef enum pks_layout {
  PKS_LAYOUT_RANDOM,      ///< frames of 128 KiB: for random access
  PKS_LAYOUT_SEQUENTIAL,  ///< frames of 2 MiB: smaller, for assets that are read from start to end
  PKS_LAYOUT_COMPACT,     ///< frames of 256 KiB, shared by small assets: smaller, for rare random access
} pks_layout;

typedef enum pks_links {
  PKS_LINKS_STORE,   ///< symbolic links are stored as links, including dangling ones
  PKS_LINKS_FOLLOW,  ///< the target is stored in place of the link, if it is in the folder: see `unsafe_links`
  PKS_LINKS_REFUSE,  ///< any link is refused
} pks_links;

/// Compression levels of zstd. From 1 to 22, a higher level gives smaller files and is slower to store. Below 0, a lower level
/// gives larger files that are faster to read, because bytes without repetitions are not encoded. 0 selects a default.
enum {
  PKS_LEVEL_MIN = -7,
  PKS_LEVEL_MAX = 22,
};

/// Where the data of a pack is stored.
typedef enum pks_placement {
  PKS_PLACE_KEEP = 0,   ///< the pack's current placement; a new pack is durable
  PKS_PLACE_DURABLE,    ///< among the files of the store
  PKS_PLACE_PURGEABLE,  ///< in the cache folder, where the data may be deleted at any time
} pks_placement;

/// The steps of an add, in order. Each begins with a progress report; PKS_PHASE_STORE also ends with a report, when everything is
/// done.
typedef enum pks_phase {
  PKS_PHASE_SCAN,    ///< listing the folder
  PKS_PHASE_STORE,   ///< chunking, hashing, compressing, writing
  PKS_PHASE_COMMIT,  ///< writing layout and index, and syncing; the last reports of an add
} pks_phase;

typedef struct pks_progress {
  pks_phase phase;
  uint64_t files_done, files_total;  ///< totals are 0 while scanning
  uint64_t bytes_done, bytes_total;  ///< bytes of the source
  uint64_t bytes_stored;             ///< bytes written to segments so far
} pks_progress;

typedef enum pks_notice {
  PKS_NOTICE_BAD_NAME,      ///< refused: the name is not UTF-8 or too long, or its path is too deep
  PKS_NOTICE_LINK_REFUSED,  ///< refused: a link, with PKS_LINKS_REFUSE
  PKS_NOTICE_LINK_LOOP,     ///< refused: following the link does not end (ELOOP), or its target is missing (ENOENT)
  PKS_NOTICE_TWIN,          ///< warning: differs from a sibling only by case or normal form (refused with `portable`)
  PKS_NOTICE_SKIPPED,       ///< warning: a socket, device or FIFO was skipped
  PKS_NOTICE_UNREADABLE,    ///< refused: a file or folder cannot be read
  PKS_NOTICE_UNUSED_GLOB,   ///< warning: a pattern of `map_globs`, given as `path`, matches no file of the folder
  PKS_NOTICE_LINK_OUT,      ///< refused: with PKS_LINKS_FOLLOW, a link that is absolute or leads out of the folder
  PKS_NOTICE_OWN_STORE,     ///< warning: the store being written is in the folder, and was skipped
  PKS_NOTICE_SECRET,        ///< refused: a file begins with the line `refused_first_line`
} pks_notice;

/// A notice about a path. Texts are borrowed until the callback returns, and not NUL-terminated.
typedef struct pks_add_notice {
  pks_notice kind;
  const char *path;  ///< may be invalid UTF-8
  size_t path_length;
  const char *PKS_NULLABLE twin;  ///< with PKS_NOTICE_TWIN: the earlier of the two paths
  size_t twin_length;
  int system_error;  ///< 0 if none
} pks_add_notice;

/// A file, link or folder to add under a path of its own.
typedef struct pks_add_entry {
  const char *path;    ///< in the pack
  const char *source;  ///< relative to the added folder: a file, a link, or a folder, whose contents are ignored
} pks_add_entry;

/// What to add. Zero-initialise, then set `pack` and `folder`; all other fields are optional.
typedef struct pks_add_request {
  /// Name: 1 to 128 bytes of letters, digits, `-`, `_`, `.`; not beginning with `-` or `.`
  const char *PKS_NULLABLE pack;
  const char *PKS_NULLABLE folder;  ///< the source folder
  /// The exact entries to add; the folder is not walked. At least one entry, in bytewise order of their paths, without duplicates.
  /// No entry may be below a file or a link; a folder with entries below it is not stored as an empty folder. Notices and errors
  /// about a source name the source. NULL: everything in the folder
  const pks_add_entry *PKS_NULLABLE entries;
  uint32_t entry_count;
  /// 0: one more than the highest number the pack ever had, or 1. Otherwise a higher number, up to 2^53 - 1, or the current
  /// version's number if the content is unchanged
  uint64_t version;
  bool downgrade;  ///< allow `version` to be lower than earlier numbers, unless that version is kept with other content
  bool set_priority;
  int32_t priority;  ///< with `set_priority`; otherwise an update keeps the pack's priority, and a new pack gets 0
  /// with `set_attributes`, the version's attributes: up to PKS_ATTRIBUTES_MAX bytes, none if the count is 0. Otherwise an update
  /// keeps the attributes of the pack's current version. A change of attributes creates a new version even if the content is equal.
  /// The core does not read patterns for map assets from attributes: pass them in `map_globs`, also the patterns in kept attributes
  /// (`pks_txn_attributes` reads these)
  bool set_attributes;
  const void *PKS_NULLABLE attributes;
  size_t attribute_byte_count;
  /// With `set_changed_attributes`: the attributes to use instead if the content differs from the current version's, with the same
  /// limit. For metadata that applies to one version and not to the next, such as a label
  bool set_changed_attributes;
  const void *PKS_NULLABLE changed_attributes;
  size_t changed_attribute_byte_count;
  bool only_unchanged;  ///< stage nothing if the content differs from the current version's: `declined`
  /// The placement that the version requests. It applies unless a user placed the pack (`pks_txn_set_placement`). The core does not
  /// read it from the attributes.
  pks_placement placement;
  bool adopt;  ///< take over a pack that is not local, like `pks_provenance.adopt`
  /// The origin of the version and the file that lists it, for a folder that was unpacked from a publisher's archive. Requires a
  /// `version`. NULL: the pack is local
  const pks_provenance *PKS_NULLABLE by;
  /// A zstd level in [PKS_LEVEL_MIN, PKS_LEVEL_MAX]; 0: 3, 4 with PKS_LAYOUT_SEQUENTIAL, 6 with PKS_LAYOUT_COMPACT.
  int32_t level;
  pks_layout layout;
  uint32_t frame_size;  ///< raw bytes of a frame, in [65536, 16 MiB]; 0: the layout's default
  /// Raw bytes up to which small assets share a frame; 0: the layout's default. With PKS_LAYOUT_RANDOM and 0, all but the smallest
  /// assets get frames of their own if that takes at most 1 % more space, with or without a dictionary for their kind. This is
  /// measured for kinds of 2 MiB or more.
  uint32_t shared_frame_size;
  /// A dictionary for all small assets, of 8 to 131072 bytes: made by `zstd --train`, or any bytes that the assets have in common.
  /// Read during the call. NULL: one is trained for each kind of asset that benefits from it.
  const void *PKS_NULLABLE dictionary;
  size_t dictionary_byte_count;
  pks_links links;
  bool unsafe_links;  ///< with PKS_LINKS_FOLLOW: allow links that are absolute or lead out of the folder
  bool portable;      ///< refuse siblings that differ only by case or normal form: see `pks_fold_name`
  /// Patterns for files to store as *map assets*: raw, in one piece, and beginning at a page of a segment file, so that they can
  /// always be borrowed and mapped. This costs space, and an update rewrites the whole file if any part of it changed. Equal files
  /// share one place.
  ///
  /// Pass the patterns with every add. A changed file that no pattern matches is stored like any other file. An unchanged file
  /// stays as it is stored, but becomes a map asset if a pattern matches it now and none did before.
  ///
  ///     `?`       one character                        `*`    any characters of one part
  ///     `[a-z]`   one of these, `[!a-z]` of the others  `**`   any characters, slashes included
  ///     `\`       takes the next one as it is           `**/`  where a part begins: any folders, or none
  ///
  /// A pattern with a slash matches whole paths; a leading slash is ignored. A pattern without a slash matches the last part of a
  /// path, at any depth. A pattern is 1 to 1024 bytes of UTF-8 and is case-sensitive.
  const char *PKS_NONNULL const *PKS_NULLABLE map_globs;
  uint32_t map_glob_count;
  /// May be NULL. The first line of files with secrets: a file that begins with this line is refused, with PKS_NOTICE_SECRET. A
  /// byte order mark before it is skipped. A line feed, a carriage return or the end of the file ends the line.
  const char *PKS_NULLABLE refused_first_line;
  /// As in `pks_delivery_request`: clients with the same limit can pull the version. 0: PKS_ROWS_MAX
  uint64_t max_rows;
  void *PKS_NULLABLE context;  ///< for the callbacks
  /// May be NULL. Returns whether to skip an entry of the folder, with all its contents if it is a folder. `path` is relative to
  /// the folder, borrowed until the callback returns, and NOT NUL-terminated. Its last part may be invalid UTF-8, which cannot be
  /// stored. Not called if `entries` is set
  bool (*PKS_NULLABLE skip)(void *PKS_NULLABLE context, const char *path, size_t path_length, bool is_folder);
  /// May be NULL. Called on the caller's thread at the start of each phase, and every 16 MiB, 1000 files or 65,536 rows; false
  /// cancels
  bool (*PKS_NULLABLE progress)(void *PKS_NULLABLE context, const pks_progress *progress);
  /// May be NULL. Called on the caller's thread
  void (*PKS_NULLABLE notice)(void *PKS_NULLABLE context, const pks_add_notice *notice);
} pks_add_request;

/// Maximum length of a folded name, in bytes.
enum { PKS_FOLDED_NAME_MAX = 3 * 255 };

/// Folds a name of up to 255 bytes. File systems that ignore case or Unicode normal forms may treat two names as equal if their
/// folded forms are equal. Bytes that are not UTF-8 are not changed. Writes up to PKS_FOLDED_NAME_MAX bytes to `out`, and returns
/// their number. Thread-safe.
size_t pks_fold_name(const char *name, size_t length, char *out);

/// Returns the fault of a pattern of `pks_add_request.map_globs` (static text), or NULL if the pattern is valid.
const char *PKS_NULLABLE pks_glob_fault(const char *pattern);

/// Whether a valid pattern matches the path, which need not be NUL-terminated.
bool pks_glob_matches(const char *pattern, const char *path, size_t path_length);

typedef struct pks_add_result {
  bool declined;  ///< with `only_unchanged`: the content differs, and all other fields are zero
  /// the pack's current version has the same content and attributes: no version was created. If `relaid_count` or `restored_count`
  /// is above 0, a commit is still necessary, to record where these assets are stored now.
  bool unchanged;
  pks_pack_version version;
  uint64_t chunk_count;       ///< chunks of the folder
  uint64_t new_chunk_count;   ///< of these, not stored before
  uint64_t new_raw_bytes;     ///< bytes of those chunks
  uint64_t new_stored_bytes;  ///< bytes written to segments: new chunks, map assets, pages of catalog and layout
  uint64_t mapped_count;      ///< non-empty map assets of the folder
  uint64_t relaid_count;      ///< of these, unchanged assets that were not stored as map assets before
  /// unchanged assets whose data or catalog pages were stored again, because they were missing or their placement changed
  uint64_t restored_count;
  uint64_t mapped_new_bytes;  ///< bytes of map assets stored by this call, whether or not their chunks are new
  /// with PKS_LAYOUT_RANDOM, an estimate of the bytes that PKS_LAYOUT_COMPACT would store less for small assets; 0: unknown or none
  uint64_t compact_saved_bytes;
} pks_add_result;

/// Stages a folder, or the selected entries, as the next version of a pack: chunks, hashes, deduplicates, compresses and writes the
/// files. Private memory is bounded for any folder. The result depends only on the added files, the store and libzstd's version.
/// `result` may be NULL. On an error the transaction stays as it was before the call.
///
/// Errors: INVALID_ARGUMENT, NOT_FOUND (the folder), OTHER_ORIGIN (the pack is not local, or not of the origin of `by`), DOWNGRADE
/// and STALE (see `pks_provenance`), WRONG_KIND (the folder or a selected entry), REFUSED, SOURCE_CHANGED, TOO_MANY_ROWS,
/// CANCELLED, EXISTS, HELD, NO_SPACE, IO_ERROR, OUT_OF_MEMORY, CORRUPT.
PKS_MUST_CHECK pks_status pks_txn_add_folder(
  pks_add_result *PKS_NULLABLE result, pks_txn *txn, const pks_add_request *request, pks_error *PKS_NULLABLE error
);

/// New attributes for a pack. Zero-initialise, then set `pack`; all other fields are optional.
typedef struct pks_attributes_request {
  const char *PKS_NULLABLE pack;
  uint64_t version;  ///< as in `pks_add_request`
  bool adopt;        ///< as in `pks_add_request`
  /// up to PKS_ATTRIBUTES_MAX bytes; 0: no attributes
  const void *PKS_NULLABLE attributes;
  size_t attribute_byte_count;
  /// Files that match are laid out as map assets, as in `pks_add_request`; existing map assets stay map assets. A layout is not
  /// part of the content: with unchanged attributes, no new version is created
  const char *PKS_NONNULL const *PKS_NULLABLE map_globs;
  uint32_t map_glob_count;
  void *PKS_NULLABLE context;
  bool (*PKS_NULLABLE progress)(void *PKS_NULLABLE context, const pks_progress *progress);  ///< as in `pks_add_request`
} pks_attributes_request;

/// Stages new attributes for a pack: a new version with the current content. Reads and stores only files that become map assets;
/// `mapped_new_bytes` of the result counts their bytes. Time is linear in the chunks of the version and in these bytes. With equal
/// attributes, the result is `unchanged`; `result` may be NULL. Errors: INVALID_ARGUMENT (a pattern, more than PKS_ATTRIBUTES_MAX
/// bytes), NOT_FOUND (the pack), OTHER_ORIGIN (the pack is not local, and `adopt` is not set), EXISTS, HELD, CANCELLED, NO_SPACE,
/// IO_ERROR, OUT_OF_MEMORY, CORRUPT.
PKS_MUST_CHECK pks_status pks_txn_set_attributes(
  pks_add_result *PKS_NULLABLE result, pks_txn *txn, const pks_attributes_request *request,
  pks_error *PKS_NULLABLE error
);

/// A version of a pack to copy out of a snapshot. Zero-initialise, then set `source` and `pack`.
typedef struct pks_copy_request {
  const pks_snapshot *PKS_NULLABLE source;  ///< a snapshot of this or another store; open until the call returns
  const char *PKS_NULLABLE pack;            ///< its name in the source and in this store
  uint64_t version;                         ///< number of a kept version; 0: the current one
  uint64_t number;                          ///< the number of the copy; 0: the number in the source
  bool set_priority;                        ///< otherwise a new pack gets 0, and an existing pack keeps its priority
  int32_t priority;
  bool adopt, downgrade;  ///< as in `pks_provenance`
  bool as_local;          ///< make the pack local here, regardless of its origin in the source; adopts it if necessary
  /// restore missing data of the pack's current version, which must be this version; keeps the pack's origin. Otherwise NOT_FOUND
  bool heals;
  pks_placement placement;  ///< as in `pks_add_request`
  int32_t level;  ///< this and the next three as in `pks_add_request`, for chunks that this store does not have yet
  pks_layout layout;
  uint32_t frame_size;
  uint32_t shared_frame_size;
  /// ids of segments, 16 bytes each: data that only these have is not reused, but stored again elsewhere. NULL: none
  const uint8_t *PKS_NULLABLE avoided_segments;
  uint32_t avoided_segment_count;
  void *PKS_NULLABLE context;
  bool (*PKS_NULLABLE progress)(void *PKS_NULLABLE context, const pks_progress *progress);  ///< as in `pks_add_request`
} pks_copy_request;

/// Stages a version of the source as the pack's current version here, with its date, content and origin, and with the version that
/// the source last accepted from this origin. Its number is the source's, unless the request has another one: equal content under
/// another number is another version. Chunks that this store already has are reused. The others are read from the source, checked
/// by SHA-256, and encoded with the request's settings, on all threads. Map assets stay map assets. A version that is already kept
/// here becomes current again, as with `pks_txn_rollback`, but without holding the pack. If it is already current, the result is
/// `unchanged`; `result` may be NULL. Time is linear in the chunks of the version. On an error the transaction stays as it was
/// before the call.
///
/// Errors: INVALID_ARGUMENT, OTHER_ORIGIN, DOWNGRADE, STALE, NOT_FOUND (no such pack or version in the source), EXISTS (a kept
/// version has the number and other content), HELD, CANCELLED, NO_SPACE, IO_ERROR, OUT_OF_MEMORY, CORRUPT, PURGED (here or in the
/// source; see `file`).
PKS_MUST_CHECK pks_status pks_txn_copy_version(
  pks_add_result *PKS_NULLABLE result, pks_txn *txn, const pks_copy_request *request, pks_error *PKS_NULLABLE error
);

/// Stages deletion of the pack's older versions: keeps pinned versions and the `count` versions that were current last, including
/// the current one. Errors: INVALID_ARGUMENT (0), NOT_FOUND (the pack).
PKS_MUST_CHECK pks_status pks_txn_trim(pks_txn *txn, const char *pack, uint32_t count, pks_error *PKS_NULLABLE error);

/// Stages the removal of a pack and its history. With `keep_history`, only the pack is removed: a rollback restores it, and another
/// call without `keep_history` removes the history. NOT_FOUND if neither the pack nor a history exists.
PKS_MUST_CHECK pks_status
pks_txn_remove(pks_txn *txn, const char *pack, bool keep_history, pks_error *PKS_NULLABLE error);

/// The outcome of `pks_store_adopt_base`.
typedef struct pks_base_result {
  uint32_t taken_count;  ///< packs whose current version is now the base's
  /// packs that could not be adopted: they belong to another origin, a higher version was accepted or is kept with other content,
  /// or the base's copy is damaged or incomplete
  uint32_t refused_count;
  uint32_t relaid_count;  ///< versions with missing data that were laid out again with data of the base
} pks_base_result;

/// Adopts the packs of `pks_options.base` in one commit. A pack of the base becomes current if its version is higher than every
/// version that the pack had here. Held packs do not change, nor do packs that had such a version and were removed with their
/// history kept. A pack removed without its history returns with another base, or with a later generation of this base.
///
/// No data is copied: it is read from the base. Versions that depended on another base or an earlier generation are laid out again
/// with chunks of this base, found by content. Does nothing if this generation of the base is already adopted, or if the store has
/// no base; call it after each open. A store without write access shows the packs as they were adopted last. `out` may be NULL.
/// Time: one copy for each adopted pack; nothing else depends on the store's size. Errors: as for `pks_txn_copy_version` and
/// `pks_txn_commit`.
PKS_MUST_CHECK pks_status
pks_store_adopt_base(pks_base_result *PKS_NULLABLE out, pks_store *store, pks_error *PKS_NULLABLE error);

/// Stages the folder for data of purgeable packs: `folder` is an absolute path of at most 4095 bytes, in which the store creates a
/// folder of its own. It may be on another file system. Data in the previous folder is not moved: it is purged unless the caller
/// moves it.
///
/// `budget` limits the bytes of purgeable data in the folder, and of decoded copies if they are in the same folder; 0: no limit.
/// Before a version is stored there, less valuable data of other packs is purged to stay within the budget; if that is not enough,
/// the result is NO_SPACE. If the data exceeds the budget when the budget is committed, the least valuable data is purged.
///
/// Errors: INVALID_ARGUMENT (the path; a second call in a transaction; a call after purgeable data was staged), OUT_OF_MEMORY.
PKS_MUST_CHECK pks_status
pks_txn_set_cache_folder(pks_txn *txn, const char *folder, uint64_t budget, pks_error *PKS_NULLABLE error);

/// Stages the placement of a pack: `placement` is DURABLE or PURGEABLE. All kept versions are laid out again. Data that must move
/// is stored again, in as many bytes; data that other packs need also stays where it is. With `by_hand`, a user makes the choice,
/// and later versions do not change it; without, the call does nothing to a pack that a user placed. A pack that already has this
/// placement is `unchanged`.
///
/// A pack becomes durable only if all data of its current version exists: otherwise the result is PURGED, and nothing is staged.
/// Other kept versions with missing data stay as they are. `result` may be NULL. Errors: INVALID_ARGUMENT (no cache folder was
/// set), NOT_FOUND, PURGED, IO_ERROR (the cache folder cannot be used), NO_SPACE, OUT_OF_MEMORY, CORRUPT.
PKS_MUST_CHECK pks_status pks_txn_set_placement(
  pks_add_result *PKS_NULLABLE result, pks_txn *txn, const char *pack, pks_placement placement, bool by_hand,
  pks_error *PKS_NULLABLE error
);

/// Stages a new priority for a pack. NOT_FOUND if the pack does not exist.
PKS_MUST_CHECK pks_status
pks_txn_set_priority(pks_txn *txn, const char *pack, int32_t priority, pks_error *PKS_NULLABLE error);

/// Stages a rollback: makes the kept version `version` current again, or with 0 the version that was current before (for a removed
/// pack, the last one). No version is dropped, so a later call can also go forward. The pack is then *held*: neither
/// `pks_txn_add_folder` nor an update changes its version until `pks_txn_unpin`.
///
/// Asset data is neither read nor moved, except data in the cache folder for a pack that is durable now, which is stored again.
/// Time is linear in the chunks of the version. `*now` (may be NULL) is the version. A version with purged data is PURGED, unless
/// `may_lack` is set and the pack is purgeable: then reading the missing data returns PURGED. Errors: NOT_FOUND (the pack, the
/// version, or a previous version), PURGED, CORRUPT, IO_ERROR, NO_SPACE, OUT_OF_MEMORY.
PKS_MUST_CHECK pks_status pks_txn_rollback(
  pks_txn *txn, const char *pack, uint64_t version, bool may_lack, pks_pack_version *PKS_NULLABLE now,
  pks_error *PKS_NULLABLE error
);

/// Stages a pin: the version is kept regardless of the number of versions to keep. NOT_FOUND if the pack or version does not exist.
PKS_MUST_CHECK pks_status pks_txn_pin(pks_txn *txn, const char *pack, uint64_t version, pks_error *PKS_NULLABLE error);

/// Stages the removal of all pins of a pack, and of its hold. NOT_FOUND if the pack does not exist.
PKS_MUST_CHECK pks_status pks_txn_unpin(pks_txn *txn, const char *pack, pks_error *PKS_NULLABLE error);

/// Stages the precedence of origins: packs of the listed origins win first, in this order; the other origins follow in their
/// current order. Errors: INVALID_ARGUMENT (an origin is listed twice), NOT_FOUND (an origin is unknown).
PKS_MUST_CHECK pks_status pks_txn_order_origins(
  pks_txn *txn, const pks_origin *PKS_NULLABLE origins, uint32_t count, pks_error *PKS_NULLABLE error
);

/// Stages that the accepted versions of an origin are forgotten, for all packs: the next statement about each pack is accepted
/// regardless of its numbers. The packs stay. Use it when a user switches to another channel of the origin. NOT_FOUND if the origin
/// is unknown.
PKS_MUST_CHECK pks_status pks_txn_restart_origin(pks_txn *txn, const pks_origin *origin, pks_error *PKS_NULLABLE error);

/// Checks, before any transfer, whether a statement may make `version` the current version of the pack. If the version is already
/// current and the statement's epoch is above the recorded epoch, stages the new epoch. Errors: OTHER_ORIGIN, DOWNGRADE, STALE,
/// INVALID_ARGUMENT, as described at `pks_provenance`.
PKS_MUST_CHECK pks_status pks_txn_accept_offer(
  pks_txn *txn, const char *pack, uint64_t version, const pks_provenance *by, pks_error *PKS_NULLABLE error
);

/// Returns the version of a pack that was last accepted from an origin; 0 if none was. Statements of the origin are compared with
/// it. It remains after the pack is removed.
uint64_t pks_txn_accepted_version(pks_txn *txn, const char *pack, const pks_origin *origin);

/// Stages the removal of an origin, together with the versions last accepted from it. Errors: NOT_FOUND, INVALID_ARGUMENT (the
/// local origin, or an origin that still has a pack or a history).
PKS_MUST_CHECK pks_status pks_txn_forget_origin(pks_txn *txn, const pks_origin *origin, pks_error *PKS_NULLABLE error);

/// Origins after the commit, as `pks_snapshot_origin` returns them.
uint32_t pks_txn_origin_count(const pks_txn *txn);
pks_origin pks_txn_origin(const pks_txn *txn, uint32_t index);
/// Protects a segment file from collection by this commit, even if no version needs it. Applies to this commit only: repeat the
/// call in each later transaction. The segment need not exist.
PKS_MUST_CHECK pks_status
pks_txn_keep_segment(pks_txn *txn, const uint8_t segment[PKS_NONNULL 16], pks_error *PKS_NULLABLE error);

/// Makes the commit happen even if nothing is staged, to collect files that earlier commits had to leave. A durable commit also
/// collects after its switch.
void pks_txn_collect(pks_txn *txn);

/// Stages copies of the live data in segments that are mostly dead, so that these files can be deleted once nothing refers to them.
/// Copies at most about `copy_bytes`, and only from segments that free at least as many bytes. Content does not change, only its
/// location. `*copied_bytes` (may be NULL) is the size of the new segments; 0: no segment qualified. Errors: INVALID_ARGUMENT
/// (something is already staged), PURGED, CORRUPT, and any staging error.
PKS_MUST_CHECK pks_status
pks_txn_compact(pks_txn *txn, uint64_t copy_bytes, uint64_t *PKS_NULLABLE copied_bytes, pks_error *PKS_NULLABLE error);

/// Packs after the commit, in no particular order, followed by removed packs with a kept history, counted by
/// `pks_txn_removed_count`. Names are borrowed until the next call on `txn`.
uint32_t pks_txn_pack_count(const pks_txn *txn);
uint32_t pks_txn_removed_count(const pks_txn *txn);
pks_pack pks_txn_pack(const pks_txn *txn, uint32_t index);
/// A version that will be kept, numbered as for `pks_snapshot_version`. `version` < version_count (asserted).
pks_pack_version pks_txn_version(const pks_txn *txn, uint32_t pack, uint32_t version);
/// The attributes of a version that will be kept, as `pks_snapshot_attributes` reads them.
PKS_MUST_CHECK pks_status pks_txn_attributes(
  void *PKS_NULLABLE out, size_t capacity, size_t *length, const pks_txn *txn, uint32_t pack, uint32_t version,
  pks_error *PKS_NULLABLE error
);

/// Commits in one atomic step, and ends the transaction whether or not it succeeds. A durable commit that drops a version, a pack
/// or a stored location then unlinks files that no version, pin or reader needs. A further commit may empty segments that are
/// mostly dead (`pks_txn_options.gc_percent`). If either of these fails, a later commit does the work. `*generation` (may be NULL)
/// is the new generation, or the current one if there was nothing to commit. Errors: BUSY, CONFLICT, IS_SITE, NO_SPACE, IO_ERROR,
/// OUT_OF_MEMORY, CORRUPT; the old generation then stays.
PKS_MUST_CHECK pks_status
pks_txn_commit(pks_txn *txn, uint64_t *PKS_NULLABLE generation, pks_error *PKS_NULLABLE error);

/// Total size of the segment files that commits through this handle have unlinked since it was opened, including garbage of earlier
/// commits. Files that readers still hold count only when a later commit unlinks them. Commits through other handles do not count.
uint64_t pks_store_freed_bytes(const pks_store *store);

/// Ends the transaction without changing the store. `txn` may be NULL.
void pks_txn_abort(pks_txn *PKS_NULLABLE txn);

// MARK: - Collection

/// How to collect. Zero-initialise to free everything that can be freed.
typedef struct pks_collect_request {
  uint64_t copy_bytes;  ///< maximum number of bytes to copy; 0: no limit
  uint64_t time_ns;     ///< nanoseconds after which no further step begins; 0: no limit
  bool dry_run;         ///< estimate the result, and change nothing
  bool no_wait;         ///< PKS_BUSY, rather than waiting, if another writer holds the lock
  void *PKS_NULLABLE context;
  /// called on the caller's thread while bytes are copied; false cancels uncommitted work
  bool (*PKS_NULLABLE progress)(void *PKS_NULLABLE context, const pks_progress *progress);
} pks_collect_request;

/// The result of a collection. For a dry run an estimate, without the files that can be deleted as a whole.
typedef struct pks_collect_totals {
  uint64_t freed_bytes;    ///< total size of the store's files before, minus the size after; 0 if they grew
  uint64_t copied_bytes;   ///< bytes stored again
  uint32_t emptied_count;  ///< segments emptied
  uint32_t commit_count;   ///< generations created
} pks_collect_totals;

/// Frees data that no version needs: first whole files, then dead bytes inside segments, by storing the live rest of those segments
/// again. Without limits, two kinds of dead bytes remain: in frames that are at least three quarters live, and in metadata segments
/// that are at most a quarter dead. Files that readers hold are deleted by a commit after the readers have finished.
///
/// Works in commits of at most 512 MiB, or 64 MiB with a time limit, beginning with the segments that free the most per copied
/// byte. Readers are not blocked; other writers wait for milliseconds. Content, numbers, dates and attributes of all versions stay.
/// `request` and `totals` may be NULL.
///
/// Errors: IS_SITE, READ_ONLY, BUSY, CANCELLED, CONFLICT (other writers committed first in every attempt), CORRUPT and PURGED
/// (needed data cannot be read), NO_SPACE, IO_ERROR, OUT_OF_MEMORY. Steps committed before the error stay, and are counted in
/// `totals`.
PKS_MUST_CHECK pks_status pks_store_collect(
  pks_store *store, const pks_collect_request *PKS_NULLABLE request, pks_collect_totals *PKS_NULLABLE totals,
  pks_error *PKS_NULLABLE error
);

PKS_ASSUME_NONNULL_END

#ifdef __cplusplus
}
#endif

#endif
