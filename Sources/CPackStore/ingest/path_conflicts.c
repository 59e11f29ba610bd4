/// Files where other packs need folders: looked for once, when a version is staged, so that look-ups in stores without
/// any need not care.
#include "ingest/path_conflicts.h"

#include <string.h>

#include "read/namespace.h"

typedef struct shadow_search {
  pks_snapshot *snapshot;
  uint32_t own_rank;               ///< rank of the added pack; PKS_ANY_PACK if it is new
  char folder[PKS__PATH_MAX + 1];  ///< the folder whose parts were looked at last
  size_t folder_length;
} shadow_search;

/// Whether another pack has a file or link at `path`.
static pks_status other_has_file(
  shadow_search *search, const char *path, size_t length, bool *found, pks_error *error
) {
  pks__hit hit;
  bool has;
  *found = false;
  // Most folders are not an entry of any pack: one search shows it, regardless of the number of packs.
  pks_status status = pks__namespace_find(search->snapshot, path, length, PKS_ANY_PACK, &hit, &has, error);
  if (status || !has) { return status; }
  for (uint32_t rank = hit.rank; rank < search->snapshot->generation.pack_count; rank++) {
    if (rank == search->own_rank) { continue; }
    status = pks__namespace_find(search->snapshot, path, length, rank, &hit, &has, error);
    *found = !status && has && hit.entry.kind != PKS__RECORD_FOLDER;
    if (status || *found) { return status; }
  }
  return PKS_OK;
}

/// Looks at the folders above `path` that the previous path did not have.
static pks_status check_folders(shadow_search *search, const char *path, size_t length, bool *found, pks_error *error) {
  size_t shared = 0;
  while (shared < length && shared < search->folder_length && path[shared] == search->folder[shared]) { shared++; }
  for (size_t at = 0; at < length; at++) {
    bool is_known = at < shared || (at == shared && at == search->folder_length);
    if (path[at] != '/' || is_known) { continue; }
    pks_status status = other_has_file(search, path, at, found, error);
    if (status || *found) { return status; }
    memcpy(search->folder, path, at);
    search->folder_length = at;
  }
  return PKS_OK;
}

/// Whether another pack has something below `path`, which is a file or link here.
static pks_status check_below(
  shadow_search *search, pks__run_merge *merge, const char *path, size_t length, bool *found, pks_error *error
) {
  char prefix[PKS__PATH_MAX + 1];
  if (length >= PKS__PATH_MAX) { return PKS_OK; }
  memcpy(prefix, path, length);
  prefix[length] = '/';
  pks_status status = pks__run_merge_seek(merge, prefix, length + 1, error);
  for (bool more = true; !status && more && !*found;) {
    status = pks__run_merge_next_within(merge, prefix, length + 1, &more, error);
    if (status || !more) { break; }
    for (uint32_t i = 0; i < merge->hit_count; i++) { *found = *found || merge->hits[i].rank != search->own_rank; }
  }
  return status;
}

pks_status pks__ingest_find_conflicts(
  const pks__ingest *ingest, pks_snapshot *snapshot, bool *found, pks_error *error
) {
  shadow_search search = {
    .snapshot = snapshot, .own_rank = pks__generation_find_pack(&snapshot->generation, ingest->request.pack)};
  pks__run_merge merge = {0};
  *found = false;
  pks_status status = pks__run_merge_open(&merge, snapshot, error);
  for (uint64_t i = 0; !status && !*found && i < pks__entry_list_count(&ingest->listing); i++) {
    if (!PKS__SCRATCH_AT(&ingest->assets, const pks__ingest_asset, i)->changed) { continue; }
    const pks__item *item = pks__entry_list_at(&ingest->listing, i);
    const char *path = pks__entry_list_path(&ingest->listing, item);
    status = check_folders(&search, path, item->path_length, found, error);
    if (!status && !*found && item->kind != PKS__RECORD_FOLDER) {
      status = check_below(&search, &merge, path, item->path_length, found, error);
    }
  }
  pks__run_merge_close(&merge);
  return status;
}
