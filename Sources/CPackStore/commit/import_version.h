/// A version that is known by number, date and content becomes the current one of its pack.
#ifndef PKS_COMMIT_IMPORT_VERSION_H
#define PKS_COMMIT_IMPORT_VERSION_H

#include "commit/transaction.h"

/// Stages the ingested version as `version`, with its known number, date and content. A kept version becomes current again. Errors:
/// EXISTS (a kept version has the number and other content), HELD, OTHER_ORIGIN, DOWNGRADE, STALE, and those of staging.
pks_status pks__txn_stage_known(
  pks_txn *txn, pks__ingest *ingest, const pks__version *version, const pks_provenance *by, pks_add_result *result,
  pks_error *error
);

#endif
