/// Borrowing what an index that lies says of an asset: hits stand on structures that tests must not see whole.
#ifndef BORROWED_RECORD_H
#define BORROWED_RECORD_H

#include "packstore.h"

/// Borrows a raw asset as if its record gave another size.
pks_status borrowed_record(const pks_asset *asset, uint64_t size, pks_error *error);

#endif
