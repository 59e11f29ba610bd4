/// Records everything that a store serves, to compare a damaged store with an undamaged one.
///
/// `sim_serve` opens a store and acts like its readers. It lists the packs, walks the merged namespace, each pack and
/// the conflicts, finds every path, reads every asset in each way, and verifies the store. In C, because campaigns call
/// it some hundred thousand times.
#ifndef CPACKSTORE_SERVED_STORE_H
#define CPACKSTORE_SERVED_STORE_H

#include "packstore.h"
#include "platform/vfs.h"

typedef struct sim_served sim_served;

/// Records everything that the store in `path` serves. `cache` may be NULL. `known` contains the paths to find: the undamaged
/// store's, or NULL for the paths that the walk finds. Asserts that a closed store has no open handles.
sim_served *sim_serve(
  const pks_vfs *vfs, const char *path, pks_sha256 *sha256, const char *cache, const sim_served *known
);
void sim_served_free(sim_served *served);

uint64_t sim_served_generation(const sim_served *served);   ///< 0 if the store did not open
pks_status sim_served_status(const sim_served *served);     ///< result of opening store and snapshot
bool sim_served_may_hide(const sim_served *served);         ///< the store reports that a commit may be hidden
uint64_t sim_served_fault_count(const sim_served *served);  ///< faults found by verification
const char *sim_served_fault(const sim_served *served
);  ///< the first fault, or the reason why the store did not open; "" if none

typedef enum sim_outcome {
  SIM_SERVED_ALL,      ///< everything, as in the undamaged store
  SIM_SERVED_PART,     ///< a part; errors were reported for the rest
  SIM_SERVED_NOTHING,  ///< the store did not open, and an error was reported
  SIM_SERVED_WRONG,    ///< a result differs from the undamaged store, or is missing without an error
} sim_outcome;

/// Compares with the results of the undamaged store of the same generation. After SIM_SERVED_WRONG, `sim_served_wrong`
/// describes the difference.
sim_outcome sim_served_compare(sim_served *served, const sim_served *whole);
const char *sim_served_wrong(const sim_served *served);

#endif
