/// Where packs lie: among the store's files, or in its cache folder.
#ifndef PKS_COMMIT_PLACEMENT_H
#define PKS_COMMIT_PLACEMENT_H

#include "commit/transaction.h"

/// Before a version is staged that says `placement`: sees that there is a cache folder if the pack will need one, which it does not
/// where a user placed it. Without any that of `pks_options.cache` is chosen. INVALID_ARGUMENT when there is none.
pks_status pks__txn_prepare_placement(pks_txn *txn, const char *pack, pks_placement placement, pks_error *error);

/// After a version of the pack was staged: places the pack as the version says, unless a user did. A pack that cannot
/// become durable because data of it is gone stays purgeable.
pks_status pks__txn_follow_placement(pks_txn *txn, const char *pack, pks_placement placement, pks_error *error);

#endif
