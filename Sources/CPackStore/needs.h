/// Which files generations need: their own, their runs, and the segments that the layouts of all their versions name.
///
/// A set of file names without folders, which grows by what one generation after another needs. One thread at a time.
#ifndef PKS_NEEDS_H
#define PKS_NEEDS_H

#include "store.h"

typedef struct pks__needs {
  pks__scratch names;  ///< NUL-terminated
  pks__map by_name;    ///< name -> offset in `names`
} pks__needs;

pks__needs pks__needs_make(const pks_store *store);
void pks__needs_free(pks__needs *needs);  ///< a zeroed one is fine

bool pks__needs_has(const pks__needs *needs, const char *name, size_t length);

/// Adds a generation's file and its runs.
pks_status pks__needs_add_index(pks__needs *needs, const pks__generation *generation, pks_error *error);

pks_status pks__needs_add_segment(pks__needs *needs, const pks__segment_id *id, pks_error *error);

/// Adds the segments of one version: those its layout lists, and the one that holds the layout's root, which cannot list
/// itself. CORRUPT when damage hides them.
pks_status pks__needs_add_version(pks__needs *needs, pks__view *view, const pks__version *version, pks_error *error);

/// Adds the segments of all versions of a view.
pks_status pks__needs_add_versions(pks__needs *needs, pks__view *view, pks_error *error);

/// Adds all segments that the view's runs know of, be they needed or not, there or not.
pks_status pks__needs_add_listed(pks__needs *needs, const pks__view *view, pks_error *error);

/// Adds what generation `number` needs. It is pinned, or cannot be collected for another reason.
pks_status pks__needs_add_number(pks__needs *needs, pks_store *store, uint64_t number, pks_error *error);

#endif
