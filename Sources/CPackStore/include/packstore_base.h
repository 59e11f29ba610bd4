/// What all headers of PackStore have in common: status, errors, versions.
#ifndef PACKSTORE_BASE_H
#define PACKSTORE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// MARK: - Pointers that may be NULL

// PKS_NULLABLE marks each pointer that may be NULL; the comment beside it says what NULL means. All other pointers of these
// headers are never NULL: the core hands out none there, and a caller that hands one in makes a mistake, whether the call
// notices it or not. Four rules are not repeated at each mark:
// - `error` and the contexts of callbacks may be NULL.
// - A pointer to bytes, or to elements, that are counted beside it may be NULL when the count is 0.
// - All pointers of structs that callers zero-initialise have the mark. A request whose required pointer is still NULL is
//   refused with PKS_INVALID_ARGUMENT.
// - The variable behind an output (`*out`) may hold NULL before the call.
//
// Clang checks the marks, and Swift imports optionals by them. To other compilers they are empty.
#if defined(__has_feature)
  #if __has_feature(nullability) && __has_feature(assume_nonnull)
    #define PKS_NULLABLE _Nullable
    #define PKS_NONNULL _Nonnull
    // The marks are an extension of C, about which `-pedantic` would warn.
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
  PKS_FORKED = 113,          ///< this process was forked after the store was opened: open it again
  PKS_IS_SITE = 115,         ///< the store is a site's, which only publications change: `pks_txn_options.publication`
  PKS_HOSTILE_NAMES = 114,   ///< paths of the pack were chosen to make look-ups slow: it was not added
  PKS_TOO_MANY_ROWS = 116,   ///< the pack has more chunks and extents than allowed: `needed` of them, above `limit`

  PKS_OTHER_ORIGIN = 120,  ///< the pack is of another origin than what is to change it: `pks_provenance.adopt`
  PKS_DOWNGRADE = 121,     ///< a lower version than was accepted before: `pks_provenance.downgrade`
  PKS_STALE = 122,         ///< a root that is older than what was accepted before: no alarm, and nothing to do

  PKS_OUT_OF_MEMORY = 200,
  PKS_IO_ERROR = 201,  ///< a system call failed; `system_error` is its errno
  PKS_NO_SPACE = 202,  ///< the disk is full; `needed` is a number of bytes that would have been enough for this step

  PKS_CORRUPT = 300,       ///< bytes on disk are not what was written; `file` and `offset` say where
  PKS_NEWER_FORMAT = 301,  ///< written by a later version of this library
  PKS_OTHER_DRAFT = 304,   ///< written in another draft of the format: nothing is damaged, another version reads it
  PKS_PURGED = 302,        ///< the data was purgeable and is gone
  /// not signed by a trusted key, or too old; the core has no cryptography, and leaves it to its callers to say so
  PKS_UNTRUSTED = 303,
} pks_status;

/// On functions whose status tells whether anything was done at all: dropping it is a warning.
#if defined(__GNUC__)
  #define PKS_MUST_CHECK __attribute__((warn_unused_result))
#else
  #define PKS_MUST_CHECK
#endif

#define PKS_NO_OFFSET UINT64_MAX

/// Rows of a version, each a chunk of a file or an extent of the layout, that are allowed beyond 64 for each KiB of distinct pages.
/// One file of 64 GiB that is a single hole has as many, with chunks of the default size.
enum { PKS_ROWS_MAX = 4 * 1024 * 1024 };

/// What went wrong and where. Plain data, copied freely; `text` is static.
typedef struct pks_error {
  pks_status status;
  int32_t system_error;  ///< errno of the failed system call, or 0
  uint64_t offset;       ///< byte offset within `file`, or PKS_NO_OFFSET
  /// PKS_NO_SPACE: bytes; PKS_BUSY: process id of the holder, 0 if unknown; PKS_TOO_MANY_ROWS: rows counted so far
  uint64_t needed;
  uint64_t limit;                 ///< PKS_TOO_MANY_ROWS: rows that are allowed
  const char *PKS_NULLABLE text;  ///< what went wrong, in English, static; NULL only until a call has filled it in
  /// Of a read that failed: where in `file` the asset's path begins, which goes to its end; 0: `file` is one name.
  uint32_t asset_offset;
  /// The file, folder, asset or pack concerned, NUL-terminated UTF-8 or raw bytes; may be empty. Of a read that failed,
  /// the store's file, in which `offset` is, then ", asset " and the asset's path.
  char file[980];
} pks_error;

/// This library's version, of the headers and of what is linked.
#define PKS_LIBRARY_VERSION "0.2.0"
const char *pks_library_version(void);

/// The version of the libzstd that is linked, such as "1.5.7". What is compressed is the same bytes with the same version
/// alone. Static.
const char *pks_zstd_version(void);

/// The format of stores that this library writes: the version in the low half, features in the high half. Stores of this version
/// are read by all later ones.
uint32_t pks_format(void);
/// The format of what lies on sites and in archives beside segments, which is not settled: version 0 in the low half, the draft
/// in the high half. No other draft is read.
uint32_t pks_draft_format(void);

/// A short English name of the status, such as "corrupt". Static.
const char *pks_status_name(pks_status status);

/// Bytes on loan.
typedef struct pks_bytes {
  const void *PKS_NULLABLE bytes;  ///< NULL only until a call has filled it in
  size_t count;
} pks_bytes;

PKS_ASSUME_NONNULL_END

#ifdef __cplusplus
}
#endif

#endif
