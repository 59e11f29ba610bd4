/// The site of a delivery: its segments, their frame tables, and the places of pages in them.
///
/// Definitions
///   segment  of the site: a signed manifest names its id, its length, and the SHA-256 of its frame table. Nothing else of
///            a site is believed unless a SHA-256 leads to it from there: table -> frame -> page -> page, and
///            catalog -> chunk.
///   small    a metadata segment of few bytes: its pages are fetched in one piece.
///
/// States of a segment: named -> asked (its table is wanted, or the folder has it) -> tabled. Tables are kept for the
/// life of the delivery.
///
/// Owner: `delivery_site.c`.
#ifndef PKS_TRANSFER_DELIVERY_SITE_H
#define PKS_TRANSFER_DELIVERY_SITE_H

#include "segment/frame_table.h"
#include "transfer/delivery_requests.h"

typedef struct pks__site_segment {
  pks_site_segment info;
  bool is_asked;      ///< for its table
  bool has_table;     ///< the rest is known
  bool is_small;      ///< a metadata segment that is fetched at once
  bool is_wanted;     ///< with `is_small`: it was, or will be
  uint64_t table_at;  ///< in `tables`
} pks__site_segment;

typedef struct pks__delivery_site {
  pks__delivery_context *context;
  pks__delivery_requests *requests;
  pks__scratch segments;  ///< pks__site_segment
  pks__hash_map segments_by_id;
  pks__scratch tables;        ///< frame tables, back to back
  pks__scratch page_places;   ///< places of pages: segment and frame
  pks__hash_map pages_by_id;  ///< id of a page -> index in `page_places`
  pks__scratch kept;          ///< a table that the folder has
  uint32_t table_batch;       ///< tables of metadata segments to request next
  uint64_t given_bytes;       ///< of tables
} pks__delivery_site;

/// Whether a metadata segment is small: `stored` bytes are in its frames, which spread over so many of its file.
static inline bool pks__site_segment_is_small(uint64_t stored, uint64_t spread) {
  enum { SMALL = 128 * 1024 };
  return stored <= SMALL && spread <= 2 * SMALL;
}

void pks__delivery_site_init(
  pks__delivery_site *site, pks__delivery_context *context, pks__delivery_requests *requests
);

/// Lists the segments that the manifest names.
pks_status pks__delivery_site_list(pks__delivery_site *site, const pks_delivery_request *request, pks_error *error);
static inline uint64_t pks__delivery_site_count(const pks__delivery_site *site) {
  return PKS__SCRATCH_COUNT(&site->segments, pks__site_segment);
}
/// The number of a data segment; UINT32_MAX when the site has none with that id.
uint32_t pks__delivery_site_find_data(const pks__delivery_site *site, const pks__segment_id *id);
/// Returns the id of segment `number` in the manifest; false if it does not exist, or is not a data segment.
bool pks__delivery_site_data_segment(const pks__delivery_site *site, uint32_t number, pks__segment_id *id);
/// Fails with CORRUPT, naming the segment.
pks_status pks__delivery_site_corrupt(
  const pks__delivery_site *site, uint32_t segment, const char *text, uint64_t offset, pks_error *error
);

/// The table of a segment that is tabled, on loan until another one is taken.
pks__frame_table pks__delivery_site_table(const pks__delivery_site *site, uint32_t segment);
/// Adds a request for a segment's table, unless the folder has it.
pks_status pks__delivery_site_request_table(pks__delivery_site *site, uint32_t segment, pks_error *error);
/// Requests the next tables of metadata segments, the newest first and twice as many each time. `*any` is false if all were
/// requested.
pks_status pks__delivery_site_request_more_tables(pks__delivery_site *site, bool *any, pks_error *error);
pks_status pks__delivery_site_give_table(
  pks__delivery_site *site, const pks__byte_request *request, const void *bytes, bool *is_final, pks_error *error
);

/// Requests a page, or its whole small segment. `*is_known` is false if no table contains it.
pks_status pks__delivery_site_request_page(
  pks__delivery_site *site, const pks__id *id, bool *is_known, pks_error *error
);

#endif
