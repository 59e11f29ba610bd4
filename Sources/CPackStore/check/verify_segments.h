/// Levels 3 and 4 of a verification: segments by themselves, and runs against segments.
#ifndef PKS_CHECK_VERIFY_SEGMENTS_H
#define PKS_CHECK_VERIFY_SEGMENTS_H

#include "check/verification.h"

pks_status pks__verify_segment(pks__verification *v, uint32_t number);

pks_status pks__verify_run_against_segments(pks__verification *v, uint32_t number);

/// The snapshot's own segment, with its table; NULL when it cannot be used.
pks_status pks__verify_use_segment(pks__verification *v, uint32_t number, pks__segment **out);

#endif
