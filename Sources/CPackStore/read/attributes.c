/// The attributes of a version, which the core keeps and does not look into.
#include <string.h>

#include "catalog/catalog.h"
#include "store/chunk_lookup.h"
#include "store/snapshot.h"
#include "store/state.h"

pks_status pks_snapshot_attributes(
  void *out, size_t capacity, size_t *length, const pks_snapshot *snapshot, uint32_t pack, uint32_t version,
  pks_error *error
) {
  pks_status status = pks__store_check_process(snapshot->store, error);
  if (status) { return status; }
  pks_snapshot *open = pks__snapshot_mutable(snapshot);
  PKS_ASSERT(pack < open->generation.pack_count + open->generation.removed_count);
  const pks__pack_state *state = pks__generation_any_pack(&open->generation, pack);
  PKS_ASSERT(version < state->version_count);
  pks__scratch bytes = {0};
  status = pks__attributes_read(pks__snapshot_pages(open), &state->versions[version].attributes, &bytes, error);
  if (!status) {
    *length = (size_t)bytes.length;
    size_t count = *length < capacity ? *length : capacity;
    if (count > 0) { memcpy(out, bytes.bytes, count); }
  }
  pks__scratch_free(&bytes);
  return status;
}
