/// All records of a snapshot in order of paths, merged over runs: for each path and pack the newest.
#ifndef PKS_READ_RUN_MERGE_H
#define PKS_READ_RUN_MERGE_H

#include "store/state.h"

/// A record of a snapshot.
typedef struct pks__hit {
  uint32_t run;
  uint32_t rank;
  pks__run_entry entry;
} pks__hit;

typedef struct pks__run_merge_place {
  uint64_t offset;  ///< offset of the record in `entry`; the section's length at the end
  pks__run_entry entry;
} pks__run_merge_place;

typedef struct pks__run_merge {
  pks_snapshot *snapshot;
  pks__run_merge_place *places;  ///< one per run
  char *path;                    ///< the path of the group, PKS__PATH_MAX bytes
  size_t path_length;
  pks__hit *hits;  ///< the group's records by rank, the absent ones left out
  uint32_t hit_count;
  uint32_t hit_capacity;
  bool keeps_absent;  ///< records that say "absent" are hits too
} pks__run_merge;

pks_status pks__run_merge_open(pks__run_merge *out, pks_snapshot *snapshot, pks_error *error);

void pks__run_merge_close(pks__run_merge *merge);  ///< a zeroed one is fine

/// Moves to the first path that is not before `path`.
pks_status pks__run_merge_seek(pks__run_merge *merge, const char *path, size_t length, pks_error *error);

/// The next path that some pack has: `path` and `hits`, best rank first. `*more` is false after the last.
pks_status pks__run_merge_next(pks__run_merge *merge, bool *more, pks_error *error);

/// Like `pks__run_merge_next`, while paths begin with `prefix`; the merge must be at such a path, or after all of them. Time is
/// proportional to the records of such paths, including removed packs and removed assets.
pks_status pks__run_merge_next_within(
  pks__run_merge *merge, const char *prefix, size_t length, bool *more, pks_error *error
);

#endif
