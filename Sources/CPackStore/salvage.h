/// Where bytes come from that a damaged store has in no whole segment: chunks of assets, and pages of catalogs and
/// layouts.
///
/// Asked in this order, and believed only when the SHA-256 fits:
///   1. intact frames of segments that are not whole (`survey.h`)
///   2. the index as it was: a segment whose table is damaged may still be read by way of records, which name paths
///   3. other stores, which the caller names: by id, wherever they have it
///
/// Each is an *origin*: more kinds can be added behind the same two questions.
#ifndef PKS_SALVAGE_H
#define PKS_SALVAGE_H

#include "draft.h"
#include "ingest.h"
#include "survey.h"

/// Another store.
typedef struct pks__donor {
  const char *path;  ///< as the caller named it
  pks_store *store;
  pks__view *view;
} pks__donor;

typedef struct pks__salvage {
  pks_sha256 *sha256;
  pks__view *base;  ///< of the segments that are whole, and of what was stored since
  pks__survey *survey;
  pks__view *index;  ///< of what was; NULL: it cannot be opened
  const pks__donor *donors;
  uint32_t donor_count;
  uint32_t rank;  ///< pack under way, in `index`; PKS_ANY_PACK: its paths mean something else there, or nothing
  const pks__draft *draft;  ///< has pages, too; NULL: none
  /// Told of the origin of each chunk that is fetched: text for people, static or a donor's path.
  void (*healed)(void *context, const char *path, size_t path_length, const char *origin);
  void *context;
  pks__scratch bytes;  ///< of the chunk under way
} pks__salvage;

void pks__salvage_free(pks__salvage *salvage);  ///< what it made itself

/// As `pks__version_request` wants them; the context is the salvage.
pks_status pks__salvage_has(pks__salvage *salvage, const pks__chunk_want *want, bool *has, pks_error *error);
pks__chunk_fetch pks__salvage_fetch(pks__salvage *salvage);

/// Pages from wherever they are; the context is the salvage. CORRUPT when they are nowhere.
pks__page_source pks__salvage_pages(pks__salvage *salvage);

#endif
