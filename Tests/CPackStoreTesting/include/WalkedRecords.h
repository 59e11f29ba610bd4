/// Measures a search in the merged index. Tests do not include the structures of a merge.
#ifndef WALKED_RECORDS_H
#define WALKED_RECORDS_H

#include "packstore.h"

/// Searches for the first path that begins with `prefix`. Sets `*walked` to the number of record bytes that the search
/// passed after its first seek.
pks_status walked_records(
  const pks_snapshot *snapshot, const char *prefix, bool *found, uint64_t *walked, pks_error *error
);

#endif
