/// Repair: putting versions together again. See `repair.h`.
#include "repair/repair_versions.h"

#include "base/memory.h"
#include "catalog/tree_cursor.h"
#include "ingest/ingest_version.h"

// MARK: - Losses

void pks__repair_lose(pks__repair *repair, const char *asset, size_t asset_length, uint64_t unnamed_count) {
  repair->totals.has_lost = true;
  pks_repair_note note = {
    .lost = true,
    .pack = repair->pack,
    .version = repair->version,
    .asset = asset,
    .asset_length = asset_length,
    .unnamed_count = unnamed_count,
  };
  if (repair->request->note) { repair->request->note(repair->request->context, &note); }
}

static void lose_asset(void *context, const char *path, size_t length) {
  pks__repair *repair = context;
  repair->lost_assets++;
  repair->totals.lost_asset_count++;
  pks__repair_lose(repair, path, length, 0);
}

static void lose_attributes(void *context) {
  pks__repair *repair = context;
  repair->totals.has_lost = true;
  pks_repair_note note = {.lost = true, .attributes = true, .pack = repair->pack, .version = repair->version};
  if (repair->request->note) { repair->request->note(repair->request->context, &note); }
}

// MARK: - Preview

static pks_status has_chunk(void *context, const pks__chunk_want *want, bool *has, pks_error *error) {
  pks__repair *repair = context;
  return pks__chunk_recovery_has(&repair->salvage, want, has, error);
}

/// Whether base or origins have every chunk of an asset.
static pks_status can_be_had(pks__repair *repair, const pks__catalog_entry *entry, bool *had, pks_error *error) {
  pks__version_request request = {
    .pages = pks__chunk_recovery_pages(&repair->salvage), .has = has_chunk, .context = repair};
  return pks__ingest_version_has(&request, pks__txn_snapshot(repair->txn), NULL, entry, UINT32_MAX, had, error);
}

/// Whether an entry of a catalog passes.
typedef pks_status entry_test(pks__repair *repair, const pks__catalog_entry *entry, bool *passes, pks_error *error);

/// Whether a catalog can be read, and all of its entries pass.
static pks_status test_entries(
  pks__repair *repair, const pks__id *catalog, entry_test *test, bool *pass, pks_error *error
) {
  pks__page_source pages = pks__chunk_recovery_pages(&repair->salvage);
  pks__tree_cursor cursor = {0};
  pks__catalog_info info;
  pks__tree map;
  *pass = true;
  pks_status status = pks__catalog_read_root(pages, catalog, &info, &map, error);
  if (!status) { pks__tree_cursor_init(&cursor, pages, PKS__TREE_MAP, 0, &map); }
  for (bool more = true; !status && *pass;) {
    pks__catalog_entry entry;
    status = pks__tree_cursor_next(&cursor, &more, error);
    if (!status && more) { status = pks__catalog_entry_read(&cursor, &entry, error); }
    if (status || !more) { break; }
    status = test(repair, &entry, pass, error);
  }
  pks__tree_cursor_free(&cursor);
  if (status != PKS_CORRUPT) { return status; }
  *pass = false;
  return PKS_OK;
}

pks_status pks__repair_is_whole(pks__repair *repair, const pks__id *catalog, bool *whole, pks_error *error) {
  return test_entries(repair, catalog, can_be_had, whole, error);
}

// MARK: - Staging

static bool show_progress(void *context, const pks_progress *progress) {
  const pks__repair *repair = context;
  const pks_repair_request *request = repair->request;
  if (!request->progress) { return true; }
  return request->progress(request->context, PKS_REPAIR_RESTORE, progress->bytes_done, progress->bytes_total);
}

static bool is_empty(const pks__ingest *ingest) {
  return ingest->info.file_count + ingest->info.link_count + ingest->info.folder_count == 0;
}

/// Stages a version from a catalog. With `lossy`, missing data is left out, and the version gets a number of its own if that made a
/// difference. `*staged` is false if nothing is left of it.
static pks_status stage_version(
  pks__repair *repair, const pks__pack_state *pack, const pks__version *version, const pks__id *catalog, bool lossy,
  bool *staged, pks_error *error
) {
  pks__version_request request = {
    .pack = pack->name,
    .catalog = *catalog,
    .layout = version->layout,
    .attributes = version->attributes,
    .pages = pks__chunk_recovery_pages(&repair->salvage),
    .has = has_chunk,
    .fetch = pks__chunk_recovery_fetch(&repair->salvage),
    .lost = lossy ? lose_asset : NULL,
    .lost_attributes = lose_attributes,
    .progress = show_progress,
    .context = repair,
  };
  pks__staged_op change = {.kind = PKS__CHANGE_ADD, .version = *version};
  pks__ingest ingest;
  pks_add_result result;
  pks_status status =
    pks__ingest_version(&ingest, &repair->txn->staging, pks__txn_snapshot(repair->txn), &request, true, error);
  bool is_same = !status && pks__version_is(version, &ingest.catalog_id, &ingest.attributes_id);
  *staged = !status && (is_same || !is_empty(&ingest));
  if (*staged) {
    // The last number there is serves again: better than to lose the pack.
    if (!is_same) { change.version.number = pks__min64(pack->highest_version + 1, PKS__VERSION_MAX); }
    change.version.catalog = ingest.catalog_id;
    change.version.file_count = ingest.info.file_count;
    change.version.link_count = ingest.info.link_count;
    change.version.folder_count = ingest.info.folder_count;
    change.version.logical_bytes = ingest.info.logical_bytes;
    status = pks__txn_stage_version(repair->txn, &ingest, &change, &result, error);
    if (!status) { repair->totals.stored_bytes += result.new_stored_bytes; }
  }
  pks__ingest_close(&ingest);
  return status;
}

// MARK: - Drafts

/// The catalog and the index of a version in parallel, as far as each can be read.
typedef struct draft_walk {
  pks__repair *repair;
  pks__catalog_rebuild draft;
  pks__tree_cursor cursor;
  pks__catalog_entry entry;
  bool has_entry;
  pks__run_merge merge;
  const pks__hit *hit;  ///< the pack's, in the merge's present group; NULL: no more
} draft_walk;

static pks_status next_entry(draft_walk *walk, pks_error *error) {
  pks_status status = pks__tree_cursor_next(&walk->cursor, &walk->has_entry, error);
  if (!status && walk->has_entry) { status = pks__catalog_entry_read(&walk->cursor, &walk->entry, error); }
  if (status != PKS_CORRUPT) { return status; }
  walk->has_entry = false;
  return PKS_OK;
}

static pks_status next_hit(draft_walk *walk, pks_error *error) {
  pks_error found;
  walk->hit = NULL;
  for (bool more = true; more && !walk->hit;) {
    pks_status status = pks__run_merge_next(&walk->merge, &more, &found);
    if (status && !pks__error_is_damage(&found)) {
      if (error) { *error = found; }
      return status;
    }
    if (status) { return PKS_OK; }
    for (uint32_t i = 0; more && i < walk->merge.hit_count; i++) {
      if (walk->merge.hits[i].rank == walk->repair->salvage.rank) { walk->hit = &walk->merge.hits[i]; }
    }
  }
  return PKS_OK;
}

/// The catalog's pages that can be had, in order.
static pks_status open_entries(
  draft_walk *walk, const pks__version *version, pks__catalog_info *info, pks_error *error
) {
  pks__page_source pages = pks__chunk_recovery_pages(&walk->repair->salvage);
  pks__tree map;
  pks_status status = pks__catalog_read_root(pages, &version->catalog, info, &map, error);
  if (status == PKS_CORRUPT) {
    *info = (pks__catalog_info){
      .chunk_average = walk->repair->slot.chunk_average,
      .file_count = version->file_count,
      .link_count = version->link_count,
      .folder_count = version->folder_count,
    };
    return PKS_OK;
  }
  if (status) { return status; }
  pks__tree_cursor_init(&walk->cursor, pages, PKS__TREE_MAP, 0, &map);
  walk->cursor.skips_lost = true;
  return next_entry(walk, error);
}

/// Whether the index describes exactly this version. Without all of its runs it would contain outdated records.
static bool is_indexed(const pks__repair *repair) {
  if (!repair->index || !repair->index_is_whole || repair->salvage.rank == PKS_ANY_PACK) { return false; }
  return repair->index->generation.packs[repair->salvage.rank].versions[0].number == repair->version;
}

static pks_status open_records(draft_walk *walk, pks_error *error) {
  const pks__repair *repair = walk->repair;
  pks_error found;
  if (!is_indexed(repair)) { return PKS_OK; }
  pks_status status = pks__run_merge_open(&walk->merge, repair->index, error);
  if (status) { return status; }
  status = pks__run_merge_seek(&walk->merge, "", 0, &found);
  if (!status) { return next_hit(walk, error); }
  if (pks__error_is_damage(&found)) { return PKS_OK; }
  if (error) { *error = found; }
  return status;
}

/// Whether the chunks of an entry are known: their list may be in pages of its own.
static pks_status has_chunks(pks__repair *repair, const pks__catalog_entry *entry, bool *known, pks_error *error) {
  pks__chunk_cursor chunks;
  pks_status status = PKS_OK;
  *known = true;
  if (entry->kind != PKS__RECORD_FILE) { return PKS_OK; }
  pks__chunk_cursor_init(&chunks, pks__chunk_recovery_pages(&repair->salvage), entry);
  for (bool more = true; !status && more;) {
    pks__catalog_chunk chunk;
    status = pks__chunk_cursor_next(&chunks, &chunk, &more, error);
  }
  pks__chunk_cursor_free(&chunks);
  if (status != PKS_CORRUPT) { return status; }
  *known = false;
  return PKS_OK;
}

/// Drafts the record of the path in the merged index.
static pks_status put_record(draft_walk *walk, pks_error *error) {
  const pks__run_merge *merge = &walk->merge;
  pks_error found;
  pks_status status = pks__catalog_rebuild_put_record(
    &walk->draft, walk->repair->index, walk->hit, merge->path, merge->path_length, &found
  );
  if (status && (walk->draft.has_failed || !pks__error_is_damage(&found))) {
    if (error) { *error = found; }
    return status;
  }
  if (status) { lose_asset(walk->repair, merge->path, merge->path_length); }
  return PKS_OK;
}

/// Below 0: the entry comes first; 0: both are of one path; above 0: the record does.
static int compare(const draft_walk *walk) {
  if (!walk->has_entry || !walk->hit) { return walk->has_entry ? -1 : 1; }
  return pks__compare_bytes(walk->entry.path, walk->entry.path_length, walk->merge.path, walk->merge.path_length);
}

static pks_status draft_next(draft_walk *walk, pks_error *error) {
  int order = compare(walk);
  bool known = false;
  pks_status status = order <= 0 ? has_chunks(walk->repair, &walk->entry, &known, error) : PKS_OK;
  if (!status && known) {
    status = pks__catalog_rebuild_put_entry(&walk->draft, &walk->entry, error);
  } else if (!status && order >= 0) {
    status = put_record(walk, error);
  } else if (!status) {
    lose_asset(walk->repair, walk->entry.path, walk->entry.path_length);
  }
  if (!status && order >= 0) { status = next_hit(walk, error); }
  return status || order > 0 ? status : next_entry(walk, error);
}

static uint64_t count_entries(const pks__catalog_info *info) {
  return info->file_count + info->link_count + info->folder_count;
}

static pks_status make_draft(draft_walk *walk, const pks__version *version, pks__id *catalog, pks_error *error) {
  pks__repair *repair = walk->repair;
  pks__catalog_info info;
  pks_status status = open_entries(walk, version, &info, error);
  if (status) { return status; }
  uint64_t lost_before = repair->lost_assets;
  uint32_t average = pks__chunk_average_is_valid(info.chunk_average) ? info.chunk_average : repair->slot.chunk_average;
  pks__catalog_rebuild_open(
    &walk->draft, repair->old->sha256, repair->old->sha256_many, &repair->txn->staging.scratch, average
  );
  status = open_records(walk, error);
  while (!status && (walk->has_entry || walk->hit)) { status = draft_next(walk, error); }
  if (status) { return status; }
  uint64_t known = count_entries(&walk->draft.info) + repair->lost_assets - lost_before, all = count_entries(&info);
  if (all > known) {
    repair->totals.lost_asset_count += all - known;
    pks__repair_lose(repair, NULL, 0, all - known);
  }
  return pks__catalog_rebuild_finish(&walk->draft, catalog, error);
}

/// Stages a version whose catalog cannot be read completely.
static pks_status stage_draft(
  pks__repair *repair, const pks__pack_state *pack, const pks__version *version, bool *staged, pks_error *error
) {
  draft_walk walk = {.repair = repair};
  pks__id catalog;
  pks_status status = make_draft(&walk, version, &catalog, error);
  repair->salvage.draft = &walk.draft;
  if (!status) { status = stage_version(repair, pack, version, &catalog, true, staged, error); }
  repair->salvage.draft = NULL;
  pks__catalog_rebuild_close(&walk.draft);
  pks__tree_cursor_free(&walk.cursor);
  pks__run_merge_close(&walk.merge);
  return status;
}

/// Whether every page of a catalog can be had.
static pks_status is_readable(pks__repair *repair, const pks__id *catalog, bool *readable, pks_error *error) {
  return test_entries(repair, catalog, has_chunks, readable, error);
}

// MARK: - Versions

/// Reports the current version.
static void begin_version(
  pks__repair *repair, const pks__pack_state *pack, const pks__version *version, bool is_current
) {
  repair->pack = pack->name;
  repair->version = version->number;
  repair->lost_assets = 0;
  repair->healed_origin = NULL;
  repair->salvage.base = pks__txn_snapshot(repair->txn);
  repair->salvage.rank = PKS_ANY_PACK;
  if (is_current && repair->index) {
    repair->salvage.rank = pks__generation_find_pack(&repair->index->generation, pack->name);
  }
}

/// An older version is kept whole or not at all.
static pks_status restore_older(
  pks__repair *repair, const pks__pack_state *pack, const pks__version *version, pks_error *error
) {
  bool whole, staged = false;
  begin_version(repair, pack, version, false);
  pks_status status = pks__repair_is_whole(repair, &version->catalog, &whole, error);
  if (!status && whole) { status = stage_version(repair, pack, version, &version->catalog, false, &staged, error); }
  repair->totals.version_count += staged;
  if (staged || (status && status != PKS_CORRUPT)) { return status; }
  repair->totals.lost_version_count++;
  pks__repair_lose(repair, NULL, 0, 0);
  return PKS_OK;
}

static pks_status restore_current(
  pks__repair *repair, const pks__pack_state *pack, const pks__version *version, pks_error *error
) {
  bool readable, staged = false;
  begin_version(repair, pack, version, true);
  pks_status status = is_readable(repair, &version->catalog, &readable, error);
  if (!status && readable) { status = stage_version(repair, pack, version, &version->catalog, true, &staged, error); }
  if (!status && !readable) { status = stage_draft(repair, pack, version, &staged, error); }
  repair->totals.version_count += staged;
  repair->totals.pack_count += staged;
  // A catalog that breaks a rule further on is a loss like any other.
  if (staged || (status && status != PKS_CORRUPT)) { return status; }
  repair->version = 0;
  repair->totals.lost_pack_count++;
  pks__repair_lose(repair, NULL, 0, 0);
  return PKS_OK;
}

static pks_status restore_pack(pks__repair *repair, const pks__pack_state *pack, bool is_removed, pks_error *error) {
  pks_status status = PKS_OK;
  for (uint32_t i = pack->version_count; !status && i > 0; i--) {
    const pks__version *version = &pack->versions[i - 1];
    bool is_current = i == 1 && !is_removed;
    status = is_current ? restore_current(repair, pack, version, error) : restore_older(repair, pack, version, error);
  }
  return status;
}

/// The pack whose number follows `after`; NULL at the end. Packs are staged in the order in which they came, which
/// decides between equal priorities.
static const pks__pack_state *next_pack(const pks__generation *plan, uint32_t after) {
  const pks__pack_state *next = NULL;
  for (uint32_t i = 0; i < plan->pack_count + plan->removed_count; i++) {
    const pks__pack_state *pack = pks__generation_any_pack(plan, i);
    if (pack->number > after && (!next || pack->number < next->number)) { next = pack; }
  }
  return next;
}

pks_status pks__repair_versions(pks__repair *repair, pks_error *error) {
  const pks__generation *plan = &repair->plan;
  const pks__pack_state *pack = next_pack(plan, 0);
  pks_status status = PKS_OK;
  for (; !status && pack; pack = next_pack(plan, pack->number)) {
    bool is_removed = pks__generation_find_pack(plan, pack->name) == UINT32_MAX;
    status = restore_pack(repair, pack, is_removed, error);
  }
  return status;
}
