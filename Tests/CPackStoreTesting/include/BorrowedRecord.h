/// Borrows an asset through a false index record. Tests do not include the structures of a hit.
#ifndef BORROWED_RECORD_H
#define BORROWED_RECORD_H

#include "packstore.h"

/// Borrows a raw asset as if its record gave another size.
pks_status borrowed_record(const pks_asset *asset, uint64_t size, pks_error *error);

#endif
