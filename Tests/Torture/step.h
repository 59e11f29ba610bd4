/// One commit: its changes, its staging, and its effect on the model.
#ifndef TORTURE_STEP_H
#define TORTURE_STEP_H

#include "failure.h"
#include "state.h"

typedef enum change_kind { CHANGE_ADD, CHANGE_REMOVE, CHANGE_PRIORITY } change_kind;

typedef struct change {
  change_kind kind;
  uint32_t pack;
  uint64_t version;  ///< CHANGE_ADD
  int32_t priority;  ///< CHANGE_PRIORITY
} change;

typedef struct step {
  pks_durability durability;
  uint32_t keep;
  uint32_t change_count;
  change changes[4];
} step;

/// Applies the step to the model of a store.
void step_apply(const step *step, store_state *state);

/// Returns the source folder of a version: `<sources>/<pack>`, or `<sources>/<pack>@<version>` if `version` is above 0.
void source_folder(const char *sources, uint32_t pack, uint64_t version, char out[4096]);

/// Stages the step; the caller commits. Returns NULL after recording a failure. `by_version`: each version has its own
/// source folder.
pks_txn *step_stage(const step *step, pks_store *store, const char *sources, bool by_version, failure *failure);
/// Stages and commits the step.
bool step_run(const step *step, pks_store *store, const char *sources, bool by_version, failure *failure);

#endif
