#include "store/locks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static const char lock_text[] = "cannot lock";

enum { HOLDER_SIZE = 32 };

static pks_status open_file(
  const pks_vfs *vfs, pks_vfs_file root, const char *name, pks_vfs_open_mode mode, pks_vfs_file *out, pks_error *error
) {
  int failure = pks__vfs_open(vfs, root, name, mode, out);
  if (!failure) { return PKS_OK; }
  bool is_refused = failure == EACCES || failure == EPERM || failure == EROFS;
  pks_detail detail = is_refused ? PKS_DETAIL_NOT_WRITABLE : PKS_DETAIL_NONE;
  pks_status status = pks__fail_system_about(error, failure, detail, PKS_SUBJECT_STORE_FILE, name, "cannot open");
  if (!is_refused) { return status; }
  if (error) { error->status = PKS_READ_ONLY; }
  return PKS_READ_ONLY;
}

pks_status pks__open_lock(const pks_vfs *vfs, pks_vfs_file root, pks_vfs_file *out, pks_error *error) {
  return open_file(vfs, root, PKS__LOCK_FILE, PKS_VFS_OPEN_LOCK, out, error);
}

pks_status pks__open_readers(const pks_vfs *vfs, pks_vfs_file root, pks_vfs_file *out, pks_error *error) {
  return open_file(vfs, root, PKS__READERS_FILE, PKS_VFS_OPEN_SHARED_LOCK, out, error);
}

static bool means_no_locks(int failure) {
  return failure == ENOLCK || failure == EOPNOTSUPP || failure == ENOSYS || failure == EBADF || failure == EINVAL;
}

bool pks__lacks_locks(const pks_vfs *vfs, pks_vfs_file readers) {
  int failure = pks__vfs_lock(vfs, readers, 0, 1, PKS_VFS_LOCK_SHARED);
  if (!failure) { (void)pks__vfs_lock(vfs, readers, 0, 1, PKS_VFS_LOCK_NONE); }
  return means_no_locks(failure);
}

static pks_status fail_lock(int failure, const char *file, pks_error *error) {
  if (!means_no_locks(failure)) { return pks__fail_system(error, failure, lock_text, file); }
  return pks__fail_system_about(
    error, failure, PKS_DETAIL_NO_LOCKS, PKS_SUBJECT_STORE, NULL, "the file system has no locks, which writers need"
  );
}

/// Notes the writer's process id, padded so that a longer one leaves no digits behind.
static void note_holder(const pks_vfs *vfs, pks_vfs_file lock) {
  char text[HOLDER_SIZE + 1];
  (void)snprintf(text, sizeof text, "%-31llu\n", (unsigned long long)pks__vfs_process_id(vfs));
  (void)pks__vfs_write_at(vfs, lock, 0, text, HOLDER_SIZE);
}

static uint64_t read_holder(const pks_vfs *vfs, pks_vfs_file lock) {
  char text[HOLDER_SIZE + 1] = {0};
  size_t got = 0;
  if (pks__vfs_read_at(vfs, lock, 0, text, HOLDER_SIZE, &got)) { return 0; }
  uint64_t id = 0;
  for (size_t i = 0; i < got && text[i] >= '0' && text[i] <= '9'; i++) { id = id * 10 + (uint64_t)(text[i] - '0'); }
  return id;
}

enum { SHORTEST_WAIT_NS = 100 * 1000, LONGEST_WAIT_NS = 50 * 1000 * 1000 };

/// Waits until the lock may be free, which the system reports only in uninterruptible waits: checks again after longer and longer
/// pauses.
static pks_status wait_for_writer(
  const pks_vfs *vfs, pks_vfs_file lock, const pks__wait *wait, int *failure, pks_error *error
) {
  int64_t time = SHORTEST_WAIT_NS;
  while (*failure == EAGAIN) {
    int asleep = pks__vfs_sleep_ns(vfs, time);
    if (asleep) { return pks__fail_system(error, asleep, lock_text, PKS__LOCK_FILE); }
    time = time * 2 < LONGEST_WAIT_NS ? time * 2 : LONGEST_WAIT_NS;
    bool goes_on = !wait->goes_on || wait->goes_on(wait->context);
    // Called before the lock is taken, too: a cancelled call must not go on to write.
    if (!goes_on) {
      return pks__fail_about(
        error, PKS_CANCELLED, PKS_DETAIL_NONE, PKS_SUBJECT_STORE, NULL,
        "cancelled while another process wrote to the store"
      );
    }
    *failure = pks__vfs_lock(vfs, lock, 0, 1, PKS_VFS_LOCK_EXCLUSIVE);
  }
  return PKS_OK;
}

pks_status pks__lock_writer(const pks_vfs *vfs, pks_vfs_file lock, const pks__wait *wait, pks_error *error) {
  int failure = pks__vfs_lock(vfs, lock, 0, 1, PKS_VFS_LOCK_EXCLUSIVE);
  if (failure == EAGAIN && wait->is_refused) {
    uint64_t holder = read_holder(vfs, lock);
    pks__fail_about(
      error, PKS_BUSY, PKS_DETAIL_OTHER_WRITER, PKS_SUBJECT_STORE, NULL, "another process is writing to the store"
    );
    if (error) { error->needed = holder; }
    return PKS_BUSY;
  }
  pks_status status = wait_for_writer(vfs, lock, wait, &failure, error);
  if (status) { return status; }
  if (failure) { return fail_lock(failure, PKS__LOCK_FILE, error); }
  note_holder(vfs, lock);
  return PKS_OK;
}

void pks__unlock_writer(const pks_vfs *vfs, pks_vfs_file lock) {
  (void)pks__vfs_lock(vfs, lock, 0, 1, PKS_VFS_LOCK_NONE);
}

pks_status pks__pin_generation(const pks_vfs *vfs, pks_vfs_file readers, uint64_t generation, pks_error *error) {
  PKS_ASSERT(generation > 0 && generation < PKS__STAGINGS_BEGIN);
  int failure = pks__vfs_lock(vfs, readers, generation, 1, PKS_VFS_LOCK_SHARED);
  return failure ? pks__fail_system(error, failure, lock_text, PKS__READERS_FILE) : PKS_OK;
}

void pks__unpin_generation(const pks_vfs *vfs, pks_vfs_file readers, uint64_t generation) {
  (void)pks__vfs_lock(vfs, readers, generation, 1, PKS_VFS_LOCK_NONE);
}

pks_status pks__is_pinned(
  const pks_vfs *vfs, pks_vfs_file readers, uint64_t first, uint64_t end, bool *pinned, pks_error *error
) {
  *pinned = false;
  if (first >= end) { return PKS_OK; }
  int failure = pks__vfs_lock_held(vfs, readers, first, end - first, pinned);
  return failure ? pks__fail_system(error, failure, lock_text, PKS__READERS_FILE) : PKS_OK;
}

pks_status pks__lock_staging(const pks_vfs *vfs, pks_vfs_file lock, uint64_t staging, bool *taken, pks_error *error) {
  PKS_ASSERT(staging >> PKS__STAGING_BITS == 0);
  int failure = pks__vfs_lock(vfs, lock, PKS__STAGINGS_BEGIN + staging, 1, PKS_VFS_LOCK_EXCLUSIVE);
  *taken = failure == 0;
  if (failure == EAGAIN) { return PKS_OK; }
  return failure ? fail_lock(failure, PKS__LOCK_FILE, error) : PKS_OK;
}

void pks__unlock_staging(const pks_vfs *vfs, pks_vfs_file lock, uint64_t staging) {
  (void)pks__vfs_lock(vfs, lock, PKS__STAGINGS_BEGIN + staging, 1, PKS_VFS_LOCK_NONE);
}
