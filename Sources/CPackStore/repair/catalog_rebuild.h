/// Rebuilds catalogs, in scratch memory, from the rest of a version whose own catalog is damaged.
///
/// A catalog is a pure function of its contents: a complete draft of a version has exactly the id of its catalog. The parts come in
/// order of paths: entries of the pages that can still be read, and assets in the index, which are read and chunked again.
#ifndef PKS_REPAIR_CATALOG_REBUILD_H
#define PKS_REPAIR_CATALOG_REBUILD_H

#include "catalog/catalog.h"
#include "catalog/tree_writer.h"
#include "codec/chunker.h"
#include "read/namespace.h"

typedef struct pks__catalog_rebuild {
  pks_sha256 *sha256;
  pks_sha256_many *sha256_many;  ///< may be NULL
  pks__scratch bytes;            ///< of pages, back to back
  pks__scratch pages;            ///< which pages
  pks__hash_map by_id;           ///< id -> index in `pages`
  pks__tree_writer entries;
  pks__rows chunks;     ///< chunks of the current asset
  pks__scratch value;   ///< value of the current asset
  pks__scratch window;  ///< bytes of it that are not cut yet
  pks__chunker chunker;
  pks__catalog_info info;
  bool has_failed;  ///< keeping a page failed: not a fault of the drafted data
} pks__catalog_rebuild;

/// `average` is the chunker's average. The draft must not move until it is closed.
void pks__catalog_rebuild_open(
  pks__catalog_rebuild *draft, pks_sha256 *sha256, pks_sha256_many *sha256_many, pks__scratch_folder *home,
  uint32_t average
);
void pks__catalog_rebuild_close(pks__catalog_rebuild *draft);  ///< a zeroed one is fine

/// Adds an entry as another catalog has it.
pks_status pks__catalog_rebuild_put_entry(
  pks__catalog_rebuild *draft, const pks__catalog_entry *entry, pks_error *error
);

/// Adds the asset of a record. If the asset cannot be read, or violates a rule of catalogs, returns CORRUPT or a similar error, and
/// nothing is added. If `has_failed` is set, an error is the draft's own.
pks_status pks__catalog_rebuild_put_record(
  pks__catalog_rebuild *draft, pks_snapshot *snapshot, const pks__hit *hit, const char *path, size_t length,
  pks_error *error
);

/// Ends the catalog and names it.
pks_status pks__catalog_rebuild_finish(pks__catalog_rebuild *draft, pks__id *id, pks_error *error);

/// Appends a page of the draft to `out`; `*found` is false when it has no such page.
pks_status pks__catalog_rebuild_page(
  const pks__catalog_rebuild *draft, const pks__id *id, pks__scratch *out, bool *found, pks_error *error
);

#endif
