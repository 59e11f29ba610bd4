/// The data of name foldings: generated from Unicode's, and sorted by character.
#ifndef PKS_BASE_NAME_FOLDING_TABLE_H
#define PKS_BASE_NAME_FOLDING_TABLE_H

#include <stddef.h>
#include <stdint.h>

/// A character with a folding other than itself: `length` characters of `pks__folded_points`, from `offset` on.
typedef struct pks__folding {
  uint32_t point;
  uint16_t offset;
  uint8_t length;
} pks__folding;

/// Characters of one canonical combining class, which is not 0.
typedef struct pks__mark_range {
  uint32_t first, last;
  uint8_t order;
} pks__mark_range;

extern const pks__folding pks__foldings[];
extern const size_t pks__folding_count;
extern const uint32_t pks__folded_points[];
extern const pks__mark_range pks__mark_ranges[];
extern const size_t pks__mark_range_count;

#endif
