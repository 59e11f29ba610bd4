/// Files of the cache and their checksums: a file with a wrong checksum is never lent to a caller, and is deleted.
///
/// Input: u8 whether to correct checksums (1, 2); le16 requested length; le16 length of the checksums, the checksums;
/// the file.
#include "../fuzzing.h"

static void hex_path(const pks__id *key, const uint8_t store_id[16], const char *suffix, char out[160]) {
  char store[33], name[65];
  pks__hex(store_id, 16, store);
  pks__hex(key->bytes, sizeof key->bytes, name);
  (void)snprintf(out, 160, "/cache/%s/files/%s%s", store, name, suffix);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count) {
  fuzz_input input = {bytes, byte_count};
  uint64_t flags = fuzz_take(&input, 1), size = fuzz_take(&input, 2);
  size_t sums_length, asked = (size_t)fuzz_take(&input, 2);
  uint8_t *sums = fuzz_copy(input.next, pks__min_size(asked, input.left));
  (void)fuzz_take_bytes(&input, asked, &sums_length);
  if (sums_length >= 32 && flags & 1) {
    pks_le64 sum = pks__put64(pks__checksum(input.next, input.left));
    memcpy(sums + 24, &sum, sizeof sum);
  }
  if (sums_length >= 32 && flags & 2) {
    pks_le64 sum = pks__put64(pks__checksum(sums + 24, sums_length - 24));
    memcpy(sums + 16, &sum, sizeof sum);
  }
  pks__id key = {{7}};
  static const uint8_t store_id[16];
  char path[160];
  sim_disk *disk = sim_new(1);
  hex_path(&key, store_id, "", path);
  sim_put_file(disk, path, input.next, input.left);
  hex_path(&key, store_id, ".sums", path);
  sim_put_file(disk, path, sums, sums_length);
  pks__asset_cache *cache;
  pks_error error;
  FUZZ_ASSERT(!pks__asset_cache_open(&cache, sim_vfs(disk), PKS_VFS_NO_FILE, "/cache", store_id, 1 << 20, &error));
  pks_vfs_file file = pks__asset_cache_find(cache, &key, size);
  if (file != PKS_VFS_NO_FILE) {
    FUZZ_ASSERT(size == input.left && sums_length == 24 + 8 * ((size + PKS__CACHE_BLOCK - 1) / PKS__CACHE_BLOCK));
    sim_vfs(disk)->close(sim_vfs(disk)->context, file);
  }
  // One more file evicts nothing, and counts the existing files.
  pks__asset_cache_entry entry;
  pks__id other = {{8}};
  if (pks__asset_cache_begin(cache, &other, 5, 0, &entry)) {
    if (pks__asset_cache_append(&entry, "bytes", 5)) {
      file = pks__asset_cache_finish(&entry);
      if (file != PKS_VFS_NO_FILE) { sim_vfs(disk)->close(sim_vfs(disk)->context, file); }
    } else {
      pks__asset_cache_abandon(&entry);
    }
  }
  pks__asset_cache_close(cache);
  sim_counts counts = sim_counts_now(disk);
  FUZZ_ASSERT(counts.handles + counts.maps + counts.locks == 0);
  sim_free(disk);
  free(sums);
  return 0;
}
