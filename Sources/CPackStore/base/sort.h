/// Heap sort: in place, without allocation, and no slower on chosen input. It is not stable.
#ifndef PKS_BASE_SORT_H
#define PKS_BASE_SORT_H

#include "base/base.h"

/// Sorts `count` items of `size` bytes (at most PKS__SORT_ITEM_MAX). `comes_before` returns whether `a` belongs before `b`.
enum { PKS__SORT_ITEM_MAX = 64 };
void pks__sort(
  void *items, uint64_t count, size_t size, bool (*comes_before)(const void *context, const void *a, const void *b),
  const void *context
);

#endif
