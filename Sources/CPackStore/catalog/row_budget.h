/// Limits the rows in the page trees of a version: chunks of its files, and extents of its layout.
///
/// A tree may reference one page any number of times, so a few pages can describe billions of rows, which cost time and memory
/// wherever the tree is walked. Rows are therefore limited by the bytes of distinct pages. A row takes 32 or 36 bytes, so rows of
/// different pages never reach PKS__ROWS_PER_KIB. Only repeated pages use up the allowance: a file with long runs of equal chunks,
/// such as the holes of a sparse file.
#ifndef PKS_CATALOG_ROW_BUDGET_H
#define PKS_CATALOG_ROW_BUDGET_H

#include "base/status.h"

enum {
  PKS__ROWS_PER_KIB = 64,      ///< rows for each KiB of distinct pages
  PKS__ROWS_PER_TICK = 65536,  ///< a walk checks this often whether it is cancelled
};

typedef struct pks__row_budget {
  uint64_t allowance;   ///< rows in addition to those of distinct pages
  uint64_t count;       ///< rows so far
  uint64_t page_bytes;  ///< of distinct pages so far
} pks__row_budget;

/// `max_rows` is the allowance; 0: PKS_ROWS_MAX.
pks__row_budget pks__row_budget_make(uint64_t max_rows);

/// The rows that are allowed with the pages so far, UINT32_MAX at most: rows of a version are numbered with 32 bits.
uint64_t pks__row_budget_limit(const pks__row_budget *budget);

/// Adds rows; the count stops at UINT64_MAX.
void pks__row_budget_add(pks__row_budget *budget, uint64_t rows);

/// TOO_MANY_ROWS, with the pack, its rows so far and the limit, if there are more rows than allowed.
pks_status pks__row_budget_check(const pks__row_budget *budget, const char *pack, pks_error *error);

#endif
