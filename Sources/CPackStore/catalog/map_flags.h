/// Which files of a version are map assets, as its layout says.
///
/// Asked path after path, in order; one page a level is in memory. A layout that cannot be read any more promises
/// nothing; why is kept for those who will not have it so.
#ifndef PKS_CATALOG_MAP_FLAGS_H
#define PKS_CATALOG_MAP_FLAGS_H

#include "catalog/catalog.h"
#include "catalog/tree_cursor.h"

typedef struct pks__map_flags {
  pks__tree_cursor layout;
  bool more;          ///< the cursor stands at an entry
  pks_error failure;  ///< why the layout cannot be read; status OK: it can, as far as was asked
} pks__map_flags;

void pks__map_flags_open(pks__map_flags *out, pks__page_source pages, const pks__id *layout);
void pks__map_flags_close(pks__map_flags *mapped);  ///< a zeroed one is fine

/// Whether the file `path` is a map asset. Paths are asked for in rising order.
bool pks__map_flags_has(pks__map_flags *mapped, const char *path, size_t length);

#endif
