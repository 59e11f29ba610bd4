/// Opening stores, finding and reading assets.
#ifndef PACKSTORE_READ_H
#define PACKSTORE_READ_H

#include "packstore_base.h"

#ifdef __cplusplus
extern "C" {
#endif

PKS_ASSUME_NONNULL_BEGIN

// MARK: - Store

typedef struct pks_store pks_store;
typedef struct pks_snapshot pks_snapshot;
typedef struct pks_txn pks_txn;
typedef struct pks_cursor pks_cursor;
struct pks_vfs;

/// SHA-256 of `byte_count` bytes. Called from several threads at once; must not fail.
typedef void pks_sha256(const void *bytes, size_t byte_count, uint8_t digest[PKS_NONNULL 32]);

/// A message, and where to store its SHA-256.
typedef struct pks_message {
  const void *PKS_NULLABLE bytes;  ///< may be NULL if `byte_count` is 0
  size_t byte_count;
  uint8_t *digest;  ///< 32 bytes, overlapping no message and no other digest
} pks_message;

/// Computes the SHA-256 of `count` (>= 1) independent messages: the digests that `pks_sha256` computes for each. A
/// processor hashes several messages at once faster than one after another; the core passes up to 128 chunks per call.
///
/// Messages have any alignment, may overlap each other and may be empty. The function must be reentrant, as several threads
/// call it at once; must not fail; must not allocate memory or block; must not read outside the messages, or write
/// outside the digests; and must not keep pointers after it returns.
typedef void pks_sha256_many(const pks_message *messages, size_t count);

typedef struct pks_options {
  pks_sha256 *PKS_NULLABLE sha256;  ///< NULL: the store opens for reading only, and without a cache
  /// SHA-256 of many messages at once, for chunks that are hashed in groups; NULL: they are hashed one by one with `sha256`.
  /// Opening a store compares both functions on fixed messages (257 blocks of 64 bytes in total), and fails with
  /// INVALID_ARGUMENT if they differ or if `sha256` is NULL. The bytes that a store writes do not depend on it
  pks_sha256_many *PKS_NULLABLE sha256_many;
  bool read_only;  ///< nothing in the store's directory changes
  bool create;     ///< make an empty store where there is none (the directory may exist and be empty)
  /// for a store made now: average chunk, bytes, a power of two in [1024, 1 MiB]; 0: the default, 8192
  uint32_t chunk_average;
  uint32_t thread_count;  ///< threads that staging and large reads may use; 0: one per processor
  /// a folder for files that may be deleted at any moment, made when missing, which stores and processes may share;
  /// NULL: no cache. Large assets that do not lie raw in one piece are *materialised* there as plain files. An absolute
  /// path, for it is looked up again each time, and one that only this user can write to: what lies there is checked
  /// against rot, not against people. What cannot be made or used there is no error: assets are decoded instead
  const char *PKS_NULLABLE cache;
  uint64_t cache_bytes;  ///< what this store's files in the cache may take, at most; 0: none are made
  /// the path of a store beneath this one, which is never written: what it holds is not stored again here, and is read from
  /// there (`pks_store_adopt_base` takes its packs over). It may be on read-only media. What relied on a base is PURGED
  /// where the store is opened without one, or over one that has it not. NULL: none
  const char *PKS_NULLABLE base;
  const struct pks_vfs *PKS_NULLABLE vfs;  ///< NULL: this machine
  bool no_wait;                     ///< PKS_BUSY, rather than waiting, when another process is just making the store
  void *PKS_NULLABLE wait_context;  ///< for `keep_waiting`
  /// Asked on the thread that waits for the writer's lock, at least every 50 ms and once more before it goes on: false
  /// ends the wait with PKS_CANCELLED, and nothing is committed. NULL: it waits as long as it takes
  bool (*PKS_NULLABLE keep_waiting)(void *PKS_NULLABLE context);
  void *PKS_NULLABLE low_space_context;  ///< for `low_space`, until the store is closed
  /// Asked before something fails with PKS_NO_SPACE for want of room on the disk, on the thread that wants it: at least
  /// `byte_count` bytes. What can be removed elsewhere may be removed now. True: the store purges that much of its own, as
  /// `pks_store_purge` does, and tries once more; false: it fails. One thread at a time is asked; another fails meanwhile. It
  /// must not use the store. Syncs that fail are not tried again. NULL: nothing is purged, and what fails fails
  bool (*PKS_NULLABLE low_space)(void *PKS_NULLABLE context, uint64_t byte_count);
  /// The *mapped mode*, for a store that only this user writes to: what does not compress is checked once per process, and
  /// copied from mapped segments from then on, by `pks_asset_read`, without a system call and without a checksum. All else is
  /// read as ever: first reads, compressed data, data in the cache folder, a base's. Granted if only this user and the
  /// administrator can write to the store's directory and to all directories above it, and it lies on a disk of this machine;
  /// else it is as if this were false: `pks_store_mapped_mode` says why. What is given up: if a segment is cut short while it
  /// is mapped, which takes a program of this user's or an administrator's that damages the store, or the disk fails to
  /// deliver a page, reading raises SIGBUS in place of an error; and damage to bytes in memory, or on the disk after they
  /// were checked, goes unseen until the process ends
  bool mapped_mode;
} pks_options;

/// Whether a store reads in the mapped mode, or why it does not.
typedef enum pks_mapped_mode {
  PKS_MAPPED_OFF = 0,  ///< it was not asked for (`pks_options.mapped_mode`)
  PKS_MAPPED_ON = 1,
  PKS_MAPPED_OTHER_OWNER = 2,         ///< the store's directory, or one above it, belongs to another user
  PKS_MAPPED_WRITABLE_BY_OTHERS = 3,  ///< others may write to the store's directory, or to one above it
  PKS_MAPPED_NOT_LOCAL = 4,           ///< the store is not known to lie on a disk of this machine
  PKS_MAPPED_UNKNOWN = 5,             ///< the system does not say who may write
} pks_mapped_mode;

/// Opens the store in the directory `path`. `options` may be NULL, which is as if all were 0. O(1) in assets and bytes stored.
/// Errors: INVALID_ARGUMENT (an option, an empty path, or a store is to be made without `sha256`), NOT_A_STORE (none
/// is there, or a file is), NEWER_FORMAT, OTHER_DRAFT, CORRUPT (both control slots; the control file of what was a store
/// is gone or holds something else; a file of the index is gone), IO_ERROR, NO_SPACE, OUT_OF_MEMORY.
PKS_MUST_CHECK pks_status pks_store_open(
  pks_store *PKS_NULLABLE *PKS_NONNULL out, const char *path, const pks_options *PKS_NULLABLE options,
  pks_error *PKS_NULLABLE error
);

/// Whether damage of the control file may hide a commit: CORRUPT if it may. The store then shows the newest generation
/// that can be found, which need not be the newest there was, and takes no commits, which would make the loss final,
/// until it was repaired (`pks_store_repair`). Ask after every open, and tell people. Damage that hides nothing, or
/// nothing that could not be found elsewhere, is no error here; `pks_snapshot_verify` reports it, and the next commit
/// mends it. Other errors: IO_ERROR, OUT_OF_MEMORY.
PKS_MUST_CHECK pks_status pks_store_check_control(pks_store *store, pks_error *PKS_NULLABLE error);

/// What became of `pks_options.mapped_mode`, decided when the store was opened.
pks_mapped_mode pks_store_mapped_mode(const pks_store *store);

/// Whether the file system of the store has no locks, found out by `pks_store_open`. Then reading works, but does not keep files
/// from a collection by another process: a deleted file is reported as damage or PURGED, never as other bytes. Writing fails with
/// IO_ERROR.
bool pks_store_lacks_locks(const pks_store *store);

/// What tells this store from others: drawn when it was made, 16 bytes.
void pks_store_id(const pks_store *store, uint8_t id[PKS_NONNULL 16]);

/// Closes a store whose snapshots and transactions are all closed. NULL is fine.
void pks_store_close(pks_store *PKS_NULLABLE store);

// MARK: - Origins

typedef enum pks_origin_kind {
  PKS_ORIGIN_LOCAL = 0,     ///< what this machine added itself
  PKS_ORIGIN_SIGNED = 1,    ///< a publisher's product
  PKS_ORIGIN_UNSIGNED = 2,  ///< a product of a publisher without a key
  PKS_ORIGIN_UNKNOWN = 3,   ///< what a repair found without a word about where it came from
} pks_origin_kind;

enum { PKS_PRODUCT_SIZE = 65 };

/// Where a pack comes from. Zeroed, it is the local origin.
typedef struct pks_origin {
  pks_origin_kind kind;
  uint8_t key[32];                 ///< the publisher's first root key, an Ed25519 public key; zeros unless signed
  char product[PKS_PRODUCT_SIZE];  ///< NUL-terminated: 1 to 64 of `a-z 0-9 - _ .`; empty for local and unknown
} pks_origin;

typedef enum pks_statement {
  PKS_STATEMENT_NONE = 0,  ///< the caller's own word: for the local origin
  PKS_STATEMENT_ROOT,      ///< of a site: it alone may take a version back
  PKS_STATEMENT_ARCHIVE,
  PKS_STATEMENT_DELTA,
  PKS_STATEMENT_COPY,  ///< out of another store
} pks_statement;

/// By whose word a pack is at a version. The caller checked signatures; the core keeps packs apart by it: a pack is
/// changed by its own origin alone, and brought below the version that was last accepted from it only by a root whose
/// publisher took that version back. Zeroed, it is the caller's own word, which is not numbered.
typedef struct pks_provenance {
  pks_origin origin;
  pks_statement statement;
  /// The serial of the delegation under which the statement was signed, from 1 to 2^53 - 1; 0: none.
  uint64_t serial;
  /// Serials below this one were revoked: floors under them do not count. At most `serial`; 0: none.
  uint64_t revoked_below;
  uint64_t sequence;  ///< the statement's number, which its publisher only raises
  /// The epoch of a root's offer. A publisher raises it when it takes something away; 0 for other statements.
  uint64_t epoch;
  /// The highest number that the root's channel ever offered of the pack. Of a copy: the highest number that its source
  /// recorded as taken back; 0 for other statements.
  uint64_t highest;
  /// A number that the root offers with the installed catalog, but not to this app version or platform; 0: none.
  uint64_t excluded;
  bool adopt;      ///< takes the pack over if it is of another origin; its history and its numbers begin again then
  bool downgrade;  ///< accepts a lower version; the floor stays, so that an update goes up again
} pks_provenance;

// MARK: - Snapshots and packs

/// The newest generation, held until `pks_snapshot_close`. Two opens without a commit between them share one view.
PKS_MUST_CHECK pks_status
pks_snapshot_open(pks_snapshot *PKS_NULLABLE *PKS_NONNULL out, pks_store *store, pks_error *PKS_NULLABLE error);
void pks_snapshot_close(pks_snapshot *PKS_NULLABLE snapshot);  ///< NULL is fine; ends all loans

/// The number of the newest generation, by whichever process. Costs a few loads as long as it is the one that this store
/// saw last, where the control file can be mapped; a system call otherwise. To watch a store, compare it with
/// `pks_snapshot_generation` now and then, and open another snapshot when they differ. Errors: CORRUPT, IO_ERROR.
PKS_MUST_CHECK pks_status pks_store_generation(uint64_t *generation, pks_store *store, pks_error *PKS_NULLABLE error);

/// The generation's number: 1 for an empty new store, rising by 1 with each commit.
uint64_t pks_snapshot_generation(const pks_snapshot *snapshot);

/// The folder where the data of purgeable packs lies, as `pks_txn_set_cache_folder` chose it, and how many bytes it may
/// take (`budget` may be NULL; 0: no limit). NULL: none was chosen. On loan until the snapshot closes.
const char *PKS_NULLABLE pks_snapshot_cache_folder(const pks_snapshot *snapshot, uint64_t *PKS_NULLABLE budget);

/// Identifies the files that exist in `segments/`, `tables/` and the cache folder, by the folders' times: while it stays the same,
/// so does `pks_snapshot_availability` of a generation, except for files that were cut short. Get it first. 0: unknown, because
/// a folder changed within a tenth of a second or cannot be examined. Two system calls, seven with a cache folder.
uint64_t pks_store_files_stamp(pks_store *store);

/// Whether the store is a site's: it takes no commits but those of publications.
bool pks_snapshot_is_site(const pks_snapshot *snapshot);

/// A pack version, by its numbers.
typedef struct pks_pack_version {
  uint64_t number;          ///< 1, 2, 3, ... unless the publisher said otherwise
  uint8_t catalog[32];      ///< identity of the content: SHA-256 of the catalog's root page
  uint8_t layout[32];       ///< SHA-256 of the root page of the layout, which says where the bytes lie
  uint8_t attributes[32];   ///< SHA-256 of the version's attributes; zeros: it has none
  int64_t committed_at_ns;  ///< nanoseconds since 1970
  uint64_t file_count;
  uint64_t link_count;
  uint64_t folder_count;   ///< folders recorded as such: the empty ones
  uint64_t logical_bytes;  ///< sum of the files' sizes
  bool pinned;             ///< kept until `pks_txn_unpin`, whatever the number of versions to keep
} pks_pack_version;

typedef struct pks_pack {
  const char *name;          ///< NUL-terminated UTF-8; a loan until the snapshot closes
  int32_t priority;          ///< higher wins; 0 unless said otherwise
  bool removed;              ///< it has no assets; its history is kept
  bool held;                 ///< at its current version, since a rollback
  bool purgeable;            ///< its data may vanish: `pks_placement`
  bool placed_by_hand;       ///< a user said so
  uint32_t version_count;    ///< kept versions, the current one included
  pks_pack_version current;  ///< of a removed pack, the last one
  uint64_t highest_version;  ///< the highest number that any version of it ever had
  pks_origin origin;         ///< who may change it
} pks_pack;

/// Packs of the snapshot, numbered 0 ..< count in the order in which they win: by the order of origins, then by priority,
/// then first installed first.
/// Those that were removed but keep their history follow, `pks_snapshot_removed_count` of them.
uint32_t pks_snapshot_pack_count(const pks_snapshot *snapshot);
uint32_t pks_snapshot_removed_count(const pks_snapshot *snapshot);
pks_pack pks_snapshot_pack(const pks_snapshot *snapshot, uint32_t index);  ///< `index` as said above (asserted)
/// A kept version: 0 is the current one, then those that were current before it, the last first. `version` <
/// version_count (asserted).
pks_pack_version pks_snapshot_version(const pks_snapshot *snapshot, uint32_t pack, uint32_t version);

enum { PKS_ATTRIBUTES_MAX = 65536 };  ///< bytes of a version's attributes, at most

/// Reads the attributes of a kept version, numbered as for `pks_snapshot_version` (asserted): bytes that say of a version
/// what its content does not, such as a policy or platforms. The core does not look into them; PackStore's own are
/// canonical JSON (`Docs/FORMAT.md`). Up to `capacity` bytes are copied; `*length` is how many there are, 0 when the
/// version has none. Errors: PURGED, CORRUPT, IO_ERROR, OUT_OF_MEMORY.
PKS_MUST_CHECK pks_status pks_snapshot_attributes(
  void *PKS_NULLABLE out, size_t capacity, size_t *length, const pks_snapshot *snapshot, uint32_t pack,
  uint32_t version, pks_error *PKS_NULLABLE error
);

/// Origins of the snapshot, in the order in which their packs win. The local one is always among them.
uint32_t pks_snapshot_origin_count(const pks_snapshot *snapshot);
pks_origin pks_snapshot_origin(const pks_snapshot *snapshot, uint32_t index);  ///< `index` < count (asserted)

#define PKS_ANY_PACK UINT32_MAX

/// The number of the pack named `name`, or PKS_ANY_PACK when there is none or it was removed.
uint32_t pks_snapshot_find_pack(const pks_snapshot *snapshot, const char *name);

// MARK: - Assets

typedef enum pks_kind {
  PKS_FILE = 1,
  PKS_LINK = 2,    ///< symbolic link
  PKS_FOLDER = 3,  ///< an empty folder, or one implied by the paths in it
} pks_kind;

/// One asset of a snapshot: plain data, valid until the snapshot closes (but see `path`). Copy it freely. A zeroed one is
/// no asset.
typedef struct pks_asset {
  const pks_snapshot *PKS_NULLABLE snapshot;  ///< NULL only until a call has filled it in
  const void *PKS_NULLABLE record;            ///< the core's; NULL for an implied folder
  /// `path_length` bytes of UTF-8, not NUL-terminated: the caller's own after `pks_snapshot_find`, the cursor's until
  /// its next step. NULL only until a call has filled it in
  const char *PKS_NULLABLE path;
  uint32_t path_length;
  uint32_t run;  ///< the core's
  pks_kind kind;
  bool executable;
  bool contiguous;  ///< stored raw in one piece: `pks_asset_borrow` works
  bool mapped;      ///< contiguous by contract, and page-aligned: see `pks_add_request.map_globs`
  uint32_t pack;    ///< the pack it comes from; PKS_ANY_PACK for an implied folder
  uint64_t size;    ///< bytes of a file; of a link, the length of its target; 0 for a folder
} pks_asset;

/// The asset at `path` in the merged namespace, or in one pack. Paths are relative, `/`-separated UTF-8 without empty,
/// `.` or `..` parts; the root has none. A folder implied by other paths is found too. O(1): about two cache misses.
/// Errors: INVALID_ARGUMENT (no such path can exist), NOT_FOUND, FORKED, CORRUPT.
PKS_MUST_CHECK pks_status pks_snapshot_find(
  pks_asset *out, const pks_snapshot *snapshot, const char *PKS_NULLABLE path, size_t path_length, uint32_t pack,
  pks_error *PKS_NULLABLE error
);

/// Reads `length` bytes at `offset` into the caller's memory. Reads past the end are INVALID_ARGUMENT. Every frame
/// touched is verified before its bytes are handed out; frames decode straight into `out` where they fit whole. Reads of
/// 256 KiB and more (2 MiB of assets that lie raw in one piece) are shared with the store's idle threads
/// (`pks_options.thread_count`); smaller ones stay on the caller's. Allocates nothing once warm. After an error the bytes
/// at `out` are unspecified. Errors: INVALID_ARGUMENT, WRONG_KIND, FORKED, CORRUPT, PURGED, IO_ERROR, OUT_OF_MEMORY.
PKS_MUST_CHECK pks_status pks_asset_read(
  const pks_asset *asset, uint64_t offset, void *PKS_NULLABLE out, size_t length, pks_error *PKS_NULLABLE error
);

/// The same for as long as `goes_on(context)` says so (NULL: to the end): it is asked on the caller's thread before each
/// frame or so (about 128 KiB; a frame of the sequential layout is up to 2 MiB). When it returns false: CANCELLED.
PKS_MUST_CHECK pks_status pks_asset_read_while(
  const pks_asset *asset, uint64_t offset, void *PKS_NULLABLE out, size_t length,
  bool (*PKS_NULLABLE goes_on)(void *PKS_NULLABLE context), void *PKS_NULLABLE context, pks_error *PKS_NULLABLE error
);

/// Zero-copy: the whole file as mapped memory, verified when first touched, on loan until the snapshot closes.
/// NOT_CONTIGUOUS unless `contiguous`. Errors: that, WRONG_KIND, FORKED, CORRUPT, PURGED, IO_ERROR, OUT_OF_MEMORY.
PKS_MUST_CHECK pks_status pks_asset_borrow(pks_bytes *out, const pks_asset *asset, pks_error *PKS_NULLABLE error);

/// A file's bytes as memory of the caller's own: it outlives snapshot and store, and may be written to, which changes
/// nothing in the store. Plain data; release it once.
typedef struct pks_contents {
  void *PKS_NULLABLE bytes;  ///< NULL when `count` is 0
  size_t count;
  void *PKS_NULLABLE memory;  ///< the core's: what is released; NULL when `count` is 0
  size_t memory_size;
  const struct pks_vfs *PKS_NULLABLE vfs;  ///< the core's: NULL for allocated memory
} pks_contents;

/// The whole file. Assets from 64 KiB up that lie raw in one piece are mapped, and so are assets from 1 MiB up that are
/// in the store's cache, where the first call puts them; the rest is decoded into allocated memory. Verified as by
/// `pks_asset_borrow` or `pks_asset_read`. If another process truncates a mapped file, touching its bytes raises SIGBUS.
/// Errors: WRONG_KIND, CORRUPT, PURGED, IO_ERROR, OUT_OF_MEMORY. A cache that fails is no error.
PKS_MUST_CHECK pks_status pks_asset_contents(pks_contents *out, const pks_asset *asset, pks_error *PKS_NULLABLE error);
void pks_contents_release(pks_contents *contents);  ///< on any thread, after the store too; a zeroed one is fine

/// A descriptor of a plain file that holds the asset's bytes and nothing else, for reading, which the caller closes. It
/// is a file of the cache for assets from 1 MiB up; otherwise, or when the cache is busy or too small, a sealed file in
/// memory, of at most 64 MiB. Errors: as above, and NO_SPACE (`needed` bytes of cache) when there is neither.
PKS_MUST_CHECK pks_status pks_asset_open_file(int *descriptor, const pks_asset *asset, pks_error *PKS_NULLABLE error);

/// How a file is stored.
typedef struct pks_storage {
  uint64_t extent_count;     ///< stretches of neighbouring frames; reading from front to back jumps in between
  uint64_t frame_count;      ///< frames that hold bytes of it; one that several extents touch counts for each
  uint64_t raw_frame_count;  ///< of them, stored without compression
  uint64_t stored_bytes;     ///< its share of what those frames take, by raw length, rounded frame by frame
  bool contiguous, mapped;   ///< as in `pks_asset`
} pks_storage;

/// How a file is stored. O(frames). Errors: WRONG_KIND, CORRUPT.
PKS_MUST_CHECK pks_status pks_asset_storage(pks_storage *out, const pks_asset *asset, pks_error *PKS_NULLABLE error);

/// The target of a link: raw bytes as stored, on loan until the snapshot closes. WRONG_KIND for anything else.
PKS_MUST_CHECK pks_status pks_asset_link_target(pks_bytes *out, const pks_asset *asset, pks_error *PKS_NULLABLE error);

// MARK: - Cursors

typedef enum pks_walk {
  PKS_CHILDREN,     ///< what lies directly in the folder; implied folders appear once
  PKS_DESCENDANTS,  ///< every file, link and empty folder below it; implied folders do not appear
  PKS_CONFLICTS,    ///< below it, what is hidden by another pack: each loser, with its winner
} pks_walk;

typedef struct pks_entry {
  pks_asset asset;
  uint32_t name_offset;  ///< PKS_CHILDREN: where the last part of `asset.path` begins
  uint32_t winner_pack;  ///< PKS_CONFLICTS: the pack that wins
  /// PKS_CONFLICTS: the path that wins: the same, or a file where this one needs a folder, or the reverse. On loan until
  /// the next call; NULL in other walks
  const char *PKS_NULLABLE winner_path;
  uint32_t winner_path_length;
} pks_entry;

/// Walks a folder of the merged namespace (or of one pack) in bytewise order of paths. `folder` "" is the root. A
/// folder that is not there is NOT_FOUND. Time is linear in the entries returned.
PKS_MUST_CHECK pks_status pks_cursor_open(
  pks_cursor *PKS_NULLABLE *PKS_NONNULL out, const pks_snapshot *snapshot, const char *PKS_NULLABLE folder,
  size_t folder_length, uint32_t pack, pks_walk walk, pks_error *PKS_NULLABLE error
);
void pks_cursor_close(pks_cursor *PKS_NULLABLE cursor);  ///< NULL is fine
/// The next entry, or `*more` false after the last. The entry's path is on loan until the next call.
PKS_MUST_CHECK pks_status
pks_cursor_next(pks_entry *out, bool *more, pks_cursor *cursor, pks_error *PKS_NULLABLE error);

PKS_ASSUME_NONNULL_END

#ifdef __cplusplus
}
#endif

#endif
