#include "transfer/delivery_state.h"

pks_status pks__delivery_fail(pks_delivery *delivery, pks_status status, const pks_error *error) {
  delivery->failed = status;
  delivery->failure = *error;
  return status;
}

pks_status pks__delivery_check_room(const pks_delivery *delivery, uint64_t needed, pks_error *error) {
  const pks_vfs *vfs = delivery->store->vfs;
  uint64_t left = 0;
  // Who cannot say how much is left will say so when it is used up.
  if (pks__vfs_free_bytes(vfs, delivery->store->root, &left) || left >= needed) { return PKS_OK; }
  (void)pks__fail(error, PKS_NO_SPACE, "there is no room for what is still to come", delivery->pack, PKS_NO_OFFSET);
  if (error) { error->needed = needed; }
  return PKS_NO_SPACE;
}

pks_status pks__delivery_corrupt(const pks_delivery *delivery, const char *text, pks_error *error) {
  return pks__fail(error, PKS_CORRUPT, text, delivery->pack, PKS_NO_OFFSET);
}
