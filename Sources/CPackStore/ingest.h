/// Adding a folder: read, chunk, hash, deduplicate, encode, write; then catalog, layout and index run.
///
/// Two passes. The first goes through the source in order of paths: blocks of files are read and hashed on all threads,
/// and consumed in order by the caller's thread, which looks every chunk up, hands new ones to the frame pipeline,
/// writes the catalog, and keeps for each asset where its chunks are (as references, in scratch memory). The second,
/// when every frame has its place, turns references into extents, writes the layout and builds the index run.
///
/// Map assets. While all chunks of one are found, in order, in a place where it may lie (`map_search.h`), nothing is
/// stored. Once that ends it is laid out afresh: what was read so far is read again, and must have the ids that it had;
/// then every chunk is stored, known or not. So an unchanged map asset costs nothing, a changed one its size.
///
/// Memory: blocks, frames and encoders are bounded by the thread count; everything in proportion to the folder is in
/// scratch memory. Determinism: consumption is in order, so the result does not depend on threads or on the order in
/// which the system lists folders.
#ifndef PKS_INGEST_H
#define PKS_INGEST_H

#include "catalog.h"
#include "chunker.h"
#include "frame_pipeline.h"
#include "page_store.h"
#include "run_writer.h"
#include "source.h"

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
  bool relaid;   ///< a map asset that did not change, and lies elsewhere or otherwise than the current version has it
} pks__ingest_asset;

/// A segment of the store in which known chunks were found.
typedef struct pks__old_segment {
  pks__segment *segment;
  uint32_t run, index;   ///< how the base knows it
  uint32_t run_segment;  ///< its number in the run under construction, UINT32_MAX: not needed yet
} pks__old_segment;

typedef struct pks__ingest {
  pks__session *session;
  pks__view *base;
  uint32_t base_pack;  ///< the pack's index in `base`, or UINT32_MAX
  const pks_add_request *request;
  pks__chunker chunker;
  pks__source source;
  pks__pool *pool;
  pks__page_store pages;
  pks__frame_pipeline frames;
  pks__scratch assets;        ///< pks__ingest_asset by item
  pks__scratch spans;         ///< pks__chunk_span
  pks__scratch old_segments;  ///< pks__old_segment
  pks__map old_segment_map;   ///< address -> index
  pks__scratch new_ids;       ///< pks__id by number of the new chunk
  pks__map new_chunks;        ///< id prefix -> number
  pks__scratch removed;       ///< paths the current version has and the source has not: le16 length, bytes
  pks__catalog_info info;
  pks__tree catalog;
  pks__id catalog_id, layout_id;
  uint64_t bytes_done;
  uint64_t removed_count;
  uint64_t changed_count;
  pks_add_result result;
  pks__run_writer run;
  pks__run_name run_name;
} pks__ingest;

/// Whether there is nothing to commit: the content is the current version's, and every asset stays where it is.
static inline bool pks__ingest_is_idle(const pks__ingest *ingest) {
  return ingest->result.unchanged && ingest->result.relaid_count == 0;
}

/// First pass. `base` is what the new version may reuse.
pks_status pks__ingest_store(
  pks__ingest *out, pks__session *session, pks__view *base, const pks_add_request *request, bool sync, pks_error *error
);

/// Second pass, unless there is nothing to commit: the layout and the run, written to the session's folder. Everything
/// is synced if `sync`.
pks_status pks__ingest_assemble(pks__ingest *ingest, bool sync, pks_error *error);

/// Whether a file or link of the source stands where another pack of `view` has a folder, or the reverse. Time grows
/// with what changed.
pks_status pks__ingest_find_shadows(const pks__ingest *ingest, pks__view *view, bool *found, pks_error *error);

void pks__ingest_close(pks__ingest *ingest);

#endif
