// The allocator. Two counters are sufficient: `attempts` numbers each request, for comparison with the failure hook, and `closed`
// counts ended ones: freed blocks and failed requests. Relaxed ordering is enough, because only tests read them, without other
// running threads.

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static uint64_t attempts;
static uint64_t closed;
static uint64_t fail_ordinal = UINT64_MAX;  // in terms of `attempts`
static bool fail_sticky;

static bool attempt_fails(void) {
  uint64_t ordinal = __atomic_fetch_add(&attempts, 1, __ATOMIC_RELAXED);
  uint64_t failing = __atomic_load_n(&fail_ordinal, __ATOMIC_RELAXED);
  if (__builtin_expect(ordinal < failing, 1)) { return false; }
  return ordinal == failing || __atomic_load_n(&fail_sticky, __ATOMIC_RELAXED);
}

static void count_closed(void) { __atomic_fetch_add(&closed, 1, __ATOMIC_RELAXED); }

// Returns the system's result of an attempt; a failed attempt ends at once.
static void *settle(void *block) {
  if (!block) { count_closed(); }
  return block;
}

// Zero bytes are requested as one, so that NULL always means failure.
static size_t at_least_one(size_t byte_count) { return byte_count > 0 ? byte_count : 1; }

void *pks__allocate(size_t byte_count) { return settle(attempt_fails() ? NULL : malloc(at_least_one(byte_count))); }

void *pks__allocate_zeroed(size_t count, size_t size) {
  uint64_t byte_count;  // sanitizers take a product that calloc has to refuse for a mistake
  bool fails = attempt_fails() || pks__mul_overflows(count, size, &byte_count) || byte_count > SIZE_MAX;
  return settle(fails ? NULL : calloc(1, at_least_one((size_t)byte_count)));
}

void *pks__reallocate(void *block, size_t byte_count) {
  void *moved = settle(attempt_fails() ? NULL : realloc(block, at_least_one(byte_count)));
  if (moved && block) { count_closed(); }  // the old block is over, whether or not it moved
  return moved;
}

void pks__free(void *block) {
  if (!block) { return; }
  count_closed();
  free(block);
}

char *pks__copy_text(const char *text) {
  size_t byte_count = strlen(text) + 1;
  char *copy = pks__allocate(byte_count);
  if (copy) { memcpy(copy, text, byte_count); }
  return copy;
}

pks__memory_counts pks__memory_counts_now(void) {
  // `closed` first: read the other way round, a block that comes and goes in between would make `open` negative.
  uint64_t closed_now = __atomic_load_n(&closed, __ATOMIC_ACQUIRE);
  uint64_t attempts_now = __atomic_load_n(&attempts, __ATOMIC_RELAXED);
  return (pks__memory_counts){.allocations = attempts_now, .open = attempts_now - closed_now};
}

void pks__memory_fail_at(uint64_t ordinal, bool sticky) {
  uint64_t failing = UINT64_MAX;
  if (ordinal != UINT64_MAX && __builtin_add_overflow(ordinal, __atomic_load_n(&attempts, __ATOMIC_RELAXED), &failing)) {
    failing = UINT64_MAX;
  }
  __atomic_store_n(&fail_sticky, sticky, __ATOMIC_RELAXED);
  __atomic_store_n(&fail_ordinal, failing, __ATOMIC_RELAXED);
}
