#include "DraftedRecord.h"

#include "../../Sources/CPackStore/draft.h"
#include "../../Sources/CPackStore/memory.h"

pks_status drafted_record(
  pks_sha256 *sha256, const char *path, size_t length, uint32_t kind, size_t target_length, pks_error *error
) {
  pks__draft draft;
  pks__id id;
  uint8_t *target = pks__allocate_zeroed(target_length + 1, 1);
  if (!target) { return pks__fail_memory(error); }
  pks__hit hit = {.entry = {.kind = (pks__record_kind)kind, .size = target_length, .target = target}};
  pks__draft_open(&draft, sha256, NULL, 1024);
  pks_status status = pks__draft_put_record(&draft, NULL, &hit, path, length, error);
  if (!status) { status = pks__draft_finish(&draft, &id, error); }
  pks__draft_close(&draft);
  pks__free(target);
  return status;
}
