/// Making change lists to a version that a store keeps from earlier ones.
#include <string.h>

#include "base/memory.h"
#include "delta/delta_plan.h"
#include "ingest/staging.h"
#include "transfer/change_list.h"
#include "transfer/frame_walk.h"
#include "transfer/site_version.h"

typedef struct pks_change_lister {
  pks_snapshot *snapshot;
  uint32_t pack;
  pks__staging staging;  ///< zeroed when the store may not be written: then all is in memory
  pks__scratch_folder *home;
  pks__delta_plan plan;
  pks__site_version to;
  pks__segment_marks marks;
  pks__hash_map segment_numbers;  ///< id -> number in the manifest
  uint64_t next_new;              ///< new chunk whose place comes next
  pks__scratch ids;               ///< pks__id of new chunks
  pks__scratch body;
  pks__scratch mapped_places;  ///< bytes: of map assets
  pks__listed_place last_chunk, last_mapped;
  pks__scratch attributes;
  pks__scratch out;
} pks_change_lister;

// MARK: - Segments

static pks_status number_segments(pks_change_lister *lister, pks_error *error) {
  pks_status status = PKS_OK;
  for (uint64_t i = 0; !status && i < PKS__SCRATCH_COUNT(&lister->to.segments, pks__segment_id); i++) {
    const pks__segment_id *id = PKS__SCRATCH_AT(&lister->to.segments, const pks__segment_id, i);
    uint64_t key = pks__hash_map_key(&lister->segment_numbers, id, sizeof *id);
    status = pks__hash_map_insert(&lister->segment_numbers, key, (uint32_t)i, error);
  }
  return status;
}

static pks_status find_segment(
  const pks_change_lister *lister, const pks__frame_walk *walk, uint32_t *out, pks_error *error
) {
  uint64_t key = pks__hash_map_key(&lister->segment_numbers, &walk->segment, sizeof walk->segment), probe = 0;
  while (pks__hash_map_next(&lister->segment_numbers, key, &probe, out)) {
    const pks__segment_id *id = PKS__SCRATCH_AT(&lister->to.segments, const pks__segment_id, *out);
    if (pks__segment_id_equal(id, &walk->segment)) { return PKS_OK; }
  }
  const char *text = "the layout names a segment that the version lacks";
  return pks__fail_at_path(error, PKS_CORRUPT, text, walk->path, walk->path_length);
}

// MARK: - Places

static pks_status put_place(
  pks__scratch *out, const pks__listed_place *place, const pks__listed_place *expected, pks_error *error
) {
  uint8_t bytes[PKS__LISTED_PLACE_BYTES_MAX];
  return pks__scratch_append(out, bytes, pks__listed_place_put(bytes, place, expected), error);
}

static uint64_t new_count(const pks_change_lister *lister) {
  return PKS__SCRATCH_COUNT(&lister->plan.new_rows, uint64_t);
}

/// Returns the row in B of the next new chunk; UINT64_MAX: none.
static uint64_t next_row(const pks_change_lister *lister) {
  return lister->next_new < new_count(lister)
    ? *PKS__SCRATCH_AT(&lister->plan.new_rows, const uint64_t, lister->next_new)
    : UINT64_MAX;
}

/// Lists the chunk that the walk passed last.
static pks_status list_chunk(
  pks_change_lister *lister, const pks__frame_walk *walk, const pks__listed_chunk *chunk, pks_error *error
) {
  uint8_t length[PKS__VARINT_MAX];
  pks__listed_place place = {.frame = walk->index, .begin = walk->begin};
  pks_status status = find_segment(lister, walk, &place.segment, error);
  if (!status) { status = pks__scratch_append(&lister->ids, &chunk->id, sizeof chunk->id, error); }
  if (!status) { status = pks__scratch_append(&lister->body, length, pks__put_varint(length, chunk->length), error); }
  if (!status) { status = put_place(&lister->body, &place, &lister->last_chunk, error); }
  place.begin = walk->next;
  lister->last_chunk = place;
  lister->next_new++;
  return status;
}

/// Lists the new chunks of an item which has some.
static pks_status list_chunks(pks_change_lister *lister, pks__frame_walk *walk, uint64_t item, pks_error *error) {
  const pks__version_list *to = &lister->plan.to;
  uint64_t end = pks__version_list_first_row(to, item + 1);
  pks_status status = PKS_OK;
  for (uint64_t row = pks__version_list_first_row(to, item); !status && next_row(lister) < end; row++) {
    const pks__listed_chunk *chunk = pks__version_list_chunk(to, row);
    status = pks__frame_walk_pass(walk, chunk->length, error);
    if (!status && row == next_row(lister)) { status = list_chunk(lister, walk, chunk, error); }
  }
  return status;
}

static pks_status list_mapped(pks_change_lister *lister, const pks__frame_walk *walk, pks_error *error) {
  pks__listed_place place = {.frame = walk->index, .begin = walk->next};
  pks_status status = find_segment(lister, walk, &place.segment, error);
  if (!status) { status = put_place(&lister->mapped_places, &place, &lister->last_mapped, error); }
  lister->last_mapped = place;
  return status;
}

/// Reads the layout's entry of an item, which comes next there.
static pks_status read_place(
  const pks__item *item, const char *path, const pks__tree_cursor *places, pks__layout_entry *out, pks_error *error
) {
  size_t length;
  const char *key = pks__tree_cursor_key(places, &length), *text = NULL;
  bool fits = pks__compare_bytes(key, length, path, item->path_length) == 0
    && pks__layout_entry_decode(places->value, places->value_length, out);
  if (!fits) {
    text = "missing in the layout";
  } else if (out->mapped != item->mapped) {
    // The map assets were read with all faults ignored, but clients follow the list.
    text = "the layout could not be read completely";
  }
  return text ? pks__fail_at_path(error, PKS_CORRUPT, text, path, item->path_length) : PKS_OK;
}

static pks_status list_item(
  pks_change_lister *lister, uint64_t index, const pks__tree_cursor *places, pks_error *error
) {
  const pks__version_list *to = &lister->plan.to;
  const pks__item *item = pks__entry_list_at(&to->listing, index);
  const char *path = pks__entry_list_path(&to->listing, item);
  pks__layout_entry place;
  pks_status status = read_place(item, path, places, &place, error);
  if (status || next_row(lister) >= pks__version_list_first_row(to, index + 1)) { return status; }
  pks__frame_walk walk;
  pks__frame_walk_init(&walk, &lister->marks, pks__snapshot_pages(lister->snapshot), path, item->path_length, &place);
  if (item->mapped) {
    status = pks__frame_walk_next(&walk, error);
    if (!status) { status = list_mapped(lister, &walk, error); }
  }
  if (!status) { status = list_chunks(lister, &walk, index, error); }
  pks__frame_walk_free(&walk);
  return status;
}

/// Goes through the layout, which has an entry for each file that has bytes.
static pks_status list_places(pks_change_lister *lister, pks_error *error) {
  const pks__entry_list *listing = &lister->plan.to.listing;
  pks__tree_cursor places;
  bool more = true;
  pks_status status = PKS_OK;
  pks__tree_cursor_init(&places, pks__snapshot_pages(lister->snapshot), PKS__TREE_MAP, 0, &lister->to.layout.map);
  for (uint64_t i = 0; !status && i < pks__entry_list_count(listing); i++) {
    const pks__item *item = pks__entry_list_at(listing, i);
    if (item->kind != PKS__RECORD_FILE || item->size == 0) { continue; }
    status = pks__tree_cursor_next(&places, &more, error);
    if (!status && !more) {
      status = pks__fail(error, PKS_CORRUPT, "the layout lacks some assets", NULL, PKS_NO_OFFSET);
    }
    if (!status) { status = list_item(lister, i, &places, error); }
  }
  pks__tree_cursor_free(&places);
  return status ? status
                : pks__scratch_append(&lister->body, lister->mapped_places.bytes, lister->mapped_places.length, error);
}

// MARK: - The list

static const char *pack_name(const pks_change_lister *lister) {
  return pks__generation_any_pack(&lister->snapshot->generation, lister->pack)->name;
}

static pks_status refuse_size(const pks_change_lister *lister, pks_error *error) {
  const char *text = "the versions differ by more than a change list can contain";
  return pks__fail_about(error, PKS_INVALID_ARGUMENT, PKS_DETAIL_LIMIT, PKS_SUBJECT_PACK, pack_name(lister), text);
}

static pks_status write_list(pks_change_lister *lister, const pks__version *from, pks_error *error) {
  const pks__catalog_info *info = &lister->plan.to.info;
  if (lister->body.length > PKS__CHANGE_LIST_BODY_MAX) { return refuse_size(lister, error); }
  pks__change_list list = {
    .chunk_average = info->chunk_average,
    .from = from->catalog,
    .to = lister->to.version->catalog,
    .file_count = info->file_count,
    .link_count = info->link_count,
    .folder_count = info->folder_count,
    .logical_bytes = info->logical_bytes,
    .new_bytes = lister->plan.new_bytes,
    .chunk_count = (uint32_t)new_count(lister),
    .attribute_byte_count = (uint32_t)lister->attributes.length,
    .description_length = (uint32_t)lister->plan.description.length,
    .body_length = (uint32_t)lister->body.length,
    .attributes = lister->attributes.bytes,
    .ids = PKS__SCRATCH_AT(&lister->ids, const pks__id, 0),
    .body = lister->body.bytes,
  };
  return pks__change_list_write(&list, &lister->out, pack_name(lister), error);
}

static pks_status make_list(pks_change_lister *lister, const pks__version *from, pks_error *error) {
  pks__scratch *arrays[] = {&lister->ids, &lister->body, &lister->mapped_places, &lister->out};
  for (size_t i = 0; i < PKS_COUNT_OF(arrays); i++) { arrays[i]->length = 0; }
  lister->next_new = 0;
  lister->last_chunk = lister->last_mapped = (pks__listed_place){0};
  pks_status status = pks__delta_plan_compare(&lister->plan, from, error);
  if (!status && new_count(lister) > PKS__CHANGE_LIST_MAX / sizeof(pks__id)) { status = refuse_size(lister, error); }
  const pks__scratch *description = &lister->plan.description;
  if (!status) { status = pks__scratch_append(&lister->body, description->bytes, description->length, error); }
  if (!status) { status = list_places(lister, error); }
  return status ? status : write_list(lister, from, error);
}

// MARK: - Several lists

static pks_status open_lister(pks_change_lister *lister, uint64_t to, pks_error *error) {
  pks_snapshot *snapshot = lister->snapshot;
  pks_status status = pks__site_version_open(&lister->to, snapshot, lister->pack, to, error);
  if (!status && snapshot->store->may_write) {
    status = pks__staging_open(&lister->staging, snapshot->store, error);
    if (!status) { lister->home = &lister->staging.scratch; }
  }
  pks__hash_map_init(&lister->segment_numbers, lister->home);
  pks__scratch *arrays[] = {&lister->ids, &lister->body, &lister->mapped_places, &lister->attributes, &lister->out};
  for (size_t i = 0; i < PKS_COUNT_OF(arrays); i++) { pks__scratch_init(arrays[i], lister->home); }
  const pks__version *version = lister->to.version;
  if (!status) { status = pks__delta_plan_open(&lister->plan, snapshot, version, lister->home, error); }
  if (!status && pks__version_list_rows(&lister->plan.to) > PKS__CHANGE_LIST_ROWS_MAX) {
    status = refuse_size(lister, error);
  }
  if (!status) { status = number_segments(lister, error); }
  if (status) { return status; }
  return pks__attributes_read(pks__snapshot_pages(snapshot), &version->attributes, &lister->attributes, error);
}

pks_status pks_change_lister_open(
  pks_change_lister **out, const pks_snapshot *snapshot, uint32_t pack, uint64_t to, pks_error *error
) {
  *out = NULL;
  pks_status status = pks__store_check_process(snapshot->store, error);
  if (status) { return status; }
  pks_change_lister *lister = pks__allocate_zeroed(1, sizeof *lister);
  if (!lister) { return pks__fail_memory(error); }
  lister->snapshot = pks__snapshot_mutable(snapshot);
  lister->pack = pack;
  pks__segment_marks_init(&lister->marks, snapshot->store);
  status = open_lister(lister, to, error);
  if (status) {
    pks_change_lister_close(lister);
  } else {
    *out = lister;
  }
  return status;
}

pks_status pks_change_lister_list(
  pks_change_lister *lister, uint64_t from, bool (*write)(void *context, const void *bytes, size_t byte_count),
  void *context, pks_error *error
) {
  pks_status status = pks__store_check_process(lister->snapshot->store, error);
  if (status) { return status; }
  pks__site_version old;
  status = pks__site_version_open(&old, lister->snapshot, lister->pack, from, error);
  if (!status) { status = make_list(lister, old.version, error); }
  if (!status && !write(context, lister->out.bytes, (size_t)lister->out.length)) {
    status = pks__fail(error, PKS_CANCELLED, "cancelled", NULL, PKS_NO_OFFSET);
  }
  pks__site_version_close(&old);
  return status;
}

void pks_change_lister_close(pks_change_lister *lister) {
  if (!lister) { return; }
  pks__scratch *arrays[] = {&lister->ids, &lister->body, &lister->mapped_places, &lister->attributes, &lister->out};
  for (size_t i = 0; i < PKS_COUNT_OF(arrays); i++) { pks__scratch_free(arrays[i]); }
  pks__hash_map_free(&lister->segment_numbers);
  pks__segment_marks_free(&lister->marks);
  pks__delta_plan_close(&lister->plan);
  pks__site_version_close(&lister->to);
  pks__staging_close(&lister->staging);
  pks__free(lister);
}
