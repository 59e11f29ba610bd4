#include "board.h"

#include <sys/mman.h>

board *board_create(void) {
  void *memory = mmap(NULL, sizeof(board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANON, -1, 0);
  return memory == MAP_FAILED ? NULL : memory;
}

void board_destroy(board *board) { (void)munmap(board, sizeof *board); }

void board_plan(board *board, uint64_t generation, const store_state *state) {
  plan *plan = &board->plans[generation % PLAN_COUNT];
  atomic_store(&plan->generation, 0);
  plan->state = *state;
  atomic_store(&plan->generation, generation);
}

bool board_find(board *board, uint64_t generation, store_state *out) {
  plan *plan = &board->plans[generation % PLAN_COUNT];
  if (atomic_load(&plan->generation) != generation) { return false; }
  *out = plan->state;
  return atomic_load(&plan->generation) == generation;
}

void board_raise(_Atomic(uint64_t) *figure, uint64_t value) {
  uint64_t known = atomic_load(figure);
  while (known < value && !atomic_compare_exchange_weak(figure, &known, value)) {}
}
