/// Repair: a whole store out of what is left of a damaged one.
///
/// In order:
///   1. The writer's lock is taken, for all of it. A store in which a deep verification finds nothing is left alone. Where
///      it finds nothing but damaged copies of control slots, these are written again, and that is all; unless they may hide
///      a commit of which some trace is left.
///   2. `repair_plan.c`: which packs and versions there should be. The newest generation that can be read says so; if
///      none can, the roots of layouts do.
///   3. `survey.h`: what of the segments is whole. An index run of its own lists the segments that are, and a view of
///      that run and of no pack is the base of all that follows: so nothing damaged is ever referred to again.
///   4. `repair_versions.c`: the versions of each pack are ingested from their catalogs on top of that base, from the
///      oldest to the current one; what the base lacks comes from `salvage.h`. Of a current version whose catalog cannot
///      be read whole, a catalog is drafted (`draft.h`) of what the index and the readable pages say.
///   5. `pks__txn_replace`: one durable commit.
///
/// Two stores of the same directory are open. One is written, and its registry of segments and its frame readers see
/// nothing damaged: a segment that is stored anew may come to have the name of the damaged one that it replaces, with
/// the same frames at the same places. The other, `old`, reads what is damaged.
#ifndef PKS_REPAIR_H
#define PKS_REPAIR_H

#include "generation_list.h"
#include "patient.h"
#include "salvage.h"
#include "transaction.h"

#define PKS__SITE_FOLDER "versions"  ///< what every site has beside its store

typedef struct pks__repair {
  pks__patient patient;
  pks_options options;  ///< whose seam is the patient one
  const pks_repair_request *request;
  pks_repair_totals totals;
  pks_store *store, *old;
  pks__control control;
  bool has_control;        ///< a slot counts, and the other one is known
  bool is_control_alone;   ///< all that is damaged are copies of control slots
  pks__control_slot slot;  ///< store id and average
  pks__generation plan;    ///< packs and versions as they should be
  pks__view *index;        ///< of the plan's generation; NULL: it cannot be opened
  bool index_is_whole;     ///< all of its runs are open
  pks__survey survey;
  pks__donor *donors;
  uint32_t donor_count;
  pks__salvage salvage;
  pks_txn *txn;

  // The version under way.
  const char *pack;
  uint64_t version;
  uint64_t lost_assets;
  char *healed_path;  ///< the last that was told
  size_t healed_length;
  const char *healed_origin;
} pks__repair;

/// Reads what can be read of the control file: fills in `control`, `has_control`, `slot`.
pks_status pks__repair_read_control(pks__repair *repair, pks_error *error);
/// Whether a lost slot of the control file may have named a generation above `number`, as far as a trace of it is left.
pks_status pks__repair_is_behind(pks__repair *repair, uint64_t number, bool *behind, pks_error *error);
/// Finds out which generation there was: fills in `plan`, `index` and what `slot` lacks. What cannot be read is left out.
pks_status pks__repair_find_plan(pks__repair *repair, pks_error *error);
/// Makes the plan of what the survey found, when no generation could be read; or adds to it what is newer, when a later
/// one than could be read is known to have been.
pks_status pks__repair_guess_plan(pks__repair *repair, pks_error *error);
/// Whether a version can be had whole. Costs the look-up of each of its chunks.
pks_status pks__repair_is_whole(pks__repair *repair, const pks__id *catalog, bool *whole, pks_error *error);
/// Learns the chunker's average from catalogs when no control file says it.
void pks__repair_find_average(pks__repair *repair);
/// A number for the new generation: above all that any file, slot or reader names.
pks_status pks__repair_number(pks__repair *repair, uint64_t *number, pks_error *error);

/// Stages all versions of the plan, as far as they can be had.
pks_status pks__repair_versions(pks__repair *repair, pks_error *error);

/// Tells that something is lost.
void pks__repair_lose(pks__repair *repair, const char *asset, size_t asset_length, uint64_t unnamed_count);

#endif
