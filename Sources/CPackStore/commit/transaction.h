/// Transactions: staged changes, and the commit.
///
/// States: staging -> committed, or aborted. Staging retains a snapshot of its base generation (so that collection spares reused
/// data) and a staging folder; it holds no lock that a writer or reader waits for.
///
/// Commit. The steps, in order, and why a crash at any point leaves the complete old or new generation:
///   0  Staged segments and runs are synced. Nothing refers to them yet.
///   1  The writer's lock is taken and CONTROL is read. If the generation moved on, the staged changes are applied to
///      the newer one.
///   2  Files needed neither by the current generation, nor by the generation of the slot that stays, nor by a pinned one, are
///      unlinked.
///   3  Segments are renamed into `segments/`, and the folder is synced. Nothing names them yet: if we die now, the
///      next collection takes them.
///      Files of purgeable segments are renamed within the cache folder, and then their tables into `tables/`.
///   4  Runs and the new generation's file go into `index/` in the same way.
///   5  The control slot that may be lost is written and synced: the switch.
///   6  After a durable commit that dropped something, files that only the previous generation needed are unlinked, unless a
///      reader retains it: the next commit overwrites the slot of that generation.
///   7  The lock is released.
/// A failure before 5 leaves the old generation; files already moved go with the next commit's collection. From 5 on
/// nothing is undone: a slot whose sync failed may or may not last, and both outcomes are whole.
///
/// With PKS_ATOMIC nothing is synced, and the slot is valid only until the machine starts again. A later durable commit vouches for
/// the data of such commits (`sync_backlog.h`).
#ifndef PKS_COMMIT_TRANSACTION_H
#define PKS_COMMIT_TRANSACTION_H

#include "commit/staged_op.h"
#include "ingest/ingest.h"
#include "ingest/staging.h"
#include "segment/segment_set.h"
#include "store/state.h"

struct pks_txn {
  pks_store *store;
  pks_txn_options options;
  pks_snapshot *base;      ///< the newest generation when the transaction began
  pks_snapshot *snapshot;  ///< base and staged changes
  pks__staging staging;
  pks__scratch changes;     ///< pks__staged_op
  pks__scratch segments;    ///< pks__staged_segment: one reference each
  pks__segment_set kept;    ///< segments that the commit must not collect
  bool collects;            ///< commits even if nothing is staged
  bool evacuates;           ///< its staged data makes segments unneeded, even if no layout changes
  pks__segment_set tables;  ///< segments of the base whose tables it brings
  char *cache_folder;       ///< chosen by this transaction; NULL: not
};

/// Returns the transaction's view: its base and staged changes.
static inline pks_snapshot *pks__txn_snapshot(const pks_txn *txn) { return txn->snapshot ? txn->snapshot : txn->base; }

/// Begins a transaction on the base of another one, which must outlive it. It is never committed: for intermediate data.
pks_status pks__txn_begin_beside(pks_txn **out, const pks_txn *txn, pks_error *error);

/// Stages a change: on success the transaction sees it, on failure it is as before.
pks_status pks__txn_stage(pks_txn *txn, const pks__staged_op *change, pks_error *error);

/// As `pks__txn_stage`, for a change of a pack that needs nothing but its name.
pks_status pks__txn_stage_named(pks_txn *txn, pks__staged_op *change, const char *pack, pks_error *error);

/// INVALID_ARGUMENT for a pack's name, a level, sizes of frames or a pattern that cannot be.
pks_status pks__txn_check_encoding(const pks_add_request *request, pks_error *error);

/// Assembles the ingested version `change->version.number`, opens the sealed files, and stages `change` with it. Sets the change's
/// pack, priority and run, and the version's layout and attributes.
pks_status pks__txn_stage_version(
  pks_txn *txn, pks__ingest *ingest, pks__staged_op *change, pks_add_result *result, pks_error *error
);

/// Stages the ingested version as the pack's next one, with the number in `ingest->request`. `adopts`: the pack is adopted by the
/// statement `by`, and its numbers are ignored. Errors: HELD, EXISTS, INVALID_ARGUMENT, and those of staging.
pks_status pks__txn_stage_next(
  pks_txn *txn, pks__ingest *ingest, const pks_provenance *by, bool adopts, pks_add_result *result, pks_error *error
);

/// Checks a requested version number before anything is staged: INVALID_ARGUMENT or EXISTS if it cannot be used.
pks_status pks__txn_check_number(const pks_txn *txn, const pks_add_request *request, bool adopts, pks_error *error);

/// Stages only new places of map assets, a priority, and the pack's origin, because the ingested content equals the current
/// version's.
pks_status pks__txn_stage_unchanged(
  pks_txn *txn, pks__ingest *ingest, const pks_provenance *by, pks_add_result *result, pks_error *error
);

/// Checks before anything is staged whether `by` may change the pack, which saves useless work. Pass 0 for a version that is not
/// chosen yet. `*adopts` (may be NULL): the change would adopt the pack.
pks_status pks__txn_check_provenance(
  const pks_txn *txn, const pks_provenance *by, const char *pack, uint64_t version, bool *adopts, pks_error *error
);

/// Stages that the current version of the pack is of the origin of `by`, if it is not yet.
pks_status pks__txn_stage_adoption(pks_txn *txn, const char *pack, const pks_provenance *by, pks_error *error);

#endif
