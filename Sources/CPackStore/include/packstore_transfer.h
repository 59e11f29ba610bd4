/// Versions of packs on their way: what a site serves, deliveries, deltas.
#ifndef PACKSTORE_TRANSFER_H
#define PACKSTORE_TRANSFER_H

#include "packstore_write.h"

#ifdef __cplusplus
extern "C" {
#endif

PKS_ASSUME_NONNULL_BEGIN

// MARK: - Publishing

/// Tells the segments that a kept version needs, each once: those with its chunks and pages, and last the one that holds
/// the root page of its layout. `pack` may be a removed one. False cancels. O(segments). Errors: NOT_FOUND (no such pack
/// or version), CANCELLED, PURGED, CORRUPT, IO_ERROR, OUT_OF_MEMORY.
PKS_MUST_CHECK pks_status pks_snapshot_visit_segments(
  const pks_snapshot *snapshot, uint32_t pack, uint64_t version,
  bool (*visit)(void *PKS_NULLABLE context, const uint8_t id[PKS_NONNULL 16], bool is_metadata, uint64_t file_length),
  void *PKS_NULLABLE context, pks_error *PKS_NULLABLE error
);

/// Hands the frame table of a segment of the store to `write`, piece by piece: what a client must know to fetch frames
/// of it. All of the segment is read and checked. False cancels. Needs `pks_options.sha256`. Errors: INVALID_ARGUMENT (no
/// SHA-256, or more frames than a table may have), PURGED (no such segment), CANCELLED, CORRUPT, IO_ERROR, OUT_OF_MEMORY.
PKS_MUST_CHECK pks_status pks_snapshot_frame_table(
  const pks_snapshot *snapshot, const uint8_t segment[PKS_NONNULL 16],
  bool (*write)(void *PKS_NULLABLE context, const void *bytes, size_t byte_count), void *PKS_NULLABLE context,
  pks_error *PKS_NULLABLE error
);

/// Hands the table of a data segment to `write`, piece by piece: the bytes of its file from the table on, as `tables/` has them.
/// A copy of a site's store needs no more of the segment to be published to. False cancels. Errors: PURGED (no such segment),
/// INVALID_ARGUMENT (a segment with pages), CANCELLED, CORRUPT, IO_ERROR, OUT_OF_MEMORY.
PKS_MUST_CHECK pks_status pks_snapshot_segment_table(
  const pks_snapshot *snapshot, const uint8_t segment[PKS_NONNULL 16],
  bool (*write)(void *PKS_NULLABLE context, const void *bytes, size_t byte_count), void *PKS_NULLABLE context,
  pks_error *PKS_NULLABLE error
);

/// Measures what a device without anything fetches of a kept version, besides its manifest and the frame tables: the
/// stored bytes of frames and of pages, as a `pks_delivery` into an empty store wants them. `pack` may be a removed one.
/// O(chunks). Errors: NOT_FOUND (no such pack or version), PURGED, CORRUPT, IO_ERROR, OUT_OF_MEMORY.
PKS_MUST_CHECK pks_status pks_snapshot_measure_download(
  uint64_t *bytes, const pks_snapshot *snapshot, uint32_t pack, uint64_t version, pks_error *PKS_NULLABLE error
);

/// Makes change lists that lead to one version of a pack. One thread at a time; the snapshot outlives it.
typedef struct pks_change_lister pks_change_lister;

/// Reads kept version `to` of a pack, which may be a removed one. Temporary files lie in the store's `tmp/` until it is closed;
/// where the store is read-only, all is in memory: 50 to 100 bytes for each chunk. O(files and chunks). Errors: NOT_FOUND (no such
/// pack or version), INVALID_ARGUMENT (the version has too many chunks for any list), PURGED, CORRUPT, NO_SPACE, IO_ERROR,
/// OUT_OF_MEMORY.
PKS_MUST_CHECK pks_status pks_change_lister_open(
  pks_change_lister *PKS_NULLABLE *PKS_NONNULL out, const pks_snapshot *snapshot, uint32_t pack, uint64_t to,
  pks_error *PKS_NULLABLE error
);

/// Makes the change list that leads there from kept version `from` of the same pack, and hands it to `write`, in one piece: what
/// catalog and layout of version `to` have that version `from` has not, in place of their pages. It is a function of the
/// catalog of `from`, of catalog, layout and attributes of `to`, and of libzstd's version. False cancels. The lister is as it was
/// after an error, too. O(files and chunks of both). Errors: NOT_FOUND (no such version), INVALID_ARGUMENT (it would have more
/// than 4 MiB: the versions have little in common), CANCELLED, PURGED, CORRUPT, NO_SPACE, IO_ERROR, OUT_OF_MEMORY.
PKS_MUST_CHECK pks_status pks_change_lister_list(
  pks_change_lister *lister, uint64_t from,
  bool (*write)(void *PKS_NULLABLE context, const void *bytes, size_t byte_count), void *PKS_NULLABLE context,
  pks_error *PKS_NULLABLE error
);

/// Frees it. NULL is fine.
void pks_change_lister_close(pks_change_lister *PKS_NULLABLE lister);

// MARK: - Versions of other stores

/// A segment of a site, as a signed manifest names it.
typedef struct pks_site_segment {
  uint8_t id[16];
  uint64_t file_length;  ///< bytes of the segment file
  bool is_metadata;
  uint8_t table_digest[32];  ///< SHA-256 of its frame table
  uint32_t table_length;     ///< bytes of its frame table
} pks_site_segment;

/// A version of another store that is to be received. From a manifest whose signature was checked. Zero-initialise, then
/// set `pack`, `version`, `catalog`, `layout` and the segments.
typedef struct pks_delivery_request {
  const char *PKS_NULLABLE pack;
  uint64_t version;
  uint8_t catalog[32], layout[32];
  uint8_t attributes[32];   ///< zeros: it has none
  int64_t committed_at_ns;  ///< nanoseconds since 1970
  bool set_priority;
  int32_t priority;  ///< with `set_priority`, for a pack that the store does not have yet
  /// What the version says of its placement, as in `pks_add_request`.
  pks_placement placement;
  pks_provenance provenance;
  /// Wants no frames of data: of the version there is what it is made of, and reading its assets is CORRUPT. For looking at
  /// versions of a site, in a store that is made for that and thrown away
  bool without_frames;
  /// Rows (chunks of files and extents of the layout) that are allowed beyond 64 for each KiB of the version's distinct pages;
  /// 0: PKS_ROWS_MAX. Few pages can describe billions of rows, and each row costs time and memory here
  uint64_t max_rows;
  void *PKS_NULLABLE context;  ///< for `goes_on`
  /// May be NULL. Called on the caller's thread in `pks_delivery_next`, `pks_delivery_stage` and `pks_delivery_use_changes`, at
  /// least every 65,536 rows that are walked; false cancels
  bool (*PKS_NULLABLE goes_on)(void *PKS_NULLABLE context);
  /// Copied; metadata segments as `pks_snapshot_visit_segments` has them, newest last
  const pks_site_segment *PKS_NULLABLE segments;
  uint32_t segment_count;
} pks_delivery_request;

typedef struct pks_delivery pks_delivery;

/// Begins a delivery into `txn`, or goes on with one that was interrupted: what is kept of it in the store's `incoming/`
/// counts as delivered. Relative to what the transaction sees now. A kept version that is not current becomes so again,
/// without being held; nothing is wanted for it. `*needed` false: the transaction shows this very version as the pack's
/// current one, and `*out` is NULL. A delivery belongs to one thread at a time, the one of its transaction. It ends
/// before its transaction does, unless it was staged. If the pack is taken over from another origin and has this very
/// content, that is staged at once, and `*needed` is false. Errors: INVALID_ARGUMENT, OTHER_ORIGIN, DOWNGRADE, STALE,
/// HELD, EXISTS (the number is that of other content), BUSY (another process is at the same version: wait, and begin a
/// new transaction), IO_ERROR, NO_SPACE, OUT_OF_MEMORY, CORRUPT.
PKS_MUST_CHECK pks_status pks_delivery_open(
  pks_delivery *PKS_NULLABLE *PKS_NONNULL out, bool *needed, pks_txn *txn, const pks_delivery_request *request,
  pks_error *PKS_NULLABLE error
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

/// A change list of the site that leads to the version, as its signed manifest names it.
typedef struct pks_delivery_changes {
  uint8_t digest[32];  ///< SHA-256 of the list
  uint32_t length;     ///< bytes, at most 4 MiB
} pks_delivery_changes;

/// Lets the version's metadata come by a change list, in place of pages, before anything is fetched: the version with which the
/// list begins is kept. With `*is_wanted` the first want is all of the list: `segment` is 0 and means nothing, nor does what
/// comes after it. Otherwise an interrupted delivery left it here. A list that does not lead to the version is ignored, and
/// pages are wanted. To be called once at most, before `pks_delivery_next`, and for a version that is not kept. Errors:
/// INVALID_ARGUMENT, which is not final; IO_ERROR, NO_SPACE, OUT_OF_MEMORY.
PKS_MUST_CHECK pks_status pks_delivery_use_changes(
  pks_delivery *delivery, const pks_delivery_changes *changes, bool *is_wanted, pks_error *PKS_NULLABLE error
);

/// The next bytes to fetch. Any number may be outstanding; they are given in the order in which they were handed out. As
/// long as wants go on with one segment, their offsets rise and they do not overlap. Takes long now and then: the catalog
/// is walked. Errors are final: CORRUPT (what was authenticated makes no sense, and the publisher must mend it), TOO_MANY_ROWS,
/// CANCELLED, NO_SPACE (`needed` bytes for all that is still to come), IO_ERROR, OUT_OF_MEMORY.
PKS_MUST_CHECK pks_status
pks_delivery_next(pks_delivery *delivery, pks_want *want, pks_next *next, pks_error *PKS_NULLABLE error);

/// Gives the bytes of the oldest outstanding want. They are checked by SHA-256 before they are decoded, and each chunk
/// after. What was given is kept across a crash of the process, but for some chunks of frames that are only needed in
/// part:
/// up to a frame's worth of them is gathered before it is written.
///
/// CORRUPT with `*is_final` false: these are not the bytes that the signed manifest leads to; the want stays outstanding,
/// and others may be given. Any other error is final: the delivery is good for nothing but `pks_delivery_close`. CORRUPT
/// then means that what was authenticated makes no sense. After NO_SPACE, IO_ERROR, OUT_OF_MEMORY another one goes on
/// where this one ended. INVALID_ARGUMENT, which is not final: nothing is outstanding, or `byte_count` is not what was
/// wanted.
PKS_MUST_CHECK pks_status pks_delivery_give(
  pks_delivery *delivery, const void *PKS_NULLABLE bytes, size_t byte_count, bool *is_final,
  pks_error *PKS_NULLABLE error
);

typedef struct pks_delivery_totals {
  bool is_planned;  ///< all metadata is there: the totals are known
  uint64_t
    bytes_total;        ///< stored bytes of frames, as the site has them; of resumed ones, as they are here; of a delta
  uint64_t bytes_done;  ///< of them, those that are here
  uint64_t bytes_resumed;              ///< of those, what an earlier attempt had left
  uint64_t metadata_bytes;             ///< tables, pages and change lists that were given so far
  uint64_t chunks_total, chunks_done;  ///< that the base does not have; 0 for a delta
  uint64_t raw_bytes;                  ///< of those chunks
} pks_delivery_totals;
pks_delivery_totals pks_delivery_measure(const pks_delivery *delivery);

/// A delta that the site has beside a version, as its signed root names it.
typedef struct pks_delivery_delta {
  uint8_t header_digest[32];  ///< SHA-256 of its header
  uint32_t header_length;     ///< bytes
  uint64_t length;            ///< bytes of the whole file, below 2^56
} pks_delivery_delta;

/// The deltas that a version is to come by. Zero-initialise the rest.
typedef struct pks_delivery_chain {
  const pks_delivery_delta *deltas;  ///< in the order in which they are applied
  uint32_t delta_count;              ///< 1 to PKS_DELTA_CHAIN_MAX
  void *PKS_NULLABLE context;
  /// While they are applied; as in `pks_add_request`
  bool (*PKS_NULLABLE progress)(void *PKS_NULLABLE context, const pks_progress *progress);
} pks_delivery_chain;

/// Lets the version come by deltas from here on, instead of frame by frame: by one, or by a chain of them as in
/// `pks_apply_request`. What was handed out and not given is forgotten, what was given is kept. From then on all wants are of the
/// deltas' files: `segment` is the place of a delta in the chain. What is here of them from an interrupted delivery is not
/// wanted. Staging applies them; if it, or this, says CORRUPT, NEWER_FORMAT, PURGED, NOT_FOUND or NO_SPACE, another delivery may
/// still bring the version frame by frame. To be called once at most, before `pks_delivery_stage`, and not for a kept version,
/// which takes no bytes at all. Errors: INVALID_ARGUMENT, which is not final; IO_ERROR, NO_SPACE, OUT_OF_MEMORY, CORRUPT.
PKS_MUST_CHECK pks_status
pks_delivery_use_deltas(pks_delivery *delivery, const pks_delivery_chain *chain, pks_error *PKS_NULLABLE error);

/// Stages the version, when all was given: what the store had and what came. Nothing is encoded again, but for what a
/// delta brought. `result` may be NULL. Whatever it returns, the delivery is then good for nothing but
/// `pks_delivery_close`; what came is kept until that discards it. Errors: INVALID_ARGUMENT (something is still wanted),
/// CONFLICT (the transaction changed the pack since), CORRUPT (the version makes no sense), CANCELLED, NO_SPACE, IO_ERROR,
/// OUT_OF_MEMORY; of a delta also those of `pks_txn_apply_delta`.
PKS_MUST_CHECK pks_status
pks_delivery_stage(pks_add_result *PKS_NULLABLE result, pks_delivery *delivery, pks_error *PKS_NULLABLE error);

/// Ends it. Before the commit of its transaction, or instead of it, what came is kept for another try: for a week. After
/// the commit call it with `discard`, and nothing is left in `incoming/`. NULL is fine.
void pks_delivery_close(pks_delivery *PKS_NULLABLE delivery, bool discard);

// MARK: - Deltas

/// A delta to read: a file, or anything that can be read like one. Plain data, copied. Zero-initialise, then set `read`.
typedef struct pks_delta_source {
  void *PKS_NULLABLE context;
  /// Reads up to `byte_count` bytes at `offset`; `*got` is smaller only at the end. 0, or an errno. Called on the
  /// caller's thread alone
  int (*PKS_NULLABLE read)(void *PKS_NULLABLE context, uint64_t offset, void *out, size_t byte_count, size_t *got);
  const char *PKS_NULLABLE name;  ///< for messages; NULL: "delta"
} pks_delta_source;

/// What a delta says of itself.
typedef struct pks_delta_info {
  char pack[129];  ///< name of the pack, NUL-terminated
  uint64_t from_version, to_version;
  uint8_t from_catalog[32], to_catalog[32];
  uint8_t to_attributes[32];                                     ///< zeros: it has none
  uint64_t file_count, link_count, folder_count, logical_bytes;  ///< of the version that it leads to
  uint64_t new_bytes;                                            ///< raw bytes of chunks that it brings
  uint32_t header_length;  ///< bytes at its beginning whose SHA-256 names it: what is signed
  uint8_t header_digest[32];
  uint64_t length;  ///< bytes that belong to the delta; what follows is not looked at
} pks_delta_info;

/// Reads and checks the header of a delta. `sha256` as in `pks_options`, but needed. Errors: INVALID_ARGUMENT, CORRUPT
/// (also: no delta), NEWER_FORMAT, IO_ERROR, OUT_OF_MEMORY.
PKS_MUST_CHECK pks_status pks_delta_inspect(
  pks_delta_info *out, const pks_delta_source *source, pks_sha256 *sha256, pks_error *PKS_NULLABLE error
);

/// The most deltas of a chain.
enum { PKS_DELTA_CHAIN_MAX = 8 };

/// A delta of a chain, which leads to the version with which the next one begins.
typedef struct pks_delta_step {
  pks_delta_source delta;
  const uint8_t *PKS_NULLABLE header_digest;  ///< as in `pks_apply_request`
} pks_delta_step;

/// A delta to apply. Zero-initialise, then set `delta`.
typedef struct pks_apply_request {
  pks_delta_source delta;
  const uint8_t *PKS_NULLABLE header_digest;  ///< SHA-256 that the header must have, 32 bytes; NULL: any
  const pks_delta_step *PKS_NULLABLE steps;   ///< deltas that come before it, in order; NULL: none
  uint32_t step_count;                        ///< at most PKS_DELTA_CHAIN_MAX - 1
  pks_provenance provenance;
  bool set_priority;  ///< else a pack that is not current gets 0, and another keeps its own
  int32_t priority;
  int32_t level;  ///< these as in `pks_add_request`, for the new chunks
  pks_layout layout;
  uint32_t frame_size;
  uint32_t shared_frame_size;
  uint64_t max_rows;  ///< as in `pks_delivery_request`, of each version that a delta of the chain leads to
  void *PKS_NULLABLE context;
  bool (*PKS_NULLABLE progress)(void *PKS_NULLABLE context, const pks_progress *progress);  ///< as `level`
} pks_apply_request;

/// Stages the version that a delta leads to as the pack's current version, with its number, its date and its content. The
/// version that the delta begins with must be kept here; of its chunks nothing is stored again, nor read unless the delta
/// refers to it. What comes out has the catalog id that the header names, or nothing is staged: who trusts the header
/// need not trust the rest. Private memory stays below 16 MiB at the default settings on a machine with two processors,
/// whatever the versions hold. Nothing is kept of a try that was interrupted: a delta is applied from its beginning. On
/// an error the transaction stays as it was before the call.
///
/// With `steps` the deltas are a chain: the first begins with a version that is kept, as the transaction found the store, and each
/// goes on where the one before ends. Versions in the middle are not staged: of them nothing is left, and nothing is said
/// about their numbers or attributes. While they are made, what two of them have that the store lacks lies in `tmp/`.
///
/// `result` may be NULL. Errors: INVALID_ARGUMENT, NOT_FOUND
/// (the version that it begins with is not kept; `pks_error.file` names it), OTHER_ORIGIN, DOWNGRADE, EXISTS, HELD,
/// TOO_MANY_ROWS, CANCELLED, NO_SPACE, IO_ERROR, OUT_OF_MEMORY, CORRUPT, NEWER_FORMAT, PURGED.
PKS_MUST_CHECK pks_status pks_txn_apply_delta(
  pks_add_result *PKS_NULLABLE result, pks_txn *txn, const pks_apply_request *request, pks_error *PKS_NULLABLE error
);

enum {
  PKS_DELTA_LEVEL_FAST = 9,
  PKS_DELTA_LEVEL = 18,  ///< smaller than `zstd -19 --patch-from` in a third of its time
  PKS_DELTA_LEVEL_MAX = 22,
};

/// A delta to build. Zero-initialise, then set `pack`, the versions, and `write`.
typedef struct pks_delta_request {
  const char *PKS_NULLABLE pack;  ///< of the snapshot; a removed one, too
  uint64_t from, to;              ///< numbers of kept versions
  int32_t level;                  ///< 1 to 22; 0: PKS_DELTA_LEVEL
  void *PKS_NULLABLE context;     ///< for the callbacks, which are called on the caller's thread
  /// Takes bytes of the file. 0, or an errno. They come in no particular order: the header last
  int (*PKS_NULLABLE write)(void *PKS_NULLABLE context, uint64_t offset, const void *bytes, size_t byte_count);
  /// May be NULL; false cancels
  bool (*PKS_NULLABLE progress)(void *PKS_NULLABLE context, uint64_t bytes_done, uint64_t bytes_total);
} pks_delta_request;

/// Builds the delta between two kept versions of a pack, on all threads. It is a function of the versions' content, the
/// level and libzstd's version alone. Temporary files lie in the store's `tmp/`; from PKS_DELTA_LEVEL on they hold the
/// bytes of `from` too, if it has up to 1 GiB. Where the store is read-only, all that is in memory. Errors: INVALID_ARGUMENT,
/// NOT_FOUND, READ_ONLY, CANCELLED, CORRUPT, PURGED, NO_SPACE, IO_ERROR (also of `write`), OUT_OF_MEMORY.
PKS_MUST_CHECK pks_status pks_delta_build(
  pks_delta_info *out, const pks_snapshot *snapshot, const pks_delta_request *request, pks_error *PKS_NULLABLE error
);

PKS_ASSUME_NONNULL_END

#ifdef __cplusplus
}
#endif

#endif
