/// Verification, level 2: each index run by itself. See `verification.h`.
#include "check/verify_runs.h"

#include <string.h>

#include "check/verify_names.h"

// MARK: - Runs: records

static uint64_t record_place(const pks__run *run, uint64_t offset) {
  return run->table.body_offset + run->records.offset + offset;
}

static pks_status bad_record(pks__verification *v, const char *text, const pks__run *run, const pks__run_entry *entry) {
  return pks__fail(&v->found, PKS_CORRUPT, text, run->table.name, record_place(run, entry->offset));
}

/// Copies the record's path into `v->path` after checking that it comes after the previous one; returns whether it is equal.
static bool take_path(
  pks__verification *v, const pks__run_entry *entry, bool is_first, bool is_followed, uint32_t pack_before
) {
  size_t folder = entry->folder_length, slash = folder > 0, length = folder + slash + entry->name_length;
  if (length > PKS__PATH_MAX) { return false; }
  int order = is_first ? 1 : pks__run_entry_compare(entry, v->path, v->path_length);
  memcpy(v->path, entry->folder, folder);
  if (slash) { v->path[folder] = '/'; }
  memcpy(v->path + folder + slash, entry->name, entry->name_length);
  v->path_length = length;
  bool rises = is_followed ? order == 0 && entry->pack > pack_before : order > 0;
  return rises && pks__path_is_valid(v->path, length);
}

/// Whether the file is raw and in one piece; `*begin` is its offset in the segment file.
static pks_status is_contiguous(
  pks__verification *v, pks__run *run, const pks__run_entry *entry, uint64_t *begin, bool *contiguous
) {
  pks__extent_walk walk = pks__extent_walk_make(run, entry);
  pks__extent_part piece = {0};
  uint64_t expected = 0;
  uint32_t segment = 0;
  *contiguous = entry->extent_count == 1;
  for (bool more = true, first = true; *contiguous; first = false) {
    pks_status status = pks__extent_walk_next(&walk, &piece, &more, &v->found);
    if (status || !more) { return status; }
    uint64_t at = piece.frame.ref.offset + piece.begin;
    if (first) { *begin = at; }
    *contiguous =
      piece.frame.ref.codec == PKS__CODEC_RAW && (first || (at == expected && piece.frame.segment == segment));
    expected = piece.frame.ref.offset + piece.end;
    segment = piece.frame.segment;
  }
  return PKS_OK;
}

/// Whether the file's place matches the record's flags.
static pks_status check_place(pks__verification *v, pks__run *run, const pks__run_entry *entry) {
  bool contiguous;
  uint64_t begin = 0;
  if (!(entry->flags & (PKS__FLAG_CONTIGUOUS | PKS__FLAG_MAPPED))) { return PKS_OK; }
  pks_status status = is_contiguous(v, run, entry, &begin, &contiguous);
  if (status) { return status; }
  if (!contiguous) { return bad_record(v, "a record marks a split asset as contiguous", run, entry); }
  if (!(entry->flags & PKS__FLAG_MAPPED)) { return PKS_OK; }
  if (!(entry->flags & PKS__FLAG_CONTIGUOUS)) { return bad_record(v, "bad record", run, entry); }
  return begin % PKS__PAGE == 0 ? PKS_OK : bad_record(v, "a map asset does not begin at a page", run, entry);
}

/// Kind, flags and extents of a record.
static pks_status check_record(pks__verification *v, pks__run *run, const pks__run_entry *entry) {
  bool is_file = entry->kind == PKS__RECORD_FILE, fits = true;
  uint8_t known = PKS__FLAG_FOLLOWED;
  if (is_file) { known |= PKS__FLAG_EXECUTABLE | PKS__FLAG_ONE_EXTENT | PKS__FLAG_CONTIGUOUS | PKS__FLAG_MAPPED; }
  if (entry->kind == PKS__RECORD_LINK) {
    fits = entry->size > 0 && entry->size <= PKS__LINK_TARGET_MAX;
  } else if (!is_file) {
    fits = entry->size == 0;
  }
  if ((entry->flags & ~known) || !fits) { return bad_record(v, "bad record", run, entry); }
  if (!is_file) { return PKS_OK; }
  pks__extent_walk walk = pks__extent_walk_make(run, entry);
  pks_status status = PKS_OK;
  for (bool more = true; !status && more;) {
    pks__extent_part piece;
    status = pks__extent_walk_next(&walk, &piece, &more, &v->found);
    if (!status) { status = pks__verify_tick(v); }
  }
  return status ? status : check_place(v, run, entry);
}

/// Whether a look-up of the path in `v->path` comes to the record.
static pks_status check_lookup(pks__verification *v, pks__run *run, const pks__run_entry *entry) {
  uint64_t hash = pks__path_hash(&v->snapshot->hasher, v->path, v->path_length);
  pks__run_probe probe = {0};
  for (bool found = true; found;) {
    pks__run_entry other;
    pks_status status = pks__run_find(run, hash, v->path, v->path_length, &probe, &other, &found, &v->found);
    if (status || (found && other.offset == entry->offset)) { return status; }
  }
  return bad_record(v, "a look-up does not find the record", run, entry);
}

/// Whether the table of page starts contains the beginning of the first record of each page. `*next_page` is the first page not yet
/// checked.
static bool check_starts(const pks__run *run, uint64_t offset, uint64_t *next_page) {
  const pks_le16 *starts = (const pks_le16 *)(const void *)(run->table.body + run->starts.offset);
  uint64_t page = offset / PKS__PAGE, count = run->starts.length / sizeof *starts;
  bool fits = true;
  if (page < *next_page) { return true; }
  for (; *next_page < page && *next_page < count; ++*next_page) {
    fits = fits && pks__get16(starts[*next_page]) == 0xffff;
  }
  if (offset == run->records.length) {
    for (; *next_page < count; ++*next_page) { fits = fits && pks__get16(starts[*next_page]) == 0xffff; }
    return fits;
  }
  *next_page = page + 1;
  return fits && page < count && pks__get16(starts[page]) == offset % PKS__PAGE;
}

/// The pack of the record; none if the pack was removed.
static pks__fault_subject subject_of(const pks__verification *v, uint32_t number, const pks__run_entry *entry) {
  uint32_t rank = v->snapshot->runs[number].ranks[entry->pack];
  if (rank == UINT32_MAX) { return (pks__fault_subject){0}; }
  const pks__pack_state *pack = &v->snapshot->generation.packs[rank];
  return (pks__fault_subject
  ){.pack = pack->name, .version = pack->versions[0].number, .asset = v->path, .asset_length = v->path_length};
}

static pks_status check_records(pks__verification *v, uint32_t number) {
  pks__run *run = &v->runs[number];
  uint64_t count = 0, offset = 0, next_page = 0;
  uint32_t pack = 0;
  bool is_followed = false;
  pks__run_entry entry;
  for (; offset < run->records.length; count++, offset = entry.next) {
    pks_status status = pks__run_entry_at(run, offset, &entry, &v->found);
    // Records after an undecodable one cannot be found.
    if (status) { return pks__verify_settle(v, status, NULL); }
    if (!take_path(v, &entry, count == 0, is_followed, pack)) {
      pks__verify_report(v, "record is out of order", run->table.name, record_place(run, offset));
    }
    pack = entry.pack;
    if (!check_starts(run, offset, &next_page)) {
      pks__verify_report(v, "table of page starts is wrong", run->table.name, record_place(run, offset));
    }
    status = check_record(v, run, &entry);
    // A look-up comes to the first record of a path, and from there to the others.
    if (!status && !is_followed) { status = check_lookup(v, run, &entry); }
    is_followed = entry.flags & PKS__FLAG_FOLLOWED;
    pks__fault_subject subject = subject_of(v, number, &entry);
    status = pks__verify_settle(v, status, subject.pack ? &subject : NULL);
    if (status) { return status; }
  }
  if (!check_starts(run, offset, &next_page)) {
    pks__verify_report(v, "table of page starts is wrong", run->table.name, record_place(run, offset));
  }
  if (is_followed) { pks__verify_report(v, "the last record is marked as followed by another", run->table.name, 0); }
  if (count != run->record_count) {
    pks__verify_report(v, "the number of records differs from the header of the index run", run->table.name, 0);
  }
  return PKS_OK;
}

// MARK: - Runs: the rest

static pks_status check_run_rows(pks__verification *v, pks__run *run) {
  for (uint32_t i = 0; i < run->frame_count; i++) {
    pks__run_frame_info frame;
    pks_status status = pks__verify_settle(v, pks__run_frame_at(run, i, &frame, &v->found), NULL);
    if (status) { return status; }
  }
  uint64_t chunks = 0;
  for (uint32_t i = 0; i < run->segment_count; i++) {
    pks__run_segment_info info;
    pks_status status = pks__verify_settle(v, pks__run_segment_at(run, i, &info, &v->found), NULL);
    if (status) { return status; }
    bool fits = info.first_chunk == chunks && (info.kind == PKS__SEGMENT_DATA || info.kind == PKS__SEGMENT_METADATA);
    uint64_t at = run->table.body_offset + run->segments.offset + i * sizeof(pks__run_segment);
    if (!fits) { pks__verify_report(v, "bad row of a segment", run->table.name, at); }
    chunks += info.chunk_count;
  }
  if (chunks != run->chunk_count) {
    pks__verify_report(v, "the number of chunks differs from the header of the index run", run->table.name, 0);
  }
  return PKS_OK;
}

/// Whether the file is as long as it was when the snapshot mapped it.
static pks_status check_length(pks__verification *v, const char *path, uint64_t length) {
  const pks_vfs *vfs = v->snapshot->store->vfs;
  pks_vfs_info info;
  int failure = pks__vfs_info(vfs, v->snapshot->store->root, path, false, &info);
  if (failure || info.size < length) { v->runs_are_long = false; }
  return failure ? pks__verify_settle(v, pks__fail_system(&v->found, failure, "cannot examine", path), NULL) : PKS_OK;
}

static pks_status check_open_run(pks__verification *v, uint32_t number, const char *path) {
  const pks__run_ref *ref = &v->snapshot->generation.runs[number];
  pks__run *run = &v->runs[number];
  const pks__table *table = &run->table;
  uint64_t faults = v->totals.fault_count;
  v->totals.bytes_checked += table->file_length;
  bool expected = table->file_length == ref->name.file_length && table->trailer_sum == ref->name.trailer_sum
    && run->pack_count == ref->pack_count && table->body_offset == 0;
  if (!expected) {
    pks__verify_report(v, "differs from the index run named by the generation", path, PKS_NO_OFFSET);
    return PKS_OK;
  }
  pks_status status = pks__check_table(&v->inspector, &run->table, &v->found);
  if (!status && faults == v->totals.fault_count) { status = check_run_rows(v, run); }
  if (!status && faults == v->totals.fault_count) { status = check_records(v, number); }
  return status;
}

static void tell_fault(void *context, const pks_error *fault, const pks__frame *frame) {
  pks__verification *v = context;
  (void)frame;
  v->found = *fault;
  (void)pks__verify_settle(v, fault->status, NULL);
}

pks_status pks__verify_run(pks__verification *v, uint32_t number) {
  const pks__run_ref *ref = &v->snapshot->generation.runs[number];
  pks__run *run = &v->runs[number];
  pks_store *store = v->snapshot->store;
  char path[PKS__INDEX_NAME];
  pks__run_path(ref->name.name, path);
  uint64_t faults = v->totals.fault_count;
  v->totals.files_checked++;
  v->inspector.fault = tell_fault;
  pks_status status = check_length(v, path, ref->name.file_length);
  if (!status && faults == v->totals.fault_count) {
    status = pks__verify_settle(v, pks__run_open(run, &v->patient.vfs, store->root, path, &v->found), NULL);
    // The snapshot has it mapped: what cannot be read must not be looked at there.
    if (!run->table.body && v->found.status == PKS_IO_ERROR) { v->runs_are_long = false; }
  }
  if (!status && run->table.body) { status = check_open_run(v, number, path); }
  if (!status && faults != v->totals.fault_count) {
    v->runs_are_sound = false;
    pks__run_close(run);
  }
  return status;
}
