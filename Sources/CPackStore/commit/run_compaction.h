/// Joins index runs, so that a look-up searches few of them.
///
/// Runs are joined from the newest back while the older one is less than twice as long as all newer ones together. So run lengths
/// decrease geometrically, a store of n records has at most about log2(n) runs, and a record is rewritten about log2(n) times in
/// its life: the cost of a commit is proportional to its changes.
#ifndef PKS_COMMIT_RUN_COMPACTION_H
#define PKS_COMMIT_RUN_COMPACTION_H

#include "ingest/staging.h"
#include "store/state.h"

/// A staged run that replaces runs [first_run, first_run + run_count) of a snapshot. If `run_count` is 0, nothing was joined.
typedef struct pks__compacted_run {
  uint32_t first_run;
  uint32_t run_count;
  pks__run_name name;
  uint32_t *pack_numbers;
  uint32_t pack_count;
} pks__compacted_run;

/// Joins the snapshot's runs where their lengths call for it. The new run is written to the staging folder, synced if
/// `sync`.
pks_status pks__compact(
  pks__compacted_run *out, pks_snapshot *snapshot, pks__staging *staging, bool sync, pks_error *error
);
void pks__compacted_run_free(pks__compacted_run *merged);  ///< a zeroed one is fine

#endif
