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
/// Map assets. While all chunks of one are found, in order, in a place where it may lie (`map_search.h`), nothing is
/// stored. Once that ends it is laid out afresh: what was passed over is fetched again, and must have the ids that it
/// had; then every chunk is stored, known or not. So an unchanged map asset costs nothing, a changed one its size.
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
#include "ingest/kind_forms.h"
#include "ingest/map_search.h"
#include "ingest/page_writer.h"
#include "ingest/reliance.h"

/// A stretch of chunks that lie one after another.
typedef struct pks__chunk_span {
  uint32_t source;  ///< index in `old_segments`, or PKS__SPAN_NEW
  uint32_t first;   ///< row in that segment, or number of the new chunk
  uint32_t count;
} pks__chunk_span;
#define PKS__SPAN_NEW UINT32_MAX

/// What the first pass found out about an item of the source.
typedef struct pks__ingest_asset {
  uint64_t first_span;
  uint32_t span_count;
  bool changed;  ///< the pack's current version has no such entry
  bool mapped;   ///< a map asset: its one span lies raw, in one piece, from a page on
  /// it did not change, and gets a new record: a map asset that lies elsewhere or otherwise than the current version has it, or
  /// one of which the current version has what may not be relied on
  bool relaid;
} pks__ingest_asset;

/// A segment of the store in which known chunks were found.
typedef struct pks__old_segment {
  pks__segment *segment;
  uint32_t run, index;   ///< how the base knows it
  uint32_t run_segment;  ///< its number in the run under construction, UINT32_MAX: not needed yet
  bool is_listed;        ///< the run lists its chunks: it lies in the base, and no run of the store does
  uint32_t first_chunk;  ///< then: the number of the first
} pks__old_segment;

/// A chunk of which the bytes are wanted.
typedef struct pks__chunk_want {
  const pks__id *id;
  uint32_t length;
  const char *path;  ///< of the asset, not NUL-terminated
  size_t path_length;
  uint64_t offset;  ///< in the asset
  const pks__item *item;
  bool may_be_purged;  ///< where it is nowhere, that is no damage
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

/// Fetches chunks from wherever a snapshot has them, checked by SHA-256: those that may not be referred to are stored again.
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
  pks__reliance reliance;
  bool stores_purgeable;  ///< new frames go to the cache folder
  pks_add_request request;
  pks__chunker chunker;
  pks__entry_list listing;
  uint64_t files_expected, bytes_expected;  ///< for progress, and for the length of segments
  uint32_t thread_count;
  bool saves_memory;  ///< of `frames`: set it before the parts are opened
  pks__pool *pool;
  pks__page_writer pages;
  pks__kind_forms forms;
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
  pks__scratch attributes;  ///< of the version that is made; empty: none
  pks__id attributes_id;    ///< their SHA-256; zero: none
  bool is_kept;             ///< what is laid out is a version that is not the current one: the run gets no records
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
    && !ingest->reliance.lacks_pages;
}

void pks__ingest_close(pks__ingest *ingest);  ///< a zeroed one is fine

// MARK: - Chunks that are new

/// Whether the chunk is among the new ones, and which.
bool pks__ingest_find_new(const pks__ingest *ingest, const pks__id *id, uint32_t *number);
/// Makes a chunk known that was written before the first pass: it takes the next number, and is found by its id.
pks_status pks__ingest_add_new(pks__ingest *ingest, const pks__id *id, pks_error *error);

/// The new chunks so far, all of which are in their places.
pks__written_chunks pks__ingest_written(pks__ingest *ingest);

/// What the version is to have as attributes; before the first pass ends. INVALID_ARGUMENT for too many bytes.
pks_status pks__ingest_set_attributes(pks__ingest *ingest, const void *bytes, size_t byte_count, pks_error *error);
/// Likewise, those of an id.
pks_status pks__ingest_load_attributes(
  pks__ingest *ingest, pks__page_source pages, const pks__id *id, pks_error *error
);

/// Counts a row of the version. Every PKS__ROWS_PER_TICK rows, reports the phase, and fails with TOO_MANY_ROWS if rows are more
/// than `row_factor` times as many as the pages so far allow. CANCELLED if the caller cancels.
pks_status pks__ingest_add_row(pks__ingest *ingest, pks_phase phase, pks_error *error);
/// TOO_MANY_ROWS if the version has more rows than all of its pages allow.
pks_status pks__ingest_check_rows(pks__ingest *ingest, pks_error *error);

/// Says how far the ingest is. The phases begin and end with a report, however little there is to do. CANCELLED when the
/// caller says so.
pks_status pks__ingest_report(const pks__ingest *ingest, pks_phase phase, pks_error *error);

// MARK: - For the two first passes

/// The result is to be closed, also after an error.
pks_status pks__ingest_init(
  pks__ingest *out, pks__staging *staging, pks_snapshot *base, const pks_add_request *request, pks_error *error
);
/// Opens what takes chunks and pages, once it is known how long chunks may be and how many bytes to expect. `sink` takes the
/// frames; NULL: the staging.
pks_status pks__ingest_open_parts(pks__ingest *ingest, const pks__frame_sink *sink, bool sync, pks_error *error);

#endif
