/// Repair: which packs and versions there should be. See `repair.h`.
#include "repair/repair_plan.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "repair/repair_versions.h"
#include "store/control_recovery.h"
#include "store/generation_file.h"
#include "store/snapshot.h"

// MARK: - Control file

/// An invalid slot still contains its generation's number.
pks_status pks__repair_read_control(pks__repair *repair, pks_error *error) {
  pks_store *store = repair->store;
  const pks_vfs *vfs = store->vfs;
  pks_vfs_info info;
  pks_error found;
  if (store->control == PKS_VFS_NO_FILE) { return PKS_OK; }
  pks_status status = pks__store_read_control(store, &repair->control, &found);
  bool ends = pks__is_other_format(status) || (status && !pks__error_is_damage(&found));
  if (ends && error) { *error = found; }
  if (ends) { return status; }
  int failure = pks__vfs_info_of(vfs, store->control, &info);
  if (failure) { return pks__fail_system(error, failure, "cannot examine", PKS__CONTROL_FILE); }
  repair->has_control = !status && !repair->control.may_hide && info.size <= PKS__CONTROL_SIZE;
  const pks__control_slot *slots = repair->control.slots;
  repair->slot = status ? slots[slots[1].generation > slots[0].generation] : *pks__control_current(&repair->control);
  return PKS_OK;
}

/// Determines the store's id from a slot, or from the generation; if neither contains it, the store gets a new id.
static pks_status complete_slot(pks__repair *repair, pks_error *error) {
  const pks_vfs *vfs = repair->store->vfs;
  bool known = repair->slot.generation > 0, has_plan = repair->plan.number > 0;
  if (!known && has_plan) { memcpy(repair->slot.store_id, repair->plan.store_id, sizeof repair->slot.store_id); }
  int failure = known || has_plan ? 0 : pks__vfs_random(vfs, repair->slot.store_id, sizeof repair->slot.store_id);
  if (failure) { return pks__fail_system(error, failure, "cannot generate a store id", NULL); }
  const uint8_t *id = repair->request->store_id;
  if (!known && !has_plan && id) { memcpy(repair->slot.store_id, id, sizeof repair->slot.store_id); }
  if (!pks__chunk_average_is_valid(repair->slot.chunk_average)) { repair->slot.chunk_average = 0; }
  return PKS_OK;
}

// MARK: - Generations

/// Tries a generation; `*read` is whether it is the plan now.
static pks_status try_generation(pks__repair *repair, uint64_t number, bool *read, pks_error *error) {
  pks_error found;
  pks_status status = pks__store_read_generation(repair->old, number, NULL, &repair->plan, &found);
  *read = !status;
  bool ends = pks__is_other_format(status) || (status && !pks__error_is_damage(&found));
  if (ends && error) { *error = found; }
  return ends ? status : PKS_OK;
}

/// Whether the plan's generation counts: durable, or made since the machine was started.
static bool plan_counts(const pks__repair *repair) {
  const pks__generation *plan = &repair->plan;
  return plan->durable || memcmp(plan->boot_id, repair->store->boot_id, sizeof plan->boot_id) == 0;
}

/// Whether the plan's generation belongs to this store, as far as the control file shows.
static bool plan_is_ours(const pks__repair *repair) {
  const pks__control *control = &repair->control;
  bool known = control->known[0] || control->known[1];
  return !known || memcmp(repair->plan.store_id, repair->slot.store_id, sizeof repair->slot.store_id) == 0;
}

static void drop_plan(pks__repair *repair) {
  pks__generation_free(&repair->plan);
  repair->plan = (pks__generation){0};
}

/// Tries generations of a lost slot: successors of the intact one, even with damaged runs.
static pks_status try_hidden(pks__repair *repair, const pks__generation_list *files, bool *read, pks_error *error) {
  uint64_t intact = repair->slot.generation;
  pks_status status = PKS_OK;
  uint64_t number = pks__generation_list_below(files, UINT64_MAX);
  for (; !status && !*read && number > intact; number = pks__generation_list_below(files, number)) {
    status = try_generation(repair, number, read, error);
    if (status || !*read) { continue; }
    *read = plan_is_ours(repair) && plan_counts(repair) && repair->plan.predecessor == intact;
    if (!*read) { drop_plan(repair); }
  }
  return status;
}

/// Tries the generations that slots name, those first that count.
static pks_status try_slots(pks__repair *repair, bool *read, pks_error *error) {
  const pks__control *control = &repair->control;
  pks_status status = PKS_OK;
  for (size_t counts = 2; !status && !*read && counts-- > 0;) {
    size_t newer = control->slots[1].generation > control->slots[0].generation;
    for (size_t i = 0; !status && !*read && i < PKS__CONTROL_SLOTS; i++) {
      size_t slot = i == 0 ? newer : 1 - newer;
      uint64_t number = control->slots[slot].generation;
      if (number > 0 && control->valid[slot] == (counts == 1)) { status = try_generation(repair, number, read, error); }
    }
  }
  return status;
}

/// Tries all files of this store, those first that count, as an atomic generation from before a restart may lack files.
static pks_status try_files(pks__repair *repair, const pks__generation_list *files, bool *read, pks_error *error) {
  pks_status status = PKS_OK;
  for (int must_count = 1; !status && !*read && must_count >= 0; must_count--) {
    uint64_t number = pks__generation_list_below(files, UINT64_MAX);
    for (; !status && !*read && number > 0; number = pks__generation_list_below(files, number)) {
      status = try_generation(repair, number, read, error);
      if (status || !*read) { continue; }
      *read = plan_is_ours(repair) && (!must_count || plan_counts(repair));
      if (!*read) { drop_plan(repair); }
    }
  }
  return status;
}

/// Reads the newest readable generation: one that a lost slot may have contained, those of the valid slots, of the other slots, or
/// of any file.
static pks_status read_plan(pks__repair *repair, const pks__generation_list *files, pks_error *error) {
  bool read = false;
  pks_status status = repair->control.may_hide ? try_hidden(repair, files, &read, error) : PKS_OK;
  if (!status && !read) { status = try_slots(repair, &read, error); }
  if (!status && !read) { status = try_files(repair, files, &read, error); }
  return status;
}

/// Whether a file of `index/` may be of a commit that is missing: it cannot be read, or it succeeds the intact slot's.
static pks_status is_trace(pks__repair *repair, uint64_t number, bool *trace, pks_error *error) {
  pks__generation generation = {0};
  pks_error found;
  pks_status status = pks__store_read_generation(repair->old, number, NULL, &generation, &found);
  bool counts =
    generation.durable || memcmp(generation.boot_id, repair->store->boot_id, sizeof generation.boot_id) == 0;
  bool is_ours = memcmp(generation.store_id, repair->slot.store_id, sizeof generation.store_id) == 0;
  *trace = status || (counts && is_ours && generation.predecessor == repair->slot.generation);
  pks__generation_free(&generation);
  if (!status || pks__error_is_damage(&found)) { return PKS_OK; }
  if (error) { *error = found; }
  return status;
}

pks_status pks__repair_is_behind(pks__repair *repair, uint64_t number, bool *behind, pks_error *error) {
  pks__generation_list files = {0};
  *behind = false;
  if (!repair->control.may_hide) { return PKS_OK; }
  pks_status status = pks__generation_list_read(&files, repair->old->vfs, repair->old->root, error);
  uint64_t file = pks__generation_list_below(&files, UINT64_MAX);
  for (; !status && !*behind && file > number; file = pks__generation_list_below(&files, file)) {
    status = is_trace(repair, file, behind, error);
  }
  pks__generation_list_free(&files);
  return status;
}

/// Whether there was a later generation than the plan's, according to any remaining trace.
static bool is_stale(const pks__repair *repair, const pks__generation_list *files) {
  const pks__control_slot *slots = repair->control.slots;
  uint64_t plan = repair->plan.number;
  if (plan == 0) { return true; }
  bool has_slot = slots[0].generation > 0 || slots[1].generation > 0;
  // If a control file exists, a later file of the index belongs to an unfinished commit.
  return has_slot ? repair->slot.generation > plan : pks__generation_list_below(files, UINT64_MAX) > plan;
}

// MARK: - The index as it was

static pks_status run_opens(pks__repair *repair, const pks__run_ref *ref, bool *opens, pks_error *error) {
  pks__run run;
  pks_error found;
  char path[PKS__INDEX_NAME];
  pks__run_path(ref->name.name, path);
  pks_status status = pks__run_open(&run, repair->old->vfs, repair->old->root, path, &found);
  *opens = !status && run.table.file_length == ref->name.file_length && run.table.trailer_sum == ref->name.trailer_sum
    && run.pack_count == ref->pack_count;
  if (!status) { pks__run_close(&run); }
  if (!status || pks__error_is_damage(&found)) { return PKS_OK; }
  if (error) { *error = found; }
  return status;
}

/// Opens the readable parts of the plan's index.
static pks_status open_index(pks__repair *repair, pks_error *error) {
  pks__generation generation;
  pks_status status = pks__generation_copy(&repair->plan, &generation, error);
  if (status) { return status; }
  repair->index_is_whole = true;
  uint32_t kept = 0;
  for (uint32_t i = 0; !status && i < repair->plan.run_count; i++) {
    bool opens = false;
    status = run_opens(repair, &repair->plan.runs[i], &opens, error);
    pks__run_ref ref = generation.runs[i];
    generation.runs[i].pack_numbers = NULL;
    if (opens) {
      generation.runs[kept++] = ref;
    } else {
      pks__free(ref.pack_numbers);
      repair->index_is_whole = false;
    }
  }
  if (status) {
    pks__generation_free(&generation);
    return status;
  }
  generation.run_count = kept;
  return pks__snapshot_create(&repair->index, repair->old, &generation, PKS_VFS_NO_FILE, error);
}

pks_status pks__repair_find_plan(pks__repair *repair, pks_error *error) {
  pks__generation_list files;
  pks_status status = pks__generation_list_read(&files, repair->old->vfs, repair->old->root, error);
  if (!status) { status = read_plan(repair, &files, error); }
  if (!status) { status = complete_slot(repair, error); }
  bool behind = false;
  if (!status) { status = pks__repair_is_behind(repair, repair->plan.number, &behind, error); }
  if (!status) { repair->totals.is_rebuilt = behind || is_stale(repair, &files); }
  if (!status && repair->plan.number > 0) { status = open_index(repair, error); }
  pks__generation_list_free(&files);
  return status;
}

// MARK: - Guessing

/// Inserts a version into a pack's list, the highest number first. There may be as many old layouts as segments: versions beyond
/// the limit take no time.
static pks_status insert_version(pks__pack_state *pack, const pks__version *version, pks_error *error) {
  enum { KEEP = PKS__VERSIONS_MAX };
  uint32_t at = 0, kept = pack->version_count < KEEP ? pack->version_count : KEEP - 1;
  while (at < pack->version_count && pack->versions[at].number > version->number) { at++; }
  if (at >= KEEP) { return PKS_OK; }
  pks__version *versions = pks__allocate_zeroed((size_t)kept + 2, sizeof *versions);
  if (!versions) { return pks__fail_memory(error); }
  memcpy(versions, pack->versions, at * sizeof *versions);
  versions[at] = *version;
  memcpy(&versions[at + 1], &pack->versions[at], (kept - at) * sizeof *versions);
  pks__free(pack->versions);
  pack->versions = versions;
  pack->version_count = kept + 1;
  return PKS_OK;
}

/// Whether a version with the number is known, or a later one existed when the plan was made.
static bool is_known(const pks__repair *repair, const pks__pack_state *pack, uint64_t number) {
  if (repair->plan.number > 0 && number <= pack->highest_version) { return true; }
  return pks__pack_find_version(pack, number) != UINT32_MAX;
}

/// Adds a pack that only a layout contains. The layout does not contain the pack's origin; packs of a site are its own.
static pks_status add_unknown_pack(pks__repair *repair, const char *name, uint32_t *index, pks_error *error) {
  pks__generation *plan = &repair->plan;
  bool is_site = plan->is_site || repair->request->publication;
  pks__origin unknown = {.kind = is_site ? PKS_ORIGIN_LOCAL : PKS_ORIGIN_UNKNOWN};
  uint32_t origin;
  pks_status status = pks__origins_add(&plan->origins, &unknown, &origin, error);
  if (!status) { status = pks__generation_add_pack(plan, name, 0, index, error); }
  if (status) { return status; }
  plan->packs[*index].origin = origin;
  pks__generation_sort(plan);
  *index = pks__generation_find_pack(plan, name);
  return PKS_OK;
}

static pks_status note_layout(pks__repair *repair, const pks__id *id, pks_error *error) {
  pks__page_source pages = pks__chunk_recovery_pages(&repair->salvage);
  pks__generation *plan = &repair->plan;
  pks__layout_root root;
  pks__scratch segments = {0};
  pks__catalog_info info = {0};
  pks__tree map;
  pks_error found;
  pks_status status = pks__layout_read_root(pages, id, &root, &segments, &found);
  pks__scratch_free(&segments);
  if (status) { return PKS_OK; }
  uint32_t index = pks__generation_find_pack(plan, root.pack);
  if (index == UINT32_MAX && pks__generation_find_removed(plan, root.pack) != UINT32_MAX) { return PKS_OK; }
  if (index == UINT32_MAX) { status = add_unknown_pack(repair, root.pack, &index, error); }
  if (status || is_known(repair, &plan->packs[index], root.number)) { return status; }
  (void)pks__catalog_read_root(pages, &root.catalog, &info, &map, &found);
  pks__version version = {
    .number = root.number,
    .catalog = root.catalog,
    .layout = *id,
    .attributes = root.attributes,
    .committed_at_ns = pks__vfs_now_ns(repair->store->vfs),
    .file_count = info.file_count,
    .link_count = info.link_count,
    .folder_count = info.folder_count,
    .logical_bytes = info.logical_bytes,
  };
  return insert_version(&plan->packs[index], &version, error);
}

/// Drops found versions that the plan's generation does not list, while the first of them is incomplete: the rest of a commit that
/// may never have finished must not replace an existing version.
static pks_status drop_partial_versions(pks__repair *repair, pks__pack_state *pack, pks_error *error) {
  pks_status status = PKS_OK;
  bool whole = false;
  while (pack->version_count > 1 && pack->versions[0].number > pack->highest_version) {
    status = pks__repair_is_whole(repair, &pack->versions[0].catalog, &whole, error);
    if (status || whole) { return status; }
    repair->pack = pack->name;
    repair->version = pack->versions[0].number;
    repair->totals.lost_version_count++;
    pks__repair_lose(repair, NULL, 0, 0);
    memmove(&pack->versions[0], &pack->versions[1], --pack->version_count * sizeof *pack->versions);
  }
  return PKS_OK;
}

pks_status pks__repair_guess_plan(pks__repair *repair, pks_error *error) {
  const pks__scratch *layouts = &repair->survey.layouts;
  pks__generation *plan = &repair->plan;
  pks_status status = PKS_OK;
  if (plan->next_pack_number == 0) { plan->next_pack_number = 1; }
  for (uint64_t i = 0; !status && i < PKS__SCRATCH_COUNT(layouts, pks__id); i++) {
    status = note_layout(repair, PKS__SCRATCH_AT(layouts, const pks__id, i), error);
  }
  for (uint32_t i = 0; !status && i < plan->pack_count; i++) {
    pks__pack_state *pack = &plan->packs[i];
    if (plan->number > 0 && pack->highest_version > 0) { status = drop_partial_versions(repair, pack, error); }
    if (pack->version_count > 0 && pack->versions[0].number > pack->highest_version) {
      pack->highest_version = pack->versions[0].number;
    }
  }
  plan->has_shadows = true;
  return status;
}

// MARK: - What the caller says

static pks_status append_version(pks__pack_state *pack, const pks_restored_version *from, pks_error *error) {
  if (pack->version_count >= PKS__VERSIONS_MAX || pks__pack_find_version(pack, from->number) != UINT32_MAX) {
    return pks__fail_about(
      error, PKS_INVALID_ARGUMENT, PKS_DETAIL_NONE, PKS_SUBJECT_PACK, from->pack, "impossible versions"
    );
  }
  pks__version *versions = pks__reallocate(pack->versions, ((size_t)pack->version_count + 1) * sizeof *versions);
  if (!versions) { return pks__fail_memory(error); }
  pack->versions = versions;
  pks__version *version = &versions[pack->version_count++];
  *version = (pks__version){
    .number = from->number,
    .committed_at_ns = from->committed_at_ns,
    .file_count = from->file_count,
    .link_count = from->link_count,
    .folder_count = from->folder_count,
    .logical_bytes = from->logical_bytes,
  };
  memcpy(&version->catalog, from->catalog, sizeof version->catalog);
  memcpy(&version->layout, from->layout, sizeof version->layout);
  memcpy(&version->attributes, from->attributes, sizeof version->attributes);
  pack->highest_version = pks__max64(pack->highest_version, from->number);
  return PKS_OK;
}

static pks_status take_version(pks__repair *repair, const pks_restored_version *version, pks_error *error) {
  pks__generation *plan = &repair->plan;
  bool is_possible = version->pack && version->number > 0 && version->number <= PKS__VERSION_MAX
    && pks__pack_name_is_valid(version->pack);
  if (!is_possible) {
    return pks__fail_about(
      error, PKS_INVALID_ARGUMENT, PKS_DETAIL_NONE, PKS_SUBJECT_PACK, version->pack, "impossible name or version number"
    );
  }
  uint32_t index = pks__generation_find_pack(plan, version->pack);
  pks_status status = index == UINT32_MAX ? add_unknown_pack(repair, version->pack, &index, error) : PKS_OK;
  if (status) { return status; }
  plan->packs[index].priority = version->priority;
  return append_version(&plan->packs[index], version, error);
}

pks_status pks__repair_take_plan(pks__repair *repair, pks_error *error) {
  const pks_repair_request *request = repair->request;
  pks_status status = PKS_OK;
  if (repair->plan.next_pack_number == 0) { repair->plan.next_pack_number = 1; }
  for (uint32_t i = 0; !status && i < request->version_count; i++) {
    status = take_version(repair, &request->versions[i], error);
  }
  repair->plan.has_shadows = true;
  return status;
}

void pks__repair_find_average(pks__repair *repair) {
  const pks__generation *plan = &repair->plan;
  pks__page_source pages = pks__chunk_recovery_pages(&repair->salvage);
  uint32_t *average = &repair->slot.chunk_average;
  for (uint32_t i = 0; *average == 0 && i < plan->pack_count + plan->removed_count; i++) {
    const pks__pack_state *pack = pks__generation_any_pack(plan, i);
    for (uint32_t version = 0; *average == 0 && version < pack->version_count; version++) {
      pks__catalog_info info = {0};
      pks__tree map;
      (void)pks__catalog_read_root(pages, &pack->versions[version].catalog, &info, &map, NULL);
      if (pks__chunk_average_is_valid(info.chunk_average)) { *average = info.chunk_average; }
    }
  }
  if (*average == 0) { *average = PKS__CHUNK_AVERAGE_DEFAULT; }
  repair->store->chunk_average = *average;
}

// MARK: - The new generation's number

/// The number of tries to find a new generation number that no reader retains. A retained number costs space, because a generation
/// being read is not collected; so a reader who retains all of them costs no more, either.
enum { FREE_NUMBERS_TRIED = 64 };

static pks_status raise_above_pinned(pks__repair *repair, uint64_t *number, pks_error *error) {
  const pks_vfs *vfs = repair->store->vfs;
  bool pinned = true;
  for (uint64_t step = 1; pinned && step <= FREE_NUMBERS_TRIED && *number < PKS__STAGINGS_BEGIN - step - 1; step++) {
    uint64_t next = *number + step;
    pks_status status = pks__is_pinned(vfs, repair->txn->staging.readers, next, next + 1, &pinned, error);
    if (status) { return status; }
    if (!pinned) { *number = next - 1; }
  }
  return PKS_OK;
}

pks_status pks__repair_number(pks__repair *repair, uint64_t *number, pks_error *error) {
  pks__generation_list files;
  pks_status status = pks__generation_list_read(&files, repair->old->vfs, repair->old->root, error);
  *number = pks__max64(pks__generation_list_below(&files, UINT64_MAX), repair->control.claimed);
  for (size_t i = 0; i < PKS__CONTROL_SLOTS; i++) {
    *number = pks__max64(*number, repair->control.slots[i].generation);
  }
  pks__generation_list_free(&files);
  if (!status) { status = raise_above_pinned(repair, number, error); }
  if (!status && *number >= ((uint64_t)1 << 62) - 2) {
    status = pks__fail(error, PKS_CORRUPT, "the numbers of generations are used up", PKS__INDEX_FOLDER, PKS_NO_OFFSET);
  }
  ++*number;
  return status;
}
