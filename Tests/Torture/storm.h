/// A storm: one process swaps versions of packs as fast as it can, and eight processes read. All are killed again and
/// again. Every byte read is compared with the expected contents of the snapshot's version.
#ifndef TORTURE_STORM_H
#define TORTURE_STORM_H

#include <stdio.h>

#include "board.h"

typedef struct storm_options {
  uint64_t seed;
  double seconds;      ///< duration, unless `swaps` is reached first
  uint64_t swaps;      ///< 0: no limit except the time
  const char *folder;  ///< empty working folder
} storm_options;

typedef struct storm_figures {
  double seconds;
  uint64_t swaps, durable_swaps, generations, snapshots, reads, bytes;
  uint64_t wrong, missing_files, signals;
  uint64_t reader_kills, writer_kills;  ///< by another process, or before a randomly chosen call
  uint64_t longest_age;                 ///< commits during the life of one snapshot
  uint64_t unplanned;                   ///< snapshots too old to compare
  uint64_t leftovers;
} storm_figures;

/// Runs a storm. Sets the figures even after a failure. A failure names the process that found it.
bool storm_run(const storm_options *options, storm_figures *figures, failure *failure);
void storm_report(const storm_figures *figures, FILE *out);
void storm_report_json(const storm_figures *figures, uint64_t seed, FILE *out);

/// The parameters of a process of the storm.
typedef struct part {
  board *board;
  process_figures *figures;
  const char *store, *cache, *sources;
  uint32_t number;
  uint64_t seed;     ///< seed of all random numbers in this process
  uint64_t kill_at;  ///< the call before which it kills itself; 0: never
  int work;          ///< see `part_note_work`
} part;

/// Reports an opened snapshot or a swap: writes a byte to the pipe that the storm waits for. If the pipe is full, the
/// byte is lost. Safe in a signal handler.
void part_note_work(int work);

/// Both return whether the part ended without a failure when the storm was over.
bool reader_run(const part *part);
bool writer_run(const part *part);

/// Parameters of the storm's store.
enum { STORM_CHUNK_AVERAGE = 1024, STORM_CACHE_BYTES = 4 << 20 };

#endif
