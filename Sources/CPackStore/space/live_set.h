/// Which files generations need: their own, their runs, and the segments that the layouts of all their versions name.
///
/// A set of file names without folders, which grows by what one generation after another needs. One thread at a time.
#ifndef PKS_SPACE_LIVE_SET_H
#define PKS_SPACE_LIVE_SET_H

#include "store/state.h"

typedef struct pks__live_set {
  pks__scratch names;     ///< NUL-terminated
  pks__hash_map by_name;  ///< name -> offset in `names`
} pks__live_set;

pks__live_set pks__live_set_make(const pks_store *store);
void pks__live_set_free(pks__live_set *needs);  ///< a zeroed one is fine

bool pks__live_set_has(const pks__live_set *needs, const char *name, size_t length);

/// Adds a generation's file and its runs.
pks_status pks__live_set_add_index(pks__live_set *needs, const pks__generation *generation, pks_error *error);

pks_status pks__live_set_add_segment(pks__live_set *needs, const pks__segment_id *id, pks_error *error);

/// Adds the segments of one version: those its layout lists, and the segment of the layout's root, which cannot list itself.
/// CORRUPT if damage hides them.
pks_status pks__live_set_add_version(
  pks__live_set *needs, pks_snapshot *snapshot, const pks__version *version, pks_error *error
);

/// Adds the segments of all versions of a snapshot.
pks_status pks__live_set_add_versions(pks__live_set *needs, pks_snapshot *snapshot, pks_error *error);

/// Adds all segments that the snapshot's runs know of, be they needed or not, there or not.
pks_status pks__live_set_add_listed(pks__live_set *needs, const pks_snapshot *snapshot, pks_error *error);

/// Adds what generation `number` needs. It is pinned, or cannot be collected for another reason.
pks_status pks__live_set_add_number(pks__live_set *needs, pks_store *store, uint64_t number, pks_error *error);

#endif
