#include "WalkedRecords.h"

#include <string.h>

#include "read/namespace.h"

/// Position of the merge, summed over its runs.
static uint64_t place(const pks__run_merge *merge) {
  uint64_t sum = 0;
  for (uint32_t run = 0; run < merge->snapshot->run_count; run++) { sum += merge->places[run].offset; }
  return sum;
}

pks_status walked_records(
  const pks_snapshot *snapshot, const char *prefix, bool *found, uint64_t *walked, pks_error *error
) {
  pks__run_merge merge = {0};
  uint64_t begin = 0;
  pks_status status = pks__run_merge_open(&merge, (pks_snapshot *)(uintptr_t)snapshot, error);
  if (!status) { status = pks__run_merge_seek(&merge, prefix, strlen(prefix), error); }
  if (!status) {
    begin = place(&merge);
    status = pks__run_merge_next_within(&merge, prefix, strlen(prefix), found, error);
  }
  if (!status) { *walked = place(&merge) - begin; }
  pks__run_merge_close(&merge);
  return status;
}
