/// Shared by all headers of PackStore: status, errors, versions.
#ifndef PACKSTORE_BASE_H
#define PACKSTORE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// MARK: - Pointers that may be NULL

// PKS_NULLABLE marks each pointer that may be NULL; its comment states what NULL means. No other pointer in these headers may be
// NULL: the library never returns NULL there, and passing NULL is a caller error, whether or not the call detects it. Four rules
// apply everywhere and are not repeated:
// - `error` and the contexts of callbacks may be NULL.
// - A pointer to bytes or elements with a count may be NULL if the count is 0.
// - All pointers of structs that callers zero-initialise are marked. A request whose required pointer is NULL is refused with
//   PKS_INVALID_ARGUMENT.
// - The variable behind an output (`*out`) may contain NULL before the call.
//
// Clang checks the marks, and Swift imports marked pointers as optionals. Other compilers ignore them.
#if defined(__has_feature)
  #if __has_feature(nullability) && __has_feature(assume_nonnull)
    #define PKS_NULLABLE _Nullable
    #define PKS_NONNULL _Nonnull
    // The marks are a C extension; `-pedantic` would warn about it.
    #define PKS_ASSUME_NONNULL_BEGIN                                                                                   \
      _Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Wnullability-extension\"")                 \
        _Pragma("clang assume_nonnull begin")
    #define PKS_ASSUME_NONNULL_END _Pragma("clang assume_nonnull end") _Pragma("clang diagnostic pop")
  #endif
#endif
#if !defined(PKS_NULLABLE)
  #define PKS_NULLABLE
  #define PKS_NONNULL
  #define PKS_ASSUME_NONNULL_BEGIN
  #define PKS_ASSUME_NONNULL_END
#endif

#ifdef __cplusplus
extern "C" {
#endif

PKS_ASSUME_NONNULL_BEGIN

// MARK: - Status and errors

/// Result of a call. 100 to 199: the call or the store's contents do not allow the operation; 200 to 299: the machine failed; 300
/// to 399: the data is unusable.
typedef enum pks_status {
  PKS_OK = 0,

  PKS_INVALID_ARGUMENT = 100,  ///< a parameter is invalid; `text` names it
  PKS_NOT_FOUND = 101,         ///< no such asset, folder, pack or version
  PKS_NOT_A_STORE = 102,       ///< no store in the directory: it is missing, or contains something else
  PKS_WRONG_KIND = 103,        ///< a link or folder where a file is required, or the reverse
  PKS_READ_ONLY = 104,         ///< the store was opened for reading only
  PKS_CANCELLED = 105,         ///< a callback cancelled the call
  PKS_BUSY =
    106,  ///< another writer holds the lock, and the call was not to wait; `pks_error.needed` is its process id
  PKS_REFUSED = 107,  ///< the folder contains names or links that cannot be stored; each was reported as a notice
  PKS_SOURCE_CHANGED = 108,  ///< a file of the folder shrank, grew or vanished while it was read
  PKS_EXISTS = 109,          ///< the version exists with other content, or its number is too low
  PKS_NOT_CONTIGUOUS = 110,  ///< the asset cannot be borrowed: it is compressed or not in one piece
  PKS_CONFLICT = 111,        ///< another writer changed the same pack since the transaction began: stage it again
  PKS_HELD = 112,            ///< the pack is held at a version since a rollback: see `pks_txn_unpin`
  PKS_FORKED = 113,          ///< this process was forked after the store was opened: open it again
  PKS_IS_SITE = 115,  ///< the store belongs to a site: only publications change it (`pks_txn_options.publication`)
  PKS_HOSTILE_NAMES = 114,  ///< the pack's paths were crafted to make look-ups slow: it was not added
  PKS_TOO_MANY_ROWS = 116,  ///< the pack has more chunks and extents than `limit`; `needed` were counted

  PKS_OTHER_ORIGIN = 120,  ///< the pack belongs to another origin: see `pks_provenance.adopt`
  PKS_DOWNGRADE = 121,     ///< a higher version was accepted before: see `pks_provenance.downgrade`
  PKS_STALE = 122,         ///< the root is older than one already accepted: usually an outdated mirror; nothing changes

  PKS_OUT_OF_MEMORY = 200,
  PKS_IO_ERROR = 201,  ///< a system call failed; `system_error` is its errno
  PKS_NO_SPACE = 202,  ///< the disk is full; `needed` is a number of bytes that would be enough for this step

  PKS_CORRUPT = 300,       ///< bytes on disk differ from the written ones; `file` and `offset` locate them
  PKS_NEWER_FORMAT = 301,  ///< written by a later version of this library
  PKS_OTHER_DRAFT =
    304,  ///< written in another draft of the format: undamaged, but readable only by another library version
  PKS_PURGED = 302,  ///< purgeable data was deleted
  /// not signed by a trusted key, or too old; returned by callers of the core only, which has no cryptography
  PKS_UNTRUSTED = 303,
} pks_status;

/// Marks functions whose status reports whether they did anything: ignoring it causes a warning.
#if defined(__GNUC__)
  #define PKS_MUST_CHECK __attribute__((warn_unused_result))
#else
  #define PKS_MUST_CHECK
#endif

#define PKS_NO_OFFSET UINT64_MAX

/// Rows of a version that are allowed in addition to 64 for each KiB of its distinct pages. A row is a chunk of a file or an extent
/// of the layout. One file of 64 GiB that consists of a single hole has this many rows with chunks of the default size.
enum { PKS_ROWS_MAX = 4 * 1024 * 1024 };

/// The kind of object that `pks_error.file` names. Values are stable; later versions may add more.
typedef enum pks_subject {
  PKS_SUBJECT_NONE = 0,          ///< `file` is empty
  PKS_SUBJECT_STORE = 1,         ///< a store; `file` is its path, or empty for the store of the call
  PKS_SUBJECT_PACK = 2,          ///< a pack's name, which may be invalid
  PKS_SUBJECT_VERSION = 3,       ///< a version, such as "Tutorial@3"
  PKS_SUBJECT_PATH = 4,          ///< the path of an asset, of a folder of assets, or of an entry in an added folder
  PKS_SUBJECT_FOLDER = 5,        ///< a folder, by its path in the file system
  PKS_SUBJECT_FILE = 6,          ///< a file, by its path in the file system
  PKS_SUBJECT_STORE_FILE = 7,    ///< a file of a store, site or download, relative to its folder: "segments/3f2a"
  PKS_SUBJECT_CACHE_FOLDER = 8,  ///< a cache folder, or a file in it
  PKS_SUBJECT_DELTA = 9,         ///< a delta, by the name that the caller gave it
  PKS_SUBJECT_PRODUCT = 10,      ///< the product of an origin
  PKS_SUBJECT_PATTERN = 11,      ///< a pattern for paths
} pks_subject;

/// Distinguishes cases of one status. Values are stable; later versions may add more. Compare details rather than `text`, whose
/// wording may change in any version.
typedef enum pks_detail {
  PKS_DETAIL_NONE = 0,  ///< the status is sufficient

  // PKS_INVALID_ARGUMENT
  PKS_DETAIL_NO_HASH = 1,          ///< the options lack `sha256`; also with PKS_READ_ONLY
  PKS_DETAIL_NO_CACHE_FOLDER = 2,  ///< the store has no cache folder for data of purgeable packs
  PKS_DETAIL_LIMIT = 3,            ///< a limit of the format is exceeded
  PKS_DETAIL_ORIGIN_IN_USE = 4,    ///< the origin has packs or a history

  // PKS_NOT_FOUND
  PKS_DETAIL_NO_PACK = 10,
  PKS_DETAIL_NO_VERSION = 11,          ///< the version is not kept
  PKS_DETAIL_NO_EARLIER_VERSION = 12,  ///< no version before the current one is kept
  PKS_DETAIL_NO_ASSET = 13,
  PKS_DETAIL_NO_FOLDER = 14,  ///< the folder to add does not exist
  PKS_DETAIL_NO_ORIGIN = 15,

  // PKS_NOT_A_STORE
  PKS_DETAIL_NO_DIRECTORY = 20,       ///< the directory does not exist, or the path leads through a file
  PKS_DETAIL_NO_CONTROL_FILE = 21,    ///< the directory exists without a store
  PKS_DETAIL_FOREIGN_DIRECTORY = 22,  ///< the directory contains other files, so no store is created in it

  // PKS_READ_ONLY
  PKS_DETAIL_OPEN_FOR_READING = 30,  ///< the caller opened the store for reading only
  PKS_DETAIL_NOT_WRITABLE = 31,      ///< the file system refused to write
  PKS_DETAIL_NEWER_WRITER = 32,      ///< a later version of this library changes the store; with PKS_NEWER_FORMAT

  // PKS_BUSY
  PKS_DETAIL_OTHER_WRITER = 40,
  PKS_DETAIL_OTHER_FETCH = 41,  ///< another process fetches the same version

  // PKS_REFUSED
  PKS_DETAIL_FORBIDDEN_FILES = 50,   ///< names or links that cannot be stored; each was reported as a notice
  PKS_DETAIL_UNREADABLE_FILES = 51,  ///< files or folders that cannot be read; each was reported as a notice
  PKS_DETAIL_SECRET_KEY = 52,        ///< a file begins with a secret key
  PKS_DETAIL_SIZE_UNKNOWN = 53,      ///< a file whose size differs from its content, as in /proc

  // PKS_EXISTS
  PKS_DETAIL_OTHER_CONTENT = 60,  ///< this version has other content
  PKS_DETAIL_LOW_NUMBER = 61,     ///< the version number does not exceed every earlier number of the pack
  PKS_DETAIL_STORE_EXISTS = 62,

  // PKS_CONFLICT
  PKS_DETAIL_STORE_REPAIRED = 70,
  PKS_DETAIL_PACK_CHANGED = 71,
  PKS_DETAIL_PACK_REMOVED = 72,
  PKS_DETAIL_COLLECTED = 73,           ///< another writer deleted data that the transaction reuses
  PKS_DETAIL_OTHER_CACHE_FOLDER = 74,  ///< another writer chose another cache folder

  // PKS_DOWNGRADE
  PKS_DETAIL_HIGHER_ACCEPTED = 80,  ///< a higher version was accepted before
  PKS_DETAIL_WITHDRAWN = 81,        ///< the publisher withdrew this version
  PKS_DETAIL_REPLACED_KEY = 82,     ///< the root is signed by a key that its publisher replaced
  PKS_DETAIL_OLDER_STATE = 83,      ///< the root repeats a state from before the publisher withdrew something

  // PKS_IO_ERROR, PKS_NO_SPACE
  PKS_DETAIL_NO_LOCKS = 90,      ///< the file system does not support locks
  PKS_DETAIL_CACHE_BUDGET = 91,  ///< the budget that the caller set for a cache is too small

  // PKS_CORRUPT, PKS_PURGED
  PKS_DETAIL_BAD_CONTROL_FILE = 100,  ///< the control file is missing or damaged: repair the store
  PKS_DETAIL_SEGMENT_GONE = 101,
} pks_detail;

/// An error: the object it concerns, the fault, and values to branch on. Plain data, copied freely; `text` is static.
///
/// To display it, write "OBJECT: TEXT", with `file` as the object unless it is empty. `text` is phrased to follow a name.
typedef struct pks_error {
  pks_status status;
  int32_t system_error;  ///< errno of the failed system call, or 0
  uint64_t offset;       ///< byte offset within `file`, or PKS_NO_OFFSET
  /// PKS_NO_SPACE: bytes; PKS_BUSY: process id of the lock's holder, 0 if unknown; PKS_TOO_MANY_ROWS: rows counted so far
  uint64_t needed;
  uint64_t limit;                 ///< PKS_TOO_MANY_ROWS: the number of rows allowed
  const char *PKS_NULLABLE text;  ///< the fault, in English, static; NULL only before a call has filled it in
  pks_subject subject;            ///< what `file` names
  pks_detail detail;              ///< the case of `status`
  /// After a failed read: the offset in `file` of the asset's path, which extends to the end; 0: `file` is a single name.
  uint32_t asset_offset;
  /// The name of the subject, NUL-terminated UTF-8 or raw bytes; may be empty. After a failed read: the store's file that `offset`
  /// refers to, then ", asset " and the asset's path.
  char file[972];
} pks_error;

/// The version of this library: of the headers, and of the linked library.
#define PKS_LIBRARY_VERSION "0.2.0"
const char *pks_library_version(void);

/// The version of the linked libzstd, such as "1.5.7". Compressed bytes are reproducible only with the same version. Static.
const char *pks_zstd_version(void);

/// The format of stores that this library writes: the version in the low half, features in the high half. All later library
/// versions read stores of this format version.
uint32_t pks_format(void);
/// The format of files on sites and in archives other than segments: version 0 in the low half, the draft in the high half. This
/// format is not settled yet: only files of the same draft are read.
uint32_t pks_draft_format(void);

/// A short English name of the status, such as "corrupt". Static.
const char *pks_status_name(pks_status status);

/// Describes an error code without an error object, for programs that store or receive codes: the fault as a short English
/// sentence part, as `pks_error.text` has it, such as "the version is not kept". `detail` may be PKS_DETAIL_NONE. For a detail of a
/// later version the status alone is described; for a status of a later version the result is "unknown error". The words may change
/// with any version. Static. Any thread.
const char *pks_error_describe(pks_status status, pks_detail detail);

/// A stable word for the kind of object, such as "cache_folder"; "none" for PKS_SUBJECT_NONE, "unknown" for a value of a later
/// version. Static.
const char *pks_subject_name(pks_subject subject);

/// A stable word for the detail, such as "no_pack"; "none" for PKS_DETAIL_NONE, "unknown" for a value of a later version. Static.
const char *pks_detail_name(pks_detail detail);

/// Borrowed bytes.
typedef struct pks_bytes {
  const void *PKS_NULLABLE bytes;  ///< NULL only before a call has filled it in
  size_t count;
} pks_bytes;

PKS_ASSUME_NONNULL_END

#ifdef __cplusplus
}
#endif

#endif
