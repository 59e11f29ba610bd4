#include "DraftedRecord.h"

#include "base/memory.h"
#include "repair/catalog_rebuild.h"

pks_status drafted_record(
  pks_sha256 *sha256, const char *path, size_t length, uint32_t kind, size_t target_length, pks_error *error
) {
  pks__catalog_rebuild draft;
  pks__id id;
  uint8_t *target = pks__allocate_zeroed(target_length + 1, 1);
  if (!target) { return pks__fail_memory(error); }
  pks__hit hit = {.entry = {.kind = (pks__record_kind)kind, .size = target_length, .target = target}};
  pks__catalog_rebuild_open(&draft, sha256, NULL, NULL, 1024);
  pks_status status = pks__catalog_rebuild_put_record(&draft, NULL, &hit, path, length, error);
  if (!status) { status = pks__catalog_rebuild_finish(&draft, &id, error); }
  pks__catalog_rebuild_close(&draft);
  pks__free(target);
  return status;
}
