#include "store/segment_files.h"

#include <errno.h>
#include <stdio.h>

#include "store/segment_registry.h"

/// Whether a regular file exists, and its length. A failure other than a missing file is an error, because it proves no loss.
static pks_status find_file(
  const pks_vfs *vfs, pks_vfs_file root, const char *folder, const char *name, bool *exists, uint64_t *length,
  pks_error *error
) {
  char path[PKS__INDEX_NAME];
  pks_vfs_info info;
  (void)snprintf(path, sizeof path, "%s/%s", folder, name);
  int failure = pks__vfs_info(vfs, root, path, false, &info);
  *exists = !failure && info.kind == PKS_VFS_KIND_FILE;
  *length = *exists ? info.size : 0;
  bool is_missing = failure == ENOENT || failure == ENOTDIR || failure == ELOOP;
  return failure && !is_missing ? pks__fail_system(error, failure, "cannot examine", path) : PKS_OK;
}

static const pks__segment *find_staged(const pks_snapshot *snapshot, const pks__segment_id *id) {
  for (uint64_t i = 0; snapshot->staged && i < PKS__SCRATCH_COUNT(snapshot->staged, pks__staged_segment); i++) {
    const pks__segment *staged = PKS__SCRATCH_AT(snapshot->staged, const pks__staged_segment, i)->segment;
    if (pks__segment_id_equal(&staged->id, id)) { return staged; }
  }
  return NULL;
}

pks_status pks__segment_files_find(
  const pks_snapshot *snapshot, pks_vfs_file cache, const pks__segment_id *id, uint64_t file_length,
  pks__segment_files *out, pks_error *error
) {
  pks_store *store = snapshot->store;
  const pks__segment *staged = find_staged(snapshot, id);
  *out = (pks__segment_files){.place = PKS__SEGMENT_STORED};
  if (staged) {
    if (!staged->is_purgeable) { return PKS_OK; }
    *out = (pks__segment_files){.place = PKS__SEGMENT_APART, .length = atomic_load(&staged->present)};
    return PKS_OK;
  }
  char name[PKS__SEGMENT_NAME];
  uint64_t length;
  bool exists;
  pks__segment_name(id, name);
  pks_status status = find_file(store->vfs, store->root, PKS__SEGMENTS_FOLDER, name, &exists, &length, error);
  if (status || (exists && length >= file_length)) { return status; }
  // A file that was cut short hides the table: the core looks among the store's own files first.
  out->place = PKS__SEGMENT_LOST;
  bool was_cut = exists;
  if (!was_cut) { status = find_file(store->vfs, store->root, PKS__TABLES_FOLDER, name, &exists, &length, error); }
  if (!status && !was_cut && exists) {
    out->place = PKS__SEGMENT_APART;
    // A cache folder that cannot be examined has nothing that could be read.
    bool has_cache = cache != PKS_VFS_NO_FILE;
    if (has_cache) { (void)find_file(store->vfs, cache, PKS__SEGMENTS_FOLDER, name, &exists, &out->length, NULL); }
  }
  if (!status && out->place == PKS__SEGMENT_LOST) { pks__store_forget_segment(store, id); }
  return status;
}
