/// What of versions and assets can be read now: files found by names and lengths, compared with the index and with tables.
#include "catalog/catalog.h"
#include "catalog/tree_cursor.h"
#include "index/extent_walk.h"
#include "read/namespace.h"
#include "segment/frame_check.h"
#include "store/cache_folder.h"
#include "store/chunk_lookup.h"
#include "store/segment_registry.h"
#include "store/snapshot.h"
#include "store/version_files.h"

/// Examined segments, and how many bytes of each exist.
typedef struct presence {
  pks_snapshot *snapshot;
  pks_vfs_file cache;
  pks__scratch rows;    ///< present_segment
  pks__hash_map by_id;  ///< beginning of an id -> index in `rows`
} presence;

typedef struct present_segment {
  pks__segment_id id;
  pks__segment_files files;
  bool is_listed;         ///< by the layout of the version
  pks__segment *segment;  ///< if it is apart, with a reference; NULL: it cannot be had
} present_segment;

static void open_presence(presence *presence, pks_snapshot *snapshot) {
  *presence = (struct presence){.snapshot = snapshot, .cache = PKS_VFS_NO_FILE, .by_id.key = snapshot->store->map_key};
  const char *folder = snapshot->generation.cache_folder;
  if (folder) { (void)pks__cache_folder_open(snapshot->store, folder, false, &presence->cache, NULL); }
}

static void close_presence(presence *presence) {
  for (uint64_t i = 0; i < PKS__SCRATCH_COUNT(&presence->rows, present_segment); i++) {
    pks__segment *segment = PKS__SCRATCH_AT(&presence->rows, present_segment, i)->segment;
    if (segment) { pks__store_release_segment(presence->snapshot->store, segment); }
  }
  if (presence->cache != PKS_VFS_NO_FILE) { pks__vfs_close(presence->snapshot->store->vfs, presence->cache); }
  pks__scratch_free(&presence->rows);
  pks__hash_map_free(&presence->by_id);
}

static const present_segment *find_row(const presence *presence, const pks__segment_id *id) {
  uint64_t key = pks__hash_map_key(&presence->by_id, id, sizeof *id), probe = 0;
  uint32_t index;
  while (pks__hash_map_next(&presence->by_id, key, &probe, &index)) {
    const present_segment *row = PKS__SCRATCH_AT(&presence->rows, const present_segment, index);
    if (pks__segment_id_equal(&row->id, id)) { return row; }
  }
  return NULL;
}

/// Opens a segment that is apart. The base may have it, or the site that the store is a copy of: then nothing of it may vanish.
static pks_status open_apart(const presence *presence, present_segment *row, pks_error *error) {
  pks_store *store = presence->snapshot->store;
  if (presence->snapshot->generation.is_site) {
    row->files.place = PKS__SEGMENT_STORED;
    return PKS_OK;
  }
  pks_status status = pks__store_get_segment(store, &row->id, &row->segment, error);
  if (status == PKS_PURGED || status == PKS_CORRUPT) { return PKS_OK; }
  if (!status && !row->segment->is_purgeable) { row->files.place = PKS__SEGMENT_STORED; }
  return status;
}

/// Adds a segment whose files were found.
static pks_status add_row(
  presence *presence, const pks__segment_id *id, const pks__segment_files *files, bool is_listed, pks_error *error
) {
  present_segment row = {.id = *id, .files = *files, .is_listed = is_listed};
  pks_status status = files->place == PKS__SEGMENT_APART ? open_apart(presence, &row, error) : PKS_OK;
  uint32_t index = (uint32_t)PKS__SCRATCH_COUNT(&presence->rows, present_segment);
  if (!status) { status = pks__scratch_append(&presence->rows, &row, sizeof row, error); }
  if (status && row.segment) { pks__store_release_segment(presence->snapshot->store, row.segment); }
  if (status) { return status; }
  return pks__hash_map_insert(&presence->by_id, pks__hash_map_key(&presence->by_id, id, sizeof *id), index, error);
}

/// Finds a segment; `file_length` as in `pks__segment_files_find`.
static pks_status find_segment(
  presence *presence, const pks__segment_id *id, uint64_t file_length, const present_segment **out, pks_error *error
) {
  *out = find_row(presence, id);
  if (*out) { return PKS_OK; }
  pks__segment_files files;
  pks_status status = pks__segment_files_find(presence->snapshot, presence->cache, id, file_length, &files, error);
  if (!status) { status = add_row(presence, id, &files, false, error); }
  if (!status) { *out = find_row(presence, id); }
  return status;
}

/// Whether a frame can be read, judging by lengths and by damage found so far.
static bool has_frame(const present_segment *row, const pks__frame_ref *frame) {
  if (row->files.place != PKS__SEGMENT_APART) { return row->files.place == PKS__SEGMENT_STORED; }
  return row->segment && pks__range_fits(frame->offset, frame->stored_length, row->files.length)
    && pks__frame_is_present(row->segment, frame);
}

// MARK: - Layouts

/// Adds the bytes of an extent that are missing.
static pks_status count_extent(
  presence *presence, const pks__layout_extent *extent, uint64_t *missing, pks_error *error
) {
  const present_segment *row;
  uint64_t left = pks__get64(extent->length), skip = pks__get32(extent->skip);
  pks_status status = find_segment(presence, &extent->segment, 0, &row, error);
  if (status || row->files.place == PKS__SEGMENT_STORED) { return status; }
  if (!row->segment) {
    *missing += left;
    return PKS_OK;
  }
  for (uint32_t index = pks__get32(extent->frame); left > 0; index++, skip = 0) {
    pks__frame frame;
    bool fits = index < row->segment->frame_count;
    status = fits ? pks__segment_frame(row->segment, index, &frame, error) : PKS_CORRUPT;
    if (!fits || (!status && frame.ref.raw_length <= skip)) {
      const char *text = "a layout refers to a frame that its segment lacks";
      status = pks__fail(error, PKS_CORRUPT, text, row->segment->name, PKS_NO_OFFSET);
    }
    if (status) { return status; }
    uint64_t length = pks__min64(left, frame.ref.raw_length - skip);
    if (!has_frame(row, &frame.ref)) { *missing += length; }
    left -= length;
  }
  return PKS_OK;
}

static pks_status count_entry(
  presence *presence, const pks__tree_cursor *entries, pks_availability *out, pks_error *error
) {
  pks__layout_entry entry;
  if (!pks__layout_entry_decode(entries->value, entries->value_length, &entry)) {
    return pks__fail(error, PKS_CORRUPT, "an entry of a layout is invalid", NULL, PKS_NO_OFFSET);
  }
  pks__extent_cursor extents;
  pks__extent_cursor_init(&extents, pks__snapshot_pages(presence->snapshot), &entry);
  uint64_t missing = 0;
  pks_status status = PKS_OK;
  for (bool more = true; !status;) {
    pks__layout_extent extent;
    status = pks__extent_cursor_next(&extents, &extent, &more, error);
    if (status || !more) { break; }
    status = count_extent(presence, &extent, &missing, error);
  }
  pks__extent_cursor_free(&extents);
  out->missing_bytes += missing;
  out->missing_asset_count += missing > 0;
  return status;
}

static pks_status count_layout(presence *presence, const pks__tree *map, pks_availability *out, pks_error *error) {
  pks__tree_cursor entries;
  bool more = true;
  pks__tree_cursor_init(&entries, pks__snapshot_pages(presence->snapshot), PKS__TREE_MAP, 0, map);
  pks_status status = PKS_OK;
  while (!status && more) {
    status = pks__tree_cursor_next(&entries, &more, error);
    if (!status && more) { status = count_entry(presence, &entries, out, error); }
  }
  pks__tree_cursor_free(&entries);
  return status;
}

// MARK: - Records

static pks_status count_asset(presence *presence, const pks_asset *asset, uint64_t *missing, pks_error *error) {
  pks__hit hit;
  pks_status status = pks__namespace_file(asset, &hit, error);
  if (status) { return status; }
  pks__run *run = &presence->snapshot->runs[hit.run].open->run;
  pks__extent_walk walk = pks__extent_walk_make(run, &hit.entry);
  for (bool more = true; !status;) {
    pks__extent_part part;
    pks__run_segment_info info;
    const present_segment *row;
    status = pks__extent_walk_next(&walk, &part, &more, error);
    if (status || !more) { break; }
    status = pks__run_segment_at(run, part.frame.segment, &info, error);
    if (!status) { status = find_segment(presence, &info.id, info.file_length, &row, error); }
    if (!status && !has_frame(row, &part.frame.ref)) { *missing += part.end - part.begin; }
  }
  return status;
}

/// Reads follow records, which may differ from the current version's layout.
static pks_status count_records(presence *presence, uint32_t pack, pks_availability *out, pks_error *error) {
  pks_cursor *cursor;
  pks_status status = pks_cursor_open(&cursor, presence->snapshot, "", 0, pack, PKS_DESCENDANTS, error);
  if (status) { return status; }
  for (bool more = true; !status;) {
    pks_entry entry;
    uint64_t missing = 0;
    status = pks_cursor_next(&entry, &more, cursor, error);
    if (status || !more) { break; }
    if (entry.asset.kind == PKS_FILE) { status = count_asset(presence, &entry.asset, &missing, error); }
    out->missing_bytes += missing;
    out->missing_asset_count += missing > 0;
  }
  pks_cursor_close(cursor);
  return status;
}

// MARK: - Nothing is gone

/// Whether all bytes of a segment exist, by lengths and known damage. An index may list a collected segment that no version needs.
static bool is_whole(const present_segment *row) {
  if (row->files.place == PKS__SEGMENT_LOST) { return !row->is_listed; }
  if (row->files.place == PKS__SEGMENT_STORED) { return true; }
  const pks__segment *segment = row->segment;
  return segment && row->files.length >= segment->file_length && segment->present >= segment->file_length
    && !atomic_load(&segment->has_bad_frames);
}

/// Whether all segments that a run names are whole.
static pks_status has_whole_segments(presence *presence, pks__run *run, bool *whole, pks_error *error) {
  pks_status status = PKS_OK;
  for (uint32_t i = 0; !status && *whole && i < run->segment_count; i++) {
    pks__run_segment_info info;
    const present_segment *row;
    status = pks__run_segment_at(run, i, &info, error);
    if (!status) { status = find_segment(presence, &info.id, info.file_length, &row, error); }
    if (!status) { *whole = is_whole(row); }
  }
  return status;
}

/// Whether nothing is gone of all that records lead to. A question for each segment, where records are many.
static pks_status has_whole_records(presence *presence, bool *whole, pks_error *error) {
  const pks_snapshot *snapshot = presence->snapshot;
  pks_status status = PKS_OK;
  *whole = true;
  for (uint32_t i = 0; !status && *whole && i < snapshot->run_count; i++) {
    status = has_whole_segments(presence, &snapshot->runs[i].open->run, whole, error);
  }
  return status;
}

// MARK: - Availability

/// Counts the missing bytes of a version: by its records if it is current, by its layout otherwise.
static pks_status count_missing(
  presence *presence, const pks__version *kept, uint32_t pack, bool is_current, pks_availability *out, pks_error *error
) {
  pks__layout_root root;
  pks__scratch segments = {0};
  if (is_current) { return count_records(presence, pack, out, error); }
  pks_status status =
    pks__layout_read_root(pks__snapshot_pages(presence->snapshot), &kept->layout, &root, &segments, error);
  if (!status) { status = count_layout(presence, &root.map, out, error); }
  pks__scratch_free(&segments);
  return status;
}

/// Finds the files of the version, and counts the bytes that they lack.
static pks_status measure(
  presence *presence, const pks__version *kept, uint32_t pack, bool is_current, pks_availability *out, pks_error *error
) {
  pks__version_files files;
  pks_error found;
  pks_status status = pks__version_files_find(&files, presence->snapshot, presence->cache, kept, error);
  out->lacks_pages = files.lost_pages;
  bool is_affected = files.lost_data || files.lost_list || files.has_apart, is_listed = !files.lost_list;
  for (uint64_t i = 0; !status && is_affected && i < PKS__SCRATCH_COUNT(&files.files, pks__version_file); i++) {
    const pks__version_file *file = PKS__SCRATCH_AT(&files.files, const pks__version_file, i);
    if (!find_row(presence, &file->id)) { status = add_row(presence, &file->id, &file->files, true, error); }
  }
  pks__version_files_free(&files);
  if (status || !is_affected) { return status; }
  bool whole = false;
  if (is_current && is_listed) { status = has_whole_records(presence, &whole, error); }
  if (status || whole) { return status; }
  status = count_missing(presence, kept, pack, is_current, out, &found);
  // Without its layout nothing of a kept version can be found.
  bool is_hidden = !is_current && out->lacks_pages && (status == PKS_CORRUPT || status == PKS_PURGED);
  if (is_hidden) {
    out->missing_bytes = out->total_bytes;
    out->missing_asset_count = out->asset_count;
    return PKS_OK;
  }
  if (status && error) { *error = found; }
  return status;
}

pks_status pks_snapshot_availability(
  pks_availability *out, const pks_snapshot *snapshot, uint32_t pack, uint32_t version, pks_error *error
) {
  pks_status status = pks__store_check_process(snapshot->store, error);
  if (status) { return status; }
  const pks__pack_state *state = pks__generation_any_pack(&snapshot->generation, pack);
  PKS_ASSERT(version < state->version_count);
  const pks__version *kept = &state->versions[version];
  bool is_current = pack < snapshot->generation.pack_count && version == 0;
  presence presence;
  *out = (pks_availability){.total_bytes = kept->logical_bytes, .asset_count = kept->file_count};
  open_presence(&presence, pks__snapshot_mutable(snapshot));
  status = measure(&presence, kept, pack, is_current, out, error);
  close_presence(&presence);
  return status;
}

/// Reads stored bytes if the file has them: those with a wrong sum are remembered.
static pks_status check_stored(
  pks__segment *segment, const pks__frame_ref *ref, pks__scratch *stored, pks_error *error
) {
  if (!pks__range_fits(ref->offset, ref->stored_length, atomic_load(&segment->present))) { return PKS_OK; }
  stored->length = 0;
  pks_status status = pks__scratch_reserve(stored, ref->stored_length, error);
  if (!status) { status = pks__frame_read_stored(segment, ref, stored->bytes, error); }
  return status == PKS_PURGED ? PKS_OK : status;
}

/// Checks the dictionaries and the frames of a segment.
static pks_status check_frames(pks__segment *segment, pks__scratch *stored, pks_error *error) {
  pks_status status = pks__segment_need_table(segment, error);
  for (uint32_t i = 0; !status && i < segment->dictionary_count; i++) {
    pks__segment_dictionary dictionary;
    status = pks__segment_dictionary_at(segment, i, &dictionary, error);
    if (!status) { status = check_stored(segment, &dictionary.ref, stored, error); }
  }
  for (uint32_t i = 0; !status && i < segment->frame_count; i++) {
    pks__frame frame;
    status = pks__segment_frame(segment, i, &frame, error);
    if (!status) { status = check_stored(segment, &frame.ref, stored, error); }
  }
  return status;
}

static bool has_id(const pks__scratch *segments, const pks__segment_id *id) {
  for (uint64_t i = 0; i < PKS__SCRATCH_COUNT(segments, pks__segment_id); i++) {
    if (pks__segment_id_equal(PKS__SCRATCH_AT(segments, const pks__segment_id, i), id)) { return true; }
  }
  return false;
}

/// Checks the segments of a run. The run keeps them open, and the results valid.
static pks_status check_run(
  pks_snapshot *snapshot, uint32_t index, const pks__scratch *segments, pks__scratch *stored, pks_error *error
) {
  pks__run *run = &snapshot->runs[index].open->run;
  pks_status status = PKS_OK;
  for (uint32_t at = 0; !status && at < run->segment_count; at++) {
    pks__run_segment_info info;
    pks__segment *segment;
    status = pks__run_segment_at(run, at, &info, error);
    if (status || !has_id(segments, &info.id)) { continue; }
    status = pks__snapshot_segment(snapshot, index, at, &segment, error);
    if (!status && segment->is_purgeable) { status = check_frames(segment, stored, error); }
    if (status == PKS_PURGED) { status = PKS_OK; }
  }
  return status;
}

pks_status pks_snapshot_check_cached(const pks_snapshot *snapshot, uint32_t pack, uint32_t version, pks_error *error) {
  pks_status status = pks__store_check_process(snapshot->store, error);
  if (status) { return status; }
  const pks__pack_state *state = pks__generation_any_pack(&snapshot->generation, pack);
  PKS_ASSERT(version < state->version_count);
  pks_snapshot *seen = pks__snapshot_mutable(snapshot);
  pks__layout_root root;
  pks__scratch segments = {0}, stored = {0};
  pks_error found;
  status = pks__layout_read_root(pks__snapshot_pages(seen), &state->versions[version].layout, &root, &segments, &found);
  // A lost layout names nothing that could be read: `pks_snapshot_availability` reports that it is lost.
  bool is_hidden = status == PKS_CORRUPT || status == PKS_PURGED;
  if (status && !is_hidden && error) { *error = found; }
  if (is_hidden) { status = PKS_OK; }
  for (uint32_t i = 0; !status && i < seen->run_count; i++) { status = check_run(seen, i, &segments, &stored, error); }
  pks__scratch_free(&stored);
  pks__scratch_free(&segments);
  return status;
}

pks_status pks_asset_availability(pks_availability *out, const pks_asset *asset, pks_error *error) {
  pks_status status = pks__store_check_process(asset->snapshot->store, error);
  if (status) { return status; }
  presence presence;
  *out = (pks_availability){.total_bytes = asset->size, .asset_count = 1};
  open_presence(&presence, pks__snapshot_mutable(asset->snapshot));
  status = count_asset(&presence, asset, &out->missing_bytes, error);
  out->missing_asset_count = out->missing_bytes > 0;
  close_presence(&presence);
  return status;
}
