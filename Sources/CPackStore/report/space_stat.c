/// Measures the files of a store: which packs need their bytes, and which files would be deleted with a pack.
///
/// Packs are processed one after another, with all their kept versions. Each chunk row has a mark with the first pack that needed
/// it, and a bit for a second pack; each segment file has the only pack that lists it. From both, one walk over the tables computes
/// the sums. The files deleted with a pack are those that a collection would find by the same lists (`space/live_set.h`).
///
/// A purgeable segment has a file in the cache folder and one in `tables/`: they are deleted with the same pack. Missing parts of
/// the former count as missing only.
///
/// Memory: 18 bits a chunk, in the heap: readers have no folder for temporary files.
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "platform/name_list.h"
#include "segment/frame_check.h"
#include "space/chunk_use.h"
#include "space/live_set.h"
#include "store/cache_folder.h"
#include "store/segment_registry.h"

enum { NO_PACK = 0, SEVERAL_PACKS = UINT32_MAX };

/// A segment that some version lists.
typedef struct space_segment {
  pks__segment_id id;
  uint32_t pack;          ///< number + 1 of the pack whose versions list it; SEVERAL_PACKS
  bool has_file;          ///< in `segments/`, in `tables/` or in the cache folder
  uint64_t file_bytes;    ///< the sizes of these
  pks__segment *segment;  ///< a reference, with the table; NULL: no chunk of it is needed
  uint16_t *needed_by;    ///< per chunk: number + 1 of the pack that needed it first; 0: none
  uint64_t *shared;       ///< bit per chunk: two packs or more need it
} space_segment;

_Static_assert(PKS__PACKS_MAX <= UINT16_MAX, "the number of a pack plus one fits a mark");

typedef struct space_walk {
  pks_snapshot *snapshot;
  pks_space *out;
  pks_pack_space *packs;  ///< by number of the public interface
  pks_vfs_file root;      ///< folder of the measured files: the store's folder, or its own in the cache folder
  pks__scratch segments;  ///< space_segment
  pks__hash_map by_id;    ///< id -> index in `segments`
} space_walk;

// MARK: - What packs need

static space_segment *find_segment(const space_walk *walk, const pks__segment_id *id) {
  uint64_t key = pks__hash_map_key(&walk->by_id, id, sizeof *id), probe = 0;
  uint32_t index;
  while (pks__hash_map_next(&walk->by_id, key, &probe, &index)) {
    space_segment *found = PKS__SCRATCH_AT(&walk->segments, space_segment, index);
    if (pks__segment_id_equal(&found->id, id)) { return found; }
  }
  return NULL;
}

/// Notes that a version of the pack lists the segment.
static pks_status list_segment(space_walk *walk, const pks__segment_id *id, uint32_t pack, pks_error *error) {
  space_segment *found = find_segment(walk, id);
  if (found) {
    if (found->pack != pack + 1) { found->pack = SEVERAL_PACKS; }
    return PKS_OK;
  }
  space_segment row = {.id = *id, .pack = pack + 1};
  uint32_t index = (uint32_t)PKS__SCRATCH_COUNT(&walk->segments, space_segment);
  pks_status status = pks__scratch_append(&walk->segments, &row, sizeof row, error);
  return status ? status
                : pks__hash_map_insert(&walk->by_id, pks__hash_map_key(&walk->by_id, id, sizeof *id), index, error);
}

static pks_status list_segments(space_walk *walk, const pks__live_set *live, uint32_t pack, pks_error *error) {
  for (uint64_t at = 0; at < live->names.length;) {
    const char *name = (const char *)live->names.bytes + at;
    pks__segment_id id;
    pks_status status = pks__segment_name_parse(name, &id) ? list_segment(walk, &id, pack, error) : PKS_OK;
    if (status) { return status; }
    at += strlen(name) + 1;
  }
  return PKS_OK;
}

/// Creates marks for a segment with needed chunks.
static pks_status make_marks(space_walk *walk, space_segment *out, pks__segment *segment, pks_error *error) {
  if (out->segment) { return PKS_OK; }
  out->needed_by = pks__allocate_zeroed((size_t)segment->chunk_count + 1, sizeof *out->needed_by);
  out->shared = pks__allocate_zeroed((size_t)segment->chunk_count / 64 + 1, sizeof *out->shared);
  if (!out->needed_by || !out->shared) { return pks__fail_memory(error); }
  pks__store_retain_segment(walk->snapshot->store, segment);
  out->segment = segment;
  return PKS_OK;
}

/// Marks the chunks that a pack needs.
static pks_status mark_chunks(space_walk *walk, const pks__chunk_use *use, uint32_t pack, pks_error *error) {
  for (uint32_t i = 0; i < pks__chunk_use_segment_count(use); i++) {
    const pks__segment_use *used = pks__chunk_use_segment(use, i);
    space_segment *segment = find_segment(walk, &used->id);
    if (!used->segment || !segment) { continue; }
    pks_status status = make_marks(walk, segment, used->segment, error);
    if (status) { return status; }
    for (uint32_t row = 0; row < used->segment->chunk_count; row++) {
      if (!pks__chunk_use_has(use, used, row)) { continue; }
      if (segment->needed_by[row] == NO_PACK) {
        segment->needed_by[row] = (uint16_t)(pack + 1);
      } else {
        segment->shared[row / 64] |= (uint64_t)1 << (row % 64);
      }
    }
  }
  return PKS_OK;
}

static pks_status measure_pack(space_walk *walk, uint32_t pack, pks_error *error) {
  const pks__generation *generation = &walk->snapshot->generation;
  const pks__pack_state *state = pks__generation_any_pack(generation, pack);
  pks_pack_space *out = &walk->packs[pack];
  pks__live_set live = pks__live_set_make(walk->snapshot->store);
  pks__chunk_use use;
  pks__chunk_use_init(&use, walk->snapshot->store, NULL, NULL);
  pks_status status = PKS_OK;
  for (uint32_t i = 0; !status && i < state->version_count; i++) {
    status = pks__chunk_use_add_version(&use, walk->snapshot, &state->versions[i], error);
    if (!status) { status = pks__live_set_add_version(&live, walk->snapshot, &state->versions[i], error); }
    if (i == 0 && pack < generation->pack_count) {
      out->current_bytes = use.data.stored_bytes + use.pages.stored_bytes;
    }
  }
  out->needed_bytes = use.data.stored_bytes + use.pages.stored_bytes;
  out->page_bytes = use.pages.stored_bytes;
  if (!status) { status = list_segments(walk, &live, pack, error); }
  if (!status) { status = mark_chunks(walk, &use, pack, error); }
  pks__chunk_use_free(&use);
  pks__live_set_free(&live);
  return status;
}

// MARK: - Files on disk

/// A path of the store's folder that grows by names.
typedef struct folder_path {
  char text[512];
  size_t length;
} folder_path;

static bool enter(folder_path *path, const char *name) {
  const char *slash = path->length > 0 ? "/" : "";
  size_t left = sizeof path->text - path->length;
  int length = snprintf(path->text + path->length, left, "%s%s", slash, name);
  if (length < 0 || (size_t)length >= left) { return false; }
  path->length += (size_t)length;
  return true;
}

static void add_clamped(uint64_t *sum, uint64_t bytes) {
  // A sparse file may say any size.
  if (__builtin_add_overflow(*sum, bytes, sum)) { *sum = UINT64_MAX; }
}

/// Notes the size of a segment's file, for the pack that it would go with.
static void add_segment_file(space_walk *walk, const char *name, const pks_vfs_info *info, bool may_vanish) {
  pks__segment_id id;
  space_segment *segment = pks__segment_name_parse(name, &id) ? find_segment(walk, &id) : NULL;
  if (!segment) {
    add_clamped(&walk->out->unneeded_bytes, info->size);
    return;
  }
  segment->has_file = true;
  add_clamped(&segment->file_bytes, info->size);
  if (segment->pack == SEVERAL_PACKS) {
    add_clamped(&walk->out->shared_file_bytes, info->size);
    return;
  }
  pks_pack_space *pack = &walk->packs[segment->pack - 1];
  add_clamped(&pack->freed_bytes, info->size);
  add_clamped(&pack->freed_allocated_bytes, info->stored);
  if (may_vanish) { add_clamped(&pack->cache_bytes, info->size); }
  add_clamped(&walk->out->freed_bytes, info->size);
}

static bool is_segment_folder(const folder_path *path) {
  return path->length > 0
    && (strcmp(path->text, PKS__SEGMENTS_FOLDER) == 0 || strcmp(path->text, PKS__TABLES_FOLDER) == 0);
}

/// Adds a file or folder to `files`. A file deleted during the walk counts as missing.
static pks_status measure_path(
  space_walk *walk, pks_files *files, folder_path path, const char *name, pks_error *error
) {
  const pks_vfs *vfs = walk->snapshot->store->vfs;
  pks_vfs_info info;
  bool is_segment = files != &walk->out->other && is_segment_folder(&path);
  if (!enter(&path, name) || pks__vfs_info(vfs, walk->root, path.text, false, &info)) { return PKS_OK; }
  add_clamped(&files->allocated_bytes, info.stored);
  if (info.kind != PKS_VFS_KIND_FOLDER) {
    files->count++;
    add_clamped(&files->bytes, info.size);
    if (is_segment) { add_segment_file(walk, name, &info, files == &walk->out->cache); }
    return PKS_OK;
  }
  pks__name_list names = {0};
  pks_status status = pks__name_list_read(&names, vfs, walk->root, path.text, error);
  uint64_t at = 0;
  for (const char *below; !status && (below = pks__name_list_next(&names, &at)) != NULL;) {
    status = measure_path(walk, files, path, below, error);
  }
  pks__name_list_free(&names);
  return status;
}

static pks_status measure_files(space_walk *walk, pks_error *error) {
  const struct {
    const char *name;
    pks_files *files;
  } folders[] = {
    {PKS__SEGMENTS_FOLDER, &walk->out->segments}, {PKS__TABLES_FOLDER, &walk->out->tables},
    {PKS__INDEX_FOLDER, &walk->out->index},       {PKS__INCOMING_FOLDER, &walk->out->incoming},
    {PKS__TMP_FOLDER, &walk->out->tmp},
  };
  const pks_store *store = walk->snapshot->store;
  pks__name_list names = {0};
  pks_vfs_info info;
  walk->root = store->root;
  if (pks__vfs_info_of(store->vfs, store->root, &info) == 0) { walk->out->other.allocated_bytes = info.stored; }
  pks_status status = pks__name_list_read(&names, store->vfs, store->root, ".", error);
  uint64_t at = 0;
  for (const char *name; !status && (name = pks__name_list_next(&names, &at)) != NULL;) {
    pks_files *files = &walk->out->other;
    for (size_t i = 0; i < PKS_COUNT_OF(folders); i++) {
      if (strcmp(folders[i].name, name) == 0) { files = folders[i].files; }
    }
    status = measure_path(walk, files, (folder_path){.length = 0}, name, error);
  }
  pks__name_list_free(&names);
  return status;
}

/// Opens the store's own folder in the cache folder. If it cannot be opened, it counts as missing: all its data is purged.
static pks_status measure_cache(space_walk *walk, pks_error *error) {
  const pks_store *store = walk->snapshot->store;
  const char *folder = walk->snapshot->generation.cache_folder;
  pks_vfs_info info;
  if (!folder || pks__cache_folder_open(store, folder, false, &walk->root, NULL)) { return PKS_OK; }
  if (pks__vfs_info_of(store->vfs, walk->root, &info) == 0) { walk->out->cache.allocated_bytes = info.stored; }
  pks__name_list names = {0};
  pks_status status = pks__name_list_read(&names, store->vfs, walk->root, ".", error);
  uint64_t at = 0;
  for (const char *name; !status && (name = pks__name_list_next(&names, &at)) != NULL;) {
    status = measure_path(walk, &walk->out->cache, (folder_path){.length = 0}, name, error);
  }
  pks__name_list_free(&names);
  pks__vfs_close(store->vfs, walk->root);
  return status;
}

// MARK: - Bytes of segments

static void add_chunk(space_walk *walk, const space_segment *segment, uint32_t row, uint64_t stored) {
  uint32_t pack = segment->segment ? segment->needed_by[row] : NO_PACK;
  if (pack == NO_PACK) {
    walk->out->dead_bytes += stored;
  } else if (segment->shared[row / 64] >> (row % 64) & 1) {
    walk->out->shared_bytes += stored;
  } else {
    walk->out->own_bytes += stored;
    walk->packs[pack - 1].own_bytes += stored;
  }
}

/// Adds missing or purged bytes to the pack that owns them: no other pack lists the segment.
static void add_missing(space_walk *walk, const space_segment *segment, uint32_t row, uint64_t stored) {
  uint32_t pack = segment->segment ? segment->needed_by[row] : NO_PACK;
  if (pack != NO_PACK) { walk->packs[pack - 1].missing_bytes += stored; }
}

/// Adds bytes in the base to the pack that needs them.
static void add_base(space_walk *walk, const space_segment *segment, uint32_t row, uint64_t stored) {
  uint32_t pack = segment->segment ? segment->needed_by[row] : NO_PACK;
  if (pack == NO_PACK) { return; }
  walk->out->base_bytes += stored;
  walk->packs[pack - 1].base_bytes += stored;
}

static pks_status measure_frame(
  space_walk *walk, const space_segment *segment, pks__segment *open, uint32_t index, uint64_t *stored, pks_error *error
) {
  pks__frame frame;
  const pks_le32 *ends;
  pks_status status = pks__segment_frame(open, index, &frame, error);
  if (!status) { status = pks__segment_frame_ends(open, &frame, &ends, error); }
  if (status) { return status; }
  bool is_missing = open->is_purgeable && !pks__frame_is_present(open, &frame.ref);
  if (!is_missing && !open->is_base) { *stored += frame.ref.stored_length; }
  uint64_t before = 0;
  for (uint32_t i = 0; i < frame.chunk_count; i++) {
    uint64_t until = pks__frame_stored_until(&frame, pks__get32(ends[i]));
    if (is_missing) {
      add_missing(walk, segment, frame.first_chunk + i, until - before);
    } else if (open->is_base) {
      add_base(walk, segment, frame.first_chunk + i, until - before);
    } else {
      add_chunk(walk, segment, frame.first_chunk + i, until - before);
    }
    before = until;
  }
  return PKS_OK;
}

/// Shares out the bytes of a segment file: chunks, and all else. Of one in the base the store itself has the table, and none of its
/// chunks.
static pks_status measure_segment(space_walk *walk, const space_segment *segment, pks_error *error) {
  pks_store *store = walk->snapshot->store;
  pks__segment *open = NULL;
  uint64_t stored = 0;
  pks_status status = pks__snapshot_take_segment(walk->snapshot, &segment->id, &open, error);
  if (status) { return status == PKS_PURGED ? PKS_OK : status; }
  status = pks__segment_need_table(open, error);
  for (uint32_t i = 0; !status && i < open->frame_count; i++) {
    status = measure_frame(walk, segment, open, i, &stored, error);
  }
  walk->out->table_bytes += segment->file_bytes > stored ? segment->file_bytes - stored : 0;
  pks__store_release_segment(store, open);
  return status;
}

static pks_status measure_segments(space_walk *walk, pks_error *error) {
  pks_status status = PKS_OK;
  for (uint64_t i = 0; !status && i < PKS__SCRATCH_COUNT(&walk->segments, space_segment); i++) {
    const space_segment *segment = PKS__SCRATCH_AT(&walk->segments, const space_segment, i);
    if (segment->has_file) { status = measure_segment(walk, segment, error); }
  }
  return status;
}

static void close_walk(space_walk *walk) {
  for (uint64_t i = 0; i < PKS__SCRATCH_COUNT(&walk->segments, space_segment); i++) {
    space_segment *segment = PKS__SCRATCH_AT(&walk->segments, space_segment, i);
    pks__free(segment->needed_by);
    pks__free(segment->shared);
    if (segment->segment) { pks__store_release_segment(walk->snapshot->store, segment->segment); }
  }
  pks__scratch_free(&walk->segments);
  pks__hash_map_free(&walk->by_id);
  pks__free(walk->packs);
}

pks_status pks_snapshot_space(pks_space *out, pks_pack_space *packs, const pks_snapshot *snapshot, pks_error *error) {
  // Bitmaps and lazily opened segments change behind a snapshot that is constant to its user.
  space_walk walk = {.snapshot = pks__snapshot_mutable(snapshot), .out = out};
  *out = (pks_space){0};
  pks_status status = pks__store_check_process(snapshot->store, error);
  if (status) { return status; }
  uint32_t count = snapshot->generation.pack_count + snapshot->generation.removed_count;
  walk.by_id.key = snapshot->store->map_key;
  walk.packs = pks__allocate_zeroed((size_t)count + 1, sizeof *walk.packs);
  if (!walk.packs) { status = pks__fail_memory(error); }
  for (uint32_t pack = 0; !status && pack < count; pack++) { status = measure_pack(&walk, pack, error); }
  if (!status) { status = measure_files(&walk, error); }
  if (!status) { status = measure_cache(&walk, error); }
  if (!status) { status = measure_segments(&walk, error); }
  if (!status && packs) { memcpy(packs, walk.packs, count * sizeof *packs); }
  close_walk(&walk);
  return status;
}
