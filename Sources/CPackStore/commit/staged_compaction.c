/// Compaction that is staged as other changes are: for stores in which `pks_store_collect` commits nothing by itself. The caller
/// names the files that are to outlast the commit (`pks_txn_keep_segment`).
#include "commit/evacuation.h"
#include "packstore_write.h"

pks_status pks_txn_compact(pks_txn *txn, uint64_t copy_bytes, uint64_t *copied_bytes, pks_error *error) {
  pks__evacuation_limits limits = {.copy_bytes = copy_bytes, .cache_bytes = UINT64_MAX, .only_worthwhile = true};
  pks__evacuation_plan plan;
  uint64_t copied = 0;
  pks_status status = pks__store_check_process(txn->store, error);
  if (status) { return status; }
  if (PKS__SCRATCH_COUNT(&txn->changes, pks__staged_op) > 0) {
    const char *text = "the transaction has staged changes; use a transaction of its own to compact";
    return pks__fail_about(error, PKS_INVALID_ARGUMENT, PKS_DETAIL_NONE, PKS_SUBJECT_STORE, NULL, text);
  }
  status = pks__evacuation_plan_make(&plan, txn->base, &limits, &txn->staging.scratch, error);
  bool has_work = !status && pks__segment_set_count(&plan.victims) > 0;
  if (has_work) { status = pks__evacuate(txn, &plan, NULL, NULL, &copied, error); }
  pks__evacuation_plan_free(&plan);
  if (copied_bytes) { *copied_bytes = status ? 0 : copied; }
  return status;
}
