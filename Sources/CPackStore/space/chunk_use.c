#include "space/chunk_use.h"

#include <string.h>

#include "catalog/catalog.h"
#include "index/extent_walk.h"
#include "read/namespace.h"
#include "store/chunk_lookup.h"
#include "store/segment_registry.h"

void pks__chunk_use_init(
  pks__chunk_use *use, pks_store *store, pks__scratch_folder *home, const pks__segment_set *only
) {
  *use = (pks__chunk_use){.store = store, .only = only};
  pks__scratch_init(&use->segments, home);
  pks__scratch_init(&use->bits, home);
  pks__scratch_init(&use->order, home);
  pks__scratch_init(&use->by_id.slots, home);
  use->by_id.key = store->map_key;
}

void pks__chunk_use_free(pks__chunk_use *use) {
  for (uint32_t i = 0; i < pks__chunk_use_segment_count(use); i++) {
    pks__segment *segment = pks__chunk_use_segment(use, i)->segment;
    if (segment) { pks__store_release_segment(use->store, segment); }
  }
  pks__scratch_free(&use->segments);
  pks__scratch_free(&use->bits);
  pks__scratch_free(&use->order);
  pks__hash_map_free(&use->by_id);
  *use = (pks__chunk_use){0};
}

// MARK: - Segments

static bool find_number(const pks__chunk_use *use, const pks__segment_id *id, uint32_t *number) {
  uint64_t key = pks__hash_map_key(&use->by_id, id, sizeof *id), probe = 0;
  while (pks__hash_map_next(&use->by_id, key, &probe, number)) {
    if (pks__segment_id_equal(&pks__chunk_use_segment(use, *number)->id, id)) { return true; }
  }
  return false;
}

const pks__segment_use *pks__chunk_use_find(const pks__chunk_use *use, const pks__segment_id *id) {
  uint32_t number;
  return find_number(use, id, &number) ? pks__chunk_use_segment(use, number) : NULL;
}

/// Makes a row of a segment, with bits if it is open. The reference is the row's, or gone on an error.
static pks_status add_segment(pks__chunk_use *use, pks__segment_use row, uint32_t *number, pks_error *error) {
  *number = pks__chunk_use_segment_count(use);
  row.first_word = use->bits.length / sizeof(uint64_t);
  pks_status status = row.segment ? pks__segment_need_table(row.segment, error) : PKS_OK;
  if (!status && row.segment) {
    uint64_t words = (uint64_t)row.segment->chunk_count / 64 + 1;
    status = pks__scratch_append(&use->bits, NULL, words * sizeof(uint64_t), error);
  }
  if (!status) { status = pks__scratch_append(&use->segments, &row, sizeof row, error); }
  if (!status) {
    status = pks__hash_map_insert(&use->by_id, pks__hash_map_key(&use->by_id, &row.id, sizeof row.id), *number, error);
    if (status) { use->segments.length -= sizeof row; }
  }
  if (status && row.segment) { pks__store_release_segment(use->store, row.segment); }
  return status;
}

/// Returns the number of a segment with chunks of assets. Opens it if it is requested and exists.
static pks_status need_segment(
  pks__chunk_use *use, pks_snapshot *snapshot, const pks__segment_id *id, uint32_t *number, pks_error *error
) {
  if (find_number(use, id, number)) { return PKS_OK; }
  pks__segment_use row = {.id = *id};
  if (!use->only || pks__segment_set_has(use->only, id)) {
    pks_status status = pks__snapshot_take_segment(snapshot, id, &row.segment, error);
    if (status && status != PKS_PURGED) { return status; }
    if (status) { row.segment = NULL; }
  }
  return add_segment(use, row, number, error);
}

/// The number of a segment with pages, which a page was found in.
static pks_status need_open_segment(pks__chunk_use *use, pks__segment *segment, uint32_t *number, pks_error *error) {
  if (find_number(use, &segment->id, number)) { return PKS_OK; }
  pks__store_retain_segment(use->store, segment);
  return add_segment(use, (pks__segment_use){.id = segment->id, .segment = segment}, number, error);
}

// MARK: - Chunks

static pks_status add_visit(pks__chunk_use *use, uint32_t segment, uint32_t row, pks_error *error) {
  pks__chunk_visit visit = {.segment = segment, .row = row};
  return use->keeps_order ? pks__scratch_append(&use->order, &visit, sizeof visit, error) : PKS_OK;
}

static pks_status add_chunk(
  pks__chunk_use *use, uint32_t number, const pks__frame *frame, uint32_t row, uint32_t begin, uint32_t end,
  pks_error *error
) {
  const pks__segment_use *segment = pks__chunk_use_segment(use, number);
  uint64_t *word = PKS__SCRATCH_AT(&use->bits, uint64_t, segment->first_word + row / 64);
  uint64_t bit = (uint64_t)1 << (row % 64);
  if (*word & bit) { return PKS_OK; }
  *word |= bit;
  pks__chunk_sums *sums = segment->segment->kind == PKS__SEGMENT_METADATA ? &use->pages : &use->data;
  sums->chunk_count++;
  sums->raw_bytes += end - begin;
  sums->stored_bytes += pks__frame_stored_until(frame, end) - pks__frame_stored_until(frame, begin);
  return segment->segment->kind == PKS__SEGMENT_DATA ? add_visit(use, number, row, error) : PKS_OK;
}

/// Adds the chunks that have raw bytes of [begin, end) of a frame.
static pks_status add_part(
  pks__chunk_use *use, uint32_t number, const pks__frame *frame, uint32_t begin, uint32_t end, pks_error *error
) {
  const pks__segment_use *segment = pks__chunk_use_segment(use, number);
  const pks_le32 *ends;
  // Otherwise pages would count as gone through that were not.
  if (segment->segment->kind != PKS__SEGMENT_DATA) {
    return pks__fail(
      error, PKS_CORRUPT, "a segment of pages contains an asset", segment->segment->name, frame->ref.offset
    );
  }
  pks_status status = pks__segment_frame_ends(segment->segment, frame, &ends, error);
  if (status) { return status; }
  for (uint32_t i = 0, at = 0; !status && i < frame->chunk_count && at < end; i++) {
    uint32_t chunk_end = pks__get32(ends[i]);
    if (chunk_end > begin) { status = add_chunk(use, number, frame, frame->first_chunk + i, at, chunk_end, error); }
    at = chunk_end;
  }
  return status;
}

static pks_status add_extent(
  pks__chunk_use *use, pks_snapshot *snapshot, const pks__layout_extent *extent, pks_error *error
) {
  uint32_t number;
  pks_status status = need_segment(use, snapshot, &extent->segment, &number, error);
  pks__segment *segment = status ? NULL : pks__chunk_use_segment(use, number)->segment;
  if (!segment) { return status; }
  uint64_t skip = pks__get32(extent->skip), left = pks__get64(extent->length);
  for (uint32_t index = pks__get32(extent->frame); left > 0; index++) {
    pks__frame frame = {0};
    bool is_there = index < segment->frame_count;
    status = is_there ? pks__segment_frame(segment, index, &frame, error) : PKS_OK;
    if (status) { return status; }
    if (!is_there || skip >= frame.ref.raw_length) {
      return pks__fail(
        error, PKS_CORRUPT, "an extent of the layout does not fit its segment", segment->name, PKS_NO_OFFSET
      );
    }
    uint64_t length = pks__min64(left, frame.ref.raw_length - skip);
    status = add_part(use, number, &frame, (uint32_t)skip, (uint32_t)(skip + length), error);
    if (status) { return status; }
    left -= length;
    skip = 0;
  }
  return PKS_OK;
}

pks_status pks__chunk_use_add_record(
  pks__chunk_use *use, pks_snapshot *snapshot, uint32_t run_number, const pks__run_entry *entry, pks_error *error
) {
  if (entry->kind != PKS__RECORD_FILE) { return PKS_OK; }
  pks__run *run = &snapshot->runs[run_number].open->run;
  pks__extent_walk walk = pks__extent_walk_make(run, entry);
  uint32_t run_segment = UINT32_MAX, number = 0;
  for (;;) {
    bool more;
    pks__extent_part part;
    pks_status status = pks__extent_walk_next(&walk, &part, &more, error);
    if (status || !more) { return status; }
    if (part.frame.segment != run_segment) {
      pks__run_segment_info info;
      run_segment = part.frame.segment;
      status = pks__run_segment_at(run, run_segment, &info, error);
      if (!status) { status = need_segment(use, snapshot, &info.id, &number, error); }
      if (status) { return status; }
    }
    pks__segment_use *segment = PKS__SCRATCH_AT(&use->segments, pks__segment_use, number);
    if (!segment->segment) { continue; }
    pks__frame frame;
    status = pks__segment_find_frame(segment->segment, &part.frame, &segment->last_frame, &frame, error);
    if (!status) { status = add_part(use, number, &frame, part.begin, part.end, error); }
    if (status) { return status; }
  }
}

// MARK: - Pages

/// A version under way.
typedef struct version_walk {
  pks__chunk_use *use;
  pks_snapshot *snapshot;
  pks__segment_set listed;  ///< segments that the layout lists, and the one with its root
  uint32_t rank;            ///< rank of the pack if the version is its current one, PKS_ANY_PACK otherwise
} version_walk;

/// A tree of the version, or a page of one.
typedef struct tree_walk {
  version_walk *version;
  pks__tree_kind kind;
  uint16_t row_size;
  bool visits_known;  ///< pages that were gone through before have something to say once more
  bool is_known;      ///< this page is such a one
  uint32_t level;
  pks_status (*leaf)(const struct tree_walk *walk, const pks__tree_item *item, pks_error *error);  ///< may be NULL
} tree_walk;

/// The copy of a page that counts.
static pks_status find_page(version_walk *version, const pks__id *id, pks__chunk_ref *out, pks_error *error) {
  pks__chunk_probe probe = {0};
  pks__chunk_ref ref;
  bool found = true, any = false;
  while (found) {
    pks_status status =
      pks__snapshot_next_chunk(version->snapshot, id, PKS__SEGMENT_METADATA, &probe, &ref, &found, error);
    if (status) { return status; }
    bool is_listed = found && pks__segment_set_has(&version->listed, &ref.segment->id);
    if (found && (is_listed || !any)) { *out = ref; }
    any = any || found;
    found = found && !is_listed;
  }
  if (any) { return PKS_OK; }
  char name[2 * PKS__ID_SIZE + 1];
  pks__hex(id->bytes, sizeof id->bytes, name);
  return pks__fail(error, PKS_CORRUPT, "catalog page is missing", name, PKS_NO_OFFSET);
}

static pks_status add_row(pks__chunk_use *use, uint32_t number, uint32_t row, pks_error *error) {
  const pks__segment_use *segment = pks__chunk_use_segment(use, number);
  if (!segment->segment) { return PKS_OK; }
  pks__chunk_place place;
  pks__frame frame;
  pks_status status = pks__segment_chunk(segment->segment, row, &place, error);
  if (!status) { status = pks__segment_frame(segment->segment, place.frame, &frame, error); }
  return status ? status : add_chunk(use, number, &frame, row, place.begin, place.end, error);
}

/// Adds a page by itself.
static pks_status add_page(version_walk *version, const pks__id *id, pks_error *error) {
  pks__chunk_ref ref;
  uint32_t number;
  pks_status status = find_page(version, id, &ref, error);
  if (!status) { status = need_open_segment(version->use, ref.segment, &number, error); }
  return status ? status : add_row(version->use, number, ref.row, error);
}

static pks_status visit_item(void *context, const pks__tree_item *item, pks_error *error);

/// Adds a page and all that it leads to. It counts as gone through only when all of that is added, so that what damage
/// hid from one version is looked for again by the next.
static pks_status walk_page(tree_walk walk, const pks__id *id, pks_error *error) {
  pks__chunk_use *use = walk.version->use;
  pks__chunk_ref ref;
  uint32_t number;
  pks_status status = find_page(walk.version, id, &ref, error);
  if (!status) { status = need_open_segment(use, ref.segment, &number, error); }
  if (status) { return status; }
  const pks__segment_use *segment = pks__chunk_use_segment(use, number);
  walk.is_known = segment->segment && pks__chunk_use_has(use, segment, ref.row);
  if (walk.is_known && !walk.visits_known) { return PKS_OK; }
  if (walk.level == 0 && !walk.leaf) { return add_row(use, number, ref.row, error); }
  pks__scratch page = {0};
  status = pks__snapshot_read_chunk(walk.version->snapshot, &ref, &page, error);
  if (!status) {
    status = pks__tree_visit_items(&page, id, walk.kind, walk.row_size, walk.level, visit_item, &walk, error);
  }
  pks__scratch_free(&page);
  return status ? status : add_row(use, number, ref.row, error);
}

static pks_status visit_item(void *context, const pks__tree_item *item, pks_error *error) {
  const tree_walk *walk = context;
  if (walk->level == 0) { return walk->leaf(walk, item, error); }
  pks__id child = pks__tree_child(item);
  tree_walk below = *walk;
  below.level--;
  return walk_page(below, &child, error);
}

static pks_status walk_tree(tree_walk walk, const pks__tree *tree, pks_error *error) {
  walk.level = tree->height;
  return walk_page(walk, &tree->root, error);
}

// MARK: - Versions

static pks_status add_catalog_entry(const tree_walk *walk, const pks__tree_item *item, pks_error *error) {
  pks__catalog_entry entry;
  pks_status status =
    pks__catalog_entry_decode((const char *)item->key, item->key_length, item->body, item->body_length, &entry, error);
  if (status || entry.kind != PKS__RECORD_FILE || entry.chunk_count <= PKS__ENTRY_INLINE_ROWS) { return status; }
  tree_walk list = {.version = walk->version, .kind = PKS__TREE_LIST, .row_size = sizeof(pks__catalog_chunk)};
  return walk_tree(list, &entry.list, error);
}

static pks_status add_extent_row(const tree_walk *walk, const pks__tree_item *item, pks_error *error) {
  pks__layout_extent extent;
  PKS_ASSERT(item->body_length == sizeof extent);
  memcpy(&extent, item->body, sizeof extent);
  return add_extent(walk->version->use, walk->version->snapshot, &extent, error);
}

static pks_status add_extents(version_walk *version, const pks__tree_item *item, pks_error *error) {
  pks__layout_entry entry;
  if (!pks__layout_entry_decode(item->body, item->body_length, &entry)) {
    return pks__fail_at_path(error, PKS_CORRUPT, "bad entry of a layout", (const char *)item->key, item->key_length);
  }
  if (!entry.extents) {
    tree_walk list = {
      .version = version, .kind = PKS__TREE_LIST, .row_size = sizeof(pks__layout_extent), .leaf = add_extent_row};
    return walk_tree(list, &entry.list, error);
  }
  pks_status status = PKS_OK;
  for (uint64_t i = 0; !status && i < entry.extent_count; i++) {
    status = add_extent(version->use, version->snapshot, &entry.extents[i], error);
  }
  return status;
}

/// Adds the chunks of an asset's entry in the layout, and those of its record if the version is current. The extents of a page
/// processed before are known; the records may differ.
static pks_status add_layout_entry(const tree_walk *walk, const pks__tree_item *item, pks_error *error) {
  version_walk *version = walk->version;
  pks_status status = add_visit(version->use, PKS__ASSET_BEGINS, 0, error);
  if (!status && !walk->is_known) { status = add_extents(version, item, error); }
  if (status || version->rank == PKS_ANY_PACK) { return status; }
  pks__hit hit;
  bool found;
  status = pks__namespace_find(
    version->snapshot, (const char *)item->key, item->key_length, version->rank, &hit, &found, error
  );
  return status || !found ? status
                          : pks__chunk_use_add_record(version->use, version->snapshot, hit.run, &hit.entry, error);
}

/// The rank of the pack whose current version this is.
static uint32_t current_rank(const pks_snapshot *snapshot, const pks__version *version, const char *pack) {
  uint32_t rank = pks__generation_find_pack(&snapshot->generation, pack);
  if (rank == UINT32_MAX) { return PKS_ANY_PACK; }
  const pks__version *current = &snapshot->generation.packs[rank].versions[0];
  bool is_current = current->number == version->number && pks__id_equal(&current->layout, &version->layout);
  return is_current ? rank : PKS_ANY_PACK;
}

static pks_status add_layout(version_walk *version, const pks__version *meant, pks_error *error) {
  pks__scratch segments = {0};
  pks__layout_root root;
  pks__chunk_ref ref;
  pks__page_source pages = pks__snapshot_pages(version->snapshot);
  pks_status status = pks__layout_read_root(pages, &meant->layout, &root, &segments, error);
  // The root's own segment cannot be listed there.
  if (!status) { status = find_page(version, &meant->layout, &ref, error); }
  if (!status) { status = pks__segment_set_add(&version->listed, &ref.segment->id, error); }
  for (uint64_t i = 0; !status && i < PKS__SCRATCH_COUNT(&segments, pks__segment_id); i++) {
    status = pks__segment_set_add(&version->listed, PKS__SCRATCH_AT(&segments, const pks__segment_id, i), error);
  }
  pks__scratch_free(&segments);
  if (status) { return status; }
  version->rank = current_rank(version->snapshot, meant, root.pack);
  tree_walk map = {
    .version = version,
    .kind = PKS__TREE_MAP,
    .visits_known = version->rank != PKS_ANY_PACK,
    .leaf = add_layout_entry,
  };
  status = walk_tree(map, &root.map, error);
  return status ? status : add_page(version, &meant->layout, error);
}

static pks_status add_catalog(version_walk *version, const pks__id *id, pks_error *error) {
  pks__catalog_info info;
  pks__tree tree;
  pks__page_source pages = pks__snapshot_pages(version->snapshot);
  pks_status status = pks__catalog_read_root(pages, id, &info, &tree, error);
  tree_walk map = {.version = version, .kind = PKS__TREE_MAP, .leaf = add_catalog_entry};
  if (!status) { status = walk_tree(map, &tree, error); }
  return status ? status : add_page(version, id, error);
}

pks_status pks__chunk_use_add_version(
  pks__chunk_use *use, pks_snapshot *snapshot, const pks__version *version, pks_error *error
) {
  version_walk walk = {.use = use, .snapshot = snapshot, .rank = PKS_ANY_PACK};
  pks__segment_set_init(&walk.listed, NULL);
  walk.listed.indices.key = use->store->map_key;
  pks_status status = add_layout(&walk, version, error);
  if (!status) { status = add_catalog(&walk, &version->catalog, error); }
  if (!status && !pks__id_is_zero(&version->attributes)) { status = add_page(&walk, &version->attributes, error); }
  pks__segment_set_free(&walk.listed);
  return status;
}

pks_status pks__chunk_use_add_snapshot(pks__chunk_use *use, pks_snapshot *snapshot, pks_error *error) {
  const pks__generation *generation = &snapshot->generation;
  pks_status status = PKS_OK;
  for (uint32_t pack = 0; pack < generation->pack_count + generation->removed_count; pack++) {
    const pks__pack_state *state = pks__generation_any_pack(generation, pack);
    for (uint32_t i = 0; !status && i < state->version_count; i++) {
      status = pks__chunk_use_add_version(use, snapshot, &state->versions[i], error);
    }
  }
  return status;
}

// MARK: - Questions

pks_status pks__chunk_use_frame(
  const pks__chunk_use *use, const pks__segment_use *segment, uint32_t index, pks__frame_use *out, pks_error *error
) {
  const pks_le32 *ends;
  pks_status status = pks__segment_frame(segment->segment, index, &out->frame, error);
  if (!status) { status = pks__segment_frame_ends(segment->segment, &out->frame, &ends, error); }
  if (status) { return status; }
  out->chunk_count = 0;
  out->raw_bytes = 0;
  for (uint32_t i = 0, at = 0; i < out->frame.chunk_count; i++) {
    uint32_t end = pks__get32(ends[i]);
    if (pks__chunk_use_has(use, segment, out->frame.first_chunk + i)) {
      out->chunk_count++;
      out->raw_bytes += end - at;
    }
    at = end;
  }
  return PKS_OK;
}

pks_status pks__chunk_use_measure(
  const pks__chunk_use *use, const pks__segment_use *segment, pks__segment_sums *out, pks_error *error
) {
  *out = (pks__segment_sums){.frame_count = segment->segment->frame_count};
  for (uint32_t i = 0; i < out->frame_count; i++) {
    pks__frame_use frame;
    pks_status status = pks__chunk_use_frame(use, segment, i, &frame, error);
    if (status) { return status; }
    out->stored_bytes += frame.frame.ref.stored_length;
    out->raw_bytes += frame.frame.ref.raw_length;
    if (frame.chunk_count == 0) { continue; }
    out->needed_frame_count++;
    out->needed_stored_bytes += frame.frame.ref.stored_length;
    out->needed_raw_bytes += frame.raw_bytes;
    if (!pks__frame_use_is_sparse(&frame)) { continue; }
    out->sparse_frame_count++;
    out->sparse_stored_bytes += frame.frame.ref.stored_length;
    out->sparse_raw_bytes += frame.raw_bytes;
  }
  return PKS_OK;
}
