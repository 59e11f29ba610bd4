/// The map assets of a version, according to its layout.
///
/// Queried path by path, in order; one page per level is in memory. An unreadable layout yields no map assets; the reason is kept
/// for callers that must not ignore it.
#ifndef PKS_CATALOG_MAP_FLAGS_H
#define PKS_CATALOG_MAP_FLAGS_H

#include "catalog/catalog.h"
#include "catalog/tree_cursor.h"

typedef struct pks__map_flags {
  pks__tree_cursor layout;
  bool more;          ///< the cursor is at an entry
  pks_error failure;  ///< why the layout cannot be read; status OK: no error so far
} pks__map_flags;

void pks__map_flags_open(pks__map_flags *out, pks__page_source pages, const pks__id *layout);
void pks__map_flags_close(pks__map_flags *mapped);  ///< a zeroed one is fine

/// Whether the file `path` is a map asset. Paths must be queried in rising order.
bool pks__map_flags_has(pks__map_flags *mapped, const char *path, size_t length);

#endif
