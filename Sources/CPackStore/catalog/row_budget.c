#include "catalog/row_budget.h"

enum { KIB = 1024 };

pks__row_budget pks__row_budget_make(uint64_t max_rows) {
  return (pks__row_budget){.allowance = max_rows > 0 ? max_rows : PKS_ROWS_MAX};
}

static uint64_t add_clamped(uint64_t a, uint64_t b) {
  uint64_t sum;
  return pks__add_overflows(a, b, &sum) ? UINT64_MAX : sum;
}

uint64_t pks__row_budget_limit(const pks__row_budget *budget) {
  return pks__min64(add_clamped(budget->allowance, budget->page_bytes / (KIB / PKS__ROWS_PER_KIB)), UINT32_MAX);
}

void pks__row_budget_add(pks__row_budget *budget, uint64_t rows) { budget->count = add_clamped(budget->count, rows); }

pks_status pks__row_budget_check(const pks__row_budget *budget, const char *pack, pks_error *error) {
  uint64_t limit = pks__row_budget_limit(budget);
  if (budget->count <= limit) { return PKS_OK; }
  (void)pks__fail_about(
    error, PKS_TOO_MANY_ROWS, PKS_DETAIL_NONE, PKS_SUBJECT_PACK, pack, "has more chunks and extents than allowed"
  );
  if (error) {
    error->needed = budget->count;
    error->limit = limit;
  }
  return PKS_TOO_MANY_ROWS;
}
