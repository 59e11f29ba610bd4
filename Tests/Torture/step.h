/// One commit: what it changes, how it is staged, and what the model says of it.
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

/// What a store in `state` shows after the step.
void step_apply(const step *step, store_state *state);

/// Where the source folder of a version lies: `<sources>/<pack>`, with `version` above 0 `<sources>/<pack>@<version>`.
void source_folder(const char *sources, uint32_t pack, uint64_t version, char out[4096]);

/// Stages the step; the caller commits. NULL after noting a failure. `by_version`: each version has a source of its own.
pks_txn *step_stage(const step *step, pks_store *store, const char *sources, bool by_version, failure *failure);
/// Stages and commits.
bool step_run(const step *step, pks_store *store, const char *sources, bool by_version, failure *failure);

#endif
