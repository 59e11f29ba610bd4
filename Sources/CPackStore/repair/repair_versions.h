/// Putting together the versions of a repair's plan.
#ifndef PKS_REPAIR_REPAIR_VERSIONS_H
#define PKS_REPAIR_REPAIR_VERSIONS_H

#include "repair/repair_state.h"

/// Stages all versions of the plan, as far as their data exists.
pks_status pks__repair_versions(pks__repair *repair, pks_error *error);

/// Whether a version can be had whole. Costs the look-up of each of its chunks.
pks_status pks__repair_is_whole(pks__repair *repair, const pks__id *catalog, bool *whole, pks_error *error);

/// Reports a loss.
void pks__repair_lose(pks__repair *repair, const char *asset, size_t asset_length, uint64_t unnamed_count);

#endif
