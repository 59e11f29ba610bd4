#include "store.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "adopt.h"
#include "cache.h"
#include "checksum.h"
#include "chunker.h"
#include "memory.h"
#include "scratch.h"

#define NO_CONTROL_TEXT "the control file is gone of what was a store"

// MARK: - Making a store

static bool is_own_name(const char *name, size_t length) {
  static const char *const names[] = {PKS__LOCK_FILE,       PKS__READERS_FILE, PKS__CONTROL_FILE,    PKS__INDEX_FOLDER,
                                      PKS__SEGMENTS_FOLDER, PKS__TMP_FOLDER,   PKS__INCOMING_FOLDER, "lost+found"};
  for (size_t i = 0; i < PKS_COUNT_OF(names); i++) {
    if (strlen(names[i]) == length && memcmp(names[i], name, length) == 0) { return true; }
  }
  return false;
}

static bool notice_foreign(void *context, const char *name, size_t length, pks__file_kind kind) {
  (void)kind;
  bool *foreign = context;
  *foreign = !is_own_name(name, length);
  return !*foreign;
}

/// Whether a name is one that stores give to files in `segments/` or `index/`.
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

static bool notice_surplus(void *context, const char *name, size_t length, pks__file_kind kind) {
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
  const char *const folders[] = {PKS__SEGMENTS_FOLDER, PKS__INDEX_FOLDER};
  const char *const expected[] = {"", strrchr(generation, '/') + 1};
  *found = false;
  for (size_t i = 0; !*found && i < PKS_COUNT_OF(folders); i++) {
    pks__file folder;
    surplus surplus = {.expected = expected[i]};
    int failure = vfs->open(vfs->context, store->root, folders[i], PKS__OPEN_FOLDER, &folder);
    if (failure == ENOENT) { continue; }
    if (failure) { return failure; }
    failure = vfs->list(vfs->context, folder, notice_surplus, &surplus);
    vfs->close(vfs->context, folder);
    if (failure) { return failure; }
    *found = surplus.found;
  }
  return 0;
}

/// A directory that holds nothing but what an interrupted creation may have left.
static pks_status check_vacant(pks_store *store, const char *path, pks_error *error) {
  bool foreign = false, content = false;
  int failure = store->vfs->list(store->vfs->context, store->root, notice_foreign, &foreign);
  if (!failure && !foreign) { failure = holds_content(store, &content); }
  if (failure) { return pks__fail_system(error, failure, "cannot list", path); }
  if (content) { return pks__fail(error, PKS_CORRUPT, NO_CONTROL_TEXT, path, PKS_NO_OFFSET); }
  if (!foreign) { return PKS_OK; }
  return pks__fail(error, PKS_NOT_A_STORE, "the directory is not empty and holds no store", path, PKS_NO_OFFSET);
}

static pks_status write_file(
  const pks_vfs *vfs, pks__file root, const char *path, const void *bytes, size_t length, pks_error *error
) {
  pks__file file = PKS__NO_FILE;
  int failure = vfs->open(vfs->context, root, path, PKS__OPEN_CREATE, &file);
  if (failure == EEXIST) {
    (void)vfs->unlink(vfs->context, root, path, false);
    failure = vfs->open(vfs->context, root, path, PKS__OPEN_CREATE, &file);
  }
  if (failure) { return pks__fail_system(error, failure, "cannot create", path); }
  failure = vfs->write_at(vfs->context, file, 0, bytes, length);
  if (!failure) { failure = vfs->sync(vfs->context, file); }
  vfs->close(vfs->context, file);
  return failure ? pks__fail_system(error, failure, "cannot write", path) : PKS_OK;
}

static pks_status sync(
  const pks_store *store, const char *path, pks__open_mode mode, bool may_be_gone, pks_error *error
) {
  const pks_vfs *vfs = store->vfs;
  pks__file file = PKS__NO_FILE;
  int failure = vfs->open(vfs->context, store->root, path, mode, &file);
  if (failure == ENOENT && may_be_gone) { return PKS_OK; }
  if (!failure) {
    failure = vfs->sync(vfs->context, file);
    vfs->close(vfs->context, file);
  }
  return failure ? pks__fail_system(error, failure, "cannot sync", path) : PKS_OK;
}

pks_status pks__store_sync_folder(const pks_store *store, const char *path, pks_error *error) {
  return sync(store, path, PKS__OPEN_FOLDER, false, error);
}

pks_status pks__store_sync_file(const pks_store *store, const char *path, bool may_be_gone, pks_error *error) {
  return sync(store, path, PKS__OPEN_READ, may_be_gone, error);
}

/// Removes what an interrupted creation left. A name whose sync failed does not become durable by another sync, so
/// names
/// are made anew. The root is synced before, lest a control file that was taken back comes to life without them.
static pks_status clear_leftovers(pks_store *store, pks_error *error) {
  const pks_vfs *vfs = store->vfs;
  char generation[PKS__INDEX_NAME];
  pks__generation_path(1, generation);
  pks__file_info info;
  if (vfs->info(vfs->context, store->root, PKS__INDEX_FOLDER, false, &info) == ENOENT) { return PKS_OK; }
  pks_status status = pks__store_sync_folder(store, ".", error);
  if (status) { return status; }
  (void)vfs->unlink(vfs->context, store->root, PKS__TMP_FOLDER "/" PKS__CONTROL_FILE, false);
  (void)vfs->unlink(vfs->context, store->root, generation, false);
  static const char *const folders[] = {PKS__TMP_FOLDER, PKS__SEGMENTS_FOLDER, PKS__INDEX_FOLDER};
  for (size_t i = 0; i < PKS_COUNT_OF(folders); i++) { (void)vfs->unlink(vfs->context, store->root, folders[i], true); }
  return PKS_OK;
}

pks_status pks__store_make_folders(pks_store *store, pks_error *error) {
  static const char *const folders[] = {PKS__INDEX_FOLDER, PKS__SEGMENTS_FOLDER, PKS__TMP_FOLDER};
  for (size_t i = 0; i < PKS_COUNT_OF(folders); i++) {
    int failure = store->vfs->make_folder(store->vfs->context, store->root, folders[i]);
    if (failure && failure != EEXIST) { return pks__fail_system(error, failure, "cannot create", folders[i]); }
  }
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
  int failure = vfs->random(vfs->context, slot.store_id, sizeof slot.store_id);
  if (!failure) { failure = vfs->random(vfs->context, generation.path_key, sizeof generation.path_key); }
  if (failure) { return pks__fail_system(error, failure, "cannot draw random numbers", NULL); }
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
    failure = vfs->rename(vfs->context, store->root, PKS__TMP_FOLDER "/" PKS__CONTROL_FILE, PKS__CONTROL_FILE);
    if (failure) { status = pks__fail_system(error, failure, "cannot rename", PKS__CONTROL_FILE); }
  }
  if (!status) {
    status = pks__store_sync_folder(store, ".", error);
    // Taken back: a store that was not made durable must not be used as if it were.
    if (status) { (void)vfs->unlink(vfs->context, store->root, PKS__CONTROL_FILE, false); }
  }
  pks__scratch_free(&bytes);
  return status;
}

/// Makes the store unless another process just did: the writer's lock decides.
static pks_status create(pks_store *store, uint32_t chunk_average, pks_error *error) {
  const pks_vfs *vfs = store->vfs;
  pks_status status = pks__pin_writer(vfs, store->lock, &store->wait, error);
  if (status) { return status; }
  pks__file_info info;
  int failure = vfs->info(vfs->context, store->root, PKS__CONTROL_FILE, false, &info);
  if (failure && failure != ENOENT) { status = pks__fail_system(error, failure, "cannot examine", PKS__CONTROL_FILE); }
  if (failure == ENOENT) {
    status = clear_leftovers(store, error);
    if (!status) { status = pks__store_make_folders(store, error); }
    if (!status) { status = write_first_generation(store, chunk_average, error); }
  }
  pks__unpin_writer(vfs, store->lock);
  return status;
}

// MARK: - Opening

/// Opens `READERS`. A store copied to read-only media may lack it; nothing can change there.
static pks_status open_readers(pks_store *store, pks_error *error) {
  const pks_vfs *vfs = store->vfs;
  pks__open_mode mode = store->may_write ? PKS__OPEN_SHARED_LOCK : PKS__OPEN_READ;
  int failure = vfs->open(vfs->context, store->root, PKS__READERS_FILE, mode, &store->readers_file);
  if (store->may_write && (failure == EROFS || failure == EACCES || failure == EPERM)) {
    store->may_write = false;
    store->write_failure = failure;
    failure = vfs->open(vfs->context, store->root, PKS__READERS_FILE, PKS__OPEN_READ, &store->readers_file);
  }
  if (failure == ENOENT) { return PKS_OK; }
  return failure ? pks__fail_system(error, failure, "cannot open", PKS__READERS_FILE) : PKS_OK;
}

/// A directory without a control file was a store if it holds what stores hold.
static pks_status fail_without_control(const pks_store *store, const char *path, pks_error *error) {
  bool content = false;
  if (holds_content(store, &content) || !content) {
    return pks__fail(error, PKS_NOT_A_STORE, "not a store", path, PKS_NO_OFFSET);
  }
  return pks__fail(error, PKS_CORRUPT, NO_CONTROL_TEXT, path, PKS_NO_OFFSET);
}

/// What making a store lacks, if that is what the caller wants: stores are written with SHA-256.
static pks_status check_may_create(const pks_options *options, const char *path, pks_error *error) {
  if (!options->create || options->read_only || options->sha256) { return PKS_OK; }
  const char *text = "there is no store, and none can be made without 'pks_options.sha256'";
  return pks__fail(error, PKS_INVALID_ARGUMENT, text, path, PKS_NO_OFFSET);
}

static pks_status open_control(pks_store *store, const char *path, const pks_options *options, pks_error *error) {
  const pks_vfs *vfs = store->vfs;
  pks__open_mode mode = store->may_write ? PKS__OPEN_READ_WRITE : PKS__OPEN_READ;
  int failure = vfs->open(vfs->context, store->root, PKS__CONTROL_FILE, mode, &store->control);
  if (failure == ENOENT && options->create && store->may_write) {
    // Before anything is made: a folder that holds something else is left as it is.
    pks_status status = check_vacant(store, path, error);
    if (!status) { status = pks__open_lock(vfs, store->root, &store->lock, error); }
    // Before there is a store: a store that is found has the file by which it is held, be the disk full by then or not.
    if (!status) { status = open_readers(store, error); }
    uint32_t average = options->chunk_average ? options->chunk_average : PKS__CHUNK_AVERAGE_DEFAULT;
    if (!status) { status = create(store, average, error); }
    if (status) { return status; }
    failure = vfs->open(vfs->context, store->root, PKS__CONTROL_FILE, mode, &store->control);
  }
  if ((failure == EROFS || failure == EACCES) && store->may_write) {
    store->may_write = false;
    store->write_failure = failure;
    failure = vfs->open(vfs->context, store->root, PKS__CONTROL_FILE, PKS__OPEN_READ, &store->control);
  }
  if (failure == ENOENT) {
    pks_status status = fail_without_control(store, path, error);
    // A store that lost its control file is not to be made again, with SHA-256 or without.
    pks_status missing = status == PKS_NOT_A_STORE ? check_may_create(options, path, error) : PKS_OK;
    return missing ? missing : status;
  }
  if (failure) { return pks__fail_system(error, failure, "cannot open", PKS__CONTROL_FILE); }
  return store->readers_file == PKS__NO_FILE ? open_readers(store, error) : PKS_OK;
}

/// Why there is no directory at `path`.
static pks_status fail_without_root(const char *path, int failure, pks_error *error) {
  const char *text = failure == ENOTDIR ? "a store is a directory, but this is a file, or leads through one"
                                        : "there is no such directory";
  return pks__fail(error, PKS_NOT_A_STORE, text, path, PKS_NO_OFFSET);
}

static pks_status check_path(const char *path, pks_error *error) {
  if (path && *path) { return PKS_OK; }
  return pks__fail(error, PKS_INVALID_ARGUMENT, "the path of the store is empty", NULL, PKS_NO_OFFSET);
}

static pks_status open_files(pks_store *store, const char *path, const pks_options *options, pks_error *error) {
  const pks_vfs *vfs = store->vfs;
  int failure = vfs->boot_id(vfs->context, store->boot_id);
  if (failure) { return pks__fail_system(error, failure, "cannot tell when the machine was started", NULL); }
  failure = vfs->open_root(vfs->context, path, false, &store->root);
  // Creating syncs the folder above, so it is asked for only where there is something to create.
  if (failure == ENOENT && options->create && store->may_write) {
    failure = vfs->open_root(vfs->context, path, true, &store->root);
  }
  if (failure == ENOENT) {
    pks_status missing = check_may_create(options, path, error);
    if (missing) { return missing; }
  }
  if (failure == ENOENT || failure == ENOTDIR) { return fail_without_root(path, failure, error); }
  if (failure) { return pks__fail_system(error, failure, "cannot open", path); }
  pks_status status = open_control(store, path, options, error);
  pks__control control;
  if (!status) { status = pks__store_read_control(store, &control, error); }
  if (status) { return status; }
  // What cannot be read must not be looked at in a mapping.
  if (!control.is_unreadable) { pks__watch_open(&store->watch, vfs, store->control); }
  const pks__control_slot *slot = pks__control_current(&control);
  store->chunk_average = slot->chunk_average;
  memcpy(store->store_id, slot->store_id, sizeof store->store_id);
  if (!pks__chunk_average_is_valid(slot->chunk_average)) {
    return pks__fail(error, PKS_CORRUPT, "impossible average chunk", PKS__CONTROL_FILE, 12);
  }
  return PKS_OK;
}

/// A cache needs SHA-256, which names its files.
static pks_status open_cache(pks_store *store, const pks_options *options, pks_error *error) {
  if (!options->cache || !options->sha256) { return PKS_OK; }
  return pks__cache_open(&store->cache, store->vfs, options->cache, store->store_id, options->cache_bytes, error);
}

/// What is wrong with the options; NULL: nothing.
static const char *fault_of(const pks_options *options) {
  if (options->chunk_average && !pks__chunk_average_is_valid(options->chunk_average)) {
    return "average chunk is not a power of two in [1024, 1048576]";
  }
  return options->cache && !*options->cache ? "the path of the cache is empty" : NULL;
}

/// A store of which nothing is open yet.
static pks_status make_store(pks_store **out, const pks_options *options, pks_error *error) {
  const char *fault = fault_of(options);
  if (fault) { return pks__fail(error, PKS_INVALID_ARGUMENT, fault, NULL, PKS_NO_OFFSET); }
  pks_store *store = pks__allocate_zeroed(1, sizeof *store);
  if (!store) { return pks__fail_memory(error); }
  store->vfs = options->vfs ? options->vfs : pks__vfs_posix();
  int failure = store->vfs->fork_mark(store->vfs->context, &store->fork_mark);
  if (failure) {
    pks__free(store);
    return pks__fail_system(error, failure, "cannot mark the process", NULL);
  }
  failure = store->vfs->random(store->vfs->context, &store->map_key, sizeof store->map_key);
  if (failure) {
    pks__free(store);
    return pks__fail_system(error, failure, "cannot draw a key", NULL);
  }
  store->fork_value = *store->fork_mark;
  store->sha256 = options->sha256;
  store->may_write = options->sha256 != NULL && !options->read_only;
  store->root = store->readers_file = store->lock = store->control = PKS__NO_FILE;
  store->wait = (pks__wait){options->no_wait, options->wait_context, options->keep_waiting};
  uint32_t processors = store->vfs->processor_count(store->vfs->context);
  store->thread_count = options->thread_count ? options->thread_count : processors;
  store->mutex = pks__mutex_create();
  store->opening = pks__mutex_create();
  // The caller of a read is one of its threads.
  store->crew = pks__crew_create(store->thread_count - 1);
  if (!store->mutex || !store->opening || !store->crew) {
    pks_store_close(store);
    return pks__fail_memory(error);
  }
  *out = store;
  return PKS_OK;
}

pks_status pks_store_open(pks_store **out, const char *path, const pks_options *options, pks_error *error) {
  static const pks_options defaults;
  if (!options) { options = &defaults; }
  pks_store *store;
  pks_status status = check_path(path, error);
  if (!status) { status = make_store(&store, options, error); }
  if (status) { return status; }
  status = open_files(store, path, options, error);
  if (!status) { status = open_cache(store, options, error); }
  if (!status) {
    // A store whose current generation does not open is not open; taking the view now also warms it.
    pks__view *view;
    status = pks__view_open_current(&view, store, error);
    if (!status) { pks__view_release(view); }
  }
  if (status) {
    pks_store_close(store);
    return status;
  }
  *out = store;
  return PKS_OK;
}

// MARK: - Opening what is damaged

static bool notice_part(void *context, const char *name, size_t length, pks__file_kind kind) {
  static const char *const parts[] = {PKS__CONTROL_FILE, PKS__INDEX_FOLDER, PKS__SEGMENTS_FOLDER};
  bool *found = context;
  (void)kind;
  for (size_t i = 0; i < PKS_COUNT_OF(parts); i++) {
    *found = *found || (strlen(parts[i]) == length && memcmp(parts[i], name, length) == 0);
  }
  return !*found;
}

static pks_status open_parts(pks_store *store, const char *path, pks_error *error) {
  const pks_vfs *vfs = store->vfs;
  bool found = false;
  int failure = vfs->boot_id(vfs->context, store->boot_id);
  if (failure) { return pks__fail_system(error, failure, "cannot tell when the machine was started", NULL); }
  failure = vfs->open_root(vfs->context, path, false, &store->root);
  if (failure == ENOENT || failure == ENOTDIR) { return fail_without_root(path, failure, error); }
  if (!failure) { failure = vfs->list(vfs->context, store->root, notice_part, &found); }
  if (failure) { return pks__fail_system(error, failure, "cannot open", path); }
  if (!found) { return pks__fail(error, PKS_NOT_A_STORE, "not a store", path, PKS_NO_OFFSET); }
  pks_error refusal;
  pks_status status = store->may_write ? pks__open_lock(vfs, store->root, &store->lock, &refusal) : PKS_OK;
  if (status == PKS_READ_ONLY) {
    store->may_write = false;
    store->write_failure = refusal.system_error;
    status = PKS_OK;
  }
  if (status && error) { *error = refusal; }
  return status ? status : open_readers(store, error);
}

pks_status pks__store_open_control(pks_store *store, pks_error *error) {
  const pks_vfs *vfs = store->vfs;
  PKS_ASSERT(store->control == PKS__NO_FILE);
  pks__open_mode mode = store->may_write ? PKS__OPEN_READ_WRITE : PKS__OPEN_READ;
  int failure = vfs->open(vfs->context, store->root, PKS__CONTROL_FILE, mode, &store->control);
  if (!failure || failure == ENOENT) { return PKS_OK; }
  return pks__fail_system(error, failure, "cannot open", PKS__CONTROL_FILE);
}

pks_status pks__store_open_parts(pks_store **out, const char *path, const pks_options *options, pks_error *error) {
  pks_store *store;
  pks_status status = check_path(path, error);
  if (!status) { status = make_store(&store, options, error); }
  if (status) { return status; }
  status = open_parts(store, path, error);
  if (status) {
    pks_store_close(store);
    return status;
  }
  *out = store;
  return PKS_OK;
}

// MARK: - Closing

static void close_files(pks_store *store) {
  pks__watch_close(&store->watch);
  pks__file files[] = {store->control, store->readers_file, store->lock, store->root};
  for (size_t i = 0; i < PKS_COUNT_OF(files); i++) {
    if (files[i] != PKS__NO_FILE) { store->vfs->close(store->vfs->context, files[i]); }
  }
}

void pks_store_id(const pks_store *store, uint8_t id[16]) { memcpy(id, store->store_id, sizeof store->store_id); }

void pks_store_close(pks_store *store) {
  if (!store) { return; }
  if (!pks__store_is_ours(store)) {
    // These do not change while a store is open. All else may be in the middle of what another thread was doing.
    close_files(store);
    return;
  }
  pks__view_release(store->current);
  PKS_ASSERT(!store->views && store->segment_count == 0);
  pks__free(store->segments);
  pks__cache_close(store->cache);
  pks__crew_destroy(store->crew);
  pks__frame_readers_free(&store->readers);
  close_files(store);
  pks__mutex_destroy(store->mutex);
  pks__mutex_destroy(store->opening);
  store->vfs->fork_unmark(store->vfs->context, store->fork_mark);
  pks__free(store);
}

// MARK: - Segments of this process

/// Takes a reference if the segment is known. The mutex is held.
static pks__segment *retain_known(pks_store *store, const pks__segment_id *id) {
  for (uint32_t i = 0; i < store->segment_count; i++) {
    const pks__segment *known = store->segments[i].segment;
    if (!pks__segment_id_equal(&known->id, id) || atomic_load(&known->is_gone)) { continue; }
    store->segments[i].references++;
    return store->segments[i].segment;
  }
  return NULL;
}

/// A segment that was stored anew because the one of that name is damaged takes its place: who has the other open goes on
/// with it. The mutex is held.
static void forget_damaged(pks_store *store, const pks__segment_id *id) {
  for (uint32_t i = 0; i < store->segment_count; i++) {
    pks__segment *known = store->segments[i].segment;
    bool is_damaged = pks__segment_id_equal(&known->id, id) && atomic_load(&known->has_bad_frames);
    if (is_damaged) { atomic_store(&known->is_gone, true); }
  }
}

bool pks__store_mends(pks_store *store, const pks__segment_id *id) {
  bool mends = false;
  pks__mutex_lock(store->mutex);
  for (uint32_t i = 0; i < store->segment_count; i++) {
    const pks__segment *known = store->segments[i].segment;
    mends = mends || (pks__segment_id_equal(&known->id, id) && atomic_load(&known->has_bad_frames));
  }
  pks__mutex_unlock(store->mutex);
  return mends;
}

pks_status pks__store_add_segment(pks_store *store, pks__segment **segment, pks_error *error) {
  pks__mutex_lock(store->mutex);
  pks_status status = PKS_OK;
  forget_damaged(store, &(*segment)->id);
  pks__segment *known = retain_known(store, &(*segment)->id);
  if (!known && store->segment_count == store->segment_capacity) {
    uint32_t capacity = store->segment_capacity ? store->segment_capacity * 2 : 16;
    void *larger = pks__reallocate(store->segments, capacity * sizeof *store->segments);
    if (!larger) {
      status = pks__fail_memory(error);
    } else {
      store->segments = larger;
      store->segment_capacity = capacity;
    }
  }
  if (!known && !status) {
    store->segments[store->segment_count++] = (pks__segment_slot){.segment = *segment, .references = 1};
  }
  pks__mutex_unlock(store->mutex);
  if (known) {
    pks__segment_close(*segment);
    *segment = known;
  }
  return status;
}

pks_status pks__store_get_segment(pks_store *store, const pks__segment_id *id, pks__segment **out, pks_error *error) {
  pks__mutex_lock(store->mutex);
  pks__segment *segment = retain_known(store, id);
  pks__mutex_unlock(store->mutex);
  if (segment) {
    *out = segment;
    return PKS_OK;
  }
  char name[PKS__SEGMENT_NAME], path[sizeof PKS__SEGMENTS_FOLDER + PKS__SEGMENT_NAME + 1];
  pks__segment_name(id, name);
  (void)snprintf(path, sizeof path, PKS__SEGMENTS_FOLDER "/%s", name);
  pks_status status = pks__segment_open(&segment, store->vfs, store->root, path, id, error);
  if (status) { return status; }
  status = pks__store_add_segment(store, &segment, error);
  if (status) {
    pks__segment_close(segment);
  } else {
    *out = segment;
  }
  return status;
}

void pks__store_forget_segment(pks_store *store, const pks__segment_id *id) {
  pks__mutex_lock(store->mutex);
  for (uint32_t i = 0; i < store->segment_count; i++) {
    pks__segment *segment = store->segments[i].segment;
    if (pks__segment_id_equal(&segment->id, id)) { atomic_store(&segment->is_gone, true); }
  }
  pks__mutex_unlock(store->mutex);
}

void pks__store_retain_segment(pks_store *store, pks__segment *segment) {
  pks__mutex_lock(store->mutex);
  for (uint32_t i = 0; i < store->segment_count; i++) {
    if (store->segments[i].segment == segment) { store->segments[i].references++; }
  }
  pks__mutex_unlock(store->mutex);
}

void pks__store_release_segment(pks_store *store, pks__segment *segment) {
  pks__segment *closed = NULL;
  pks__mutex_lock(store->mutex);
  for (uint32_t i = 0; i < store->segment_count; i++) {
    pks__segment_slot *slot = &store->segments[i];
    if (slot->segment != segment) { continue; }
    if (--slot->references == 0) {
      closed = segment;
      *slot = store->segments[--store->segment_count];
    }
    break;
  }
  pks__mutex_unlock(store->mutex);
  pks__segment_close(closed);
}
