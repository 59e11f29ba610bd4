#include "ingest/reuse_policy.h"

#include "catalog/catalog.h"
#include "index/extent_walk.h"
#include "segment/frame_check.h"
#include "store/cache_folder.h"
#include "store/segment_files.h"
#include "store/snapshot.h"
#include "store/version_files.h"

// MARK: - The pack's own segments that may vanish

static pks_status add_layout(
  pks__reuse_policy *reuse_policy, pks_snapshot *base, pks_vfs_file cache, const pks__id *layout, pks_error *error
) {
  pks__layout_root root;
  pks__scratch segments = {0};
  pks_status status = pks__layout_read_root(pks__snapshot_pages(base), layout, &root, &segments, error);
  // An unreadable layout contributes nothing: its data is stored again.
  if (status == PKS_CORRUPT || status == PKS_PURGED) { status = PKS_OK; }
  for (uint64_t i = 0; !status && i < PKS__SCRATCH_COUNT(&segments, pks__segment_id); i++) {
    const pks__segment_id *id = PKS__SCRATCH_AT(&segments, const pks__segment_id, i);
    if (pks__segment_set_has(&reuse_policy->own, id)) { continue; }
    pks__segment_files files;
    status = pks__segment_files_find(base, cache, id, 0, &files, error);
    if (status || files.place != PKS__SEGMENT_APART) { continue; }
    status = pks__segment_set_add(&reuse_policy->own, id, error);
    if (!status) {
      status = pks__scratch_append(&reuse_policy->own_lengths, &files.length, sizeof files.length, error);
    }
  }
  pks__scratch_free(&segments);
  return status;
}

static pks_status find_own(
  pks__reuse_policy *reuse_policy, pks_snapshot *base, const pks__pack_state *pack, pks_error *error
) {
  pks_vfs_file cache = PKS_VFS_NO_FILE;
  pks_status status = PKS_OK;
  if (base->generation.cache_folder) {
    (void)pks__cache_folder_open(base->store, base->generation.cache_folder, false, &cache, NULL);
  }
  for (uint32_t i = 0; !status && i < pack->version_count; i++) {
    status = add_layout(reuse_policy, base, cache, &pack->versions[i].layout, error);
  }
  if (cache != PKS_VFS_NO_FILE) { pks__vfs_close(base->store->vfs, cache); }
  return status;
}

// MARK: - Lost files

/// Finds out whether files that the current version needs are lost: then its records are not relied on unseen.
static pks_status find_losses(
  pks__reuse_policy *reuse_policy, pks_snapshot *base, const pks__version *current, pks_error *error
) {
  pks__version_files files;
  pks_status status = pks__version_files_find(&files, base, PKS_VFS_NO_FILE, current, error);
  reuse_policy->lacks_pages = files.lost_pages;
  reuse_policy->has_losses = files.lost_data || files.lost_pages;
  reuse_policy->is_limited = reuse_policy->is_limited || reuse_policy->has_losses;
  pks__version_files_free(&files);
  return status;
}

// MARK: - Life

pks_status pks__reuse_policy_open(
  pks__reuse_policy *out, pks_snapshot *base, const char *pack, bool purgeable, const pks__segment_set *avoided,
  pks__scratch_folder *home, pks_error *error
) {
  bool is_live;
  const pks__pack_state *state = pks__generation_find_state(&base->generation, pack, &is_live);
  *out = (pks__reuse_policy){.purgeable = purgeable, .base = base, .avoided = avoided};
  pks__segment_set_init(&out->own, home);
  pks__scratch_init(&out->own_lengths, home);
  bool has_base = base->generation.base.is_set;
  out->is_limited = avoided || purgeable || has_base || (state && state->purgeable);
  // Versions that are kept may be of a time when the pack was purgeable.
  bool may_lack = purgeable || has_base || base->generation.cache_folder;
  pks_status status = state && may_lack ? find_own(out, base, state, error) : PKS_OK;
  return status || !state || !is_live ? status : find_losses(out, base, &state->versions[0], error);
}

void pks__reuse_policy_free(pks__reuse_policy *reuse_policy) {
  pks__segment_set_free(&reuse_policy->own);
  pks__scratch_free(&reuse_policy->own_lengths);
  *reuse_policy = (pks__reuse_policy){0};
}

// MARK: - Asking

/// Also for segments of the base: the store may have its own file of the same segment, which is being emptied.
static bool is_avoided(const pks__reuse_policy *reuse_policy, const pks__segment *segment) {
  return reuse_policy->avoided && pks__segment_set_has(reuse_policy->avoided, &segment->id);
}

/// Whether a copy in a purgeable segment may be used.
static bool allows_purgeable(
  const pks__reuse_policy *reuse_policy, pks__segment *segment, const pks__frame_ref *frame, bool may_lack
) {
  uint32_t index;
  if (!pks__segment_set_find(&reuse_policy->own, &segment->id, &index)) { return false; }
  if (may_lack || !reuse_policy->purgeable) { return may_lack; }
  uint64_t length = *PKS__SCRATCH_AT(&reuse_policy->own_lengths, const uint64_t, index);
  return pks__range_fits(frame->offset, frame->stored_length, length) && pks__frame_is_present(segment, frame);
}

static bool allows_frame(const pks__reuse_policy *reuse_policy, pks__segment *segment, const pks__frame_ref *frame) {
  if (is_avoided(reuse_policy, segment) || pks__snapshot_is_gone(reuse_policy->base, segment)) { return false; }
  if (pks__snapshot_is_remote(reuse_policy->base, segment)) { return true; }
  return !segment->is_purgeable || allows_purgeable(reuse_policy, segment, frame, false);
}

bool pks__reuse_policy_allows(
  const pks__reuse_policy *reuse_policy, pks__segment *segment, uint32_t row, bool may_lack
) {
  if (is_avoided(reuse_policy, segment)) { return false; }
  // The store keeps its own pages, so that it can detect missing data without its base.
  if (segment->is_base && segment->kind == PKS__SEGMENT_METADATA) { return false; }
  if (pks__snapshot_is_remote(reuse_policy->base, segment)) { return true; }
  if (!segment->is_purgeable) { return !pks__frame_of_chunk_is_bad(segment, row); }
  pks__chunk_place place;
  pks__frame frame;
  if (pks__segment_chunk(segment, row, &place, NULL)) { return false; }
  return !pks__segment_frame(segment, place.frame, &frame, NULL)
    && allows_purgeable(reuse_policy, segment, &frame.ref, may_lack);
}

pks_status pks__reuse_policy_allows_record(
  const pks__reuse_policy *reuse_policy, pks_snapshot *base, const pks__hit *hit, bool *allows, pks_error *error
) {
  pks__extent_walk walk = pks__extent_walk_make(&base->runs[hit->run].open->run, &hit->entry);
  pks_status status = PKS_OK;
  *allows = true;
  for (bool more = true; !status && *allows;) {
    pks__extent_part part;
    pks__segment *segment;
    status = pks__extent_walk_next(&walk, &part, &more, error);
    if (status || !more) { break; }
    status = pks__snapshot_segment(base, hit->run, part.frame.segment, &segment, error);
    *allows = !status && allows_frame(reuse_policy, segment, &part.frame.ref);
  }
  bool is_damage = status == PKS_CORRUPT || status == PKS_PURGED;
  if (is_damage) { *allows = false; }
  return is_damage ? PKS_OK : status;
}

pks_status pks__reuse_policy_find_chunk(
  const pks__reuse_policy *reuse_policy, pks_snapshot *base, const pks__id *id, pks__segment_kind kind,
  pks__chunk_ref *out, bool *found, pks_error *error
) {
  // Existing copies take precedence over missing ones.
  for (int any = 0; any <= reuse_policy->keeps_missing; any++) {
    pks__chunk_probe probe = {.any = any};
    do {
      pks_status status = pks__snapshot_next_chunk(base, id, kind, &probe, out, found, error);
      if (status) { return status; }
    } while (*found && !pks__reuse_policy_allows(reuse_policy, out->segment, out->row, any));
    if (*found) { break; }
  }
  return PKS_OK;
}
