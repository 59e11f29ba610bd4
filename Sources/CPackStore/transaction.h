/// Transactions: what is staged, and the commit.
///
/// States: staging -> committed, or aborted. Staging holds a snapshot of its base generation (so that collection spares
/// what it reuses) and a session folder; it holds no lock that a writer or reader waits for.
///
/// Commit. What happens, in order, and why a crash at any point leaves the old or the new generation whole:
///   0  Staged segments and runs are synced. Nothing refers to them yet.
///   1  The writer's lock is taken and CONTROL is read. If the generation moved on, the staged changes are applied to
///      the newer one.
///   2  What is needed neither by the current generation, nor by that of the slot that stays, nor by a pinned one, is
///      unlinked.
///   3  Segments are renamed into `segments/`, and the folder is synced. Nothing names them yet: if we die now, the
///      next collection takes them.
///   4  Runs and the new generation's file go into `index/` in the same way.
///   5  The control slot that may be lost is written and synced: the switch.
///   6  The lock is released.
/// A failure before 5 leaves the old generation; files already moved go with the next commit's collection. From 5 on nothing is
/// undone: a slot whose sync failed may or may not last, and both outcomes are whole.
///
/// With PKS_ATOMIC nothing is synced, and the slot says that it counts only until the machine starts anew. A later
/// durable commit vouches for all that such commits left (`vouch.h`).
#ifndef PKS_TRANSACTION_H
#define PKS_TRANSACTION_H

#include "change.h"
#include "ingest.h"
#include "segment_set.h"
#include "session.h"
#include "store.h"

struct pks_txn {
  pks_store *store;
  pks_txn_options options;
  pks__view *base;  ///< the newest generation when the transaction began
  pks__view *view;  ///< base and what is staged
  pks__session session;
  pks__scratch changes;   ///< pks__staged_change
  pks__scratch segments;  ///< pks__staged_segment: one reference each
  pks__segment_set kept;  ///< segments that the commit must not collect
  bool collects;          ///< commits even if nothing is staged
};

/// What the transaction sees: its base and what is staged.
static inline pks__view *pks__txn_view(const pks_txn *txn) { return txn->view ? txn->view : txn->base; }

/// Stages a change: on success the transaction sees it, on failure it is as before.
pks_status pks__txn_stage(pks_txn *txn, const pks__staged_change *change, pks_error *error);

/// INVALID_ARGUMENT for a pack's name, a level or sizes of frames that cannot be.
pks_status pks__txn_check_encoding(const pks_add_request *request, pks_error *error);

/// Assembles what was ingested as version `change->version.number`, opens what was sealed, and stages `change` with it.
/// Of the change, pack, priority, run and the version's layout are set here.
pks_status pks__txn_stage_version(
  pks_txn *txn, pks__ingest *ingest, pks__staged_change *change, pks_add_result *result, pks_error *error
);

/// Stages nothing but where map assets lie now, a priority, and whose the pack is, for what was ingested turned out to be
/// the current version's content.
pks_status pks__txn_stage_unchanged(
  pks_txn *txn, pks__ingest *ingest, const pks_provenance *by, pks_add_result *result, pks_error *error
);

/// Whether `by` may change the pack, as far as that can be said before there is anything to stage: spares the work.
/// With 0 for a version that is not chosen yet. `*adopts` (may be NULL): it would take the pack over.
pks_status pks__txn_check_provenance(
  const pks_txn *txn, const pks_provenance *by, const char *pack, uint64_t version, bool *adopts, pks_error *error
);

/// Stages that the current version of the pack is of the origin of `by`, if it is not yet.
pks_status pks__txn_stage_adoption(pks_txn *txn, const char *pack, const pks_provenance *by, pks_error *error);

/// Stages what was ingested as `version`, which is known by number, date and content. One that is kept here becomes current
/// again. Errors: EXISTS (a kept version has the number and other content), HELD, OTHER_ORIGIN, DOWNGRADE, STALE, and those
/// of staging.
pks_status pks__txn_stage_known(
  pks_txn *txn, pks__ingest *ingest, const pks__version *version, const pks_provenance *by, pks_add_result *result,
  pks_error *error
);

/// How `pks__txn_replace` commits.
typedef struct pks__replacement {
  /// what the transaction sees, with what is to be said of packs beyond their versions. Its number is above all that any
  /// file, slot or reader may still name. Taken over
  pks__generation generation;
  const pks__control *control;  ///< a slot of it counts, and the other is written; NULL: a control file is made anew
  pks__control_slot slot;       ///< store id and average; the rest is filled in
} pks__replacement;

/// Commits what is staged as all that the store shows, whatever state it is in: durably, as a generation that has
/// nothing in common with those before but segments. The caller holds the writer's lock. Nothing is unlinked: later
/// commits collect what is left. The transaction goes on until it is aborted. Until the control file is written, or
/// renamed into place, the store is as it was.
pks_status pks__txn_replace(pks_txn *txn, pks__replacement *with, pks_error *error);

/// Removes index files and segments that neither `current`, nor generation `spared`, nor any pinned generation needs,
/// nor a version that `txn` is about to commit. The writer's lock is held. `*complete` says that nothing was kept for
/// an older generation's sake alone, or because it could not be unlinked.
pks_status pks__collect(pks__view *current, const pks_txn *txn, uint64_t spared, bool *complete, pks_error *error);

#endif
