/// Transactions: adding, removing and ordering packs, and the commit.
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
  /// no syncs: survives a crash of the process; a loss of power may take the store back to the last durable generation
  PKS_ATOMIC,
} pks_durability;

typedef struct pks_txn_options {
  pks_durability durability;
  bool no_wait;            ///< PKS_BUSY at commit, rather than waiting, when another writer holds the lock
  uint32_t keep_versions;  ///< versions kept per pack this transaction adds to, the new one included; 0: 2
  /// Part of a publication: the caller holds the site's lock, describes in the site's root what it commits, and names
  /// with `pks_txn_keep_segment` what clients of that root still fetch. The commit marks the store as a site's for
  /// good. A store that is marked takes no other commits: PKS_IS_SITE.
  bool publication;
  /// The files of the generation before stay until the next commit: a way back, should this one be regretted. By default a
  /// durable commit that dropped something unlinks right after the switch what no version, pin or reader needs any more.
  bool keep_generation;
  /// After a durable commit that dropped something, segments that are mostly dead are emptied in a commit of its own: at most
  /// this share, in percent, of the bytes that it wrote is copied; 0: 25. See `pks_store_collect`.
  uint32_t gc_percent;
  bool no_gc;       ///< nothing is copied
  bool set_date;    ///< versions that are made have the date `date_ns`, for what must not depend on a clock
  int64_t date_ns;  ///< nanoseconds since 1970
} pks_txn_options;

/// Begins to stage on top of the newest generation. `options` may be NULL. Takes no lock. Errors: READ_ONLY (also: the
/// store was opened without `pks_options.sha256`), IS_SITE, IO_ERROR, NO_SPACE, OUT_OF_MEMORY.
PKS_MUST_CHECK pks_status pks_txn_begin(
  pks_txn *PKS_NULLABLE *PKS_NONNULL out, pks_store *store, const pks_txn_options *PKS_NULLABLE options,
  pks_error *PKS_NULLABLE error
);

typedef enum pks_layout {
  PKS_LAYOUT_RANDOM,      ///< frames of 128 KiB: for assets that are read at random
  PKS_LAYOUT_SEQUENTIAL,  ///< frames of 2 MiB: smaller, for assets that are read from front to back
  PKS_LAYOUT_COMPACT,  ///< frames of 256 KiB, which small assets share: smaller, for those that are read at random, but rarely
} pks_layout;

typedef enum pks_links {
  PKS_LINKS_STORE,   ///< symbolic links are stored as links, dangling ones too
  PKS_LINKS_FOLLOW,  ///< what they point to is stored in their place, if it lies within the folder: see `unsafe_links`
  PKS_LINKS_REFUSE,  ///< any link is a refusal
} pks_links;

/// Levels of compression are zstd's: 1 to 22, where higher is smaller and slower to store; and below 0, where lower is larger and
/// faster to read, as bytes that repeat nothing are not coded. 0 stands for a default.
enum {
  PKS_LEVEL_MIN = -7,
  PKS_LEVEL_MAX = 22,
};

/// Where what is stored for a pack lies.
typedef enum pks_placement {
  PKS_PLACE_KEEP = 0,   ///< as the pack is placed; a new one is durable
  PKS_PLACE_DURABLE,    ///< among the files of the store
  PKS_PLACE_PURGEABLE,  ///< in the cache folder, where it may vanish at any moment
} pks_placement;

/// What an add does, one after another. Each begins with a report, and PKS_PHASE_STORE ends with one of everything done.
typedef enum pks_phase {
  PKS_PHASE_SCAN,    ///< listing the folder
  PKS_PHASE_STORE,   ///< chunking, hashing, compressing, writing
  PKS_PHASE_COMMIT,  ///< writing layout and index, and making everything durable; the last reports of an add
} pks_phase;

typedef struct pks_progress {
  pks_phase phase;
  uint64_t files_done, files_total;  ///< totals are 0 while scanning
  uint64_t bytes_done, bytes_total;  ///< bytes of the source
  uint64_t bytes_stored;             ///< bytes written to segments so far
} pks_progress;

typedef enum pks_notice {
  PKS_NOTICE_BAD_NAME,      ///< refusal: the name is not UTF-8, too long, or its path too deep
  PKS_NOTICE_LINK_REFUSED,  ///< refusal: a link, with PKS_LINKS_REFUSE
  PKS_NOTICE_LINK_LOOP,     ///< refusal: following a link does not end (ELOOP), or ends nowhere (ENOENT)
  PKS_NOTICE_TWIN,          ///< warning: differs from a sibling by case or normal form only (refusal with `portable`)
  PKS_NOTICE_SKIPPED,       ///< warning: a socket, device or FIFO was left out
  PKS_NOTICE_UNREADABLE,    ///< refusal: a file or folder cannot be read
  PKS_NOTICE_UNUSED_GLOB,   ///< warning: a pattern of `map_globs`, which is `path`, means no file of the folder
  PKS_NOTICE_LINK_OUT,      ///< refusal: with PKS_LINKS_FOLLOW, an absolute link or one that leads out of the folder
  PKS_NOTICE_OWN_STORE,     ///< warning: the store that is written lies there, and was left out
  PKS_NOTICE_SECRET,        ///< refusal: a file begins with the line `refused_first_line`
} pks_notice;

/// A notice about a path. Texts are borrowed until the callback returns, and not NUL-terminated.
typedef struct pks_add_notice {
  pks_notice kind;
  const char *path;  ///< may be invalid UTF-8
  size_t path_length;
  const char *PKS_NULLABLE twin;  ///< with PKS_NOTICE_TWIN: the earlier path
  size_t twin_length;
  int system_error;  ///< 0 if none
} pks_add_notice;

/// Something of a folder to add under a path of its own.
typedef struct pks_add_entry {
  const char *path;    ///< in the pack
  const char *source;  ///< below the folder: a file, a link, or a folder, of which nothing is looked at
} pks_add_entry;

/// What to add. Zero-initialise, then set `pack` and `folder`; all else may stay so.
typedef struct pks_add_request {
  /// Name: 1 to 128 bytes of letters, digits, `-`, `_`, `.`; not beginning with `-` or `.`
  const char *PKS_NULLABLE pack;
  const char *PKS_NULLABLE folder;  ///< the source folder
  /// Exactly what is added of the folder, which is not walked then: at least one entry, in bytewise order of their paths,
  /// each once. Nothing lies below a file or a link; a folder below which something lies is not stored as an empty one.
  /// Notices and errors about a source name the source. NULL: all that the folder holds
  const pks_add_entry *PKS_NULLABLE entries;
  uint32_t entry_count;
  /// 0: one more than the highest that the pack ever had, or 1. Else a higher one, up to 2^53 - 1; or that of the current
  /// version, if the content is the same
  uint64_t version;
  bool downgrade;  ///< `version` may be lower than those that the pack had, if it is not kept with other content
  bool set_priority;
  int32_t priority;  ///< with `set_priority`; otherwise an update keeps the pack's, and a new pack gets 0
  /// with `set_attributes`, those of the version: up to PKS_ATTRIBUTES_MAX bytes, none with 0; otherwise an update keeps
  /// those of the pack's current version. Other attributes make a version of their own, with equal content or not. What
  /// they say of map assets goes into `map_globs`, also of those that are kept: `pks_txn_attributes` reads them
  bool set_attributes;
  const void *PKS_NULLABLE attributes;
  size_t attribute_byte_count;
  /// With `set_changed_attributes`, what the version gets instead where the content is another than the current version's, in the
  /// same way: for what is said of one version and not of the next, such as a label
  bool set_changed_attributes;
  const void *PKS_NULLABLE changed_attributes;
  size_t changed_attribute_byte_count;
  bool only_unchanged;  ///< stages nothing if the content is another than the current version's: `declined`
  /// What the version says of its placement, which counts unless a user placed the pack (`pks_txn_set_placement`). The core does
  /// not read it from the attributes.
  pks_placement placement;
  bool adopt;  ///< takes over a pack that is not local, as `pks_provenance.adopt`
  /// A zstd level in [PKS_LEVEL_MIN, PKS_LEVEL_MAX]; 0: 3, 4 with PKS_LAYOUT_SEQUENTIAL, 6 with PKS_LAYOUT_COMPACT.
  int32_t level;
  pks_layout layout;
  uint32_t frame_size;  ///< raw bytes of a frame, in [65536, 16 MiB]; 0: as the layout says
  /// Raw bytes up to which small assets share a frame; 0: as the layout says, and with PKS_LAYOUT_RANDOM none but the smallest do
  /// where frames of their own take at most a hundredth more, with or without a dictionary of what assets of their kind have in
  /// common. That is tried for kinds of 2 MiB or more.
  uint32_t shared_frame_size;
  /// A dictionary for all small assets, of 8 to 131072 bytes, as `zstd --train` makes it or any bytes that they have in common,
  /// read during the call; NULL: one is trained for each kind of them where it pays.
  const void *PKS_NULLABLE dictionary;
  size_t dictionary_byte_count;
  pks_links links;
  bool unsafe_links;  ///< with PKS_LINKS_FOLLOW: links may be absolute, and lead out of the folder
  bool portable;      ///< siblings that differ by case or normal form only are a refusal: see `pks_fold_name`
  /// Patterns of files to store as *map assets*: raw whatever they hold, in one piece, beginning at a page of a segment
  /// file, so that they can always be borrowed and mapped. This costs space, and an update writes the whole file again
  /// when any of it changed. Say it with every add: a file that changed and is not meant is stored like any other. One
  /// that did not change stays as it is stored, and is laid out afresh when it is meant now and was not before. Equal
  /// files share a place.
  ///
  ///   `?`       one character                        `*`    any characters of one part
  ///   `[a-z]`   one of these, `[!a-z]` of the others  `**`   any characters, slashes included
  ///   `\`       takes the next one as it is           `**/`  where a part begins: any folders, or none
  ///
  /// A pattern with a slash means whole paths; one at its beginning is left out. A pattern without a slash means the
  /// last part of a path, at any depth. A pattern is 1 to 1024 bytes of UTF-8; letters have a case.
  const char *PKS_NONNULL const *PKS_NULLABLE map_globs;
  uint32_t map_glob_count;
  /// May be NULL. A file that begins with this line is a refusal, PKS_NOTICE_SECRET: for the first line of files with secrets. A
  /// byte order mark before it is skipped; the line ends with a line feed, a carriage return, or the file.
  const char *PKS_NULLABLE refused_first_line;
  /// As in `pks_delivery_request`: a client with the same limit can pull the version. 0: PKS_ROWS_MAX
  uint64_t max_rows;
  void *PKS_NULLABLE context;  ///< for the callbacks
  /// May be NULL. Whether something of the folder is to be left out, with all that lies in it if it is a folder. `path` is relative
  /// to the folder, on loan until it returns, and NOT NUL-terminated; its last part need not be valid UTF-8, and cannot be stored
  /// then. Not asked where `entries` are given
  bool (*PKS_NULLABLE skip)(void *PKS_NULLABLE context, const char *path, size_t path_length, bool is_folder);
  /// May be NULL. Called with every phase, and every 16 MiB, 1000 files or 65,536 rows, on the caller's thread; false cancels
  bool (*PKS_NULLABLE progress)(void *PKS_NULLABLE context, const pks_progress *progress);
  /// May be NULL. Called on the caller's thread
  void (*PKS_NULLABLE notice)(void *PKS_NULLABLE context, const pks_add_notice *notice);
} pks_add_request;

/// The most bytes of a folded name.
enum { PKS_FOLDED_NAME_MAX = 3 * 255 };

/// Folds a name of up to 255 bytes: disks that ignore case or Unicode's normal forms may take two names for one if they have equal
/// foldings. Bytes that are not UTF-8 stay as they are. Writes to `out` up to PKS_FOLDED_NAME_MAX bytes, and returns how many.
/// Thread-safe.
size_t pks_fold_name(const char *name, size_t length, char *out);

/// What is wrong with a pattern of `pks_add_request.map_globs`, static text; NULL when it is one.
const char *PKS_NULLABLE pks_glob_fault(const char *pattern);

/// Whether a pattern without a fault means the path, which need not end in a zero.
bool pks_glob_matches(const char *pattern, const char *path, size_t path_length);

typedef struct pks_add_result {
  bool declined;  ///< with `only_unchanged`: the content is another, and all else is zero
  /// the pack's current version has this very content, and these attributes: no version was made. With `relaid_count` or
  /// `restored_count` above 0 there is something to commit all the same: where these assets lie now.
  bool unchanged;
  pks_pack_version version;
  uint64_t chunk_count;       ///< chunks of the folder
  uint64_t new_chunk_count;   ///< of them, not stored before
  uint64_t new_raw_bytes;     ///< bytes of those chunks
  uint64_t new_stored_bytes;  ///< bytes written to segments: these chunks, map assets, catalog and layout pages
  uint64_t mapped_count;      ///< map assets of the folder that hold bytes
  uint64_t relaid_count;      ///< of them, how many did not change but were not stored as map assets before
  /// unchanged assets whose data or catalog pages were stored again, because they were missing or belong elsewhere now
  uint64_t restored_count;
  uint64_t mapped_new_bytes;  ///< bytes of map assets that were laid out now, be their chunks new or not
} pks_add_result;

/// Stages a folder, or what is selected of it, as the next version of a pack: chunk, hash, deduplicate, compress, write.
/// Private memory stays bounded whatever the folder holds. The result is a function of what is added, the store and
/// libzstd's version alone; `result` may be NULL. On an error the transaction stays as it was before the call. Errors:
/// INVALID_ARGUMENT, NOT_FOUND (no such folder), OTHER_ORIGIN (the pack is not local), WRONG_KIND (the folder, or what is
/// selected), REFUSED, SOURCE_CHANGED, TOO_MANY_ROWS, CANCELLED, EXISTS, HELD, NO_SPACE, IO_ERROR, OUT_OF_MEMORY, CORRUPT.
PKS_MUST_CHECK pks_status pks_txn_add_folder(
  pks_add_result *PKS_NULLABLE result, pks_txn *txn, const pks_add_request *request, pks_error *PKS_NULLABLE error
);

/// Other attributes for a pack. Zero-initialise, then set `pack`; all else may stay so.
typedef struct pks_attributes_request {
  const char *PKS_NULLABLE pack;
  uint64_t version;  ///< as in `pks_add_request`
  bool adopt;        ///< likewise
  /// up to PKS_ATTRIBUTES_MAX bytes; none with 0
  const void *PKS_NULLABLE attributes;
  size_t attribute_byte_count;
  /// Files that these patterns mean are laid out as map assets, as in `pks_add_request`; none that lies so is laid out
  /// otherwise. Where a file lies does not belong to its content: with the attributes that the version has, there is no new
  /// one
  const char *PKS_NONNULL const *PKS_NULLABLE map_globs;
  uint32_t map_glob_count;
  void *PKS_NULLABLE context;
  bool (*PKS_NULLABLE progress)(void *PKS_NULLABLE context, const pks_progress *progress);  ///< likewise
} pks_attributes_request;

/// Stages other attributes for a pack: a new version of the present content. Nothing of it is read or stored but files
/// that become map assets: `mapped_new_bytes` of the result says how much. Time is linear in the chunks of the version,
/// and in these bytes. With the attributes that it has, `unchanged`; `result` may be NULL. Errors: INVALID_ARGUMENT (a
/// pattern, more than PKS_ATTRIBUTES_MAX bytes), NOT_FOUND (no such pack), OTHER_ORIGIN (the pack is not local, and
/// `adopt` is not set), EXISTS, HELD, CANCELLED, NO_SPACE, IO_ERROR, OUT_OF_MEMORY, CORRUPT.
PKS_MUST_CHECK pks_status pks_txn_set_attributes(
  pks_add_result *PKS_NULLABLE result, pks_txn *txn, const pks_attributes_request *request,
  pks_error *PKS_NULLABLE error
);

/// A version of a pack to copy out of a snapshot. Zero-initialise, then set `source` and `pack`.
typedef struct pks_copy_request {
  const pks_snapshot *PKS_NULLABLE source;  ///< of another store, or of this one; open until the call returns
  const char *PKS_NULLABLE pack;            ///< its name in the source, and here
  uint64_t version;                         ///< number of a kept version; 0: the current one
  bool set_priority;                        ///< else a pack that is new here gets 0, and another keeps its own
  int32_t priority;
  bool adopt, downgrade;  ///< as in `pks_provenance`
  bool as_local;          ///< the pack becomes local here, whatever it is there; adopted if need be
  /// restores missing data of the pack's current version, which must be this one, and keeps the pack's origin; else NOT_FOUND
  bool heals;
  pks_placement placement;  ///< as in `pks_add_request`
  int32_t level;            ///< these as in `pks_add_request`, for chunks that this store does not have yet
  pks_layout layout;
  uint32_t frame_size;
  uint32_t shared_frame_size;
  void *PKS_NULLABLE context;
  bool (*PKS_NULLABLE progress)(void *PKS_NULLABLE context, const pks_progress *progress);  ///< likewise
} pks_copy_request;

/// Stages a version of the source as the pack's current version here, with its number, its date and its content. Chunks
/// that this store has are not touched; the others are read from the source, checked by SHA-256, and encoded as the
/// request says, on all threads. Map assets stay map assets. A version that is kept here becomes current again, as by
/// `pks_txn_rollback`, but the pack is not held. With the version current here already, `unchanged`; `result` may be
/// NULL. On an error the transaction stays as it was before the call. The pack's origin comes along, with what the source
/// accepted of it last. Time is linear in the chunks of the version. Errors: INVALID_ARGUMENT, OTHER_ORIGIN, DOWNGRADE,
/// STALE, NOT_FOUND (no such pack or version in the source), EXISTS (a kept version has the number and other content),
/// HELD, CANCELLED, NO_SPACE, IO_ERROR, OUT_OF_MEMORY, CORRUPT, PURGED (here or in the source; `file` says).
PKS_MUST_CHECK pks_status pks_txn_copy_version(
  pks_add_result *PKS_NULLABLE result, pks_txn *txn, const pks_copy_request *request, pks_error *PKS_NULLABLE error
);

/// Stages that of the pack's versions only the `count` that were current last are kept, the present one included, and
/// those that are pinned. INVALID_ARGUMENT for 0, NOT_FOUND when there is no such pack.
PKS_MUST_CHECK pks_status pks_txn_trim(pks_txn *txn, const char *pack, uint32_t count, pks_error *PKS_NULLABLE error);

/// Stages the removal of a pack, with its history or, with `keep_history`, without: then a rollback brings it back. The
/// history that was kept is removed by another call without `keep_history`. NOT_FOUND when there is neither.
PKS_MUST_CHECK pks_status
pks_txn_remove(pks_txn *txn, const char *pack, bool keep_history, pks_error *PKS_NULLABLE error);

/// What became of the packs of a base.
typedef struct pks_base_result {
  uint32_t taken_count;    ///< packs of which the base's version became the current one
  uint32_t refused_count;  ///< packs that stay as they are, because of where they come from or which version they had
  uint32_t relaid_count;   ///< versions that lacked data, and were laid out again with what the base has
} pks_base_result;

/// Takes the packs of `pks_options.base` over, in one commit: of one pack of one origin the higher version wins; packs that
/// are held, and those that had such a version or a higher one and were removed with their history kept, stay as they are.
/// A pack that was removed without comes back with another base or a later generation of this one. No data is copied: it is
/// read from the base. Versions that relied on another base, or an earlier generation, find by content what this one has
/// of it. Does nothing where the store stands on this generation of this base already, or has none; so call it after each
/// open. `out` may be NULL. Time: as a copy of each pack that is taken, and nothing else is in proportion to the store.
/// Errors: as of a transaction with such copies.
PKS_MUST_CHECK pks_status
pks_store_adopt_base(pks_base_result *PKS_NULLABLE out, pks_store *store, pks_error *PKS_NULLABLE error);

/// Stages which folder holds the data of purgeable packs: `folder`, an absolute path of at most 4095 bytes, in which
/// the store makes a folder of its own. It may be on another file system. What lies in the folder before is not moved:
/// it is purged unless it is brought along. `budget`: bytes that purgeable data may take there; 0: no limit. To keep to
/// it, less valuable data of other packs is purged before a version lands; else that is NO_SPACE. If more lies there when
/// the budget is committed, the least valuable of it is purged. Errors: INVALID_ARGUMENT, OUT_OF_MEMORY.
PKS_MUST_CHECK pks_status
pks_txn_set_cache_folder(pks_txn *txn, const char *folder, uint64_t budget, pks_error *PKS_NULLABLE error);

/// Stages where a pack lies: `placement` is DURABLE or PURGEABLE. All of its kept versions are laid out again: what must not stay
/// where it is is stored again, in as many bytes. What other packs need stays where it is, too. `by_hand`: a user says so, and what
/// later versions say does not count; otherwise it does nothing to a pack that a user placed. A pack that is placed so
/// already is `unchanged`. Becoming durable needs the data of the current version: PURGED when some of it is gone, and
/// nothing is staged; kept versions of which data is gone stay as they are. `result` may be NULL. Errors:
/// INVALID_ARGUMENT (no cache folder was chosen), NOT_FOUND, PURGED, IO_ERROR (the cache folder cannot be used),
/// NO_SPACE, OUT_OF_MEMORY, CORRUPT.
PKS_MUST_CHECK pks_status pks_txn_set_placement(
  pks_add_result *PKS_NULLABLE result, pks_txn *txn, const char *pack, pks_placement placement, bool by_hand,
  pks_error *PKS_NULLABLE error
);

/// Stages another priority for a pack. NOT_FOUND when there is none.
PKS_MUST_CHECK pks_status
pks_txn_set_priority(pks_txn *txn, const char *pack, int32_t priority, pks_error *PKS_NULLABLE error);

/// Stages that a kept version of a pack is its current one again: number `version`, or with 0 the one that was current
/// before (of a removed pack, the last one). No asset's bytes are moved or read; time is linear in the chunks of the
/// version. The pack is *held* there: neither `pks_txn_add_folder` nor an update moves it until `pks_txn_unpin`. No
/// version is dropped, so going forward works alike. `*now` (may be NULL) is the version. A version of which data was purged
/// is PURGED, unless `may_lack` and the pack is purgeable: then what is gone is PURGED when it is read. Errors: NOT_FOUND (no
/// such pack or version, or none before), PURGED, CORRUPT, IO_ERROR, NO_SPACE, OUT_OF_MEMORY.
PKS_MUST_CHECK pks_status pks_txn_rollback(
  pks_txn *txn, const char *pack, uint64_t version, bool may_lack, pks_pack_version *PKS_NULLABLE now,
  pks_error *PKS_NULLABLE error
);

/// Stages that a version is kept, whatever the number of versions to keep. NOT_FOUND when there is no such pack or
/// version.
PKS_MUST_CHECK pks_status pks_txn_pin(pks_txn *txn, const char *pack, uint64_t version, pks_error *PKS_NULLABLE error);

/// Stages that no version of the pack is pinned any more, and that the pack is not held. NOT_FOUND when there is no such
/// pack.
PKS_MUST_CHECK pks_status pks_txn_unpin(pks_txn *txn, const char *pack, pks_error *PKS_NULLABLE error);

/// Stages that the packs of these origins win first, in this order; the other origins follow as they were. Errors:
/// INVALID_ARGUMENT (named twice), NOT_FOUND (not listed).
PKS_MUST_CHECK pks_status pks_txn_order_origins(
  pks_txn *txn, const pks_origin *PKS_NULLABLE origins, uint32_t count, pks_error *PKS_NULLABLE error
);

/// Stages that what was accepted from an origin counts no more, of any pack: the next statement of each is taken whatever
/// its numbers are. The packs stay. For a user who follows another channel of the origin. NOT_FOUND when it is not listed.
PKS_MUST_CHECK pks_status pks_txn_restart_origin(pks_txn *txn, const pks_origin *origin, pks_error *PKS_NULLABLE error);

/// Checks whether a statement may make `version` the current one of the pack, before anything of it is transferred. If the
/// version is current already, and the statement's epoch is above the one on record, stages that the epoch is recorded.
/// Errors: OTHER_ORIGIN, DOWNGRADE, STALE, INVALID_ARGUMENT, as `pks_provenance` describes.
PKS_MUST_CHECK pks_status pks_txn_accept_offer(
  pks_txn *txn, const char *pack, uint64_t version, const pks_provenance *by, pks_error *PKS_NULLABLE error
);

/// Stages that an origin is forgotten, with the versions that were last accepted from it. Errors: NOT_FOUND,
/// INVALID_ARGUMENT (the local one, or a pack of it is here, or the history of one).
PKS_MUST_CHECK pks_status pks_txn_forget_origin(pks_txn *txn, const pks_origin *origin, pks_error *PKS_NULLABLE error);

/// Origins as they will be after the commit, as `pks_snapshot_origin`.
uint32_t pks_txn_origin_count(const pks_txn *txn);
pks_origin pks_txn_origin(const pks_txn *txn, uint32_t index);
/// Keeps a segment file from being collected by this commit, though no version may need it. It binds this commit alone:
/// what is to stay longer is named to each. The segment need not be there.
PKS_MUST_CHECK pks_status
pks_txn_keep_segment(pks_txn *txn, const uint8_t segment[PKS_NONNULL 16], pks_error *PKS_NULLABLE error);

/// Makes the commit happen even when nothing is staged, so that it collects what earlier ones had to leave; a durable one after
/// its switch, too.
void pks_txn_collect(pks_txn *txn);

/// Stages what is needed of segments that are mostly dead once more, so that they go as files when nothing leads to them any more:
/// at most about `copy_bytes`, and only of segments of which at least as much goes. No content changes, only where it lies.
/// `*copied_bytes` (may be NULL) is what new segments take; 0: nothing was worth it. Errors: INVALID_ARGUMENT when something is
/// staged already, PURGED, CORRUPT; those of staging.
PKS_MUST_CHECK pks_status
pks_txn_compact(pks_txn *txn, uint64_t copy_bytes, uint64_t *PKS_NULLABLE copied_bytes, pks_error *PKS_NULLABLE error);

/// Packs as they will be after the commit, in no particular order, and behind them those that were removed but keep their
/// history, `pks_txn_removed_count` of them. Names are on loan until the next call on `txn`.
uint32_t pks_txn_pack_count(const pks_txn *txn);
uint32_t pks_txn_removed_count(const pks_txn *txn);
pks_pack pks_txn_pack(const pks_txn *txn, uint32_t index);
/// A version that will be kept, as `pks_snapshot_version` counts them. `version` < version_count (asserted).
pks_pack_version pks_txn_version(const pks_txn *txn, uint32_t pack, uint32_t version);
/// The attributes of such a version, as `pks_snapshot_attributes` reads them.
PKS_MUST_CHECK pks_status pks_txn_attributes(
  void *PKS_NULLABLE out, size_t capacity, size_t *length, const pks_txn *txn, uint32_t pack, uint32_t version,
  pks_error *PKS_NULLABLE error
);

/// Commits: one atomic switch. A durable commit that drops a version, a pack or a place where one lay then unlinks what no
/// version, pin or reader needs any more, and may empty segments that are mostly dead (`pks_txn_options.gc_percent`), which
/// is another commit; what fails of either is left to a later commit. Always ends the transaction, whatever it returns.
/// `*generation` (may be NULL) is the new generation, or the base one when there was nothing to commit. Errors: BUSY,
/// CONFLICT, IS_SITE, NO_SPACE, IO_ERROR, OUT_OF_MEMORY, CORRUPT: the old generation stays.
PKS_MUST_CHECK pks_status
pks_txn_commit(pks_txn *txn, uint64_t *PKS_NULLABLE generation, pks_error *PKS_NULLABLE error);

/// The sizes of the segment files that commits through this handle have unlinked since it was opened: what they freed, of
/// earlier commits too. What readers hold is not in it until a later commit unlinks that. Commits of other handles do not count.
uint64_t pks_store_freed_bytes(const pks_store *store);

/// Ends the transaction without a trace. NULL is fine.
void pks_txn_abort(pks_txn *PKS_NULLABLE txn);

// MARK: - Collection

/// How to collect. Zero-initialise: all that can be freed.
typedef struct pks_collect_request {
  uint64_t copy_bytes;  ///< that may be copied at most; 0: no bound
  uint64_t time_ns;     ///< after which nothing more is begun; 0: no bound
  bool dry_run;         ///< find out what there is to do
  bool no_wait;         ///< PKS_BUSY, rather than waiting, when another writer holds the lock
  void *PKS_NULLABLE context;
  /// on the caller's thread, while bytes are copied; false cancels what is not committed yet
  bool (*PKS_NULLABLE progress)(void *PKS_NULLABLE context, const pks_progress *progress);
} pks_collect_request;

/// What a collection did. Of a dry run: about what one would do, beside whole files that can go.
typedef struct pks_collect_totals {
  uint64_t freed_bytes;    ///< sizes of the store's files before, less those after; 0 if there are more now
  uint64_t copied_bytes;   ///< stored again
  uint32_t emptied_count;  ///< segments
  uint32_t commit_count;   ///< generations that were made
} pks_collect_totals;

/// Frees what no version needs: first whole files, then dead bytes inside segments, by storing again what is needed of these.
/// When it is done without bounds, dead bytes lie only in frames of which three quarters are needed, and in metadata
/// segments, of which at most a quarter is dead. What readers hold goes with a commit after they are done.
///
/// Works in commits of 512 MiB at most, of 64 MiB with a bound of time, the segments first of which most goes for what is
/// copied. Readers go on; other writers wait for milliseconds. Content, numbers, dates and attributes of all versions stay.
/// `request` and `totals` may be NULL. Errors: IS_SITE; READ_ONLY; BUSY; CANCELLED; CONFLICT when other writers were always
/// faster; CORRUPT and PURGED when something that is needed cannot be read; NO_SPACE, IO_ERROR, OUT_OF_MEMORY. What was
/// committed by then stays, and is in `totals`.
PKS_MUST_CHECK pks_status pks_store_collect(
  pks_store *store, const pks_collect_request *PKS_NULLABLE request, pks_collect_totals *PKS_NULLABLE totals,
  pks_error *PKS_NULLABLE error
);

PKS_ASSUME_NONNULL_END

#ifdef __cplusplus
}
#endif

#endif
