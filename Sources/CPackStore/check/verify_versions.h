/// Level 6 of a verification: catalogs against layouts.
#ifndef PKS_CHECK_VERIFY_VERSIONS_H
#define PKS_CHECK_VERIFY_VERSIONS_H

#include "check/verification.h"

/// Version `index` of a pack; removed packs come after the others.
pks_status pks__verify_version(pks__verification *v, uint32_t rank, uint32_t index);

#endif
