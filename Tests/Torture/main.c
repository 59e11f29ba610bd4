/// `packstore-torture`: the real kernel, real processes, real kills.
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "folder.h"
#include "kills.h"
#include "storm.h"

static const char usage[] =
  "packstore-torture storm [--seed N] [--seconds S] [--swaps N] [--json]\n"
  "    One writer swaps versions, eight processes read, all of them are killed again and again.\n"
  "packstore-torture kills [--seed N] [--scenario NAME] [--recoveries N] [--sync] [--json]\n"
  "    A commit is killed at each of its calls, and so is the commit after, at N moments of each scenario.\n"
  "packstore-torture prepare|act|inspect SCENARIO FOLDER\n"
  "    The parts of `kills` by hand: `act` is what may be killed, `inspect` looks at what it left.\n";

typedef struct arguments {
  uint64_t seed, swaps, recoveries;
  double seconds;
  const char *scenario;
  bool json, syncs;
} arguments;

static uint64_t any_seed(void) {
  struct timespec now;
  (void)clock_gettime(CLOCK_REALTIME, &now);
  return ((uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec) % 1000000000u;
}

static bool parse_number(const char *text, uint64_t *out) {
  char *end = NULL;
  errno = 0;
  *out = text ? strtoull(text, &end, 10) : 0;
  return text && *text && !*end && errno == 0;
}

static uint64_t *number_named(arguments *arguments, const char *option) {
  if (strcmp(option, "--seed") == 0) { return &arguments->seed; }
  if (strcmp(option, "--swaps") == 0) { return &arguments->swaps; }
  return strcmp(option, "--recoveries") == 0 ? &arguments->recoveries : NULL;
}

static bool parse(int count, char **words, arguments *out) {
  for (int i = 0; i < count; i++) {
    const char *word = words[i], *value = i + 1 < count ? words[i + 1] : NULL;
    uint64_t seconds = 0;
    if (strcmp(word, "--json") == 0) {
      out->json = true;
      continue;
    }
    if (strcmp(word, "--sync") == 0) {
      out->syncs = true;
      continue;
    }
    i++;
    if (strcmp(word, "--scenario") == 0 && value) {
      out->scenario = value;
    } else if (strcmp(word, "--seconds") == 0 && parse_number(value, &seconds)) {
      out->seconds = (double)seconds;
    } else {
      uint64_t *number = number_named(out, word);
      if (!number || !parse_number(value, number)) { return false; }
    }
  }
  return true;
}

static bool run_storm(const arguments *arguments, const char *folder, failure *failure) {
  storm_options options = {
    .seed = arguments->seed, .seconds = arguments->seconds, .swaps = arguments->swaps, .folder = folder};
  storm_figures figures;
  bool good = storm_run(&options, &figures, failure);
  if (arguments->json) {
    storm_report_json(&figures, arguments->seed, stdout);
  } else {
    storm_report(&figures, stdout);
  }
  return good;
}

static bool run_kills(const arguments *arguments, const char *folder, failure *failure) {
  kills_options options = {
    .seed = arguments->seed,
    .scenario = arguments->scenario,
    .syncs = arguments->syncs,
    .recoveries = arguments->recoveries,
    .folder = folder};
  kills_figures figures;
  bool good = kills_run(&options, &figures, failure);
  if (arguments->json) {
    kills_report_json(&figures, arguments->seed, stdout);
  } else {
    kills_report(&figures, stdout);
  }
  return good;
}

static bool run_by_hand(int count, char **words, bool *good, failure *failure) {
  if (count != 4) { return false; }
  if (strcmp(words[1], "prepare") == 0) {
    *good = kills_prepare(words[2], words[3], failure);
  } else if (strcmp(words[1], "act") == 0) {
    *good = kills_act(words[2], words[3], failure);
  } else if (strcmp(words[1], "inspect") == 0) {
    *good = kills_inspect(words[2], words[3], failure);
  } else {
    return false;
  }
  return true;
}

static int report(bool good, const failure *failure) {
  if (!good) { (void)fprintf(stderr, "FAILED: %s\n", failure->text); }
  return good ? 0 : 1;
}

int main(int count, char **words) {
  arguments arguments = {.seed = any_seed(), .seconds = 120, .recoveries = 2};
  static failure failure;
  bool good = false;
  if (run_by_hand(count, words, &good, &failure)) { return report(good, &failure); }
  bool is_storm = count > 1 && strcmp(words[1], "storm") == 0, is_kills = count > 1 && strcmp(words[1], "kills") == 0;
  if (!(is_storm || is_kills) || !parse(count - 2, words + 2, &arguments)) {
    (void)fprintf(stderr, "%s", usage);
    return 2;
  }
  char folder[4096];
  if (!folder_make_temporary(folder)) {
    (void)fprintf(stderr, "cannot make a temporary folder: %s\n", strerror(errno));
    return 1;
  }
  (void)fprintf(stderr, "seed %" PRIu64 "\n", arguments.seed);
  good = is_storm ? run_storm(&arguments, folder, &failure) : run_kills(&arguments, folder, &failure);
  if (good) {
    folder_remove(folder);
  } else {
    (void)fprintf(stderr, "what it left is in %s\n", folder);
  }
  return report(good, &failure);
}
