#include "commit/staged_op.h"

/// Staged changes depend on the current version and its place, the pack's origin, and the numbers already used.
bool pks__pack_is_same(const char *name, const pks__generation *before, const pks__generation *now) {
  bool was_live, is_live;
  const pks__pack_state *a = pks__generation_find_state(before, name, &was_live);
  const pks__pack_state *b = pks__generation_find_state(now, name, &is_live);
  if (!a || !b) { return a == b; }
  return was_live == is_live && a->number == b->number && a->held == b->held && a->origin == b->origin
    && a->purgeable == b->purgeable && a->placed_by_hand == b->placed_by_hand
    && a->highest_version == b->highest_version && a->versions[0].number == b->versions[0].number
    && pks__version_is(&a->versions[0], &b->versions[0].catalog, &b->versions[0].attributes)
    && pks__id_equal(&a->versions[0].layout, &b->versions[0].layout);
}

static pks_status fail_pack(const pks__staged_op *change, pks_error *error) {
  return pks__fail_about(error, PKS_NOT_FOUND, PKS_DETAIL_NO_PACK, PKS_SUBJECT_PACK, change->pack, "not in the store");
}

static pks_status fail_version(const pks__staged_op *change, pks_error *error) {
  return pks__fail_about(
    error, PKS_NOT_FOUND, PKS_DETAIL_NO_VERSION, PKS_SUBJECT_PACK, change->pack, "this version is not kept"
  );
}

/// Makes the change's version the current one of an existing pack.
static pks_status push(
  const pks__staged_op *change, pks__generation *to, uint32_t pack, uint32_t keep, pks_error *error
) {
  uint32_t number = to->packs[pack].number;
  pks_status status = pks__generation_push_version(to, pack, &change->version, keep, error);
  if (!status) { status = pks__generation_add_run(to, &change->run, &number, 1, error); }
  to->has_shadows = to->has_shadows || change->has_shadows;
  return status;
}

static pks_status apply_add(const pks__staged_op *change, pks__generation *to, uint32_t keep, pks_error *error) {
  uint32_t pack = pks__generation_find_pack(to, change->pack);
  pks__verdict verdict;
  pks_status status =
    pks__provenance_judge(&change->provenance, change->pack, change->version.number, to, &verdict, error);
  if (status) { return status; }
  bool is_new = !pks__generation_find_state(to, change->pack, NULL);
  if (pack == UINT32_MAX) { status = pks__generation_add_pack(to, change->pack, change->priority, &pack, error); }
  if (!status && is_new) { to->packs[pack].purgeable = change->purgeable; }
  if (!status) { status = push(change, to, pack, keep, error); }
  return status ? status : pks__provenance_settle(&change->provenance, &verdict, to, pack, error);
}

/// Nothing is dropped by going back: forward must be possible again.
static pks_status apply_rollback(const pks__staged_op *change, pks__generation *to, pks_error *error) {
  uint32_t pack = pks__generation_find_pack(to, change->pack), removed = pks__generation_find_removed(to, change->pack);
  pks_status status = PKS_OK;
  pks__verdict verdict;
  bool is_word = change->kind == PKS__CHANGE_ROLLBACK;  // the user's, against which nothing counts
  if (pack == UINT32_MAX && removed == UINT32_MAX) { return fail_pack(change, error); }
  if (!is_word) {
    status = pks__provenance_judge(&change->provenance, change->pack, change->version.number, to, &verdict, error);
  }
  if (status) { return status; }
  if (pack == UINT32_MAX) {
    status = pks__generation_add_pack(to, change->pack, to->removed[removed].priority, &pack, error);
  }
  if (status) { return status; }
  uint32_t version = pks__pack_find_version(&to->packs[pack], change->version.number);
  if (version == UINT32_MAX) { return fail_version(change, error); }
  pks__staged_op present = *change;
  present.version.pinned = to->packs[pack].versions[version].pinned;
  status = push(&present, to, pack, UINT32_MAX, error);
  if (status) { return status; }
  to->packs[pack].held = is_word;
  return is_word ? PKS_OK : pks__provenance_settle(&change->provenance, &verdict, to, pack, error);
}

static pks_status apply_adopt(const pks__staged_op *change, pks__generation *to, pks_error *error) {
  uint32_t pack = pks__generation_find_pack(to, change->pack);
  pks__verdict verdict;
  if (pack == UINT32_MAX) { return fail_pack(change, error); }
  uint64_t version = to->packs[pack].versions[0].number;
  pks_status status = pks__provenance_judge(&change->provenance, change->pack, version, to, &verdict, error);
  return status ? status : pks__provenance_settle(&change->provenance, &verdict, to, pack, error);
}

static pks_status apply_layout(const pks__staged_op *change, pks__generation *to, pks_error *error) {
  pks__pack_state *pack = pks__generation_find_state(to, change->pack, NULL);
  if (!pack) { return fail_pack(change, error); }
  uint32_t version = pks__pack_find_version(pack, change->version.number);
  if (version == UINT32_MAX) { return fail_version(change, error); }
  pack->versions[version].layout = change->version.layout;
  uint32_t number = pack->number;
  return pks__generation_add_run(to, &change->run, &number, 1, error);
}

static pks_status apply_place(const pks__staged_op *change, pks__generation *to, pks_error *error) {
  pks__pack_state *pack = pks__generation_find_state(to, change->pack, NULL);
  if (!pack) { return fail_pack(change, error); }
  pack->purgeable = change->purgeable;
  pack->placed_by_hand = pack->placed_by_hand || change->by_hand;
  return PKS_OK;
}

static pks_status apply_remove(const pks__staged_op *change, pks__generation *to, pks_error *error) {
  uint32_t pack = pks__generation_find_pack(to, change->pack), removed = pks__generation_find_removed(to, change->pack);
  if (pack != UINT32_MAX) { return pks__generation_remove_pack(to, pack, change->keep_history, error); }
  if (removed == UINT32_MAX) { return fail_pack(change, error); }
  if (!change->keep_history) { pks__generation_forget_removed(to, removed); }
  return PKS_OK;
}

static pks_status apply_priority(const pks__staged_op *change, pks__generation *to, pks_error *error) {
  uint32_t pack = pks__generation_find_pack(to, change->pack);
  if (pack == UINT32_MAX) { return fail_pack(change, error); }
  to->packs[pack].priority = change->priority;
  pks__generation_sort(to);
  return PKS_OK;
}

static pks_status apply_pin(const pks__staged_op *change, pks__generation *to, pks_error *error) {
  pks__pack_state *pack = pks__generation_find_state(to, change->pack, NULL);
  if (!pack) { return fail_pack(change, error); }
  if (change->kind == PKS__CHANGE_HOLD) { pack->held = true; }
  if (change->kind == PKS__CHANGE_UNPIN) {
    pack->held = false;
    for (uint32_t i = 0; i < pack->version_count; i++) { pack->versions[i].pinned = false; }
  }
  if (change->kind != PKS__CHANGE_PIN) { return PKS_OK; }
  uint32_t version = pks__pack_find_version(pack, change->version.number);
  if (version == UINT32_MAX) { return fail_version(change, error); }
  pack->versions[version].pinned = true;
  return PKS_OK;
}

static pks_status apply_trim(const pks__staged_op *change, pks__generation *to, pks_error *error) {
  pks__pack_state *pack = pks__generation_find_state(to, change->pack, NULL);
  if (!pack) { return fail_pack(change, error); }
  pks__pack_trim(pack, change->count);
  return PKS_OK;
}

// MARK: - Origins

static pks_status find_origin(
  const pks__staged_op *change, const pks__generation *in, uint32_t *number, pks_error *error
) {
  pks__origin origin;
  bool fits = pks__origin_read(&change->provenance.origin, &origin);
  *number = fits ? pks__origins_find(&in->origins, &origin) : UINT32_MAX;
  if (*number != UINT32_MAX) { return PKS_OK; }
  return pks__fail_about(
    error, PKS_NOT_FOUND, PKS_DETAIL_NO_ORIGIN, PKS_SUBJECT_PRODUCT, origin.product, "no pack comes from this origin"
  );
}

/// Those before its place stay where they are.
static pks_status apply_order(const pks__staged_op *change, pks__generation *to, pks_error *error) {
  uint32_t number, rank, place = change->place;
  pks_status status = find_origin(change, to, &number, error);
  if (status) { return status; }
  rank = pks__origins_rank(&to->origins, number);
  if (place > rank) {
    return pks__fail(error, PKS_INVALID_ARGUMENT, "two origins of the request are equal", NULL, PKS_NO_OFFSET);
  }
  status = pks__origins_move(&to->origins, rank, place, error);
  if (!status) { pks__generation_sort(to); }
  return status;
}

static pks_status apply_restart(const pks__staged_op *change, pks__generation *to, pks_error *error) {
  uint32_t number;
  pks_status status = find_origin(change, to, &number, error);
  if (!status) { pks__origins_remove_floors(&to->origins, number); }
  return status;
}

static pks_status apply_forget(const pks__staged_op *change, pks__generation *to, pks_error *error) {
  uint32_t number;
  pks_status status = find_origin(change, to, &number, error);
  if (status) { return status; }
  bool is_used = number == PKS__ORIGIN_LOCAL;
  for (uint32_t i = 0; i < to->pack_count + to->removed_count; i++) {
    is_used = is_used || pks__generation_any_pack(to, i)->origin == number;
  }
  if (is_used) {
    const char *text = "the origin is in use; only origins without packs and without a history can be removed";
    return pks__fail_about(
      error, PKS_INVALID_ARGUMENT, PKS_DETAIL_ORIGIN_IN_USE, PKS_SUBJECT_PRODUCT, change->provenance.origin.product,
      text
    );
  }
  pks__origins_remove(&to->origins, number);
  pks__generation_sort(to);
  return PKS_OK;
}

pks_status pks__staged_op_apply(const pks__staged_op *change, pks__generation *to, uint32_t keep, pks_error *error) {
  pks_status status = PKS_OK;
  switch (change->kind) {
    case PKS__CHANGE_ADD: status = apply_add(change, to, keep, error); break;
    case PKS__CHANGE_ROLLBACK:
    case PKS__CHANGE_RETURN: status = apply_rollback(change, to, error); break;
    case PKS__CHANGE_LAYOUT: status = apply_layout(change, to, error); break;
    case PKS__CHANGE_PLACE: return apply_place(change, to, error);
    case PKS__CHANGE_BASE: to->base = change->base; return PKS_OK;
    case PKS__CHANGE_CACHE: return pks__generation_set_cache(to, change->cache_folder, change->cache_budget, error);
    case PKS__CHANGE_REMOVE: return apply_remove(change, to, error);
    case PKS__CHANGE_TRIM: return apply_trim(change, to, error);
    case PKS__CHANGE_ADOPT: status = apply_adopt(change, to, error); break;
    case PKS__CHANGE_ORDER: return apply_order(change, to, error);
    case PKS__CHANGE_RESTART_ORIGIN: return apply_restart(change, to, error);
    case PKS__CHANGE_FORGET_ORIGIN: return apply_forget(change, to, error);
    case PKS__CHANGE_PRIORITY: return apply_priority(change, to, error);
    case PKS__CHANGE_HOLD:
    case PKS__CHANGE_PIN:
    case PKS__CHANGE_UNPIN: return apply_pin(change, to, error);
  }
  return status || !change->set_priority ? status : apply_priority(change, to, error);
}
