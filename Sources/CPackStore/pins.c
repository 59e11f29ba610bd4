#include "pins.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static const char lock_text[] = "cannot lock";

enum { HOLDER_SIZE = 32 };

/// Notes the writer's process id, padded so that a longer one leaves no digits behind.
static void note_holder(const pks_vfs *vfs, pks__file lock) {
  char text[HOLDER_SIZE + 1];
  (void)snprintf(text, sizeof text, "%-31llu\n", (unsigned long long)vfs->process_id(vfs->context));
  (void)vfs->write_at(vfs->context, lock, 0, text, HOLDER_SIZE);
}

static uint64_t read_holder(const pks_vfs *vfs, pks__file lock) {
  char text[HOLDER_SIZE + 1] = {0};
  size_t got = 0;
  if (vfs->read_at(vfs->context, lock, 0, text, HOLDER_SIZE, &got)) { return 0; }
  uint64_t id = 0;
  for (size_t i = 0; i < got && text[i] >= '0' && text[i] <= '9'; i++) { id = id * 10 + (uint64_t)(text[i] - '0'); }
  return id;
}

pks_status pks__pin_writer(const pks_vfs *vfs, pks__file lock, bool wait, pks_error *error) {
  int failure = vfs->lock(vfs->context, lock, 0, 1, PKS__LOCK_EXCLUSIVE, wait);
  if (failure == EAGAIN || failure == EACCES) {
    uint64_t holder = read_holder(vfs, lock);
    pks__fail(error, PKS_BUSY, "another process is writing to the store", PKS__LOCK_FILE, PKS_NO_OFFSET);
    if (error) { error->needed = holder; }
    return PKS_BUSY;
  }
  if (failure) { return pks__fail_system(error, failure, lock_text, PKS__LOCK_FILE); }
  note_holder(vfs, lock);
  return PKS_OK;
}

void pks__unpin_writer(const pks_vfs *vfs, pks__file lock) {
  (void)vfs->lock(vfs->context, lock, 0, 1, PKS__LOCK_NONE, false);
}

pks_status pks__pin_generation(const pks_vfs *vfs, pks__file lock, uint64_t generation, pks_error *error) {
  PKS_ASSERT(generation > 0 && generation < PKS__SESSIONS_BEGIN);
  int failure = vfs->lock(vfs->context, lock, generation, 1, PKS__LOCK_SHARED, true);
  return failure ? pks__fail_system(error, failure, lock_text, PKS__LOCK_FILE) : PKS_OK;
}

void pks__unpin_generation(const pks_vfs *vfs, pks__file lock, uint64_t generation) {
  (void)vfs->lock(vfs->context, lock, generation, 1, PKS__LOCK_NONE, false);
}

pks_status pks__pinned_generation(
  const pks_vfs *vfs, pks__file lock, uint64_t first, uint64_t end, bool *pinned, uint64_t *found, pks_error *error
) {
  *pinned = false;
  if (first >= end) { return PKS_OK; }
  int failure = vfs->lock_held(vfs->context, lock, first, end - first, pinned, found);
  // The kernel joins neighbouring locks of one holder: the one it names may begin before the range.
  if (!failure && *pinned && *found < first) { *found = first; }
  return failure ? pks__fail_system(error, failure, lock_text, PKS__LOCK_FILE) : PKS_OK;
}

pks_status pks__pin_session(const pks_vfs *vfs, pks__file lock, uint64_t session, bool *taken, pks_error *error) {
  PKS_ASSERT(session >> PKS__SESSION_BITS == 0);
  int failure = vfs->lock(vfs->context, lock, PKS__SESSIONS_BEGIN + session, 1, PKS__LOCK_EXCLUSIVE, false);
  *taken = failure == 0;
  if (failure == EAGAIN || failure == EACCES) { return PKS_OK; }
  return failure ? pks__fail_system(error, failure, lock_text, PKS__LOCK_FILE) : PKS_OK;
}

void pks__unpin_session(const pks_vfs *vfs, pks__file lock, uint64_t session) {
  (void)vfs->lock(vfs->context, lock, PKS__SESSIONS_BEGIN + session, 1, PKS__LOCK_NONE, false);
}
