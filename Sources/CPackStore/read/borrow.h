/// The places of raw assets stored in one piece.
#ifndef PKS_READ_BORROW_H
#define PKS_READ_BORROW_H

#include "read/namespace.h"

/// The segment and the offset in it from which a contiguous file's bytes go on to its end. They are checked first, once
/// per process. The segment is mapped (`data`) and stays so as long as the snapshot. The file is not empty.
pks_status pks__borrow_place(
  pks_snapshot *snapshot, const pks__hit *hit, pks__segment **segment, uint64_t *offset, pks_error *error
);

#endif
