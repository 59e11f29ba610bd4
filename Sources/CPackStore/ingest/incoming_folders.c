#include "ingest/incoming_folders.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "platform/name_list.h"

#define WEEK_NS ((int64_t)7 * 24 * 60 * 60 * 1000000000)

int pks__incoming_lock(pks_store *store, pks_vfs_file file, bool *taken) {
  int failure = pks__vfs_lock(store->vfs, file, 0, 1, PKS_VFS_LOCK_EXCLUSIVE);
  *taken = failure == 0;
  return failure == EAGAIN ? 0 : failure;
}

bool pks__incoming_is_named(pks_store *store, pks_vfs_file file, const char *path) {
  pks_vfs_info open, named;
  const pks_vfs *vfs = store->vfs;
  return !pks__vfs_info_of(vfs, file, &open) && !pks__vfs_info(vfs, store->root, path, false, &named)
    && open.device == named.device && open.inode == named.inode;
}

void pks__incoming_clear(
  pks_store *store, const char *path, bool (*keeps)(const void *context, const char *name), const void *context
) {
  pks__name_list list;
  (void)pks__name_list_read(&list, store->vfs, store->root, path, NULL);
  for (int pass = 0; pass < 2; pass++) {
    uint64_t at = 0;
    for (const char *name = pks__name_list_next(&list, &at); name; name = pks__name_list_next(&list, &at)) {
      char file[PKS__INCOMING_PATH];
      bool is_journal = strcmp(name, PKS__INCOMING_JOURNAL) == 0;
      if (is_journal != (pass == 1) || (keeps && keeps(context, name))) { continue; }
      if (snprintf(file, sizeof file, "%s/%s", path, name) >= (int)sizeof file) { continue; }
      (void)pks__vfs_unlink(store->vfs, store->root, file, false);
    }
  }
  pks__name_list_free(&list);
}

void pks__incoming_remove(pks_store *store, const char *path) {
  pks__incoming_clear(store, path, NULL, NULL);
  (void)pks__vfs_unlink(store->vfs, store->root, path, true);
}

/// When a folder was last worked in: the newest of its files, or its own time.
static int64_t last_touched(pks_store *store, const char *path) {
  const pks_vfs *vfs = store->vfs;
  pks__name_list list;
  pks_vfs_info info;
  int64_t newest = pks__vfs_info(vfs, store->root, path, false, &info) ? INT64_MAX : info.modified_ns;
  (void)pks__name_list_read(&list, store->vfs, store->root, path, NULL);
  uint64_t at = 0;
  for (const char *name = pks__name_list_next(&list, &at); name; name = pks__name_list_next(&list, &at)) {
    char file[PKS__INCOMING_PATH];
    if (snprintf(file, sizeof file, "%s/%s", path, name) >= (int)sizeof file) { continue; }
    if (!pks__vfs_info(vfs, store->root, file, false, &info) && info.modified_ns > newest) {
      newest = info.modified_ns;
    }
  }
  pks__name_list_free(&list);
  return newest;
}

static bool is_old(pks_store *store, const char *path, const void *context) {
  (void)context;
  return last_touched(store, path) <= pks__vfs_now_ns(store->vfs) - WEEK_NS;
}

/// Whether the journal of a folder names this pack. Its checksum is not verified, because a damaged journal is useless.
static bool is_of_pack(pks_store *store, const char *path, const void *context) {
  const pks_vfs *vfs = store->vfs;
  const char *pack = context;
  char journal[PKS__INCOMING_PATH];
  pks_vfs_file file;
  (void)snprintf(journal, sizeof journal, "%s/" PKS__INCOMING_JOURNAL, path);
  if (pks__vfs_open(vfs, store->root, journal, PKS_VFS_OPEN_READ, &file)) { return false; }
  uint8_t record[8 + 1 + PKS__ID_SIZE + PKS__PACK_NAME_MAX];
  size_t length = 1 + PKS__ID_SIZE + strlen(pack), got = 0;
  bool is_there = !pks__vfs_read_at(vfs, file, 0, record, 8 + length, &got) && got == 8 + length;
  pks__vfs_close(vfs, file);
  if (!is_there) { return false; }
  pks_le32 said;
  memcpy(&said, record, sizeof said);
  return pks__get32(said) == length && record[8] == PKS__INCOMING_OWNER
    && memcmp(record + 8 + 1 + PKS__ID_SIZE, pack, strlen(pack)) == 0;
}

typedef bool folder_test(pks_store *store, const char *path, const void *context);

/// Removes a folder without an active process, if `goes` returns true; other folders are not locked, because a process that wants
/// to work there would find them busy.
static void remove_idle(pks_store *store, const char *path, folder_test *goes, const void *context) {
  if (!goes(store, path, context)) { return; }
  const pks_vfs *vfs = store->vfs;
  char journal[PKS__INCOMING_PATH];
  pks_vfs_file file;
  (void)snprintf(journal, sizeof journal, "%s/" PKS__INCOMING_JOURNAL, path);
  if (pks__vfs_open(vfs, store->root, journal, PKS_VFS_OPEN_LOCK, &file)) { return; }
  bool taken = false;
  if (!pks__incoming_lock(store, file, &taken) && taken && pks__incoming_is_named(store, file, journal)) {
    pks__incoming_remove(store, path);
  }
  if (taken) { (void)pks__vfs_lock(vfs, file, 0, 1, PKS_VFS_LOCK_NONE); }
  pks__vfs_close(vfs, file);
}

static void remove_all_idle(pks_store *store, folder_test *goes, const void *context) {
  pks__name_list list;
  (void)pks__name_list_read(&list, store->vfs, store->root, PKS__INCOMING_FOLDER, NULL);
  uint64_t at = 0, unused;
  for (const char *name = pks__name_list_next(&list, &at); name; name = pks__name_list_next(&list, &at)) {
    char path[PKS__INCOMING_PATH];
    if (!pks__hex_parse64(name, &unused)) { continue; }
    (void)snprintf(path, sizeof path, PKS__INCOMING_FOLDER "/%s", name);
    remove_idle(store, path, goes, context);
  }
  pks__name_list_free(&list);
}

void pks__incoming_sweep(pks_store *store) { remove_all_idle(store, is_old, NULL); }

void pks__incoming_remove_of(pks_store *store, const char *pack) { remove_all_idle(store, is_of_pack, pack); }
