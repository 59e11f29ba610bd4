/// Snapshots: one generation with its runs open, by reference.
#ifndef PKS_STORE_SNAPSHOT_H
#define PKS_STORE_SNAPSHOT_H

#include "store/state.h"

/// Creates a snapshot of an uncommitted generation, sharing runs with `base`. Other runs are in the folder `staging`, under their
/// run path. Takes ownership of the generation, even on an error.
pks_status pks__snapshot_create(
  pks_snapshot **out, pks_store *store, pks__generation *generation, pks_vfs_file staging, pks_error *error
);

/// Removes a pack from a snapshot that is not committed yet and that no other part of the program refers to; false if there
/// are others. A whole snapshot less for each pack that a transaction removes.
bool pks__snapshot_remove_pack(pks_snapshot *snapshot, uint32_t rank);

pks_snapshot *pks__snapshot_retain(pks_snapshot *snapshot);  ///< one more reference

void pks__snapshot_release(pks_snapshot *snapshot);  ///< NULL is fine

/// Returns the open segment with index `index` in run number `run` of the snapshot. It stays open as long as the snapshot.
pks_status pks__snapshot_segment(
  pks_snapshot *snapshot, uint32_t run, uint32_t index, pks__segment **out, pks_error *error
);
/// Returns a reference to a segment with that id, open already or opened now, which the snapshot's transaction may have staged. The
/// caller releases it. PURGED if the file does not exist.
pks_status pks__snapshot_take_segment(
  pks_snapshot *snapshot, const pks__segment_id *id, pks__segment **out, pks_error *error
);
/// Whether a run of the snapshot, and not of its base, lists the chunks of the segment. O(segments).
bool pks__snapshot_lists(const pks_snapshot *snapshot, const pks__segment_id *id);
/// Whether nothing new may refer to the segment: its file was collected, and the snapshot's transaction does not bring
/// it.
bool pks__snapshot_is_gone(const pks_snapshot *snapshot, const pks__segment *segment);
/// Whether the segment is *remote*: the store is a copy of a site's, with only the table, and the frames are where the site is
/// served. New layouts refer to it as to any other; reading it is PURGED.
bool pks__snapshot_is_remote(const pks_snapshot *snapshot, const pks__segment *segment);

#endif
