#include "store/version_files.h"

#include "store/chunk_lookup.h"
#include "store/layout_segments.h"

// MARK: - Segments of the index

/// Segments as the snapshot's runs list them.
typedef struct listed_segments {
  pks__scratch rows;  ///< pks__run_segment_info
  pks__hash_map by_id;
} listed_segments;

static const pks__run_segment_info *find_listed(const listed_segments *listed, const pks__segment_id *id) {
  uint64_t key = pks__hash_map_key(&listed->by_id, id, sizeof *id), probe = 0;
  uint32_t index;
  while (pks__hash_map_next(&listed->by_id, key, &probe, &index)) {
    const pks__run_segment_info *row = PKS__SCRATCH_AT(&listed->rows, const pks__run_segment_info, index);
    if (pks__segment_id_equal(&row->id, id)) { return row; }
  }
  return NULL;
}

static pks_status list_run(listed_segments *listed, pks__run *run, pks_error *error) {
  pks_status status = PKS_OK;
  for (uint32_t at = 0; !status && at < run->segment_count; at++) {
    pks__run_segment_info info;
    status = pks__run_segment_at(run, at, &info, error);
    if (status || find_listed(listed, &info.id)) { continue; }
    uint32_t index = (uint32_t)PKS__SCRATCH_COUNT(&listed->rows, pks__run_segment_info);
    uint64_t key = pks__hash_map_key(&listed->by_id, &info.id, sizeof info.id);
    status = pks__scratch_append(&listed->rows, &info, sizeof info, error);
    if (!status) { status = pks__hash_map_insert(&listed->by_id, key, index, error); }
  }
  return status;
}

static pks_status list_segments(listed_segments *listed, const pks_snapshot *snapshot, pks_error *error) {
  pks_status status = PKS_OK;
  for (uint32_t i = 0; !status && i < snapshot->run_count; i++) {
    status = list_run(listed, &snapshot->runs[i].open->run, error);
  }
  return status;
}

static void free_listed(listed_segments *listed) {
  pks__scratch_free(&listed->rows);
  pks__hash_map_free(&listed->by_id);
}

// MARK: - Files of the version

typedef struct search {
  pks__version_files *out;
  pks_snapshot *snapshot;
  pks_vfs_file cache;
  listed_segments listed;
} search;

/// Adds a segment to the files of the version.
static pks_status add_segment(search *search, const pks__segment_id *id, bool *is_lost, pks_error *error) {
  const pks__run_segment_info *row = find_listed(&search->listed, id);
  pks__version_file file = {.id = *id};
  pks_status status =
    pks__segment_files_find(search->snapshot, search->cache, id, row ? row->file_length : 0, &file.files, error);
  if (status) { return status; }
  pks__version_files *out = search->out;
  *is_lost = file.files.place == PKS__SEGMENT_LOST;
  // A segment that no run lists may be of either kind.
  out->lost_data = out->lost_data || (*is_lost && !(row && row->kind == PKS__SEGMENT_METADATA));
  out->lost_pages = out->lost_pages || (*is_lost && !(row && row->kind == PKS__SEGMENT_DATA));
  bool is_remote = search->snapshot->generation.is_site;
  out->has_apart = out->has_apart || (file.files.place == PKS__SEGMENT_APART && !is_remote);
  return pks__scratch_append(&out->files, &file, sizeof file, error);
}

/// Examines the metadata segments of a run that may have the page, without a look at their tables: a table that is mapped cannot be
/// touched once its file was cut short. Lost segments are forgotten, so that no look-up touches them.
static pks_status forget_lost(search *search, pks__run *run, const pks__id *page, pks_error *error) {
  uint32_t probe = 0, segment, row;
  for (bool more = true; more;) {
    pks__run_segment_info info;
    pks__segment_files files;
    pks_status status = pks__run_find_chunk(run, pks__id_prefix(page), &probe, &segment, &row, &more, error);
    if (status || !more) { return status; }
    status = pks__run_segment_at(run, segment, &info, error);
    if (!status && info.kind == PKS__SEGMENT_METADATA) {
      status = pks__segment_files_find(search->snapshot, search->cache, &info.id, info.file_length, &files, error);
    }
    if (status) { return status; }
  }
  return PKS_OK;
}

/// The segment that has the root of the layout, which cannot list itself.
static pks_status add_root(search *search, const pks__id *layout, pks_error *error) {
  pks_snapshot *snapshot = search->snapshot;
  pks__chunk_ref ref;
  bool found = false, is_lost = true;
  pks_status status = PKS_OK;
  for (uint32_t i = 0; !status && i < snapshot->run_count; i++) {
    status = forget_lost(search, &snapshot->runs[i].open->run, layout, error);
  }
  if (!status) { status = pks__snapshot_find_chunk(snapshot, layout, PKS__SEGMENT_METADATA, &ref, &found, error); }
  if (!status && found) { status = add_segment(search, &ref.segment->id, &is_lost, error); }
  search->out->lost_pages = search->out->lost_pages || is_lost;
  return status;
}

static pks_status add_listed(search *search, const pks__id *layout, pks_error *error) {
  pks__scratch segments = {0};
  bool is_lost;
  pks_status status = pks__layout_segments(search->snapshot, layout, &segments, error);
  for (uint64_t i = 0; !status && i < PKS__SCRATCH_COUNT(&segments, pks__segment_id); i++) {
    status = add_segment(search, PKS__SCRATCH_AT(&segments, const pks__segment_id, i), &is_lost, error);
  }
  pks__scratch_free(&segments);
  // A page that is damaged is as good as lost.
  bool is_hidden = status == PKS_CORRUPT || status == PKS_PURGED;
  search->out->lost_list = is_hidden;
  search->out->lost_pages = search->out->lost_pages || is_hidden;
  return is_hidden ? PKS_OK : status;
}

pks_status pks__version_files_find(
  pks__version_files *out, pks_snapshot *snapshot, pks_vfs_file cache, const pks__version *version, pks_error *error
) {
  *out = (pks__version_files){0};
  search search = {.out = out, .snapshot = snapshot, .cache = cache, .listed.by_id.key = snapshot->store->map_key};
  pks_status status = list_segments(&search.listed, snapshot, error);
  if (!status) { status = add_root(&search, &version->layout, error); }
  if (!status) { status = add_listed(&search, &version->layout, error); }
  free_listed(&search.listed);
  return status;
}

void pks__version_files_free(pks__version_files *files) {
  pks__scratch_free(&files->files);
  *files = (pks__version_files){0};
}
