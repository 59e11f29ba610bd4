#include "step.h"

#include <stdio.h>

void step_apply(const step *step, store_state *state) {
  for (uint32_t i = 0; i < step->change_count; i++) {
    const change *change = &step->changes[i];
    switch (change->kind) {
      case CHANGE_ADD: state_add(state, change->pack, change->version, step->keep); break;
      case CHANGE_REMOVE: state_remove(state, change->pack); break;
      case CHANGE_PRIORITY: state->packs[change->pack].priority = change->priority; break;
    }
  }
}

void source_folder(const char *sources, uint32_t pack, uint64_t version, char out[4096]) {
  if (version > 0) {
    (void)snprintf(out, 4096, "%s/%s@%llu", sources, content_pack(pack), (unsigned long long)version);
  } else {
    (void)snprintf(out, 4096, "%s/%s", sources, content_pack(pack));
  }
}

static pks_status stage_add(
  const change *change, pks_txn *txn, const char *sources, bool by_version, pks_error *error
) {
  char folder[4096];
  source_folder(sources, change->pack, by_version ? change->version : 0, folder);
  pks_add_request request = {.pack = content_pack(change->pack), .folder = folder, .version = change->version};
  pks_add_result result;
  return pks_txn_add_folder(&result, txn, &request, error);
}

static pks_status stage(const change *change, pks_txn *txn, const char *sources, bool by_version, pks_error *error) {
  switch (change->kind) {
    case CHANGE_ADD: return stage_add(change, txn, sources, by_version, error);
    case CHANGE_REMOVE: return pks_txn_remove(txn, content_pack(change->pack), false, error);
    case CHANGE_PRIORITY: return pks_txn_set_priority(txn, content_pack(change->pack), change->priority, error);
  }
  return PKS_INVALID_ARGUMENT;
}

pks_txn *step_stage(const step *step, pks_store *store, const char *sources, bool by_version, failure *failure) {
  pks_error error = {0};
  pks_txn *txn;
  pks_txn_options options = {.durability = step->durability, .keep_versions = step->keep};
  pks_status status = pks_txn_begin(&txn, store, &options, &error);
  if (!succeeded(failure, "begin", status, &error)) { return NULL; }
  for (uint32_t i = 0; !status && i < step->change_count; i++) {
    status = stage(&step->changes[i], txn, sources, by_version, &error);
  }
  if (succeeded(failure, "stage", status, &error)) { return txn; }
  pks_txn_abort(txn);
  return NULL;
}

bool step_run(const step *step, pks_store *store, const char *sources, bool by_version, failure *failure) {
  pks_error error = {0};
  pks_txn *txn = step_stage(step, store, sources, by_version, failure);
  return txn && succeeded(failure, "commit", pks_txn_commit(txn, NULL, &error), &error);
}
