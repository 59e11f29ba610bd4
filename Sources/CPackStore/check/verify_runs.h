/// Level 2 of a verification: runs, by themselves.
#ifndef PKS_CHECK_VERIFY_RUNS_H
#define PKS_CHECK_VERIFY_RUNS_H

#include "check/verification.h"

pks_status pks__verify_run(pks__verification *v, uint32_t number);

#endif
