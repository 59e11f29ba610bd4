/// Verification, level 6: catalogs and layouts of all kept versions. See `verification.h`.
#include "check/verify_versions.h"

#include <string.h>

#include "catalog/tree_cursor.h"
#include "check/verify_names.h"
#include "check/verify_segments.h"
#include "store/chunk_lookup.h"

/// The current version: its catalog, and in parallel its layout.
typedef struct version_walk {
  uint32_t rank;  ///< rank of the pack; removed ones come after the others
  const pks__version *version;
  bool is_current;
  pks__tree_cursor catalog, layout;
  bool has_layout;      ///< the layout is at an entry
  bool layout_is_lost;  ///< damaged, reported, and no longer read
  pks__catalog_info counted;
} version_walk;

static pks__fault_subject subject_of(
  const pks__verification *v, const version_walk *walk, const pks__catalog_entry *entry
) {
  pks__fault_subject subject = {
    .pack = pks__generation_any_pack(&v->snapshot->generation, walk->rank)->name, .version = walk->version->number};
  if (entry) {
    subject.asset = entry->path;
    subject.asset_length = entry->path_length;
  }
  return subject;
}

/// Handles a failure that concerns the version, and reports it.
static pks_status settle_version(pks__verification *v, const version_walk *walk, pks_status status) {
  if (!status) { return PKS_OK; }
  pks__fault_subject subject = subject_of(v, walk, NULL);
  v->subject++;
  return pks__verify_settle(v, status, &subject);
}

/// Settles a failure that concerns one asset of the version.
static pks_status settle_entry(
  pks__verification *v, const version_walk *walk, const pks__catalog_entry *entry, pks_status status
) {
  if (!status) { return PKS_OK; }
  pks__fault_subject subject = subject_of(v, walk, entry);
  return pks__verify_settle(v, status, &subject);
}

static void report_version(pks__verification *v, const version_walk *walk, const char *text) {
  (void)settle_version(v, walk, pks__fail(&v->found, PKS_CORRUPT, text, NULL, PKS_NO_OFFSET));
}

// MARK: - Layout entries

/// The frames that a layout's entry leads to, one after another: of each extent, in the entry or in a list.
typedef struct extent_walk {
  pks__verification *v;
  pks__reader reader;
  uint64_t left;  ///< extents
  bool listed, mapped;
  pks__tree_cursor list;
  uint32_t segment;  ///< number of the current extent's segment
  pks__segment *open;
  uint32_t frame;
  uint64_t skip, bytes_left;
  uint64_t end_before;  ///< for a map asset: where the next frame must begin; 0: not set
} extent_walk;

static pks_status bad_layout_entry(pks__verification *v) {
  return pks__fail(&v->found, PKS_CORRUPT, "bad entry of a layout", NULL, PKS_NO_OFFSET);
}

static pks_status open_extents(pks__verification *v, const pks__tree_cursor *at, extent_walk *out) {
  *out = (extent_walk){.v = v, .reader = pks__reader_make(at->value, at->value_length)};
  uint8_t flags = pks__read8(&out->reader);
  out->left = pks__read_varint(&out->reader);
  out->listed = out->left > PKS__ENTRY_INLINE_ROWS;
  out->mapped = flags & PKS__ENTRY_MAPPED;
  bool fits = (flags & ~PKS__ENTRY_MAPPED) == (out->listed ? PKS__ENTRY_LISTED : 0) && (!out->mapped || out->left == 1);
  if (out->reader.failed || !fits) { return bad_layout_entry(v); }
  if (!out->listed) { return PKS_OK; }
  pks__tree tree = {.height = pks__read8(&out->reader), .count = out->left};
  const uint8_t *root = pks__read_bytes(&out->reader, sizeof tree.root);
  if (!root) { return bad_layout_entry(v); }
  memcpy(&tree.root, root, sizeof tree.root);
  pks__tree_cursor_init(
    &out->list, pks__snapshot_pages(v->snapshot), PKS__TREE_LIST, sizeof(pks__layout_extent), &tree
  );
  return PKS_OK;
}

/// Goes to the next extent. CORRUPT if there is none.
static pks_status next_extent(extent_walk *walk, uint64_t *length) {
  pks__verification *v = walk->v;
  bool more = true;
  if (walk->left == 0) { return bad_layout_entry(v); }
  walk->left--;
  pks_status status = walk->listed ? pks__tree_cursor_next(&walk->list, &more, &v->found) : PKS_OK;
  if (!status) { status = pks__verify_tick(v); }
  if (status) { return status; }
  pks__layout_extent extent;
  const uint8_t *row = walk->listed ? walk->list.value : pks__read_bytes(&walk->reader, sizeof extent);
  if (!more || !row) { return bad_layout_entry(v); }
  memcpy(&extent, row, sizeof extent);
  *length = walk->bytes_left = pks__get64(extent.length);
  walk->frame = pks__get32(extent.frame);
  walk->skip = pks__get32(extent.skip);
  walk->segment = pks__segment_list_find(&v->segments, &extent.segment);
  if (walk->segment == PKS__NO_SEGMENT) {
    return pks__fail(&v->found, PKS_CORRUPT, "an extent of the layout names no segment", NULL, PKS_NO_OFFSET);
  }
  return walk->bytes_left == 0 ? bad_layout_entry(v) : pks__verify_use_segment(v, walk->segment, &walk->open);
}

/// The next frame of the present extent. A map asset's frames are as they must be.
static pks_status next_frame(extent_walk *walk, pks__frame_part *out) {
  static const char bad[] = "an extent of the layout does not fit its segment";
  pks_error *found = &walk->v->found;
  pks__segment *segment = walk->open;
  if (walk->frame >= segment->frame_count) { return pks__fail(found, PKS_CORRUPT, bad, segment->name, PKS_NO_OFFSET); }
  pks_status status = pks__segment_frame(segment, walk->frame, &out->frame, found);
  if (status) { return status; }
  const pks__frame *frame = &out->frame;
  if (walk->skip >= frame->ref.raw_length) {
    return pks__fail(found, PKS_CORRUPT, bad, segment->name, frame->ref.offset);
  }
  bool follows =
    walk->end_before == 0 ? (frame->ref.offset + walk->skip) % PKS__PAGE == 0 : frame->ref.offset == walk->end_before;
  if (walk->mapped && (frame->ref.codec != PKS__CODEC_RAW || !follows)) {
    return pks__fail(
      found, PKS_CORRUPT, "the layout splits an asset that must be contiguous", segment->name, frame->ref.offset
    );
  }
  out->segment = segment;
  out->begin = (uint32_t)walk->skip;
  out->end = out->begin + (uint32_t)pks__min64(walk->bytes_left, frame->ref.raw_length - out->begin);
  walk->end_before = frame->ref.offset + frame->ref.stored_length;
  walk->bytes_left -= out->end - out->begin;
  walk->skip = 0;
  walk->frame++;
  return PKS_OK;
}

static pks_status next_layout_part(void *context, pks__frame_part *out, pks_error *error) {
  extent_walk *walk = context;
  uint64_t length;
  (void)error;  // which is the verification's own
  pks_status status = walk->bytes_left == 0 ? next_extent(walk, &length) : PKS_OK;
  out->segment = NULL;
  return status || !walk->open ? status : next_frame(walk, out);
}

/// Reports the faults of a frame for an asset of the version; for the current version, which is read by the index, only if no asset
/// was damaged.
static void blame(
  pks__verification *v, const version_walk *version, const pks__catalog_entry *entry, uint32_t segment, uint64_t offset
) {
  pks__frame_finding *finding = pks__verify_finding(v, segment, offset);
  if (!finding || !finding->is_bad || (version->is_current && finding->number > 0)) { return; }
  pks__fault_subject subject = subject_of(v, version, entry);
  pks__verify_blame(v, finding, &subject);
}

/// Goes through one extent.
static pks_status check_extent(
  pks__verification *v, const version_walk *version, const pks__catalog_entry *entry, extent_walk *walk,
  uint64_t *length
) {
  pks_status status = next_extent(walk, length);
  if (!status && v->states[walk->segment] == PKS__SEGMENT_GONE) {
    blame(v, version, entry, walk->segment, PKS_NO_OFFSET);
  }
  while (!status && walk->open && walk->bytes_left > 0) {
    pks__frame_part part;
    status = next_frame(walk, &part);
    if (!status) { blame(v, version, entry, walk->segment, part.frame.ref.offset); }
  }
  return status;
}

/// Checks the layout's entry for a file.
static pks_status check_extents(pks__verification *v, const version_walk *version, const pks__catalog_entry *entry) {
  extent_walk walk;
  uint64_t left = entry->size;
  pks_status status = open_extents(v, &version->layout, &walk);
  while (!status && walk.left > 0) {
    uint64_t length = 0;
    status = check_extent(v, version, entry, &walk, &length);
    if (!status && length > left) { status = bad_layout_entry(v); }
    left -= status ? 0 : length;
  }
  pks__tree_cursor_free(&walk.list);
  return status || (left == 0 && pks__reader_left(&walk.reader) == 0) ? status : bad_layout_entry(v);
}

/// Compares the chunks of the layout with those of the catalog.
static pks_status compare_extents(pks__verification *v, const version_walk *version, const pks__catalog_entry *entry) {
  extent_walk walk;
  pks_status status = open_extents(v, &version->layout, &walk);
  pks__part_source parts = {.context = &walk, .next = next_layout_part};
  if (!status) { status = pks__verify_chunks(v, entry, parts); }
  pks__tree_cursor_free(&walk.list);
  return status;
}

// MARK: - Catalogs beside layouts

/// Moves the layout to its next entry.
static pks_status step_layout(pks__verification *v, version_walk *walk) {
  pks_status status = pks__tree_cursor_next(&walk->layout, &walk->has_layout, &v->found);
  if (status) {
    walk->has_layout = false;
    walk->layout_is_lost = true;
  }
  return settle_version(v, walk, status);
}

/// Checks the layout's entry for a file that has bytes, and moves on.
static pks_status check_layout_entry(pks__verification *v, version_walk *walk, const pks__catalog_entry *entry) {
  if (walk->layout_is_lost) { return PKS_OK; }
  size_t length = 0;
  const char *path = walk->has_layout ? pks__tree_cursor_key(&walk->layout, &length) : NULL;
  if (!path || length != entry->path_length || memcmp(path, entry->path, length) != 0) {
    walk->has_layout = false;
    walk->layout_is_lost = true;
    return settle_entry(
      v, walk, entry, pks__fail(&v->found, PKS_CORRUPT, "the layout lacks an asset", NULL, PKS_NO_OFFSET)
    );
  }
  pks_status status = check_extents(v, walk, entry);
  if (!status && v->deep) { status = compare_extents(v, walk, entry); }
  status = settle_entry(v, walk, entry, status);
  return status ? status : step_layout(v, walk);
}

/// Adds up the chunks of an entry.
static pks_status check_chunk_rows(pks__verification *v, const pks__catalog_entry *entry) {
  uint64_t left = entry->size;
  pks__chunk_cursor cursor;
  pks__chunk_cursor_init(&cursor, pks__snapshot_pages(v->snapshot), entry);
  pks_status status = PKS_OK;
  for (bool more = true; !status;) {
    pks__catalog_chunk chunk;
    status = pks__chunk_cursor_next(&cursor, &chunk, &more, &v->found);
    if (status || !more) { break; }
    uint32_t length = pks__get32(chunk.length);
    bool fits = length > 0 && length <= left;
    if (!fits) { break; }
    left -= length;
    status = pks__verify_tick(v);
  }
  pks__chunk_cursor_free(&cursor);
  return status || left == 0
    ? status
    : pks__fail(&v->found, PKS_CORRUPT, "chunks do not add up to the file", NULL, PKS_NO_OFFSET);
}

/// Counts an entry, and sees that it comes after the one before.
static pks_status count_entry(pks__verification *v, version_walk *walk, const pks__catalog_entry *entry) {
  bool rises = pks__compare_bytes(entry->path, entry->path_length, v->path, v->path_length) > 0;
  memcpy(v->path, entry->path, entry->path_length);
  v->path_length = entry->path_length;
  pks__catalog_info *counted = &walk->counted;
  counted->file_count += entry->kind == PKS__RECORD_FILE;
  counted->link_count += entry->kind == PKS__RECORD_LINK;
  counted->folder_count += entry->kind == PKS__RECORD_FOLDER;
  if (entry->kind == PKS__RECORD_FILE) { counted->logical_bytes += entry->size; }
  return rises ? PKS_OK
               : pks__fail(&v->found, PKS_CORRUPT, "an entry of the catalog is out of order", NULL, PKS_NO_OFFSET);
}

static pks_status check_entry(pks__verification *v, version_walk *walk, const pks__catalog_entry *entry) {
  bool is_file = entry->kind == PKS__RECORD_FILE;
  v->subject++;
  pks_status status = settle_entry(v, walk, entry, count_entry(v, walk, entry));
  if (!status && is_file) { status = settle_entry(v, walk, entry, check_chunk_rows(v, entry)); }
  if (!status && is_file && entry->size > 0) { status = check_layout_entry(v, walk, entry); }
  if (!status && walk->is_current && v->deep) {
    status = settle_entry(v, walk, entry, pks__verify_entry(v, walk->rank, entry));
  }
  return status;
}

static bool has_counts(const pks__version *version, const pks__catalog_info *info) {
  return version->file_count == info->file_count && version->link_count == info->link_count
    && version->folder_count == info->folder_count && version->logical_bytes == info->logical_bytes;
}

static void check_counts(pks__verification *v, const version_walk *walk) {
  const pks__catalog_info *counted = &walk->counted;
  uint64_t entries = counted->file_count + counted->link_count + counted->folder_count;
  if (walk->has_layout) { report_version(v, walk, "the layout has an asset that the catalog lacks"); }
  if (!has_counts(walk->version, counted)) {
    report_version(v, walk, "the catalog's counts differ from the generation");
  }
  if (walk->is_current && v->deep && entries != v->record_counts[walk->rank]) {
    report_version(v, walk, "the number of assets differs between index and catalog");
  }
}

static pks_status walk_catalog(pks__verification *v, version_walk *walk) {
  v->path_length = 0;
  for (uint64_t count = 1;; count++) {
    bool more;
    pks__catalog_entry entry;
    pks_status status = pks__tree_cursor_next(&walk->catalog, &more, &v->found);
    if (!status && more) { status = pks__catalog_entry_read(&walk->catalog, &entry, &v->found); }
    // The rest of the catalog comes after this page.
    if (status) { return settle_version(v, walk, status); }
    if (!more) { break; }
    status = check_entry(v, walk, &entry);
    if (!status && count % PKS__VERIFY_ENTRIES == 0) { status = pks__verify_progress(v, true); }
    if (status) { return status; }
  }
  check_counts(v, walk);
  return PKS_OK;
}

/// Reports that a version needs a missing segment. For data segments, assets report it.
static void need_segment(pks__verification *v, const version_walk *walk, uint32_t number) {
  bool has_pages = pks__segment_list_at(&v->segments, number)->info.kind == PKS__SEGMENT_METADATA;
  if (v->states[number] != PKS__SEGMENT_GONE || !has_pages) { return; }
  pks__fault_subject subject = subject_of(v, walk, NULL);
  pks__verify_blame(v, pks__verify_finding(v, number, PKS_NO_OFFSET), &subject);
}

/// Checks that the segments of a layout exist.
static void check_layout_segments(pks__verification *v, const version_walk *walk, const pks__scratch *segments) {
  for (uint64_t i = 0; i < PKS__SCRATCH_COUNT(segments, pks__segment_id); i++) {
    uint32_t number = pks__segment_list_find(&v->segments, PKS__SCRATCH_AT(segments, const pks__segment_id, i));
    if (number == PKS__NO_SEGMENT) {
      report_version(v, walk, "the layout names a segment that the index lacks");
    } else {
      need_segment(v, walk, number);
    }
  }
}

/// The snapshot may hold a page's segment open though its file is gone.
static pks_status check_page_segment(pks__verification *v, const version_walk *walk, const pks__id *page) {
  pks__chunk_ref ref;
  bool found;
  pks_status status = pks__snapshot_find_chunk(v->snapshot, page, PKS__SEGMENT_METADATA, &ref, &found, &v->found);
  if (!status && found) { need_segment(v, walk, v->segments.numbers[ref.run][ref.segment_index]); }
  return status;
}

static pks_status open_layout(pks__verification *v, version_walk *walk) {
  pks__scratch segments = {0};
  pks__layout_root root;
  pks__page_source pages = pks__snapshot_pages(v->snapshot);
  pks_status status = check_page_segment(v, walk, &walk->version->layout);
  if (!status) { status = pks__layout_read_root(pages, &walk->version->layout, &root, &segments, &v->found); }
  walk->layout_is_lost = status != PKS_OK;
  status = settle_version(v, walk, status);
  if (!walk->layout_is_lost) {
    check_layout_segments(v, walk, &segments);
    if (!pks__id_equal(&root.catalog, &walk->version->catalog)) {
      report_version(v, walk, "the layout belongs to another version");
    } else if (!pks__id_equal(&root.attributes, &walk->version->attributes)) {
      report_version(v, walk, "the layout names other attributes than the generation");
    }
    pks__tree_cursor_init(&walk->layout, pages, PKS__TREE_MAP, 0, &root.map);
    status = step_layout(v, walk);
  }
  pks__scratch_free(&segments);
  return status;
}

/// Whether the attributes can be read.
static pks_status check_attributes(pks__verification *v, const version_walk *walk) {
  pks__scratch bytes = {0};
  const pks__id *id = &walk->version->attributes;
  if (pks__id_is_zero(id)) { return PKS_OK; }
  pks_status status = check_page_segment(v, walk, id);
  if (!status) { status = pks__attributes_read(pks__snapshot_pages(v->snapshot), id, &bytes, &v->found); }
  pks__scratch_free(&bytes);
  return settle_version(v, walk, status);
}

pks_status pks__verify_version(pks__verification *v, uint32_t rank, uint32_t index) {
  const pks__version *version = &pks__generation_any_pack(&v->snapshot->generation, rank)->versions[index];
  pks__page_source pages = pks__snapshot_pages(v->snapshot);
  pks__catalog_info info;
  pks__tree map;
  bool is_current = index == 0 && rank < v->snapshot->generation.pack_count;
  version_walk walk = {.rank = rank, .version = version, .is_current = is_current};
  v->subject++;
  pks_status status = open_layout(v, &walk);
  if (!status) { status = check_attributes(v, &walk); }
  if (!status) {
    status = pks__catalog_read_root(pages, &version->catalog, &info, &map, &v->found);
    bool is_readable = !status;
    status = settle_version(v, &walk, status);
    if (is_readable) {
      if (!has_counts(version, &info)) { report_version(v, &walk, "the catalog's counts differ from the generation"); }
      pks__tree_cursor_init(&walk.catalog, pages, PKS__TREE_MAP, 0, &map);
      status = walk_catalog(v, &walk);
    }
  }
  pks__tree_cursor_free(&walk.catalog);
  pks__tree_cursor_free(&walk.layout);
  return status;
}
