#include "repair/chunk_recovery.h"

#include <string.h>

#include "read/namespace.h"
#include "store/chunk_lookup.h"

void pks__chunk_recovery_free(pks__chunk_recovery *salvage) { pks__scratch_free(&salvage->bytes); }

/// Whether the current bytes match their id.
static bool fits(const pks__chunk_recovery *salvage, const pks__id *id, const pks__scratch *bytes) {
  pks__id found;
  if (bytes->length == 0) { return false; }
  salvage->sha256(bytes->bytes, (size_t)bytes->length, found.bytes);
  return pks__id_equal(&found, id);
}

/// Damage at an origin means that it has nothing; any other failure is one.
static pks_status pass_damage(pks_status status, const pks_error *found, pks_error *error) {
  if (!status || pks__error_is_damage(found)) { return PKS_OK; }
  if (error) { *error = *found; }
  return status;
}

/// Like the above, for data that the survey found intact: an error of reading it now is a failure.
static pks_status pass_rot(pks_status status, const pks_error *found, pks_error *error) {
  if (status != PKS_IO_ERROR) { return pass_damage(status, found, error); }
  if (error) { *error = *found; }
  return status;
}

// MARK: - Origins

static pks_status read_intact(pks__chunk_recovery *salvage, const pks__id *id, pks__scratch *out, pks_error *error) {
  pks_error damage;
  bool found;
  out->length = 0;
  pks_status status = pks__segment_scan_read(salvage->survey, id, out, &found, &damage);
  return pass_rot(status, &damage, error);
}

/// Reads the chunk where the path had it.
static pks_status read_indexed(pks__chunk_recovery *salvage, const pks__chunk_want *want, pks_error *error) {
  pks_error damage;
  pks__hit hit;
  bool found = false;
  salvage->bytes.length = 0;
  if (!salvage->index || salvage->rank == PKS_ANY_PACK) { return PKS_OK; }
  pks_status status =
    pks__namespace_find(salvage->index, want->path, want->path_length, salvage->rank, &hit, &found, &damage);
  bool has_range = !status && found && hit.entry.kind == PKS__RECORD_FILE
    && pks__range_fits(want->offset, want->length, hit.entry.size);
  if (has_range) {
    pks_asset asset = pks__namespace_asset(salvage->index, &hit, want->path, want->path_length);
    status = pks__scratch_append(&salvage->bytes, NULL, want->length, &damage);
    if (!status) { status = pks_asset_read(&asset, want->offset, salvage->bytes.bytes, want->length, &damage); }
    if (status) { salvage->bytes.length = 0; }
  }
  return pass_damage(status, &damage, error);
}

/// Tries a snapshot's copies until one is intact. `out` is empty if none is.
static pks_status read_any_copy(
  const pks__chunk_recovery *salvage, pks_snapshot *snapshot, const pks__id *id, pks__segment_kind kind,
  pks__scratch *out, pks_error *error
) {
  pks_status (*pass)(pks_status, const pks_error *, pks_error *) = snapshot == salvage->base ? pass_rot : pass_damage;
  pks__chunk_probe probe = {0};
  pks_error damage;
  for (bool more = true; more;) {
    pks__chunk_ref ref;
    out->length = 0;
    pks_status status = pks__snapshot_next_chunk(snapshot, id, kind, &probe, &ref, &more, &damage);
    // Behind damaged look-up tables nothing more is found.
    if (status) { return pass(status, &damage, error); }
    if (!more) { break; }
    status = pks__snapshot_read_chunk(snapshot, &ref, out, &damage);
    status = pass(status, &damage, error);
    if (status || fits(salvage, id, out)) { return status; }
  }
  return PKS_OK;
}

// MARK: - Chunks

static const char base_origin[] = "segments that are whole";
static const char intact_origin[] = "intact parts of damaged segments";
static const char index_origin[] = "the index as it was";
static const char cache_origin[] = "the cache folder";

/// Reads the chunk from any place in the old index, above all from files of purgeable packs, which no survey examines.
static pks_status read_cached(pks__chunk_recovery *salvage, const pks__chunk_want *want, pks_error *error) {
  salvage->bytes.length = 0;
  if (!salvage->index) { return PKS_OK; }
  return read_any_copy(salvage, salvage->index, want->id, PKS__SEGMENT_DATA, &salvage->bytes, error);
}

/// The bytes of a chunk in `salvage->bytes`; `*origin` is NULL when it is nowhere. A map asset is laid out in one piece,
/// be some of its chunks whole or not: then the base is an origin, too.
static pks_status get_chunk(
  pks__chunk_recovery *salvage, const pks__chunk_want *want, const char **origin, pks_error *error
) {
  *origin = base_origin;
  pks_status status = read_any_copy(salvage, salvage->base, want->id, PKS__SEGMENT_DATA, &salvage->bytes, error);
  if (status || fits(salvage, want->id, &salvage->bytes)) { return status; }
  *origin = intact_origin;
  status = read_intact(salvage, want->id, &salvage->bytes, error);
  if (status || fits(salvage, want->id, &salvage->bytes)) { return status; }
  *origin = index_origin;
  status = read_indexed(salvage, want, error);
  if (status || fits(salvage, want->id, &salvage->bytes)) { return status; }
  *origin = cache_origin;
  status = read_cached(salvage, want, error);
  if (status || fits(salvage, want->id, &salvage->bytes)) { return status; }
  for (uint32_t i = 0; i < salvage->donor_count; i++) {
    *origin = salvage->donors[i].path;
    status = read_any_copy(salvage, salvage->donors[i].snapshot, want->id, PKS__SEGMENT_DATA, &salvage->bytes, error);
    if (status || fits(salvage, want->id, &salvage->bytes)) { return status; }
  }
  *origin = NULL;
  return PKS_OK;
}

pks_status pks__chunk_recovery_has(
  pks__chunk_recovery *salvage, const pks__chunk_want *want, bool *has, pks_error *error
) {
  const char *origin;
  pks_status status = get_chunk(salvage, want, &origin, error);
  *has = origin != NULL && salvage->bytes.length == want->length;
  return status;
}

/// Whether the asset was damaged at this chunk, or was intact in a file that is damaged elsewhere. If the index does not contain
/// the place, data in an intact part counts as intact. Uses `salvage->bytes`.
static pks_status was_damaged(
  pks__chunk_recovery *salvage, const pks__chunk_want *want, const char *origin, bool *damaged, pks_error *error
) {
  *damaged = origin != intact_origin && origin != index_origin && origin != cache_origin;
  if (origin != intact_origin || !salvage->index || salvage->rank == PKS_ANY_PACK) { return PKS_OK; }
  pks_status status = read_indexed(salvage, want, error);
  *damaged = !status && !fits(salvage, want->id, &salvage->bytes);
  return status;
}

static pks_status fetch(void *context, const pks__chunk_want *want, uint8_t *out, pks_error *error) {
  pks__chunk_recovery *salvage = context;
  const char *origin;
  pks_status status = get_chunk(salvage, want, &origin, error);
  if (status) { return status; }
  if (!origin || salvage->bytes.length != want->length) {
    const char *text = "a chunk is missing";
    return pks__fail_at_path(error, PKS_CORRUPT, text, want->path, want->path_length);
  }
  memcpy(out, salvage->bytes.bytes, want->length);
  if (origin == base_origin) { return PKS_OK; }
  bool damaged;
  status = was_damaged(salvage, want, origin, &damaged, error);
  if (!status) { salvage->healed(salvage->context, want->path, want->path_length, origin, damaged); }
  return status;
}

pks__chunk_fetch pks__chunk_recovery_fetch(pks__chunk_recovery *salvage) {
  return (pks__chunk_fetch){.context = salvage, .fetch = fetch};
}

// MARK: - Pages

static pks_status get_page(void *context, const pks__id *id, pks__scratch *out, pks_error *error) {
  pks__chunk_recovery *salvage = context;
  out->length = 0;
  bool found = false;
  pks_status status = salvage->draft ? pks__catalog_rebuild_page(salvage->draft, id, out, &found, error) : PKS_OK;
  if (status || found) { return status; }
  status = read_any_copy(salvage, salvage->base, id, PKS__SEGMENT_METADATA, out, error);
  if (status || fits(salvage, id, out)) { return status; }
  status = read_intact(salvage, id, out, error);
  if (status || fits(salvage, id, out)) { return status; }
  for (uint32_t i = 0; i < salvage->donor_count; i++) {
    status = read_any_copy(salvage, salvage->donors[i].snapshot, id, PKS__SEGMENT_METADATA, out, error);
    if (status || fits(salvage, id, out)) { return status; }
  }
  char name[2 * PKS__ID_SIZE + 1];
  pks__hex(id->bytes, sizeof id->bytes, name);
  return pks__fail(error, PKS_CORRUPT, "catalog page is missing", name, PKS_NO_OFFSET);
}

pks__page_source pks__chunk_recovery_pages(pks__chunk_recovery *salvage) {
  return (pks__page_source){.context = salvage, .get = get_page};
}
