/// What every file of the core may rely on: assertions, and arithmetic that cannot overflow unseen.
///
/// `PKS_ASSERT` is for our own mistakes and stays on in release builds: a broken invariant must stop the
/// process before it reaches the disk. Bad input is never asserted on; it is an error (`status.h`).
#ifndef PKS_BASE_H
#define PKS_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PKS_ASSERT(condition)                                                                                          \
  do {                                                                                                                 \
    if (__builtin_expect(!(condition), 0)) { __builtin_trap(); }                                                       \
  } while (0)

#define PKS_COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))
#define PKS_NODISCARD __attribute__((warn_unused_result))

static inline uint64_t pks__min64(uint64_t a, uint64_t b) { return a < b ? a : b; }
static inline uint64_t pks__max64(uint64_t a, uint64_t b) { return a > b ? a : b; }
static inline size_t pks__min_size(size_t a, size_t b) { return a < b ? a : b; }

/// True when the sum does not fit; `*sum` is then unspecified.
static inline bool pks__add_overflows(uint64_t a, uint64_t b, uint64_t *sum) {
  return __builtin_add_overflow(a, b, sum);
}

static inline bool pks__mul_overflows(uint64_t a, uint64_t b, uint64_t *product) {
  return __builtin_mul_overflow(a, b, product);
}

/// Rounds `value` up to a multiple of `alignment`, a power of two. The caller ensures that it does not overflow.
static inline uint64_t pks__align_up(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) & ~(alignment - 1);
}

/// Whether `[offset, offset + length)` is inside `[0, size)`.
static inline bool pks__range_fits(uint64_t offset, uint64_t length, uint64_t size) {
  return length <= size && offset <= size - length;
}

#endif
