#include "read/namespace.h"

#include <string.h>

#include "base/memory.h"

/// More packs with one path than this are looked up one by one.
enum { SEEN_MAX = 32 };

typedef struct search {
  pks_snapshot *snapshot;
  const char *path;
  size_t length;
  uint64_t hash;
  uint32_t rank;            ///< rank of the searched pack, or PKS_ANY_PACK
  uint32_t seen[SEEN_MAX];  ///< ranks whose newest record was met
  uint32_t seen_count;
  bool overflowed;
} search;

/// Whether this is the newest record of its pack; older ones do not count.
static bool is_first_of_pack(search *search, uint32_t rank) {
  for (uint32_t i = 0; i < search->seen_count; i++) {
    if (search->seen[i] == rank) { return false; }
  }
  if (search->seen_count == SEEN_MAX) {
    search->overflowed = true;
    return false;
  }
  search->seen[search->seen_count++] = rank;
  return true;
}

/// Takes the best of one run's records into `out`.
static pks_status search_run(search *search, uint32_t run, pks__hit *out, bool *found, pks_error *error) {
  const pks__snapshot_run *snapshot_run = &search->snapshot->runs[run];
  pks__run_probe probe = {0};
  pks__run_entry other;
  for (;;) {
    // The first hit, most often the only one, is decoded where it stays.
    pks__run_entry *entry = *found ? &other : &out->entry;
    bool more;
    pks_status status =
      pks__run_find(&snapshot_run->open->run, search->hash, search->path, search->length, &probe, entry, &more, error);
    if (status || !more) { return status; }
    uint32_t rank = snapshot_run->ranks[entry->pack];
    if (rank == UINT32_MAX || (search->rank != PKS_ANY_PACK && rank != search->rank)) { continue; }
    if (!is_first_of_pack(search, rank) || entry->kind == PKS__RECORD_ABSENT) { continue; }
    if (*found && rank > out->rank) { continue; }
    if (*found) { out->entry = other; }
    out->run = run;
    out->rank = rank;
    *found = true;
  }
}

static pks_status search_all(search *search, pks__hit *out, bool *found, pks_error *error) {
  *found = false;
  for (uint32_t run = search->snapshot->run_count; run > 0; run--) {
    pks_status status = search_run(search, run - 1, out, found, error);
    if (status) { return status; }
    bool decided = search->rank != PKS_ANY_PACK ? search->seen_count > 0 : *found && out->rank == 0;
    if (decided) { break; }
  }
  return PKS_OK;
}

pks_status pks__namespace_find(
  pks_snapshot *snapshot, const char *path, size_t length, uint32_t rank, pks__hit *out, bool *found, pks_error *error
) {
  search search = {
    .snapshot = snapshot,
    .path = path,
    .length = length,
    .hash = pks__path_hash(&snapshot->hasher, path, length),
    .rank = rank};
  pks_status status = search_all(&search, out, found, error);
  if (status || !search.overflowed) { return status; }
  for (uint32_t one = 0; one < snapshot->generation.pack_count; one++) {
    search.seen_count = 0;
    search.rank = one;
    status = search_all(&search, out, found, error);
    if (status || *found) { return status; }
  }
  return PKS_OK;
}

// MARK: - Files against folders

pks_status pks__namespace_hidden_by_file(
  pks_snapshot *snapshot, const char *path, size_t length, uint32_t rank, bool *hidden, pks__hit *by, size_t *by_length,
  pks_error *error
) {
  *hidden = false;
  if (!snapshot->generation.has_shadows) { return PKS_OK; }
  for (size_t at = 0; at < length; at++) {
    if (path[at] != '/') { continue; }
    bool found;
    pks_status status = pks__namespace_find(snapshot, path, at, PKS_ANY_PACK, by, &found, error);
    if (status) { return status; }
    if (!found || by->rank >= rank || by->entry.kind == PKS__RECORD_FOLDER) { continue; }
    // A file that loses to a folder itself hides nothing.
    bool lost;
    uint32_t by_rank;
    status = pks__namespace_hidden_by_folder(snapshot, path, at, by->rank, &lost, &by_rank, error);
    if (status) { return status; }
    if (!lost) {
      *hidden = true;
      *by_length = at;
      return PKS_OK;
    }
  }
  return PKS_OK;
}

/// Begins below the folder `path`, which is shorter than PKS__PATH_MAX. `prefix` receives its path, with '/'.
static pks_status open_below(
  pks__run_merge *merge, pks_snapshot *snapshot, const char *path, size_t length, char prefix[PKS__PATH_MAX],
  pks_error *error
) {
  *merge = (pks__run_merge){0};
  memcpy(prefix, path, length);
  prefix[length] = '/';
  pks_status status = pks__run_merge_open(merge, snapshot, error);
  return status ? status : pks__run_merge_seek(merge, prefix, length + 1, error);
}

pks_status pks__namespace_hidden_by_folder(
  pks_snapshot *snapshot, const char *path, size_t length, uint32_t rank, bool *hidden, uint32_t *by_rank,
  pks_error *error
) {
  *hidden = false;
  if (!snapshot->generation.has_shadows || length >= PKS__PATH_MAX) { return PKS_OK; }
  pks__run_merge merge;
  char prefix[PKS__PATH_MAX];
  bool more = true;
  pks_status status = open_below(&merge, snapshot, path, length, prefix, error);
  while (!status && !*hidden) {
    status = pks__run_merge_next_within(&merge, prefix, length + 1, &more, error);
    if (status || !more) { break; }
    *hidden = merge.hits[0].rank < rank;
    *by_rank = merge.hits[0].rank;
  }
  pks__run_merge_close(&merge);
  return status;
}

// MARK: - Assets

pks_asset pks__namespace_asset(const pks_snapshot *snapshot, const pks__hit *hit, const char *path, size_t length) {
  const pks__run *run = &snapshot->runs[hit->run].open->run;
  const pks__run_entry *entry = &hit->entry;
  return (pks_asset){
    .snapshot = snapshot,
    .record = run->table.body + run->records.offset + entry->offset,
    .path = path,
    .path_length = (uint32_t)length,
    .run = hit->run,
    .kind = (pks_kind)entry->kind,
    .executable = entry->flags & PKS__FLAG_EXECUTABLE,
    // Data that may be deleted during the read is not borrowed.
    .contiguous = entry->flags & PKS__FLAG_CONTIGUOUS && !snapshot->generation.packs[hit->rank].purgeable,
    .mapped = entry->flags & PKS__FLAG_MAPPED,
    .pack = hit->rank,
    .size = entry->kind == PKS__RECORD_FOLDER ? 0 : entry->size,
  };
}

pks_status pks__namespace_record(const pks_asset *asset, pks__hit *out, pks_error *error) {
  pks_status forked = pks__store_check_process(asset->snapshot->store, error);
  if (forked) { return forked; }
  const pks_snapshot *snapshot = asset->snapshot;
  const uint8_t *record = asset->record;
  pks__run *run = asset->run < snapshot->run_count ? &snapshot->runs[asset->run].open->run : NULL;
  const uint8_t *begin = run ? run->table.body + run->records.offset : NULL;
  if (!run || record < begin || record >= begin + run->records.length) {
    return pks__fail(error, PKS_INVALID_ARGUMENT, "the asset belongs to another snapshot", NULL, PKS_NO_OFFSET);
  }
  out->run = asset->run;
  out->rank = asset->pack;
  return pks__run_place_at(run, (uint64_t)(record - begin), &out->entry, error);
}

pks_status pks__namespace_file(const pks_asset *asset, pks__hit *out, pks_error *error) {
  if (asset->kind == PKS_FILE) { return pks__namespace_record(asset, out, error); }
  return pks__fail_at_path(error, PKS_WRONG_KIND, "not a file", asset->path, asset->path_length);
}

pks_status pks__namespace_blame(pks_status status, const pks_asset *asset, pks_error *error) {
  bool names_segment = status == PKS_CORRUPT || status == PKS_PURGED || status == PKS_IO_ERROR;
  if (!error || !names_segment) { return status; }
  // The inner call has already added the name.
  if (error->asset_offset > 0) { return status; }
  static const char link[] = ", asset ";
  size_t used = strlen(error->file), room = sizeof error->file - 1 - used;
  size_t link_length = used > 0 ? sizeof link - 1 : 0, length = link_length + asset->path_length;
  if (room < length) { return status; }
  memcpy(error->file + used, link, link_length);
  memcpy(error->file + used + link_length, asset->path, asset->path_length);
  error->file[used + length] = 0;
  if (link_length > 0) { error->asset_offset = (uint32_t)(used + link_length); }
  return status;
}

static pks_status implied_folder(
  pks_snapshot *snapshot, const char *path, size_t length, uint32_t rank, bool *found, pks_error *error
) {
  *found = false;
  if (length >= PKS__PATH_MAX) { return PKS_OK; }
  pks__run_merge merge;
  char prefix[PKS__PATH_MAX];
  bool more = true;
  pks_status status = open_below(&merge, snapshot, path, length, prefix, error);
  while (!status && !*found) {
    status = pks__run_merge_next_within(&merge, prefix, length + 1, &more, error);
    if (status || !more) { break; }
    for (uint32_t i = 0; i < merge.hit_count; i++) {
      *found = *found || rank == PKS_ANY_PACK || merge.hits[i].rank == rank;
    }
  }
  pks__run_merge_close(&merge);
  return status;
}

/// A file or link that loses to a folder is not there.
static pks_status is_hidden(
  pks_snapshot *snapshot, const char *path, size_t length, const pks__hit *hit, bool *hidden, pks_error *error
) {
  pks__hit by;
  size_t by_length;
  uint32_t by_rank;
  pks_status status = pks__namespace_hidden_by_file(snapshot, path, length, hit->rank, hidden, &by, &by_length, error);
  if (status || *hidden || hit->entry.kind == PKS__RECORD_FOLDER) { return status; }
  return pks__namespace_hidden_by_folder(snapshot, path, length, hit->rank, hidden, &by_rank, error);
}

pks_status pks_snapshot_find(
  pks_asset *out, const pks_snapshot *snapshot, const char *path, size_t path_length, uint32_t pack, pks_error *error
) {
  pks_snapshot *open = pks__snapshot_mutable(snapshot);
  // Bitmaps and lazily opened segments change behind a open that is constant to its user.
  pks_status status = pks__store_check_process(open->store, error);
  if (status) { return status; }
  if (path_length == 0 || path_length > PKS__PATH_MAX) {
    return pks__fail_at_path(error, PKS_INVALID_ARGUMENT, "invalid path of an asset", path, path_length);
  }
  pks__hit hit;
  bool found;
  status = pks__namespace_find(open, path, path_length, pack, &hit, &found, error);
  if (status) { return status; }
  if (found && pack == PKS_ANY_PACK && open->generation.has_shadows) {
    bool hidden;
    status = is_hidden(open, path, path_length, &hit, &hidden, error);
    if (status) { return status; }
    found = !hidden;
  }
  if (found) {
    *out = pks__namespace_asset(open, &hit, path, path_length);
    return PKS_OK;
  }
  if (!pks__path_is_valid(path, path_length)) {
    return pks__fail_at_path(error, PKS_INVALID_ARGUMENT, "invalid path of an asset", path, path_length);
  }
  bool hidden = false;
  if (pack == PKS_ANY_PACK) {
    pks__hit by;
    size_t by_length;
    status = pks__namespace_hidden_by_file(open, path, path_length, PKS_ANY_PACK, &hidden, &by, &by_length, error);
  }
  if (!status && !hidden) { status = implied_folder(open, path, path_length, pack, &found, error); }
  if (status) { return status; }
  if (!found) {
    return pks__fail_case_at_path(error, PKS_NOT_FOUND, PKS_DETAIL_NO_ASSET, path, path_length, "no such asset");
  }
  *out = (pks_asset
  ){.snapshot = open, .path = path, .path_length = (uint32_t)path_length, .kind = PKS_FOLDER, .pack = PKS_ANY_PACK};
  return PKS_OK;
}
