/// Where bytes come from that a damaged store has in no whole segment: chunks of assets, and pages of catalogs and
/// layouts.
///
/// Asked in this order, and believed only when the SHA-256 fits:
///   1. intact frames of segments that are not whole (`segment_scan.h`)
///   2. the index as it was: a segment whose table is damaged may still be read by way of records, which name paths
///   3. the same by id, wherever it knows a copy: in the cache folder, where the data of purgeable packs lies
///   4. other stores, which the caller names, and the base: by id, wherever they have it
///
/// Each is an *origin*: more kinds can be added behind the same two questions.
#ifndef PKS_REPAIR_CHUNK_RECOVERY_H
#define PKS_REPAIR_CHUNK_RECOVERY_H

#include "ingest/ingest.h"
#include "ingest/ingest_version.h"
#include "repair/catalog_rebuild.h"
#include "repair/segment_scan.h"

/// Another store.
typedef struct pks__donor {
  const char *path;  ///< as the caller named it
  pks_store *store;
  pks_snapshot *snapshot;
} pks__donor;

typedef struct pks__chunk_recovery {
  pks_sha256 *sha256;
  pks_snapshot *base;  ///< of the segments that are whole, and of what was stored since
  pks__segment_scan *survey;
  pks_snapshot *index;  ///< of what was; NULL: it cannot be opened
  const pks__donor *donors;
  uint32_t donor_count;
  uint32_t rank;  ///< pack under way, in `index`; PKS_ANY_PACK: its paths mean something else there, or nothing
  const pks__catalog_rebuild *draft;  ///< has pages, too; NULL: none
  /// Told of the origin of each chunk that is fetched: text for people, static or a donor's path. `damaged`: the asset
  /// was, at this chunk; otherwise it lay whole in a file that is damaged elsewhere.
  void (*healed)(void *context, const char *path, size_t path_length, const char *origin, bool damaged);
  void *context;
  pks__scratch bytes;  ///< of the chunk under way
} pks__chunk_recovery;

void pks__chunk_recovery_free(pks__chunk_recovery *salvage);  ///< what it made itself

/// As `pks__version_request` wants them; the context is the salvage.
pks_status pks__chunk_recovery_has(
  pks__chunk_recovery *salvage, const pks__chunk_want *want, bool *has, pks_error *error
);
pks__chunk_fetch pks__chunk_recovery_fetch(pks__chunk_recovery *salvage);

/// Pages from wherever they are; the context is the salvage. CORRUPT when they are nowhere.
pks__page_source pks__chunk_recovery_pages(pks__chunk_recovery *salvage);

#endif
