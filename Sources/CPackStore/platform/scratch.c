#include "platform/scratch.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"

/// The most that a hint reserves, bytes: it may be wrong.
enum { EXPECTED_MAX = 16 * 1024 * 1024 };

static const char scratch_text[] = "cannot create a temporary file";

void pks__scratch_free(pks__scratch *scratch) {
  if (scratch->mapped) {
    const pks_vfs *vfs = scratch->home->vfs;
    pks__vfs_unmap(vfs, scratch->bytes, (size_t)scratch->capacity);
  } else {
    pks__free(scratch->bytes);
  }
  *scratch = (pks__scratch){.home = scratch->home};
}

/// Moves the array to a new file of `capacity` bytes. The file loses its name at once: the mapping keeps it, and a
/// killed process leaves none.
static pks_status move_to_file(pks__scratch *scratch, uint64_t capacity, pks_error *error) {
  const pks_vfs *vfs = scratch->home->vfs;
  char name[32];
  (void)snprintf(name, sizeof name, "scratch-%u", scratch->home->next_number++);
  pks_vfs_file file = PKS_VFS_NO_FILE;
  void *address = NULL;
  int failure = pks__vfs_open(vfs, scratch->home->folder, name, PKS_VFS_OPEN_CREATE, &file);
  if (failure) { return pks__fail_system(error, failure, scratch_text, name); }
  failure = pks__vfs_preallocate(vfs, file, capacity);
  if (!failure) { failure = pks__vfs_map(vfs, file, (size_t)capacity, true, &address); }
  pks__vfs_close(vfs, file);
  (void)pks__vfs_unlink(vfs, scratch->home->folder, name, false);
  if (failure) {
    pks_status status = pks__fail_system(error, failure, scratch_text, name);
    if (error) { error->needed = capacity; }
    return status;
  }
  if (scratch->length > 0) { memcpy(address, scratch->bytes, (size_t)scratch->length); }
  uint64_t length = scratch->length;
  pks__scratch_free(scratch);
  scratch->bytes = address;
  scratch->length = length;
  scratch->capacity = capacity;
  scratch->mapped = true;
  return PKS_OK;
}

pks_status pks__scratch_reserve(pks__scratch *scratch, uint64_t byte_count, pks_error *error) {
  uint64_t needed;
  if (pks__add_overflows(scratch->length, byte_count, &needed) || needed > SIZE_MAX / 4) {
    return pks__fail_memory(error);
  }
  if (needed <= scratch->capacity) { return PKS_OK; }
  uint64_t capacity = pks__max64(scratch->capacity, 4096);
  while (capacity < needed) { capacity *= 2; }
  if (capacity > PKS__SCRATCH_HEAP_MAX && scratch->home) { return move_to_file(scratch, capacity, error); }
  uint8_t *bytes = pks__reallocate(scratch->bytes, (size_t)capacity);
  if (!bytes) { return pks__fail_memory(error); }
  scratch->bytes = bytes;
  scratch->capacity = capacity;
  return PKS_OK;
}

pks_status pks__scratch_expect(pks__scratch *scratch, uint64_t byte_count, pks_error *error) {
  bool goes_to_file = scratch->home && byte_count > PKS__SCRATCH_HEAP_MAX;
  if (!goes_to_file) { return PKS_OK; }
  // Each file that is outgrown costs the pages that were touched in it. A disk that has no room for all may have it for less.
  if (!pks__scratch_reserve(scratch, pks__min64(byte_count, EXPECTED_MAX), NULL)) { return PKS_OK; }
  return pks__scratch_reserve(scratch, PKS__SCRATCH_HEAP_MAX + 1, error);
}

pks_status pks__scratch_append(pks__scratch *scratch, const void *bytes, uint64_t byte_count, pks_error *error) {
  pks_status status = pks__scratch_reserve(scratch, byte_count, error);
  if (status || byte_count == 0) { return status; }
  uint8_t *end = scratch->bytes + scratch->length;
  if (bytes) {
    memcpy(end, bytes, (size_t)byte_count);
  } else {
    memset(end, 0, (size_t)byte_count);
  }
  scratch->length += byte_count;
  return PKS_OK;
}
