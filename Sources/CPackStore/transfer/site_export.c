/// Queries of a publisher: the segments of a version, and their frame tables.
#include <string.h>

#include "segment/frame_table.h"
#include "store/segment_registry.h"
#include "transfer/site_version.h"

typedef bool segment_visitor(void *context, const uint8_t id[16], bool is_metadata, uint64_t file_length);

static pks_status visit_segment(
  pks_snapshot *snapshot, const pks__segment_id *id, segment_visitor *visit, void *context, pks_error *error
) {
  pks__segment *segment;
  bool goes_on = true;
  pks_status status = pks__store_get_segment(snapshot->store, id, &segment, error);
  if (status) { return status; }
  status = pks__segment_need_table(segment, error);
  if (!status) {
    goes_on = visit(context, segment->id.bytes, segment->kind == PKS__SEGMENT_METADATA, segment->file_length);
  }
  pks__store_release_segment(snapshot->store, segment);
  return goes_on ? status : pks__fail(error, PKS_CANCELLED, "cancelled", NULL, PKS_NO_OFFSET);
}

pks_status pks_snapshot_visit_segments(
  const pks_snapshot *snapshot, uint32_t pack, uint64_t version, segment_visitor *visit, void *context, pks_error *error
) {
  pks_status status = pks__store_check_process(snapshot->store, error);
  if (status) { return status; }
  pks_snapshot *open = pks__snapshot_mutable(snapshot);
  pks__site_version found;
  status = pks__site_version_open(&found, open, pack, version, error);
  for (uint64_t i = 0; !status && i < PKS__SCRATCH_COUNT(&found.segments, pks__segment_id); i++) {
    const pks__segment_id *id = PKS__SCRATCH_AT(&found.segments, const pks__segment_id, i);
    status = visit_segment(open, id, visit, context, error);
  }
  pks__site_version_close(&found);
  return status;
}

pks_status pks_snapshot_frame_table(
  const pks_snapshot *snapshot, const uint8_t segment[16],
  bool (*write)(void *context, const void *bytes, size_t byte_count), void *context, pks_error *error
) {
  pks_store *store = snapshot->store;
  pks_status status = pks__store_check_process(store, error);
  if (status) { return status; }
  if (!store->sha256) {
    return pks__fail_about(
      error, PKS_INVALID_ARGUMENT, PKS_DETAIL_NO_HASH, PKS_SUBJECT_STORE, NULL, "frame tables need 'pks_options.sha256'"
    );
  }
  pks__segment_id id;
  pks__segment *open;
  memcpy(id.bytes, segment, sizeof id.bytes);
  status = pks__store_get_segment(store, &id, &open, error);
  if (status) { return status; }
  status = pks__frame_table_write(open, store->sha256, store->sha256_many, write, context, error);
  pks__store_release_segment(store, open);
  return status;
}

/// The mapped table, after all of it was checked.
static pks_status write_table(
  pks__segment *segment, bool (*write)(void *context, const void *bytes, size_t byte_count), void *context,
  pks_error *error
) {
  pks_status status = pks__segment_need_table(segment, error);
  if (!status && segment->kind == PKS__SEGMENT_METADATA) {
    const char *text = "a segment with pages is copied as a whole; its table alone is not enough";
    status = pks__fail(error, PKS_INVALID_ARGUMENT, text, segment->name, PKS_NO_OFFSET);
  }
  const pks__table *table = &segment->table;
  if (!status) { status = pks__table_check(&segment->table, 0, table->body_length, error); }
  if (status) { return status; }
  const uint8_t *bytes = table->mapping + (table->body_offset - table->mapping_begin);
  bool goes_on = write(context, bytes, (size_t)(table->file_length - table->body_offset));
  return goes_on ? PKS_OK : pks__fail(error, PKS_CANCELLED, "cancelled", NULL, PKS_NO_OFFSET);
}

pks_status pks_snapshot_segment_table(
  const pks_snapshot *snapshot, const uint8_t segment[16],
  bool (*write)(void *context, const void *bytes, size_t byte_count), void *context, pks_error *error
) {
  pks_store *store = snapshot->store;
  pks__segment_id id;
  pks__segment *open;
  memcpy(id.bytes, segment, sizeof id.bytes);
  pks_status status = pks__store_check_process(store, error);
  if (!status) { status = pks__store_get_segment(store, &id, &open, error); }
  if (status) { return status; }
  status = write_table(open, write, context, error);
  pks__store_release_segment(store, open);
  return status;
}
