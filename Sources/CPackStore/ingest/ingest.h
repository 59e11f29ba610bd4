/// Making a version of a pack: chunk, hash, deduplicate, encode, write; then catalog, layout and index run.
///
/// Two passes. The first (`dedup_pass.h`) goes through the assets in order of paths, looks every chunk up, hands new ones
/// to the frame pipeline, writes the catalog, and keeps for each asset where its chunks are (as references, in scratch
/// memory). The second (`layout_pass.c`), when every frame has its place, turns references into extents, writes the
/// layout and builds the index run.
///
/// The assets come from a folder (`ingest_folder.c`): its files are read and hashed on all threads, and consumed in
/// order. Or they come from the catalog of a version that is known already (`ingest_version.c`): then nothing is read but
/// chunks that the base does not have.
///
/// Map assets. While all chunks of one are found, in order, in an allowed place (`map_search.h`), nothing is stored. Otherwise it
/// is laid out again: skipped chunks are fetched again, and must have the same ids; then every chunk is stored, even known ones. So
/// an unchanged map asset costs nothing, a changed one its size.
///
/// Memory: blocks, frames and encoders are bounded by the thread count; everything in proportion to the folder is in
/// scratch memory. Determinism: consumption is in order, so the result does not depend on threads or on the order in
/// which the system lists folders.
#ifndef PKS_INGEST_H
#define PKS_INGEST_H

#include "catalog/catalog.h"
#include "catalog/entry_list.h"
#include "catalog/row_budget.h"
#include "codec/chunker.h"
#include "index/run_writer.h"
#include "ingest/frame_grouping_kinds.h"
#include "ingest/map_search.h"
#include "ingest/page_writer.h"
#include "ingest/reuse_policy.h"

/// Consecutive chunks in one place.
typedef struct pks__chunk_span {
  uint32_t source;  ///< index in `old_segments`, or PKS__SPAN_NEW
  uint32_t first;   ///< row in that segment, or number of the new chunk
  uint32_t count;
} pks__chunk_span;
#define PKS__SPAN_NEW UINT32_MAX

/// The results of the first pass for an item of the source.
typedef struct pks__ingest_asset {
  uint64_t first_span;
  uint32_t span_count;
  bool changed;  ///< the pack's current version has no such entry
  bool mapped;   ///< a map asset: its single span is raw and in one piece, beginning at a page
  /// unchanged, but with a new record: a map asset with another place or form than in the current version, or an asset whose
  /// current record refers to data that must not be used
  bool relaid;
} pks__ingest_asset;

/// A segment of the store in which known chunks were found.
typedef struct pks__old_segment {
  pks__segment *segment;
  uint32_t run, index;   ///< its record in the base
  uint32_t run_segment;  ///< its number in the run under construction, UINT32_MAX: not needed yet
  bool is_listed;        ///< the run lists its chunks: they are in the base, and no run of the store lists them
  uint32_t first_chunk;  ///< then: the number of the first
} pks__old_segment;

/// A chunk whose bytes are needed.
typedef struct pks__chunk_want {
  const pks__id *id;
  uint32_t length;
  const char *path;  ///< path of the asset, not NUL-terminated
  size_t path_length;
  uint64_t offset;  ///< in the asset
  const pks__item *item;
  bool may_be_purged;  ///< its absence is not damage
} pks__chunk_want;

/// Writes the bytes of a chunk to `out`. They have the id that is wanted, or it is an error.
typedef struct pks__chunk_fetch {
  void *context;
  pks_status (*fetch)(void *context, const pks__chunk_want *want, uint8_t *out, pks_error *error);
} pks__chunk_fetch;

/// Reads the wanted chunk from a snapshot, by way of `bytes`. `*found` is false when the snapshot has none of that id and
/// length. The bytes have the sum that they are stored with; their id is for the caller to check where it matters.
pks_status pks__chunk_want_read(
  const pks__chunk_want *want, pks_snapshot *snapshot, pks__scratch *bytes, uint8_t *out, bool *found, pks_error *error
);
/// Fails with CORRUPT, or PURGED: the wanted chunk is nowhere.
pks_status pks__chunk_want_fail(const pks__chunk_want *want, pks_error *error);

/// Fetches chunks from anywhere in a snapshot, checked by SHA-256: chunks that must not be referred to are stored again.
typedef struct pks__own_chunks {
  pks_snapshot *snapshot;
  pks_sha256 *sha256;
  pks__scratch bytes;
} pks__own_chunks;
void pks__own_chunks_init(pks__own_chunks *own, pks_snapshot *snapshot, pks__scratch_folder *home);
pks__chunk_fetch pks__own_chunks_fetch(pks__own_chunks *own);  ///< good as long as `own` is
void pks__own_chunks_free(pks__own_chunks *own);

typedef struct pks__ingest {
  pks__staging *staging;
  pks_snapshot *base;
  uint32_t base_pack;  ///< the pack's index in `base`, or UINT32_MAX
  pks__reuse_policy reuse_policy;
  bool stores_purgeable;  ///< new frames go to the cache folder
  pks_add_request request;
  pks__chunker chunker;
  pks__entry_list listing;
  uint64_t files_expected, bytes_expected;  ///< for progress, and for the length of segments
  uint32_t thread_count;
  bool saves_memory;  ///< of `frames`: set it before the parts are opened
  pks__pool *pool;
  pks__page_writer pages;
  pks__frame_grouping_kinds forms;
  pks__frame_pipeline frames;
  pks__scratch assets;            ///< pks__ingest_asset by item
  pks__scratch spans;             ///< pks__chunk_span
  pks__scratch old_segments;      ///< pks__old_segment
  pks__hash_map old_segment_map;  ///< address -> index
  pks__scratch new_ids;           ///< pks__id by number of the new chunk
  pks__hash_map new_chunks;       ///< id prefix -> number
  pks__scratch removed;           ///< paths the current version has and the source has not: le16 length, bytes
  pks__catalog_info info;
  pks__tree catalog;
  pks__id catalog_id, layout_id;
  pks__scratch attributes;  ///< attributes of the new version; empty: none
  pks__id attributes_id;    ///< their SHA-256; zero: none
  bool is_kept;             ///< the version being laid out is not the current one: the run gets no records
  pks__row_budget rows;     ///< rows of the version; `pages` counts its distinct pages
  /// 0: rows are not limited. Else they are checked against `rows` at the end, and against this many times as much while pages are
  /// still to come, which allow more
  uint32_t row_factor;
  uint64_t bytes_done;
  pks_add_result result;
  pks__run_writer run;
  pks__run_name run_name;
} pks__ingest;

/// Whether there is nothing to commit: the content is the current version's, every asset stays where it is, and no page is lost.
static inline bool pks__ingest_is_idle(const pks__ingest *ingest) {
  return ingest->result.unchanged && ingest->result.relaid_count == 0 && ingest->result.restored_count == 0
    && !ingest->reuse_policy.lacks_pages;
}

void pks__ingest_close(pks__ingest *ingest);  ///< a zeroed one is fine

// MARK: - Chunks that are new

/// Whether the chunk is among the new ones, and which.
bool pks__ingest_find_new(const pks__ingest *ingest, const pks__id *id, uint32_t *number);
/// Makes a chunk known that was written before the first pass: it takes the next number, and is found by its id.
pks_status pks__ingest_add_new(pks__ingest *ingest, const pks__id *id, pks_error *error);

/// Returns the new chunks so far, all of which have their places.
pks__written_chunks pks__ingest_written(pks__ingest *ingest);

/// Sets the attributes of the version, before the first pass ends. INVALID_ARGUMENT for too many bytes.
pks_status pks__ingest_set_attributes(pks__ingest *ingest, const void *bytes, size_t byte_count, pks_error *error);
/// Sets the attributes of the version by their id.
pks_status pks__ingest_load_attributes(
  pks__ingest *ingest, pks__page_source pages, const pks__id *id, pks_error *error
);

/// Counts a row of the version. Every PKS__ROWS_PER_TICK rows, reports the phase, and fails with TOO_MANY_ROWS if rows are more
/// than `row_factor` times as many as the pages so far allow. CANCELLED if the caller cancels.
pks_status pks__ingest_add_row(pks__ingest *ingest, pks_phase phase, pks_error *error);
/// TOO_MANY_ROWS if the version has more rows than all of its pages allow.
pks_status pks__ingest_check_rows(pks__ingest *ingest, pks_error *error);

/// Reports the progress of the ingest. The phases begin and end with a report, even without work. CANCELLED if the caller cancels.
pks_status pks__ingest_report(const pks__ingest *ingest, pks_phase phase, pks_error *error);

// MARK: - For the two first passes

/// The result is to be closed, also after an error.
pks_status pks__ingest_init(
  pks__ingest *out, pks__staging *staging, pks_snapshot *base, const pks_add_request *request, pks_error *error
);
/// Opens the receivers of chunks and pages, once the maximum chunk length and the expected number of bytes are known. `sink`
/// receives the frames; NULL: the staging.
pks_status pks__ingest_open_parts(pks__ingest *ingest, const pks__frame_sink *sink, bool sync, pks_error *error);

#endif
