#include "BorrowedRecord.h"

#include "read/borrow.h"

pks_status borrowed_record(const pks_asset *asset, uint64_t size, pks_error *error) {
  pks__hit hit;
  pks_status status = pks__namespace_file(asset, &hit, error);
  if (status) { return status; }
  hit.entry.size = size;
  pks__segment *segment;
  uint64_t offset;
  return pks__borrow_place((pks_snapshot *)(uintptr_t)asset->snapshot, &hit, &segment, &offset, error);
}
