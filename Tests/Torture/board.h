/// Memory that all processes of a storm share: what the writer is about to commit, what was committed, and what each
/// process counted and found wrong.
#ifndef TORTURE_BOARD_H
#define TORTURE_BOARD_H

#include <stdatomic.h>

#include "failure.h"
#include "state.h"

enum { READER_COUNT = 8, PROCESS_COUNT = READER_COUNT + 1, WRITER = READER_COUNT, PLAN_COUNT = 1 << 14 };

/// What generation `generation` shows, if it comes to be. Written before the commit. A writer that takes over plans the
/// same number again only if no process has seen it.
typedef struct plan {
  _Atomic(uint64_t) generation;
  store_state state;
} plan;

/// Of all processes that had one part, one after another.
typedef struct process_figures {
  _Atomic(uint64_t) started, reads, bytes, snapshots, swaps, durable_swaps, unplanned;
  _Atomic(uint64_t) longest_age;    ///< commits that happened while one snapshot was held
  _Atomic(uint32_t) killed_itself;  ///< the process that runs now is about to
  failure failure;
} process_figures;

typedef struct board {
  _Atomic(uint32_t) is_over;
  _Atomic(uint64_t) committed;  ///< newest generation that a commit has returned
  process_figures processes[PROCESS_COUNT];
  plan plans[PLAN_COUNT];
} board;

board *board_create(void);  ///< NULL when memory is short
void board_destroy(board *board);

void board_plan(board *board, uint64_t generation, const store_state *state);
/// False when it is too long ago.
bool board_find(board *board, uint64_t generation, store_state *out);
/// Raises a figure that several threads may raise.
void board_raise(_Atomic(uint64_t) *figure, uint64_t value);

#endif
