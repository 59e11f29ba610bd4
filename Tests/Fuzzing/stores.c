/// Small stores, and a program that uses all their functions.
#include "fuzzing.h"

static uint64_t random_state;

static void put_noise(sim_disk *disk, const char *path, size_t byte_count) {
  uint8_t bytes[16 * 1024];
  FUZZ_ASSERT(byte_count <= sizeof bytes);
  for (size_t i = 0; i < byte_count; i++) { bytes[i] = (uint8_t)sim_next_random(&random_state); }
  sim_put_file(disk, path, bytes, byte_count);
}

static void put_text(sim_disk *disk, const char *path, size_t byte_count) {
  char bytes[128 * 1024];
  FUZZ_ASSERT(byte_count <= sizeof bytes - 8);
  for (size_t at = 0; at < byte_count; at += 7) {
    (void)snprintf(bytes + at, 8, "word%02u ", (unsigned)(sim_next_random(&random_state) % 50));
  }
  sim_put_file(disk, path, bytes, byte_count);
}

static void add(pks_store *store, const char *pack, const char *folder, int32_t priority, bool sequential, bool map) {
  static const char *const globs[] = {"*.map"};
  // Similar to the texts, so that small texts are encoded with it.
  static const char dictionary[] = "word01 word17 word23 word42 word05 word31 word08 word49 word12 word26";
  pks_add_request request = {
    .pack = pack,
    .folder = folder,
    .set_priority = true,
    .priority = priority,
    .layout = sequential ? PKS_LAYOUT_SEQUENTIAL : PKS_LAYOUT_RANDOM,
    .map_globs = globs,
    .map_glob_count = map ? 1 : 0,
    .dictionary = priority > 0 ? dictionary : NULL,
    .dictionary_byte_count = sizeof dictionary,
  };
  pks_add_result result;
  pks_txn *txn;
  uint64_t generation;
  FUZZ_ASSERT(!pks_txn_begin(&txn, store, NULL, NULL));
  FUZZ_ASSERT(!pks_txn_add_folder(&result, txn, &request, NULL));
  FUZZ_ASSERT(!pks_txn_commit(txn, &generation, NULL));
}

/// A pack of a few assets.
static void fill_plainly(sim_disk *disk, pks_store *store) {
  put_text(disk, "/s/hello.txt", 700);
  put_text(disk, "/s/levels/1/map.txt", 5000);
  put_noise(disk, "/s/levels/1/noise", 3000);
  sim_put_file(disk, "/s/empty", "", 0);
  sim_put_folder(disk, "/s/saves");
  sim_put_link(disk, "/s/start", "levels/1/map.txt");
  add(store, "Example", "/s", 0, false, false);
}

/// Packs that hide each other, a second version, a map asset, and a removed pack.
static void fill_richly(sim_disk *disk, pks_store *store) {
  fill_plainly(disk, store);
  put_text(disk, "/t/hello.txt", 300);
  put_text(disk, "/t/levels", 100);  // a file where the other pack needs a folder
  put_noise(disk, "/t/texture.map", 9000);
  put_text(disk, "/t/start/below", 60);  // a folder where the other pack has a link
  add(store, "Other", "/t", 5, false, true);
  put_text(disk, "/s/levels/1/map.txt", 5100);
  put_text(disk, "/s/levels/2/map.txt", 900);
  (void)sim_remove(disk, "/s/empty");
  add(store, "Example", "/s", -1, true, false);
  put_text(disk, "/u/fleeting", 100);
  add(store, "Gone", "/u", 0, false, false);
  pks_txn *txn;
  uint64_t generation;
  FUZZ_ASSERT(!pks_txn_begin(&txn, store, NULL, NULL));
  FUZZ_ASSERT(!pks_txn_remove(txn, "Gone", true, NULL));
  FUZZ_ASSERT(!pks_txn_commit(txn, &generation, NULL));
}

/// Many assets, and one with a long list of chunks: trees of several pages and levels.
static void fill_with_many(sim_disk *disk, pks_store *store) {
  char path[64];
  for (unsigned i = 0; i < 100; i++) {
    (void)snprintf(path, sizeof path, "/s/folder %u/a rather long name for asset %u", i % 9, i);
    put_text(disk, path, 30 + i);
  }
  put_text(disk, "/s/long", 100 * 1024);
  add(store, "Many", "/s", 0, false, false);
}

sim_disk *fuzz_make_store(unsigned kind) {
  sim_disk *disk = sim_new(kind + 1);
  random_state = kind + 1;
  pks_options options = {
    .sha256 = pkh_sha256, .create = true, .chunk_average = 1024, .thread_count = 1, .vfs = sim_vfs(disk)};
  pks_store *store;
  FUZZ_ASSERT(!pks_store_open(&store, "/store", &options, NULL));
  static void (*const fill[FUZZ_STORE_KINDS])(sim_disk *, pks_store *) = {fill_plainly, fill_richly, fill_with_many};
  fill[kind](disk, store);
  pks_store_close(store);
  return disk;
}

pks_store *fuzz_open_store(sim_disk *disk) {
  pks_options options = {.sha256 = pkh_sha256, .thread_count = 1, .vfs = sim_vfs(disk)};
  pks_store *store;
  FUZZ_ASSERT(!pks_store_open(&store, "/store", &options, NULL));
  return store;
}

uint32_t fuzz_find_pack(const pks_snapshot *snapshot) {
  for (uint32_t i = 0; i < pks_snapshot_pack_count(snapshot); i++) {
    if (strcmp(pks_snapshot_pack(snapshot, i).name, "Example") == 0) { return i; }
  }
  FUZZ_ASSERT(false);
  return 0;
}

void fuzz_map_files(sim_disk *disk) {
  static const char *const globs[] = {"*"};
  pks_store *store = fuzz_open_store(disk);
  pks_txn *txn;
  pks_add_request request = {.pack = "Example", .folder = "/s", .map_globs = globs, .map_glob_count = 1};
  pks_add_result result;
  FUZZ_ASSERT(!pks_txn_begin(&txn, store, NULL, NULL));
  FUZZ_ASSERT(!pks_txn_add_folder(&result, txn, &request, NULL));
  FUZZ_ASSERT(!pks_txn_commit(txn, NULL, NULL));
  pks_store_close(store);
}

// MARK: - Use

enum {
  ENTRIES_MAX = 400,           ///< per walk: hostile stores may claim any number
  READ_MAX = 256 * 1024,       ///< per asset
  CONTENTS_MAX = 1024 * 1024,  ///< the caller decides whether to allocate the size that an asset claims
  DIFFERENCES_MAX = 1000,
};

static void read_asset(const pks_asset *asset) {
  static uint8_t buffer[READ_MAX];
  pks_error error;
  if (asset->kind == PKS_LINK) {
    pks_bytes target;
    if (!pks_asset_link_target(&target, asset, &error)) {
      FUZZ_ASSERT(target.count == asset->size);
      (void)pks__checksum(target.bytes, target.count);
    }
    return;
  }
  if (asset->kind != PKS_FILE) { return; }
  size_t length = (size_t)pks__min64(asset->size, sizeof buffer);
  (void)pks_asset_read(asset, 0, buffer, length, &error);
  if (asset->size > 3) {
    (void)pks_asset_read(asset, asset->size / 3, buffer, pks__min_size(length / 3, 2000), &error);
  }
  if (asset->size > 0) { (void)pks_asset_read(asset, asset->size - 1, buffer, 1, &error); }
  pks_storage storage;
  (void)pks_asset_storage(&storage, asset, &error);
  pks_bytes borrowed;
  if (!pks_asset_borrow(&borrowed, asset, &error)) {
    FUZZ_ASSERT(borrowed.count == asset->size);
    (void)pks__checksum(borrowed.bytes, borrowed.count);
  }
  if (asset->size > CONTENTS_MAX) { return; }
  pks_contents contents;
  if (!pks_asset_contents(&contents, asset, &error)) {
    FUZZ_ASSERT(contents.count == asset->size);
    (void)pks__checksum(contents.bytes, contents.count);
    pks_contents_release(&contents);
  }
}

static void walk(const pks_snapshot *snapshot, const char *folder, size_t length, uint32_t pack, pks_walk kind) {
  pks_cursor *cursor;
  pks_error error;
  if (pks_cursor_open(&cursor, snapshot, folder, length, pack, kind, &error)) { return; }
  pks_entry entry;
  bool more = true;
  for (unsigned i = 0; i < ENTRIES_MAX && !pks_cursor_next(&entry, &more, cursor, &error) && more; i++) {
    char path[PKS__PATH_MAX + 1];
    FUZZ_ASSERT(entry.asset.path_length <= PKS__PATH_MAX);
    memcpy(path, entry.asset.path, entry.asset.path_length);
    if (kind == PKS_CHILDREN && entry.asset.kind == PKS_FOLDER && length == 0) {
      walk(snapshot, path, entry.asset.path_length, pack, PKS_CHILDREN);
    }
    pks_asset found;
    if (!pks_snapshot_find(&found, snapshot, path, entry.asset.path_length, pack, &error) && kind == PKS_DESCENDANTS) {
      read_asset(&found);
    }
  }
  pks_cursor_close(cursor);
}

typedef struct verify_counts {
  uint64_t faults;
  unsigned steps;
} verify_counts;

/// Counts faults. Each fault has a number, and may be reported several times.
static void count_fault(void *context, const pks_fault *fault) {
  verify_counts *seen = context;
  FUZZ_ASSERT(fault->text && fault->status && fault->number > 0);
  if (fault->number > seen->faults) { seen->faults = fault->number; }
}

/// Trees may refer to the same page many times, so a walk can be cancelled.
static bool goes_on(void *context, uint64_t done, uint64_t total) {
  (void)done, (void)total;
  return ++((verify_counts *)context)->steps < 20000;
}

/// Returning false ends the comparison.
static bool visit_difference(void *context, const pks_difference *difference) {
  FUZZ_ASSERT(difference->path_length <= PKS__PATH_MAX);
  return ++*(unsigned *)context < DIFFERENCES_MAX;
}

static void verify(const pks_snapshot *snapshot, bool deep) {
  verify_counts seen = {0};
  pks_verify_totals totals;
  pks_error error;
  pks_status status = pks_snapshot_verify(snapshot, deep, count_fault, goes_on, &seen, &totals, &error);
  if (!status) { FUZZ_ASSERT(totals.fault_count == seen.faults); }
}

static void examine(const pks_snapshot *snapshot) {
  pks_error error;
  uint32_t packs = pks_snapshot_pack_count(snapshot);
  walk(snapshot, "", 0, PKS_ANY_PACK, PKS_CHILDREN);
  walk(snapshot, "", 0, PKS_ANY_PACK, PKS_DESCENDANTS);
  walk(snapshot, "", 0, PKS_ANY_PACK, PKS_CONFLICTS);
  for (uint32_t i = 0; i < packs && i < 4; i++) {
    pks_pack pack = pks_snapshot_pack(snapshot, i);
    for (uint32_t version = 0; version < pack.version_count && version < 4; version++) {
      (void)pks_snapshot_version(snapshot, i, version);
    }
    walk(snapshot, "", 0, i, PKS_DESCENDANTS);
    walk(snapshot, "levels", 6, i, PKS_CHILDREN);
    unsigned differences = 0;
    pks_diff_totals totals;
    uint64_t old = pks_snapshot_version(snapshot, i, pack.version_count - 1).number;
    (void)pks_snapshot_diff(
      snapshot, i, old, snapshot, (i + 1) % packs, pks_snapshot_version(snapshot, (i + 1) % packs, 0).number,
      visit_difference, &differences, &totals, &error
    );
  }
  static const char *const paths[] = {"hello.txt",   "levels", "levels/1/map.txt", "start",
                                      "start/below", "long",   "nothing"};
  for (size_t i = 0; i < PKS_COUNT_OF(paths); i++) {
    pks_asset asset;
    if (!pks_snapshot_find(&asset, snapshot, paths[i], strlen(paths[i]), PKS_ANY_PACK, &error)) { read_asset(&asset); }
  }
  pks_stat stat;
  (void)pks_snapshot_stat(&stat, NULL, snapshot, &error);
  verify(snapshot, false);
  verify(snapshot, true);
}

static void commit(pks_store *store, sim_disk *disk) {
  pks_txn *txn;
  pks_error error;
  pks_add_result result;
  if (pks_txn_begin(&txn, store, NULL, &error)) { return; }
  put_text(disk, "/s/levels/1/map.txt", 5200);
  put_text(disk, "/s/new", 100);
  pks_add_request request = {.pack = "Example", .folder = "/s"};
  (void)pks_txn_add_folder(&result, txn, &request, &error);
  (void)pks_txn_set_priority(txn, "Other", -7, &error);
  (void)pks_txn_rollback(txn, "Gone", 0, false, &result.version, &error);
  (void)pks_txn_pin(txn, "Example", 1, &error);
  uint64_t generation;
  if (pks_txn_commit(txn, &generation, &error)) { return; }
  pks_snapshot *snapshot;
  if (pks_snapshot_open(&snapshot, store, &error)) { return; }
  FUZZ_ASSERT(pks_snapshot_generation(snapshot) == generation);
  walk(snapshot, "", 0, PKS_ANY_PACK, PKS_DESCENDANTS);
  pks_snapshot_close(snapshot);
}

void fuzz_use_store(sim_disk *disk, bool writes) {
  pks_options options = {
    .sha256 = pkh_sha256,
    .thread_count = 1,
    .vfs = sim_vfs(disk),
    .cache = "/cache",
    .cache_bytes = 64 * 1024 * 1024,
  };
  pks_error error;
  pks_store *store;
  random_state = 1;
  if (pks_store_open(&store, "/store", &options, &error)) {
    FUZZ_ASSERT(error.text && error.status);
    return;
  }
  pks_snapshot *snapshot;
  if (!pks_snapshot_open(&snapshot, store, &error)) {
    examine(snapshot);
    pks_snapshot_close(snapshot);
  }
  if (writes) { commit(store, disk); }
  pks_store_close(store);
  sim_counts counts = sim_counts_now(disk);
  FUZZ_ASSERT(counts.handles + counts.maps + counts.locks == 0);
}
