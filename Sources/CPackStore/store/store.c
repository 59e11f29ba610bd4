#include "store/store.h"

#include <errno.h>
#include <string.h>

#include "base/memory.h"
#include "codec/chunker.h"
#include "codec/hash_batch.h"
#include "platform/vfs_posix.h"
#include "store/control_recovery.h"
#include "store/current.h"
#include "store/layout_segments.h"
#include "store/snapshot.h"
#include "store/store_creation.h"

// Caches of decoded frames. Shared frames of small assets have 32 KiB, and scattered changes of larger assets are in frames of 16
// KiB. In a store with many updates, reading in order of paths returns to a frame of each update, for one asset after another and
// within large ones. At most 3 and 2 MiB.
static const pks__frame_cache_limits short_frames = {.least_count = 4, .most_count = 96, .frame_bytes = 32 * 1024};
static const pks__frame_cache_limits long_frames = {.least_count = 2, .most_count = 16, .frame_bytes = 128 * 1024};

// MARK: - Opening

/// Opens `READERS`. A store copied to read-only media may lack it; nothing can change there. Without locks it is of no use: reading
/// goes on, and a collection by another process may delete files of the generation that is read.
static pks_status open_readers(pks_store *store, pks_error *error) {
  const pks_vfs *vfs = store->vfs;
  pks_vfs_open_mode mode = store->may_write ? PKS_VFS_OPEN_SHARED_LOCK : PKS_VFS_OPEN_READ;
  int failure = pks__vfs_open(vfs, store->root, PKS__READERS_FILE, mode, &store->readers_file);
  if (store->may_write && (failure == EROFS || failure == EACCES || failure == EPERM)) {
    store->may_write = false;
    store->write_failure = failure;
    failure = pks__vfs_open(vfs, store->root, PKS__READERS_FILE, PKS_VFS_OPEN_READ, &store->readers_file);
  }
  if (failure == ENOENT) { return PKS_OK; }
  if (failure) { return pks__fail_system(error, failure, "cannot open", PKS__READERS_FILE); }
  store->lacks_locks = pks__lacks_locks(vfs, store->readers_file);
  if (store->lacks_locks) {
    pks__vfs_close(vfs, store->readers_file);
    store->readers_file = PKS_VFS_NO_FILE;
  }
  return PKS_OK;
}

/// Checks the requirements of creating a store, if requested: SHA-256 is needed for writing.
static pks_status check_may_create(const pks_options *options, const char *path, pks_error *error) {
  if (!options->create || options->read_only || options->sha256) { return PKS_OK; }
  const char *text = "does not exist, and creating a store needs 'pks_options.sha256'";
  return pks__fail_about(error, PKS_INVALID_ARGUMENT, PKS_DETAIL_NO_HASH, PKS_SUBJECT_STORE, path, text);
}

static pks_status open_control(pks_store *store, const char *path, const pks_options *options, pks_error *error) {
  const pks_vfs *vfs = store->vfs;
  pks_vfs_open_mode mode = store->may_write ? PKS_VFS_OPEN_READ_WRITE : PKS_VFS_OPEN_READ;
  int failure = pks__vfs_open(vfs, store->root, PKS__CONTROL_FILE, mode, &store->control);
  if (failure == ENOENT && options->create && store->may_write) {
    // Before anything is made: a folder that holds something else is left as it is.
    pks_status status = pks__store_check_vacant(store, path, error);
    if (!status) { status = pks__open_lock(vfs, store->root, &store->lock, error); }
    // Before there is a store: a store that is found has the file by which it is held, be the disk full by then or not.
    if (!status) { status = open_readers(store, error); }
    uint32_t average = options->chunk_average ? options->chunk_average : PKS__CHUNK_AVERAGE_DEFAULT;
    if (!status) { status = pks__store_create(store, average, error); }
    if (status) { return status; }
    failure = pks__vfs_open(vfs, store->root, PKS__CONTROL_FILE, mode, &store->control);
  }
  if ((failure == EROFS || failure == EACCES) && store->may_write) {
    store->may_write = false;
    store->write_failure = failure;
    failure = pks__vfs_open(vfs, store->root, PKS__CONTROL_FILE, PKS_VFS_OPEN_READ, &store->control);
  }
  if (failure == ENOENT) {
    pks_status status = pks__store_fail_without_control(store, path, error);
    // A store that lost its control file is not to be made again, with SHA-256 or without.
    pks_status missing = status == PKS_NOT_A_STORE ? check_may_create(options, path, error) : PKS_OK;
    return missing ? missing : status;
  }
  if (failure) { return pks__fail_system(error, failure, "cannot open", PKS__CONTROL_FILE); }
  return store->readers_file == PKS_VFS_NO_FILE && !store->lacks_locks ? open_readers(store, error) : PKS_OK;
}

/// Explains why no directory exists at `path`.
static pks_status fail_without_root(const char *path, int failure, pks_error *error) {
  const char *text = failure == ENOTDIR ? "not a directory" : "the directory does not exist";
  return pks__fail_about(error, PKS_NOT_A_STORE, PKS_DETAIL_NO_DIRECTORY, PKS_SUBJECT_STORE, path, text);
}

static pks_status check_path(const char *path, pks_error *error) {
  if (path && *path) { return PKS_OK; }
  return pks__fail_about(error, PKS_INVALID_ARGUMENT, PKS_DETAIL_NONE, PKS_SUBJECT_STORE, NULL, "the path is empty");
}

/// Opens the store's directory, and creates it if requested.
static pks_status open_root(pks_store *store, const char *path, const pks_options *options, pks_error *error) {
  const pks_vfs *vfs = store->vfs;
  int failure = pks__vfs_open_root(vfs, path, false, &store->root);
  // Creating syncs the parent folder, so it is requested only if something must be created.
  bool is_created = failure == ENOENT && options->create && store->may_write;
  if (is_created) { failure = pks__vfs_open_root(vfs, path, true, &store->root); }
  if (failure == ENOENT) {
    pks_status missing = check_may_create(options, path, error);
    if (missing) { return missing; }
  }
  if (failure == ENOENT || failure == ENOTDIR) { return fail_without_root(path, failure, error); }
  if (!failure) { return PKS_OK; }
  return pks__fail_system_about(
    error, failure, PKS_DETAIL_NONE, PKS_SUBJECT_STORE, path, is_created ? "cannot create the directory" : "cannot open"
  );
}

static pks_status open_files(pks_store *store, const char *path, const pks_options *options, pks_error *error) {
  int failure = pks__vfs_boot_id(store->vfs, store->boot_id);
  if (failure) { return pks__fail_system(error, failure, "cannot read the machine's boot id", NULL); }
  pks_status status = open_root(store, path, options, error);
  if (!status) { status = open_control(store, path, options, error); }
  if (status) { return status; }
  pks__control control;
  status = pks__store_read_control(store, &control, error);
  if (status == PKS_NOT_A_STORE) { return pks__store_fail_with_other_control(store, path, error); }
  if (status) { return status; }
  // What cannot be read must not be looked at in a mapping.
  if (!control.is_unreadable) { pks__generation_watch_open(&store->watch, store->vfs, store->control); }
  const pks__control_slot *slot = pks__control_current(&control);
  store->chunk_average = slot->chunk_average;
  memcpy(store->store_id, slot->store_id, sizeof store->store_id);
  if (!pks__chunk_average_is_valid(slot->chunk_average)) {
    return pks__fail(error, PKS_CORRUPT, "the average size of chunks is impossible", PKS__CONTROL_FILE, 12);
  }
  return PKS_OK;
}

/// Returns whether the requested mode is granted.
static pks_mapped_mode choose_mapped_mode(const pks_store *store, const pks_options *options) {
  if (!options->mapped_mode) { return PKS_MAPPED_OFF; }
  // Checks the folder of the segments, and with it the store's and all above. It exists from the first commit on.
  pks_vfs_file folder;
  int failure = pks__vfs_open(store->vfs, store->root, PKS__SEGMENTS_FOLDER, PKS_VFS_OPEN_FOLDER, &folder);
  if (failure == ENOENT) { folder = store->root; }
  pks_vfs_privacy privacy =
    failure && failure != ENOENT ? PKS_VFS_PRIVACY_UNKNOWN : pks__vfs_privacy(store->vfs, folder);
  if (!failure) { pks__vfs_close(store->vfs, folder); }
  switch (privacy) {
    case PKS_VFS_PRIVATE: return PKS_MAPPED_ON;
    case PKS_VFS_OTHER_OWNER: return PKS_MAPPED_OTHER_OWNER;
    case PKS_VFS_WRITABLE_BY_OTHERS: return PKS_MAPPED_WRITABLE_BY_OTHERS;
    case PKS_VFS_NOT_LOCAL: return PKS_MAPPED_NOT_LOCAL;
    case PKS_VFS_PRIVACY_UNKNOWN: return PKS_MAPPED_UNKNOWN;
  }
  return PKS_MAPPED_UNKNOWN;
}

pks_mapped_mode pks_store_mapped_mode(const pks_store *store) { return store->mapped_mode; }

bool pks_store_lacks_locks(const pks_store *store) { return store->lacks_locks; }

/// Whether two open stores are the same folder.
static bool is_same_store(const pks_store *a, const pks_store *b) {
  pks_vfs_info first, second;
  if (memcmp(a->store_id, b->store_id, sizeof a->store_id) != 0) { return false; }
  bool can_tell = !pks__vfs_info_of(a->vfs, a->root, &first) && !pks__vfs_info_of(b->vfs, b->root, &second);
  return can_tell && first.device == second.device && first.inode == second.inode;
}

/// Opens the base of a store that is being opened, before its first snapshot.
static pks_status open_base(pks_store *store, const pks_options *options, pks_error *error) {
  const char *path = options->base;
  if (!path) { return PKS_OK; }
  pks_options below = {.read_only = true, .thread_count = 1, .vfs = options->vfs};
  pks_status status = pks_store_open(&store->base, path, &below, error);
  if (status) { return status; }
  store->base->is_base = true;
  status = pks__snapshot_open_current(&store->base_snapshot, store->base, error);
  if (status) { return status; }
  if (is_same_store(store, store->base)) {
    return pks__fail_about(
      error, PKS_INVALID_ARGUMENT, PKS_DETAIL_NONE, PKS_SUBJECT_STORE, path, "cannot be its own base"
    );
  }
  if (store->base_snapshot->generation.base.is_set) {
    return pks__fail_about(
      error, PKS_INVALID_ARGUMENT, PKS_DETAIL_NONE, PKS_SUBJECT_STORE, path,
      "cannot be a base, because it has a base of its own"
    );
  }
  return PKS_OK;
}

/// A cache needs SHA-256, which names its files.
static pks_status open_cache(pks_store *store, const pks_options *options, pks_error *error) {
  if (!options->cache || !options->sha256) { return PKS_OK; }
  // Decoded copies are the first that go: they never ask for room.
  const pks_vfs *vfs = options->vfs ? options->vfs : pks_vfs_posix();
  return pks__asset_cache_open(
    &store->cache, vfs, store->root, options->cache, store->store_id, options->cache_bytes, error
  );
}

/// Returns the fault of the options for SHA-256, or NULL if they are valid.
static const char *hash_fault_of(const pks_options *options) {
  if (!options->sha256_many) { return NULL; }
  if (!options->sha256) { return "'pks_options.sha256_many' is set without 'sha256'; set both"; }
  if (pks__hash_functions_agree(options->sha256, options->sha256_many)) { return NULL; }
  return "'pks_options.sha256_many' computes other digests than 'sha256'; correct it, or set it to NULL";
}

/// Returns the fault of the options, or NULL if they are valid.
static const char *fault_of(const pks_options *options) {
  const char *hash_fault = hash_fault_of(options);
  if (hash_fault) { return hash_fault; }
  if (options->chunk_average && !pks__chunk_average_is_valid(options->chunk_average)) {
    return "average chunk is not a power of two in [1024, 1048576]";
  }
  if (options->base && !*options->base) { return "the path of the base is empty"; }
  return options->cache && !*options->cache ? "the path of the cache is empty" : NULL;
}

/// Calls the owner, and purges. A purging thread may itself need space, for a mark; it continues without.
static bool make_room(void *context, uint64_t byte_count) {
  pks_store *store = context;
  if (atomic_exchange(&store->is_making_room, true)) { return false; }
  bool goes_on = store->low_space(store->low_space_context, byte_count);
  pks__purge_for_room *purge = atomic_load(&store->purge_for_room);
  if (goes_on && purge) { purge(store, byte_count); }
  atomic_store(&store->is_making_room, false);
  return goes_on;
}

static void choose_vfs(pks_store *store, const pks_options *options) {
  store->vfs = options->vfs ? options->vfs : pks_vfs_posix();
  if (!options->low_space) { return; }
  store->low_space = options->low_space;
  store->low_space_context = options->low_space_context;
  store->roomy_vfs = *store->vfs;
  store->roomy_vfs.make_room = make_room;
  store->roomy_vfs.room_context = store;
  store->vfs = &store->roomy_vfs;
}

/// Creates a store object without open files.
static pks_status make_store(pks_store **out, const pks_options *options, pks_error *error) {
  const char *fault = fault_of(options);
  if (fault) { return pks__fail(error, PKS_INVALID_ARGUMENT, fault, NULL, PKS_NO_OFFSET); }
  pks_store *store = pks__allocate_zeroed(1, sizeof *store);
  if (!store) { return pks__fail_memory(error); }
  choose_vfs(store, options);
  int failure = pks__vfs_fork_mark(store->vfs, &store->fork_mark);
  if (failure) {
    pks__free(store);
    return pks__fail_system(error, failure, "cannot mark the process", NULL);
  }
  failure = pks__vfs_random(store->vfs, &store->map_key, sizeof store->map_key);
  if (failure) {
    pks__free(store);
    return pks__fail_system(error, failure, "cannot generate a key", NULL);
  }
  store->fork_value = *store->fork_mark;
  store->sha256 = options->sha256;
  store->sha256_many = options->sha256_many;
  store->may_write = options->sha256 != NULL && !options->read_only;
  store->root = store->readers_file = store->lock = store->control = PKS_VFS_NO_FILE;
  store->wait = (pks__wait){options->no_wait, options->wait_context, options->keep_waiting};
  uint32_t processors = pks__vfs_processor_count(store->vfs);
  store->thread_count = options->thread_count ? options->thread_count : processors;
  store->mutex = pks__mutex_create();
  store->opening = pks__mutex_create();
  // The caller of a read is one of its threads.
  store->crew = pks__crew_create(store->thread_count - 1);
  pks_status status = pks__frame_cache_open(&store->short_frames, &short_frames, error);
  if (!status) { status = pks__frame_cache_open(&store->long_frames, &long_frames, error); }
  if (!status) { status = pks__frame_readers_open(&store->readers, store->sha256, error); }
  if (status || !store->mutex || !store->opening || !store->crew) {
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
  if (!status) { store->mapped_mode = choose_mapped_mode(store, options); }
  if (!status) { status = open_base(store, options, error); }
  if (!status) { status = open_cache(store, options, error); }
  if (!status) {
    // A store whose current generation does not open is not open; taking the snapshot now also warms it.
    pks_snapshot *snapshot;
    status = pks__snapshot_open_current(&snapshot, store, error);
    if (!status) { pks__snapshot_release(snapshot); }
  }
  if (status) {
    pks_store_close(store);
    return status;
  }
  *out = store;
  return PKS_OK;
}

// MARK: - Opening what is damaged

static bool notice_part(void *context, const char *name, size_t length, pks_vfs_kind kind) {
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
  int failure = pks__vfs_boot_id(vfs, store->boot_id);
  if (failure) { return pks__fail_system(error, failure, "cannot read the machine's boot id", NULL); }
  failure = pks__vfs_open_root(vfs, path, false, &store->root);
  if (failure == ENOENT || failure == ENOTDIR) { return fail_without_root(path, failure, error); }
  if (!failure) { failure = pks__vfs_list(vfs, store->root, notice_part, &found); }
  if (failure) {
    return pks__fail_system_about(error, failure, PKS_DETAIL_NONE, PKS_SUBJECT_STORE, path, "cannot open");
  }
  if (!found) {
    return pks__fail_about(error, PKS_NOT_A_STORE, PKS_DETAIL_NO_DIRECTORY, PKS_SUBJECT_STORE, path, "not a store");
  }
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
  PKS_ASSERT(store->control == PKS_VFS_NO_FILE);
  pks_vfs_open_mode mode = store->may_write ? PKS_VFS_OPEN_READ_WRITE : PKS_VFS_OPEN_READ;
  int failure = pks__vfs_open(vfs, store->root, PKS__CONTROL_FILE, mode, &store->control);
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
  pks__generation_watch_close(&store->watch);
  pks_vfs_file files[] = {store->control, store->readers_file, store->lock, store->root};
  for (size_t i = 0; i < PKS_COUNT_OF(files); i++) {
    if (files[i] != PKS_VFS_NO_FILE) { pks__vfs_close(store->vfs, files[i]); }
  }
}

void pks_store_id(const pks_store *store, uint8_t id[16]) { memcpy(id, store->store_id, sizeof store->store_id); }

void pks_store_close(pks_store *store) {
  if (!store) { return; }
  if (!pks__store_is_ours(store)) {
    // These fields do not change while a store is open. All others may be inconsistent, because another thread was using them.
    close_files(store);
    if (store->base) { close_files(store->base); }
    return;
  }
  pks__snapshot_release(store->current);
  pks__snapshot_release(store->base_snapshot);
  pks_store_close(store->base);
  PKS_ASSERT(!store->snapshots && store->segment_count == 0);
  pks__free(store->segments);
  pks__asset_cache_close(store->cache);
  pks__free(store->cache_folder);
  pks__crew_destroy(store->crew);
  pks__frame_readers_close(&store->readers);
  pks__frame_cache_close(&store->short_frames);
  pks__frame_cache_close(&store->long_frames);
  pks__layout_segments_free(store);
  close_files(store);
  pks__mutex_destroy(store->mutex);
  pks__mutex_destroy(store->opening);
  pks__vfs_fork_unmark(store->vfs, store->fork_mark);
  pks__free(store);
}
