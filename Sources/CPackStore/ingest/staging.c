#include "ingest/staging.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "platform/name_list.h"
#include "store/cache_folder.h"
#include "store/store_files.h"

// MARK: - Sweeping

/// Removes the files in a folder of `tmp`. What cannot be removed is left for the next sweep.
static void empty_folder(const pks_vfs *vfs, pks_vfs_file root, const char *path) {
  pks__name_list list;
  uint64_t at = 0;
  (void)pks__name_list_read(&list, vfs, root, path, NULL);
  for (const char *name = pks__name_list_next(&list, &at); name; name = pks__name_list_next(&list, &at)) {
    char file[PKS__INDEX_NAME * 2];
    if (snprintf(file, sizeof file, "%s/%s", path, name) >= (int)sizeof file) { continue; }
    (void)pks__vfs_unlink(vfs, root, file, false);
  }
  pks__name_list_free(&list);
}

static void remove_folder(const pks_vfs *vfs, pks_vfs_file root, const char *path) {
  empty_folder(vfs, root, path);
  (void)pks__vfs_unlink(vfs, root, path, true);
}

/// Clears one name of `tmp`: a folder of a process that has ended.
static pks_status sweep_name(pks__staging *staging, const char *name, pks_error *error) {
  pks_store *store = staging->store;
  char path[PKS__INDEX_NAME];
  uint64_t id;
  if (snprintf(path, sizeof path, PKS__TMP_FOLDER "/%s", name) >= (int)sizeof path) { return PKS_OK; }
  // The creation's last step, the rename of the control file, may have left the old name when the power went.
  if (strcmp(name, PKS__CONTROL_FILE) == 0) { (void)pks__vfs_unlink(store->vfs, store->root, path, false); }
  if (!pks__hex_parse64(name, &id) || id >> PKS__STAGING_BITS != 0) { return PKS_OK; }
  bool has_own = staging->folder != PKS_VFS_NO_FILE;
  if (has_own && id == staging->id) { return PKS_OK; }
  bool taken;
  pks_status status = pks__lock_staging(store->vfs, staging->lock, id, &taken, error);
  if (status || !taken) { return status; }
  staging->leaves_garbage = true;
  (has_own ? remove_folder : empty_folder)(store->vfs, store->root, path);
  pks__unlock_staging(store->vfs, staging->lock, id);
  return PKS_OK;
}

/// Empties the folders that ended processes left in `tmp`; removes them too once this staging has a folder of its own, which then
/// marks possible garbage. Emptied first, because that may free the space for the new folder.
static pks_status sweep(pks__staging *staging, pks_error *error) {
  pks__name_list list;
  uint64_t at = 0;
  pks_status status = pks__name_list_read(&list, staging->store->vfs, staging->store->root, PKS__TMP_FOLDER, error);
  for (const char *name = pks__name_list_next(&list, &at); name && !status; name = pks__name_list_next(&list, &at)) {
    status = sweep_name(staging, name, error);
  }
  pks__name_list_free(&list);
  return status;
}

// MARK: - Opening and closing

/// Makes missing folders of the store: many programs that copy folders leave out empty ones, and others delete them.
static pks_status make_missing_folders(pks_store *store, pks_error *error) {
  static const char *const folders[] = {PKS__TMP_FOLDER, PKS__SEGMENTS_FOLDER};
  bool is_missing = false;
  for (size_t i = 0; !is_missing && i < PKS_COUNT_OF(folders); i++) {
    pks_vfs_info info;
    is_missing = pks__vfs_info(store->vfs, store->root, folders[i], false, &info) == ENOENT;
  }
  if (!is_missing) { return PKS_OK; }
  pks_status status = pks__store_make_folders(store, error);
  return status ? status : pks__store_sync_folder(store, ".", error);
}

/// Makes the staging folder. Its lock comes first, so that no sweep takes it for a dead one's.
static pks_status make_session_folder(pks__staging *staging, pks_error *error) {
  pks_store *store = staging->store;
  const pks_vfs *vfs = store->vfs;
  pks_status made = make_missing_folders(store, error);
  if (made) { return made; }
  for (;;) {
    int failure = pks__vfs_random(vfs, &staging->id, sizeof staging->id);
    if (failure) { return pks__fail_system(error, failure, "cannot generate a name", NULL); }
    staging->id >>= 64 - PKS__STAGING_BITS;
    bool taken;
    pks_status status = pks__lock_staging(vfs, staging->lock, staging->id, &taken, error);
    if (status) { return status; }
    if (!taken) { continue; }
    char digits[17];
    pks__hex64(staging->id, digits);
    (void)snprintf(staging->path, sizeof staging->path, PKS__TMP_FOLDER "/%s", digits);
    failure = pks__vfs_make_folder(vfs, store->root, staging->path);
    if (failure == EEXIST) {
      pks__unlock_staging(vfs, staging->lock, staging->id);
      continue;
    }
    if (!failure) { failure = pks__vfs_open(vfs, store->root, staging->path, PKS_VFS_OPEN_FOLDER, &staging->folder); }
    return failure ? pks__fail_system(error, failure, "cannot create", staging->path) : PKS_OK;
  }
}

pks_status pks__staging_open(pks__staging *out, pks_store *store, pks_error *error) {
  pks__staging staging = {
    .store = store,
    .lock = PKS_VFS_NO_FILE,
    .readers = PKS_VFS_NO_FILE,
    .folder = PKS_VFS_NO_FILE,
    .cache = PKS_VFS_NO_FILE,
  };
  const pks_vfs *vfs = store->vfs;
  pks_status status = pks__open_lock(vfs, store->root, &staging.lock, error);
  if (!status) { status = pks__open_readers(vfs, store->root, &staging.readers, error); }
  if (!status) { status = sweep(&staging, error); }
  if (!status) { status = make_session_folder(&staging, error); }
  if (!status && staging.leaves_garbage) { status = sweep(&staging, error); }
  if (!status) {
    staging.syncs = pks__pool_create(store->thread_count > 1 ? 2 : 1);
    if (!staging.syncs) { status = pks__fail_memory(error); }
  }
  if (status) {
    pks__staging_close(&staging);
    return status;
  }
  staging.scratch = (pks__scratch_folder){.vfs = vfs, .folder = staging.folder, .key = store->map_key};
  *out = staging;
  return PKS_OK;
}

void pks__staging_close(pks__staging *staging) {
  if (!staging->store) { return; }
  const pks_vfs *vfs = staging->store->vfs;
  pks__pool_destroy(staging->syncs);
  if (staging->folder != PKS_VFS_NO_FILE) {
    pks__vfs_close(vfs, staging->folder);
    (staging->leaves_garbage ? empty_folder : remove_folder)(vfs, staging->store->root, staging->path);
  }
  if (staging->cache != PKS_VFS_NO_FILE) {
    remove_folder(vfs, staging->cache, staging->path);
    pks__vfs_close(vfs, staging->cache);
  }
  pks__free(staging->cache_folder);
  if (staging->lock != PKS_VFS_NO_FILE) {
    // Unlocked explicitly, because a forked child may have this opening of the file too.
    pks__unlock_staging(vfs, staging->lock, staging->id);
    pks__vfs_close(vfs, staging->lock);
  }
  if (staging->readers != PKS_VFS_NO_FILE) { pks__vfs_close(vfs, staging->readers); }
  *staging = (pks__staging){0};
}

void pks__staging_leave(const pks__staging *staging) {
  const pks_vfs *vfs = staging->store->vfs;
  pks__vfs_close(vfs, staging->folder);
  pks__vfs_close(vfs, staging->lock);
  pks__vfs_close(vfs, staging->readers);
  if (staging->cache != PKS_VFS_NO_FILE) { pks__vfs_close(vfs, staging->cache); }
  pks__free(staging->cache_folder);
}

// MARK: - The cache folder

void pks__staging_sweep_cache(const pks__staging *staging, pks_vfs_file root) {
  const pks_vfs *vfs = staging->store->vfs;
  pks__name_list list;
  uint64_t at = 0, id;
  (void)pks__name_list_read(&list, vfs, root, PKS__TMP_FOLDER, NULL);
  for (const char *name = pks__name_list_next(&list, &at); name; name = pks__name_list_next(&list, &at)) {
    char path[PKS__INDEX_NAME];
    bool taken = false;
    if (snprintf(path, sizeof path, PKS__TMP_FOLDER "/%s", name) >= (int)sizeof path) { continue; }
    if (!pks__hex_parse64(name, &id) || id >> PKS__STAGING_BITS != 0 || id == staging->id) { continue; }
    if (pks__lock_staging(vfs, staging->lock, id, &taken, NULL) || !taken) { continue; }
    remove_folder(vfs, root, path);
    pks__unlock_staging(vfs, staging->lock, id);
  }
  pks__name_list_free(&list);
}

static pks_status need_tables(const pks__staging *staging, pks_error *error) {
  int made = pks__vfs_make_folder(staging->store->vfs, staging->store->root, PKS__TABLES_FOLDER);
  if (made && made != EEXIST) { return pks__fail_system(error, made, "cannot create", PKS__TABLES_FOLDER); }
  // Always: a folder just created by another process may not be durable yet.
  return pks__store_sync_folder(staging->store, ".", error);
}

pks_status pks__staging_need_cache(pks__staging *staging, const char *folder, pks_error *error) {
  const pks_vfs *vfs = staging->store->vfs;
  if (staging->cache != PKS_VFS_NO_FILE) { return PKS_OK; }
  if (!folder) {
    const char *text = "has no cache folder for the data of purgeable packs";
    return pks__fail_about(error, PKS_INVALID_ARGUMENT, PKS_DETAIL_NO_CACHE_FOLDER, PKS_SUBJECT_STORE, NULL, text);
  }
  pks_vfs_file root = PKS_VFS_NO_FILE;
  pks_status status = need_tables(staging, error);
  if (!status) { status = pks__cache_folder_open(staging->store, folder, true, &root, error); }
  if (status) { return status; }
  char *copy = pks__copy_text(folder);
  if (!copy) {
    pks__vfs_close(vfs, root);
    return pks__fail_memory(error);
  }
  pks__staging_sweep_cache(staging, root);
  int failure = pks__vfs_make_folder(vfs, root, staging->path);
  if (failure && failure != EEXIST) {
    pks__vfs_close(vfs, root);
    pks__free(copy);
    return pks__fail_system_about(
      error, failure, PKS_DETAIL_NONE, PKS_SUBJECT_CACHE_FOLDER, folder, "cannot create a folder"
    );
  }
  staging->cache = root;
  staging->cache_folder = copy;
  return PKS_OK;
}

/// Appends bytes [begin, end) of an open file to a new one, and closes that.
static pks_status copy_bytes(
  pks__staging *staging, pks_vfs_file from, uint64_t begin, uint64_t end, pks_vfs_file folder, const char *path,
  bool sync, pks_error *error
) {
  enum { COPY_SIZE = 1024 * 1024 };
  const pks_vfs *vfs = staging->store->vfs;
  pks__file_writer writer = {.file = PKS_VFS_NO_FILE};
  uint8_t *bytes = pks__allocate(COPY_SIZE);
  pks_status status = bytes ? PKS_OK : pks__fail_memory(error);
  (void)pks__vfs_unlink(vfs, folder, path, false);  // left by a failed add under the same name
  if (!status) { status = pks__file_writer_open(&writer, vfs, folder, path, error); }
  for (uint64_t at = begin; !status && at < end;) {
    size_t wanted = (size_t)pks__min64(COPY_SIZE, end - at), got = 0;
    int failure = pks__vfs_read_at(vfs, from, at, bytes, wanted, &got);
    if (!failure && got != wanted) { failure = EIO; }
    status = failure ? pks__fail_system(error, failure, "cannot read a staged segment", path)
                     : pks__file_writer_append(&writer, bytes, got, error);
    at += got;
  }
  if (!status) { status = pks__file_writer_finish(&writer, sync, error); }
  pks__file_writer_abandon(&writer);
  pks__free(bytes);
  return status;
}

/// Names the cache folder in the error of a write to it: its disk is full, which may be another one than the store's.
static pks_status name_cache(const pks__staging *staging, pks_status status, pks_error *error) {
  if (status != PKS_NO_SPACE || !error) { return status; }
  uint64_t needed = error->needed;
  const char *folder = staging->cache_folder, *text = error->text;
  pks__fail_system_about(error, error->system_error, PKS_DETAIL_NONE, PKS_SUBJECT_CACHE_FOLDER, folder, text);
  error->needed = needed;
  return status;
}

pks_status pks__staging_place_in_cache(
  pks__staging *staging, const char *folder, const pks__segment_id *id, bool keeps, bool sync, pks__segment **out,
  pks_error *error
) {
  pks_store *store = staging->store;
  const pks_vfs *vfs = store->vfs;
  char name[PKS__SEGMENT_NAME], from[2 * PKS__INDEX_NAME], data[2 * PKS__INDEX_NAME], table[2 * PKS__INDEX_NAME];
  pks__segment_name(id, name);
  (void)snprintf(from, sizeof from, "%s/%s", folder, name);
  (void)snprintf(data, sizeof data, "%s/%s", staging->path, name);
  (void)snprintf(table, sizeof table, "%s/%s" PKS__TABLE_SUFFIX, staging->path, name);
  pks__segment *whole;
  pks_status status = pks__segment_open(&whole, vfs, store->root, from, id, error);
  if (status) { return status; }
  status = pks__segment_need_table(whole, error);
  if (!status) {
    status = copy_bytes(staging, whole->file, 0, whole->file_length, staging->cache, data, sync, error);
    status = name_cache(staging, status, error);
  }
  if (!status) {
    uint64_t body = whole->table.body_offset;
    status = copy_bytes(staging, whole->file, body, whole->file_length, store->root, table, sync, error);
  }
  pks__segment_close(whole);
  if (status) { return status; }
  pks_vfs_file file;
  int failure = pks__vfs_open(vfs, staging->cache, data, PKS_VFS_OPEN_READ, &file);
  if (failure) { return pks__fail_system(error, failure, "cannot open", data); }
  (void)pks__vfs_lock(vfs, file, 0, 1, PKS_VFS_LOCK_SHARED);
  status = pks__segment_open_purgeable(out, vfs, store->root, table, file, id, error);
  // In a folder that outlasts the staging it stays, for a commit that fails.
  bool is_own = strcmp(folder, staging->path) == 0;
  if (!status && is_own && !keeps) { (void)pks__vfs_unlink(vfs, store->root, from, false); }
  return status;
}

pks_status pks__staging_keep_table(
  pks__staging *staging, pks__segment *segment, bool sync, bool *had, pks_error *error
) {
  char name[PKS__SEGMENT_NAME], path[2 * PKS__INDEX_NAME];
  pks_vfs_info info;
  pks__segment_name(&segment->id, name);
  (void)snprintf(path, sizeof path, PKS__TABLES_FOLDER "/%s", name);
  *had = !pks__vfs_info(staging->store->vfs, staging->store->root, path, false, &info);
  if (*had) { return PKS_OK; }
  (void)snprintf(path, sizeof path, "%s/%s" PKS__TABLE_SUFFIX, staging->path, name);
  pks_status status = need_tables(staging, error);
  if (!status) { status = pks__segment_need_table(segment, error); }
  if (status) { return status; }
  uint64_t body = segment->table.body_offset;
  return copy_bytes(staging, segment->file, body, segment->file_length, staging->store->root, path, sync, error);
}

// MARK: - Segment series

void pks__segment_series_init(
  pks__segment_series *series, pks__staging *staging, const pks__frame_sink *sink, pks__segment_kind kind, bool sync
) {
  *series = (pks__segment_series
  ){.staging = staging, .sink = sink, .kind = kind, .sync = sync, .target = PKS__SEGMENT_TARGET_MAX};
  pks__scratch_init(&series->dictionaries, &staging->scratch);
}

uint64_t pks__segment_target(uint64_t byte_count) {
  uint64_t target = byte_count / 128;
  if (target < PKS__SEGMENT_TARGET_MIN) { return PKS__SEGMENT_TARGET_MIN; }
  return target < PKS__SEGMENT_TARGET_MAX ? target : PKS__SEGMENT_TARGET_MAX;
}

static void run_sync(pks__task *task, uint32_t worker) {
  (void)worker;
  pks__sealed_segment *sealed = (pks__sealed_segment *)(void *)task;
  sealed->sync_failure = pks__vfs_sync(sealed->vfs, sealed->file);
}

/// Waits for the sync of a sealed segment, and closes its file.
static int settle(pks__segment_series *series, pks__sealed_segment *sealed) {
  if (sealed->file == PKS_VFS_NO_FILE) { return 0; }
  pks__pool_finish(series->staging->syncs, &sealed->task);
  pks__vfs_close(sealed->vfs, sealed->file);
  sealed->file = PKS_VFS_NO_FILE;
  return sealed->sync_failure;
}

void pks__segment_series_free(pks__segment_series *series) {
  if (series->is_open) { pks__segment_writer_abandon(&series->writer); }
  for (uint32_t i = 0; i < series->sealed_count; i++) {
    (void)settle(series, series->sealed[i]);
    pks__free(series->sealed[i]);
  }
  pks__free(series->sealed);
  pks__scratch_free(&series->dictionaries);
  *series = (pks__segment_series){0};
}

const char *pks__segment_series_path(const pks__segment_series *series) {
  return series->sink ? series->sink->path : series->staging->path;
}

/// Opens the file of the next segment in the sink.
static pks_status open_in_sink(pks__segment_series *series, pks_error *error) {
  pks_vfs_file file = PKS_VFS_NO_FILE;
  (void)snprintf(series->working_name, sizeof series->working_name, "segment-%u", series->sealed_count);
  pks_status status = series->sink->open_segment(series->sink->context, series->sealed_count, &file, error);
  if (!status) {
    status = pks__segment_writer_resume(
      &series->writer, &series->staging->scratch, file, series->working_name, series->kind, error
    );
  }
  series->is_open = status == PKS_OK;
  return status;
}

static pks_status open_segment(pks__segment_series *series, pks_error *error) {
  if (series->sink) { return open_in_sink(series, error); }
  (void
  )snprintf(series->working_name, sizeof series->working_name, "segment-%u", series->staging->scratch.next_number++);
  pks_status status =
    pks__segment_writer_open(&series->writer, &series->staging->scratch, series->working_name, series->kind, error);
  series->is_open = status == PKS_OK;
  return status;
}

static pks_status make_room(pks__segment_series *series, pks_error *error) {
  if (series->sealed_count < series->sealed_capacity) { return PKS_OK; }
  uint32_t capacity = series->sealed_capacity ? series->sealed_capacity * 2 : 8;
  void *larger = pks__reallocate(series->sealed, capacity * sizeof *series->sealed);
  if (!larger) { return pks__fail_memory(error); }
  series->sealed = larger;
  series->sealed_capacity = capacity;
  return PKS_OK;
}

pks_status pks__segment_series_restore(
  pks__segment_series *series, const pks__frame_row *row, const pks__id *ids, const pks_le32 *ends,
  uint32_t chunk_count, bool *fits, pks_error *error
) {
  pks_status status = series->is_open ? PKS_OK : open_segment(series, error);
  if (!status) { status = pks__segment_writer_restore(&series->writer, row, ids, ends, chunk_count, fits, error); }
  if (!status && *fits) { series->stored_bytes += pks__get32(row->stored_length); }
  return status;
}

static void start_sync(pks__segment_series *series, pks__sealed_segment *sealed) {
  series->sealed[series->sealed_count++] = sealed;
  if (series->sync) {
    pks__pool_submit(series->staging->syncs, &sealed->task);
  } else {
    pks__vfs_close(sealed->vfs, sealed->file);
    sealed->file = PKS_VFS_NO_FILE;
  }
}

pks_status pks__segment_series_restore_sealed(
  pks__segment_series *series, const pks__run_segment_info *info, uint64_t stored_bytes, pks_vfs_file file,
  pks_error *error
) {
  PKS_ASSERT(!series->is_open);
  const pks_vfs *vfs = series->staging->store->vfs;
  pks_status status = make_room(series, error);
  pks__sealed_segment *sealed = status ? NULL : pks__allocate_zeroed(1, sizeof *sealed);
  if (!sealed) {
    pks__vfs_close(vfs, file);
    return status ? status : pks__fail_memory(error);
  }
  *sealed = (pks__sealed_segment){.task.run = run_sync, .info = *info, .file = file, .vfs = vfs};
  series->stored_bytes += stored_bytes;
  start_sync(series, sealed);
  return PKS_OK;
}

pks_status pks__segment_series_flush(pks__segment_series *series, pks_vfs_file *file, pks_error *error) {
  *file = series->is_open ? series->writer.file.file : PKS_VFS_NO_FILE;
  return series->is_open ? pks__file_writer_flush(&series->writer.file, error) : PKS_OK;
}

/// Renames the file of a complete segment to its final name, in the same folder.
static pks_status name_sealed(pks__segment_series *series, const pks__segment_id *id, pks_error *error) {
  const pks_vfs *vfs = series->staging->store->vfs;
  const pks__frame_sink *sink = series->sink;
  const char *folder = pks__segment_series_path(series);
  char name[PKS__SEGMENT_NAME], from[2 * PKS__INDEX_NAME], to[2 * PKS__INDEX_NAME];
  pks__segment_name(id, name);
  (void)snprintf(from, sizeof from, "%s/%s", folder, series->working_name);
  (void)snprintf(to, sizeof to, "%s/%s", folder, name);
  pks_status status = sink ? sink->note_sealed(sink->context, series->sealed_count, id, error) : PKS_OK;
  if (status) { return status; }
  int failure = pks__vfs_rename(vfs, series->staging->store->root, from, to);
  return failure ? pks__fail_system(error, failure, "cannot rename", name) : PKS_OK;
}

/// Writes the table, gives the file its final name within its folder, and starts the sync.
static pks_status seal(pks__segment_series *series, pks_error *error) {
  pks__staging *staging = series->staging;
  const pks_vfs *vfs = staging->store->vfs;
  pks_status status = make_room(series, error);
  pks__sealed_segment *sealed = status ? NULL : pks__allocate_zeroed(1, sizeof *sealed);
  if (!sealed) { return status ? status : pks__fail_memory(error); }
  *sealed = (pks__sealed_segment){.task.run = run_sync, .file = PKS_VFS_NO_FILE, .vfs = vfs};
  sealed->info.kind = (uint32_t)series->kind;
  sealed->info.chunk_count = pks__segment_writer_chunk_count(&series->writer);
  series->is_open = false;
  status = pks__segment_writer_seal(
    &series->writer, staging->store->sha256, &sealed->info.id, &sealed->info.file_length, &sealed->file, error
  );
  if (!status) { status = name_sealed(series, &sealed->info.id, error); }
  if (status) {
    if (sealed->file != PKS_VFS_NO_FILE) { pks__vfs_close(vfs, sealed->file); }
    pks__free(sealed);
    return status;
  }
  start_sync(series, sealed);
  return PKS_OK;
}

// MARK: - Frames and dictionaries

pks_status pks__segment_series_note_dictionary(
  pks__segment_series *series, uint32_t number, const pks__dictionary_row *row, pks_error *error
) {
  pks__series_dictionary noted = {.segment = series->sealed_count, .number = number, .row = *row};
  series->stored_bytes += pks__get32(row->stored_length);
  return pks__scratch_append(&series->dictionaries, &noted, sizeof noted, error);
}

bool pks__segment_series_has_dictionary(const pks__segment_series *series, const pks__id *id) {
  for (uint64_t i = PKS__SCRATCH_COUNT(&series->dictionaries, pks__series_dictionary); i > 0; i--) {
    const pks__series_dictionary *noted = PKS__SCRATCH_AT(&series->dictionaries, const pks__series_dictionary, i - 1);
    if (pks__id_equal(&noted->row.id, id)) { return true; }
  }
  return false;
}

const pks__dictionary_row *pks__segment_series_dictionary(
  const pks__segment_series *series, uint32_t segment, uint32_t number
) {
  for (uint64_t i = PKS__SCRATCH_COUNT(&series->dictionaries, pks__series_dictionary); i > 0; i--) {
    const pks__series_dictionary *noted = PKS__SCRATCH_AT(&series->dictionaries, const pks__series_dictionary, i - 1);
    if (noted->segment == segment && noted->number == number) { return &noted->row; }
  }
  PKS_ASSERT(false);
  return NULL;
}

/// Notes the dictionary that the open segment got last, also in the sink: its bytes are in the file before.
static pks_status note_added(pks__segment_series *series, uint32_t number, pks_error *error) {
  const pks__dictionary_row *row = pks__segment_writer_dictionary_row(&series->writer, number);
  const pks__frame_sink *sink = series->sink;
  pks_status status = pks__segment_series_note_dictionary(series, number, row, error);
  if (status || !sink) { return status; }
  status = pks__file_writer_flush(&series->writer.file, error);
  return status ? status : sink->note_dictionary(sink->context, series->sealed_count, row, error);
}

/// Ensures that the open segment has a dictionary. A segment without room for another one is complete.
static pks_status need_dictionary(
  pks__segment_series *series, const pks__stored_dictionary *dictionary, uint32_t *codec, pks_error *error
) {
  uint32_t number;
  bool added,
    is_full = series->is_open && pks__segment_writer_dictionary_count(&series->writer) == PKS__DICTIONARIES_MAX
    && !pks__segment_writer_find_dictionary(&series->writer, &dictionary->id, &number);
  pks_status status = is_full ? seal(series, error) : PKS_OK;
  if (!status && !series->is_open) { status = open_segment(series, error); }
  if (!status) { status = pks__segment_writer_add_dictionary(&series->writer, dictionary, &number, &added, error); }
  if (status) { return status; }
  *codec = PKS__CODEC_DICTIONARY + number;
  return added ? note_added(series, number, error) : PKS_OK;
}

pks_status pks__segment_series_restore_dictionary(
  pks__segment_series *series, const pks__dictionary_row *row, bool *fits, pks_error *error
) {
  pks_status status = series->is_open ? PKS_OK : open_segment(series, error);
  if (!status) { status = pks__segment_writer_restore_dictionary(&series->writer, row, fits, error); }
  if (status || !*fits) { return status; }
  uint32_t number = pks__segment_writer_dictionary_count(&series->writer) - 1;
  return pks__segment_series_note_dictionary(series, number, row, error);
}

pks_status pks__segment_series_append(
  pks__segment_series *series, const pks__encoded_frame *frame, uint32_t *segment, uint32_t *number,
  pks__frame_row *row, pks_error *error
) {
  PKS_ASSERT(!pks__codec_has_dictionary(frame->codec));
  uint32_t codec = frame->codec;
  pks_status status = PKS_OK;
  if (frame->dictionary) { status = need_dictionary(series, frame->dictionary, &codec, error); }
  if (!status && !series->is_open) { status = open_segment(series, error); }
  if (status) { return status; }
  // Only raw frames are ever mapped.
  series->writer.file.grows = series->has_long_blocks && codec == PKS__CODEC_RAW;
  *segment = series->sealed_count;
  *number = pks__segment_writer_frame_count(&series->writer);
  status = pks__segment_writer_append(
    &series->writer, frame->stored, frame->stored_length, codec, frame->alignment, frame->ids, frame->ends,
    frame->chunk_count, row, error
  );
  if (!status) { series->stored_bytes += frame->stored_length; }
  return status;
}

/// The length from which on the open segment may end: its dictionaries are to take less than a hundredth of it.
static uint64_t target_of(const pks__segment_series *series) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < pks__segment_writer_dictionary_count(&series->writer); i++) {
    bytes += pks__get32(pks__segment_writer_dictionary_row(&series->writer, i)->stored_length);
  }
  return pks__max64(series->target, pks__min64(128 * bytes, PKS__SEGMENT_TARGET_MAX));
}

pks_status pks__segment_series_boundary(pks__segment_series *series, bool asset_ends, bool may_cut, pks_error *error) {
  if (!series->is_open) { return PKS_OK; }
  uint64_t length = series->writer.file.length, target = target_of(series);
  bool full = (asset_ends && length >= target) || (may_cut && length / 4 >= target);
  return full ? seal(series, error) : PKS_OK;
}

pks_status pks__segment_series_finish(pks__segment_series *series, pks_error *error) {
  bool is_empty = series->is_open && pks__segment_writer_frame_count(&series->writer) == 0;
  if (is_empty) {
    // Taken up after a kill that came between a dictionary and its first frame.
    pks__segment_writer_abandon(&series->writer);
    series->is_open = false;
  }
  pks_status status = series->is_open ? seal(series, error) : PKS_OK;
  int failure = 0;
  for (uint32_t i = 0; i < series->sealed_count; i++) {
    int one = settle(series, series->sealed[i]);
    if (!failure) { failure = one; }
  }
  if (!status && failure) { status = pks__fail_system(error, failure, "cannot sync", PKS__SEGMENTS_FOLDER); }
  return status;
}
