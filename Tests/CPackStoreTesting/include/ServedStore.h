/// All that a store serves, taken down so that it can be compared: what damage did to it, if anything.
///
/// `sim_serve` opens a store and does what readers do: it lists the packs, walks the merged namespace, each pack and the
/// conflicts, finds every path, reads every asset in each way, and has everything verified. In C, because campaigns do
/// this some hundred thousand times.
#ifndef CPACKSTORE_SERVED_STORE_H
#define CPACKSTORE_SERVED_STORE_H

#include "packstore.h"
#include "platform/vfs.h"

typedef struct sim_served sim_served;

/// What the store in `path` serves. `cache` may be NULL. `known` names paths to look for: the whole store's, or NULL for
/// those that the walk finds. Asserts that a store that was closed holds nothing open.
sim_served *sim_serve(
  const pks_vfs *vfs, const char *path, pks_sha256 *sha256, const char *cache, const sim_served *known
);
void sim_served_free(sim_served *served);

uint64_t sim_served_generation(const sim_served *served);   ///< 0 when the store did not open
pks_status sim_served_status(const sim_served *served);     ///< of opening store and snapshot
bool sim_served_may_hide(const sim_served *served);         ///< the store says that a commit may be hidden
uint64_t sim_served_fault_count(const sim_served *served);  ///< what verification found
const char *sim_served_fault(const sim_served *served
);  ///< the first of them, or why the store did not open; "" if all is well

typedef enum sim_outcome {
  SIM_SERVED_ALL,      ///< all of it, as in the whole store
  SIM_SERVED_PART,     ///< some of it; for the rest an error said why
  SIM_SERVED_NOTHING,  ///< the store did not open; an error said why
  SIM_SERVED_WRONG,    ///< something that is not in the whole store, or something is left out, and no error said so
} sim_outcome;

/// Compares with what the whole store of the same generation serves. On SIM_SERVED_WRONG, `sim_served_wrong` says what.
sim_outcome sim_served_compare(sim_served *served, const sim_served *whole);
const char *sim_served_wrong(const sim_served *served);

#endif
