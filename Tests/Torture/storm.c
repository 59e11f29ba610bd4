#include "storm.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#if defined(__linux__)
  #include <sys/prctl.h>
#endif

#include "check.h"
#include "CPackHash.h"
#include "folder.h"
#include "leftovers.h"
#include "step.h"

/// Maximum number of opened snapshots and swaps between two kills, by all processes together.
enum { ROUNDS_BETWEEN_KILLS = 100 };

typedef struct child {
  pid_t id;
  bool was_killed;  ///< by the storm
} child;

typedef struct storm {
  const storm_options *options;
  storm_figures *figures;
  failure *failure;
  board *board;
  child children[PROCESS_COUNT];
  uint64_t random;
  double begin;
  int work[2];  ///< a pipe: one byte per snapshot or swap, and one per process that ended
  char store[4096], cache[4096], sources[4096];
} storm;

static double seconds_now(void) {
  struct timespec now;
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static const char *part_name(uint32_t number) { return number == WRITER ? "the writer" : "a reader"; }

// MARK: - Processes

void part_note_work(int work) {
  ssize_t count = write(work, "", 1);
  (void)count;  // The pipe is full: the storm has fallen behind, and needs no more bytes.
}

static bool start(storm *storm, uint32_t number) {
  process_figures *figures = &storm->board->processes[number];
  uint64_t seed = next_random(&storm->random), draw = next_random(&storm->random);
  // Half of the processes choose the call before which they end. A reader makes few calls per asset, a commit some
  // hundred.
  uint64_t kill_at = draw % 2 ? 1 + next_random(&storm->random) % (number == WRITER ? 80000 : 60000) : 0;
  part part = {
    .board = storm->board,
    .figures = figures,
    .store = storm->store,
    .cache = storm->cache,
    .sources = storm->sources,
    .number = number,
    .seed = seed,
    .kill_at = kill_at,
    .work = storm->work[1]};
  atomic_store(&figures->killed_itself, 0);
  atomic_fetch_add(&figures->started, 1);
  (void)fflush(NULL);
  pid_t id = fork();
  if (id < 0) { return fail(storm->failure, "cannot fork: %s", strerror(errno)); }
  if (id == 0) {
    (void)signal(SIGCHLD, SIG_DFL);
#if defined(__linux__)
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
    // Otherwise many readers would leave the writer little processor time.
    if (number != WRITER) { (void)setpriority(PRIO_PROCESS, 0, 10); }
    if (number == WRITER) { folder_remove(storm->sources); }
    bool is_ready =
      number != WRITER || mkdir(storm->sources, 0777) == 0 || fail(&figures->failure, "cannot make a folder");
    _exit(is_ready && (number == WRITER ? writer_run(&part) : reader_run(&part)) ? 0 : 1);
  }
  storm->children[number] = (child){.id = id};
  return true;
}

/// Records the end of a process. Returns false if it should not have ended this way.
static bool note_end(storm *storm, uint32_t number, int status) {
  process_figures *figures = &storm->board->processes[number];
  bool was_killed = storm->children[number].was_killed || atomic_load(&figures->killed_itself);
  storm->children[number] = (child){0};
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL && was_killed) {
    *(number == WRITER ? &storm->figures->writer_kills : &storm->figures->reader_kills) += 1;
    return true;
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) { return true; }
  if (WIFSIGNALED(status)) {
    storm->figures->signals++;
    return fail(storm->failure, "%s %u ended by signal %d", part_name(number), number, WTERMSIG(status));
  }
  storm->figures->wrong++;
  storm->figures->missing_files += figures->failure.is_missing_file;
  return fail(storm->failure, "%s %u: %s", part_name(number), number, figures->failure.text);
}

static bool reap(storm *storm, uint32_t number, bool waits) {
  int status = 0;
  pid_t ended = 0;
  child *child = &storm->children[number];
  if (child->id == 0) { return true; }
  do { ended = waitpid(child->id, &status, waits ? 0 : WNOHANG); } while (ended < 0 && errno == EINTR);
  return ended == 0 || note_end(storm, number, status);
}

static uint64_t swaps_so_far(const storm *storm) { return atomic_load(&storm->board->processes[WRITER].swaps); }

static bool goes_on(const storm *storm) {
  bool has_swaps = storm->options->swaps == 0 || swaps_so_far(storm) < storm->options->swaps;
  return has_swaps && seconds_now() - storm->begin < storm->options->seconds;
}

static int work_of_signals = -1;

/// The end of a process counts as work, so that the storm never waits for work that no process is left to do.
static void note_signal(int number) {
  int saved = errno;
  (void)number;
  part_note_work(work_of_signals);
  errno = saved;
}

static bool watch_work(storm *storm) {
  struct sigaction action = {.sa_handler = note_signal, .sa_flags = SA_RESTART | SA_NOCLDSTOP};
  if (pipe(storm->work) != 0) { return fail(storm->failure, "cannot make a pipe: %s", strerror(errno)); }
  work_of_signals = storm->work[1];
  for (int i = 0; i < 2; i++) { (void)fcntl(storm->work[i], F_SETFL, O_NONBLOCK); }
  return sigaction(SIGCHLD, &action, NULL) == 0 || fail(storm->failure, "cannot watch processes: %s", strerror(errno));
}

static void unwatch_work(storm *storm) {
  (void)signal(SIGCHLD, SIG_DFL);
  for (int i = 0; i < 2; i++) { (void)close(storm->work[i]); }
}

/// Waits for some work between two kills; work done before does not count.
static void let_them_work(storm *storm) {
  char bytes[512];
  while (read(storm->work[0], bytes, sizeof bytes) > 0) {}
  uint64_t wanted = 1 + random_below(&storm->random, ROUNDS_BETWEEN_KILLS);
  while (wanted > 0 && goes_on(storm)) {
    struct pollfd work = {.fd = storm->work[0], .events = POLLIN};
    double left = storm->options->seconds - (seconds_now() - storm->begin);
    (void)poll(&work, 1, left > 0 ? (int)(left < 3600 ? left * 1000 + 1 : 3600000) : 0);
    ssize_t count = read(storm->work[0], bytes, wanted < sizeof bytes ? (size_t)wanted : sizeof bytes);
    if (count > 0) { wanted -= (uint64_t)count; }
  }
}

static void kill_one(storm *storm) {
  uint32_t draw = (uint32_t)random_below(&storm->random, READER_COUNT + 1);
  child *victim = &storm->children[draw];
  if (victim->id == 0) { return; }
  victim->was_killed = true;
  (void)kill(victim->id, SIGKILL);
}

/// Starts missing processes, kills one, and repeats.
static bool rage(storm *storm) {
  bool good = true;
  while (good && goes_on(storm)) {
    for (uint32_t i = 0; good && i < PROCESS_COUNT; i++) {
      good = reap(storm, i, false) && (storm->children[i].id != 0 || start(storm, i));
    }
    let_them_work(storm);
    if (good) { kill_one(storm); }
  }
  atomic_store(&storm->board->is_over, 1);
  for (uint32_t i = 0; i < PROCESS_COUNT; i++) { good = reap(storm, i, true) && good; }
  return good;
}

// MARK: - Before and after

static pks_status open_store(const storm *storm, pks_store **out, bool create, pks_error *error) {
  pks_options options = {
    .sha256 = pkh_sha256,
    .create = create,
    .chunk_average = create ? STORM_CHUNK_AVERAGE : 0,
    .thread_count = 1,
    .cache = storm->cache,
    .cache_bytes = STORM_CACHE_BYTES};
  return pks_store_open(out, storm->store, &options, error);
}

static bool set_up(storm *storm) {
  pks_error error = {0};
  pks_store *store;
  (void)snprintf(storm->store, sizeof storm->store, "%s/store", storm->options->folder);
  (void)snprintf(storm->cache, sizeof storm->cache, "%s/cache", storm->options->folder);
  (void)snprintf(storm->sources, sizeof storm->sources, "%s/sources", storm->options->folder);
  pks_status status = open_store(storm, &store, true, &error);
  if (!succeeded(storm->failure, "create", status, &error)) { return false; }
  pks_store_close(store);
  store_state nothing = {0};
  board_plan(storm->board, 1, &nothing);
  atomic_store(&storm->board->committed, 1);
  return true;
}

/// Reads the state of the store. It may be one commit newer than the last commit its writer saw succeed.
static bool look_at_end(storm *storm, pks_store *store, checker *checker, store_state *state) {
  pks_error error = {0};
  pks_snapshot *snapshot;
  pks_status status = pks_snapshot_open(&snapshot, store, &error);
  if (!succeeded(storm->failure, "snapshot", status, &error)) { return false; }
  storm->figures->generations = pks_snapshot_generation(snapshot);
  bool good = board_find(storm->board, storm->figures->generations, state) || fail(storm->failure, "no plan has this");
  good = good && check_everything(checker, snapshot, state)
    && check_structure(checker, snapshot, CHECK_DEEP | CHECK_TORN_COPY);
  pks_snapshot_close(snapshot);
  return good;
}

static bool commit_once(storm *storm, pks_store *store, store_state *state) {
  step step = {
    .durability = PKS_DURABLE,
    .keep = 3,
    .change_count = 1,
    .changes = {{.kind = CHANGE_ADD, .pack = PACK_A, .version = state->packs[PACK_A].version + 1}}};
  content_held held = {0};
  char folder[4096];
  source_folder(storm->sources, PACK_A, 0, folder);
  folder_remove(folder);
  step_apply(&step, state);
  return (content_write(folder, PACK_A, step.changes[0].version, &held) || fail(storm->failure, "cannot write"))
    && step_run(&step, store, storm->sources, false, storm->failure);
}

/// Checks, after all processes have ended and one more commit, that no unneeded files and locks are left.
static bool clean_up(storm *storm) {
  pks_error error = {0};
  pks_store *store;
  store_state state;
  file_names before = {0}, now = {0};
  checker checker = {.failure = storm->failure, .buffer = malloc(CONTENT_SIZE_MAX), .random = storm->random};
  pks_status status = open_store(storm, &store, false, &error);
  if (!checker.buffer || !succeeded(storm->failure, "open", status, &error)) { return false; }
  bool good = look_at_end(storm, store, &checker, &state) && needed_by_next(&before, storm->store, storm->failure)
    && commit_once(storm, store, &state);
  pks_store_close(store);
  good = good && needed_now(&now, storm->store, storm->failure)
    && (check_leftovers(storm->store, &before, &now, storm->failure) || (storm->figures->leftovers++, false));
  file_names_free(&before);
  file_names_free(&now);
  free(checker.buffer);
  return good;
}

static void add_up(storm *storm) {
  storm_figures *figures = storm->figures;
  for (uint32_t i = 0; i < PROCESS_COUNT; i++) {
    process_figures *one = &storm->board->processes[i];
    figures->swaps += atomic_load(&one->swaps);
    figures->durable_swaps += atomic_load(&one->durable_swaps);
    figures->snapshots += atomic_load(&one->snapshots);
    figures->reads += atomic_load(&one->reads);
    figures->bytes += atomic_load(&one->bytes);
    figures->unplanned += atomic_load(&one->unplanned);
    if (atomic_load(&one->longest_age) > figures->longest_age) {
      figures->longest_age = atomic_load(&one->longest_age);
    }
  }
  figures->seconds = seconds_now() - storm->begin;
}

bool storm_run(const storm_options *options, storm_figures *figures, failure *failure) {
  *figures = (storm_figures){0};
  storm storm = {
    .options = options, .figures = figures, .failure = failure, .random = options->seed, .begin = seconds_now()};
  storm.board = board_create();
  if (!storm.board) { return fail(failure, "out of memory"); }
  bool good = set_up(&storm) && watch_work(&storm);
  if (good) {
    good = rage(&storm);
    unwatch_work(&storm);
  }
  add_up(&storm);
  good = good && clean_up(&storm);
  board_destroy(storm.board);
  return good;
}

// MARK: - Reports

void storm_report(const storm_figures *figures, FILE *out) {
  const struct {
    const char *what;
    uint64_t value;
  } rows[] = {
    {"swaps", figures->swaps},
    {"of them durable", figures->durable_swaps},
    {"snapshots opened", figures->snapshots},
    {"verified reads", figures->reads},
    {"verified bytes", figures->bytes},
    {"readers killed", figures->reader_kills},
    {"writers killed", figures->writer_kills},
    {"swaps that one snapshot outlived", figures->longest_age},
    {"snapshots too old to compare", figures->unplanned},
    {"processes that found something wrong", figures->wrong},
    {"of them, a file that was not there", figures->missing_files},
    {"processes ended by a signal", figures->signals},
    {"files left over", figures->leftovers},
  };
  (void)fprintf(out, "%-40s %14.1f\n", "seconds", figures->seconds);
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    (void)fprintf(out, "%-40s %14" PRIu64 "\n", rows[i].what, rows[i].value);
  }
}

void storm_report_json(const storm_figures *figures, uint64_t seed, FILE *out) {
  (void)fprintf(
    out,
    "{\"seed\": %" PRIu64 ", \"seconds\": %.3f, \"swaps\": %" PRIu64 ", \"durableSwaps\": %" PRIu64
    ", \"generations\": %" PRIu64 ", \"snapshots\": %" PRIu64 ", \"reads\": %" PRIu64 ", \"bytes\": %" PRIu64,
    seed, figures->seconds, figures->swaps, figures->durable_swaps, figures->generations, figures->snapshots,
    figures->reads, figures->bytes
  );
  (void)fprintf(
    out,
    ", \"readerKills\": %" PRIu64 ", \"writerKills\": %" PRIu64 ", \"longestAge\": %" PRIu64 ", \"unplanned\": %" PRIu64
    ", \"wrong\": %" PRIu64 ", \"missingFiles\": %" PRIu64 ", \"signals\": %" PRIu64 ", \"leftovers\": %" PRIu64 "}\n",
    figures->reader_kills, figures->writer_kills, figures->longest_age, figures->unplanned, figures->wrong,
    figures->missing_files, figures->signals, figures->leftovers
  );
}
