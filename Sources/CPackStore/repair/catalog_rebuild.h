/// Catalogs made again, in scratch memory, of what is left of a version whose own catalog is damaged.
///
/// A catalog is a pure function of what it contains: a draft of all of a version has the very id of its catalog. What is
/// known comes in order of paths: entries of the pages that can still be read, and assets that the index leads to, which
/// are read and cut again.
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
  pks__rows chunks;     ///< of the asset under way
  pks__scratch value;   ///< likewise
  pks__scratch window;  ///< bytes of it that are not cut yet
  pks__chunker chunker;
  pks__catalog_info info;
  bool has_failed;  ///< to keep a page: no fault of what is drafted
} pks__catalog_rebuild;

/// `average` is that of the chunker. The draft must not move until it is closed.
void pks__catalog_rebuild_open(
  pks__catalog_rebuild *draft, pks_sha256 *sha256, pks_sha256_many *sha256_many, pks__scratch_folder *home,
  uint32_t average
);
void pks__catalog_rebuild_close(pks__catalog_rebuild *draft);  ///< a zeroed one is fine

/// Adds an entry as another catalog has it.
pks_status pks__catalog_rebuild_put_entry(
  pks__catalog_rebuild *draft, const pks__catalog_entry *entry, pks_error *error
);

/// Adds what a record leads to. CORRUPT and the like when the asset cannot be read, or breaks a rule of
/// catalogs: then nothing was added. With `has_failed` set, an error is the draft's own.
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
