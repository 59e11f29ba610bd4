#include "read/run_merge.h"

#include "base/memory.h"

pks_status pks__run_merge_open(pks__run_merge *out, pks_snapshot *snapshot, pks_error *error) {
  pks__run_merge merge = {.snapshot = snapshot};
  merge.places = pks__allocate_zeroed((size_t)snapshot->run_count + 1, sizeof *merge.places);
  merge.path = pks__allocate(PKS__PATH_MAX + 1);
  merge.hit_capacity = snapshot->generation.pack_count + 1;
  merge.hits = pks__allocate(merge.hit_capacity * sizeof *merge.hits);
  if (!merge.places || !merge.path || !merge.hits) {
    pks__run_merge_close(&merge);
    return pks__fail_memory(error);
  }
  *out = merge;
  return PKS_OK;
}

void pks__run_merge_close(pks__run_merge *merge) {
  pks__free(merge->places);
  pks__free(merge->path);
  pks__free(merge->hits);
  *merge = (pks__run_merge){0};
}

/// Puts the place of a run at `offset`.
static pks_status place_at(pks__run_merge *merge, uint32_t run, uint64_t offset, pks_error *error) {
  pks__run *opened = &merge->snapshot->runs[run].open->run;
  merge->places[run].offset = offset;
  if (offset >= opened->records.length) { return PKS_OK; }
  return pks__run_entry_at(opened, offset, &merge->places[run].entry, error);
}

static bool is_at_end(const pks__run_merge *merge, uint32_t run) {
  return merge->places[run].offset >= merge->snapshot->runs[run].open->run.records.length;
}

pks_status pks__run_merge_seek(pks__run_merge *merge, const char *path, size_t length, pks_error *error) {
  for (uint32_t run = 0; run < merge->snapshot->run_count; run++) {
    uint64_t offset;
    pks_status status = pks__run_seek(&merge->snapshot->runs[run].open->run, path, length, &offset, error);
    if (!status) { status = place_at(merge, run, offset, error); }
    if (status) { return status; }
  }
  return PKS_OK;
}

static bool copy_path(pks__run_merge *merge, const pks__run_entry *entry) {
  size_t folder = entry->folder_length, slash = folder > 0;
  if (folder + slash + entry->name_length > PKS__PATH_MAX) { return false; }
  memcpy(merge->path, entry->folder, folder);
  if (slash) { merge->path[folder] = '/'; }
  memcpy(merge->path + folder + slash, entry->name, entry->name_length);
  merge->path_length = folder + slash + entry->name_length;
  return true;
}

/// Copies the lowest path that any run is at to `path`.
static pks_status choose_path(pks__run_merge *merge, bool *more, pks_error *error) {
  *more = false;
  for (uint32_t run = 0; run < merge->snapshot->run_count; run++) {
    if (is_at_end(merge, run)) { continue; }
    const pks__run_entry *entry = &merge->places[run].entry;
    if (*more && pks__run_entry_compare(entry, merge->path, merge->path_length) >= 0) { continue; }
    *more = true;
    if (!copy_path(merge, entry)) {
      return pks__fail(
        error, PKS_CORRUPT, "a path is too long", merge->snapshot->runs[run].open->run.table.name, PKS_NO_OFFSET
      );
    }
  }
  return PKS_OK;
}

/// Keeps a record unless a newer run spoke of the same pack.
static void add_hit(pks__run_merge *merge, uint32_t run, uint32_t rank, const pks__run_entry *entry) {
  uint32_t at = 0;
  while (at < merge->hit_count && merge->hits[at].rank < rank) { at++; }
  if (at < merge->hit_count && merge->hits[at].rank == rank) { return; }
  PKS_ASSERT(merge->hit_count < merge->hit_capacity);
  memmove(&merge->hits[at + 1], &merge->hits[at], (merge->hit_count - at) * sizeof *merge->hits);
  merge->hits[at] = (pks__hit){.run = run, .rank = rank, .entry = *entry};
  merge->hit_count++;
}

/// Takes all records of the chosen path, newest runs first, and moves past them.
static pks_status take_group(pks__run_merge *merge, pks_error *error) {
  merge->hit_count = 0;
  for (uint32_t at = merge->snapshot->run_count; at > 0; at--) {
    uint32_t run = at - 1;
    while (!is_at_end(merge, run)) {
      pks__run_merge_place *place = &merge->places[run];
      int order = pks__run_entry_compare(&place->entry, merge->path, merge->path_length);
      if (order < 0) {
        const char *name = merge->snapshot->runs[run].open->run.table.name;
        return pks__fail(error, PKS_CORRUPT, "the records are out of order", name, PKS_NO_OFFSET);
      }
      if (order > 0) { break; }
      uint32_t rank = merge->snapshot->runs[run].ranks[place->entry.pack];
      if (rank != UINT32_MAX) { add_hit(merge, run, rank, &place->entry); }
      pks_status status = place_at(merge, run, place->entry.next, error);
      if (status) { return status; }
    }
  }
  if (merge->keeps_absent) { return PKS_OK; }
  uint32_t kept = 0;
  for (uint32_t i = 0; i < merge->hit_count; i++) {
    if (merge->hits[i].entry.kind != PKS__RECORD_ABSENT) { merge->hits[kept++] = merge->hits[i]; }
  }
  merge->hit_count = kept;
  return PKS_OK;
}

pks_status pks__run_merge_next_within(
  pks__run_merge *merge, const char *prefix, size_t length, bool *more, pks_error *error
) {
  do {
    pks_status status = choose_path(merge, more, error);
    if (status || !*more) { return status; }
    // Judged before records are taken that no pack has any more: after a removal there may be very many of them.
    if (merge->path_length < length || memcmp(merge->path, prefix, length) != 0) {
      *more = false;
      return PKS_OK;
    }
    status = take_group(merge, error);
    if (status) { return status; }
  } while (merge->hit_count == 0);
  return PKS_OK;
}

pks_status pks__run_merge_next(pks__run_merge *merge, bool *more, pks_error *error) {
  return pks__run_merge_next_within(merge, "", 0, more, error);
}
