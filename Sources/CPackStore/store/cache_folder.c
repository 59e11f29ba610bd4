#include "store/cache_folder.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "codec/checksum.h"
#include "platform/name_list.h"
#include "store/own_folder.h"

/// Last use has this resolution: a file used within this time is not marked again.
#define LAST_USE_NS ((int64_t)3600 * 1000 * 1000 * 1000)

// MARK: - Names

enum { OWN_NAME_SIZE = 32 + 1 + 16 + 1 };

/// The name of the store's own folder in a cache folder. False if the inode of the store's directory is unknown.
static bool own_name(const pks_store *store, char out[OWN_NAME_SIZE]) {
  pks_vfs_info info;
  if (pks__vfs_info_of(store->vfs, store->root, &info)) { return false; }
  char id[33], inode[17];
  pks__hex(store->store_id, sizeof store->store_id, id);
  pks__hex64(info.inode, inode);
  (void)snprintf(out, OWN_NAME_SIZE, "%s-%s", id, inode);
  return true;
}

// MARK: - Opening

/// Always synced: another process may have made them just now.
static int make_parts(const pks_vfs *vfs, pks_vfs_file root) {
  static const char *const parts[] = {PKS__SEGMENTS_FOLDER, PKS__TMP_FOLDER};
  int failure = 0;
  for (size_t i = 0; !failure && i < PKS_COUNT_OF(parts); i++) {
    failure = pks__vfs_make_folder(vfs, root, parts[i]);
    if (failure == EEXIST) { failure = 0; }
  }
  return failure ? failure : pks__vfs_sync(vfs, root);
}

static int open_own(const pks_store *store, const char *folder, bool create, pks_vfs_file *out) {
  char name[OWN_NAME_SIZE];
  *out = PKS_VFS_NO_FILE;
  if (!own_name(store, name)) { return EIO; }
  pks__own_folder own = {.vfs = store->vfs, .store = store->root, .parent = folder, .name = name};
  int failure = pks__own_folder_open(&own, create, out);
  if (!failure && create) { failure = make_parts(store->vfs, *out); }
  if (failure && *out != PKS_VFS_NO_FILE) {
    pks__vfs_close(store->vfs, *out);
    *out = PKS_VFS_NO_FILE;
  }
  return failure;
}

pks_status pks__cache_folder_open(
  const pks_store *store, const char *folder, bool create, pks_vfs_file *out, pks_error *error
) {
  int failure = open_own(store, folder, create, out);
  return failure
    ? pks__fail_system_about(error, failure, PKS_DETAIL_NONE, PKS_SUBJECT_CACHE_FOLDER, folder, "cannot be used")
    : PKS_OK;
}

// MARK: - The folder of a store

void pks__cache_folder_note(pks_store *store, const char *folder) {
  bool is_same = store->cache_folder && folder && strcmp(store->cache_folder, folder) == 0;
  if (is_same || !folder) { return; }
  char *copy = pks__copy_text(folder);
  if (!copy) { return; }
  pks__free(store->cache_folder);
  store->cache_folder = copy;
}

/// Opens the store's own folder in the cache folder that was noted.
static pks_vfs_file open_noted(pks_store *store) {
  pks__mutex_lock(store->mutex);
  char *folder = store->cache_folder ? pks__copy_text(store->cache_folder) : NULL;
  pks__mutex_unlock(store->mutex);
  pks_vfs_file root = PKS_VFS_NO_FILE;
  if (folder) { (void)pks__cache_folder_open(store, folder, false, &root, NULL); }
  pks__free(folder);
  return root;
}

pks_vfs_file pks__cache_folder_open_segment(pks_store *store, const char *name) {
  const pks_vfs *vfs = store->vfs;
  pks_vfs_file root = open_noted(store), file;
  if (root == PKS_VFS_NO_FILE) { return PKS_VFS_NO_FILE; }
  char path[sizeof PKS__SEGMENTS_FOLDER + PKS__SEGMENT_NAME + 1];
  (void)snprintf(path, sizeof path, PKS__SEGMENTS_FOLDER "/%s", name);
  if (pks__vfs_open(vfs, root, path, PKS_VFS_OPEN_READ, &file)) { file = PKS_VFS_NO_FILE; }
  if (file != PKS_VFS_NO_FILE) {
    (void)pks__vfs_lock(vfs, file, 0, 1, PKS_VFS_LOCK_SHARED);
    pks_vfs_info info;
    bool is_due = !pks__vfs_info_of(vfs, file, &info) && info.modified_ns + LAST_USE_NS < pks__vfs_now_ns(vfs);
    if (is_due) { (void)pks__vfs_touch(vfs, root, path); }
  }
  pks__vfs_close(vfs, root);
  return file;
}

/// After this time, another change in a folder gives it another time, even with coarse file system times.
#define SETTLED_NS ((int64_t)100 * 1000 * 1000)

/// The time at which a file last came to a folder or was deleted there; 0 if the folder is missing. False if it is unknown yet.
static bool find_time(const pks_store *store, pks_vfs_file root, const char *folder, int64_t *out) {
  pks_vfs_info info = {0};
  int failure = pks__vfs_info(store->vfs, root, folder, false, &info);
  *out = failure ? 0 : info.modified_ns;
  return failure ? failure == ENOENT : info.modified_ns < pks__vfs_now_ns(store->vfs) - SETTLED_NS;
}

uint64_t pks_store_files_stamp(pks_store *store) {
  if (pks__store_check_process(store, NULL)) { return 0; }
  int64_t times[3] = {0};
  bool is_settled = find_time(store, store->root, PKS__SEGMENTS_FOLDER, &times[0])
    && find_time(store, store->root, PKS__TABLES_FOLDER, &times[1]);
  pks_vfs_file cache = is_settled ? open_noted(store) : PKS_VFS_NO_FILE;
  if (cache != PKS_VFS_NO_FILE) {
    is_settled = find_time(store, cache, PKS__SEGMENTS_FOLDER, &times[2]);
    pks__vfs_close(store->vfs, cache);
  }
  if (!is_settled) { return 0; }
  uint64_t stamp = pks__checksum(times, sizeof times);
  return stamp ? stamp : 1;
}

// MARK: - What is there

static bool add_cost(void *context, const char *name, const pks_vfs_info *info) {
  uint64_t *sum = context;
  (void)name;
  if (__builtin_add_overflow(*sum, pks__cache_file_cost(info), sum)) { *sum = UINT64_MAX; }
  return true;
}

pks_status pks__cache_folder_use(const pks_store *store, const char *folder, uint64_t *bytes, pks_error *error) {
  pks_vfs_file root;
  *bytes = 0;
  if (pks__cache_folder_open(store, folder, false, &root, NULL)) { return PKS_OK; }
  pks_status status = pks__cache_folder_list(store, root, add_cost, bytes, error);
  pks__vfs_close(store->vfs, root);
  return status;
}

pks_status pks__cache_folder_list(
  const pks_store *store, pks_vfs_file root, pks__cache_visitor *visit, void *context, pks_error *error
) {
  pks__name_list list;
  uint64_t at = 0;
  pks_status status = pks__name_list_read(&list, store->vfs, root, PKS__SEGMENTS_FOLDER, error);
  bool goes_on = !status;
  for (const char *name = pks__name_list_next(&list, &at); goes_on && name; name = pks__name_list_next(&list, &at)) {
    char path[PKS__INDEX_NAME];
    pks_vfs_info info;
    if (snprintf(path, sizeof path, PKS__SEGMENTS_FOLDER "/%s", name) >= (int)sizeof path) { continue; }
    if (pks__vfs_info(store->vfs, root, path, false, &info) || info.kind != PKS_VFS_KIND_FILE) { continue; }
    goes_on = visit(context, name, &info);
  }
  pks__name_list_free(&list);
  return status;
}
