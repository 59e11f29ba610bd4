#include "UsedChunks.h"

#include <string.h>

#include "catalog/catalog.h"
#include "index/extent_walk.h"
#include "read/run_merge.h"
#include "space/chunk_use.h"
#include "space/live_set.h"
#include "store/chunk_lookup.h"
#include "store/segment_list.h"
#include "store/segment_registry.h"

/// Calls `each` for the selected versions.
static pks_status for_versions(
  pks_snapshot *snapshot, uint32_t pack, uint32_t version,
  pks_status (*each)(void *context, uint32_t pack, const pks__version *version, pks_error *error), void *context,
  pks_error *error
) {
  const pks__generation *generation = &snapshot->generation;
  pks_status status = PKS_OK;
  for (uint32_t at = 0; at < generation->pack_count + generation->removed_count; at++) {
    const pks__pack_state *state = pks__generation_any_pack(generation, at);
    for (uint32_t i = 0; !status && i < state->version_count; i++) {
      if (pack != UINT32_MAX && (pack != at || (version != UINT32_MAX && version != i))) { continue; }
      status = each(context, at, &state->versions[i], error);
    }
  }
  return status;
}

/// A row during a visit.
static pks_status chunk_at(pks__segment *segment, uint32_t row, used_chunk *out, pks_error *error) {
  const pks__id *id;
  pks_status status = pks__segment_chunk_id(segment, row, &id, error);
  if (status) { return status; }
  *out = (used_chunk){.row = row, .is_page = segment->kind == PKS__SEGMENT_METADATA};
  memcpy(out->segment, segment->id.bytes, sizeof out->segment);
  memcpy(out->id, id->bytes, sizeof out->id);
  return PKS_OK;
}

// MARK: - Computed by the core

typedef struct use_walk {
  pks__chunk_use use;
  pks__live_set live;
  pks_snapshot *snapshot;
} use_walk;

static pks_status use_version(void *context, uint32_t pack, const pks__version *version, pks_error *error) {
  (void)pack;
  use_walk *walk = context;
  pks_status status = pks__chunk_use_add_version(&walk->use, walk->snapshot, version, error);
  return status ? status : pks__live_set_add_version(&walk->live, walk->snapshot, version, error);
}

static pks_status visit_segment(
  use_walk *walk, const pks__segment_use *used, used_sums *sums, used_chunk_visitor *visit, void *context,
  pks_error *error
) {
  pks__segment_sums measured;
  pks_status status = pks__chunk_use_measure(&walk->use, used, &measured, error);
  if (status) { return status; }
  sums->frame_raw_bytes += measured.needed_raw_bytes;
  sums->needed_frame_count += measured.needed_frame_count;
  sums->needed_stored_bytes += measured.needed_stored_bytes;
  sums->sparse_frame_count += measured.sparse_frame_count;
  char name[PKS__SEGMENT_NAME];
  pks__segment_name(&used->id, name);
  bool is_live = pks__live_set_has(&walk->live, name, strlen(name));
  sums->segments_not_live += !is_live && measured.needed_frame_count > 0;
  for (uint32_t row = 0; !status && row < used->segment->chunk_count; row++) {
    used_chunk chunk;
    if (!pks__chunk_use_has(&walk->use, used, row)) { continue; }
    status = chunk_at(used->segment, row, &chunk, error);
    if (!status) { visit(context, &chunk); }
  }
  return status;
}

pks_status used_chunks(
  used_sums *sums, const pks_snapshot *snapshot, uint32_t pack, uint32_t version, const uint8_t *only, uint32_t rounds,
  used_chunk_visitor *visit, void *context, pks_error *error
) {
  pks__segment_set set;
  pks__segment_id id;
  use_walk walk = {.snapshot = pks__snapshot_mutable(snapshot), .live = pks__live_set_make(snapshot->store)};
  pks__segment_set_init(&set, NULL);
  pks_status status = PKS_OK;
  if (only) {
    memcpy(id.bytes, only, sizeof id.bytes);
    status = pks__segment_set_add(&set, &id, error);
  }
  pks__chunk_use_init(&walk.use, snapshot->store, NULL, only ? &set : NULL);
  for (uint32_t round = 0; !status && round < rounds; round++) {
    status = for_versions(walk.snapshot, pack, version, use_version, &walk, error);
  }
  *sums = (used_sums){
    .chunk_count = walk.use.data.chunk_count + walk.use.pages.chunk_count,
    .raw_bytes = walk.use.data.raw_bytes + walk.use.pages.raw_bytes,
    .stored_bytes = walk.use.data.stored_bytes + walk.use.pages.stored_bytes,
  };
  for (uint32_t i = 0; !status && i < pks__chunk_use_segment_count(&walk.use); i++) {
    const pks__segment_use *used = pks__chunk_use_segment(&walk.use, i);
    if (used->segment) { status = visit_segment(&walk, used, sums, visit, context, error); }
  }
  pks__chunk_use_free(&walk.use);
  pks__live_set_free(&walk.live);
  pks__segment_set_free(&set);
  return status;
}

// MARK: - Computed by the simplest walk

typedef struct reach {
  pks_snapshot *snapshot;
  pks__segment_list segments;
  bool records;
  used_chunk_visitor *visit;
  void *context;
} reach;

static pks_status open_segment(reach *reach, uint32_t number, pks__segment **out, pks_error *error) {
  const pks__listed_segment *listed = pks__segment_list_at(&reach->segments, number);
  pks_status status = pks__snapshot_segment(reach->snapshot, listed->run, listed->index, out, error);
  return status ? status : pks__segment_need_table(*out, error);
}

/// Visits every copy of a page.
static pks_status reach_page(reach *reach, const pks__id *id, pks_error *error) {
  for (uint32_t number = 0; number < pks__segment_list_count(&reach->segments); number++) {
    pks__segment *segment;
    pks_status status = open_segment(reach, number, &segment, error);
    if (status == PKS_PURGED) { continue; }
    if (status) { return status; }
    if (segment->kind != PKS__SEGMENT_METADATA) { continue; }
    for (uint32_t row = 0; row < segment->chunk_count; row++) {
      used_chunk chunk;
      status = chunk_at(segment, row, &chunk, error);
      if (status) { return status; }
      if (memcmp(chunk.id, id->bytes, sizeof chunk.id) == 0) { reach->visit(reach->context, &chunk); }
    }
  }
  return PKS_OK;
}

/// A source of pages that visits each requested page.
static pks_status get_page(void *context, const pks__id *id, pks__scratch *out, pks_error *error) {
  reach *reach = context;
  pks__page_source pages = pks__snapshot_pages(reach->snapshot);
  pks_status status = pages.get(pages.context, id, out, error);
  return status ? status : reach_page(reach, id, error);
}

/// Visits the chunks that overlap [begin, end) of the raw bytes of a segment, with all frames in sequence.
static pks_status reach_bytes(reach *reach, pks__segment *segment, uint64_t begin, uint64_t end, pks_error *error) {
  uint64_t frame_begin = 0;
  for (uint32_t index = 0; index < segment->frame_count; index++) {
    pks__frame frame;
    pks_status status = pks__segment_frame(segment, index, &frame, error);
    for (uint32_t i = 0; !status && i < frame.chunk_count; i++) {
      pks__chunk_place place;
      used_chunk chunk;
      status = pks__segment_chunk(segment, frame.first_chunk + i, &place, error);
      if (status || frame_begin + place.begin >= end || frame_begin + place.end <= begin) { continue; }
      status = chunk_at(segment, frame.first_chunk + i, &chunk, error);
      if (!status) { reach->visit(reach->context, &chunk); }
    }
    if (status) { return status; }
    frame_begin += frame.ref.raw_length;
  }
  return PKS_OK;
}

/// Returns the offset of a frame's bytes in the raw bytes of its segment.
static pks_status raw_begin(pks__segment *segment, uint32_t index, uint64_t offset, uint64_t *out, pks_error *error) {
  *out = 0;
  for (uint32_t i = 0; i < segment->frame_count; i++) {
    pks__frame frame;
    pks_status status = pks__segment_frame(segment, i, &frame, error);
    if (status || i == index || frame.ref.offset == offset) { return status; }
    *out += frame.ref.raw_length;
  }
  return pks__fail(error, PKS_CORRUPT, "no such frame", segment->name, offset);
}

static pks_status reach_extent(reach *reach, const pks__layout_extent *extent, pks_error *error) {
  pks__segment *segment;
  uint64_t begin;
  uint32_t number = pks__segment_list_find(&reach->segments, &extent->segment);
  if (number == PKS__NO_SEGMENT) { return pks__fail(error, PKS_CORRUPT, "no such segment", NULL, PKS_NO_OFFSET); }
  pks_status status = open_segment(reach, number, &segment, error);
  if (!status) { status = raw_begin(segment, pks__get32(extent->frame), UINT64_MAX, &begin, error); }
  if (status) { return status; }
  begin += pks__get32(extent->skip);
  return reach_bytes(reach, segment, begin, begin + pks__get64(extent->length), error);
}

static pks_status reach_layout(reach *reach, const pks__tree *map, pks_error *error) {
  pks__page_source pages = {.context = reach, .get = get_page};
  pks__tree_cursor cursor;
  pks__tree_cursor_init(&cursor, pages, PKS__TREE_MAP, 0, map);
  bool more = true;
  pks_status status = PKS_OK;
  while (!status && more) {
    pks__layout_entry entry;
    pks__extent_cursor extents;
    status = pks__tree_cursor_next(&cursor, &more, error);
    if (status || !more) { break; }
    if (!pks__layout_entry_decode(cursor.value, cursor.value_length, &entry)) {
      status = pks__fail(error, PKS_CORRUPT, "bad layout entry", NULL, PKS_NO_OFFSET);
      break;
    }
    pks__extent_cursor_init(&extents, pages, &entry);
    for (bool left = true; !status && left;) {
      pks__layout_extent extent;
      status = pks__extent_cursor_next(&extents, &extent, &left, error);
      if (!status && left) { status = reach_extent(reach, &extent, error); }
    }
    pks__extent_cursor_free(&extents);
  }
  pks__tree_cursor_free(&cursor);
  return status;
}

static pks_status reach_catalog(reach *reach, const pks__tree *map, pks_error *error) {
  pks__page_source pages = {.context = reach, .get = get_page};
  pks__tree_cursor cursor;
  pks__tree_cursor_init(&cursor, pages, PKS__TREE_MAP, 0, map);
  bool more = true;
  pks_status status = PKS_OK;
  while (!status && more) {
    pks__catalog_entry entry;
    pks__chunk_cursor chunks;
    status = pks__tree_cursor_next(&cursor, &more, error);
    if (!status && more) { status = pks__catalog_entry_read(&cursor, &entry, error); }
    if (status || !more) { break; }
    pks__chunk_cursor_init(&chunks, pages, &entry);
    for (bool left = true; !status && left;) {
      pks__catalog_chunk chunk;
      status = pks__chunk_cursor_next(&chunks, &chunk, &left, error);
    }
    pks__chunk_cursor_free(&chunks);
  }
  pks__tree_cursor_free(&cursor);
  return status;
}

static pks_status reach_record(reach *reach, const pks__hit *hit, pks_error *error) {
  pks__extent_walk walk = pks__extent_walk_make(&reach->snapshot->runs[hit->run].open->run, &hit->entry);
  for (bool more = true;;) {
    pks__extent_part part;
    pks__segment *segment;
    uint64_t begin;
    pks_status status = pks__extent_walk_next(&walk, &part, &more, error);
    if (status || !more) { return status; }
    status = open_segment(reach, reach->segments.numbers[hit->run][part.frame.segment], &segment, error);
    if (!status) { status = raw_begin(segment, UINT32_MAX, part.frame.ref.offset, &begin, error); }
    if (!status) { status = reach_bytes(reach, segment, begin + part.begin, begin + part.end, error); }
    if (status) { return status; }
  }
}

static pks_status reach_records(reach *reach, uint32_t rank, pks_error *error) {
  pks__run_merge merge = {0};
  pks_status status = pks__run_merge_open(&merge, reach->snapshot, error);
  if (!status) { status = pks__run_merge_seek(&merge, "", 0, error); }
  for (bool more = true; !status && more;) {
    status = pks__run_merge_next(&merge, &more, error);
    for (uint32_t i = 0; !status && more && i < merge.hit_count; i++) {
      const pks__hit *hit = &merge.hits[i];
      if (hit->rank == rank && hit->entry.kind == PKS__RECORD_FILE) { status = reach_record(reach, hit, error); }
    }
  }
  pks__run_merge_close(&merge);
  return status;
}

static pks_status reach_version(void *context, uint32_t pack, const pks__version *version, pks_error *error) {
  reach *reach = context;
  pks__page_source pages = {.context = reach, .get = get_page};
  pks__scratch bytes = {0};
  pks__layout_root layout;
  pks__catalog_info info;
  pks__tree catalog;
  pks_status status = pks__layout_read_root(pages, &version->layout, &layout, &bytes, error);
  if (!status) { status = reach_layout(reach, &layout.map, error); }
  if (!status) { status = pks__catalog_read_root(pages, &version->catalog, &info, &catalog, error); }
  if (!status) { status = reach_catalog(reach, &catalog, error); }
  bytes.length = 0;
  if (!status) { status = pks__attributes_read(pages, &version->attributes, &bytes, error); }
  pks__scratch_free(&bytes);
  const pks__generation *generation = &reach->snapshot->generation;
  bool is_current = pack < generation->pack_count && version == &generation->packs[pack].versions[0];
  return status || !is_current || !reach->records ? status : reach_records(reach, pack, error);
}

pks_status reached_chunks(
  const pks_snapshot *snapshot, uint32_t pack, uint32_t version, bool records, used_chunk_visitor *visit, void *context,
  pks_error *error
) {
  reach reach = {.snapshot = pks__snapshot_mutable(snapshot), .records = records, .visit = visit, .context = context};
  pks_status status = pks__segment_list_open(&reach.segments, snapshot, error);
  for (uint32_t i = 0; !status && i < snapshot->run_count; i++) {
    status = pks__segment_list_add(&reach.segments, i, &snapshot->runs[i].open->run, error);
  }
  if (!status) { status = for_versions(reach.snapshot, pack, version, reach_version, &reach, error); }
  pks__segment_list_close(&reach.segments);
  return status;
}
