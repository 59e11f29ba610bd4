/// Repair: builds an intact store from the rest of a damaged one.
///
/// In order:
///   1. The writer's lock is taken, for the whole repair. A store without faults in a deep verification is not changed. If only
///      copies of control slots are damaged, they are rewritten, and nothing else is done, unless they may hide a commit that left
///      a trace.
///   2. `repair_plan.c`: determines the packs and versions to restore, from the newest readable generation; if none is readable,
///      from the roots of layouts.
///   3. `segment_scan.h`: finds the intact segments. An index run of its own lists them, and a snapshot of that run, without packs,
///      is the base of all further steps: so nothing damaged is ever referred to again.
///   4. `repair_versions.c`: the versions of each pack are ingested from their catalogs on top of that base, from the oldest to the
///      current one; `chunk_recovery.h` provides data that the base lacks. For a current version without a complete catalog, a
///      catalog is drafted (`catalog_rebuild.h`) from the index and the readable pages.
///   5. `pks__txn_replace`: one durable commit.
///
/// Two stores of the same directory are open. One is written, and its registry of segments and its frame readers see nothing
/// damaged: a segment that is stored again may get the name of the damaged one that it replaces, with the same frames at the same
/// places. The other, `old`, reads the damaged files.
#ifndef PKS_REPAIR_REPAIR_STATE_H
#define PKS_REPAIR_REPAIR_STATE_H

#include "check/vfs_retry.h"
#include "commit/commit.h"
#include "commit/transaction.h"
#include "repair/chunk_recovery.h"
#include "store/generation_list.h"

#define PKS__SITE_FOLDER "versions"  ///< a folder that every site has in addition to its store

typedef struct pks__repair {
  pks__vfs_retry patient;
  pks_options options;  ///< whose seam is the patient one
  const pks_repair_request *request;
  pks_repair_totals totals;
  uint64_t purged_count, purged_last;  ///< faults that are not damage, and the number of the last one
  pks_store *store, *old;
  pks__control control;
  bool has_control;        ///< a slot counts, and the other one is known
  bool is_control_alone;   ///< all that is damaged are copies of control slots
  pks__control_slot slot;  ///< store id and average
  pks__generation plan;    ///< packs and versions as they should be
  pks_snapshot *index;     ///< index of the plan's generation; NULL: it cannot be opened
  bool index_is_whole;     ///< all of its runs are open
  pks__segment_scan survey;
  pks__donor *donors;
  uint32_t donor_count;
  pks__chunk_recovery salvage;
  pks_txn *txn;

  // The version under way.
  const char *pack;
  uint64_t version;
  uint64_t lost_assets;
  char *healed_path;  ///< the last reported path
  size_t healed_length;
  const char *healed_origin;
  bool healed_damaged;
  bool healed_counted;  ///< the asset is among the totals
} pks__repair;

#endif
