/// First pass of an ingest, for any source of assets: looks up chunks, stores new ones, writes the catalog, and records the places
/// of each asset's chunks.
///
/// Assets come one after another in order of paths, and the chunks of each in order. Bytes come with the chunk, or are fetched if
/// it turns out that they must be stored. One thread at a time.
#ifndef PKS_INGEST_DEDUP_PASS_H
#define PKS_INGEST_DEDUP_PASS_H

#include "catalog/tree_cursor.h"
#include "catalog/tree_writer.h"
#include "ingest/ingest.h"
#include "ingest/map_search.h"
#include "read/run_merge.h"
#include "store/chunk_lookup.h"

typedef struct pks__dedup_pass {
  pks__ingest *ingest;
  pks__chunk_fetch fetch;
  pks__rows chunk_rows;  ///< of the current asset
  pks__tree_writer entries;
  pks__scratch value;
  pks__tree_cursor old_entries;  ///< the current version's catalog
  pks__run_merge old_records;    ///< its records, in place of a catalog that is lost
  bool has_old, old_more, old_is_indexed;
  uint64_t indexed_count;  ///< assets of the lost catalog that the index lists
  pks__catalog_entry old;
  const pks__item *item;    ///< under way
  uint64_t offset;          ///< in it, of the next chunk
  pks__ingest_asset asset;  ///< the current asset
  pks__map_search search;
  bool is_searching;        ///< the current asset is a map asset, and may already be stored somewhere
  pks__scratch passed;      ///< pks__catalog_chunk: its chunks seen during the search
  pks__scratch fetched;     ///< bytes of one chunk
  uint64_t bytes_again;     ///< fetched a second time, to be laid out
  pks__chunk_ref last_hit;  ///< the next chunk is often the next row
  bool has_last_hit;
  uint64_t reported_bytes, items, reported_items;
} pks__dedup_pass;

/// `fetch` returns chunks that come without bytes, and chunks of map assets that must be laid out again.
pks_status pks__dedup_pass_open(
  pks__dedup_pass *out, pks__ingest *ingest, const pks__chunk_fetch *fetch, pks_error *error
);
void pks__dedup_pass_close(pks__dedup_pass *pass);

/// Begins with an item of the listing.
void pks__dedup_pass_begin(pks__dedup_pass *pass, const pks__item *item);
/// The item's next chunk. `bytes` may be NULL.
pks_status pks__dedup_pass_chunk(
  pks__dedup_pass *pass, const pks__id *id, const uint8_t *bytes, uint32_t length, pks_error *error
);
pks_status pks__dedup_pass_end(pks__dedup_pass *pass, pks_error *error);

/// Reports progress from time to time. CANCELLED if the caller cancels.
pks_status pks__dedup_pass_report(pks__dedup_pass *pass, pks_error *error);

/// After the last item: the catalog's root is written, and every new chunk has its place.
pks_status pks__dedup_pass_finish(pks__dedup_pass *pass, pks_error *error);

#endif
