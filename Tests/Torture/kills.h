/// Kills at every call of a commit, on the real kernel.
///
/// A process commits and is killed before its first system call, then before its second, and so on until it completes.
/// If the call is a write, it is also killed within the write. After each kill the store must be undamaged, at the last
/// commit that the process saw succeed or at the commit in progress. The next commit must leave no unneeded files.
#ifndef TORTURE_KILLS_H
#define TORTURE_KILLS_H

#include <stdio.h>

#include "check.h"

typedef struct kills_options {
  uint64_t seed;
  const char *scenario;  ///< NULL: all scenarios
  bool syncs;            ///< performs syncs, which only takes longer
  uint64_t recoveries;   ///< moments of each scenario after which the recovery too is killed at every call
  const char *folder;    ///< empty working folder
} kills_options;

enum { KILLS_SCENARIO_MAX = 16 };

typedef struct kills_figures {
  uint32_t scenario_count;
  struct kills_scenario {
    const char *name;
    uint64_t calls;           ///< calls of the commit
    uint64_t kills;           ///< kills at these calls, kills within writes included
    uint64_t recovery_kills;  ///< kills of the commit that follows a kill
  } scenarios[KILLS_SCENARIO_MAX];
  uint64_t kills, old, new_;  ///< all kills; stores found at the old, and at the new generation
  uint64_t reads;             ///< assets read and compared
  double seconds;
} kills_figures;

bool kills_run(const kills_options *options, kills_figures *figures, failure *failure);
void kills_report(const kills_figures *figures, FILE *out);
void kills_report_json(const kills_figures *figures, uint64_t seed, FILE *out);

/// The steps of a scenario for manual use, each in its own process: create a folder with the scenario's store and
/// sources; run its commits, which any method may kill; check the result.
bool kills_prepare(const char *scenario, const char *folder, failure *failure);
bool kills_act(const char *scenario, const char *folder, failure *failure);
bool kills_inspect(const char *scenario, const char *folder, failure *failure);

#endif
