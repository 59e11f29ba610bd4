/// A custom file system under PackStore: the machine's, with two calls replaced to count the bytes read.
///
///     counting_vfs STORE PATH
///
/// Prints how many bytes of the store's files were read to read one asset.
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "packstore.h"
#include "packstore_vfs.h"

/// Calls get the context of their table; the machine's calls need the machine's context.
typedef struct counter {
  const pks_vfs *machine;
  atomic_uint_fast64_t bytes_read;
} counter;

static counter counted;

static int counting_read_at(
  void *context, pks_vfs_file file, uint64_t offset, void *out, size_t byte_count, size_t *got
) {
  (void)context;
  int failure = counted.machine->read_at(counted.machine->context, file, offset, out, byte_count, got);
  if (!failure) { atomic_fetch_add(&counted.bytes_read, *got); }
  return failure;
}

/// Mapped bytes are read when they are touched; the whole mapping is counted.
static int counting_map(void *context, pks_vfs_file file, size_t byte_count, bool writable, void **out) {
  (void)context;
  int failure = counted.machine->map(counted.machine->context, file, byte_count, writable, out);
  if (!failure) { atomic_fetch_add(&counted.bytes_read, byte_count); }
  return failure;
}

static pks_status read_asset(pks_store *store, const char *path, size_t length, pks_error *error) {
  pks_snapshot *snapshot;
  pks_asset asset;
  pks_contents contents;
  pks_status status = pks_snapshot_open(&snapshot, store, error);
  if (status) { return status; }
  status = pks_snapshot_find(&asset, snapshot, path, length, PKS_ANY_PACK, error);
  if (!status) { status = pks_asset_contents(&contents, &asset, error); }
  if (!status) {
    printf("%zu bytes of asset, ", contents.count);
    pks_contents_release(&contents);
  }
  pks_snapshot_close(snapshot);
  return status;
}

int main(int count, char **arguments) {
  if (count != 3) { return 2; }
  // A copy of the machine's table, in which those calls that are not replaced keep the machine's context.
  pks_vfs vfs = *pks_vfs_posix();
  counted.machine = pks_vfs_posix();
  vfs.read_at = counting_read_at;
  vfs.map = counting_map;

  pks_options options = {.vfs = &vfs, .read_only = true};
  pks_store *store;
  pks_error error;
  size_t length = 0;
  while (arguments[2][length]) { length++; }
  pks_status status = pks_store_open(&store, arguments[1], &options, &error);
  if (!status) {
    status = read_asset(store, arguments[2], length, &error);
    pks_store_close(store);
  }
  if (status) {
    fprintf(stderr, "counting_vfs: %s: %s\n", error.file, error.text);
    return 1;
  }
  printf("%" PRIuFAST64 " bytes of files\n", atomic_load(&counted.bytes_read));
  return 0;
}
