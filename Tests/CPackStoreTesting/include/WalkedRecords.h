/// How far a search through the merged index goes: a merge stands on structures that tests must not see whole.
#ifndef WALKED_RECORDS_H
#define WALKED_RECORDS_H

#include "packstore.h"

/// Searches for the first path that begins with `prefix`. `*walked` is how many bytes of records the search took.
pks_status walked_records(
  const pks_snapshot *snapshot, const char *prefix, bool *found, uint64_t *walked, pks_error *error
);

#endif
