/// A storm: one process swaps versions of packs as fast as it can, eight read, all of them are killed again and again,
/// and every byte that is read is compared with what the snapshot's version must have.
#ifndef TORTURE_STORM_H
#define TORTURE_STORM_H

#include <stdio.h>

#include "board.h"

typedef struct storm_options {
  uint64_t seed;
  double seconds;      ///< how long, unless `swaps` come first
  uint64_t swaps;      ///< 0: as many as there is time for
  const char *folder;  ///< where to work: empty
} storm_options;

typedef struct storm_figures {
  double seconds;
  uint64_t swaps, durable_swaps, generations, snapshots, reads, bytes;
  uint64_t wrong, missing_files, signals;
  uint64_t reader_kills, writer_kills;  ///< by another process, or before a call of its own choice
  uint64_t longest_age;                 ///< commits that one snapshot outlived
  uint64_t unplanned;                   ///< snapshots too old to be compared
  uint64_t leftovers;
} storm_figures;

/// Fills the figures in as far as it came. The failures name the process that found them.
bool storm_run(const storm_options *options, storm_figures *figures, failure *failure);
void storm_report(const storm_figures *figures, FILE *out);
void storm_report_json(const storm_figures *figures, uint64_t seed, FILE *out);

/// What a process of the storm is given.
typedef struct part {
  board *board;
  process_figures *figures;
  const char *store, *cache, *sources;
  uint32_t number;
  uint64_t seed;     ///< everything random in this process
  uint64_t kill_at;  ///< the call before which it kills itself; 0: never
  int work;          ///< see `part_note_work`
} part;

/// Says that a snapshot was opened or a version swapped: a byte into the pipe that the storm waits at. Of many that it
/// does not read in time some are lost. Safe in a handler of signals.
void part_note_work(int work);

/// Both return whether all was well when the storm was over.
bool reader_run(const part *part);
bool writer_run(const part *part);

/// Where the storm's files lie.
enum { STORM_CHUNK_AVERAGE = 1024, STORM_CACHE_BYTES = 4 << 20 };

#endif
