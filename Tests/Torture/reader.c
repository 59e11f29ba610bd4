/// A reading process: opens the newest snapshot, compares it with the plan, and reads assets in the ways selected by
/// its number. Some processes have several threads; some keep snapshots open during many generations.
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "check.h"
#include "CPackHash.h"
#include "killer.h"
#include "store/locks.h"
#include "storm.h"

enum { HELD_MAX = 5, READS_PER_SNAPSHOT = 24, ROUNDS_PER_STORE = 300 };

/// The habits of a reader.
typedef struct habit {
  uint32_t threads;
  bool has_cache, holds, lists;
  reading readings[3];
} habit;

static const habit habits[READER_COUNT] = {
  {.threads = 1, .readings = {READING_WHOLE, READING_WHOLE, READING_WHOLE}},
  {.threads = 1, .readings = {READING_WHOLE, READING_RANGE, READING_BORROW}},
  {.threads = 3, .readings = {READING_WHOLE, READING_RANGE, READING_BORROW}},
  {.threads = 1, .holds = true, .readings = {READING_WHOLE, READING_RANGE, READING_BORROW}},
  {.threads = 1, .has_cache = true, .readings = {READING_CONTENTS, READING_CONTENTS, READING_WHOLE}},
  {.threads = 2, .has_cache = true, .holds = true, .readings = {READING_FILE, READING_CONTENTS, READING_RANGE}},
  {.threads = 2, .has_cache = true, .readings = {READING_BORROW, READING_FILE, READING_CONTENTS}},
  {.threads = 1, .lists = true, .holds = true, .readings = {READING_WHOLE, READING_BORROW, READING_RANGE}},
};

typedef struct held_snapshot {
  pks_snapshot *snapshot;
  store_state state;
  uint64_t generation;
} held_snapshot;

typedef struct reader {
  const part *part;
  const habit *habit;
  pks_store *store;  ///< shared by the process's threads
  checker checker;
  failure failure;  ///< of this thread
  held_snapshot held[HELD_MAX];
  bool was_good;
} reader;

static bool is_over(const reader *reader) { return atomic_load(&reader->part->board->is_over); }

// MARK: - Snapshots

/// Replaces a snapshot by one of the newest generation. It must not be older than the last commit that returned before.
static bool open_newest(reader *reader, held_snapshot *held) {
  board *board = reader->part->board;
  pks_error error = {0};
  uint64_t committed = atomic_load(&board->committed);
  pks_snapshot_close(held->snapshot);
  held->snapshot = NULL;
  pks_status status = pks_snapshot_open(&held->snapshot, reader->store, &error);
  if (!succeeded(&reader->failure, "snapshot", status, &error)) { return false; }
  held->generation = pks_snapshot_generation(held->snapshot);
  atomic_fetch_add(&reader->part->figures->snapshots, 1);
  part_note_work(reader->part->work);
  if (held->generation < committed) { return fail(&reader->failure, "an old generation was opened"); }
  if (board_find(board, held->generation, &held->state)) {
    return check_packs(&reader->checker, held->snapshot, &held->state);
  }
  atomic_fetch_add(&reader->part->figures->unplanned, 1);
  pks_snapshot_close(held->snapshot);
  held->snapshot = NULL;
  return true;
}

static bool read_some(reader *reader, const held_snapshot *held) {
  uint64_t *random = &reader->checker.random;
  for (uint32_t i = 0; held->snapshot && i < READS_PER_SNAPSHOT; i++) {
    uint32_t pack = (uint32_t)random_below(random, PACK_COUNT);
    uint32_t asset = (uint32_t)random_below(random, content_count(pack));
    reading reading = reader->habit->readings[random_below(random, 3)];
    if (!check_asset(&reader->checker, held->snapshot, &held->state, pack, asset, reading)) { return false; }
  }
  return true;
}

/// Adds to a failure whether the snapshot still had its hold.
static void note_hold(reader *reader, const held_snapshot *held) {
  char path[4096];
  bool is_held = false;
  failure whole = reader->failure;
  (void)snprintf(path, sizeof path, "%s/" PKS__READERS_FILE, reader->part->store);
  int file = open(path, O_RDONLY | O_CLOEXEC);
  int error = file < 0 ? -1 : pks_vfs_posix()->lock_held(NULL, file, held->generation, 1, &is_held);
  (void)close(file);
  (void)snprintf(
    reader->failure.text, sizeof reader->failure.text, "generation %llu, its byte %s, at %llu: %s",
    (unsigned long long)held->generation,
    error       ? "unknown"
      : is_held ? "held"
                : "free",
    (unsigned long long)atomic_load(&reader->part->board->committed), whole.text
  );
}

static bool look_closely(reader *reader, const held_snapshot *held);

static bool look_at(reader *reader, const held_snapshot *held) {
  bool good = !held->snapshot || look_closely(reader, held);
  if (!good) { note_hold(reader, held); }
  return good;
}

static bool look_closely(reader *reader, const held_snapshot *held) {
  uint64_t committed = atomic_load(&reader->part->board->committed);
  // The opened generation may be newer than the last reported commit.
  if (committed > held->generation) { board_raise(&reader->part->figures->longest_age, committed - held->generation); }
  bool walks = reader->habit->lists && random_below(&reader->checker.random, 4) == 0;
  if (walks && !check_listing(&reader->checker, held->snapshot, &held->state)) { return false; }
  bool verifies = reader->habit->lists && random_below(&reader->checker.random, 8) == 0;
  if (verifies && !check_structure(&reader->checker, held->snapshot, CHECK_TORN_COPY)) { return false; }
  return read_some(reader, held);
}

/// May replace one snapshot by a new one, then reads assets of any snapshot, however old it is.
static bool round_of(reader *reader) {
  uint64_t *random = &reader->checker.random;
  uint32_t count = reader->habit->holds ? HELD_MAX : 1;
  bool renews = count == 1 || random_below(random, 8) == 0 || !reader->held[0].snapshot;
  if (renews && !open_newest(reader, &reader->held[random_below(random, count)])) { return false; }
  return look_at(reader, &reader->held[random_below(random, count)]);
}

static void count_reads(reader *reader) {
  atomic_fetch_add(&reader->part->figures->reads, reader->checker.reads);
  atomic_fetch_add(&reader->part->figures->bytes, reader->checker.bytes);
  reader->checker.reads = reader->checker.bytes = 0;
}

static void *run_thread(void *context) {
  reader *reader = context;
  reader->checker.failure = &reader->failure;
  reader->checker.buffer = malloc(CONTENT_SIZE_MAX);
  bool good = reader->checker.buffer || fail(&reader->failure, "out of memory");
  for (uint32_t i = 0; good && i < ROUNDS_PER_STORE && !is_over(reader); i++) {
    good = round_of(reader);
    count_reads(reader);
  }
  for (uint32_t i = 0; i < HELD_MAX; i++) { pks_snapshot_close(reader->held[i].snapshot); }
  free(reader->checker.buffer);
  reader->was_good = good;
  return NULL;
}

// MARK: - Stores

static bool run_threads(const part *part, const habit *habit, pks_store *store, uint64_t *random) {
  enum { THREAD_MAX = 4 };
  static reader readers[THREAD_MAX];
  pthread_t threads[THREAD_MAX];
  bool good = true;
  for (uint32_t i = 0; i < habit->threads; i++) {
    readers[i] = (reader){.part = part, .habit = habit, .store = store};
    readers[i].checker.random = next_random(random);
    if (i > 0 && pthread_create(&threads[i], NULL, run_thread, &readers[i]) != 0) { abort(); }
  }
  (void)run_thread(&readers[0]);
  for (uint32_t i = 0; i < habit->threads; i++) {
    if (i > 0) { (void)pthread_join(threads[i], NULL); }
    good = good && readers[i].was_good;
    if (readers[i].failure.is_set && !part->figures->failure.is_set) { part->figures->failure = readers[i].failure; }
  }
  return good;
}

bool reader_run(const part *part) {
  killer killer = {.kill_at = part->kill_at, .was_killed = &part->figures->killed_itself};
  killer_arm(&killer);
  const habit *habit = &habits[part->number];
  uint64_t random = part->seed;
  bool good = true;
  while (good && !atomic_load(&part->board->is_over)) {
    // A store with a cache needs SHA-256, and is opened for writing.
    pks_options options = {
      .sha256 = habit->has_cache ? pkh_sha256 : NULL,
      .thread_count = habit->threads,
      .cache = habit->has_cache ? part->cache : NULL,
      .cache_bytes = STORM_CACHE_BYTES,
      .vfs = &killer.vfs};
    pks_error error = {0};
    pks_store *store;
    pks_status status = pks_store_open(&store, part->store, &options, &error);
    good = succeeded(&part->figures->failure, "open", status, &error);
    if (!good) { break; }
    good = run_threads(part, habit, store, &random);
    pks_store_close(store);
  }
  return good;
}
