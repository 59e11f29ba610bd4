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
/// A failure before 5 leaves the old generation; files already moved go with the next collection. From 5 on nothing is
/// undone: a slot whose sync failed may or may not last, and both outcomes are whole.
///
/// With PKS_ATOMIC nothing is synced, and the slot says that it counts only until the machine starts anew. A later
/// durable commit syncs all that such commits left.
#ifndef PKS_TRANSACTION_H
#define PKS_TRANSACTION_H

#include "ingest.h"
#include "session.h"
#include "store.h"

typedef enum pks__change_kind {
  PKS__CHANGE_ADD,
  PKS__CHANGE_LAYOUT,  ///< the pack's current version lies elsewhere; its content and its number stay
  PKS__CHANGE_REMOVE,
  PKS__CHANGE_PRIORITY,
} pks__change_kind;

/// One staged change, kept so that it can be applied to a newer generation than the base.
typedef struct pks__staged_change {
  pks__change_kind kind;
  char pack[PKS__PACK_NAME_MAX + 1];
  bool set_priority;
  int32_t priority;
  pks__version version;  ///< PKS__CHANGE_ADD, PKS__CHANGE_LAYOUT
  pks__run_name run;     ///< likewise
  bool has_shadows;
} pks__staged_change;

/// Whether the change brings a layout, and so needs segments.
static inline bool pks__change_has_layout(const pks__staged_change *change) {
  return change->kind == PKS__CHANGE_ADD || change->kind == PKS__CHANGE_LAYOUT;
}

struct pks_txn {
  pks_store *store;
  pks_txn_options options;
  pks__view *base;  ///< the newest generation when the transaction began
  pks__view *view;  ///< base and what is staged
  pks__session session;
  pks__scratch changes;   ///< pks__staged_change
  pks__scratch segments;  ///< pks__segment *: staged, one reference each
};

/// Applies a staged change to a generation. NOT_FOUND when the pack is not there to be changed.
pks_status pks__change_apply(const pks__staged_change *change, pks__generation *to, uint32_t keep, pks_error *error);

/// Whether the pack is `now` what it was `before`: absent in both, or the same pack at the same version and place.
bool pks__pack_is_same(const char *name, const pks__generation *before, const pks__generation *now);

/// Removes index files and segments that neither `current`, nor generation `spared`, nor any pinned generation needs,
/// nor a version that `txn` is about to commit. The writer's lock is held. `*complete` says that nothing was kept for
/// an older generation's sake alone.
pks_status pks__collect(pks__view *current, const pks_txn *txn, uint64_t spared, bool *complete, pks_error *error);

#endif
