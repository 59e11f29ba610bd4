/// Which files of a version are map assets, as its layout says.
///
/// Asked path after path, in order; one page a level is in memory. A layout that cannot be read any more promises nothing;
/// why is kept for those who will not have it so.
#ifndef PKS_MAPPED_PATHS_H
#define PKS_MAPPED_PATHS_H

#include "catalog.h"

typedef struct pks__mapped_paths {
  pks__tree_cursor layout;
  bool more;          ///< the cursor stands at an entry
  pks_error failure;  ///< why the layout cannot be read; status OK: it can, as far as was asked
} pks__mapped_paths;

void pks__mapped_paths_open(pks__mapped_paths *out, pks__page_source pages, const pks__id *layout);
void pks__mapped_paths_close(pks__mapped_paths *mapped);  ///< a zeroed one is fine

/// Whether the file `path` is a map asset. Paths are asked for in rising order.
bool pks__mapped_paths_has(pks__mapped_paths *mapped, const char *path, size_t length);

#endif
