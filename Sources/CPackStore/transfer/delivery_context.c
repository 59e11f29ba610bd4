#include "transfer/delivery_context.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

void pks__delivery_context_init(
  pks__delivery_context *context, const pks_txn *txn, const pks_delivery_request *request
) {
  pks_store *store = txn->store;
  *context = (pks__delivery_context){
    .store = store,
    .base = pks__snapshot_retain(pks__txn_snapshot(txn)),
    .home = {.vfs = store->vfs, .folder = txn->staging.folder, .key = store->map_key},
    .version = request->version,
    .committed_at_ns = request->committed_at_ns,
    .without_frames = request->without_frames,
    .max_rows = request->max_rows,
    .goes_on_context = request->context,
    .goes_on = request->goes_on,
  };
  (void)snprintf(context->pack, sizeof context->pack, "%s", request->pack);
  memcpy(context->catalog.bytes, request->catalog, sizeof context->catalog.bytes);
  memcpy(context->layout.bytes, request->layout, sizeof context->layout.bytes);
  memcpy(context->attributes.bytes, request->attributes, sizeof context->attributes.bytes);
}

pks_status pks__delivery_context_open(pks__delivery_context *context, pks_error *error) {
  context->decoder = pks__decoder_create();
  if (!context->decoder) { return pks__fail_memory(error); }
  return pks__transfer_staging_open(
    &context->incoming, context->store, &context->home, context->pack, &context->catalog, error
  );
}

void pks__delivery_context_own(
  pks__delivery_context *context, pks__scratch *const arrays[], size_t array_count, pks__hash_map *const maps[],
  size_t map_count
) {
  PKS_ASSERT(context->array_count + array_count <= PKS_COUNT_OF(context->arrays));
  PKS_ASSERT(context->map_count + map_count <= PKS_COUNT_OF(context->maps));
  for (size_t i = 0; i < array_count; i++) {
    pks__scratch_init(arrays[i], &context->home);
    context->arrays[context->array_count++] = arrays[i];
  }
  for (size_t i = 0; i < map_count; i++) {
    pks__hash_map_init(maps[i], &context->home);
    context->maps[context->map_count++] = maps[i];
  }
}

void pks__delivery_context_leave(pks__delivery_context *context) {
  for (size_t i = 0; i < context->array_count; i++) { pks__scratch_free(context->arrays[i]); }
  for (size_t i = 0; i < context->map_count; i++) { pks__hash_map_free(context->maps[i]); }
  pks__decoder_destroy(context->decoder);
  pks__snapshot_release(context->base);
  context->decoder = NULL;
  context->base = NULL;
}

pks_status pks__delivery_check_room(const pks__delivery_context *context, uint64_t needed, pks_error *error) {
  const pks_vfs *vfs = context->store->vfs;
  uint64_t left = 0;
  // A file system that cannot say how much is left fails when it is used up.
  if (pks__vfs_free_bytes(vfs, context->store->root, &left) || left >= needed) { return PKS_OK; }
  bool made = pks__vfs_makes_room(vfs, ENOSPC, needed - left);
  if (made && (pks__vfs_free_bytes(vfs, context->store->root, &left) || left >= needed)) { return PKS_OK; }
  (void)pks__fail_about(
    error, PKS_NO_SPACE, PKS_DETAIL_NONE, PKS_SUBJECT_PACK, context->pack,
    "not enough disk space for the rest of the delivery"
  );
  if (error) { error->needed = needed; }
  return PKS_NO_SPACE;
}

pks_status pks__delivery_tick(pks__delivery_context *context, pks_error *error) {
  bool is_due = ++context->ticks % PKS__ROWS_PER_TICK == 0 && context->goes_on;
  if (!is_due || context->goes_on(context->goes_on_context)) { return PKS_OK; }
  return pks__fail(error, PKS_CANCELLED, "cancelled", NULL, PKS_NO_OFFSET);
}

pks_status pks__delivery_corrupt(const pks__delivery_context *context, const char *text, pks_error *error) {
  return pks__fail_about(error, PKS_CORRUPT, PKS_DETAIL_NONE, PKS_SUBJECT_PACK, context->pack, text);
}
