/// Checks one segment file that another store wrote.
#include <string.h>

#include "packstore_admin.h"
#include "segment/segment_check.h"
#include "store/state.h"

/// Whether a failure means that the file is not the segment, as opposed to a failure of this machine.
static bool is_unusable(pks_status status, const pks_error *found) {
  return status == PKS_IO_ERROR || pks__error_is_damage(found);
}

pks_status pks_store_check_segment_file(
  bool *is_valid, const pks_store *store, const char *path, const uint8_t id[16], pks_error *error
) {
  *is_valid = false;
  pks_status status = pks__store_check_process(store, error);
  if (status) { return status; }
  if (!store->sha256) {
    return pks__fail_about(
      error, PKS_INVALID_ARGUMENT, PKS_DETAIL_NO_HASH, PKS_SUBJECT_STORE, NULL,
      "opened without 'pks_options.sha256', which this check needs"
    );
  }
  pks__segment_id name;
  memcpy(name.bytes, id, sizeof name.bytes);
  pks__segment *segment = NULL;
  pks_error found = {0};
  status = pks__segment_open(&segment, store->vfs, store->root, path, &name, &found);
  if (!status) { status = pks__segment_is_valid(segment, store->sha256, store->sha256_many, is_valid, &found); }
  if (!status) { *is_valid = *is_valid && segment->kind == PKS__SEGMENT_DATA; }
  pks__segment_close(segment);
  if (!status || is_unusable(status, &found)) { return PKS_OK; }
  if (error) { *error = found; }
  return status;
}
