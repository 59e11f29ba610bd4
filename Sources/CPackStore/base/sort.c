#include "base/sort.h"

#include <string.h>

typedef struct heap {
  uint8_t *items;
  size_t size;
  bool (*comes_before)(const void *context, const void *a, const void *b);
  const void *context;
} heap;

static uint8_t *item_at(const heap *heap, uint64_t index) { return heap->items + (size_t)index * heap->size; }

static bool is_before(const heap *heap, uint64_t a, uint64_t b) {
  return heap->comes_before(heap->context, item_at(heap, a), item_at(heap, b));
}

static void swap(const heap *heap, uint64_t a, uint64_t b) {
  uint8_t moved[PKS__SORT_ITEM_MAX];
  memcpy(moved, item_at(heap, a), heap->size);
  memcpy(item_at(heap, a), item_at(heap, b), heap->size);
  memcpy(item_at(heap, b), moved, heap->size);
}

/// Moves the item at `root` down until no child belongs behind it.
static void sift_down(const heap *heap, uint64_t root, uint64_t count) {
  for (;;) {
    uint64_t child = 2 * root + 1;
    if (child >= count) { return; }
    if (child + 1 < count && is_before(heap, child, child + 1)) { child++; }
    if (!is_before(heap, root, child)) { return; }
    swap(heap, root, child);
    root = child;
  }
}

void pks__sort(
  void *items, uint64_t count, size_t size, bool (*comes_before)(const void *context, const void *a, const void *b),
  const void *context
) {
  PKS_ASSERT(size <= PKS__SORT_ITEM_MAX);
  const heap heap = {.items = items, .size = size, .comes_before = comes_before, .context = context};
  for (uint64_t root = count / 2; root > 0; root--) { sift_down(&heap, root - 1, count); }
  for (uint64_t end = count; end > 1; end--) {
    swap(&heap, 0, end - 1);
    sift_down(&heap, 0, end - 1);
  }
}
