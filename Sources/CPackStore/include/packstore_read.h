/// Open stores; find and read assets.
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

/// Computes the SHA-256 of `byte_count` bytes. Called from several threads at once; must not fail.
typedef void pks_sha256(const void *bytes, size_t byte_count, uint8_t digest[PKS_NONNULL 32]);

/// A message, and the address for its SHA-256.
typedef struct pks_message {
  const void *PKS_NULLABLE bytes;  ///< may be NULL if `byte_count` is 0
  size_t byte_count;
  uint8_t *digest;  ///< 32 bytes; must not overlap a message or another digest
} pks_message;

/// Computes the SHA-256 of `count` (>= 1) independent messages: the same digests as `pks_sha256` for each message. A processor can
/// hash several messages at once faster than one after another. The core passes up to 128 chunks per call.
///
/// Messages may have any alignment, overlap each other, and be empty. The function must be reentrant, because several threads call
/// it at once. It must not fail, allocate memory, block, read outside the messages, write outside the digests, or keep pointers
/// after it returns.
typedef void pks_sha256_many(const pks_message *messages, size_t count);

typedef struct pks_options {
  pks_sha256 *PKS_NULLABLE sha256;  ///< NULL: the store opens for reading only, and without a cache
  /// SHA-256 of many messages at once, for chunks that are hashed in groups; NULL: they are hashed one by one with `sha256`.
  /// Opening a store compares both functions on fixed messages (257 blocks of 64 bytes in total). It fails with INVALID_ARGUMENT if
  /// the digests differ or `sha256` is NULL. The bytes that a store writes do not depend on it
  pks_sha256_many *PKS_NULLABLE sha256_many;
  bool read_only;  ///< nothing in the store's directory changes
  bool create;     ///< create an empty store if none exists (the directory may exist and be empty)
  /// for a new store: average chunk size in bytes, a power of two in [1024, 1 MiB]; 0: the default, 8192
  uint32_t chunk_average;
  uint32_t thread_count;  ///< threads that staging and large reads may use; 0: one per processor
  /// the cache: a folder for files that may be deleted at any moment, created if missing; stores and processes may share it. NULL:
  /// no cache. Large assets that are not stored raw in one piece are *materialised* in it as plain files. The path must be
  /// absolute, because it is looked up again each time. Only this user should have write access: checksums there detect corruption,
  /// not tampering. A file that cannot be created or used there is not an error: the asset is decoded instead
  const char *PKS_NULLABLE cache;
  uint64_t cache_bytes;  ///< maximum size of this store's files in the cache, in bytes; 0: no files are created
  /// the path of a base: a store below this one, which is never written and may be on read-only media. Chunks of the base are not
  /// stored again here, but read from the base; `pks_store_adopt_base` adopts its packs. Data that depends on a base is PURGED
  /// while the store is open without it, or with a base that lacks the data. NULL: none
  const char *PKS_NULLABLE base;
  const struct pks_vfs *PKS_NULLABLE vfs;  ///< NULL: this machine's own
  bool no_wait;                            ///< PKS_BUSY, rather than waiting, while another process creates the store
  void *PKS_NULLABLE wait_context;         ///< for `keep_waiting`
  /// Called at least every 50 ms on a thread that waits for the writer's lock, and once more before the thread continues. False
  /// ends the wait with PKS_CANCELLED, and nothing is committed. NULL: waits without limit
  bool (*PKS_NULLABLE keep_waiting)(void *PKS_NULLABLE context);
  void *PKS_NULLABLE low_space_context;  ///< for `low_space`, until the store is closed
  /// Called before an operation fails with PKS_NO_SPACE because the disk is full, on the thread that needs at least `byte_count`
  /// bytes. The callback may free space elsewhere, but must not use the store. True: the store purges about as much of its own
  /// data, as `pks_store_purge` does, and tries the operation once more; false: the operation fails. Only one thread at a time
  /// calls it; an operation that fails on another thread at that time is not tried again. Failed syncs are never tried again. NULL:
  /// nothing is purged or tried again
  bool (*PKS_NULLABLE low_space)(void *PKS_NULLABLE context, uint64_t byte_count);
  /// The *mapped mode*, for a store that only this user writes to. `pks_asset_read` checks uncompressed data once per process, and
  /// then copies it from mapped segments without a system call or a checksum. First reads, compressed data, data in the cache
  /// folder and data of a base are read as usual.
  ///
  /// Requires that only this user and the administrator can write to the store's directory and all directories above it, and that
  /// the store is on a disk of this machine. Otherwise this option has no effect, and `pks_store_mapped_mode` returns the reason.
  ///
  /// Risks: reading raises SIGBUS instead of returning an error if another program truncates a mapped segment or the disk fails to
  /// deliver a page. Damage in memory, or on the disk after the check, is not detected until the process ends
  bool mapped_mode;
} pks_options;

/// Whether a store reads in the mapped mode, or why not.
typedef enum pks_mapped_mode {
  PKS_MAPPED_OFF = 0,  ///< not requested (`pks_options.mapped_mode`)
  PKS_MAPPED_ON = 1,
  PKS_MAPPED_OTHER_OWNER = 2,         ///< the store's directory, or one above it, belongs to another user
  PKS_MAPPED_WRITABLE_BY_OTHERS = 3,  ///< others may write to the store's directory, or to one above it
  PKS_MAPPED_NOT_LOCAL = 4,           ///< the store is not known to be on a disk of this machine
  PKS_MAPPED_UNKNOWN = 5,             ///< the system does not report who may write
} pks_mapped_mode;

/// Opens the store in the directory `path`. `options` may be NULL, which is equivalent to zeros. O(1) in assets and stored bytes.
///
/// Errors: INVALID_ARGUMENT (an option; an empty path; `create` without `sha256`), NOT_A_STORE (no store, or the path is a file),
/// NEWER_FORMAT, OTHER_DRAFT, CORRUPT (both control slots; the control file of a former store is missing or is another file; an
/// index file is missing), IO_ERROR, NO_SPACE, OUT_OF_MEMORY.
PKS_MUST_CHECK pks_status pks_store_open(
  pks_store *PKS_NULLABLE *PKS_NONNULL out, const char *path, const pks_options *PKS_NULLABLE options,
  pks_error *PKS_NULLABLE error
);

/// Returns CORRUPT if damage of the control file may hide a commit. The store then shows the newest generation it can find, which
/// may not be the newest committed one. It refuses commits until `pks_store_repair`, because a commit would make the loss
/// permanent. Call this after every open, and report the result to the user.
///
/// Damage that hides nothing, or only data found elsewhere, is not an error here: `pks_snapshot_verify` reports it, and the next
/// commit repairs it. Other errors: IO_ERROR, OUT_OF_MEMORY.
PKS_MUST_CHECK pks_status pks_store_check_control(pks_store *store, pks_error *PKS_NULLABLE error);

/// Whether `pks_options.mapped_mode` is in effect, or why not; decided when the store was opened.
pks_mapped_mode pks_store_mapped_mode(const pks_store *store);

/// Whether the file system of the store does not support locks, as detected by `pks_store_open`. Reading then works, but does not
/// protect files from collection by another process: a deleted file is reported as damage or PURGED, never read as other bytes.
/// Writing fails with IO_ERROR.
bool pks_store_lacks_locks(const pks_store *store);

/// The store's unique id: 16 random bytes, generated at creation.
void pks_store_id(const pks_store *store, uint8_t id[PKS_NONNULL 16]);

/// Closes a store; its snapshots and transactions must be closed before. `store` may be NULL.
void pks_store_close(pks_store *PKS_NULLABLE store);

// MARK: - Origins

typedef enum pks_origin_kind {
  PKS_ORIGIN_LOCAL = 0,     ///< packs that this machine added itself
  PKS_ORIGIN_SIGNED = 1,    ///< a publisher's product
  PKS_ORIGIN_UNSIGNED = 2,  ///< a product of a publisher without a key
  PKS_ORIGIN_UNKNOWN = 3,   ///< found by a repair, without a record of its origin
} pks_origin_kind;

enum { PKS_PRODUCT_SIZE = 65 };

/// The publisher that a pack belongs to. A zeroed origin is the local origin.
typedef struct pks_origin {
  pks_origin_kind kind;
  uint8_t key[32];                 ///< the publisher's first root key, an Ed25519 public key; zeros unless signed
  char product[PKS_PRODUCT_SIZE];  ///< NUL-terminated: 1 to 64 of `a-z 0-9 - _ .`; empty for local and unknown
} pks_origin;

typedef enum pks_statement {
  PKS_STATEMENT_NONE = 0,  ///< no signed statement: the caller decides; for the local origin
  PKS_STATEMENT_ROOT,      ///< a site's root; only a root can withdraw a version
  PKS_STATEMENT_ARCHIVE,
  PKS_STATEMENT_DELTA,
  PKS_STATEMENT_COPY,  ///< copied from another store
} pks_statement;

/// The signed statement by which a pack changes. The caller has verified its signature; the core enforces two rules. Only a pack's
/// own origin may change it. Only a root in which the publisher withdrew a version can take the pack below the version accepted
/// last. A zeroed provenance is the caller's own decision, without a number.
typedef struct pks_provenance {
  pks_origin origin;
  pks_statement statement;
  /// The serial of the delegation that signed the statement, from 1 to 2^53 - 1; 0: none.
  uint64_t serial;
  /// Serials below this one are revoked: versions accepted under them no longer set a lower bound. At most `serial`; 0: none.
  uint64_t revoked_below;
  uint64_t sequence;  ///< the statement's number, which its publisher only increases
  /// The epoch of a root's offer, which a publisher increases to withdraw something; 0 for other statements.
  uint64_t epoch;
  /// Root: the highest version number that its channel ever offered of the pack. Copy: the highest number that its source recorded
  /// as withdrawn. 0 for other statements.
  uint64_t highest;
  /// A version number that the root offers, but not for this app version or platform. If it is the last accepted version
  /// (`pks_txn_accepted_version`), a lower version is accepted. 0: none.
  uint64_t excluded;
  bool adopt;  ///< take over a pack of another origin; its history and its numbers then start again
  bool
    downgrade;  ///< accept a lower version; the recorded lower bound stays, so a later update raises the version again
} pks_provenance;

// MARK: - Snapshots and packs

/// Opens a snapshot of the newest generation and retains it until `pks_snapshot_close`. Two snapshots without a commit between them
/// share their data.
PKS_MUST_CHECK pks_status
pks_snapshot_open(pks_snapshot *PKS_NULLABLE *PKS_NONNULL out, pks_store *store, pks_error *PKS_NULLABLE error);
void pks_snapshot_close(pks_snapshot *PKS_NULLABLE snapshot
);  ///< `snapshot` may be NULL; invalidates all memory borrowed from it

/// Returns the number of the newest generation, committed by any process. Costs a few loads if the control file can be mapped and
/// the number has not changed since this store read it, otherwise a system call. To watch a store, compare the number with
/// `pks_snapshot_generation` regularly, and open a new snapshot when they differ. Errors: CORRUPT, IO_ERROR.
PKS_MUST_CHECK pks_status pks_store_generation(uint64_t *generation, pks_store *store, pks_error *PKS_NULLABLE error);

/// The generation's number: 1 for a new, empty store; each commit increases it by 1.
uint64_t pks_snapshot_generation(const pks_snapshot *snapshot);

/// The folder for data of purgeable packs, as set by `pks_txn_set_cache_folder`; NULL: none was set. `*budget` (may be NULL) is the
/// number of bytes that it may use, 0 for no limit. Borrowed until the snapshot closes.
const char *PKS_NULLABLE pks_snapshot_cache_folder(const pks_snapshot *snapshot, uint64_t *PKS_NULLABLE budget);

/// A stamp of the files in `segments/`, `tables/` and the cache folder, computed from the folders' times. While it stays the same,
/// so does `pks_snapshot_availability` of a generation, except for truncated files. Call this before `pks_snapshot_availability`.
/// 0: unknown, because a folder changed within the last 100 ms or cannot be examined. Two system calls, seven with a cache folder.
uint64_t pks_store_files_stamp(pks_store *store);

/// Whether the store belongs to a site: only publications may commit to it.
bool pks_snapshot_is_site(const pks_snapshot *snapshot);

/// A pack version, with its counts and ids.
typedef struct pks_pack_version {
  uint64_t number;          ///< 1, 2, 3, ... unless the publisher chose other numbers
  uint8_t catalog[32];      ///< identity of the content: SHA-256 of the catalog's root page
  uint8_t layout[32];       ///< SHA-256 of the root page of the layout, which records where the bytes are
  uint8_t attributes[32];   ///< SHA-256 of the version's attributes; zeros: no attributes
  int64_t committed_at_ns;  ///< nanoseconds since 1970
  uint64_t file_count;
  uint64_t link_count;
  uint64_t folder_count;   ///< recorded folders: the empty ones
  uint64_t logical_bytes;  ///< sum of the files' sizes
  bool pinned;             ///< kept until `pks_txn_unpin`, regardless of the number of versions to keep
} pks_pack_version;

typedef struct pks_pack {
  const char *name;          ///< NUL-terminated UTF-8; borrowed until the snapshot closes
  int32_t priority;          ///< higher wins; 0 by default
  bool removed;              ///< the pack has no assets; its history is kept
  bool held;                 ///< held at its current version since a rollback
  bool purgeable;            ///< its data may be deleted at any time: see `pks_placement`
  bool placed_by_hand;       ///< a user chose the placement
  uint32_t version_count;    ///< kept versions, the current one included
  pks_pack_version current;  ///< for a removed pack, the last one
  uint64_t highest_version;  ///< the highest number that any version of the pack ever had
  pks_origin origin;         ///< the publisher that may change the pack
} pks_pack;

/// Packs of the snapshot, numbered 0 ..< count in descending precedence: by the order of origins, then by priority, then by time of
/// installation, first installed first. Removed packs with a kept history follow; `pks_snapshot_removed_count` counts them.
uint32_t pks_snapshot_pack_count(const pks_snapshot *snapshot);
uint32_t pks_snapshot_removed_count(const pks_snapshot *snapshot);
pks_pack pks_snapshot_pack(
  const pks_snapshot *snapshot, uint32_t index
);  ///< `index` < both counts together (asserted)
/// A kept version: 0 is the current version, 1 the version that was current before it, and so on. `version` < version_count
/// (asserted).
pks_pack_version pks_snapshot_version(const pks_snapshot *snapshot, uint32_t pack, uint32_t version);

enum { PKS_ATTRIBUTES_MAX = 65536 };  ///< maximum size of a version's attributes, in bytes

/// Reads the attributes of a kept version, numbered as for `pks_snapshot_version` (asserted). Attributes are metadata other than
/// content, such as a policy or platforms. The core does not interpret them; PackStore writes canonical JSON (`Docs/FORMAT.md`).
/// Copies up to `capacity` bytes; `*length` is the full length, 0 if the version has no attributes. Errors: PURGED, CORRUPT,
/// IO_ERROR, OUT_OF_MEMORY.
PKS_MUST_CHECK pks_status pks_snapshot_attributes(
  void *PKS_NULLABLE out, size_t capacity, size_t *length, const pks_snapshot *snapshot, uint32_t pack,
  uint32_t version, pks_error *PKS_NULLABLE error
);

/// Origins of the snapshot, in descending precedence of their packs. The local origin is always included.
uint32_t pks_snapshot_origin_count(const pks_snapshot *snapshot);
pks_origin pks_snapshot_origin(const pks_snapshot *snapshot, uint32_t index);  ///< `index` < count (asserted)

#define PKS_ANY_PACK UINT32_MAX

/// Returns the number of the pack `name`, or PKS_ANY_PACK if no such pack exists or it was removed.
uint32_t pks_snapshot_find_pack(const pks_snapshot *snapshot, const char *name);

// MARK: - Assets

typedef enum pks_kind {
  PKS_FILE = 1,
  PKS_LINK = 2,    ///< symbolic link
  PKS_FOLDER = 3,  ///< an empty folder, or a folder implied by the paths in it
} pks_kind;

/// One asset of a snapshot: plain data, copied freely, valid until the snapshot closes (except `path`). A zeroed struct is not an
/// asset.
typedef struct pks_asset {
  const pks_snapshot *PKS_NULLABLE snapshot;  ///< NULL only before a call has filled it in
  const void *PKS_NULLABLE record;            ///< internal; NULL for an implied folder
  /// `path_length` bytes of UTF-8, not NUL-terminated: after `pks_snapshot_find` the caller's own argument, from a cursor valid
  /// until its next step. NULL only before a call has filled it in
  const char *PKS_NULLABLE path;
  uint32_t path_length;
  uint32_t run;  ///< internal
  pks_kind kind;
  bool executable;
  bool contiguous;  ///< stored raw in one piece: `pks_asset_borrow` works
  bool mapped;      ///< guaranteed contiguous, and page-aligned: see `pks_add_request.map_globs`
  uint32_t pack;    ///< the pack it belongs to; PKS_ANY_PACK for an implied folder
  uint64_t size;    ///< bytes of a file; of a link, the length of its target; 0 for a folder
} pks_asset;

/// Finds the asset at `path` in the merged namespace (`pack` is PKS_ANY_PACK), or in one pack. Paths are relative, `/`-separated
/// UTF-8 without empty, `.` or `..` parts; the root has none. Folders implied by other paths are found too. O(1): about two cache
/// misses. Errors: INVALID_ARGUMENT (an invalid path), NOT_FOUND, FORKED, CORRUPT.
PKS_MUST_CHECK pks_status pks_snapshot_find(
  pks_asset *out, const pks_snapshot *snapshot, const char *PKS_NULLABLE path, size_t path_length, uint32_t pack,
  pks_error *PKS_NULLABLE error
);

/// Reads `length` bytes at `offset` into the caller's memory. A range past the end is INVALID_ARGUMENT. Every frame is verified
/// before its bytes are returned; frames that fit are decoded directly into `out`. The store's idle threads
/// (`pks_options.thread_count`) share reads of 256 KiB and more, or 2 MiB and more of assets stored raw in one piece; smaller reads
/// stay on the caller's thread. Allocates nothing once warm. After an error the bytes at `out` are unspecified. Errors:
/// INVALID_ARGUMENT, WRONG_KIND, FORKED, CORRUPT, PURGED, IO_ERROR, OUT_OF_MEMORY.
PKS_MUST_CHECK pks_status pks_asset_read(
  const pks_asset *asset, uint64_t offset, void *PKS_NULLABLE out, size_t length, pks_error *PKS_NULLABLE error
);

/// Reads like `pks_asset_read`, and can be cancelled: `goes_on(context)` (NULL: never cancel) is called on the caller's thread
/// before about every frame (about 128 KiB; up to 2 MiB in the sequential layout). If it returns false, the result is CANCELLED.
PKS_MUST_CHECK pks_status pks_asset_read_while(
  const pks_asset *asset, uint64_t offset, void *PKS_NULLABLE out, size_t length,
  bool (*PKS_NULLABLE goes_on)(void *PKS_NULLABLE context), void *PKS_NULLABLE context, pks_error *PKS_NULLABLE error
);

/// Borrows the whole file as mapped memory, without a copy; verified on first access, valid until the snapshot closes. Errors:
/// NOT_CONTIGUOUS (unless `contiguous` is set), WRONG_KIND, FORKED, CORRUPT, PURGED, IO_ERROR, OUT_OF_MEMORY.
PKS_MUST_CHECK pks_status pks_asset_borrow(pks_bytes *out, const pks_asset *asset, pks_error *PKS_NULLABLE error);

/// A file's bytes in memory that the caller owns: it outlives the snapshot and the store, and may be modified without effect on the
/// store. Plain data; release it once.
typedef struct pks_contents {
  void *PKS_NULLABLE bytes;  ///< NULL if `count` is 0
  size_t count;
  void *PKS_NULLABLE memory;  ///< internal: the memory to release; NULL if `count` is 0
  size_t memory_size;
  const struct pks_vfs *PKS_NULLABLE vfs;  ///< internal: NULL for allocated memory
} pks_contents;

/// Returns the whole file. Maps assets of 64 KiB and more that are stored raw in one piece, and assets of 1 MiB and more from the
/// store's cache, which the first call fills; decodes all others into allocated memory. Verified as in `pks_asset_borrow` or
/// `pks_asset_read`. If another process truncates a mapped file, reading its bytes raises SIGBUS. A failing cache is not an error.
/// Errors: WRONG_KIND, CORRUPT, PURGED, IO_ERROR, OUT_OF_MEMORY.
PKS_MUST_CHECK pks_status pks_asset_contents(pks_contents *out, const pks_asset *asset, pks_error *PKS_NULLABLE error);
/// any thread may call it, also after the store was closed; a zeroed struct is valid
void pks_contents_release(pks_contents *contents);

/// Returns a descriptor, for reading, of a plain file with exactly the asset's bytes. The caller closes it. For assets of 1 MiB and
/// more it is a file of the cache. Otherwise, or if the cache is busy or too small, it is a sealed file in memory of at most 64
/// MiB. Errors: those of `pks_asset_contents`, and NO_SPACE (`needed` bytes of cache) if neither is possible.
PKS_MUST_CHECK pks_status pks_asset_open_file(int *descriptor, const pks_asset *asset, pks_error *PKS_NULLABLE error);

/// How a file is stored.
typedef struct pks_storage {
  uint64_t extent_count;     ///< runs of neighbouring frames; sequential reading seeks between them
  uint64_t frame_count;      ///< frames with bytes of the file; a frame that several extents touch counts once for each
  uint64_t raw_frame_count;  ///< of these, frames stored without compression
  uint64_t stored_bytes;     ///< the file's share of those frames' stored size, by raw length, rounded per frame
  bool contiguous, mapped;   ///< as in `pks_asset`
} pks_storage;

/// Returns how a file is stored. O(frames). Errors: WRONG_KIND, CORRUPT.
PKS_MUST_CHECK pks_status pks_asset_storage(pks_storage *out, const pks_asset *asset, pks_error *PKS_NULLABLE error);

/// Borrows the target of a link, raw bytes as stored, until the snapshot closes. Any other kind of asset is WRONG_KIND.
PKS_MUST_CHECK pks_status pks_asset_link_target(pks_bytes *out, const pks_asset *asset, pks_error *PKS_NULLABLE error);

// MARK: - Cursors

typedef enum pks_walk {
  PKS_CHILDREN,     ///< the entries directly in the folder; implied folders appear once
  PKS_DESCENDANTS,  ///< every file, link and empty folder below it; implied folders do not appear
  PKS_CONFLICTS,    ///< entries below the folder that another pack hides: each hidden entry, with the entry that wins
} pks_walk;

typedef struct pks_entry {
  pks_asset asset;
  uint32_t name_offset;  ///< PKS_CHILDREN: where the last part of `asset.path` begins
  uint32_t winner_pack;  ///< PKS_CONFLICTS: the pack that wins
  /// PKS_CONFLICTS: the path that wins: the same path, or a file in place of a folder, or the reverse. Borrowed until the next
  /// call; NULL in other walks
  const char *PKS_NULLABLE winner_path;
  uint32_t winner_path_length;
} pks_entry;

/// Opens a cursor on a folder of the merged namespace (or of one pack), in bytewise order of paths. `folder` "" is the root. A
/// missing folder is NOT_FOUND. Time is linear in the entries returned.
PKS_MUST_CHECK pks_status pks_cursor_open(
  pks_cursor *PKS_NULLABLE *PKS_NONNULL out, const pks_snapshot *snapshot, const char *PKS_NULLABLE folder,
  size_t folder_length, uint32_t pack, pks_walk walk, pks_error *PKS_NULLABLE error
);
void pks_cursor_close(pks_cursor *PKS_NULLABLE cursor);  ///< `cursor` may be NULL
/// Returns the next entry; `*more` is false after the last one. The entry's path is borrowed until the next call.
PKS_MUST_CHECK pks_status
pks_cursor_next(pks_entry *out, bool *more, pks_cursor *cursor, pks_error *PKS_NULLABLE error);

PKS_ASSUME_NONNULL_END

#ifdef __cplusplus
}
#endif

#endif
