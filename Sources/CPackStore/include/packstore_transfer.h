/// Move pack versions between stores: publishing, deliveries, deltas.
#ifndef PACKSTORE_TRANSFER_H
#define PACKSTORE_TRANSFER_H

#include "packstore_write.h"

#ifdef __cplusplus
extern "C" {
#endif

PKS_ASSUME_NONNULL_BEGIN

// MARK: - Publishing

/// Calls `visit` for each segment that a kept version needs, once: segments with its chunks and pages, and last the segment with
/// the root page of its layout. `pack` may be a removed pack. False cancels. O(segments). Errors: NOT_FOUND (no such pack or
/// version), CANCELLED, PURGED, CORRUPT, IO_ERROR, OUT_OF_MEMORY.
PKS_MUST_CHECK pks_status pks_snapshot_visit_segments(
  const pks_snapshot *snapshot, uint32_t pack, uint64_t version,
  bool (*visit)(void *PKS_NULLABLE context, const uint8_t id[PKS_NONNULL 16], bool is_metadata, uint64_t file_length),
  void *PKS_NULLABLE context, pks_error *PKS_NULLABLE error
);

/// Passes the frame table of a segment of the store to `write`, piece by piece. Clients need the table to fetch frames of the
/// segment. Reads and checks the whole segment. False cancels. Requires `pks_options.sha256`. Errors: INVALID_ARGUMENT (no SHA-256,
/// or more frames than a table may have), PURGED (the segment is missing), CANCELLED, CORRUPT, IO_ERROR, OUT_OF_MEMORY.
PKS_MUST_CHECK pks_status pks_snapshot_frame_table(
  const pks_snapshot *snapshot, const uint8_t segment[PKS_NONNULL 16],
  bool (*write)(void *PKS_NULLABLE context, const void *bytes, size_t byte_count), void *PKS_NULLABLE context,
  pks_error *PKS_NULLABLE error
);

/// Passes the table of a data segment to `write`, piece by piece: the bytes of its file from the table on, in the format of
/// `tables/`. With the table alone, a copy of a site's store can be published to. False cancels. Errors: PURGED (the segment is
/// missing), INVALID_ARGUMENT (a segment with pages), CANCELLED, CORRUPT, IO_ERROR, OUT_OF_MEMORY.
PKS_MUST_CHECK pks_status pks_snapshot_segment_table(
  const pks_snapshot *snapshot, const uint8_t segment[PKS_NONNULL 16],
  bool (*write)(void *PKS_NULLABLE context, const void *bytes, size_t byte_count), void *PKS_NULLABLE context,
  pks_error *PKS_NULLABLE error
);

/// Computes the download size of a kept version for an empty store: the stored bytes of its frames and pages, without its manifest
/// and the frame tables. `pack` may be a removed pack. O(chunks). Errors: NOT_FOUND (no such pack or version), PURGED, CORRUPT,
/// IO_ERROR, OUT_OF_MEMORY.
PKS_MUST_CHECK pks_status pks_snapshot_measure_download(
  uint64_t *bytes, const pks_snapshot *snapshot, uint32_t pack, uint64_t version, pks_error *PKS_NULLABLE error
);

/// Measures the frames that a device with the version `from` of a pack fetches by ranges for the version `to`: their stored bytes,
/// with the dictionaries that they need, as a `pks_delivery` requests them. The manifest, frame tables and pages are not included.
/// Both versions are kept; `pack` may be a removed one. O(chunks). Errors: NOT_FOUND (no such pack or version), PURGED, CORRUPT,
/// IO_ERROR, OUT_OF_MEMORY.
/// The result is an upper limit: frames that the device fetched for the old version may contain chunks of the new one.
PKS_MUST_CHECK pks_status pks_snapshot_measure_update(
  uint64_t *bytes, const pks_snapshot *snapshot, uint32_t pack, uint64_t from, uint64_t to,
  pks_error *PKS_NULLABLE error
);

/// Measures the frames for versions as a commit of the transaction would keep them. The errors are those listed above.
PKS_MUST_CHECK pks_status pks_txn_measure_update(
  uint64_t *bytes, const pks_txn *txn, const char *pack, uint64_t from, uint64_t to, pks_error *PKS_NULLABLE error
);

/// Builds change lists to one version of a pack. One thread at a time; close it before its snapshot.
typedef struct pks_change_lister pks_change_lister;

/// Reads the kept version `to` of a pack, which may be a removed pack. Temporary files are kept in the store's `tmp/` until the
/// lister is closed; for a read-only store they are in memory, 50 to 100 bytes for each chunk. O(files and chunks). Errors:
/// NOT_FOUND (no such pack or version), INVALID_ARGUMENT (the version has too many chunks for any list), PURGED, CORRUPT, NO_SPACE,
/// IO_ERROR, OUT_OF_MEMORY.
PKS_MUST_CHECK pks_status pks_change_lister_open(
  pks_change_lister *PKS_NULLABLE *PKS_NONNULL out, const pks_snapshot *snapshot, uint32_t pack, uint64_t to,
  pks_error *PKS_NULLABLE error
);

/// Builds the change list from the kept version `from` of the same pack, and passes it to `write` in one piece. The list contains
/// the parts of catalog and layout of version `to` that version `from` lacks; clients fetch it instead of the pages. It depends
/// only on the catalog of `from`, the catalog, layout and attributes of `to`, and libzstd's version. False cancels. After an error
/// the lister can be used again. O(files and chunks of both). Errors: NOT_FOUND (no such version), INVALID_ARGUMENT (the list would
/// exceed 4 MiB: the versions have little in common), CANCELLED, PURGED, CORRUPT, NO_SPACE, IO_ERROR, OUT_OF_MEMORY.
PKS_MUST_CHECK pks_status pks_change_lister_list(
  pks_change_lister *lister, uint64_t from,
  bool (*write)(void *PKS_NULLABLE context, const void *bytes, size_t byte_count), void *PKS_NULLABLE context,
  pks_error *PKS_NULLABLE error
);

/// Frees the lister. `lister` may be NULL.
void pks_change_lister_close(pks_change_lister *PKS_NULLABLE lister);

// MARK: - Versions of other stores

/// A segment of a site, as described in a signed manifest.
typedef struct pks_site_segment {
  uint8_t id[16];
  uint64_t file_length;  ///< bytes of the segment file
  bool is_metadata;
  uint8_t table_digest[32];  ///< SHA-256 of its frame table
  uint32_t table_length;     ///< bytes of its frame table
} pks_site_segment;

/// A version of another store to receive. Fill it from a manifest whose signature was verified. Zero-initialise, then set `pack`,
/// `version`, `catalog`, `layout` and the segments.
typedef struct pks_delivery_request {
  const char *PKS_NULLABLE pack;
  uint64_t version;
  uint8_t catalog[32], layout[32];
  uint8_t attributes[32];   ///< zeros: no attributes
  int64_t committed_at_ns;  ///< nanoseconds since 1970
  bool set_priority;
  int32_t priority;  ///< with `set_priority`, for a pack that the store does not have yet
  /// The placement that the version requests, as in `pks_add_request`.
  pks_placement placement;
  pks_provenance provenance;
  /// Receive metadata only, no frames of data; reading an asset is CORRUPT then. For inspecting versions of a site in a temporary
  /// store
  bool without_frames;
  /// Maximum number of rows (chunks of files and extents of the layout) in addition to 64 for each KiB of the version's distinct
  /// pages; 0: PKS_ROWS_MAX. A few pages can describe billions of rows, and each row costs time and memory
  uint64_t max_rows;
  void *PKS_NULLABLE context;  ///< for `goes_on`
  /// May be NULL. Called on the caller's thread in `pks_delivery_next`, `pks_delivery_stage` and `pks_delivery_use_changes`, at
  /// least once per 65,536 rows; false cancels
  bool (*PKS_NULLABLE goes_on)(void *PKS_NULLABLE context);
  /// Copied. Metadata segments in the order of `pks_snapshot_visit_segments`, the newest last
  const pks_site_segment *PKS_NULLABLE segments;
  uint32_t segment_count;
} pks_delivery_request;

typedef struct pks_delivery pks_delivery;

/// Begins a delivery into `txn`, or resumes an interrupted one: data kept from it in the store's `incoming/` counts as delivered.
/// The delivery is relative to the transaction's current view. If the version is kept but not current, it becomes current again
/// without being held, and no bytes are requested. Sets `*needed` to false and `*out` to NULL if the version is already the pack's
/// current one in the transaction. If the pack belongs to another origin that may be taken over, and has the same content, the
/// adoption is staged at once, and `*needed` is false as well.
///
/// A delivery belongs to the thread of its transaction. It must end before its transaction does, unless it was staged.
///
/// Errors: INVALID_ARGUMENT, OTHER_ORIGIN, DOWNGRADE, STALE, HELD, EXISTS (the number has other content), BUSY (another process is
/// receiving the same version: wait, and begin a new transaction), IO_ERROR, NO_SPACE, OUT_OF_MEMORY, CORRUPT.
PKS_MUST_CHECK pks_status pks_delivery_open(
  pks_delivery *PKS_NULLABLE *PKS_NONNULL out, bool *needed, pks_txn *txn, const pks_delivery_request *request,
  pks_error *PKS_NULLABLE error
);

/// Returns the folder of the received data, relative to the store's folder: `incoming/` and 16 digits. NULL if the delivery needs
/// no bytes. Valid until the delivery is closed.
const char *PKS_NULLABLE pks_delivery_folder(const pks_delivery *delivery);

/// Adopts a data segment of another store. The caller has put a hard link to its file into the delivery's folder, under the
/// segment's id in 32 hexadecimal digits, lower case. The file must not change afterwards, as no segment does. Chunks of the
/// segment count as delivered, and the commit moves the file to `segments/`. So both stores have one file, and use its space once.
///
/// When the catalog's root has arrived, the whole file is read: the table must have the segment's id, and each chunk its SHA-256.
/// A segment with a fault is not adopted, and its link is deleted. The same happens if an interrupted delivery left a segment
/// incomplete. Call this before `pks_delivery_next` and `pks_delivery_use_changes`, once for each segment. Errors:
/// INVALID_ARGUMENT, OUT_OF_MEMORY, IO_ERROR, NO_SPACE.
PKS_MUST_CHECK pks_status
pks_delivery_use_segment(pks_delivery *delivery, const uint8_t id[PKS_NONNULL 16], pks_error *PKS_NULLABLE error);

/// A range of bytes to fetch.
typedef struct pks_want {
  uint32_t segment;  ///< index in the request's segments
  bool is_table;     ///< the segment's whole frame table; otherwise bytes of the segment file
  uint64_t offset;   ///< in the segment file; 0 for a table
  uint32_t length;
} pks_want;

typedef enum pks_next {
  PKS_NEXT_WANT,
  PKS_NEXT_WAIT,  ///< no further request until outstanding bytes are given
  PKS_NEXT_DONE,  ///< everything was given: stage the delivery
} pks_next;

/// A change list of the site to the version, as described in its signed manifest.
typedef struct pks_delivery_changes {
  uint8_t digest[32];  ///< SHA-256 of the list
  uint32_t length;     ///< bytes, at most 4 MiB
} pks_delivery_changes;

/// Uses a change list instead of pages for the version's metadata. The version that the list begins with must be kept. If
/// `*is_wanted` is true, the first request of `pks_delivery_next` is the whole list, with `segment` 0, which has no meaning there;
/// otherwise an interrupted delivery has already stored it. A list that does not lead to the version is ignored, and pages are
/// requested. Call this at most once, before `pks_delivery_next`, for a version that is not kept. Errors: INVALID_ARGUMENT (not
/// final), IO_ERROR, NO_SPACE, OUT_OF_MEMORY.
PKS_MUST_CHECK pks_status pks_delivery_use_changes(
  pks_delivery *delivery, const pks_delivery_changes *changes, bool *is_wanted, pks_error *PKS_NULLABLE error
);

/// Returns the next bytes to fetch. Any number of requests may be outstanding; their bytes are given in the order of the requests.
/// Consecutive requests for one segment have rising offsets and do not overlap. A call may take long while it walks the catalog.
/// All errors are final: CORRUPT (authenticated data is invalid; only the publisher can correct it), TOO_MANY_ROWS, CANCELLED,
/// NO_SPACE (`needed` bytes for the rest of the delivery), IO_ERROR, OUT_OF_MEMORY.
PKS_MUST_CHECK pks_status
pks_delivery_next(pks_delivery *delivery, pks_want *want, pks_next *next, pks_error *PKS_NULLABLE error);

/// Gives the bytes of the oldest outstanding request. They are checked by SHA-256 before they are decoded, and each chunk is
/// checked again afterwards. Given bytes survive a crash of the process, except some chunks of partly needed frames: up to one
/// frame's worth is collected before it is written.
///
/// CORRUPT with `*is_final` false: the bytes do not match the signed manifest; the request stays outstanding, so that other bytes
/// can be given. INVALID_ARGUMENT is not final either: nothing is outstanding, or `byte_count` differs from the requested length.
/// Any other error is final: close the delivery. A final CORRUPT means that authenticated data is invalid. After NO_SPACE, IO_ERROR
/// or OUT_OF_MEMORY, a new delivery continues where this one ended.
PKS_MUST_CHECK pks_status pks_delivery_give(
  pks_delivery *delivery, const void *PKS_NULLABLE bytes, size_t byte_count, bool *is_final,
  pks_error *PKS_NULLABLE error
);

typedef struct pks_delivery_totals {
  bool is_planned;          ///< all metadata was received: the totals are known
  uint64_t bytes_total;     ///< stored bytes of frames, in the site's encoding, or as resumed here; or bytes of a delta
  uint64_t bytes_done;      ///< of these, bytes already present
  uint64_t bytes_resumed;   ///< of those, bytes from an earlier attempt
  uint64_t metadata_bytes;  ///< tables, pages and change lists given so far
  uint64_t chunks_total, chunks_done;  ///< chunks that the store lacks; 0 for a delta
  uint64_t raw_bytes;                  ///< raw bytes of those chunks
} pks_delivery_totals;
pks_delivery_totals pks_delivery_measure(const pks_delivery *delivery);

/// A delta on the site to the version, as described in its signed root.
typedef struct pks_delivery_delta {
  uint8_t header_digest[32];  ///< SHA-256 of its header
  uint32_t header_length;     ///< bytes
  uint64_t length;            ///< bytes of the whole file, below 2^56
} pks_delivery_delta;

/// The deltas to use for a version. Zero-initialise, then set `deltas` and `delta_count`.
typedef struct pks_delivery_chain {
  const pks_delivery_delta *deltas;  ///< in the order in which they are applied
  uint32_t delta_count;              ///< 1 to PKS_DELTA_CHAIN_MAX
  void *PKS_NULLABLE context;
  /// As in `pks_add_request`, while the deltas are applied
  bool (*PKS_NULLABLE progress)(void *PKS_NULLABLE context, const pks_progress *progress);
} pks_delivery_chain;

/// Switches the delivery from frames to one delta, or to a chain as in `pks_apply_request`. Outstanding requests are cancelled;
/// given bytes are kept. From then on, all requests are for the deltas' files, and `segment` is the index of a delta in the chain.
/// Bytes of the deltas from an interrupted delivery are not requested again. Staging applies the deltas. If staging or this call
/// returns CORRUPT, NEWER_FORMAT, PURGED, NOT_FOUND or NO_SPACE, a new delivery can still fetch the version frame by frame.
///
/// Call this at most once, before `pks_delivery_stage`, and not for a kept version, which needs no bytes. Errors: INVALID_ARGUMENT
/// (not final), IO_ERROR, NO_SPACE, OUT_OF_MEMORY, CORRUPT.
PKS_MUST_CHECK pks_status
pks_delivery_use_deltas(pks_delivery *delivery, const pks_delivery_chain *chain, pks_error *PKS_NULLABLE error);

/// Stages the version after everything was given, from the store's own data and the received data. Nothing is compressed again,
/// except the new chunks of a delta. `result` may be NULL. Afterwards only `pks_delivery_close` may be called; received data is
/// kept until that call discards it. Errors: INVALID_ARGUMENT (bytes are still requested), CONFLICT (the transaction has changed
/// the pack since), CORRUPT (the version is invalid), CANCELLED, NO_SPACE, IO_ERROR, OUT_OF_MEMORY; for a delta also the errors of
/// `pks_txn_apply_delta`.
PKS_MUST_CHECK pks_status
pks_delivery_stage(pks_add_result *PKS_NULLABLE result, pks_delivery *delivery, pks_error *PKS_NULLABLE error);

/// Ends the delivery. Without `discard`, received data is kept for another attempt, for a week. After the transaction's commit,
/// pass `discard` to delete it from `incoming/`. `delivery` may be NULL.
void pks_delivery_close(pks_delivery *PKS_NULLABLE delivery, bool discard);

// MARK: - Deltas

/// A delta to read: a file, or any source with random access. Plain data, copied. Zero-initialise, then set `read`.
typedef struct pks_delta_source {
  void *PKS_NULLABLE context;
  /// Reads up to `byte_count` bytes at `offset`; `*got` is smaller only at the end. Returns 0 or an errno. Called only on the
  /// caller's thread
  int (*PKS_NULLABLE read)(void *PKS_NULLABLE context, uint64_t offset, void *out, size_t byte_count, size_t *got);
  const char *PKS_NULLABLE name;  ///< for messages; NULL: "delta"
} pks_delta_source;

/// The contents of a delta's header.
typedef struct pks_delta_info {
  char pack[129];  ///< name of the pack, NUL-terminated
  uint64_t from_version, to_version;
  uint8_t from_catalog[32], to_catalog[32];
  uint8_t to_attributes[32];                                     ///< zeros: no attributes
  uint64_t file_count, link_count, folder_count, logical_bytes;  ///< of the new version
  uint64_t new_bytes;                                            ///< raw bytes of the delta's new chunks
  uint32_t header_length;  ///< bytes of the header; its SHA-256 identifies the delta and is signed
  uint8_t header_digest[32];
  uint64_t length;  ///< bytes of the delta; bytes after them are ignored
} pks_delta_info;

/// Reads and checks the header of a delta. `sha256` is as in `pks_options`, but required. Errors: INVALID_ARGUMENT, CORRUPT (also
/// if the source is not a delta), NEWER_FORMAT, IO_ERROR, OUT_OF_MEMORY.
PKS_MUST_CHECK pks_status pks_delta_inspect(
  pks_delta_info *out, const pks_delta_source *source, pks_sha256 *sha256, pks_error *PKS_NULLABLE error
);

/// The maximum number of deltas in a chain.
enum { PKS_DELTA_CHAIN_MAX = 8 };

/// A delta of a chain; the next one begins with the version it leads to.
typedef struct pks_delta_step {
  pks_delta_source delta;
  const uint8_t *PKS_NULLABLE header_digest;  ///< as in `pks_apply_request`
} pks_delta_step;

/// A delta to apply. Zero-initialise, then set `delta`.
typedef struct pks_apply_request {
  pks_delta_source delta;
  const uint8_t *PKS_NULLABLE header_digest;  ///< required SHA-256 of the header, 32 bytes; NULL: any
  const pks_delta_step *PKS_NULLABLE steps;   ///< deltas to apply before it, in order; NULL: none
  uint32_t step_count;                        ///< at most PKS_DELTA_CHAIN_MAX - 1
  pks_provenance provenance;
  bool set_priority;  ///< otherwise a pack that is not current gets 0, and any other pack keeps its priority
  int32_t priority;
  int32_t level;  ///< this and the next three as in `pks_add_request`, for the new chunks
  pks_layout layout;
  uint32_t frame_size;
  uint32_t shared_frame_size;
  uint64_t max_rows;  ///< as in `pks_delivery_request`, for each version that a delta of the chain leads to
  void *PKS_NULLABLE context;
  bool (*PKS_NULLABLE progress)(void *PKS_NULLABLE context, const pks_progress *progress);  ///< as in `pks_add_request`
} pks_apply_request;

/// Stages the version that a delta leads to as the pack's current version, with its number, date and content. The version that the
/// delta begins with must be kept here; its chunks are not stored again, and are read only if the delta refers to them. The result
/// has the catalog id in the delta's header, or nothing is staged: it is sufficient to trust the header. Private memory stays below
/// 16 MiB with the default settings on two processors, for versions of any size. An interrupted call leaves nothing behind: a delta
/// is always applied from its beginning. On an error the transaction stays as it was before the call.
///
/// With `steps` the deltas are a chain: the first begins with a version that was kept when the transaction began, and each next one
/// begins with the version that the previous one leads to. Intermediate versions are not staged, and their numbers and attributes
/// are not checked. Chunks that two of them share and the store lacks are kept in `tmp/` during the call.
///
/// `result` may be NULL. Errors: INVALID_ARGUMENT, NOT_FOUND (the first version is not kept; `pks_error.file` names it),
/// OTHER_ORIGIN, DOWNGRADE, EXISTS, HELD, TOO_MANY_ROWS, CANCELLED, NO_SPACE, IO_ERROR, OUT_OF_MEMORY, CORRUPT, NEWER_FORMAT,
/// PURGED.
PKS_MUST_CHECK pks_status pks_txn_apply_delta(
  pks_add_result *PKS_NULLABLE result, pks_txn *txn, const pks_apply_request *request, pks_error *PKS_NULLABLE error
);

enum {
  PKS_DELTA_LEVEL_FAST = 9,
  PKS_DELTA_LEVEL = 18,  ///< smaller than `zstd -19 --patch-from`, in a third of its time
  PKS_DELTA_LEVEL_MAX = 22,
};

/// A delta to build. Zero-initialise, then set `pack`, the versions, and `write`.
typedef struct pks_delta_request {
  const char *PKS_NULLABLE pack;  ///< a pack of the snapshot, or a removed pack
  uint64_t from, to;              ///< numbers of kept versions
  int32_t level;                  ///< 1 to 22; 0: PKS_DELTA_LEVEL
  void *PKS_NULLABLE context;     ///< for the callbacks, which are called on the caller's thread
  /// Writes bytes of the file at `offset`; returns 0 or an errno. Called in no particular order, with the header last
  int (*PKS_NULLABLE write)(void *PKS_NULLABLE context, uint64_t offset, const void *bytes, size_t byte_count);
  /// May be NULL; false cancels
  bool (*PKS_NULLABLE progress)(void *PKS_NULLABLE context, uint64_t bytes_done, uint64_t bytes_total);
} pks_delta_request;

/// Builds the delta between two kept versions of a pack, on all threads. The result depends only on the versions' content, the
/// level and libzstd's version. Temporary files are in the store's `tmp/`; from PKS_DELTA_LEVEL on they also contain the bytes of
/// `from`, if it has at most 1 GiB. For a read-only store, this data is in memory. Errors: INVALID_ARGUMENT, NOT_FOUND, READ_ONLY,
/// CANCELLED, CORRUPT, PURGED, NO_SPACE, IO_ERROR (also of `write`), OUT_OF_MEMORY.
PKS_MUST_CHECK pks_status pks_delta_build(
  pks_delta_info *out, const pks_snapshot *snapshot, const pks_delta_request *request, pks_error *PKS_NULLABLE error
);

PKS_ASSUME_NONNULL_END

#ifdef __cplusplus
}
#endif

#endif
