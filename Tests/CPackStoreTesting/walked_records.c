#include "WalkedRecords.h"

#include <string.h>

#include "../../Sources/CPackStore/names.h"

/// Where the merge stands, summed over its runs.
static uint64_t place(const pks__merge *merge) {
  uint64_t sum = 0;
  for (uint32_t run = 0; run < merge->view->run_count; run++) { sum += merge->places[run].offset; }
  return sum;
}

pks_status walked_records(
  const pks_snapshot *snapshot, const char *prefix, bool *found, uint64_t *walked, pks_error *error
) {
  pks__merge merge = {0};
  uint64_t begin = 0;
  pks_status status = pks__merge_open(&merge, (pks__view *)(uintptr_t)snapshot, error);
  if (!status) { status = pks__merge_seek(&merge, prefix, strlen(prefix), error); }
  if (!status) {
    begin = place(&merge);
    status = pks__merge_next_within(&merge, prefix, strlen(prefix), found, error);
  }
  if (!status) { *walked = place(&merge) - begin; }
  pks__merge_close(&merge);
  return status;
}
