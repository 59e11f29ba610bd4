#include "commit/sync_backlog.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "platform/file_writer.h"
#include "space/live_set.h"
#include "store/store_files.h"

enum { COPY_SIZE = 1024 * 1024 };

#define COPY_NAME "copy"
#define SUFFIX ".generation"

typedef struct voucher {
  pks__staging *staging;
  bool in_doubt;
  bool may_be_gone;        ///< files that are not there are not missed
  pks__live_set unsynced;  ///< files to sync, without those of the last durable generation
  pks__live_set durable;
} voucher;

// MARK: - Writing files again

/// Copies the readable contents of the open file to a new, synced file of the staging.
static pks_status copy(pks__staging *staging, pks_vfs_file from, const char *path, pks_error *error) {
  const pks_vfs *vfs = staging->store->vfs;
  pks__file_writer writer = {.file = PKS_VFS_NO_FILE};
  uint8_t *bytes = pks__allocate(COPY_SIZE);
  pks_status status = bytes ? PKS_OK : pks__fail_memory(error);
  if (!status) { status = pks__file_writer_open(&writer, vfs, staging->folder, COPY_NAME, error); }
  size_t got = COPY_SIZE;
  for (uint64_t offset = 0; !status && got == COPY_SIZE; offset += got) {
    int failure = pks__vfs_read_at(vfs, from, offset, bytes, COPY_SIZE, &got);
    status = failure ? pks__fail_system(error, failure, "cannot read", path)
                     : pks__file_writer_append(&writer, bytes, got, error);
  }
  if (!status) { status = pks__file_writer_finish(&writer, true, error); }
  pks__file_writer_abandon(&writer);
  pks__free(bytes);
  return status;
}

pks_status pks__rewrite_file(pks__staging *staging, const char *path, bool may_be_gone, pks_error *error) {
  const pks_store *store = staging->store;
  const pks_vfs *vfs = store->vfs;
  pks_vfs_file file = PKS_VFS_NO_FILE;
  int failure = pks__vfs_open(vfs, store->root, path, PKS_VFS_OPEN_READ, &file);
  if (failure == ENOENT && may_be_gone) { return PKS_OK; }
  if (failure) { return pks__fail_system(error, failure, "cannot open", path); }
  pks_status status = copy(staging, file, path, error);
  pks__vfs_close(vfs, file);
  char from[PKS__INDEX_NAME + sizeof COPY_NAME + 1];
  (void)snprintf(from, sizeof from, "%s/" COPY_NAME, staging->path);
  if (status) {
    (void)pks__vfs_unlink(vfs, store->root, from, false);
    return status;
  }
  failure = pks__vfs_rename(vfs, store->root, from, path);
  return failure ? pks__fail_system(error, failure, "cannot rename", path) : PKS_OK;
}

// MARK: - Which files

/// The last durable generation's needs. Where it cannot be read, nothing is known to be durable.
static void find_durable(voucher *voucher, const pks__control *control) {
  const pks__control_slot *other = pks__control_spared(control);
  if (!other->durable || other->generation == pks__control_current(control)->generation) { return; }
  if (pks__live_set_add_number(&voucher->durable, voucher->staging->store, other->generation, NULL)) {
    pks__live_set_free(&voucher->durable);
    voucher->durable = pks__live_set_make(voucher->staging->store);
  }
}

/// Damage may hide any segment of a run; some of those may have been collected.
static pks_status find_unsynced(voucher *voucher, pks_snapshot *current, pks_error *error) {
  pks_status status = pks__live_set_add_index(&voucher->unsynced, &current->generation, error);
  if (!status) { status = pks__live_set_add_versions(&voucher->unsynced, current, error); }
  voucher->may_be_gone = status == PKS_CORRUPT || status == PKS_PURGED;
  return voucher->may_be_gone ? pks__live_set_add_listed(&voucher->unsynced, current, error) : status;
}

static bool exists(const pks_store *store, const char *path) {
  pks_vfs_info info;
  return !pks__vfs_info(store->vfs, store->root, path, false, &info);
}

static pks_status vouch_for(const voucher *voucher, const char *path, bool may_be_gone, pks_error *error) {
  return voucher->in_doubt ? pks__rewrite_file(voucher->staging, path, may_be_gone, error)
                           : pks__store_sync_file(voucher->staging->store, path, may_be_gone, error);
}

static pks_status vouch_for_segment(const voucher *voucher, const char *name, bool is_durable, pks_error *error) {
  const pks_store *store = voucher->staging->store;
  char path[2 * PKS__INDEX_NAME], table[2 * PKS__INDEX_NAME];
  (void)snprintf(path, sizeof path, PKS__SEGMENTS_FOLDER "/%s", name);
  (void)snprintf(table, sizeof table, PKS__TABLES_FOLDER "/%s", name);
  // Data in the cache folder need not be durable; its table must be.
  bool is_here = exists(store, path), has_table = exists(store, table);
  // The durable generation has one of two places, and a later commit added the other.
  if (is_durable && !(is_here && has_table)) { return PKS_OK; }
  pks_status status = PKS_OK;
  if (is_here || !has_table) { status = vouch_for(voucher, path, voucher->may_be_gone, error); }
  if (!status && has_table) { status = vouch_for(voucher, table, false, error); }
  return status;
}

static pks_status vouch_for_files(voucher *voucher, pks_error *error) {
  pks_status status = PKS_OK;
  for (uint64_t at = 0; !status && at < voucher->unsynced.names.length;) {
    const char *name = (const char *)voucher->unsynced.names.bytes + at;
    size_t length = strlen(name);
    at += length + 1;
    // The commit writes a generation of its own.
    if (length > sizeof SUFFIX && strcmp(name + length - (sizeof SUFFIX - 1), SUFFIX) == 0) { continue; }
    pks__segment_id id;
    bool is_durable = pks__live_set_has(&voucher->durable, name, length);
    if (pks__segment_name_parse(name, &id)) {
      status = vouch_for_segment(voucher, name, is_durable, error);
    } else if (!is_durable) {
      char path[2 * PKS__INDEX_NAME];
      (void)snprintf(path, sizeof path, PKS__INDEX_FOLDER "/%s", name);
      status = vouch_for(voucher, path, voucher->may_be_gone, error);
    }
  }
  return status;
}

pks_status pks__sync_backlog(
  pks__staging *staging, const pks__control *control, pks_snapshot *current, pks_error *error
) {
  pks_store *store = staging->store;
  voucher voucher = {
    .staging = staging,
    .in_doubt = pks__control_current(control)->in_doubt,
    .unsynced = pks__live_set_make(store),
    .durable = pks__live_set_make(store),
  };
  find_durable(&voucher, control);
  pks_status status = find_unsynced(&voucher, current, error);
  if (!status) { status = vouch_for_files(&voucher, error); }
  if (!status) { status = pks__store_sync_folder(store, PKS__SEGMENTS_FOLDER, error); }
  if (!status && exists(store, PKS__TABLES_FOLDER)) {
    status = pks__store_sync_folder(store, PKS__TABLES_FOLDER, error);
  }
  pks__live_set_free(&voucher.unsynced);
  pks__live_set_free(&voucher.durable);
  return status;
}
