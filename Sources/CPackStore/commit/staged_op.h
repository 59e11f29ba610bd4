/// The staged changes of a transaction, in a form that can be applied to a newer generation than the one they were staged on.
#ifndef PKS_COMMIT_STAGED_OP_H
#define PKS_COMMIT_STAGED_OP_H

#include "commit/provenance.h"
#include "store/generation.h"

typedef enum pks__staged_op_kind {
  PKS__CHANGE_ADD,       ///< a version becomes the pack's newest and current one
  PKS__CHANGE_ROLLBACK,  ///< a kept version becomes the current one again, and the pack is held there
  PKS__CHANGE_RETURN,    ///< a kept version becomes the current one again; the pack is not held
  PKS__CHANGE_LAYOUT,    ///< a kept version has another place; its content and its number stay
  PKS__CHANGE_REMOVE,
  PKS__CHANGE_PRIORITY,
  PKS__CHANGE_HOLD,            ///< at the current version
  PKS__CHANGE_PIN,             ///< a version is kept
  PKS__CHANGE_UNPIN,           ///< none is, and the pack is not held
  PKS__CHANGE_TRIM,            ///< only the versions that were current last are kept, and pinned ones
  PKS__CHANGE_ADOPT,           ///< the pack's current version stays, as another origin's
  PKS__CHANGE_ORDER,           ///< an origin gets a place in the order
  PKS__CHANGE_RESTART_ORIGIN,  ///< it has no floors any more
  PKS__CHANGE_FORGET_ORIGIN,
  PKS__CHANGE_PLACE,  ///< the pack is purgeable from now on, or durable
  PKS__CHANGE_CACHE,  ///< the store gets a cache folder
  PKS__CHANGE_BASE,   ///< its packs were taken over from a base
} pks__staged_op_kind;

typedef struct pks__staged_op {
  pks__staged_op_kind kind;
  char pack[PKS__PACK_NAME_MAX + 1];
  bool set_priority;
  int32_t priority;
  pks__version version;  ///< where there is a layout; of PKS__CHANGE_PIN only its number
  pks__run_name run;     ///< where there is a layout
  bool has_shadows;      ///< where there is a layout
  bool keep_history;     ///< PKS__CHANGE_REMOVE
  uint32_t count;        ///< PKS__CHANGE_TRIM: of versions, >= 1
  /// the signed statement: PKS__CHANGE_ADD, _RETURN and _ADOPT. For _ORDER, _RESTART_ORIGIN and _FORGET_ORIGIN its origin is the
  /// object
  pks_provenance provenance;
  uint32_t place;            ///< PKS__CHANGE_ORDER: from 0 on
  bool purgeable;            ///< PKS__CHANGE_PLACE, and of PKS__CHANGE_ADD for a pack that is new
  bool by_hand;              ///< PKS__CHANGE_PLACE: a user made the choice
  const char *cache_folder;  ///< PKS__CHANGE_CACHE: on loan from the transaction
  uint64_t cache_budget;     ///< PKS__CHANGE_CACHE: bytes; 0: no limit
  pks__base_name base;       ///< PKS__CHANGE_BASE
} pks__staged_op;

/// Whether the change brings a layout, and so needs segments.
static inline bool pks__staged_op_has_layout(const pks__staged_op *change) {
  return change->kind <= PKS__CHANGE_LAYOUT;
}

/// Whether the change may be applied even if another writer changed the pack since.
static inline bool pks__staged_op_is_independent(const pks__staged_op *change) {
  return change->kind == PKS__CHANGE_PRIORITY || change->kind == PKS__CHANGE_PIN || change->kind == PKS__CHANGE_UNPIN
    || change->kind == PKS__CHANGE_TRIM || change->kind == PKS__CHANGE_ORDER
    || change->kind == PKS__CHANGE_RESTART_ORIGIN || change->kind == PKS__CHANGE_FORGET_ORIGIN
    || change->kind == PKS__CHANGE_CACHE || change->kind == PKS__CHANGE_BASE;
}

/// Applies a staged change to a generation. NOT_FOUND when pack, version or origin are not there to be changed;
/// OTHER_ORIGIN, DOWNGRADE and STALE when the change's provenance does not allow it (`provenance.h`).
pks_status pks__staged_op_apply(const pks__staged_op *change, pks__generation *to, uint32_t keep, pks_error *error);

/// Whether the pack is the same in `now` as in `before`: absent in both, or the same pack with the same version, place and used
/// numbers. A removed pack with a kept history counts as one.
bool pks__pack_is_same(const char *name, const pks__generation *before, const pks__generation *now);

#endif
