/// Repair: a whole store out of what is left of a damaged one.
///
/// In order:
///   1. The writer's lock is taken, for all of it. A store in which a deep verification finds nothing is left alone.
///   Where
///      it finds nothing but damaged copies of control slots, these are written again, and that is all; unless they
///      may hide
///      a commit of which some trace is left.
///   2. `repair_plan.c`: which packs and versions there should be. The newest generation that can be read says so; if
///      none can, the roots of layouts do.
///   3. `segment_scan.h`: what of the segments is whole. An index run of its own lists the segments that are, and a
///   snapshot of
///      that run and of no pack is the base of all that follows: so nothing damaged is ever referred to again.
///   4. `repair_versions.c`: the versions of each pack are ingested from their catalogs on top of that base, from the
///      oldest to the current one; what the base lacks comes from `chunk_recovery.h`. Of a current version whose
///      catalog cannot
///      be read whole, a catalog is drafted (`catalog_rebuild.h`) of what the index and the readable pages say.
///   5. `pks__txn_replace`: one durable commit.
///
/// Two stores of the same directory are open. One is written, and its registry of segments and its frame readers see
/// nothing damaged: a segment that is stored again may come to have the name of the damaged one that it replaces, with
/// the same frames at the same places. The other, `old`, reads what is damaged.
#ifndef PKS_REPAIR_REPAIR_STATE_H
#define PKS_REPAIR_REPAIR_STATE_H

#include "check/vfs_retry.h"
#include "commit/commit.h"
#include "commit/transaction.h"
#include "repair/chunk_recovery.h"
#include "store/generation_list.h"

#define PKS__SITE_FOLDER "versions"  ///< what every site has beside its store

typedef struct pks__repair {
  pks__vfs_retry patient;
  pks_options options;  ///< whose seam is the patient one
  const pks_repair_request *request;
  pks_repair_totals totals;
  uint64_t purged_count, purged_last;  ///< faults that are no damage, and the number of the last one
  pks_store *store, *old;
  pks__control control;
  bool has_control;        ///< a slot counts, and the other one is known
  bool is_control_alone;   ///< all that is damaged are copies of control slots
  pks__control_slot slot;  ///< store id and average
  pks__generation plan;    ///< packs and versions as they should be
  pks_snapshot *index;     ///< of the plan's generation; NULL: it cannot be opened
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
  char *healed_path;  ///< the last that was told
  size_t healed_length;
  const char *healed_origin;
  bool healed_damaged;
  bool healed_counted;  ///< the asset is among the totals
} pks__repair;

#endif
