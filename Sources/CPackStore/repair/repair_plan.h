/// Which packs and versions there should be after a repair.
#ifndef PKS_REPAIR_REPAIR_PLAN_H
#define PKS_REPAIR_REPAIR_PLAN_H

#include "repair/repair_state.h"

/// Reads the readable parts of the control file: fills in `control`, `has_control`, `slot`.
pks_status pks__repair_read_control(pks__repair *repair, pks_error *error);

/// Whether a lost slot of the control file may have contained a generation above `number`, according to any remaining trace.
pks_status pks__repair_is_behind(pks__repair *repair, uint64_t number, bool *behind, pks_error *error);

/// Finds out which generation there was: fills in `plan`, `index` and what `slot` lacks. What cannot be read is left out.
pks_status pks__repair_find_plan(pks__repair *repair, pks_error *error);

/// Makes the plan from the survey, if no generation could be read; or adds newer versions to it, if a later generation than the
/// readable one is known to have existed.
pks_status pks__repair_guess_plan(pks__repair *repair, pks_error *error);

/// Makes the plan from the versions in the request.
pks_status pks__repair_take_plan(pks__repair *repair, pks_error *error);

/// Determines the chunker's average from catalogs if no control file contains it.
void pks__repair_find_average(pks__repair *repair);

/// A number for the new generation: above all that any file, slot or reader names.
pks_status pks__repair_number(pks__repair *repair, uint64_t *number, pks_error *error);

#endif
