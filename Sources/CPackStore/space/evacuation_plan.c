#include "space/evacuation_plan.h"

#include <string.h>

#include "base/sort.h"
#include "catalog/catalog.h"
#include "segment/frame_check.h"
#include "store/chunk_lookup.h"
#include "store/segment_registry.h"

/// A version leads to a segment.
typedef struct link {
  uint32_t segment;  ///< index in `segments`
  uint32_t version;  ///< index in `versions`
} link;

/// A version, and whether it is to be laid out again.
typedef struct listed_version {
  pks__planned_version at;
  bool in_scope, moves;
} listed_version;

#define STORE_FILES UINT32_MAX

/// A segment that may be emptied.
typedef struct candidate {
  uint32_t segment;
  uint32_t place;  ///< the number of the pack whose it is, in the cache folder; STORE_FILES: it is durable
  uint64_t copy_bytes, free_bytes;
} candidate;

typedef struct planner {
  pks__evacuation_plan *plan;
  pks_snapshot *snapshot;
  const pks__evacuation_limits *limits;
  pks__segment_set segments;  ///< all that versions lead to
  pks__scratch links;
  pks__scratch versions;
  pks__segment_set looked_at;
  pks__scratch candidates;
  pks__scratch named;  ///< pks__segment_id: of one layout
} planner;

static const pks__version *version_at(const planner *planner, pks__planned_version at) {
  return &pks__generation_any_pack(&planner->snapshot->generation, at.pack)->versions[at.version];
}

// MARK: - Who leads where

static pks_status add_link(planner *planner, const pks__segment_id *id, uint32_t version, pks_error *error) {
  link link = {.version = version};
  pks_status status = pks__segment_set_add(&planner->segments, id, error);
  if (status) { return status; }
  bool is_known = pks__segment_set_find(&planner->segments, id, &link.segment);
  PKS_ASSERT(is_known);
  return pks__scratch_append(&planner->links, &link, sizeof link, error);
}

static bool is_in_scope(const planner *planner, const char *pack) {
  const pks__scratch *packs = planner->limits->packs;
  if (!packs) { return true; }
  for (uint64_t at = 0; at < packs->length; at += strlen((const char *)packs->bytes + at) + 1) {
    if (strcmp((const char *)packs->bytes + at, pack) == 0) { return true; }
  }
  return false;
}

/// Records the segments that a version's layout lists, and the segment of the layout's root.
static pks_status list_version(planner *planner, pks__planned_version at, bool in_scope, pks_error *error) {
  const pks__version *version = version_at(planner, at);
  uint32_t index = (uint32_t)PKS__SCRATCH_COUNT(&planner->versions, listed_version);
  listed_version listed = {.at = at, .in_scope = in_scope};
  pks__layout_root layout;
  pks__chunk_ref ref;
  bool found;
  planner->named.length = 0;
  pks_status status =
    pks__snapshot_find_chunk(planner->snapshot, &version->layout, PKS__SEGMENT_METADATA, &ref, &found, error);
  if (!status && found) { status = add_link(planner, &ref.segment->id, index, error); }
  pks__page_source pages = pks__snapshot_pages(planner->snapshot);
  if (!status) { status = pks__layout_read_root(pages, &version->layout, &layout, &planner->named, error); }
  for (uint64_t i = 0; !status && i < PKS__SCRATCH_COUNT(&planner->named, pks__segment_id); i++) {
    status = add_link(planner, PKS__SCRATCH_AT(&planner->named, const pks__segment_id, i), index, error);
  }
  return status ? status : pks__scratch_append(&planner->versions, &listed, sizeof listed, error);
}

static pks_status list_versions(planner *planner, pks_error *error) {
  const pks__generation *generation = &planner->snapshot->generation;
  pks_status status = PKS_OK;
  for (uint32_t pack = 0; pack < generation->pack_count + generation->removed_count; pack++) {
    const pks__pack_state *state = pks__generation_any_pack(generation, pack);
    bool in_scope = is_in_scope(planner, state->name);
    for (uint32_t i = 0; !status && i < state->version_count; i++) {
      status = list_version(planner, (pks__planned_version){.pack = pack, .version = i}, in_scope, error);
    }
  }
  return status;
}

static const link *link_at(const planner *planner, uint64_t index) {
  return PKS__SCRATCH_AT(&planner->links, const link, index);
}

static listed_version *listed_at(const planner *planner, uint32_t index) {
  return PKS__SCRATCH_AT(&planner->versions, listed_version, index);
}

// MARK: - What is needed

/// Adds the needs of versions that use an examined segment.
static pks_status measure_use(planner *planner, pks_error *error) {
  uint64_t count = PKS__SCRATCH_COUNT(&planner->links, link);
  pks_status status = PKS_OK;
  for (uint64_t i = 0; !status && i < count; i++) {
    const link *link = link_at(planner, i);
    if (!listed_at(planner, link->version)->in_scope) { continue; }
    status = pks__segment_set_add(&planner->looked_at, pks__segment_set_at(&planner->segments, link->segment), error);
  }
  for (uint64_t i = 0; !status && i < count; i++) {
    const link *link = link_at(planner, i);
    listed_version *listed = listed_at(planner, link->version);
    const pks__segment_id *id = pks__segment_set_at(&planner->segments, link->segment);
    if (listed->moves || !pks__segment_set_has(&planner->looked_at, id)) { continue; }
    listed->moves = true;  // for now: it was added
    status = pks__chunk_use_add_version(&planner->plan->use, planner->snapshot, version_at(planner, listed->at), error);
  }
  for (uint64_t i = 0; i < PKS__SCRATCH_COUNT(&planner->versions, listed_version); i++) {
    listed_at(planner, (uint32_t)i)->moves = false;
  }
  return status;
}

// MARK: - The choice

static bool is_worth_emptying(uint32_t kind, const pks__segment_sums *sums) {
  if (kind == PKS__SEGMENT_METADATA) { return sums->needed_stored_bytes < sums->stored_bytes / 4 * 3; }
  return sums->needed_frame_count < sums->frame_count || sums->sparse_frame_count > 0;
}

/// Whether all frames are there that are needed of a segment which may vanish.
static pks_status is_there(planner *planner, const pks__segment_use *use, bool *there, pks_error *error) {
  *there = true;
  for (uint32_t i = 0; use->segment->is_purgeable && *there && i < use->segment->frame_count; i++) {
    pks__frame_use frame;
    pks_status status = pks__chunk_use_frame(&planner->plan->use, use, i, &frame, error);
    if (status) { return status; }
    *there = frame.chunk_count == 0 || pks__frame_is_present(use->segment, &frame.frame.ref);
  }
  return PKS_OK;
}

/// Returns the owner of a segment in the cache folder: the pack of the version that uses it.
static uint32_t place_of(const planner *planner, const pks__segment_use *use, uint32_t segment) {
  uint64_t count = PKS__SCRATCH_COUNT(&planner->links, link);
  for (uint64_t i = 0; use->segment->is_purgeable && i < count; i++) {
    const link *link = link_at(planner, i);
    if (link->segment == segment) { return listed_at(planner, link->version)->at.pack; }
  }
  return STORE_FILES;
}

static pks_status add_candidate(planner *planner, const pks__segment_use *use, uint32_t segment, pks_error *error) {
  pks__segment_sums sums;
  bool there = false;
  pks_status status = pks__chunk_use_measure(&planner->plan->use, use, &sums, error);
  if (!status && is_worth_emptying(use->segment->kind, &sums)) { status = is_there(planner, use, &there, error); }
  if (status || !there) { return status; }
  uint64_t sparse = sums.sparse_raw_bytes < sums.sparse_stored_bytes ? sums.sparse_raw_bytes : sums.sparse_stored_bytes;
  uint64_t copy = sums.needed_stored_bytes - sums.sparse_stored_bytes + sparse;
  uint64_t length = use->segment->file_length;
  candidate candidate = {
    .segment = segment,
    .place = place_of(planner, use, segment),
    .copy_bytes = copy,
    .free_bytes = length > copy ? length - copy : 0};
  if (planner->limits->only_worthwhile && candidate.free_bytes < candidate.copy_bytes) { return PKS_OK; }
  return pks__scratch_append(&planner->candidates, &candidate, sizeof candidate, error);
}

/// Orders by the copied bytes per freed byte; equal ones by their order in the store.
static bool comes_before(const void *context, const void *a, const void *b) {
  const candidate *x = a, *y = b;
  double cost_x = (double)x->copy_bytes / ((double)x->free_bytes + 1);
  double cost_y = (double)y->copy_bytes / ((double)y->free_bytes + 1);
  (void)context;
  return cost_x != cost_y ? cost_x < cost_y : x->segment < y->segment;
}

/// Adds a segment that layouts list although nothing in it is needed: it can be deleted once they are written without it. Commits
/// leave it until its versions are laid out again for another reason.
static pks_status add_listed(planner *planner, const pks__segment_id *id, uint32_t segment, pks_error *error) {
  pks__segment *open;
  if (planner->limits->only_worthwhile) { return PKS_OK; }
  pks_status status = pks__snapshot_take_segment(planner->snapshot, id, &open, error);
  // A missing segment uses no space.
  if (status) { return status == PKS_PURGED ? PKS_OK : status; }
  status = pks__segment_need_table(open, error);
  candidate candidate = {.segment = segment, .place = STORE_FILES, .free_bytes = open->file_length};
  bool is_ours = !open->is_base && !open->is_purgeable && open->kind == PKS__SEGMENT_DATA;
  if (!status && is_ours) { status = pks__scratch_append(&planner->candidates, &candidate, sizeof candidate, error); }
  pks__store_release_segment(planner->snapshot->store, open);
  return status;
}

static pks_status find_candidates(planner *planner, pks_error *error) {
  const pks__chunk_use *use = &planner->plan->use;
  pks_status status = PKS_OK;
  for (uint32_t i = 0; !status && i < pks__segment_set_count(&planner->looked_at); i++) {
    const pks__segment_id *id = pks__segment_set_at(&planner->looked_at, i);
    const pks__segment_use *segment = pks__chunk_use_find(use, id);
    uint32_t index;
    // A segment found only by content is deleted when versions are laid out again.
    if (!pks__segment_set_find(&planner->segments, id, &index)) { continue; }
    if (!segment) { status = add_listed(planner, id, index, error); }
    // Segments of the base are not emptied; a segment that cannot be opened stays.
    bool is_ours = segment && segment->segment && !segment->segment->is_base;
    if (is_ours) { status = add_candidate(planner, segment, index, error); }
    if (status == PKS_CORRUPT) { status = PKS_OK; }
  }
  uint64_t count = PKS__SCRATCH_COUNT(&planner->candidates, candidate);
  pks__sort(planner->candidates.bytes, count, sizeof(candidate), comes_before, NULL);
  return status;
}

/// The first candidate that fits decides the place.
static bool is_in_place(planner *planner, const candidate *candidate) {
  pks__evacuation_plan *plan = planner->plan;
  if (planner->limits->any_place) { return true; }
  if (pks__segment_set_count(&plan->victims) == 0) {
    plan->is_purgeable = candidate->place != STORE_FILES;
    plan->pack = candidate->place;
  }
  return plan->pack == candidate->place;
}

/// Size of a copy in the cache folder in addition to the chunks: headers, tables and padding, of a few segments at most.
enum { COPY_OVERHEAD = 128 * 1024 };

/// Whether the copy fits in `limit`, together with earlier copies.
static bool fits(const planner *planner, const candidate *candidate, uint64_t limit) {
  uint64_t copied = planner->plan->copy_bytes, room = planner->limits->cache_bytes;
  if (candidate->copy_bytes > limit - copied) { return false; }
  if (candidate->place == STORE_FILES || room == UINT64_MAX) { return true; }
  room = room > COPY_OVERHEAD ? room - COPY_OVERHEAD : 0;
  return room >= copied && candidate->copy_bytes <= (room - copied) / 33 * 32;
}

/// Returns the maximum number of bytes to copy, depending on the share of dead bytes in the examined segments.
static uint64_t copy_limit(const planner *planner) {
  const pks__chunk_use *use = &planner->plan->use;
  const pks__evacuation_limits *limits = planner->limits;
  uint64_t taken = 0, needed = use->data.stored_bytes + use->pages.stored_bytes;
  for (uint32_t i = 0; i < pks__chunk_use_segment_count(use); i++) {
    const pks__segment *segment = pks__chunk_use_segment(use, i)->segment;
    if (segment) { taken += segment->file_length; }
  }
  bool is_crowded = taken / 5 > needed / 4;
  return is_crowded && limits->crowded_bytes > limits->copy_bytes ? limits->crowded_bytes : limits->copy_bytes;
}

static pks_status choose(planner *planner, pks_error *error) {
  pks__evacuation_plan *plan = planner->plan;
  uint64_t limit = copy_limit(planner);
  pks_status status = PKS_OK;
  for (uint64_t i = 0; !status && i < PKS__SCRATCH_COUNT(&planner->candidates, candidate); i++) {
    const candidate *candidate = PKS__SCRATCH_AT(&planner->candidates, const struct candidate, i);
    if (!fits(planner, candidate, limit) || !is_in_place(planner, candidate)) { continue; }
    plan->copy_bytes += candidate->copy_bytes;
    plan->free_bytes += candidate->free_bytes;
    status = pks__segment_set_add(&plan->victims, pks__segment_set_at(&planner->segments, candidate->segment), error);
  }
  return status;
}

// MARK: - What moves with it

/// Marks all versions that lead to a victim.
static void mark_moving(planner *planner) {
  for (uint64_t i = 0; i < PKS__SCRATCH_COUNT(&planner->links, link); i++) {
    const link *link = link_at(planner, i);
    const pks__segment_id *id = pks__segment_set_at(&planner->segments, link->segment);
    if (pks__segment_set_has(&planner->plan->victims, id)) { listed_at(planner, link->version)->moves = true; }
  }
}

/// Adds the metadata segments that no version leads to which stays as it is.
static pks_status add_metadata(planner *planner, pks_error *error) {
  pks__scratch stays = {0};  // a byte for each segment
  uint32_t count = pks__segment_set_count(&planner->segments);
  pks_status status = pks__scratch_append(&stays, NULL, count, error);
  for (uint64_t i = 0; !status && i < PKS__SCRATCH_COUNT(&planner->links, link); i++) {
    const link *link = link_at(planner, i);
    if (!listed_at(planner, link->version)->moves) { stays.bytes[link->segment] = 1; }
  }
  for (uint32_t i = 0; !status && i < count; i++) {
    const pks__segment_id *id = pks__segment_set_at(&planner->segments, i);
    const pks__segment_use *use = pks__chunk_use_find(&planner->plan->use, id);
    bool is_metadata = use && use->segment && use->segment->kind == PKS__SEGMENT_METADATA;
    if (is_metadata && !stays.bytes[i]) { status = pks__segment_set_add(&planner->plan->victims, id, error); }
  }
  pks__scratch_free(&stays);
  return status;
}

static pks_status list_moving(planner *planner, pks_error *error) {
  pks_status status = PKS_OK;
  for (uint64_t i = 0; !status && i < PKS__SCRATCH_COUNT(&planner->versions, listed_version); i++) {
    const listed_version *listed = listed_at(planner, (uint32_t)i);
    if (!listed->moves) { continue; }
    status = pks__scratch_append(&planner->plan->versions, &listed->at, sizeof listed->at, error);
  }
  return status;
}

/// Lists what new layouts must not lead to.
static pks_status list_avoided(planner *planner, pks_error *error) {
  pks_snapshot *snapshot = planner->snapshot;
  pks__evacuation_plan *plan = planner->plan;
  pks_status status = PKS_OK;
  for (uint32_t i = 0; !status && i < pks__segment_set_count(&plan->victims); i++) {
    status = pks__segment_set_add(&plan->avoided, pks__segment_set_at(&plan->victims, i), error);
  }
  for (uint32_t i = 0; !status && i < snapshot->run_count; i++) {
    pks__run *run = &snapshot->runs[i].open->run;
    for (uint32_t at = 0; !status && at < run->segment_count; at++) {
      pks__run_segment_info info;
      status = pks__run_segment_at(run, at, &info, error);
      bool is_led_to = !status && pks__segment_set_has(&planner->segments, &info.id);
      if (!status && !is_led_to) { status = pks__segment_set_add(&plan->avoided, &info.id, error); }
    }
  }
  return status;
}

// MARK: - Life

static void init(planner *planner, pks__scratch_folder *home) {
  pks__evacuation_plan *plan = planner->plan;
  pks__segment_set_init(&plan->victims, home);
  pks__segment_set_init(&plan->avoided, home);
  pks__scratch_init(&plan->versions, home);
  pks__segment_set_init(&planner->segments, home);
  pks__segment_set_init(&planner->looked_at, home);
  pks__scratch *all[] = {&planner->links, &planner->versions, &planner->candidates, &planner->named};
  for (size_t i = 0; i < PKS_COUNT_OF(all); i++) { pks__scratch_init(all[i], home); }
}

static void release(planner *planner) {
  planner->plan->use.only = NULL;
  pks__segment_set_free(&planner->segments);
  pks__segment_set_free(&planner->looked_at);
  pks__scratch *all[] = {&planner->links, &planner->versions, &planner->candidates, &planner->named};
  for (size_t i = 0; i < PKS_COUNT_OF(all); i++) { pks__scratch_free(all[i]); }
}

pks_status pks__evacuation_plan_make(
  pks__evacuation_plan *out, pks_snapshot *snapshot, const pks__evacuation_limits *limits, pks__scratch_folder *home,
  pks_error *error
) {
  *out = (pks__evacuation_plan){0};
  planner planner = {.plan = out, .snapshot = snapshot, .limits = limits};
  init(&planner, home);
  pks__chunk_use_init(&out->use, snapshot->store, home, &planner.looked_at);
  out->use.keeps_order = true;
  pks_status status = list_versions(&planner, error);
  if (!status) { status = measure_use(&planner, error); }
  if (!status) { status = find_candidates(&planner, error); }
  if (!status) { status = choose(&planner, error); }
  if (!status && pks__segment_set_count(&out->victims) > 0) {
    mark_moving(&planner);
    status = add_metadata(&planner, error);
    if (!status) { status = list_moving(&planner, error); }
    if (!status) { status = list_avoided(&planner, error); }
  }
  release(&planner);
  return status;
}

void pks__evacuation_plan_free(pks__evacuation_plan *plan) {
  pks__segment_set_free(&plan->victims);
  pks__segment_set_free(&plan->avoided);
  pks__scratch_free(&plan->versions);
  pks__chunk_use_free(&plan->use);
}
