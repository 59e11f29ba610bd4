#include "store/generation_file.h"

#include "base/memory.h"
#include "codec/checksum.h"

/// Reads the bytes of a generation's file, to be freed by the caller.
static pks_status read_bytes(pks_store *store, const char *path, uint8_t **out, size_t *length, pks_error *error) {
  const pks_vfs *vfs = store->vfs;
  pks_vfs_file file = PKS_VFS_NO_FILE;
  pks_vfs_info info = {0};
  size_t got = 0;
  *out = NULL;
  int failure = pks__vfs_open(vfs, store->root, path, PKS_VFS_OPEN_READ, &file);
  if (failure) { return pks__fail_system(error, failure, "cannot open", path); }
  failure = pks__vfs_info_of(vfs, file, &info);
  pks_status status = PKS_OK;
  if (!failure && info.size > PKS__GENERATION_FILE_MAX) {
    status = pks__fail(error, PKS_CORRUPT, "is too long for a generation", path, 0);
  }
  if (!failure && !status) {
    *out = pks__allocate((size_t)info.size + 1);
    if (*out) {
      failure = pks__vfs_read_at(vfs, file, 0, *out, (size_t)info.size, &got);
    } else {
      status = pks__fail_memory(error);
    }
  }
  pks__vfs_close(vfs, file);
  *length = got;
  if (failure) { status = pks__fail_system(error, failure, "cannot read", path); }
  if (!status && got != info.size) { status = pks__fail(error, PKS_CORRUPT, "is truncated", path, got); }
  if (status) {
    pks__free(*out);
    *out = NULL;
  }
  return status;
}

pks_status pks__store_load_generation(
  pks_store *store, uint64_t number, pks__generation *out, pks__generation_file *file, pks_error *error
) {
  char path[PKS__INDEX_NAME];
  uint8_t *bytes;
  size_t length;
  pks__generation_path(number, path);
  pks_status status = read_bytes(store, path, &bytes, &length, error);
  if (status) { return status; }
  *file = (pks__generation_file){.length = length, .sum = pks__checksum(bytes, length)};
  status = pks__generation_decode(bytes, length, path, out, error);
  if (!status && out->number != number) {
    pks__generation_free(out);
    status = pks__fail(error, PKS_CORRUPT, "belongs to another generation", path, 16);
  }
  pks__free(bytes);
  return status;
}

pks_status pks__store_read_generation(
  pks_store *store, uint64_t number, const pks__control_slot *slot, pks__generation *out, pks_error *error
) {
  pks__generation_file file;
  pks_status status = pks__store_load_generation(store, number, out, &file, error);
  if (status || !slot || (slot->file_length == file.length && slot->file_sum == file.sum)) { return status; }
  char path[PKS__INDEX_NAME];
  pks__generation_path(number, path);
  pks__generation_free(out);
  return pks__fail(error, PKS_CORRUPT, "is not the generation that the control file names", path, 0);
}
