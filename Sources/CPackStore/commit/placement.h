/// The placement of packs: among the store's files, or in its cache folder.
#ifndef PKS_COMMIT_PLACEMENT_H
#define PKS_COMMIT_PLACEMENT_H

#include "commit/transaction.h"

/// Call before staging a version with this `placement`: ensures that a cache folder is set if the pack will need one, which it does
/// not if a user placed it. If none is set, sets the folder of `pks_options.cache`. INVALID_ARGUMENT if there is none either.
pks_status pks__txn_prepare_placement(pks_txn *txn, const char *pack, pks_placement placement, pks_error *error);

/// Call after staging a version of the pack: places the pack as the version specifies, unless a user placed it. A pack with missing
/// data cannot become durable, and stays purgeable.
pks_status pks__txn_follow_placement(pks_txn *txn, const char *pack, pks_placement placement, pks_error *error);

#endif
