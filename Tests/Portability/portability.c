/// The results and stored bytes of the core, as text that is equal on every processor. `Tests/Portability/run` compares
/// the text of this machine's processor with emulated ones.
///
///     portability pinned              the pinned cuts and sums, each by every way that this processor has to compute
///                                     them, and the pinned store of `GoldenTests`, on the simulated disk
///     portability add STORE FOLDER    stores the folder as the next version of the pack `P`
///     portability show STORE          checks every byte of the store, and reads each asset in every way
///     portability delta STORE FILE    writes the delta from `P@1` to `P@2`
///     portability apply STORE FILE    applies it
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <zstd.h>

#include "codec/checksum.h"
#include "codec/chunker.h"
#include "CPackHash.h"
#include "CPackStoreTesting.h"
#include "packstore.h"
#include "scalar_checksum.h"

/// Prints the failed line, and ends the process.
#define REQUIRE(condition) require((condition), #condition, __LINE__)
static void require(bool condition, const char *text, int line) {
  if (condition) { return; }
  fprintf(stderr, "portability: line %d: %s\n", line, text);
  exit(1);
}

/// Checks a call of the core, with its error.
#define ATTEMPT(call) attempt((call), &error, #call, __LINE__)
static pks_error error;
static void attempt(pks_status status, const pks_error *said, const char *text, int line) {
  if (!status) { return; }
  fprintf(stderr, "portability: line %d: %s: %s: %s %s\n", line, text, pks_status_name(status), said->text, said->file);
  exit(1);
}

static void *allocate(size_t byte_count) {
  void *memory = malloc(byte_count ? byte_count : 1);
  REQUIRE(memory);
  return memory;
}

/// Bytes of a digest in hexadecimal digits. Static: valid until the next call.
static const char *digits_of(const uint8_t *bytes, size_t count) {
  static char digits[65];
  REQUIRE(count <= 32);
  for (size_t i = 0; i < count; i++) { snprintf(digits + 2 * i, 3, "%02x", bytes[i]); }
  return digits;
}
static const char *digest_of(const void *bytes, size_t byte_count) {
  uint8_t digest[32];
  pkh_sha256(bytes, byte_count, digest);
  return digits_of(digest, sizeof digest);
}

// MARK: - Pinned cuts

/// As `Random.bytes` of the suites: little-endian numbers of SplitMix64.
static uint8_t *random_bytes(uint64_t *state, size_t byte_count) {
  uint8_t *bytes = allocate(byte_count);
  for (size_t i = 0; i < byte_count; i += 8) {
    uint64_t number = sim_next_random(state);
    for (size_t k = 0; k < 8 && i + k < byte_count; k++) { bytes[i + k] = (uint8_t)(number >> (8 * k)); }
  }
  return bytes;
}

/// CRC-32 as in zlib, one byte further.
static uint32_t crc_step(uint32_t crc, uint8_t byte) {
  crc ^= byte;
  for (int bit = 0; bit < 8; bit++) { crc = crc & 1 ? crc >> 1 ^ 0xedb88320u : crc >> 1; }
  return crc;
}

/// The ends of all chunks, as a CRC, by one scan.
static uint32_t cut_all(
  pks__scan *scan, const pks__chunker *chunker, const uint8_t *bytes, size_t byte_count, uint32_t *count
) {
  uint32_t crc = UINT32_MAX;
  *count = 0;
  for (size_t end = 0; end < byte_count; ++*count) {
    size_t length = pks__chunker_cut_by(scan, chunker, bytes + end, byte_count - end);
    REQUIRE(
      scan != pks__scan_for(PKS__SCAN_SCALAR) || length == pks__chunker_cut(chunker, bytes + end, byte_count - end)
    );
    end += length;
    for (int k = 0; k < 4; k++) { crc = crc_step(crc, (uint8_t)(end >> (8 * k))); }
  }
  return ~crc;
}

/// One line for each average of `ChunkerTests.golden`.
static void print_cuts(void) {
  static const uint32_t averages[] = {1024, 8192, 16384, 65536};
  const size_t byte_count = 1 << 20;
  uint64_t state = 0x676f6c64656e;
  uint8_t *bytes = random_bytes(&state, byte_count);
  for (size_t i = 0; i < sizeof averages / sizeof *averages; i++) {
    pks__chunker chunker = pks__chunker_make(averages[i]);
    uint32_t count, others, crc = cut_all(pks__scan_for(PKS__SCAN_SCALAR), &chunker, bytes, byte_count, &count);
    for (int kind = 0; kind < PKS__SCAN_KIND_COUNT; kind++) {
      pks__scan *scan = pks__scan_for(kind);
      REQUIRE(!scan || (cut_all(scan, &chunker, bytes, byte_count, &others) == crc && others == count));
    }
    printf("cuts average %u: %u chunks, crc %08x\n", averages[i], count, crc);
  }
  free(bytes);
}

/// Every scan finds the same places as the scalar one, for each begin and end of a stretch and each threshold, and
/// reads no byte outside it: a stretch begins or ends at unmapped memory.
static void check_scans(void) {
  enum { GUARD = 64 * 1024, INSIDE = 64 * 1024, WINDOW = 31 };
  static const uint32_t thresholds[] = {0, 1, UINT32_MAX, UINT32_MAX - 1, 1u << 19, 1u << 23, 1u << 28, 1u << 31};
  uint8_t *memory = mmap(NULL, INSIDE + 2 * GUARD, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(memory != MAP_FAILED && !mprotect(memory + GUARD, INSIDE, PROT_READ | PROT_WRITE));
  uint64_t state = 77;
  for (int round = 0; round < 3000; round++) {
    size_t length = WINDOW + sim_next_random(&state) % (round % 4 < 2 ? 3000 : 200);
    uint32_t threshold = thresholds[sim_next_random(&state) % (sizeof thresholds / sizeof *thresholds)];
    uint8_t *bytes = memory + GUARD + (round % 2 ? INSIDE - length : 0);
    for (size_t i = 0; i < length; i++) { bytes[i] = (uint8_t)sim_next_random(&state); }
    size_t expected = pks__scan_for(PKS__SCAN_SCALAR)(bytes, WINDOW, length, threshold);
    for (int kind = 1; kind < PKS__SCAN_KIND_COUNT; kind++) {
      pks__scan *scan = pks__scan_for(kind);
      REQUIRE(!scan || scan(bytes, WINDOW, length, threshold) == expected);
    }
  }
  munmap(memory, INSIDE + 2 * GUARD);
}

/// The lines of `ChecksumTests.golden`, by every way, and as xxHash computes them without vectors.
static void print_sums(void) {
  static const size_t lengths[] = {0, 1, 40, 240, 241, 1024, 8191, 65536, 100000};
  uint64_t state = 0x676f6c64656e;
  uint8_t *bytes = random_bytes(&state, 100000);
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
    uint64_t sum = pks__checksum(bytes, lengths[i]);
    for (int kind = PKS__CHECKSUM_PORTABLE; kind <= PKS__CHECKSUM_AVX2; kind++) {
      pks__checksum_function *function = pks__checksum_for(kind);
      REQUIRE(!function || function(bytes, lengths[i]) == sum);
    }
    REQUIRE(scalar_checksum(bytes, lengths[i]) == sum);
    printf("sum of %zu: %llu\n", lengths[i], (unsigned long long)sum);
  }
  for (size_t length = 0; length < 5000; length++) {
    const uint8_t *begin = bytes + length % 61;
    REQUIRE(pks__checksum(begin, length) == scalar_checksum(begin, length));
  }
  free(bytes);
}

// MARK: - The pinned store

static void put_random(sim_disk *disk, const char *path, uint64_t *state, size_t byte_count) {
  uint8_t *bytes = random_bytes(state, byte_count);
  sim_put_file(disk, path, bytes, byte_count);
  free(bytes);
}

/// As `Random.text` of the suites.
static void put_text(sim_disk *disk, const char *path, uint64_t *state, size_t byte_count) {
  char *text = allocate(byte_count + 16);
  for (size_t length = 0; length < byte_count;) {
    length += (size_t)snprintf(text + length, 16, "word%u ", (unsigned)(sim_next_random(state) % 200));
  }
  sim_put_file(disk, path, text, byte_count);
  free(text);
}

/// The folder of `GoldenTests`, with random content in the same order.
static void put_golden_folder(sim_disk *disk, int version) {
  static const uint8_t zeros[30000];
  uint64_t state = 0x601d;
  char path[64];
  if (sim_exists(disk, "/source")) { sim_remove(disk, "/source"); }
  sim_put_folder(disk, "/source");
  sim_put_file(disk, "/source/README", "a golden store\n", 15);
  put_random(disk, "/source/bin/tool", &state, 700);
  sim_set_executable(disk, "/source/bin/tool", true);
  put_random(disk, "/source/data/noise", &state, 70000);
  put_text(disk, "/source/data/text", &state, 50000);
  sim_put_file(disk, "/source/data/zeros", zeros, sizeof zeros);
  sim_put_file(disk, "/source/empty", "", 0);
  sim_put_folder(disk, "/source/empty folder");
  sim_put_link(disk, "/source/link", "data/text");
  for (unsigned i = 0; i < 40; i++) {
    snprintf(path, sizeof path, "/source/small/%u", i);
    put_text(disk, path, &state, 20 + 13 * i);
  }
  if (version == 2) {
    put_text(disk, "/source/data/text", &state, 51000);
    sim_remove(disk, "/source/small/7");
    sim_put_file(disk, "/source/new", "new\n", 4);
  }
}

static void commit_folder(pks_store *store, const char *pack, const char *folder, bool map) {
  static const char *const globs[] = {"*.map"};
  pks_txn *txn;
  pks_add_request request = {.pack = pack, .folder = folder, .set_priority = true, .priority = 1};
  if (map) { request.map_globs = globs, request.map_glob_count = 1; }
  ATTEMPT(pks_txn_begin(&txn, store, NULL, &error));
  ATTEMPT(pks_txn_add_folder(NULL, txn, &request, &error));
  ATTEMPT(pks_txn_commit(txn, NULL, &error));
}

/// The lines of `GoldenStore.swift`: identities of versions, and the bytes of segments as this libzstd makes them.
static void print_golden_store(void) {
  sim_disk *disk = sim_new(0x601d);
  pks_store *store;
  pks_snapshot *snapshot;
  pks_options options = {
    .sha256 = pkh_sha256, .create = true, .chunk_average = 1024, .thread_count = 1, .vfs = sim_vfs(disk)};
  ATTEMPT(pks_store_open(&store, "/store", &options, &error));
  for (int version = 1; version <= 2; version++) {
    put_golden_folder(disk, version);
    commit_folder(store, "golden", "/source", false);
  }
  ATTEMPT(pks_snapshot_open(&snapshot, store, &error));
  for (uint32_t i = 0; i < pks_snapshot_pack(snapshot, 0).version_count; i++) {
    pks_pack_version version = pks_snapshot_version(snapshot, 0, i);
    printf("version %llu %s\n", (unsigned long long)version.number, digits_of(version.catalog, 32));
  }
  pks_snapshot_close(snapshot);
  pks_store_close(store);
  printf("zstd %u\n", ZSTD_versionNumber());
  char *list = sim_list(disk, "/store/segments"), *rest = list;
  for (char *name; (name = strsep(&rest, "\n"));) {
    if (!*name) { continue; }
    char path[128];
    size_t length;
    snprintf(path, sizeof path, "/store/segments/%s", name);
    void *bytes = sim_read_file(disk, path, &length);
    REQUIRE(bytes);
    printf("segment %s %s\n", name, digest_of(bytes, length));
    free(bytes);
  }
  free(list);
  sim_free(disk);
}

// MARK: - Stores on this machine's file system

static pks_store *open_store(const char *path, bool create) {
  pks_store *store;
  // Two threads, so that results cannot depend on how many processors there are, and the crew takes part.
  pks_options options = {.sha256 = pkh_sha256, .create = create, .thread_count = 2};
  ATTEMPT(pks_store_open(&store, path, &options, &error));
  return store;
}

static void add(const char *path, const char *folder) {
  pks_store *store = open_store(path, true);
  commit_folder(store, "P", folder, true);
  pks_store_close(store);
}

/// Reads an asset whole, in odd pieces, as contents and, if it is stored in one piece, as a borrow: all must be equal.
static void show_file(const pks_asset *asset) {
  size_t size = (size_t)asset->size;
  uint8_t *whole = allocate(size), *pieces = allocate(size);
  ATTEMPT(pks_asset_read(asset, 0, whole, size, &error));
  for (size_t offset = 0, step = 1; offset < size; offset += step, step = step * 7 % 65521) {
    size_t count = step < size - offset ? step : size - offset;
    ATTEMPT(pks_asset_read(asset, offset, pieces + offset, count, &error));
  }
  REQUIRE(!memcmp(whole, pieces, size));
  pks_contents contents;
  ATTEMPT(pks_asset_contents(&contents, asset, &error));
  REQUIRE(contents.count == size && (!size || !memcmp(whole, contents.bytes, size)));
  pks_contents_release(&contents);
  if (asset->contiguous) {
    pks_bytes loan;
    ATTEMPT(pks_asset_borrow(&loan, asset, &error));
    REQUIRE(loan.count == size && (!size || !memcmp(whole, loan.bytes, size)));
  }
  printf(
    "%.*s: %llu bytes%s%s, %s\n", (int)asset->path_length, asset->path, (unsigned long long)asset->size,
    asset->executable ? ", executable" : "", asset->mapped ? ", mapped" : "", digest_of(whole, size)
  );
  free(whole);
  free(pieces);
}

static void print_fault(void *context, const pks_fault *fault) {
  (void)context;
  fprintf(stderr, "portability: %s: %s\n", fault->file, fault->text);
}

static void show(const char *path) {
  pks_store *store = open_store(path, false);
  pks_snapshot *snapshot;
  pks_cursor *cursor;
  pks_entry entry;
  bool more = true;
  ATTEMPT(pks_snapshot_open(&snapshot, store, &error));
  pks_pack pack = pks_snapshot_pack(snapshot, 0);
  printf("%s@%llu %s\n", pack.name, (unsigned long long)pack.current.number, digits_of(pack.current.catalog, 32));
  ATTEMPT(pks_cursor_open(&cursor, snapshot, "", 0, PKS_ANY_PACK, PKS_DESCENDANTS, &error));
  for (;;) {
    ATTEMPT(pks_cursor_next(&entry, &more, cursor, &error));
    if (!more) { break; }
    pks_asset found;
    ATTEMPT(pks_snapshot_find(&found, snapshot, entry.asset.path, entry.asset.path_length, PKS_ANY_PACK, &error));
    REQUIRE(found.size == entry.asset.size && found.kind == entry.asset.kind);
    if (found.kind == PKS_FILE) { show_file(&found); }
  }
  pks_cursor_close(cursor);
  pks_verify_totals totals;
  ATTEMPT(pks_snapshot_verify(snapshot, true, print_fault, NULL, NULL, &totals, &error));
  REQUIRE(totals.fault_count == 0);
  printf("verified %llu chunks\n", (unsigned long long)totals.chunks_checked);
  pks_snapshot_close(snapshot);
  pks_store_close(store);
}

// MARK: - Deltas

static int write_to(void *context, uint64_t offset, const void *bytes, size_t byte_count) {
  FILE *file = context;
  return fseek(file, (long)offset, SEEK_SET) || fwrite(bytes, 1, byte_count, file) != byte_count ? 5 : 0;
}

static int read_from(void *context, uint64_t offset, void *out, size_t byte_count, size_t *got) {
  FILE *file = context;
  if (fseek(file, (long)offset, SEEK_SET)) { return 5; }
  *got = fread(out, 1, byte_count, file);
  return ferror(file) ? 5 : 0;
}

static void delta(const char *path, const char *file_path) {
  pks_store *store = open_store(path, false);
  pks_snapshot *snapshot;
  FILE *file = fopen(file_path, "wb");
  REQUIRE(file);
  pks_delta_request request = {.pack = "P", .from = 1, .to = 2, .context = file, .write = write_to};
  pks_delta_info info;
  ATTEMPT(pks_snapshot_open(&snapshot, store, &error));
  ATTEMPT(pks_delta_build(&info, snapshot, &request, &error));
  REQUIRE(!fclose(file));
  pks_snapshot_close(snapshot);
  pks_store_close(store);
}

static void apply(const char *path, const char *file_path) {
  pks_store *store = open_store(path, false);
  pks_txn *txn;
  FILE *file = fopen(file_path, "rb");
  REQUIRE(file);
  pks_apply_request request = {.delta = {.context = file, .read = read_from}};
  ATTEMPT(pks_txn_begin(&txn, store, NULL, &error));
  ATTEMPT(pks_txn_apply_delta(NULL, txn, &request, &error));
  ATTEMPT(pks_txn_commit(txn, NULL, &error));
  fclose(file);
  pks_store_close(store);
}

int main(int count, char **arguments) {
  const char *command = count > 1 ? arguments[1] : "";
  if (count == 2 && !strcmp(command, "pinned")) {
    print_cuts();
    check_scans();
    print_sums();
    print_golden_store();
  } else if (count == 3 && !strcmp(command, "show")) {
    show(arguments[2]);
  } else if (count == 4 && !strcmp(command, "add")) {
    add(arguments[2], arguments[3]);
  } else if (count == 4 && !strcmp(command, "delta")) {
    delta(arguments[2], arguments[3]);
  } else if (count == 4 && !strcmp(command, "apply")) {
    apply(arguments[2], arguments[3]);
  } else {
    fprintf(stderr, "usage: portability pinned | show STORE | add|delta|apply STORE PATH\n");
    return 2;
  }
  return 0;
}
