#include "kills.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "CPackHash.h"
#include "folder.h"
#include "killer.h"
#include "leftovers.h"
#include "step.h"

enum { STEP_MAX = 6, CALL_MAX = 1 << 16, WRITE_PARTS = 3 };

/// The preceding commits, and the commit to kill.
typedef struct scenario {
  const char *name;
  bool creates;  ///< the process creates the store
  uint32_t before_count, step_count;
  step before[STEP_MAX], steps[STEP_MAX];
} scenario;

#define ADD(pack_, version_)                                                                                           \
  { .kind = CHANGE_ADD, .pack = pack_, .version = version_ }
#define REMOVE(pack_)                                                                                                  \
  { .kind = CHANGE_REMOVE, .pack = pack_ }
#define PRIORITY(pack_, priority_)                                                                                     \
  { .kind = CHANGE_PRIORITY, .pack = pack_, .priority = priority_ }
#define DURABLE(keep_, count_, ...)                                                                                    \
  {                                                                                                                    \
    .durability = PKS_DURABLE, .keep = keep_, .change_count = count_, .changes = { __VA_ARGS__ }                       \
  }
#define ATOMIC(keep_, count_, ...)                                                                                     \
  {                                                                                                                    \
    .durability = PKS_ATOMIC, .keep = keep_, .change_count = count_, .changes = { __VA_ARGS__ }                        \
  }

static const scenario scenarios[] = {
  {.name = "create", .creates = true},
  {.name = "create-and-add", .creates = true, .step_count = 1, .steps = {DURABLE(2, 1, ADD(PACK_A, 1))}},
  {.name = "first-add", .step_count = 1, .steps = {DURABLE(2, 1, ADD(PACK_A, 1))}},
  {.name = "next-version",
   .before_count = 4,
   .before =
     {DURABLE(1, 1, ADD(PACK_A, 1)), DURABLE(1, 1, ADD(PACK_C, 1)), DURABLE(1, 1, ADD(PACK_A, 2)),
      DURABLE(1, 1, ADD(PACK_A, 3))},
   .step_count = 1,
   .steps = {DURABLE(1, 1, ADD(PACK_A, 4))}},
  {.name = "several-packs",
   .before_count = 2,
   .before = {DURABLE(2, 2, ADD(PACK_LEFT, 1), ADD(PACK_RIGHT, 1)), DURABLE(2, 1, ADD(PACK_RAW, 4))},
   .step_count = 1,
   .steps = {DURABLE(1, 4, ADD(PACK_LEFT, 2), ADD(PACK_RIGHT, 2), ADD(PACK_RAW, 5), PRIORITY(PACK_RIGHT, 3))}},
  {.name = "remove",
   .before_count = 3,
   .before = {DURABLE(2, 1, ADD(PACK_A, 1)), DURABLE(2, 1, ADD(PACK_C, 1)), DURABLE(2, 1, ADD(PACK_A, 2))},
   .step_count = 2,
   .steps = {DURABLE(2, 1, REMOVE(PACK_A)), DURABLE(2, 1, PRIORITY(PACK_C, -1))}},
  {.name = "atomic-and-durable",
   .before_count = 2,
   .before = {DURABLE(1, 1, ADD(PACK_A, 1)), ATOMIC(1, 1, ADD(PACK_A, 2))},
   .step_count = 4,
   .steps =
     {ATOMIC(1, 1, ADD(PACK_A, 3)), DURABLE(1, 1, ADD(PACK_C, 1)), ATOMIC(1, 1, REMOVE(PACK_C)),
      DURABLE(1, 1, ADD(PACK_A, 4))}},
};

/// The commit after the kill. It drops nothing, so it collects only files that it finds unneeded.
static const step recovery = DURABLE(3, 1, ADD(PACK_B, 1));

static const scenario *find_scenario(const char *name) {
  for (size_t i = 0; i < PKS_COUNT_OF(scenarios); i++) {
    if (strcmp(scenarios[i].name, name) == 0) { return &scenarios[i]; }
  }
  return NULL;
}

/// All states of a store, beginning with the empty one.
typedef struct history {
  uint32_t count;
  store_state states[2 * STEP_MAX + 2];
} history;

/// The commit to kill, its initial store, and the permitted results.
typedef struct target {
  const char *name, *base;
  bool create;
  const step *steps;
  uint32_t step_count;
  uint32_t begin;  ///< the store's state, as an index of the history
  history history;
} target;

/// Appends the states after each step.
static void extend(history *history, const step *steps, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    store_state *next = &history->states[history->count];
    *next = next[-1];
    step_apply(&steps[i], next);
    history->count++;
  }
}

static void set_history(target *target, const scenario *scenario) {
  target->history = (history){.count = 1};
  extend(&target->history, scenario->before, scenario->before_count);
  target->begin = target->history.count - 1;
  extend(&target->history, scenario->steps, scenario->step_count);
}

// MARK: - Shared memory

typedef struct shared {
  _Atomic(uint32_t) done;  ///< commits that the process saw succeed
  uint64_t calls;          ///< calls made by a process that completed
  failure failure;
  uint8_t kinds[CALL_MAX];
} shared;

typedef struct campaign {
  const kills_options *options;
  kills_figures *figures;
  failure *failure;
  shared *shared;
  killer quiet;  ///< kills no process: the seam of this process
  checker checker;
  char base[4096], again[4096], store[4096], sources[4096];
} campaign;

// MARK: - Before and during

static pks_status open_store(pks_store **out, const char *path, bool create, const pks_vfs *vfs, pks_error *error) {
  pks_options options = {
    .sha256 = pkh_sha256, .create = create, .chunk_average = create ? 1024 : 0, .thread_count = 1, .vfs = vfs};
  return pks_store_open(out, path, &options, error);
}

static bool write_sources(const step *steps, uint32_t count, const char *sources, failure *failure) {
  for (uint32_t i = 0; i < count; i++) {
    for (uint32_t at = 0; at < steps[i].change_count; at++) {
      const change *change = &steps[i].changes[at];
      content_held held = {0};
      char folder[4096];
      source_folder(sources, change->pack, change->version, folder);
      bool good = change->kind != CHANGE_ADD || content_write(folder, change->pack, change->version, &held);
      if (!good) { return fail(failure, "cannot write %s: %s", folder, strerror(errno)); }
    }
  }
  return true;
}

static bool run_steps(
  pks_store *store, const step *steps, uint32_t count, const char *sources, _Atomic(uint32_t) *done, failure *failure
) {
  for (uint32_t i = 0; i < count; i++) {
    if (!step_run(&steps[i], store, sources, true, failure)) { return false; }
    if (done) { atomic_store(done, i + 1); }
  }
  return true;
}

static bool prepare(
  const scenario *scenario, const char *store_path, const char *sources, const pks_vfs *vfs, failure *failure
) {
  folder_remove(sources);
  (void)mkdir(sources, 0777);
  bool good = write_sources(scenario->before, scenario->before_count, sources, failure)
    && write_sources(scenario->steps, scenario->step_count, sources, failure)
    && write_sources(&recovery, 1, sources, failure);
  if (!good || scenario->creates) { return good && (mkdir(store_path, 0777) == 0 || errno == EEXIST); }
  pks_error error = {0};
  pks_store *store;
  pks_status status = open_store(&store, store_path, true, vfs, &error);
  if (!succeeded(failure, "create", status, &error)) { return false; }
  good = run_steps(store, scenario->before, scenario->before_count, sources, NULL, failure);
  pks_store_close(store);
  return good;
}

static bool act(
  const char *store_path, const char *sources, bool create, const step *steps, uint32_t count, const pks_vfs *vfs,
  _Atomic(uint32_t) *done, failure *failure
) {
  pks_error error = {0};
  pks_store *store;
  pks_status status = open_store(&store, store_path, create, vfs, &error);
  if (!succeeded(failure, "open", status, &error)) { return false; }
  bool good = run_steps(store, steps, count, sources, done, failure);
  pks_store_close(store);
  return good;
}

// MARK: - Afterwards

/// Finds the state that the snapshot shows, from the last completed commit to the commit in progress.
static bool find_state(
  checker *checker, const pks_snapshot *snapshot, const store_state *states, uint32_t first, uint32_t last,
  uint32_t *found
) {
  failure *kept = checker->failure;
  for (*found = first; *found <= last; ++*found) {
    failure unlike = {0};
    checker->failure = &unlike;
    bool is_this = check_packs(checker, snapshot, &states[*found]);
    checker->failure = kept;
    if (is_this) { return true; }
  }
  return fail(kept, "neither old nor new");
}

/// Checks the store after a kill, commits once more, and checks it again.
static bool inspect(
  checker *checker, const char *store_path, const char *sources, bool create, const pks_vfs *vfs,
  const store_state *states, uint32_t first, uint32_t last, uint32_t *found
) {
  pks_error error = {0};
  pks_store *store = NULL;
  pks_snapshot *snapshot = NULL;
  file_names before = {0}, now = {0};
  failure *failure = checker->failure;
  bool good = succeeded(failure, "open", open_store(&store, store_path, create, vfs, &error), &error);
  good = good && succeeded(failure, "snapshot", pks_snapshot_open(&snapshot, store, &error), &error);
  good = good && find_state(checker, snapshot, states, first, last, found);
  good = good && check_everything(checker, snapshot, &states[*found])
    && check_structure(checker, snapshot, CHECK_DEEP | CHECK_TORN_COPY);
  pks_snapshot_close(snapshot);
  snapshot = NULL;
  store_state after = good ? states[*found] : states[0];
  step next = recovery;
  // If the kill was within this commit, the pack may exist already: then remove it.
  if (after.packs[PACK_B].is_there) { next.changes[0] = (change)REMOVE(PACK_B); }
  step_apply(&next, &after);
  good = good && needed_by_next(&before, store_path, failure) && step_run(&next, store, sources, true, failure)
    && succeeded(failure, "snapshot", pks_snapshot_open(&snapshot, store, &error), &error)
    && check_everything(checker, snapshot, &after) && check_structure(checker, snapshot, 0);
  pks_snapshot_close(snapshot);
  pks_store_close(store);
  good = good && needed_now(&now, store_path, failure) && check_leftovers(store_path, &before, &now, failure);
  file_names_free(&before);
  file_names_free(&now);
  return good;
}

// MARK: - One kill

static void run_child(campaign *campaign, const target *target, uint64_t kill_at, uint32_t part) {
  killer killer = {
    .kill_at = kill_at,
    .part = part,
    .skips_syncs = !campaign->options->syncs,
    .kinds = kill_at == 0 ? campaign->shared->kinds : NULL,
    .kind_capacity = CALL_MAX};
  killer_arm(&killer);
  bool good = act(
    campaign->store, campaign->sources, target->create, target->steps, target->step_count, &killer.vfs,
    &campaign->shared->done, &campaign->shared->failure
  );
  campaign->shared->calls = atomic_load(&killer.calls);
  _exit(good ? 0 : 1);
}

/// Runs the target's commits in a process. `*killed` reports whether it was killed as planned.
static bool run_killed(campaign *campaign, const target *target, uint64_t kill_at, uint32_t part, bool *killed) {
  shared *shared = campaign->shared;
  folder_remove(campaign->store);
  if (!folder_clone(target->base, campaign->store)) { return fail(campaign->failure, "cannot copy the store"); }
  atomic_store(&shared->done, 0);
  shared->failure = (failure){0};
  (void)fflush(NULL);
  pid_t child = fork();
  if (child < 0) { return fail(campaign->failure, "cannot fork: %s", strerror(errno)); }
  if (child == 0) { run_child(campaign, target, kill_at, part); }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
  *killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL && kill_at > 0;
  if (*killed || (WIFEXITED(status) && WEXITSTATUS(status) == 0)) { return true; }
  if (shared->failure.is_set) { return fail(campaign->failure, "%s", shared->failure.text); }
  return fail(
    campaign->failure, "ended with %s %d", WIFSIGNALED(status) ? "signal" : "status",
    WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status)
  );
}

/// Returns the states permitted after a kill: the last commit that the process saw, and the commit in progress.
///
/// This kernel does not interrupt a write of one page, but another might: then the slot's other copy is valid.
static void find_range(const campaign *campaign, const target *target, uint32_t *first, uint32_t *last) {
  uint32_t done = atomic_load(&campaign->shared->done);
  *first = target->begin + done;
  *last = done < target->step_count ? *first + 1 : *first;
}

static bool inspect_killed(campaign *campaign, const target *target, uint32_t *found) {
  uint32_t first, last;
  find_range(campaign, target, &first, &last);
  return inspect(
    &campaign->checker, campaign->store, campaign->sources, target->create, &campaign->quiet.vfs,
    target->history.states, first, last, found
  );
}

static void note_place(campaign *campaign, const target *target, uint64_t call, uint32_t part) {
  failure whole = *campaign->failure;
  (void)snprintf(
    campaign->failure->text, sizeof campaign->failure->text, "%s, killed at call %llu%s: %s", target->name,
    (unsigned long long)call, part ? " within the write" : "", whole.text
  );
}

/// Kills at one call and checks the store. Reports whether the process completed instead.
static bool kill_once(campaign *campaign, const target *target, uint64_t call, uint32_t part, bool *killed) {
  uint32_t found = 0;
  bool good = run_killed(campaign, target, call, part, killed) && inspect_killed(campaign, target, &found);
  if (!good) {
    note_place(campaign, target, call, part);
    return false;
  }
  if (!*killed) { return true; }
  campaign->figures->kills++;
  if (found > target->begin + atomic_load(&campaign->shared->done)) {
    campaign->figures->new_++;
  } else {
    campaign->figures->old++;
  }
  return true;
}

/// Lets the process complete once, which counts its calls, then kills it at each call.
static bool kill_everywhere(campaign *campaign, const target *target, uint64_t *calls, uint64_t *kills) {
  bool killed;
  if (!kill_once(campaign, target, 0, 0, &killed)) { return false; }
  *calls = campaign->shared->calls;
  uint8_t *kinds = malloc(CALL_MAX);
  if (!kinds) { return fail(campaign->failure, "out of memory"); }
  memcpy(kinds, campaign->shared->kinds, CALL_MAX);
  uint64_t before = campaign->figures->kills;
  bool good = true;
  killed = true;
  for (uint64_t call = 1; good && killed; call++) {
    uint32_t parts = call < CALL_MAX && kinds[call] ? WRITE_PARTS : 0;
    for (uint32_t part = 0; good && killed && part <= parts; part++) {
      good = kill_once(campaign, target, call, part, &killed);
    }
  }
  free(kinds);
  *kills = campaign->figures->kills - before;
  return good;
}

// MARK: - Scenarios

/// Kills the commit at one call, then kills the following commit at each of its calls.
static bool kill_recovery(campaign *campaign, const target *first, uint64_t call, uint64_t *kills) {
  bool killed;
  if (!run_killed(campaign, first, call, 0, &killed) || !killed) { return !campaign->failure->is_set; }
  folder_remove(campaign->again);
  if (rename(campaign->store, campaign->again) != 0) { return fail(campaign->failure, "cannot rename"); }
  uint32_t found;
  // The check changes the store, so it uses another copy.
  if (!folder_clone(campaign->again, campaign->store)) { return fail(campaign->failure, "cannot copy the store"); }
  bool good = inspect_killed(campaign, first, &found);
  target second = {
    .name = "the commit after",
    .base = campaign->again,
    .create = first->create,
    .steps = &recovery,
    .step_count = 1,
    .begin = found,
    .history = first->history};
  second.history.count = found + 1;
  extend(&second.history, &recovery, 1);
  uint64_t calls;
  good = good && kill_everywhere(campaign, &second, &calls, kills);
  if (!good) { note_place(campaign, first, call, 0); }
  return good;
}

static bool run_scenario(campaign *campaign, const scenario *scenario, uint64_t *random) {
  struct kills_scenario *figures = &campaign->figures->scenarios[campaign->figures->scenario_count++];
  *figures = (struct kills_scenario){.name = scenario->name};
  folder_remove(campaign->base);
  if (!prepare(scenario, campaign->base, campaign->sources, &campaign->quiet.vfs, campaign->failure)) { return false; }
  target target = {
    .name = scenario->name,
    .base = campaign->base,
    .create = scenario->creates,
    .steps = scenario->steps,
    .step_count = scenario->step_count};
  set_history(&target, scenario);
  if (!kill_everywhere(campaign, &target, &figures->calls, &figures->kills)) { return false; }
  for (uint64_t i = 0; i < campaign->options->recoveries; i++) {
    uint64_t kills = 0;
    if (!kill_recovery(campaign, &target, 1 + random_below(random, figures->calls), &kills)) { return false; }
    figures->recovery_kills += kills;
  }
  return true;
}

static double seconds_now(void) {
  struct timespec now;
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void set_paths(campaign *campaign, const char *folder) {
  (void)snprintf(campaign->base, sizeof campaign->base, "%s/base", folder);
  (void)snprintf(campaign->again, sizeof campaign->again, "%s/again", folder);
  (void)snprintf(campaign->store, sizeof campaign->store, "%s/store", folder);
  (void)snprintf(campaign->sources, sizeof campaign->sources, "%s/sources", folder);
}

static bool open_checker(checker *checker, failure *failure) {
  *checker = (struct checker){.failure = failure, .buffer = malloc(CONTENT_SIZE_MAX)};
  return checker->buffer || fail(failure, "out of memory");
}

bool kills_run(const kills_options *options, kills_figures *figures, failure *failure) {
  campaign campaign = {.options = options, .figures = figures, .failure = failure};
  double begin = seconds_now();
  uint64_t random = options->seed;
  *figures = (kills_figures){0};
  set_paths(&campaign, options->folder);
  campaign.quiet.skips_syncs = !options->syncs;
  killer_arm(&campaign.quiet);
  campaign.shared = mmap(NULL, sizeof *campaign.shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANON, -1, 0);
  if (campaign.shared == MAP_FAILED) { return fail(failure, "out of memory"); }
  bool good = open_checker(&campaign.checker, failure), any = false;
  for (size_t i = 0; good && i < PKS_COUNT_OF(scenarios); i++) {
    if (options->scenario && strcmp(scenarios[i].name, options->scenario) != 0) { continue; }
    any = true;
    good = run_scenario(&campaign, &scenarios[i], &random);
  }
  if (good && !any) { good = fail(failure, "there is no scenario %s", options->scenario); }
  figures->reads = campaign.checker.reads;
  figures->seconds = seconds_now() - begin;
  free(campaign.checker.buffer);
  (void)munmap(campaign.shared, sizeof *campaign.shared);
  return good;
}

// MARK: - Reports

void kills_report(const kills_figures *figures, FILE *out) {
  (void)fprintf(out, "%-20s %8s %8s %18s\n", "killed", "calls", "kills", "kills in recovery");
  for (uint32_t i = 0; i < figures->scenario_count; i++) {
    const struct kills_scenario *one = &figures->scenarios[i];
    (void)fprintf(
      out, "%-20s %8" PRIu64 " %8" PRIu64 " %18" PRIu64 "\n", one->name, one->calls, one->kills, one->recovery_kills
    );
  }
  (void)fprintf(
    out,
    "%" PRIu64 " kills in %.1f s: %" PRIu64 " stores at the old generation, %" PRIu64 " at the new one; %" PRIu64
    " assets compared\n",
    figures->kills, figures->seconds, figures->old, figures->new_, figures->reads
  );
}

void kills_report_json(const kills_figures *figures, uint64_t seed, FILE *out) {
  (void)fprintf(
    out,
    "{\"seed\": %" PRIu64 ", \"seconds\": %.3f, \"kills\": %" PRIu64 ", \"old\": %" PRIu64 ", \"new\": %" PRIu64
    ", \"reads\": %" PRIu64 ", \"scenarios\": [",
    seed, figures->seconds, figures->kills, figures->old, figures->new_, figures->reads
  );
  for (uint32_t i = 0; i < figures->scenario_count; i++) {
    const struct kills_scenario *one = &figures->scenarios[i];
    (void)fprintf(
      out, "%s{\"name\": \"%s\", \"calls\": %" PRIu64 ", \"kills\": %" PRIu64 ", \"recoveryKills\": %" PRIu64 "}",
      i ? ", " : "", one->name, one->calls, one->kills, one->recovery_kills
    );
  }
  (void)fprintf(out, "]}\n");
}

// MARK: - Manual use

bool kills_prepare(const char *name, const char *folder, failure *failure) {
  const scenario *scenario = find_scenario(name);
  campaign campaign = {.failure = failure};
  if (!scenario) { return fail(failure, "there is no scenario %s", name); }
  set_paths(&campaign, folder);
  (void)mkdir(folder, 0777);
  folder_remove(campaign.store);
  return prepare(scenario, campaign.store, campaign.sources, NULL, failure);
}

bool kills_act(const char *name, const char *folder, failure *failure) {
  const scenario *scenario = find_scenario(name);
  campaign campaign = {.failure = failure};
  if (!scenario) { return fail(failure, "there is no scenario %s", name); }
  set_paths(&campaign, folder);
  return act(
    campaign.store, campaign.sources, scenario->creates, scenario->steps, scenario->step_count, NULL, NULL, failure
  );
}

bool kills_inspect(const char *name, const char *folder, failure *failure) {
  const scenario *scenario = find_scenario(name);
  campaign campaign = {.failure = failure};
  target target = {0};
  uint32_t found;
  if (!scenario) { return fail(failure, "there is no scenario %s", name); }
  set_paths(&campaign, folder);
  set_history(&target, scenario);
  bool good = open_checker(&campaign.checker, failure)
    && inspect(&campaign.checker, campaign.store, campaign.sources, scenario->creates, NULL, target.history.states,
               target.begin, target.begin + scenario->step_count, &found);
  free(campaign.checker.buffer);
  return good;
}
