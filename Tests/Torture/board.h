/// Memory shared by all processes of a storm: the writer's next commit, the last commit, and the counts and failures of
/// each process.
#ifndef TORTURE_BOARD_H
#define TORTURE_BOARD_H

#include <stdatomic.h>

#include "failure.h"
#include "state.h"

enum { READER_COUNT = 8, PROCESS_COUNT = READER_COUNT + 1, WRITER = READER_COUNT, PLAN_COUNT = 1 << 14 };

/// The expected contents of generation `generation`, if it is committed. Written before the commit. A writer that takes
/// over plans the same number again only if no process has seen it.
typedef struct plan {
  _Atomic(uint64_t) generation;
  store_state state;
} plan;

/// Sums over all processes that had the same part, one after another.
typedef struct process_figures {
  _Atomic(uint64_t) started, reads, bytes, snapshots, swaps, durable_swaps, unplanned;
  _Atomic(uint64_t) longest_age;    ///< commits during the life of one snapshot
  _Atomic(uint32_t) killed_itself;  ///< the current process is about to kill itself
  failure failure;
} process_figures;

typedef struct board {
  _Atomic(uint32_t) is_over;
  _Atomic(uint64_t) committed;  ///< newest generation whose commit has returned
  process_figures processes[PROCESS_COUNT];
  plan plans[PLAN_COUNT];
} board;

board *board_create(void);  ///< NULL if memory is short
void board_destroy(board *board);

void board_plan(board *board, uint64_t generation, const store_state *state);
/// Returns false if the plan is too old.
bool board_find(board *board, uint64_t generation, store_state *out);
/// Raises a figure to at least `value`; safe from several threads.
void board_raise(_Atomic(uint64_t) *figure, uint64_t value);

#endif
