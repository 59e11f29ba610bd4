#include "session.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "memory.h"

// MARK: - Sweeping

typedef struct name_list {
  pks__scratch names;  ///< NUL-terminated, back to back
  pks_status status;
  pks_error *error;
} name_list;

static bool collect_name(void *context, const char *name, size_t length, pks__file_kind kind) {
  (void)kind;
  name_list *list = context;
  list->status = pks__scratch_append(&list->names, name, length, list->error);
  if (!list->status) { list->status = pks__scratch_append(&list->names, "", 1, list->error); }
  return list->status == PKS_OK;
}

static pks_status list_names(const pks_vfs *vfs, pks__file root, const char *path, name_list *list) {
  pks__file folder = PKS__NO_FILE;
  int failure = vfs->open(vfs->context, root, path, PKS__OPEN_FOLDER, &folder);
  if (!failure) {
    failure = vfs->list(vfs->context, folder, collect_name, list);
    vfs->close(vfs->context, folder);
  }
  if (failure) { return pks__fail_system(list->error, failure, "cannot list", path); }
  return list->status;
}

/// Removes the files in a folder of `tmp`. What cannot be removed is left for the next sweep.
static void empty_folder(const pks_vfs *vfs, pks__file root, const char *path) {
  name_list list = {.status = PKS_OK};
  if (list_names(vfs, root, path, &list) == PKS_OK) {
    for (uint64_t at = 0; at < list.names.length;) {
      const char *name = (const char *)list.names.bytes + at;
      char file[PKS__INDEX_NAME * 2];
      if (snprintf(file, sizeof file, "%s/%s", path, name) < (int)sizeof file) {
        (void)vfs->unlink(vfs->context, root, file, false);
      }
      at += strlen(name) + 1;
    }
  }
  pks__scratch_free(&list.names);
}

static void remove_folder(const pks_vfs *vfs, pks__file root, const char *path) {
  empty_folder(vfs, root, path);
  (void)vfs->unlink(vfs->context, root, path, true);
}

/// Empties the folders that processes which have ended left in `tmp`; removes them too once this session has one of its
/// own, which then is the note that there may be garbage. Emptied before, because that may be what makes room for it.
static pks_status sweep(pks__session *session, pks_error *error) {
  pks_store *store = session->store;
  name_list list = {.error = error};
  pks_status status = list_names(store->vfs, store->root, PKS__TMP_FOLDER, &list);
  for (uint64_t at = 0; !status && at < list.names.length;) {
    const char *name = (const char *)list.names.bytes + at;
    at += strlen(name) + 1;
    char path[PKS__INDEX_NAME];
    uint64_t id;
    if (snprintf(path, sizeof path, PKS__TMP_FOLDER "/%s", name) >= (int)sizeof path) { continue; }
    // The creation's last step, the rename of the control file, may have left the old name when the power went.
    if (strcmp(name, PKS__CONTROL_FILE) == 0) {
      (void)store->vfs->unlink(store->vfs->context, store->root, path, false);
    }
    if (!pks__hex_parse64(name, &id) || id >> PKS__SESSION_BITS != 0) { continue; }
    bool has_own = session->folder != PKS__NO_FILE;
    if (has_own && id == session->id) { continue; }
    bool taken;
    status = pks__pin_session(store->vfs, session->lock, id, &taken, error);
    if (status || !taken) { continue; }
    session->leaves_garbage = true;
    (has_own ? remove_folder : empty_folder)(store->vfs, store->root, path);
    pks__unpin_session(store->vfs, session->lock, id);
  }
  pks__scratch_free(&list.names);
  return status;
}

// MARK: - Opening and closing

/// Makes the session's folder. Its lock comes first, so that no sweep takes it for a dead one's.
static pks_status make_session_folder(pks__session *session, pks_error *error) {
  pks_store *store = session->store;
  const pks_vfs *vfs = store->vfs;
  for (;;) {
    int failure = vfs->random(vfs->context, &session->id, sizeof session->id);
    if (failure) { return pks__fail_system(error, failure, "cannot make a name", NULL); }
    session->id >>= 64 - PKS__SESSION_BITS;
    bool taken;
    pks_status status = pks__pin_session(vfs, session->lock, session->id, &taken, error);
    if (status) { return status; }
    if (!taken) { continue; }
    char digits[17];
    pks__hex64(session->id, digits);
    (void)snprintf(session->path, sizeof session->path, PKS__TMP_FOLDER "/%s", digits);
    failure = vfs->make_folder(vfs->context, store->root, session->path);
    if (failure == EEXIST) {
      pks__unpin_session(vfs, session->lock, session->id);
      continue;
    }
    if (!failure) { failure = vfs->open(vfs->context, store->root, session->path, PKS__OPEN_FOLDER, &session->folder); }
    return failure ? pks__fail_system(error, failure, "cannot create", session->path) : PKS_OK;
  }
}

pks_status pks__session_open(pks__session *out, pks_store *store, pks_error *error) {
  pks__session session = {.store = store, .lock = PKS__NO_FILE, .readers = PKS__NO_FILE, .folder = PKS__NO_FILE};
  const pks_vfs *vfs = store->vfs;
  pks_status status = pks__open_lock(vfs, store->root, &session.lock, error);
  if (!status) { status = pks__open_readers(vfs, store->root, &session.readers, error); }
  if (!status) { status = sweep(&session, error); }
  if (!status) { status = make_session_folder(&session, error); }
  if (!status && session.leaves_garbage) { status = sweep(&session, error); }
  if (!status) {
    session.syncs = pks__pool_create(store->thread_count > 1 ? 2 : 1);
    if (!session.syncs) { status = pks__fail_memory(error); }
  }
  if (status) {
    pks__session_close(&session);
    return status;
  }
  session.scratch = (pks__scratch_folder){.vfs = vfs, .folder = session.folder, .key = store->map_key};
  *out = session;
  return PKS_OK;
}

void pks__session_close(pks__session *session) {
  if (!session->store) { return; }
  const pks_vfs *vfs = session->store->vfs;
  pks__pool_destroy(session->syncs);
  if (session->folder != PKS__NO_FILE) {
    vfs->close(vfs->context, session->folder);
    (session->leaves_garbage ? empty_folder : remove_folder)(vfs, session->store->root, session->path);
  }
  if (session->lock != PKS__NO_FILE) {
    // Said, for a forked child may have this opening of the file too.
    pks__unpin_session(vfs, session->lock, session->id);
    vfs->close(vfs->context, session->lock);
  }
  if (session->readers != PKS__NO_FILE) { vfs->close(vfs->context, session->readers); }
  *session = (pks__session){0};
}

void pks__session_leave(const pks__session *session) {
  const pks_vfs *vfs = session->store->vfs;
  vfs->close(vfs->context, session->folder);
  vfs->close(vfs->context, session->lock);
  vfs->close(vfs->context, session->readers);
}

// MARK: - Segment series

void pks__segment_series_init(pks__segment_series *series, pks__session *session, pks__segment_kind kind, bool sync) {
  *series = (pks__segment_series){.session = session, .kind = kind, .sync = sync};
}

static void run_sync(pks__task *task, uint32_t worker) {
  (void)worker;
  pks__sealed_segment *sealed = (pks__sealed_segment *)(void *)task;
  sealed->sync_failure = sealed->vfs->sync(sealed->vfs->context, sealed->file);
}

/// Waits for the sync of a sealed segment, and closes its file.
static int settle(pks__segment_series *series, pks__sealed_segment *sealed) {
  if (sealed->file == PKS__NO_FILE) { return 0; }
  pks__pool_finish(series->session->syncs, &sealed->task);
  sealed->vfs->close(sealed->vfs->context, sealed->file);
  sealed->file = PKS__NO_FILE;
  return sealed->sync_failure;
}

void pks__segment_series_free(pks__segment_series *series) {
  if (series->is_open) { pks__segment_writer_abandon(&series->writer); }
  for (uint32_t i = 0; i < series->sealed_count; i++) {
    (void)settle(series, series->sealed[i]);
    pks__free(series->sealed[i]);
  }
  pks__free(series->sealed);
  *series = (pks__segment_series){0};
}

const char *pks__segment_series_path(const pks__segment_series *series) {
  return series->keeper ? series->keeper->path : series->session->path;
}

/// Opens the file of the next segment with its keeper.
static pks_status open_kept(pks__segment_series *series, pks_error *error) {
  pks__file file = PKS__NO_FILE;
  (void)snprintf(series->working_name, sizeof series->working_name, "segment-%u", series->sealed_count);
  pks_status status = series->keeper->open(series->keeper->context, series->sealed_count, &file, error);
  if (!status) {
    status = pks__segment_writer_resume(
      &series->writer, &series->session->scratch, file, series->working_name, series->kind, error
    );
  }
  series->is_open = status == PKS_OK;
  return status;
}

static pks_status open_segment(pks__segment_series *series, pks_error *error) {
  if (series->keeper) { return open_kept(series, error); }
  (void
  )snprintf(series->working_name, sizeof series->working_name, "segment-%u", series->session->scratch.next_number++);
  pks_status status =
    pks__segment_writer_open(&series->writer, &series->session->scratch, series->working_name, series->kind, error);
  series->is_open = status == PKS_OK;
  return status;
}

pks_status pks__segment_series_append(
  pks__segment_series *series, const void *stored, uint32_t stored_length, uint32_t codec, uint64_t alignment,
  const pks__id *ids, const uint32_t *ends, uint32_t chunk_count, uint32_t *segment, uint32_t *frame,
  pks__frame_row *row, pks_error *error
) {
  pks_status status = series->is_open ? PKS_OK : open_segment(series, error);
  if (status) { return status; }
  *segment = series->sealed_count;
  *frame = pks__segment_writer_frame_count(&series->writer);
  status = pks__segment_writer_append(
    &series->writer, stored, stored_length, codec, alignment, ids, ends, chunk_count, row, error
  );
  if (!status) { series->stored_bytes += stored_length; }
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
    pks__pool_submit(series->session->syncs, &sealed->task);
  } else {
    sealed->vfs->close(sealed->vfs->context, sealed->file);
    sealed->file = PKS__NO_FILE;
  }
}

pks_status pks__segment_series_restore_sealed(
  pks__segment_series *series, const pks__run_segment_info *info, uint64_t stored_bytes, pks__file file,
  pks_error *error
) {
  PKS_ASSERT(!series->is_open);
  const pks_vfs *vfs = series->session->store->vfs;
  pks_status status = make_room(series, error);
  pks__sealed_segment *sealed = status ? NULL : pks__allocate_zeroed(1, sizeof *sealed);
  if (!sealed) {
    vfs->close(vfs->context, file);
    return status ? status : pks__fail_memory(error);
  }
  *sealed = (pks__sealed_segment){.task.run = run_sync, .info = *info, .file = file, .vfs = vfs};
  series->stored_bytes += stored_bytes;
  start_sync(series, sealed);
  return PKS_OK;
}

pks_status pks__segment_series_flush(pks__segment_series *series, pks__file *file, pks_error *error) {
  *file = series->is_open ? series->writer.file.file : PKS__NO_FILE;
  return series->is_open ? pks__file_writer_flush(&series->writer.file, error) : PKS_OK;
}

/// Gives the file of a segment that is complete its final name, where it lies.
static pks_status name_sealed(pks__segment_series *series, const pks__segment_id *id, pks_error *error) {
  const pks_vfs *vfs = series->session->store->vfs;
  const pks__segment_keeper *keeper = series->keeper;
  const char *folder = pks__segment_series_path(series);
  char name[PKS__SEGMENT_NAME], from[2 * PKS__INDEX_NAME], to[2 * PKS__INDEX_NAME];
  pks__segment_name(id, name);
  (void)snprintf(from, sizeof from, "%s/%s", folder, series->working_name);
  (void)snprintf(to, sizeof to, "%s/%s", folder, name);
  pks_status status = keeper ? keeper->seal(keeper->context, series->sealed_count, id, error) : PKS_OK;
  if (status) { return status; }
  int failure = vfs->rename(vfs->context, series->session->store->root, from, to);
  return failure ? pks__fail_system(error, failure, "cannot rename", name) : PKS_OK;
}

/// Writes the table, gives the file its final name within its folder, and starts the sync.
static pks_status seal(pks__segment_series *series, pks_error *error) {
  pks__session *session = series->session;
  const pks_vfs *vfs = session->store->vfs;
  pks_status status = make_room(series, error);
  pks__sealed_segment *sealed = status ? NULL : pks__allocate_zeroed(1, sizeof *sealed);
  if (!sealed) { return status ? status : pks__fail_memory(error); }
  *sealed = (pks__sealed_segment){.task.run = run_sync, .file = PKS__NO_FILE, .vfs = vfs};
  sealed->info.kind = (uint32_t)series->kind;
  sealed->info.chunk_count = pks__segment_writer_chunk_count(&series->writer);
  series->is_open = false;
  status = pks__segment_writer_seal(
    &series->writer, session->store->sha256, &sealed->info.id, &sealed->info.file_length, &sealed->file, error
  );
  if (!status) { status = name_sealed(series, &sealed->info.id, error); }
  if (status) {
    if (sealed->file != PKS__NO_FILE) { vfs->close(vfs->context, sealed->file); }
    pks__free(sealed);
    return status;
  }
  start_sync(series, sealed);
  return PKS_OK;
}

pks_status pks__segment_series_boundary(pks__segment_series *series, bool asset_ends, bool may_cut, pks_error *error) {
  if (!series->is_open) { return PKS_OK; }
  uint64_t length = series->writer.file.length;
  bool full = (asset_ends && length >= PKS__SEGMENT_TARGET) || (may_cut && length >= PKS__SEGMENT_LIMIT);
  return full ? seal(series, error) : PKS_OK;
}

pks_status pks__segment_series_finish(pks__segment_series *series, pks_error *error) {
  pks_status status = series->is_open ? seal(series, error) : PKS_OK;
  int failure = 0;
  for (uint32_t i = 0; i < series->sealed_count; i++) {
    int one = settle(series, series->sealed[i]);
    if (!failure) { failure = one; }
  }
  if (!status && failure) { status = pks__fail_system(error, failure, "cannot sync", PKS__SEGMENTS_FOLDER); }
  return status;
}
