/// Kills at every call of a commit, on the real kernel.
///
/// A process commits and is killed before its first call to the system, then before its second, and so on until it gets
/// through; where the call writes, within the write too. After each kill the store must be whole, at the last commit that
/// the process saw succeed or at the one that it was about; and the next commit must leave nothing behind.
#ifndef TORTURE_KILLS_H
#define TORTURE_KILLS_H

#include <stdio.h>

#include "check.h"

typedef struct kills_options {
  uint64_t seed;
  const char *scenario;  ///< NULL: all
  bool syncs;            ///< lets syncs through, which only makes it slower
  uint64_t recoveries;   ///< moments of each scenario after which the recovery is killed at every call as well
  const char *folder;    ///< where to work: empty
} kills_options;

enum { KILLS_SCENARIO_MAX = 16 };

typedef struct kills_figures {
  uint32_t scenario_count;
  struct kills_scenario {
    const char *name;
    uint64_t calls;           ///< that the commit makes
    uint64_t kills;           ///< of them, in writes as well
    uint64_t recovery_kills;  ///< of the commit that follows a kill
  } scenarios[KILLS_SCENARIO_MAX];
  uint64_t kills, old, new_;  ///< all kills; stores found at the old, and at the new generation
  uint64_t reads;             ///< assets that were read and compared
  double seconds;
} kills_figures;

bool kills_run(const kills_options *options, kills_figures *figures, failure *failure);
void kills_report(const kills_figures *figures, FILE *out);
void kills_report_json(const kills_figures *figures, uint64_t seed, FILE *out);

/// By hand, each in a process of its own, with whatever may kill the second: a folder with the scenario's store and
/// sources; the commits that are to be killed; the checks of what they left.
bool kills_prepare(const char *scenario, const char *folder, failure *failure);
bool kills_act(const char *scenario, const char *folder, failure *failure);
bool kills_inspect(const char *scenario, const char *folder, failure *failure);

#endif
