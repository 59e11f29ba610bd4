/// Sources of data that a damaged store has in no intact segment: chunks of assets, and pages of catalogs and layouts.
///
/// They are tried in this order, and used only if the SHA-256 matches:
///   1. intact frames of damaged segments (`segment_scan.h`)
///   2. the old index: a segment with a damaged table may still be read by way of records, which contain paths
///   3. the old index by id, for any known copy: in the cache folder, with the data of purgeable packs
///   4. other stores, which the caller lists, and the base: by id, at any place
///
/// Each is an *origin*: more kinds can be added with the same two functions.
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
  pks_snapshot *base;  ///< snapshot of the intact segments, and of data stored since
  pks__segment_scan *survey;
  pks_snapshot *index;  ///< snapshot of the old index; NULL: it cannot be opened
  const pks__donor *donors;
  uint32_t donor_count;
  uint32_t rank;  ///< pack under way, in `index`; PKS_ANY_PACK: its paths mean something else there, or nothing
  const pks__catalog_rebuild *draft;  ///< has pages, too; NULL: none
  /// Called with the origin of each fetched chunk: text for users, static or a donor's path. `damaged`: the asset was damaged at
  /// this chunk; otherwise it was intact in a file that is damaged elsewhere.
  void (*healed)(void *context, const char *path, size_t path_length, const char *origin, bool damaged);
  void *context;
  pks__scratch bytes;  ///< bytes of the current chunk
} pks__chunk_recovery;

void pks__chunk_recovery_free(pks__chunk_recovery *salvage);  ///< frees what it allocated itself

/// As in `pks__version_request`; the context is the salvage.
pks_status pks__chunk_recovery_has(
  pks__chunk_recovery *salvage, const pks__chunk_want *want, bool *has, pks_error *error
);
pks__chunk_fetch pks__chunk_recovery_fetch(pks__chunk_recovery *salvage);

/// Pages from wherever they are; the context is the salvage. CORRUPT when they are nowhere.
pks__page_source pks__chunk_recovery_pages(pks__chunk_recovery *salvage);

#endif
