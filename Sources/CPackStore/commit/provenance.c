#include "commit/provenance.h"

#include <stdio.h>
#include <string.h>

static pks_status read_origin(const pks_provenance *by, const char *pack, pks__origin *out, pks_error *error) {
  bool is_own = by->statement == PKS_STATEMENT_NONE || by->statement == PKS_STATEMENT_COPY;
  bool fits = by->origin.kind == PKS_ORIGIN_SIGNED || by->origin.kind == PKS_ORIGIN_UNSIGNED
    || (by->origin.kind == PKS_ORIGIN_UNKNOWN && by->statement == PKS_STATEMENT_COPY)
    || (by->origin.kind == PKS_ORIGIN_LOCAL && is_own);
  if (fits && pks__origin_read(&by->origin, out)) { return PKS_OK; }
  return pks__fail_about(error, PKS_INVALID_ARGUMENT, PKS_DETAIL_NONE, PKS_SUBJECT_PACK, pack, "invalid origin");
}

/// Whether the pack may be changed by `origin`; `*adopts` whether that takes it over.
static pks_status check_binding(
  const pks_provenance *by, const pks__origin *origin, const char *pack, const pks__generation *in, bool *adopts,
  pks_error *error
) {
  const pks__pack_state *state = pks__generation_find_state(in, pack, NULL);
  uint32_t number = pks__origins_find(&in->origins, origin);
  bool is_own = !state || (state->origin == number && origin->kind != PKS_ORIGIN_UNKNOWN);
  *adopts = !is_own;
  if (is_own || by->adopt) { return PKS_OK; }
  return pks__fail_about(error, PKS_OTHER_ORIGIN, PKS_DETAIL_NONE, PKS_SUBJECT_PACK, pack, "belongs to another origin");
}

static const char *downgrade_text(pks_detail detail) {
  if (detail == PKS_DETAIL_WITHDRAWN) { return "the publisher withdrew this version"; }
  if (detail == PKS_DETAIL_REPLACED_KEY) { return "the root is signed by a key that its publisher replaced"; }
  if (detail == PKS_DETAIL_OLDER_STATE) {
    return "the publisher signed an older state again, from before a withdrawal";
  }
  return "a higher version was accepted before";
}

static pks_status fail_floor(
  const pks_provenance *by, const pks__floor *floor, pks_detail detail, const char *pack, pks_error *error
) {
  // The root that set the floor is not older than itself: a mirror that lags does not explain its refusal.
  bool is_older = by->serial < floor->serial || (by->serial == floor->serial && by->sequence < floor->sequence);
  bool is_stale = by->statement == PKS_STATEMENT_ROOT && is_older;
  if (is_stale) {
    const char *text = "the root is older than one accepted before";
    return pks__fail_about(error, PKS_STALE, PKS_DETAIL_NONE, PKS_SUBJECT_PACK, pack, text);
  }
  return pks__fail_about(error, PKS_DOWNGRADE, detail, PKS_SUBJECT_PACK, pack, downgrade_text(detail));
}

/// Begins the floor again.
static void set_floor(const pks_provenance *by, const char *pack, uint64_t version, pks__verdict *out) {
  out->sets_floor = out->raises_epoch = true;
  out->floor = (pks__floor){
    .version = version,
    .sequence = by->sequence,
    .serial = by->serial,
    .epoch = by->epoch,
    .taken_back = by->statement == PKS_STATEMENT_COPY ? by->highest : 0,
  };
  (void)snprintf(out->floor.pack, sizeof out->floor.pack, "%s", pack);
}

/// Why the statement may not raise the floor to `version`; NONE if it may.
static pks_detail raise_fault(const pks_provenance *by, const pks__floor *floor, uint64_t version) {
  bool is_root = by->statement == PKS_STATEMENT_ROOT;
  bool is_older = by->serial == floor->serial && by->sequence <= floor->sequence;
  // A store of an earlier library did not record the number.
  bool lacks_number = floor->lowered && floor->taken_back == 0;
  bool was_taken_back = lacks_number ? is_older : !is_root && version <= floor->taken_back;
  return version > floor->version && was_taken_back ? PKS_DETAIL_WITHDRAWN : PKS_DETAIL_NONE;
}

/// Raises or lowers the floor to `version`.
static void move_floor(const pks_provenance *by, const pks__floor *floor, uint64_t version, pks__verdict *out) {
  // A copy repeats the floor of its store without the revocations that led there, so it must not make later ones void.
  bool is_copy = by->statement == PKS_STATEMENT_COPY;
  bool is_newer = by->serial == floor->serial ? by->sequence > floor->sequence : !is_copy && by->serial > floor->serial;
  out->sets_floor = true;
  out->raises_epoch = by->epoch > floor->epoch;
  out->floor.version = version;
  if (is_newer) { out->floor.sequence = by->sequence; }
  if (!is_copy) { out->floor.serial = by->serial; }
  if (out->raises_epoch) { out->floor.epoch = by->epoch; }
  if (version < floor->version) { out->floor.taken_back = by->highest; }
  if (version != floor->version) { out->floor.lowered = version < floor->version; }
}

/// The rules of the header's table.
static pks_status check_floor(
  const pks_provenance *by, const pks__floor *floor, const char *pack, uint64_t version, bool is_current,
  pks__verdict *out, pks_error *error
) {
  bool is_root = by->statement == PKS_STATEMENT_ROOT;
  bool takes_back = is_root && by->epoch > floor->epoch && by->highest >= floor->version;
  pks_detail detail = PKS_DETAIL_NONE;
  if (floor->serial < by->revoked_below) {
    set_floor(by, pack, version, out);
    return PKS_OK;
  }
  out->floor = *floor;
  if (by->serial < floor->serial) {
    detail = PKS_DETAIL_REPLACED_KEY;
  } else if (is_root && by->epoch < floor->epoch) {
    detail = PKS_DETAIL_OLDER_STATE;
  } else if (version >= floor->version) {
    detail = raise_fault(by, floor, version);
    if (detail == PKS_DETAIL_NONE) { move_floor(by, floor, version, out); }
  } else if (takes_back) {
    move_floor(by, floor, version, out);
  } else if (is_current || (is_root && by->excluded == floor->version)) {
    return PKS_OK;
  } else {
    detail = PKS_DETAIL_HIGHER_ACCEPTED;
  }
  return detail == PKS_DETAIL_NONE || by->downgrade ? PKS_OK : fail_floor(by, floor, detail, pack, error);
}

pks_status pks__provenance_judge(
  const pks_provenance *by, const char *pack, uint64_t version, const pks__generation *in, pks__verdict *out,
  pks_error *error
) {
  pks__origin origin;
  *out = (pks__verdict){0};
  pks_status status = read_origin(by, pack, &origin, error);
  if (!status) { status = check_binding(by, &origin, pack, in, &out->adopts, error); }
  bool has_floors = origin.kind == PKS_ORIGIN_SIGNED || origin.kind == PKS_ORIGIN_UNSIGNED;
  if (status || version == 0 || !has_floors) { return status; }
  uint32_t number = pks__origins_find(&in->origins, &origin);
  const pks__floor *floor = number == UINT32_MAX ? NULL : pks__origins_floor(&in->origins, number, pack);
  if (floor && !out->adopts) {
    const pks__version *current = pks__generation_current(in, pack);
    bool is_current = current && current->number == version;
    return check_floor(by, floor, pack, version, is_current, out, error);
  }
  set_floor(by, pack, version, out);
  return PKS_OK;
}

bool pks__provenance_is_unstated(
  const pks_provenance *by, const char *pack, uint64_t version, const pks__generation *in
) {
  pks__origin origin;
  if (read_origin(by, pack, &origin, NULL)) { return false; }
  uint32_t number = pks__origins_find(&in->origins, &origin);
  const pks__floor *floor = number == UINT32_MAX ? NULL : pks__origins_floor(&in->origins, number, pack);
  if (!floor || floor->serial < by->revoked_below) { return floor != NULL; }
  // A lowered floor is below versions that were stated.
  return !floor->lowered && version > floor->version && version > floor->taken_back;
}

pks_status pks__provenance_settle(
  const pks_provenance *by, const pks__verdict *verdict, pks__generation *to, uint32_t index, pks_error *error
) {
  pks__origin origin;
  pks__pack_state *pack = &to->packs[index];
  pks_status status = read_origin(by, pack->name, &origin, error);
  if (!status) { status = pks__origins_add(&to->origins, &origin, &pack->origin, error); }
  if (status) { return status; }
  if (verdict->adopts) {
    pack->version_count = 1;
    pack->versions[0].pinned = false;
    pack->highest_version = pack->versions[0].number;
  }
  if (verdict->sets_floor) {
    pks__floor floor = verdict->floor;
    floor.origin = pack->origin;
    status = pks__origins_set_floor(&to->origins, &floor, error);
  }
  pks__generation_sort(to);
  return status;
}

void pks__provenance_of_copy(const pks__generation *source, const char *pack, uint64_t version, pks_provenance *out) {
  const pks__pack_state *state = pks__generation_find_state(source, pack, NULL);
  pks__origin origin;
  *out = (pks_provenance){.statement = PKS_STATEMENT_COPY};
  if (!state || !pks__origins_get(&source->origins, state->origin, &origin)) { return; }
  out->origin = pks__origin_public(&origin);
  const pks__floor *floor = pks__origins_floor(&source->origins, state->origin, pack);
  if (!floor) { return; }
  out->serial = floor->serial;
  out->highest = floor->taken_back;
  if (floor->version == version) {
    out->sequence = floor->sequence;
    out->epoch = floor->epoch;
  }
}
