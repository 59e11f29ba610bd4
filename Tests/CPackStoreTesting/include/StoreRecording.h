/// Records everything that a store serves, to compare a damaged store with an undamaged one.
///
/// `sim_record` opens a store and acts like its readers. It lists the packs, walks the merged namespace, each pack and
/// the conflicts, finds every path, reads every asset in each way, and verifies the store. In C, because campaigns call
/// it some hundred thousand times.
#ifndef CPACKSTORE_STORE_RECORDING_H
#define CPACKSTORE_STORE_RECORDING_H

#include "packstore.h"
#include "platform/vfs.h"

typedef struct sim_recording sim_recording;

/// Records everything that the store in `path` serves. `cache` may be NULL. `known` contains the paths to find: the undamaged
/// store's, or NULL for the paths that the walk finds. Asserts that a closed store has no open handles.
sim_recording *sim_record(
  const pks_vfs *vfs, const char *path, pks_sha256 *sha256, const char *cache, const sim_recording *known
);
void sim_recording_free(sim_recording *served);

uint64_t sim_recording_generation(const sim_recording *served);   ///< 0 if the store did not open
pks_status sim_recording_status(const sim_recording *served);     ///< result of opening store and snapshot
bool sim_recording_may_hide(const sim_recording *served);         ///< the store reports that a commit may be hidden
uint64_t sim_recording_fault_count(const sim_recording *served);  ///< faults found by verification
const char *sim_recording_fault(const sim_recording *served
);  ///< the first fault, or the reason why the store did not open; "" if none

typedef enum sim_outcome {
  SIM_RECORDING_ALL,      ///< everything, as in the undamaged store
  SIM_RECORDING_PART,     ///< a part; errors were reported for the rest
  SIM_RECORDING_NOTHING,  ///< the store did not open, and an error was reported
  SIM_RECORDING_WRONG,    ///< a result differs from the undamaged store, or is missing without an error
} sim_outcome;

/// Compares with the results of the undamaged store of the same generation. After SIM_RECORDING_WRONG, `sim_recording_wrong`
/// describes the difference.
sim_outcome sim_recording_compare(sim_recording *served, const sim_recording *whole);
const char *sim_recording_wrong(const sim_recording *served);

#endif
