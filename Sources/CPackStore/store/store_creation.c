#include "store/store_creation.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "codec/checksum.h"
#include "platform/scratch.h"
#include "store/store_files.h"

#define NO_CONTROL_TEXT "the store's control file is missing"
#define BAD_CONTROL_TEXT "the store's control file has other content"

static bool is_own_name(const char *name, size_t length) {
  static const char *const names[] = {PKS__LOCK_FILE,       PKS__READERS_FILE,  PKS__CONTROL_FILE,  PKS__INDEX_FOLDER,
                                      PKS__SEGMENTS_FOLDER, PKS__TABLES_FOLDER, PKS__PURGED_FOLDER, PKS__TMP_FOLDER,
                                      PKS__INCOMING_FOLDER, "lost+found"};
  for (size_t i = 0; i < PKS_COUNT_OF(names); i++) {
    if (strlen(names[i]) == length && memcmp(names[i], name, length) == 0) { return true; }
  }
  return false;
}

static bool notice_foreign(void *context, const char *name, size_t length, pks_vfs_kind kind) {
  (void)kind;
  bool *foreign = context;
  *foreign = !is_own_name(name, length);
  return !*foreign;
}

/// Whether a name has the form of files in `segments/` or `index/`.
static bool is_stores_name(const char *name, size_t length) {
  static const char *const endings[] = {".generation", ".run"};
  for (size_t i = 0; i < PKS_COUNT_OF(endings); i++) {
    size_t ending = strlen(endings[i]);
    if (length == 16 + ending && memcmp(name + 16, endings[i], ending) == 0) { return true; }
  }
  char copy[PKS__SEGMENT_NAME];
  pks__segment_id id;
  if (length >= sizeof copy) { return false; }
  memcpy(copy, name, length);
  copy[length] = 0;
  return pks__segment_name_parse(copy, &id);
}

/// Whether a folder of the store holds a file of a store but `expected`.
typedef struct surplus {
  const char *expected;
  bool found;
} surplus;

static bool notice_surplus(void *context, const char *name, size_t length, pks_vfs_kind kind) {
  (void)kind;
  surplus *surplus = context;
  bool is_expected = strlen(surplus->expected) == length && memcmp(surplus->expected, name, length) == 0;
  surplus->found = !is_expected && is_stores_name(name, length);
  return !surplus->found;
}

/// Whether a store lost its control file here: an interrupted creation leaves no segments, and generation 1 alone.
static int holds_content(const pks_store *store, bool *found) {
  const pks_vfs *vfs = store->vfs;
  char generation[PKS__INDEX_NAME];
  pks__generation_path(1, generation);
  const char *const folders[] = {PKS__SEGMENTS_FOLDER, PKS__TABLES_FOLDER, PKS__INDEX_FOLDER};
  const char *const expected[] = {"", "", strrchr(generation, '/') + 1};
  *found = false;
  for (size_t i = 0; !*found && i < PKS_COUNT_OF(folders); i++) {
    pks_vfs_file folder;
    surplus surplus = {.expected = expected[i]};
    int failure = pks__vfs_open(vfs, store->root, folders[i], PKS_VFS_OPEN_FOLDER, &folder);
    if (failure == ENOENT) { continue; }
    if (failure) { return failure; }
    failure = pks__vfs_list(vfs, folder, notice_surplus, &surplus);
    pks__vfs_close(vfs, folder);
    if (failure) { return failure; }
    *found = surplus.found;
  }
  return 0;
}

pks_status pks__store_check_vacant(pks_store *store, const char *path, pks_error *error) {
  bool foreign = false, content = false;
  int failure = pks__vfs_list(store->vfs, store->root, notice_foreign, &foreign);
  if (!failure && !foreign) { failure = holds_content(store, &content); }
  if (failure) {
    return pks__fail_system_about(error, failure, PKS_DETAIL_NONE, PKS_SUBJECT_STORE, path, "cannot list");
  }
  if (content) {
    return pks__fail_about(error, PKS_CORRUPT, PKS_DETAIL_BAD_CONTROL_FILE, PKS_SUBJECT_STORE, path, NO_CONTROL_TEXT);
  }
  if (!foreign) { return PKS_OK; }
  return pks__fail_about(
    error, PKS_NOT_A_STORE, PKS_DETAIL_FOREIGN_DIRECTORY, PKS_SUBJECT_STORE, path,
    "the directory is not empty and does not contain a store"
  );
}

static pks_status write_file(
  const pks_vfs *vfs, pks_vfs_file root, const char *path, const void *bytes, size_t length, pks_error *error
) {
  pks_vfs_file file = PKS_VFS_NO_FILE;
  int failure = pks__vfs_open(vfs, root, path, PKS_VFS_OPEN_CREATE, &file);
  if (failure == EEXIST) {
    (void)pks__vfs_unlink(vfs, root, path, false);
    failure = pks__vfs_open(vfs, root, path, PKS_VFS_OPEN_CREATE, &file);
  }
  if (failure) { return pks__fail_system(error, failure, "cannot create", path); }
  failure = pks__vfs_write_at(vfs, file, 0, bytes, length);
  if (!failure) { failure = pks__vfs_sync(vfs, file); }
  pks__vfs_close(vfs, file);
  return failure ? pks__fail_system(error, failure, "cannot write", path) : PKS_OK;
}

/// Deletes leftovers of an interrupted creation. A name whose sync failed does not become durable by another sync, so names are
/// created again. The root is synced first, because otherwise a withdrawn control file could return without them.
static pks_status clear_leftovers(pks_store *store, pks_error *error) {
  const pks_vfs *vfs = store->vfs;
  char generation[PKS__INDEX_NAME];
  pks__generation_path(1, generation);
  pks_vfs_info info;
  if (pks__vfs_info(vfs, store->root, PKS__INDEX_FOLDER, false, &info) == ENOENT) { return PKS_OK; }
  pks_status status = pks__store_sync_folder(store, ".", error);
  if (status) { return status; }
  (void)pks__vfs_unlink(vfs, store->root, PKS__TMP_FOLDER "/" PKS__CONTROL_FILE, false);
  (void)pks__vfs_unlink(vfs, store->root, generation, false);
  static const char *const folders[] = {PKS__TMP_FOLDER, PKS__SEGMENTS_FOLDER, PKS__INDEX_FOLDER};
  for (size_t i = 0; i < PKS_COUNT_OF(folders); i++) { (void)pks__vfs_unlink(vfs, store->root, folders[i], true); }
  return PKS_OK;
}

/// Writes generation 1, then the control file under a temporary name, then renames it: the store exists from that
/// moment.
static pks_status write_first_generation(pks_store *store, uint32_t chunk_average, pks_error *error) {
  const pks_vfs *vfs = store->vfs;
  pks__generation generation = {.number = 1, .next_pack_number = 1, .durable = true};
  pks__control_slot slot = {.chunk_average = chunk_average, .generation = 1, .durable = true};
  pks__scratch bytes = {0};
  char path[PKS__INDEX_NAME];
  pks__generation_path(1, path);
  int failure = pks__vfs_random(vfs, slot.store_id, sizeof slot.store_id);
  if (!failure) { failure = pks__vfs_random(vfs, generation.path_key, sizeof generation.path_key); }
  if (failure) { return pks__fail_system(error, failure, "cannot generate random numbers", NULL); }
  memcpy(slot.boot_id, store->boot_id, sizeof slot.boot_id);
  memcpy(generation.store_id, slot.store_id, sizeof generation.store_id);
  memcpy(generation.boot_id, slot.boot_id, sizeof generation.boot_id);
  pks_status status = pks__generation_encode(&generation, &bytes, error);
  if (!status) { status = write_file(vfs, store->root, path, bytes.bytes, (size_t)bytes.length, error); }
  if (!status) { status = pks__store_sync_folder(store, PKS__INDEX_FOLDER, error); }
  if (!status) { status = pks__store_sync_folder(store, ".", error); }
  if (!status) {
    uint8_t control[PKS__CONTROL_SIZE];
    slot.file_length = bytes.length;
    slot.file_sum = pks__checksum(bytes.bytes, (size_t)bytes.length);
    pks__control_encode_new(&slot, control);
    status = write_file(vfs, store->root, PKS__TMP_FOLDER "/" PKS__CONTROL_FILE, control, sizeof control, error);
  }
  if (!status) {
    failure = pks__vfs_rename(vfs, store->root, PKS__TMP_FOLDER "/" PKS__CONTROL_FILE, PKS__CONTROL_FILE);
    if (failure) { status = pks__fail_system(error, failure, "cannot rename", PKS__CONTROL_FILE); }
  }
  if (!status) {
    status = pks__store_sync_folder(store, ".", error);
    // Taken back: a store that was not made durable must not be used as if it were.
    if (status) { (void)pks__vfs_unlink(vfs, store->root, PKS__CONTROL_FILE, false); }
  }
  pks__scratch_free(&bytes);
  return status;
}

pks_status pks__store_create(pks_store *store, uint32_t chunk_average, pks_error *error) {
  const pks_vfs *vfs = store->vfs;
  pks_status status = pks__lock_writer(vfs, store->lock, &store->wait, error);
  if (status) { return status; }
  pks_vfs_info info;
  int failure = pks__vfs_info(vfs, store->root, PKS__CONTROL_FILE, false, &info);
  if (failure && failure != ENOENT) { status = pks__fail_system(error, failure, "cannot examine", PKS__CONTROL_FILE); }
  if (failure == ENOENT) {
    status = clear_leftovers(store, error);
    if (!status) { status = pks__store_make_folders(store, error); }
    if (!status) { status = write_first_generation(store, chunk_average, error); }
  }
  pks__unlock_writer(vfs, store->lock);
  return status;
}

static pks_status fail_as_store(const pks_store *store, const char *path, const char *text, pks_error *error) {
  bool content = false;
  if (holds_content(store, &content) || !content) {
    return pks__fail_about(error, PKS_NOT_A_STORE, PKS_DETAIL_NO_CONTROL_FILE, PKS_SUBJECT_STORE, path, "not a store");
  }
  return pks__fail_about(error, PKS_CORRUPT, PKS_DETAIL_BAD_CONTROL_FILE, PKS_SUBJECT_STORE, path, text);
}

pks_status pks__store_fail_without_control(const pks_store *store, const char *path, pks_error *error) {
  return fail_as_store(store, path, NO_CONTROL_TEXT, error);
}

pks_status pks__store_fail_with_other_control(const pks_store *store, const char *path, pks_error *error) {
  return fail_as_store(store, path, BAD_CONTROL_TEXT, error);
}
