/// Searches for a place where a map asset is already stored.
///
/// A *place* is a range of one segment file that begins at a page and contains the asset's chunks raw, one after another. The
/// asset's first chunk suggests a few places; each further chunk keeps the places where it comes next. A remaining place at the end
/// of the asset is used, and nothing is written. If none remains, the asset is laid out again.
///
/// Places are tried in this order, and the first remaining one is used: the pack's current version at this path; the store's copies
/// of the first chunk, newest run first; assets laid out or written by this add. Only a few of these are tried, so that content
/// with a common beginning costs no more. One thread at a time.
#ifndef PKS_INGEST_MAP_SEARCH_H
#define PKS_INGEST_MAP_SEARCH_H

#include "format/hash_map.h"
#include "ingest/reuse_policy.h"
#include "store/chunk_lookup.h"
#include "store/state.h"

enum { PKS__MAP_PLACES_MAX = 16 };

/// Copies of a first chunk that are looked at, be they at a page or not.
enum { PKS__COPIES_MAX = 64 };

typedef struct pks__map_place {
  pks__chunk_ref first;  ///< where the store has the asset's first chunk; without a segment: this add laid it out
  uint32_t new_first;    ///< number of the new chunk, if this add laid it out
  uint32_t new_end;      ///< in new chunks: after the last one stored there
  uint32_t frame;        ///< in the segment: of the last chunk
  uint64_t next_offset;  ///< in the segment file: where the next chunk must begin
  bool may_lack;         ///< bytes of it may be gone
  bool is_kept;          ///< the pack's current version has the path here, as a map asset
  bool is_written;       ///< of new chunks: they were written before, not laid out
} pks__map_place;

/// New chunks that were written before the search, and not as announced map assets. Some may have the form of one.
typedef struct pks__written_chunks {
  void *context;
  uint32_t count;  ///< numbers are below this; 0: no chunks
  /// the next of them with that id; zero `*probe`
  bool (*next)(void *context, const pks__id *id, uint64_t *probe, uint32_t *number);
  bool (*begins)(void *context, uint32_t number);   ///< whether it is raw and begins at a page
  bool (*follows)(void *context, uint32_t number);  ///< whether it is raw, directly after the previous one
} pks__written_chunks;

typedef struct pks__map_search {
  pks_snapshot *base;
  uint32_t base_pack;               ///< index in `base`, or UINT32_MAX
  const pks__scratch *new_ids;      ///< pks__id by number of the new chunk
  pks__scratch laid_out;            ///< stretches of new chunks, each a map asset
  pks__hash_map laid_out_by_first;  ///< prefix of the first chunk's id -> index in `laid_out`
  pks__written_chunks written;
  const pks__reuse_policy *reuse_policy;  ///< which stored places may be used
  pks__map_place places[PKS__MAP_PLACES_MAX];
  uint32_t place_count;
  uint32_t chunk_count;  ///< chunks of the current asset so far, contained in each place
} pks__map_search;

void pks__map_search_init(
  pks__map_search *search, pks_snapshot *base, uint32_t base_pack, const pks__scratch *new_ids,
  pks__scratch_folder *home
);
void pks__map_search_free(pks__map_search *search);

/// Begins with an asset's path and its first chunk.
pks_status pks__map_search_begin(
  pks__map_search *search, const char *path, size_t length, const pks__id *first, pks_error *error
);
/// Goes on with the next chunk, while there are places.
pks_status pks__map_search_next(pks__map_search *search, const pks__id *id, pks_error *error);

/// Announces that the new chunks from `first` on are a map asset of this add.
pks_status pks__map_search_note(pks__map_search *search, uint32_t first, uint32_t count, pks_error *error);

#endif
