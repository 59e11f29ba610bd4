/// The only allocator of the core (libzstd's too): counted, and able to fail on purpose.
///
/// Every function may return NULL (or ENOMEM) and every caller handles it. Sizes are not remembered: counters track
/// calls that are still open, which is what leak tests compare.
#ifndef PKS_BASE_MEMORY_H
#define PKS_BASE_MEMORY_H

#include "base/base.h"

PKS_NODISCARD void *pks__allocate(size_t byte_count);  ///< uninitialised
PKS_NODISCARD void *pks__allocate_zeroed(size_t count, size_t size);
PKS_NODISCARD void *pks__reallocate(void *block, size_t byte_count);  ///< on failure `block` stays as it was
void pks__free(void *block);                                          ///< NULL is fine
PKS_NODISCARD char *pks__copy_text(const char *text);                 ///< NUL-terminated copy

/// Test hooks; process-wide, not to be changed while other threads allocate.
typedef struct pks__memory_counts {
  uint64_t allocations;  ///< made so far
  uint64_t open;         ///< not yet freed
} pks__memory_counts;
pks__memory_counts pks__memory_counts_now(void);
/// Makes the allocation number `ordinal` from now on (0 = the next) fail; with `sticky` all after it too. UINT64_MAX:
/// never.
void pks__memory_fail_at(uint64_t ordinal, bool sticky);

#endif
