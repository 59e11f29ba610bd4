/// The segments that a process has open for a store, each once: counted references, under the store's mutex.
#ifndef PKS_STORE_SEGMENT_REGISTRY_H
#define PKS_STORE_SEGMENT_REGISTRY_H

#include "store/state.h"

/// Registers an open segment under its id, with one reference for the caller; for segments that do not have their final name yet.
/// If it is known already, `*segment` is closed and replaced.
pks_status pks__store_add_segment(pks_store *store, pks__segment **segment, pks_error *error);

/// Opens a segment under its final name, without making it known, through `vfs`, which may be another than the store's: from
/// `segments/`, or, where it is purgeable, from `tables/` and the cache folder. PURGED when it is in neither.
pks_status pks__store_open_segment(
  pks_store *store, const pks_vfs *vfs, const pks__segment_id *id, pks__segment **out, pks_error *error
);

pks_status pks__store_get_segment(pks_store *store, const pks__segment_id *id, pks__segment **out, pks_error *error);

void pks__store_retain_segment(pks_store *store, pks__segment *segment);  ///< one more reference to a known one

void pks__store_release_segment(pks_store *store, pks__segment *segment);

/// Whether a segment with this id, stored now, replaces one that this process found damaged.
bool pks__store_mends(pks_store *store, const pks__segment_id *id);

/// Records that the segment's file was collected: users that have it open may go on reading, but nothing new may refer to it.
void pks__store_forget_segment(pks_store *store, const pks__segment_id *id);

#endif
