/// PackStore: an embedded, content-addressed store for asset packs.
///
/// The idea. A *pack* is a named, versioned set of *assets*: the files of a folder. A *store* is a directory that holds
/// any number of packs. Assets are cut into *chunks* by content; a chunk is named by the SHA-256 of its bytes and
/// stored once, however many files, packs and versions contain it. Neighbouring new chunks are compressed together as
/// *frames* in immutable *segment* files. Every pack contributes its paths to one merged namespace, in which the pack
/// of highest priority wins.
///
/// Reading. Open a store, take a *snapshot* (one *generation*: which pack versions the store shows at one moment), find
/// assets in it and read them. A snapshot never changes and never breaks, whatever is committed, removed or collected
/// meanwhile.
///
/// Writing. Begin a *transaction*, add folders or remove packs, commit. A commit of any number of packs is one atomic
/// switch: after a crash at any instant a store opens at the old generation or at the new one, whole. Staging takes no
/// lock: many processes may stage at once, and each commit holds the writer's lock for milliseconds.
///
/// Rules
/// - Threads: a store and a snapshot may be used by any number of threads at once; a transaction and a cursor by one
///   at a time.
/// - Ownership: what `..._open`, `..._begin` return is closed by the caller, in any order but a store after its
///   snapshots, cursors and transactions.
/// - Loans (`pks_bytes`, paths, names) say until when they last; it is never longer than their snapshot.
/// - Errors: every call that can fail returns a `pks_status` and fills `*error` when `error` is not NULL. Outputs are
///   written only on success.
/// - The core has no cryptography: SHA-256 comes from the caller (`pks_options.sha256`). Without it a store opens for
///   reading only.
/// - A forked child opens the store anew: whatever touches one that was opened before is PKS_FORKED, and costs no system
///   call to tell. What it closes of its parent's does the parent no harm, and gives back descriptors, not memory. Until
///   it closes the store, or calls exec, or ends, it holds locks with its parent: what its parent read is not collected.
///   It does not return from a callback in which it was forked.
///
/// Caveats. Index files, the control file, borrowed raw assets, and contents that are raw or in the cache are
/// memory-mapped. If another process truncates these files, touching them raises SIGBUS, as with any mapped file; do not
/// map what untrusted users can write. Every byte of assets and indexes is verified by a checksum when first touched.
#ifndef PACKSTORE_H
#define PACKSTORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// MARK: - Status and errors

/// What happened, grouped by whose fault it is: 100 the caller's, 200 the machine's, 300 the file's.
typedef enum pks_status {
  PKS_OK = 0,

  PKS_INVALID_ARGUMENT = 100,  ///< a parameter makes no sense; `text` says which
  PKS_NOT_FOUND = 101,         ///< no such asset, folder, pack or version
  PKS_NOT_A_STORE = 102,       ///< the directory exists and holds something else, or there is none
  PKS_WRONG_KIND = 103,        ///< a link or folder where a file is needed, or the reverse
  PKS_READ_ONLY = 104,         ///< the store was opened for reading only
  PKS_CANCELLED = 105,         ///< a progress callback said so
  PKS_BUSY = 106,     ///< another writer holds the lock and the caller would not wait; `pks_error.needed` says who
  PKS_REFUSED = 107,  ///< the folder holds what cannot be stored (names, links); each was reported as a notice
  PKS_SOURCE_CHANGED = 108,  ///< a file of the folder shrank, grew or vanished while it was read
  PKS_EXISTS = 109,          ///< that version of the pack exists with other content, or its number is too low
  PKS_NOT_CONTIGUOUS = 110,  ///< the asset cannot be borrowed: it is compressed or lies in pieces
  PKS_CONFLICT = 111,        ///< another writer changed the same pack meanwhile: stage it again
  PKS_HELD = 112,            ///< the pack is held at its current version since a rollback: `pks_txn_unpin`
  PKS_FORKED = 113,          ///< this process was forked after the store was opened: open it anew
  PKS_IS_SITE = 115,         ///< the store is a site's, which only publications change: `pks_txn_options.publication`
  PKS_HOSTILE_NAMES = 114,   ///< paths of the pack were chosen to make look-ups slow: it was not added

  PKS_OTHER_ORIGIN = 120,  ///< the pack is of another origin than what is to change it: `pks_provenance.adopt`
  PKS_DOWNGRADE = 121,     ///< a lower version than was accepted before: `pks_provenance.downgrade`
  PKS_STALE = 122,         ///< a root that is older than what was accepted before: no alarm, and nothing to do

  PKS_OUT_OF_MEMORY = 200,
  PKS_IO_ERROR = 201,  ///< a system call failed; `system_error` is its errno
  PKS_NO_SPACE = 202,  ///< the disk is full; `needed` is a number of bytes that would have been enough for this step

  PKS_CORRUPT = 300,       ///< bytes on disk are not what was written; `file` and `offset` say where
  PKS_NEWER_FORMAT = 301,  ///< written by a later version of this library
  PKS_OTHER_DRAFT = 304,   ///< written in another draft of format 0: nothing is damaged, another version reads it
  PKS_PURGED = 302,        ///< the data was purgeable and is gone
  /// signed by nobody who is trusted, or too old; the core has no cryptography, and leaves it to its callers to say so
  PKS_UNTRUSTED = 303,
} pks_status;

#define PKS_NO_OFFSET UINT64_MAX

/// What went wrong and where. Plain data, copied freely; `text` is static.
typedef struct pks_error {
  pks_status status;
  int32_t system_error;  ///< errno of the failed system call, or 0
  uint64_t offset;       ///< byte offset within `file`, or PKS_NO_OFFSET
  uint64_t needed;       ///< PKS_NO_SPACE: bytes; PKS_BUSY: process id of the holder, 0 if unknown
  const char *text;      ///< what went wrong, in English, static
  /// The file, folder, asset or pack concerned, NUL-terminated UTF-8 or raw bytes; may be empty. Of a read that failed,
  /// the store's file, in which `offset` is, then ", asset " and the asset's path: no name of such a file looks like that.
  char file[992];
} pks_error;

/// The format that this library reads and writes: the version in the low half, the draft of it in the high half.
uint32_t pks_format(void);

/// A short English name of the status, such as "corrupt". Static.
const char *pks_status_name(pks_status status);

/// Bytes on loan.
typedef struct pks_bytes {
  const void *bytes;
  size_t count;
} pks_bytes;

// MARK: - Store

typedef struct pks_store pks_store;
typedef struct pks_snapshot pks_snapshot;
typedef struct pks_txn pks_txn;
typedef struct pks_cursor pks_cursor;
struct pks_vfs;

/// SHA-256 of `byte_count` bytes. Called from several threads at once; must not fail.
typedef void pks_sha256(const void *bytes, size_t byte_count, uint8_t digest[32]);

typedef struct pks_options {
  pks_sha256 *sha256;  ///< NULL: the store opens for reading only, and without a cache
  bool read_only;      ///< nothing in the store's directory changes
  bool create;         ///< make an empty store where there is none (the directory may exist and be empty)
  /// for a store made now: average chunk, bytes, a power of two in [1024, 1 MiB]; 0: the default, 8192
  uint32_t chunk_average;
  uint32_t thread_count;  ///< threads that staging and large reads may use; 0: one per processor
  /// a folder for files that may be deleted at any moment, made when missing, which stores and processes may share;
  /// NULL: no cache. Large assets that do not lie raw in one piece are *materialised* there as plain files. An absolute
  /// path, for it is looked up anew each time, and one that only this user can write to: what lies there is checked
  /// against rot, not against people. What cannot be made or used there is no error: assets are decoded instead
  const char *cache;
  uint64_t cache_bytes;       ///< what this store's files in the cache may take, at most; 0: none are made
  const struct pks_vfs *vfs;  ///< NULL: this machine
  bool no_wait;               ///< PKS_BUSY, rather than waiting, when another process is just making the store
  void *wait_context;         ///< for `keep_waiting`
  /// Asked on the thread that waits for the writer's lock, at least every 50 ms and once more before it goes on: false
  /// ends the wait with PKS_CANCELLED, and nothing is committed. NULL: it waits as long as it takes
  bool (*keep_waiting)(void *context);
} pks_options;

/// Opens the store in the directory `path`. Options that are NULL are as if all were 0. O(1) in assets and bytes stored.
/// Errors: INVALID_ARGUMENT (an option, an empty path, or a store is to be made without `sha256`), NOT_A_STORE (none is there,
/// or a file is), NEWER_FORMAT, OTHER_DRAFT, CORRUPT (both control slots, or the control file is gone), IO_ERROR, NO_SPACE,
/// OUT_OF_MEMORY.
pks_status pks_store_open(pks_store **out, const char *path, const pks_options *options, pks_error *error);

/// Whether damage of the control file may hide a commit: CORRUPT if it may. The store then shows the newest generation that
/// can be found, which need not be the newest there was, and takes no commits, which would make the loss final, until it
/// was repaired (`pks_store_repair`). Ask after every open, and tell people. Damage that hides nothing, or nothing that
/// could not be found elsewhere, is no error here; `pks_snapshot_verify` reports it, and the next commit mends it. Other
/// errors: IO_ERROR, OUT_OF_MEMORY.
pks_status pks_store_check_control(pks_store *store, pks_error *error);

/// What tells this store from others: drawn when it was made, 16 bytes.
void pks_store_id(const pks_store *store, uint8_t id[16]);

/// Closes a store whose snapshots and transactions are all closed. NULL is fine.
void pks_store_close(pks_store *store);

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
/// changed by its own origin alone, and never brought below the version that was last accepted from it, but by a newer
/// root. Zeroed, it is the caller's own word, which is not numbered.
typedef struct pks_provenance {
  pks_origin origin;
  pks_statement statement;
  uint64_t sequence;  ///< of the statement: its publisher only raises it
  bool adopt;         ///< takes the pack over if it is of another origin; its history and its numbers begin again then
  bool downgrade;     ///< takes a lower version too; what was accepted stays on record, so that an update goes up again
} pks_provenance;

// MARK: - Snapshots and packs

/// The newest generation, held until `pks_snapshot_close`. Two opens without a commit between them share one view.
pks_status pks_snapshot_open(pks_snapshot **out, pks_store *store, pks_error *error);
void pks_snapshot_close(pks_snapshot *snapshot);  ///< NULL is fine; ends all loans

/// The number of the newest generation, whoever committed it. Costs a few loads as long as it is the one that this store
/// saw last, where the control file can be mapped; a system call otherwise. To watch a store, compare it with
/// `pks_snapshot_generation` now and then, and open another snapshot when they differ. Errors: CORRUPT, IO_ERROR.
pks_status pks_store_generation(uint64_t *generation, pks_store *store, pks_error *error);

/// The generation's number: 1 for an empty new store, rising by 1 with each commit.
uint64_t pks_snapshot_generation(const pks_snapshot *snapshot);

/// Whether the store is a site's: it takes no commits but those of publications.
bool pks_snapshot_is_site(const pks_snapshot *snapshot);

/// A pack version, by its numbers.
typedef struct pks_version {
  uint64_t number;          ///< 1, 2, 3, ... unless the publisher said otherwise
  uint8_t catalog[32];      ///< identity of the content: SHA-256 of the catalog's root page
  uint8_t layout[32];       ///< SHA-256 of the root page of the layout, which says where the bytes lie
  int64_t committed_at_ns;  ///< nanoseconds since 1970
  uint64_t file_count;
  uint64_t link_count;
  uint64_t folder_count;   ///< folders recorded as such: the empty ones
  uint64_t logical_bytes;  ///< sum of the files' sizes
  bool pinned;             ///< kept until `pks_txn_unpin`, whatever the number of versions to keep
} pks_version;

typedef struct pks_pack {
  const char *name;          ///< NUL-terminated UTF-8; a loan until the snapshot closes
  int32_t priority;          ///< higher wins; 0 unless said otherwise
  bool removed;              ///< it has no assets; its history is kept
  bool held;                 ///< at its current version, since a rollback
  uint32_t version_count;    ///< kept versions, the current one included
  pks_version current;       ///< of a removed pack, the last one
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
pks_version pks_snapshot_version(const pks_snapshot *snapshot, uint32_t pack, uint32_t version);

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

/// One asset of a snapshot: plain data, valid until the snapshot closes (but see `path`). Copy it freely.
typedef struct pks_asset {
  const pks_snapshot *snapshot;
  const void *record;  ///< the core's; NULL for an implied folder
  /// `path_length` bytes of UTF-8, not NUL-terminated: the caller's own after `pks_find`, the cursor's until its next
  /// step
  const char *path;
  uint32_t path_length;
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
pks_status pks_find(
  pks_asset *out, const pks_snapshot *snapshot, const char *path, size_t path_length, uint32_t pack, pks_error *error
);

/// Reads `length` bytes at `offset` into the caller's memory. Reads past the end are INVALID_ARGUMENT. Every frame
/// touched is verified before its bytes are handed out; frames decode straight into `out` where they fit whole. Reads of
/// 256 KiB and more (2 MiB of assets that lie raw in one piece) are shared with the store's idle threads
/// (`pks_options.thread_count`); smaller ones stay on the caller's. Allocates nothing once warm. After an error the bytes
/// at `out` are unspecified. Errors: INVALID_ARGUMENT, WRONG_KIND, FORKED, CORRUPT, PURGED, IO_ERROR, OUT_OF_MEMORY.
pks_status pks_asset_read(const pks_asset *asset, uint64_t offset, void *out, size_t length, pks_error *error);

/// The same for as long as `goes_on(context)` says so: it is asked on the caller's thread before each frame or so (about
/// 128 KiB; a frame of the sequential layout is up to 2 MiB). When it returns false: CANCELLED.
pks_status pks_asset_read_while(
  const pks_asset *asset, uint64_t offset, void *out, size_t length, bool (*goes_on)(void *context), void *context,
  pks_error *error
);

/// Zero-copy: the whole file as mapped memory, verified when first touched, on loan until the snapshot closes.
/// NOT_CONTIGUOUS unless `contiguous`. Errors: that, WRONG_KIND, FORKED, CORRUPT, PURGED, IO_ERROR, OUT_OF_MEMORY.
pks_status pks_asset_borrow(const pks_asset *asset, pks_bytes *out, pks_error *error);

/// A file's bytes as memory of the caller's own: it outlives snapshot and store, and may be written to, which changes
/// nothing in the store. Plain data; release it once.
typedef struct pks_contents {
  void *bytes;  ///< NULL when `count` is 0
  size_t count;
  void *memory;  ///< the core's: what is released
  size_t memory_size;
  const struct pks_vfs *vfs;  ///< the core's: NULL for allocated memory
} pks_contents;

/// The whole file. Assets from 64 KiB up that lie raw in one piece are mapped, and so are assets from 1 MiB up that are
/// in the store's cache, where the first call puts them; the rest is decoded into allocated memory. Verified as by
/// `pks_asset_borrow` or `pks_asset_read`. If another process truncates a mapped file, touching its bytes raises SIGBUS.
/// Errors: WRONG_KIND, CORRUPT, PURGED, IO_ERROR, OUT_OF_MEMORY. A cache that fails is no error.
pks_status pks_asset_contents(pks_contents *out, const pks_asset *asset, pks_error *error);
void pks_contents_release(pks_contents *contents);  ///< on any thread, after the store too; a zeroed one is fine

/// A descriptor of a plain file that holds the asset's bytes and nothing else, for reading, which the caller closes. It
/// is a file of the cache for assets from 1 MiB up; otherwise, or when the cache is busy or too small, a sealed file in
/// memory, of at most 64 MiB. Errors: as above, and NO_SPACE (`needed` bytes of cache) when there is neither.
pks_status pks_asset_open_file(int *descriptor, const pks_asset *asset, pks_error *error);

/// How a file is stored.
typedef struct pks_storage {
  uint64_t extent_count;     ///< stretches of neighbouring frames; reading from front to back jumps in between
  uint64_t frame_count;      ///< frames that hold bytes of it; one that several extents touch counts for each
  uint64_t raw_frame_count;  ///< of them, stored without compression
  uint64_t stored_bytes;     ///< its share of what those frames take, by raw length, rounded frame by frame
  bool contiguous, mapped;   ///< as in `pks_asset`
} pks_storage;

/// How a file is stored. O(frames). Errors: WRONG_KIND, CORRUPT.
pks_status pks_asset_storage(pks_storage *out, const pks_asset *asset, pks_error *error);

/// The target of a link: raw bytes as stored, on loan until the snapshot closes. WRONG_KIND for anything else.
pks_status pks_asset_link_target(const pks_asset *asset, pks_bytes *out, pks_error *error);

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
  /// PKS_CONFLICTS: the path that wins: the same, or a file where this one needs a folder, or the reverse
  const char *winner_path;
  uint32_t winner_path_length;
} pks_entry;

/// Walks a folder of the merged namespace (or of one pack) in bytewise order of paths. `folder` "" is the root. A
/// folder that is not there is NOT_FOUND. Time is linear in the entries returned.
pks_status pks_cursor_open(
  pks_cursor **out, const pks_snapshot *snapshot, const char *folder, size_t folder_length, uint32_t pack,
  pks_walk walk, pks_error *error
);
void pks_cursor_close(pks_cursor *cursor);
/// The next entry, or `*more` false after the last. The entry's path is on loan until the next call.
pks_status pks_cursor_next(pks_cursor *cursor, pks_entry *out, bool *more, pks_error *error);

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
  /// Part of a publication: the caller holds the site's lock, describes in the site's root what it commits, and names with
  /// `pks_txn_keep_segment` what clients of that root still fetch. The commit marks the store as a site's for good. A store
  /// that is marked takes no other commits: PKS_IS_SITE.
  bool publication;
} pks_txn_options;

/// Begins to stage on top of the newest generation. `options` may be NULL. Takes no lock. Errors: READ_ONLY (also: the
/// store was opened without `pks_options.sha256`), IS_SITE, IO_ERROR, NO_SPACE, OUT_OF_MEMORY.
pks_status pks_txn_begin(pks_txn **out, pks_store *store, const pks_txn_options *options, pks_error *error);

typedef enum pks_layout {
  PKS_LAYOUT_RANDOM,      ///< frames of 128 KiB: for assets that are read at random
  PKS_LAYOUT_SEQUENTIAL,  ///< frames of 2 MiB: smaller, for assets that are read from front to back
} pks_layout;

typedef enum pks_links {
  PKS_LINKS_STORE,   ///< symbolic links are stored as links, dangling ones too
  PKS_LINKS_FOLLOW,  ///< what they point to is stored in their place, if it lies within the folder: see `unsafe_links`
  PKS_LINKS_REFUSE,  ///< any link is a refusal
} pks_links;

/// What an add does, one after another. Each begins with a report, and PKS_PHASE_STORE ends with one of everything done.
typedef enum pks_phase {
  PKS_PHASE_SCAN,    ///< listing the folder
  PKS_PHASE_STORE,   ///< chunking, hashing, compressing, writing
  PKS_PHASE_COMMIT,  ///< writing layout and index, and making everything durable; the last report of an add
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
  PKS_NOTICE_TWIN,          ///< warning: differs from another path by case only (refusal with `portable`)
  PKS_NOTICE_SKIPPED,       ///< warning: a socket, device or FIFO was left out
  PKS_NOTICE_UNREADABLE,    ///< refusal: a file or folder cannot be read
  PKS_NOTICE_UNUSED_GLOB,   ///< warning: a pattern of `map_globs`, which is `path`, means no file of the folder
  PKS_NOTICE_LINK_OUT,      ///< refusal: with PKS_LINKS_FOLLOW, an absolute link or one that leads out of the folder
  PKS_NOTICE_OWN_STORE,     ///< warning: the store that is written lies there, and was left out
} pks_notice;

/// What to add. Zero-initialise, then set `pack` and `folder`.
typedef struct pks_add_request {
  const char *pack;    ///< name: 1 to 128 bytes of letters, digits, `-`, `_`, `.`; not beginning with `-` or `.`
  const char *folder;  ///< the source folder
  /// 0: one more than the highest that the pack ever had, or 1. Else a higher one, up to 2^53 - 1; or that of the current
  /// version, if the content is the same
  uint64_t version;
  bool downgrade;  ///< `version` may be lower than those that the pack had, if it is not kept with other content
  bool set_priority;
  int32_t priority;  ///< with `set_priority`; otherwise an update keeps the pack's, and a new pack gets 0
  bool adopt;        ///< takes over a pack that is not local, as `pks_provenance.adopt`
  int32_t level;     ///< zstd level, 1 to 22; 0: 3, or 4 with PKS_LAYOUT_SEQUENTIAL
  pks_layout layout;
  uint32_t frame_size;         ///< raw bytes of a frame, in [65536, 16 MiB]; 0: as the layout says
  uint32_t shared_frame_size;  ///< raw bytes up to which small assets share a frame; 0: as the layout says
  pks_links links;
  bool unsafe_links;  ///< with PKS_LINKS_FOLLOW: links may be absolute, and lead out of the folder
  bool portable;      ///< paths that differ by case only are a refusal
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
  const char *const *map_globs;
  uint32_t map_glob_count;
  void *context;  ///< for the callbacks
  bool (*progress
  )(void *context,
    const pks_progress *progress
  );  ///< with every phase, and every 16 MiB or 1000 files; on the caller's thread; false cancels
  void (*notice)(void *context, pks_notice notice, const char *path, size_t path_length, int system_error);
} pks_add_request;

typedef struct pks_add_result {
  /// the pack's current version has this very content: no version was made. With `relaid_count` above 0 there is
  /// something to commit all the same: where these assets lie now.
  bool unchanged;
  pks_version version;
  uint64_t chunk_count;       ///< chunks of the folder
  uint64_t new_chunk_count;   ///< of them, not stored before
  uint64_t new_raw_bytes;     ///< bytes of those chunks
  uint64_t new_stored_bytes;  ///< bytes written to segments: these chunks, map assets, catalog and layout pages
  uint64_t mapped_count;      ///< map assets of the folder that hold bytes
  uint64_t relaid_count;      ///< of them, how many did not change but were not stored as map assets before
  uint64_t mapped_new_bytes;  ///< bytes of map assets that were laid out now, be their chunks new or not
} pks_add_result;

/// Stages a folder as the next version of a pack: chunk, hash, deduplicate, compress, write. Private memory stays
/// bounded whatever the folder holds. The result is a function of the folder, the store and libzstd's version alone. On
/// an error the transaction stays as it was before the call. Errors: INVALID_ARGUMENT, NOT_FOUND (no such folder),
/// OTHER_ORIGIN (the pack is not local), WRONG_KIND, REFUSED, SOURCE_CHANGED, CANCELLED, EXISTS, HELD, NO_SPACE, IO_ERROR, OUT_OF_MEMORY, CORRUPT.
pks_status pks_txn_add_folder(pks_txn *txn, const pks_add_request *request, pks_add_result *result, pks_error *error);

/// A version of a pack to copy out of a snapshot. Zero-initialise, then set `source` and `pack`.
typedef struct pks_copy_request {
  const pks_snapshot *source;  ///< of another store, or of this one; open until the call returns
  const char *pack;            ///< its name in the source, and here
  uint64_t version;            ///< number of a kept version; 0: the current one
  bool set_priority;           ///< else a pack that is new here gets 0, and another keeps its own
  int32_t priority;
  bool adopt, downgrade;  ///< as in `pks_provenance`
  bool as_local;          ///< the pack becomes local here, whatever it is there; adopted if need be
  int32_t level;          ///< these as in `pks_add_request`, for chunks that this store does not have yet
  pks_layout layout;
  uint32_t frame_size;
  uint32_t shared_frame_size;
  void *context;
  bool (*progress)(void *context, const pks_progress *progress);  ///< likewise
} pks_copy_request;

/// Stages a version of the source as the pack's current version here, with its number, its date and its content. Chunks
/// that this store has are not touched; the others are read from the source, checked by SHA-256, and encoded as the
/// request says, on all threads. Map assets stay map assets. A version that is kept here becomes current again, as by
/// `pks_txn_rollback`, but the pack is not held. With the version current here already, `unchanged`. On an error the
/// transaction stays as it was before the call. The pack's origin comes along, with what the source accepted of it last.
/// Time is linear in the chunks of the version. Errors: INVALID_ARGUMENT, OTHER_ORIGIN, DOWNGRADE, STALE,
/// NOT_FOUND (no such pack or version in the source), EXISTS (a kept version has the number and other content), HELD,
/// CANCELLED, NO_SPACE, IO_ERROR, OUT_OF_MEMORY, CORRUPT, PURGED (here or in the source; `file` says).
pks_status pks_txn_copy_version(
  pks_txn *txn, const pks_copy_request *request, pks_add_result *result, pks_error *error
);

/// Stages that of the pack's versions only the `count` that were current last are kept, the present one included, and
/// those that are pinned. INVALID_ARGUMENT for 0, NOT_FOUND when there is no such pack.
pks_status pks_txn_trim(pks_txn *txn, const char *pack, uint32_t count, pks_error *error);

/// Stages the removal of a pack, with its history or, with `keep_history`, without: then a rollback brings it back. The
/// history that was kept is removed by another call without `keep_history`. NOT_FOUND when there is neither.
pks_status pks_txn_remove(pks_txn *txn, const char *pack, bool keep_history, pks_error *error);

/// Stages another priority for a pack. NOT_FOUND when there is none.
pks_status pks_txn_set_priority(pks_txn *txn, const char *pack, int32_t priority, pks_error *error);

/// Stages that a kept version of a pack is its current one again: number `version`, or with 0 the one that was current
/// before (of a removed pack, the last one). No asset's bytes are moved or read; time is linear in the chunks of the
/// version. The pack is *held* there: neither `pks_txn_add_folder` nor an update moves it until `pks_txn_unpin`. No
/// version is dropped, so going forward works alike. `*now` (may be NULL) is the version. Errors: NOT_FOUND (no such pack
/// or version, or none before), CORRUPT, IO_ERROR, NO_SPACE, OUT_OF_MEMORY.
pks_status pks_txn_rollback(pks_txn *txn, const char *pack, uint64_t version, pks_version *now, pks_error *error);

/// Stages that a version is kept, whatever the number of versions to keep. NOT_FOUND when there is no such pack or version.
pks_status pks_txn_pin(pks_txn *txn, const char *pack, uint64_t version, pks_error *error);

/// Stages that no version of the pack is pinned any more, and that the pack is not held. NOT_FOUND when there is no such
/// pack.
pks_status pks_txn_unpin(pks_txn *txn, const char *pack, pks_error *error);

/// Stages that the packs of these origins win first, in this order; the other origins follow as they were. Errors:
/// INVALID_ARGUMENT (named twice), NOT_FOUND (not listed).
pks_status pks_txn_order_origins(pks_txn *txn, const pks_origin *origins, uint32_t count, pks_error *error);

/// Stages that an origin is forgotten, with the versions that were last accepted from it. Errors: NOT_FOUND,
/// INVALID_ARGUMENT (the local one, or a pack of it is here, or the history of one).
pks_status pks_txn_forget_origin(pks_txn *txn, const pks_origin *origin, pks_error *error);

/// Origins as they will be after the commit, as `pks_snapshot_origin`.
uint32_t pks_txn_origin_count(const pks_txn *txn);
pks_origin pks_txn_origin(const pks_txn *txn, uint32_t index);
/// Keeps a segment file from being collected by this commit, though no version may need it. It binds this commit alone:
/// what is to stay longer is named to each. The segment need not be there.
pks_status pks_txn_keep_segment(pks_txn *txn, const uint8_t segment[16], pks_error *error);

/// Makes the commit happen even when nothing is staged, so that it collects. A segment goes with the second commit after
/// the last version that needed it, or later while a reader of that version is open.
void pks_txn_collect(pks_txn *txn);

/// Packs as they will be after the commit, in no particular order. Names are on loan until the next call on `txn`.
uint32_t pks_txn_pack_count(const pks_txn *txn);
pks_pack pks_txn_pack(const pks_txn *txn, uint32_t index);
/// A version that will be kept, as `pks_snapshot_version` counts them. `version` < version_count (asserted).
pks_version pks_txn_version(const pks_txn *txn, uint32_t pack, uint32_t version);

/// Commits: one atomic switch. Always ends the transaction, whatever it returns. `*generation` is the new generation,
/// or the base one when there was nothing to commit. Errors: BUSY, CONFLICT, IS_SITE, NO_SPACE, IO_ERROR, OUT_OF_MEMORY,
/// CORRUPT: the old generation stays.
pks_status pks_txn_commit(pks_txn *txn, uint64_t *generation, pks_error *error);

/// Ends the transaction without a trace. NULL is fine.
void pks_txn_abort(pks_txn *txn);

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

/// Measures a snapshot. `usages` has room for one `pks_usage` per pack, or is NULL. Time is linear in assets and
/// chunks.
pks_status pks_snapshot_stat(const pks_snapshot *snapshot, pks_stat *out, pks_usage *usages, pks_error *error);

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
pks_status pks_snapshot_holds(const pks_snapshot *snapshot, pks_holds *out, pks_error *error);

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
  const char *old_path;
  size_t old_path_length;
  uint64_t old_size, new_size;
} pks_difference;

typedef struct pks_diff_totals {
  uint64_t added, removed, changed, moved, unchanged;  ///< entries
  uint64_t chunk_count;                                ///< distinct chunks of the newer version
  uint64_t new_chunk_count;                            ///< of them, not in the older one
  uint64_t new_bytes;                                  ///< raw bytes of those
} pks_diff_totals;

/// Compares two kept versions, perhaps of different packs, removed ones included. `visit` is called once per difference, in order of paths but
/// with moves last; false cancels.
pks_status pks_snapshot_diff(
  const pks_snapshot *snapshot, uint32_t old_pack, uint64_t old_version, uint32_t new_pack, uint64_t new_version,
  bool (*visit)(void *context, const pks_difference *difference), void *context, pks_diff_totals *totals,
  pks_error *error
);

/// Something that is wrong with a store, and whom it hurts. All text is on loan until the callback returns.
typedef struct pks_fault {
  /// counts the faults of a walk from 1 on: one fault that hurts several assets is told once for each, with this number
  uint64_t number;
  pks_status status;     ///< CORRUPT; PURGED: a file is gone; IO_ERROR: it cannot be read; NEWER_FORMAT
  int32_t system_error;  ///< errno of the failed system call, or 0
  const char *text;      ///< what is wrong, in English, static
  const char *file;      ///< the store's file, as `segments/...`, or the id of a page that is nowhere; may be empty
  uint64_t offset;       ///< byte offset within `file`, or PKS_NO_OFFSET
  uint64_t length;       ///< bytes from there on of which one at least is bad; 0: not known
  const char *pack;      ///< the pack that is hurt; NULL: none, or nobody knows
  uint64_t version;      ///< its version; 0 without `pack`
  const char *asset;     ///< path of the asset that is hurt, NOT NUL-terminated; NULL: none, or all of the version
  size_t asset_length;   ///< bytes of `asset`
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
/// `progress` may be NULL; false cancels. Both are called on the caller's thread. Whom a fault hurts is found by a second
/// walk, which a sound store does not cost. Returns OK when the walk itself could be done, however many faults it found.
pks_status pks_snapshot_verify(
  const pks_snapshot *snapshot, bool deep, void (*fault)(void *context, const pks_fault *fault),
  bool (*progress)(void *context, uint64_t bytes_done, uint64_t bytes_total), void *context, pks_verify_totals *totals,
  pks_error *error
);

// MARK: - Publishing

/// Tells the segments that a kept version needs, each once: those with its chunks and pages, and last the one that holds
/// the root page of its layout. `pack` may be a removed one. False cancels. O(segments). Errors: NOT_FOUND (no such pack
/// or version), CANCELLED, PURGED, CORRUPT, IO_ERROR, OUT_OF_MEMORY.
pks_status pks_snapshot_visit_segments(
  const pks_snapshot *snapshot, uint32_t pack, uint64_t version,
  bool (*visit)(void *context, const uint8_t id[16], bool is_metadata, uint64_t file_length), void *context,
  pks_error *error
);

/// Hands the frame table of a segment of the store to `write`, piece by piece: what somebody must know who fetches frames
/// of it. All of the segment is read and checked. False cancels. Needs `pks_options.sha256`. Errors: INVALID_ARGUMENT (no
/// SHA-256, or more frames than a table may have), PURGED (no such segment), CANCELLED, CORRUPT, IO_ERROR, OUT_OF_MEMORY.
pks_status pks_snapshot_frame_table(
  const pks_snapshot *snapshot, const uint8_t segment[16],
  bool (*write)(void *context, const void *bytes, size_t byte_count), void *context, pks_error *error
);

// MARK: - Versions from elsewhere

/// A segment of a site, as a signed manifest names it.
typedef struct pks_site_segment {
  uint8_t id[16];
  uint64_t file_length;  ///< bytes of the segment file
  bool is_metadata;
  uint8_t table_digest[32];  ///< SHA-256 of its frame table
  uint32_t table_length;     ///< bytes of its frame table
} pks_site_segment;

/// A version that is to come from elsewhere. From a manifest whose signature was checked. Zero-initialise.
typedef struct pks_delivery_request {
  const char *pack;
  uint64_t version;
  uint8_t catalog[32], layout[32];
  int64_t committed_at_ns;  ///< nanoseconds since 1970
  bool set_priority;
  int32_t priority;  ///< with `set_priority`, for a pack that the store does not have yet
  pks_provenance provenance;
  const pks_site_segment
    *segments;  ///< copied; metadata segments as `pks_snapshot_visit_segments` has them, newest last
  uint32_t segment_count;
} pks_delivery_request;

typedef struct pks_delivery pks_delivery;

/// Begins a delivery into `txn`, or goes on with one that was interrupted: what is kept of it in the store's `incoming/`
/// counts as delivered. Relative to what the transaction sees now. A kept version that is not current becomes so again,
/// without being held; nothing is wanted for it. `*needed` false: the transaction shows this very version as the pack's
/// current one, and `*out` is NULL. A delivery belongs to one thread at a time, the one of its transaction. It ends before
/// its transaction does, unless it was staged. If the pack is taken over from another origin and has this very content,
/// that is staged at once, and `*needed` is false. Errors: INVALID_ARGUMENT, OTHER_ORIGIN, DOWNGRADE, STALE, HELD, EXISTS (the number is that of other
/// content), BUSY (somebody is at the same version: wait, and begin a new transaction), IO_ERROR, NO_SPACE, OUT_OF_MEMORY,
/// CORRUPT.
pks_status pks_delivery_open(
  pks_delivery **out, bool *needed, pks_txn *txn, const pks_delivery_request *request, pks_error *error
);

/// Bytes that are wanted.
typedef struct pks_want {
  uint32_t segment;  ///< index in the request's segments
  bool is_table;     ///< its whole frame table; else bytes of the segment file
  uint64_t offset;   ///< in the segment file; 0 for a table
  uint32_t length;
} pks_want;

typedef enum pks_next {
  PKS_NEXT_WANT,
  PKS_NEXT_WAIT,  ///< for what is outstanding: give it first
  PKS_NEXT_DONE,  ///< all is there: stage it
} pks_next;

/// The next bytes to fetch. Any number may be outstanding; they are given in the order in which they were handed out. As
/// long as wants go on with one segment, their offsets rise and they do not overlap. Takes long now and then: the catalog
/// is walked. Errors are final: CORRUPT (what was authenticated makes no sense, and the publisher must mend it), NO_SPACE
/// (`needed` bytes for all that is still to come), IO_ERROR, OUT_OF_MEMORY.
pks_status pks_delivery_next(pks_delivery *delivery, pks_want *want, pks_next *next, pks_error *error);

/// Gives the bytes of the oldest outstanding want. They are checked by SHA-256 before they are decoded, and each chunk
/// after. What was given is kept across a crash of the process, but for some chunks of frames that are only needed in part:
/// up to a frame's worth of them is gathered before it is written.
///
/// CORRUPT with `*is_final` false: these are not the bytes that the signed manifest leads to; the want stays outstanding,
/// and others may be given. Any other error is final: the delivery is good for nothing but `pks_delivery_close`. CORRUPT
/// then means that what was authenticated makes no sense. After NO_SPACE, IO_ERROR, OUT_OF_MEMORY another one goes on where
/// this one ended. INVALID_ARGUMENT, which is not final: nothing is outstanding, or `byte_count` is not what was wanted.
pks_status pks_delivery_give(
  pks_delivery *delivery, const void *bytes, size_t byte_count, bool *is_final, pks_error *error
);

typedef struct pks_delivery_totals {
  bool is_planned;  ///< all metadata is there: the totals are known
  uint64_t
    bytes_total;        ///< stored bytes of frames, as the site has them; of resumed ones, as they are here; of a delta
  uint64_t bytes_done;  ///< of them, those that are here
  uint64_t bytes_resumed;              ///< of those, what an earlier attempt had left
  uint64_t metadata_bytes;             ///< tables and pages that were given so far
  uint64_t chunks_total, chunks_done;  ///< that the base does not have; 0 for a delta
  uint64_t raw_bytes;                  ///< of those chunks
} pks_delivery_totals;
pks_delivery_totals pks_delivery_measure(const pks_delivery *delivery);

/// A delta that the site has beside a version, as its signed root names it. Zero-initialise the rest.
typedef struct pks_delivery_delta {
  uint8_t header_digest[32];  ///< SHA-256 of its header
  uint32_t header_length;     ///< bytes
  uint64_t length;            ///< bytes of the whole file
  void *context;
  bool (*progress)(void *context, const pks_progress *progress);  ///< while it is applied; as in `pks_add_request`
} pks_delivery_delta;

/// Lets the version come by a delta from here on, instead of frame by frame. What was handed out and not given is
/// forgotten, what was given is kept. From then on all wants are of the delta's file, in order: `segment` is 0 and means
/// nothing. What is here of it from an interrupted delivery is not wanted. Staging applies the delta; if it, or this,
/// says CORRUPT, NEWER_FORMAT, PURGED, NOT_FOUND or NO_SPACE, another delivery may still bring the version frame by frame. To be called once at most, before
/// `pks_delivery_stage`, and not for a kept version, which takes no bytes at all. Errors: INVALID_ARGUMENT, which is not
/// final; IO_ERROR, NO_SPACE, OUT_OF_MEMORY, CORRUPT.
pks_status pks_delivery_use_delta(pks_delivery *delivery, const pks_delivery_delta *delta, pks_error *error);

/// Stages the version, when all was given: what the store had and what came. Nothing is encoded again, but for what a
/// delta brought. Whatever it returns, the delivery is then good for nothing but `pks_delivery_close`; what came is kept
/// until that discards it. Errors: INVALID_ARGUMENT (something is still wanted), CONFLICT (the transaction changed the pack
/// since), CORRUPT (the version makes no sense), NO_SPACE, IO_ERROR, OUT_OF_MEMORY; of a delta also those of
/// `pks_txn_apply_delta`.
pks_status pks_delivery_stage(pks_delivery *delivery, pks_add_result *result, pks_error *error);

/// Ends it. Before the commit of its transaction, or instead of it, what came is kept for another try: for a week. After
/// the commit call it with `discard`, and nothing is left in `incoming/`. NULL is fine.
void pks_delivery_close(pks_delivery *delivery, bool discard);

// MARK: - Deltas

/// A delta that somebody else has: a file, or whatever can be read like one. Plain data, copied.
typedef struct pks_delta_source {
  void *context;
  /// Reads up to `byte_count` bytes at `offset`; `*got` is smaller only at the end. 0, or an errno. Called on the caller's
  /// thread alone
  int (*read)(void *context, uint64_t offset, void *out, size_t byte_count, size_t *got);
  const char *name;  ///< for messages; NULL: "delta"
} pks_delta_source;

/// What a delta says of itself.
typedef struct pks_delta_info {
  char pack[129];  ///< name of the pack, NUL-terminated
  uint64_t from_version, to_version;
  uint8_t from_catalog[32], to_catalog[32];
  uint64_t file_count, link_count, folder_count, logical_bytes;  ///< of the version that it leads to
  uint64_t new_bytes;                                            ///< raw bytes of chunks that it brings
  uint32_t header_length;  ///< bytes at its beginning whose SHA-256 names it: what is signed
  uint8_t header_digest[32];
  uint64_t length;  ///< bytes that belong to the delta; what follows is not looked at
} pks_delta_info;

/// Reads and checks the header of a delta. `sha256` as in `pks_options`. Errors: CORRUPT (also: no delta), NEWER_FORMAT,
/// IO_ERROR, OUT_OF_MEMORY.
pks_status pks_delta_inspect(pks_delta_info *out, const pks_delta_source *source, pks_sha256 *sha256, pks_error *error);

/// A delta to apply. Zero-initialise, then set `delta`.
typedef struct pks_apply_request {
  pks_delta_source delta;
  const uint8_t *header_digest;  ///< SHA-256 that the header must have, 32 bytes; NULL: any
  pks_provenance provenance;
  bool set_priority;  ///< else a pack that is not current gets 0, and another keeps its own
  int32_t priority;
  int32_t level;  ///< these as in `pks_add_request`, for the new chunks
  pks_layout layout;
  uint32_t frame_size;
  uint32_t shared_frame_size;
  void *context;
  bool (*progress)(void *context, const pks_progress *progress);  ///< likewise
} pks_apply_request;

/// Stages the version that a delta leads to as the pack's current version, with its number, its date and its content. The
/// version that the delta begins with must be kept here; of its chunks nothing is stored again, nor read unless the delta
/// refers to it. What comes out has the catalog id that the header names, or nothing is staged: who trusts the header need
/// not trust the rest. Private memory stays below 16 MiB at the default settings on a machine with two processors,
/// whatever the versions hold. Nothing is kept of a try that was interrupted: a delta is applied from its beginning. On an
/// error the transaction stays as it was before the call. Errors: INVALID_ARGUMENT, NOT_FOUND (the version that it begins
/// with is not kept; `pks_error.file` names it), OTHER_ORIGIN, DOWNGRADE, EXISTS, HELD, CANCELLED, NO_SPACE, IO_ERROR, OUT_OF_MEMORY, CORRUPT,
/// NEWER_FORMAT, PURGED.
pks_status pks_txn_apply_delta(
  pks_txn *txn, const pks_apply_request *request, pks_add_result *result, pks_error *error
);

enum {
  PKS_DELTA_LEVEL_FAST = 9,
  PKS_DELTA_LEVEL = 18,  ///< smaller than `zstd -19 --patch-from` in a third of its time
  PKS_DELTA_LEVEL_MAX = 22,
};

/// A delta to build. Zero-initialise, then set `pack`, the versions, and `write`.
typedef struct pks_delta_request {
  const char *pack;   ///< of the snapshot; a removed one, too
  uint64_t from, to;  ///< numbers of kept versions
  int32_t level;      ///< 1 to 22; 0: PKS_DELTA_LEVEL
  void *context;      ///< for the callbacks, which are called on the caller's thread
  /// Takes bytes of the file. 0, or an errno. They come in no particular order: the header last
  int (*write)(void *context, uint64_t offset, const void *bytes, size_t byte_count);
  bool (*progress)(void *context, uint64_t bytes_done, uint64_t bytes_total);  ///< may be NULL; false cancels
} pks_delta_request;

/// Builds the delta between two kept versions of a pack, on all threads. It is a function of the versions' content, the
/// level and libzstd's version alone. Temporary files lie in the store's `tmp/`. Errors: INVALID_ARGUMENT, NOT_FOUND,
/// READ_ONLY, CANCELLED, CORRUPT, PURGED, NO_SPACE, IO_ERROR (also of `write`), OUT_OF_MEMORY.
pks_status pks_delta_build(
  const pks_snapshot *snapshot, const pks_delta_request *request, pks_delta_info *out, pks_error *error
);

// MARK: - Repair

/// What became of something that a repair found damaged. All text is on loan until the callback returns.
typedef struct pks_repair_note {
  bool lost;  ///< or else healed: its bytes were found, and stored anew
  const char *pack;
  uint64_t version;     ///< as it was numbered; 0: all of the pack
  const char *asset;    ///< path, NOT NUL-terminated; NULL: all of the version
  size_t asset_length;  ///< bytes of `asset`
  /// without `asset`: assets of the version that are lost, whose paths nobody knows; 0: the version itself is
  uint64_t unnamed_count;
  const char *origin;  ///< healed: where the bytes were, in English, or the path of a donor
} pks_repair_note;

typedef enum pks_repair_phase {
  PKS_REPAIR_CHECK,    ///< looking for faults, as `pks_snapshot_verify` does when deep
  PKS_REPAIR_SURVEY,   ///< looking for what is whole
  PKS_REPAIR_RESTORE,  ///< putting versions together again
} pks_repair_phase;

/// How to repair. Zero-initialise; all of it may stay so.
typedef struct pks_repair_request {
  const char *const *donors;  ///< paths of other stores that may have the same content
  uint32_t donor_count;
  /// Find out what would be done, and leave what the store shows as it is. Folders of the store and LOCK are made where
  /// they are missing, and what others left in tmp/ may be swept.
  bool dry_run;
  bool no_wait;  ///< PKS_BUSY, rather than waiting, when another writer holds the lock
  /// Part of a publication, as in `pks_txn_options`; the repaired store is marked as a site's. Without it the repair of a
  /// store that is marked is PKS_IS_SITE, unless nothing has to be done or it is a dry run.
  bool publication;
  void *context;  ///< for the callbacks, which are called on the caller's thread and may be NULL
  void (*fault)(void *context, const pks_fault *fault);  ///< as `pks_snapshot_verify` calls it
  void (*note)(void *context, const pks_repair_note *note);
  /// Bytes of the phase; false cancels, and leaves the store as it was.
  bool (*progress)(void *context, pks_repair_phase phase, uint64_t bytes_done, uint64_t bytes_total);
} pks_repair_request;

typedef struct pks_repair_totals {
  bool was_whole;  ///< there was nothing to do, and nothing was written
  /// copies of control slots that were damaged and are written again, or would be. Where nothing else was damaged, that is
  /// all there was to do, and no new generation is made
  uint64_t mended_copy_count;
  bool has_lost;  ///< assets, versions or packs
  bool
    is_rebuilt;  ///< no generation could be read: priorities, dates, pins, and which versions are current, were guessed
  uint64_t generation;   ///< the new one; 0 when none was made
  uint64_t fault_count;  ///< that were found at first; 0 when the store could not even be opened
  uint64_t segment_count, damaged_segment_count;
  uint64_t pack_count, version_count;  ///< kept
  uint64_t healed_asset_count;         ///< of all versions, those of which bytes were stored anew from elsewhere
  uint64_t lost_asset_count;           ///< of current versions
  uint64_t lost_version_count;         ///< older ones, dropped because something of them is nowhere
  uint64_t lost_pack_count;
  uint64_t stored_bytes;  ///< written to new segments
} pks_repair_totals;

/// Makes a damaged store whole again, as far as its bytes are anywhere: in segments that are whole, in intact parts of
/// others, by way of the old index, or in the stores that are named as donors. Everything that goes on to be used was
/// checked by SHA-256.
///
/// Where only copies of control slots are damaged, they are written again. A commit that they hid is brought back as far as
/// its files are there.
///
/// The store is read in full; what can be salvaged becomes a new generation, which a single durable commit makes
/// current, and nothing of the old one is touched, so that a crash leaves the store as it was or repaired. Files that
/// are not needed any more go with later commits. Readers go on with what they have; other writers wait. When the control
/// file had to be made afresh, processes that have the store open must open it anew: they see nothing newer, and their
/// commits fail with CONFLICT.
///
/// A current version with losses becomes a new version, with a number above all others of its pack, of the assets that
/// are left. Older versions with losses are dropped. The index of a store may be gone as a whole: then the versions are
/// taken from what segments say of themselves, the two of the highest numbers of each pack.
///
/// `options` are as for `pks_store_open`; `sha256` is needed, `create` and `read_only` mean nothing. Returns OK when the
/// store is usable afterwards, be something lost or not: `totals` says. Errors: INVALID_ARGUMENT, NOT_A_STORE (also a
/// donor), NEWER_FORMAT, READ_ONLY, IS_SITE, BUSY, CANCELLED, NO_SPACE, IO_ERROR, OUT_OF_MEMORY, CORRUPT (a donor cannot be
/// opened): the store is as it was.
pks_status pks_store_repair(
  const char *path, const pks_options *options, const pks_repair_request *request, pks_repair_totals *totals,
  pks_error *error
);

#ifdef __cplusplus
}
#endif

#endif
