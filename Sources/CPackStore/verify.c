/// Checking a whole store: every byte of the files that a snapshot's generation stands on, and, when deep, that they
/// say the same thing.
///
/// Order of checks. Each level is believed only where the level below it was found sound, so that damage is reported
/// where it is, once, and is never stepped into:
///   1. the control file and the generation's file
///   2. runs: checksums, then records, folders, frames and the look-up tables against each other
///   3. segments: checksums, the table against itself, every frame; deep: every chunk's SHA-256
///   4. runs against segments: frames exist, chunks are found
///   5. the namespace: what its records need exists
///   6. versions: catalogs, layouts; deep: the current catalog against the namespace, chunk by chunk
///
/// Runs and segments are opened anew here and not taken from the view: its bitmaps remember pages that were good when
/// they were first touched, and its mappings the lengths that files had. Levels 4 to 6 use the view's, which are the
/// same files; they are left out where a file is not as long as it was, as touching its mapping could raise SIGBUS.
///
/// A segment that is gone is a fault only if something needs it: runs go on naming the segments of versions that were
/// dropped.
///
/// The file is long because the levels share what is known about runs and segments, and make no sense one without the
/// other.
///
/// Every `check_...` function reports the faults it finds and returns a status only when the walk must end.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "catalog.h"
#include "checksum.h"
#include "frames.h"
#include "memory.h"
#include "names.h"
#include "pieces.h"
#include "segment_list.h"

enum { PROGRESS_BYTES = 1024 * 1024, PROGRESS_ENTRIES = 1000 };

/// What is known about a segment.
typedef enum segment_state {
  SEGMENT_SOUND,    ///< its table can be used; frames may be damaged
  SEGMENT_DAMAGED,  ///< not to be touched; reported
  SEGMENT_GONE,     ///< there is no such file
  SEGMENT_MISSED,   ///< the same, needed and reported
} segment_state;

typedef struct verification {
  pks__view *view;
  bool deep;
  void (*fault)(void *context, const pks_error *fault);
  bool (*progress)(void *context, uint64_t bytes_done, uint64_t bytes_total);
  void *context;
  pks_verify_totals totals;
  pks_error found;     ///< by the check under way
  pks_error reported;  ///< the last fault
  pks__run *runs;      ///< opened anew; zeroed: not sound
  bool runs_are_sound, pages_are_sound;
  pks__segment_list segments;
  segment_state *states;  ///< by number in `segments`
  uint64_t bytes_done, bytes_total, bytes_shown;
  pks__decoder *decoder;
  pks__scratch stored, raw;  ///< of a frame
  uint64_t *record_counts;   ///< by rank: records of the namespace
  char *path;                ///< PKS__PATH_MAX bytes: of the record or entry before
  size_t path_length;
} verification;

// MARK: - Faults

/// Whether a failure says something about this process or its caller, and nothing about the store.
static bool ends_walk(const pks_error *error) {
  switch (error->status) {
    case PKS_CORRUPT:
    case PKS_PURGED:
    case PKS_NEWER_FORMAT:
    case PKS_NOT_A_STORE: return false;
    case PKS_IO_ERROR: return error->system_error == EMFILE || error->system_error == ENFILE;
    default: return true;
  }
}

/// Several checks may come upon the same damage one after another.
static bool is_repeated(const verification *v) {
  const pks_error *found = &v->found, *before = &v->reported;
  return v->totals.fault_count > 0 && found->text == before->text && found->offset == before->offset
    && found->offset != PKS_NO_OFFSET && strcmp(found->file, before->file) == 0;
}

/// Reports `v->found`, unless it must end the walk: then its status is returned.
static pks_status settle(verification *v, pks_status status) {
  if (!status) { return PKS_OK; }
  if (ends_walk(&v->found)) { return status; }
  if (is_repeated(v)) { return PKS_OK; }
  v->totals.fault_count++;
  v->reported = v->found;
  if (v->fault) { v->fault(v->context, &v->found); }
  return PKS_OK;
}

static void report(verification *v, const char *text, const char *file, uint64_t offset) {
  (void)settle(v, pks__fail(&v->found, PKS_CORRUPT, text, file, offset));
}

/// Names something more beside the file in `v->found`.
static void name_also(verification *v, const char *what, const char *name, size_t length) {
  char *file = v->found.file;
  size_t used = strlen(file), room = sizeof v->found.file - used;
  (void)snprintf(file + used, room, "%s%s %.*s", used > 0 ? ", " : "", what, (int)length, name);
}

static void name_asset(verification *v, const char *path, size_t length) { name_also(v, "asset", path, length); }

/// Says how far the walk is, now and then: when enough bytes were read, or `always`.
static pks_status show_progress(verification *v, bool always) {
  bool due = always || v->bytes_done - v->bytes_shown >= PROGRESS_BYTES;
  if (!v->progress || !due) { return PKS_OK; }
  v->bytes_shown = v->bytes_done;
  if (v->progress(v->context, v->bytes_done, v->bytes_total)) { return PKS_OK; }
  return pks__fail(&v->found, PKS_CANCELLED, "cancelled", NULL, PKS_NO_OFFSET);
}

// MARK: - Bytes

static uint64_t first_nonzero(const uint8_t *bytes, uint64_t length) {
  uint64_t at = 0;
  while (at < length && bytes[at] == 0) { at++; }
  return at;
}

/// Checks that bytes which nothing refers to are zero, as they were written.
static pks_status check_zeros(verification *v, pks__file file, const char *name, uint64_t begin, uint64_t end) {
  const pks_vfs *vfs = v->view->store->vfs;
  uint8_t bytes[PKS__PAGE];
  for (uint64_t at = begin; at < end; at += sizeof bytes) {
    size_t wanted = (size_t)pks__min64(sizeof bytes, end - at), got = 0;
    int failure = vfs->read_at(vfs->context, file, at, bytes, wanted, &got);
    if (failure) { return settle(v, pks__fail_system(&v->found, failure, "cannot read", name)); }
    uint64_t bad = first_nonzero(bytes, got);
    if (bad == wanted) { continue; }
    report(v, bad < got ? "padding is not zero" : "file is truncated", name, at + bad);
    return PKS_OK;
  }
  return PKS_OK;
}

/// Reads a small file whole into `v->stored`.
static pks_status read_file(verification *v, const char *path) {
  const pks_vfs *vfs = v->view->store->vfs;
  pks__file file = PKS__NO_FILE;
  pks__file_info info = {0};
  size_t got = 0;
  int failure = vfs->open(vfs->context, v->view->store->root, path, PKS__OPEN_READ, &file);
  if (failure) { return pks__fail_system(&v->found, failure, "cannot open", path); }
  failure = vfs->info_of(vfs->context, file, &info);
  v->stored.length = 0;
  pks_status status = failure ? PKS_OK : pks__scratch_append(&v->stored, NULL, info.size, &v->found);
  if (!failure && !status) { failure = vfs->read_at(vfs->context, file, 0, v->stored.bytes, (size_t)info.size, &got); }
  vfs->close(vfs->context, file);
  if (failure) { return pks__fail_system(&v->found, failure, "cannot read", path); }
  if (!status && got != info.size) { return pks__fail(&v->found, PKS_CORRUPT, "file is truncated", path, got); }
  return status;
}

// MARK: - Control file and generation

/// A slot is damaged if it holds something and its checksum fails; one that a commit without syncs wrote before the
/// machine started anew is not.
static void check_slots(verification *v, const pks__control *control) {
  for (uint64_t i = 0; i < PKS__CONTROL_SLOTS; i++) {
    uint64_t at = i * PKS__CONTROL_SLOT_SIZE;
    if (control->slots[i].generation > 0) { continue; }
    if (first_nonzero(v->stored.bytes + at, PKS__CONTROL_SLOT_SIZE) == PKS__CONTROL_SLOT_SIZE) { continue; }
    report(v, "control slot is damaged", PKS__CONTROL_FILE, at);
  }
}

static pks_status check_control(verification *v, pks__control *control) {
  pks_store *store = v->view->store;
  v->totals.files_checked++;
  pks_status status = pks__control_read(store->vfs, store->control, store->boot_id, control, &v->found);
  if (!status) { status = read_file(v, PKS__CONTROL_FILE); }
  if (status) { return settle(v, status); }
  if (v->stored.length != PKS__CONTROL_SLOTS * PKS__CONTROL_SLOT_SIZE) {
    report(v, "control file has another length than it should", PKS__CONTROL_FILE, v->stored.length);
    return PKS_OK;
  }
  v->totals.bytes_checked += v->stored.length;
  check_slots(v, control);
  return PKS_OK;
}

static pks_status check_generation(verification *v, const pks__control *control) {
  uint64_t number = v->view->generation.number;
  pks__generation generation = {0};
  char path[PKS__INDEX_NAME];
  pks__generation_path(number, path);
  v->totals.files_checked++;
  pks_status status = read_file(v, path);
  if (!status) {
    status = pks__generation_decode(v->stored.bytes, (size_t)v->stored.length, path, &generation, &v->found);
  }
  if (status) { return settle(v, status); }
  v->totals.bytes_checked += v->stored.length;
  if (generation.number != number) { report(v, "not the generation that its name says", path, PKS_NO_OFFSET); }
  pks__generation_free(&generation);
  uint64_t sum = pks__checksum(v->stored.bytes, (size_t)v->stored.length);
  for (uint64_t i = 0; i < PKS__CONTROL_SLOTS; i++) {
    const pks__control_slot *slot = &control->slots[i];
    if (slot->generation != number || (slot->file_length == v->stored.length && slot->file_sum == sum)) { continue; }
    report(v, "control slot names another generation file", PKS__CONTROL_FILE, i * PKS__CONTROL_SLOT_SIZE);
  }
  return PKS_OK;
}

// MARK: - Tables

/// Checks every page of a table and reports each that is bad.
static pks_status check_table(verification *v, pks__table *table) {
  for (uint64_t at = 0; at < table->body_length; at += PKS__PAGE) {
    pks_status status = settle(v, pks__table_check(table, at, PKS__PAGE, &v->found));
    if (status) { return status; }
  }
  return PKS_OK;
}

// MARK: - Runs: records

static uint64_t record_place(const pks__run *run, uint64_t offset) {
  return run->table.body_offset + run->records.offset + offset;
}

static pks_status bad_record(verification *v, const char *text, const pks__run *run, const pks__run_entry *entry) {
  return pks__fail(&v->found, PKS_CORRUPT, text, run->table.name, record_place(run, entry->offset));
}

/// Puts the record's path into `v->path` after checking that it comes after the one there.
static bool take_path(verification *v, const pks__run_entry *entry, bool is_first, uint32_t pack_before) {
  size_t folder = entry->folder_length, slash = folder > 0, length = folder + slash + entry->name_length;
  if (length > PKS__PATH_MAX) { return false; }
  int order = is_first ? 1 : pks__run_entry_compare(entry, v->path, v->path_length);
  memcpy(v->path, entry->folder, folder);
  if (slash) { v->path[folder] = '/'; }
  memcpy(v->path + folder + slash, entry->name, entry->name_length);
  v->path_length = length;
  bool rises = order > 0 || (order == 0 && entry->pack > pack_before);
  return rises && pks__path_is_valid(v->path, length);
}

/// Whether the file lies raw in one piece; `*begin` is where in its segment file.
static pks_status is_contiguous(
  verification *v, pks__run *run, const pks__run_entry *entry, uint64_t *begin, bool *contiguous
) {
  pks__piece_walk walk = pks__piece_walk_make(run, entry);
  pks__piece piece = {0};
  uint64_t expected = 0;
  uint32_t segment = 0;
  *contiguous = entry->extent_count == 1;
  for (bool more = true, first = true; *contiguous; first = false) {
    pks_status status = pks__piece_walk_next(&walk, &piece, &more, &v->found);
    if (status || !more) { return status; }
    uint64_t at = piece.frame.offset + piece.begin;
    if (first) { *begin = at; }
    *contiguous = piece.frame.codec == PKS__CODEC_RAW && (first || (at == expected && piece.frame.segment == segment));
    expected = piece.frame.offset + piece.end;
    segment = piece.frame.segment;
  }
  return PKS_OK;
}

/// Whether the file lies as the record's flags say.
static pks_status check_place(verification *v, pks__run *run, const pks__run_entry *entry) {
  bool contiguous;
  uint64_t begin = 0;
  if (!(entry->flags & (PKS__FLAG_CONTIGUOUS | PKS__FLAG_MAPPED))) { return PKS_OK; }
  pks_status status = is_contiguous(v, run, entry, &begin, &contiguous);
  if (status) { return status; }
  if (!contiguous) { return bad_record(v, "the asset does not lie in one piece as its record says", run, entry); }
  if (!(entry->flags & PKS__FLAG_MAPPED)) { return PKS_OK; }
  if (!(entry->flags & PKS__FLAG_CONTIGUOUS)) { return bad_record(v, "bad record", run, entry); }
  return begin % PKS__PAGE == 0 ? PKS_OK : bad_record(v, "a map asset does not begin at a page", run, entry);
}

/// Kind, flags and extents of a record.
static pks_status check_record(verification *v, pks__run *run, const pks__run_entry *entry) {
  bool is_file = entry->kind == PKS__RECORD_FILE, fits = true;
  uint8_t known = is_file ? PKS__FLAG_EXECUTABLE | PKS__FLAG_ONE_EXTENT | PKS__FLAG_CONTIGUOUS | PKS__FLAG_MAPPED : 0;
  if (entry->kind == PKS__RECORD_LINK) {
    fits = entry->size > 0 && entry->size <= PKS__LINK_TARGET_MAX;
  } else if (!is_file) {
    fits = entry->size == 0;
  }
  if ((entry->flags & ~known) || !fits) { return bad_record(v, "bad record", run, entry); }
  if (!is_file) { return PKS_OK; }
  pks__piece_walk walk = pks__piece_walk_make(run, entry);
  pks_status status = PKS_OK;
  for (bool more = true; !status && more;) {
    pks__piece piece;
    status = pks__piece_walk_next(&walk, &piece, &more, &v->found);
  }
  return status ? status : check_place(v, run, entry);
}

/// Whether a look-up of the path in `v->path` comes to the record.
static pks_status check_lookup(verification *v, pks__run *run, const pks__run_entry *entry) {
  uint64_t hash = pks__path_hash(v->path, v->path_length);
  pks__run_probe probe = {0};
  for (bool found = true; found;) {
    pks__run_entry other;
    pks_status status = pks__run_find(run, hash, v->path, v->path_length, &probe, &other, &found, &v->found);
    if (status || (found && other.offset == entry->offset)) { return status; }
  }
  return bad_record(v, "a look-up does not find the record", run, entry);
}

/// Whether the table of page starts says where the first record of each page begins. `*next_page` is the first page not
/// yet checked.
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

static pks_status check_records(verification *v, pks__run *run) {
  uint64_t count = 0, offset = 0, next_page = 0;
  uint32_t pack = 0;
  pks__run_entry entry;
  for (; offset < run->records.length; count++, offset = entry.next) {
    pks_status status = pks__run_entry_at(run, offset, &entry, &v->found);
    // What follows a record that does not decode cannot be found.
    if (status) { return settle(v, status); }
    if (!take_path(v, &entry, count == 0, pack)) {
      report(v, "record is out of order", run->table.name, record_place(run, offset));
    }
    pack = entry.pack;
    if (!check_starts(run, offset, &next_page)) {
      report(v, "table of page starts is wrong", run->table.name, record_place(run, offset));
    }
    status = check_record(v, run, &entry);
    if (!status) { status = check_lookup(v, run, &entry); }
    if (status) { name_asset(v, v->path, v->path_length); }
    status = settle(v, status);
    if (status) { return status; }
  }
  if (!check_starts(run, offset, &next_page)) {
    report(v, "table of page starts is wrong", run->table.name, record_place(run, offset));
  }
  if (count != run->record_count) {
    report(v, "index run has another number of records than it says", run->table.name, 0);
  }
  return PKS_OK;
}

// MARK: - Runs: the rest

static pks_status check_run_rows(verification *v, pks__run *run) {
  for (uint32_t i = 0; i < run->frame_count; i++) {
    pks__run_frame_info frame;
    pks_status status = settle(v, pks__run_frame_at(run, i, &frame, &v->found));
    if (status) { return status; }
  }
  uint64_t chunks = 0;
  for (uint32_t i = 0; i < run->segment_count; i++) {
    pks__run_segment_info info;
    pks_status status = settle(v, pks__run_segment_at(run, i, &info, &v->found));
    if (status) { return status; }
    bool fits = info.first_chunk == chunks && (info.kind == PKS__SEGMENT_DATA || info.kind == PKS__SEGMENT_METADATA);
    uint64_t at = run->table.body_offset + run->segments.offset + i * sizeof(pks__run_segment);
    if (!fits) { report(v, "bad row of a segment", run->table.name, at); }
    chunks += info.chunk_count;
  }
  if (chunks != run->chunk_count) {
    report(v, "index run has another number of chunks than it says", run->table.name, 0);
  }
  return PKS_OK;
}

static pks_status check_run(verification *v, uint32_t number) {
  const pks__run_ref *ref = &v->view->generation.runs[number];
  pks__run *run = &v->runs[number];
  pks_store *store = v->view->store;
  char path[PKS__INDEX_NAME];
  pks__run_path(ref->name.name, path);
  uint64_t faults = v->totals.fault_count;
  v->totals.files_checked++;
  pks_status status = settle(v, pks__run_open(run, store->vfs, store->root, path, &v->found));
  if (!status && run->table.body) {
    const pks__table *table = &run->table;
    v->totals.bytes_checked += table->file_length;
    bool expected = table->file_length == ref->name.file_length && table->trailer_sum == ref->name.trailer_sum
      && run->pack_count == ref->pack_count && table->body_offset == 0;
    if (!expected) {
      report(v, "not the run that the generation names", path, PKS_NO_OFFSET);
    } else {
      status = check_table(v, &run->table);
    }
    if (!status && faults == v->totals.fault_count) { status = check_run_rows(v, run); }
    if (!status && faults == v->totals.fault_count) { status = check_records(v, run); }
  }
  if (!status && faults != v->totals.fault_count) {
    v->runs_are_sound = false;
    pks__run_close(run);
  }
  return status;
}

// MARK: - Segments

/// Decodes a frame whose stored bytes are in `v->stored`, and compares each chunk with its name. The table's pages were
/// checked.
static pks_status check_chunks(verification *v, const pks__segment *segment, const pks__frame *frame) {
  pks_status status = pks__scratch_reserve(&v->raw, frame->raw_length, &v->found);
  if (status) { return status; }
  bool is_raw = frame->codec == PKS__CODEC_RAW;
  const uint8_t *raw = is_raw ? v->stored.bytes : v->raw.bytes;
  if (!is_raw && !pks__decode(v->decoder, v->stored.bytes, frame->stored_length, v->raw.bytes, frame->raw_length)) {
    report(v, "frame does not decode", segment->name, frame->offset);
    return PKS_OK;
  }
  uint32_t begin = 0;
  for (uint32_t row = frame->first_chunk; row < frame->first_chunk + frame->chunk_count; row++) {
    uint32_t end = pks__get32(segment->ends[row]);
    pks__id id;
    v->view->store->sha256(raw + begin, end - begin, id.bytes);
    v->totals.chunks_checked++;
    if (!pks__id_equal(&id, &segment->ids[row])) {
      report(v, "chunk is not what its name says", segment->name, frame->offset);
    }
    begin = end;
  }
  return PKS_OK;
}

/// Whether the chunks of a frame follow each other. The table's pages were checked.
static bool ends_rise(const pks__segment *segment, const pks__frame *frame) {
  uint32_t begin = 0;
  for (uint32_t row = frame->first_chunk; row < frame->first_chunk + frame->chunk_count; row++) {
    uint32_t end = pks__get32(segment->ends[row]);
    if (end <= begin) { return false; }
    begin = end;
  }
  return true;
}

/// Reads and checks one frame.
static pks_status check_frame(verification *v, pks__segment *segment, const pks__frame *frame) {
  v->stored.length = 0;
  pks_status status = pks__scratch_reserve(&v->stored, frame->stored_length, &v->found);
  if (status) { return status; }
  status =
    pks__segment_read_stored(segment, frame->offset, frame->stored_length, frame->sum, v->stored.bytes, &v->found);
  v->totals.frames_checked++;
  if (status) { return settle(v, status); }
  return v->deep ? check_chunks(v, segment, frame) : PKS_OK;
}

static pks_status check_frames(verification *v, pks__segment *segment) {
  uint64_t base = v->bytes_done, next = sizeof(pks__segment_header);
  uint32_t next_chunk = 0;
  pks_status status = PKS_OK;
  for (uint32_t i = 0; !status && i < segment->frame_count; i++) {
    pks__frame frame;
    status = pks__segment_frame(segment, i, &frame, &v->found);
    if (!status && (frame.offset < next || frame.first_chunk != next_chunk || !ends_rise(segment, &frame))) {
      status = pks__fail(&v->found, PKS_CORRUPT, "segment table contradicts itself", segment->name, frame.offset);
    }
    // The rest of a table that is wrong here means nothing.
    if (status) { return settle(v, status); }
    status = check_zeros(v, segment->file, segment->name, next, frame.offset);
    if (!status) { status = check_frame(v, segment, &frame); }
    v->totals.bytes_checked += frame.offset + frame.stored_length - next;
    next = frame.offset + frame.stored_length;
    next_chunk = frame.first_chunk + frame.chunk_count;
    v->bytes_done = base + next;
    if (!status) { status = show_progress(v, false); }
  }
  if (!status && (next != segment->frames_end || next_chunk != segment->chunk_count)) {
    report(v, "segment table contradicts itself", segment->name, segment->table.body_offset);
  }
  v->totals.bytes_checked += segment->table.body_offset - next;
  return status ? status : check_zeros(v, segment->file, segment->name, next, segment->table.body_offset);
}

/// The first bytes of the file, which are there for people.
static pks_status check_header(verification *v, const pks__segment *segment) {
  const pks_vfs *vfs = segment->vfs;
  pks__segment_header header = {.version = pks__put32(PKS__FORMAT_VERSION), .kind = pks__put32(segment->kind)}, stored;
  memcpy(header.magic, PKS__SEGMENT_MAGIC, sizeof header.magic);
  size_t got = 0;
  v->totals.bytes_checked += sizeof stored;
  int failure = vfs->read_at(vfs->context, segment->file, 0, &stored, sizeof stored, &got);
  if (failure) { return settle(v, pks__fail_system(&v->found, failure, "cannot read", segment->name)); }
  if (got != sizeof stored || memcmp(&stored, &header, sizeof stored) != 0) {
    report(v, "bad segment header", segment->name, 0);
  }
  return PKS_OK;
}

/// Checks what the table says about itself: its pages, its name, and what runs say about it.
static pks_status check_segment_table(verification *v, pks__segment *segment, const pks__run_segment_info *info) {
  pks__table *table = &segment->table;
  v->totals.bytes_checked += table->file_length - table->body_offset;
  uint64_t faults = v->totals.fault_count;
  pks_status status = check_table(v, table);
  if (status || faults != v->totals.fault_count) { return status; }
  if (segment->kind != info->kind) {
    report(v, "segment is of another kind than the index says", segment->name, table->body_offset);
  }
  if (v->view->store->sha256) {
    uint8_t digest[PKS__ID_SIZE];
    v->view->store->sha256(table->body, (size_t)table->body_length, digest);
    bool same = memcmp(digest, segment->id.bytes, sizeof segment->id.bytes) == 0;
    if (!same) { report(v, "segment is not what its name says", segment->name, table->body_offset); }
  }
  return PKS_OK;
}

static pks_status check_open_segment(
  verification *v, pks__segment *segment, const pks__run_segment_info *info, bool *sound
) {
  uint64_t faults = v->totals.fault_count;
  *sound = false;
  if (segment->file_length != info->file_length) {
    report(
      v, "segment has another length than the index says", segment->name,
      pks__min64(segment->file_length, info->file_length)
    );
    return PKS_OK;
  }
  pks_status status = settle(v, pks__segment_need_table(segment, &v->found));
  if (status || faults != v->totals.fault_count) { return status; }
  status = check_segment_table(v, segment, info);
  if (status || faults != v->totals.fault_count) { return status; }
  *sound = true;
  status = check_header(v, segment);
  return status ? status : check_frames(v, segment);
}

static pks_status check_segment(verification *v, uint32_t number) {
  const pks__run_segment_info *info = &pks__segment_list_at(&v->segments, number)->info;
  pks_store *store = v->view->store;
  uint64_t base = v->bytes_done;
  pks__segment *segment = NULL;
  char name[PKS__SEGMENT_NAME], path[sizeof PKS__SEGMENTS_FOLDER + PKS__SEGMENT_NAME + 1];
  pks__segment_name(&info->id, name);
  (void)snprintf(path, sizeof path, PKS__SEGMENTS_FOLDER "/%s", name);
  pks_status status = pks__segment_open(&segment, store->vfs, store->root, path, &info->id, &v->found);
  v->states[number] = status == PKS_PURGED ? SEGMENT_GONE : SEGMENT_DAMAGED;
  if (status == PKS_PURGED) {
    status = PKS_OK;
  } else if (status) {
    status = settle(v, status);
  } else {
    bool sound;
    v->totals.files_checked++;
    status = check_open_segment(v, segment, info, &sound);
    if (sound) { v->states[number] = SEGMENT_SOUND; }
    if (!sound && info->kind == PKS__SEGMENT_METADATA) { v->pages_are_sound = false; }
  }
  pks__segment_close(segment);
  v->bytes_done = base + info->file_length;
  return status ? status : show_progress(v, true);
}

/// Reports a segment that is gone though something needs it; once.
static void need_segment(verification *v, uint32_t number, const char *by, size_t by_length) {
  if (v->states[number] != SEGMENT_GONE) { return; }
  v->states[number] = SEGMENT_MISSED;
  char name[PKS__SEGMENT_NAME], path[sizeof PKS__SEGMENTS_FOLDER + PKS__SEGMENT_NAME + 1];
  pks__segment_name(&pks__segment_list_at(&v->segments, number)->info.id, name);
  (void)snprintf(path, sizeof path, PKS__SEGMENTS_FOLDER "/%s", name);
  pks__fail(&v->found, PKS_PURGED, "segment is gone", path, PKS_NO_OFFSET);
  if (by) { name_asset(v, by, by_length); }
  (void)settle(v, PKS_PURGED);
}

// MARK: - Runs against segments

/// The view's own segment, with its table; NULL when it cannot be used.
static pks_status use_segment(verification *v, uint32_t number, pks__segment **out) {
  *out = NULL;
  if (v->states[number] != SEGMENT_SOUND) { return PKS_OK; }
  const pks__listed_segment *listed = pks__segment_list_at(&v->segments, number);
  pks__segment *segment;
  pks_status status = pks__view_segment(v->view, listed->run, listed->index, &segment, &v->found);
  if (status == PKS_PURGED) {
    // Collected since it was checked. Whether anything misses it is seen later.
    v->states[number] = SEGMENT_GONE;
    return PKS_OK;
  }
  if (!status) { status = pks__segment_need_table(segment, &v->found); }
  if (!status) { *out = segment; }
  return settle(v, status);
}

static pks_status check_frames_exist(verification *v, uint32_t number) {
  pks__run *run = &v->runs[number];
  uint32_t hint = 0, last = PKS__NO_SEGMENT;
  pks__segment *segment = NULL;
  for (uint32_t i = 0; i < run->frame_count; i++) {
    pks__run_frame_info info;
    pks__frame frame;
    pks_status status = pks__run_frame_at(run, i, &info, &v->found);
    if (!status && info.segment != last) {
      last = info.segment;
      hint = 0;
      status = use_segment(v, v->segments.numbers[number][last], &segment);
    }
    if (!status && segment) { status = pks__segment_find_frame(segment, &info, &hint, &frame, &v->found); }
    status = settle(v, status);
    if (status) { return status; }
  }
  return PKS_OK;
}

static pks_status check_chunk_found(
  verification *v, pks__run *run, pks__segment *segment, uint32_t row, uint32_t number
) {
  const pks__id *id;
  bool listed = false;
  pks_status status = pks__segment_chunk_id(segment, row, &id, &v->found);
  if (!status) { status = pks__run_lists_chunk(run, pks__id_prefix(id), number, &listed, &v->found); }
  if (status || listed) { return status; }
  return pks__fail(&v->found, PKS_CORRUPT, "a look-up does not find a chunk", run->table.name, PKS_NO_OFFSET);
}

/// Whether every chunk that the run lists is found by its id.
static pks_status check_chunks_found(verification *v, uint32_t number) {
  pks__run *run = &v->runs[number];
  for (uint32_t i = 0; i < run->segment_count; i++) {
    pks__run_segment_info info;
    pks__segment *segment = NULL;
    pks_status status = pks__run_segment_at(run, i, &info, &v->found);
    if (!status && info.chunk_count > 0) { status = use_segment(v, v->segments.numbers[number][i], &segment); }
    status = settle(v, status);
    if (status) { return status; }
    if (!segment) { continue; }
    if (info.chunk_count != segment->chunk_count) {
      report(v, "index lists another number of chunks than the segment has", segment->name, PKS_NO_OFFSET);
      continue;
    }
    for (uint32_t row = 0; !status && row < info.chunk_count; row++) {
      status = settle(v, check_chunk_found(v, run, segment, row, info.first_chunk + row));
    }
    if (status) { return status; }
  }
  return PKS_OK;
}

/// Runs that know the same segment must say the same about it.
static void check_listed_segments(verification *v, uint32_t number) {
  pks__run *run = &v->runs[number];
  for (uint32_t i = 0; i < run->segment_count; i++) {
    pks__run_segment_info info;
    if (pks__run_segment_at(run, i, &info, &v->found)) { continue; }
    const pks__run_segment_info *listed = &pks__segment_list_at(&v->segments, v->segments.numbers[number][i])->info;
    uint64_t at = run->table.body_offset + run->segments.offset + i * sizeof(pks__run_segment);
    bool same = info.kind == listed->kind && info.file_length == listed->file_length;
    if (!same) { report(v, "index runs disagree about a segment", run->table.name, at); }
  }
}

static pks_status check_run_against_segments(verification *v, uint32_t number) {
  if (!v->segments.numbers[number]) { return PKS_OK; }
  check_listed_segments(v, number);
  pks_status status = check_frames_exist(v, number);
  return status ? status : check_chunks_found(v, number);
}

// MARK: - Namespace

/// Counts a record of the namespace, and sees that the segments it needs are there.
static pks_status check_hit(verification *v, const pks__merge *merge, const pks__hit *hit) {
  v->record_counts[hit->rank]++;
  if (hit->entry.kind != PKS__RECORD_FILE) { return PKS_OK; }
  pks__piece_walk walk = pks__piece_walk_make(&v->view->runs[hit->run].open->run, &hit->entry);
  for (bool more = true;;) {
    pks__piece piece;
    pks_status status = pks__piece_walk_next(&walk, &piece, &more, &v->found);
    if (status || !more) { return settle(v, status); }
    need_segment(v, v->segments.numbers[hit->run][piece.frame.segment], merge->path, merge->path_length);
  }
}

static pks_status check_namespace(verification *v) {
  pks__merge merge = {0};
  uint64_t count = 0;
  pks_status status = pks__merge_open(&merge, v->view, &v->found);
  if (!status) { status = pks__merge_seek(&merge, "", 0, &v->found); }
  for (bool more = true; !status && more;) {
    status = pks__merge_next(&merge, &more, &v->found);
    if (status) {
      status = settle(v, status);
      break;
    }
    for (uint32_t i = 0; !status && more && i < merge.hit_count; i++) { status = check_hit(v, &merge, &merge.hits[i]); }
    if (!status && ++count % PROGRESS_ENTRIES == 0) { status = show_progress(v, true); }
  }
  pks__merge_close(&merge);
  return status;
}

// MARK: - An asset's chunks

/// Where in a record's pieces the comparison with a catalog entry is.
typedef struct chunk_walk {
  pks__piece_walk pieces;
  uint32_t run;
  pks__segment *segment;  ///< of the present piece; NULL: it cannot be used
  uint32_t row, begin, end;
} chunk_walk;

/// Goes to the next piece and its first chunk.
static pks_status next_piece(verification *v, chunk_walk *walk, bool *usable) {
  pks__piece piece;
  pks__frame frame;
  bool more;
  uint32_t hint = 0;
  pks_status status = pks__piece_walk_next(&walk->pieces, &piece, &more, &v->found);
  if (!status && !more) { status = pks__bad_extents(&walk->pieces, &v->found); }
  if (status) { return status; }
  status = use_segment(v, v->segments.numbers[walk->run][piece.frame.segment], &walk->segment);
  *usable = walk->segment != NULL;
  if (status || !walk->segment) { return status; }
  status = pks__segment_find_frame(walk->segment, &piece.frame, &hint, &frame, &v->found);
  if (status) { return status; }
  walk->begin = piece.begin;
  walk->end = piece.end;
  uint32_t low = frame.first_chunk, high = frame.first_chunk + frame.chunk_count - 1;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (pks__get32(walk->segment->ends[middle]) > piece.begin) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  walk->row = low;
  return PKS_OK;
}

/// Compares the next chunk of the catalog with the next that the index leads to. `*usable` is false when the segment
/// was found damaged.
static pks_status compare_chunk(verification *v, chunk_walk *walk, const pks__catalog_chunk *chunk, bool *usable) {
  *usable = true;
  if (walk->begin == walk->end) {
    pks_status status = next_piece(v, walk, usable);
    if (status || !*usable) { return status; }
  }
  uint32_t length = pks__get32(chunk->length);
  pks__chunk_place place;
  const pks__id *id;
  pks_status status = pks__segment_chunk(walk->segment, walk->row, &place, &v->found);
  if (!status) { status = pks__segment_chunk_id(walk->segment, walk->row, &id, &v->found); }
  if (status) { return status; }
  bool same = place.begin == walk->begin && place.end <= walk->end && place.end - place.begin == length
    && pks__id_equal(id, &chunk->id);
  if (!same) { return pks__bad_extents(&walk->pieces, &v->found); }
  walk->row++;
  walk->begin = place.end;
  return PKS_OK;
}

/// Compares a catalog entry's chunks with those that the record's extents lead to.
static pks_status compare_chunks(verification *v, const pks__catalog_entry *entry, const pks__hit *hit) {
  chunk_walk walk = {.run = hit->run, .pieces = pks__piece_walk_make(&v->view->runs[hit->run].open->run, &hit->entry)};
  pks__chunk_cursor cursor;
  pks__chunk_cursor_init(&cursor, pks__view_pages(v->view), entry);
  pks_status status = PKS_OK;
  for (bool more = true, usable = true; !status && more && usable;) {
    pks__catalog_chunk chunk;
    status = pks__chunk_cursor_next(&cursor, &chunk, &more, &v->found);
    if (!status && more) { status = compare_chunk(v, &walk, &chunk, &usable); }
  }
  pks__chunk_cursor_free(&cursor);
  return status;
}

static bool is_record_of(const pks__catalog_entry *entry, const pks__run_entry *record) {
  bool executable = record->flags & PKS__FLAG_EXECUTABLE;
  if (record->kind != entry->kind || executable != entry->executable || record->size != entry->size) { return false; }
  return entry->kind != PKS__RECORD_LINK || memcmp(record->target, entry->target, (size_t)entry->size) == 0;
}

/// Compares an entry of a current catalog with what the pack has in the namespace.
static pks_status compare_entry(verification *v, uint32_t rank, const pks__catalog_entry *entry) {
  pks__hit hit;
  bool found;
  pks_status status = pks__names_find(v->view, entry->path, entry->path_length, rank, &hit, &found, &v->found);
  if (status) { return status; }
  if (!found || !is_record_of(entry, &hit.entry)) {
    const char *text =
      found ? "the index says something else than the catalog" : "the index lacks an asset of the catalog";
    return pks__fail(&v->found, PKS_CORRUPT, text, NULL, PKS_NO_OFFSET);
  }
  return entry->kind == PKS__RECORD_FILE ? compare_chunks(v, entry, &hit) : PKS_OK;
}

// MARK: - Layout entries

/// Whether an extent of a layout runs through frames that are there; of a map asset, whether they are as they must be.
static pks_status check_layout_extent(verification *v, const pks__layout_extent *extent, bool mapped) {
  static const char bad[] = "layout extent does not fit its segment";
  uint32_t number = pks__segment_list_find(&v->segments, &extent->segment);
  if (number == PKS__NO_SEGMENT) {
    return pks__fail(&v->found, PKS_CORRUPT, "layout extent names no segment", NULL, PKS_NO_OFFSET);
  }
  pks__segment *segment;
  pks_status status = use_segment(v, number, &segment);
  if (status || !segment) { return status; }
  uint64_t left = pks__get64(extent->length), skip = pks__get32(extent->skip), next = 0;
  for (uint32_t index = pks__get32(extent->frame); left > 0; index++, skip = 0) {
    pks__frame frame;
    if (index >= segment->frame_count) { return pks__fail(&v->found, PKS_CORRUPT, bad, segment->name, PKS_NO_OFFSET); }
    status = pks__segment_frame(segment, index, &frame, &v->found);
    if (status) { return status; }
    if (skip >= frame.raw_length) { return pks__fail(&v->found, PKS_CORRUPT, bad, segment->name, frame.offset); }
    bool follows = next == 0 ? (frame.offset + skip) % PKS__PAGE == 0 : frame.offset == next;
    if (mapped && (frame.codec != PKS__CODEC_RAW || !follows)) {
      return pks__fail(
        &v->found, PKS_CORRUPT, "a map asset of the layout does not lie in one piece", segment->name, frame.offset
      );
    }
    next = frame.offset + frame.stored_length;
    left -= pks__min64(left, frame.raw_length - skip);
  }
  return PKS_OK;
}

/// The extents of a layout entry, one after another: inline, or in a list.
typedef struct extent_walk {
  pks__reader reader;
  uint64_t left;
  bool listed, mapped;
  pks__tree_cursor list;
} extent_walk;

static pks_status bad_layout_entry(verification *v) {
  return pks__fail(&v->found, PKS_CORRUPT, "bad layout entry", NULL, PKS_NO_OFFSET);
}

static pks_status open_extents(verification *v, const pks__tree_cursor *at, extent_walk *out) {
  *out = (extent_walk){.reader = pks__reader_make(at->value, at->value_length)};
  uint8_t flags = pks__read8(&out->reader);
  out->left = pks__read_varint(&out->reader);
  out->listed = out->left > PKS__ENTRY_INLINE_ROWS;
  out->mapped = flags & PKS__ENTRY_MAPPED;
  bool fits = (flags & ~PKS__ENTRY_MAPPED) == (out->listed ? PKS__ENTRY_LISTED : 0) && (!out->mapped || out->left == 1);
  if (out->reader.failed || !fits) { return bad_layout_entry(v); }
  if (!out->listed) { return PKS_OK; }
  pks__tree tree = {.height = pks__read8(&out->reader), .count = out->left};
  const uint8_t *root = pks__read_bytes(&out->reader, sizeof tree.root);
  if (!root) { return bad_layout_entry(v); }
  memcpy(&tree.root, root, sizeof tree.root);
  pks__tree_cursor_init(&out->list, pks__view_pages(v->view), PKS__TREE_LIST, sizeof(pks__layout_extent), &tree);
  return PKS_OK;
}

static pks_status next_extent(verification *v, extent_walk *walk, pks__layout_extent *out) {
  bool more = true;
  walk->left--;
  pks_status status = walk->listed ? pks__tree_cursor_next(&walk->list, &more, &v->found) : PKS_OK;
  if (status) { return status; }
  const uint8_t *row = walk->listed ? walk->list.value : pks__read_bytes(&walk->reader, sizeof *out);
  if (!more || !row) { return bad_layout_entry(v); }
  memcpy(out, row, sizeof *out);
  return PKS_OK;
}

/// Checks the layout's entry for a file of `size` bytes.
static pks_status check_extents(verification *v, const pks__tree_cursor *at, uint64_t size) {
  extent_walk walk;
  pks_status status = open_extents(v, at, &walk);
  while (!status && walk.left > 0) {
    pks__layout_extent extent;
    status = next_extent(v, &walk, &extent);
    uint64_t length = status ? 0 : pks__get64(extent.length);
    if (!status && (length == 0 || length > size)) { status = bad_layout_entry(v); }
    if (!status) { status = check_layout_extent(v, &extent, walk.mapped); }
    size -= status ? 0 : length;
  }
  pks__tree_cursor_free(&walk.list);
  return status || (size == 0 && pks__reader_left(&walk.reader) == 0) ? status : bad_layout_entry(v);
}

// MARK: - Versions

/// A version under way: its catalog, and its layout beside it.
typedef struct version_walk {
  uint32_t rank;
  const pks__version *version;
  bool is_current;
  pks__tree_cursor catalog, layout;
  bool has_layout;      ///< the layout is at an entry
  bool layout_is_lost;  ///< damaged, reported, and not looked at any more
  pks__catalog_info counted;
} version_walk;

/// Settles a failure that concerns the version, and says so.
static pks_status settle_version(verification *v, const version_walk *walk, pks_status status) {
  if (!status || ends_walk(&v->found)) { return status; }
  char name[PKS__PACK_NAME_MAX + 32];
  int length = snprintf(
    name, sizeof name, "%s version %llu", v->view->generation.packs[walk->rank].name,
    (unsigned long long)walk->version->number
  );
  name_also(v, "pack", name, (size_t)length);
  return settle(v, status);
}

static void report_version(verification *v, const version_walk *walk, const char *text) {
  (void)settle_version(v, walk, pks__fail(&v->found, PKS_CORRUPT, text, NULL, PKS_NO_OFFSET));
}

/// Settles a failure that concerns one asset of the version.
static pks_status settle_entry(
  verification *v, const version_walk *walk, const pks__catalog_entry *entry, pks_status status
) {
  if (status) { name_asset(v, entry->path, entry->path_length); }
  return settle_version(v, walk, status);
}

/// Moves the layout to its next entry.
static pks_status step_layout(verification *v, version_walk *walk) {
  pks_status status = pks__tree_cursor_next(&walk->layout, &walk->has_layout, &v->found);
  if (status) {
    walk->has_layout = false;
    walk->layout_is_lost = true;
  }
  return settle_version(v, walk, status);
}

/// Checks the layout's entry for a file that has bytes, and moves on.
static pks_status check_layout_entry(verification *v, version_walk *walk, const pks__catalog_entry *entry) {
  if (walk->layout_is_lost) { return PKS_OK; }
  size_t length = 0;
  const char *path = walk->has_layout ? pks__tree_cursor_key(&walk->layout, &length) : NULL;
  if (!path || length != entry->path_length || memcmp(path, entry->path, length) != 0) {
    walk->has_layout = false;
    walk->layout_is_lost = true;
    return settle_entry(
      v, walk, entry, pks__fail(&v->found, PKS_CORRUPT, "the layout lacks an asset", NULL, PKS_NO_OFFSET)
    );
  }
  pks_status status = settle_entry(v, walk, entry, check_extents(v, &walk->layout, entry->size));
  return status ? status : step_layout(v, walk);
}

/// Adds up the chunks of an entry.
static pks_status check_chunk_rows(verification *v, const pks__catalog_entry *entry) {
  uint64_t left = entry->size;
  pks__chunk_cursor cursor;
  pks__chunk_cursor_init(&cursor, pks__view_pages(v->view), entry);
  pks_status status = PKS_OK;
  for (bool more = true; !status;) {
    pks__catalog_chunk chunk;
    status = pks__chunk_cursor_next(&cursor, &chunk, &more, &v->found);
    if (status || !more) { break; }
    uint32_t length = pks__get32(chunk.length);
    bool fits = length > 0 && length <= left;
    if (!fits) { break; }
    left -= length;
  }
  pks__chunk_cursor_free(&cursor);
  return status || left == 0
    ? status
    : pks__fail(&v->found, PKS_CORRUPT, "chunks do not add up to the file", NULL, PKS_NO_OFFSET);
}

/// Counts an entry, and sees that it comes after the one before.
static pks_status count_entry(verification *v, version_walk *walk, const pks__catalog_entry *entry) {
  int order = memcmp(entry->path, v->path, pks__min_size(entry->path_length, v->path_length));
  bool rises = order > 0 || (order == 0 && entry->path_length > v->path_length);
  memcpy(v->path, entry->path, entry->path_length);
  v->path_length = entry->path_length;
  pks__catalog_info *counted = &walk->counted;
  counted->file_count += entry->kind == PKS__RECORD_FILE;
  counted->link_count += entry->kind == PKS__RECORD_LINK;
  counted->folder_count += entry->kind == PKS__RECORD_FOLDER;
  if (entry->kind == PKS__RECORD_FILE) { counted->logical_bytes += entry->size; }
  return rises ? PKS_OK : pks__fail(&v->found, PKS_CORRUPT, "catalog entry is out of order", NULL, PKS_NO_OFFSET);
}

static pks_status check_entry(verification *v, version_walk *walk, const pks__catalog_entry *entry) {
  bool is_file = entry->kind == PKS__RECORD_FILE;
  pks_status status = settle_entry(v, walk, entry, count_entry(v, walk, entry));
  if (!status && is_file) { status = settle_entry(v, walk, entry, check_chunk_rows(v, entry)); }
  if (!status && is_file && entry->size > 0) { status = check_layout_entry(v, walk, entry); }
  if (!status && walk->is_current && v->deep) {
    status = settle_entry(v, walk, entry, compare_entry(v, walk->rank, entry));
  }
  return status;
}

static bool has_counts(const pks__version *version, const pks__catalog_info *info) {
  return version->file_count == info->file_count && version->link_count == info->link_count
    && version->folder_count == info->folder_count && version->logical_bytes == info->logical_bytes;
}

static void check_counts(verification *v, const version_walk *walk) {
  const pks__catalog_info *counted = &walk->counted;
  uint64_t entries = counted->file_count + counted->link_count + counted->folder_count;
  if (walk->has_layout) { report_version(v, walk, "the layout has an asset that the catalog has not"); }
  if (!has_counts(walk->version, counted)) {
    report_version(v, walk, "the catalog has other numbers than the generation says");
  }
  if (walk->is_current && v->deep && entries != v->record_counts[walk->rank]) {
    report_version(v, walk, "the index has another number of assets than the catalog");
  }
}

static pks_status walk_catalog(verification *v, version_walk *walk) {
  v->path_length = 0;
  for (uint64_t count = 1;; count++) {
    bool more;
    pks__catalog_entry entry;
    pks_status status = pks__tree_cursor_next(&walk->catalog, &more, &v->found);
    if (!status && more) { status = pks__catalog_entry_read(&walk->catalog, &entry, &v->found); }
    // The rest of the catalog lies behind this page.
    if (status) { return settle_version(v, walk, status); }
    if (!more) { break; }
    status = check_entry(v, walk, &entry);
    if (!status && count % PROGRESS_ENTRIES == 0) { status = show_progress(v, true); }
    if (status) { return status; }
  }
  check_counts(v, walk);
  return PKS_OK;
}

/// Whether the segments that a layout names are there.
static void check_layout_segments(verification *v, const version_walk *walk, const pks__scratch *segments) {
  for (uint64_t i = 0; i < PKS__SCRATCH_COUNT(segments, pks__segment_id); i++) {
    uint32_t number = pks__segment_list_find(&v->segments, PKS__SCRATCH_AT(segments, const pks__segment_id, i));
    if (number == PKS__NO_SEGMENT) {
      report_version(v, walk, "the layout names a segment that the index does not know");
    } else {
      need_segment(v, number, NULL, 0);
    }
  }
}

/// The view may hold a page's segment open though its file is gone.
static pks_status check_page_segment(verification *v, const pks__id *page) {
  pks__chunk_ref ref;
  bool found;
  pks_status status = pks__view_find_chunk(v->view, page, PKS__SEGMENT_METADATA, &ref, &found, &v->found);
  if (!status && found) { need_segment(v, v->segments.numbers[ref.run][ref.segment_index], NULL, 0); }
  return status;
}

static pks_status open_layout(verification *v, version_walk *walk) {
  pks__scratch segments = {0};
  pks__layout_root root;
  pks__page_source pages = pks__view_pages(v->view);
  pks_status status = check_page_segment(v, &walk->version->layout);
  if (!status) { status = pks__layout_read_root(pages, &walk->version->layout, &root, &segments, &v->found); }
  walk->layout_is_lost = status != PKS_OK;
  status = settle_version(v, walk, status);
  if (!walk->layout_is_lost) {
    check_layout_segments(v, walk, &segments);
    if (!pks__id_equal(&root.catalog, &walk->version->catalog)) {
      report_version(v, walk, "the layout is of another version");
    }
    pks__tree_cursor_init(&walk->layout, pages, PKS__TREE_MAP, 0, &root.map);
    status = step_layout(v, walk);
  }
  pks__scratch_free(&segments);
  return status;
}

static pks_status check_version(verification *v, uint32_t rank, uint32_t index) {
  const pks__version *version = &v->view->generation.packs[rank].versions[index];
  pks__page_source pages = pks__view_pages(v->view);
  pks__catalog_info info;
  pks__tree map;
  version_walk walk = {.rank = rank, .version = version, .is_current = index == 0};
  pks_status status = open_layout(v, &walk);
  if (!status) {
    status = pks__catalog_read_root(pages, &version->catalog, &info, &map, &v->found);
    bool is_readable = !status;
    status = settle_version(v, &walk, status);
    if (is_readable) {
      if (!has_counts(version, &info)) {
        report_version(v, &walk, "the catalog says other numbers than the generation");
      }
      pks__tree_cursor_init(&walk.catalog, pages, PKS__TREE_MAP, 0, &map);
      status = walk_catalog(v, &walk);
    }
  }
  pks__tree_cursor_free(&walk.catalog);
  pks__tree_cursor_free(&walk.layout);
  return status;
}

// MARK: - The whole store

static pks_status open_verification(verification *v) {
  size_t runs = v->view->run_count, packs = v->view->generation.pack_count;
  v->runs = pks__allocate_zeroed(runs + 1, sizeof *v->runs);
  v->record_counts = pks__allocate_zeroed(packs + 1, sizeof *v->record_counts);
  v->path = pks__allocate(PKS__PATH_MAX + 1);
  v->decoder = pks__decoder_create();
  if (!v->runs || !v->record_counts || !v->path || !v->decoder) { return pks__fail_memory(&v->found); }
  v->runs_are_sound = v->pages_are_sound = true;
  return pks__segment_list_open(&v->segments, v->view->run_count, &v->found);
}

static void close_verification(verification *v) {
  for (uint32_t i = 0; v->runs && i < v->view->run_count; i++) { pks__run_close(&v->runs[i]); }
  pks__free(v->runs);
  pks__free(v->record_counts);
  pks__free(v->path);
  pks__free(v->states);
  pks__decoder_destroy(v->decoder);
  pks__segment_list_close(&v->segments);
  pks__scratch_free(&v->stored);
  pks__scratch_free(&v->raw);
}

static pks_status list_segments(verification *v) {
  for (uint32_t i = 0; i < v->view->run_count; i++) {
    if (!v->runs[i].table.body) { continue; }
    pks_status status = pks__segment_list_add(&v->segments, i, &v->runs[i], &v->found);
    if (status) { return status; }
  }
  uint32_t count = pks__segment_list_count(&v->segments);
  for (uint32_t i = 0; i < count; i++) { v->bytes_total += pks__segment_list_at(&v->segments, i)->info.file_length; }
  v->states = pks__allocate_zeroed((size_t)count + 1, sizeof *v->states);
  return v->states ? PKS_OK : pks__fail_memory(&v->found);
}

static pks_status check_all(verification *v) {
  const pks__generation *generation = &v->view->generation;
  pks__control control = {0};
  pks_status status = check_control(v, &control);
  if (!status) { status = check_generation(v, &control); }
  for (uint32_t i = 0; !status && i < v->view->run_count; i++) { status = check_run(v, i); }
  if (!status) { status = list_segments(v); }
  for (uint32_t i = 0; !status && i < pks__segment_list_count(&v->segments); i++) { status = check_segment(v, i); }
  for (uint32_t i = 0; !status && i < v->view->run_count; i++) { status = check_run_against_segments(v, i); }
  if (status || !v->runs_are_sound) { return status; }
  status = check_namespace(v);
  for (uint32_t rank = 0; v->pages_are_sound && rank < generation->pack_count; rank++) {
    for (uint32_t i = 0; !status && i < generation->packs[rank].version_count; i++) {
      status = check_version(v, rank, i);
    }
  }
  return status;
}

pks_status pks_snapshot_verify(
  const pks_snapshot *snapshot, bool deep, void (*fault)(void *context, const pks_error *fault),
  bool (*progress)(void *context, uint64_t bytes_done, uint64_t bytes_total), void *context, pks_verify_totals *totals,
  pks_error *error
) {
  pks_status forked = pks__store_check_process(snapshot->store, error);
  if (forked) { return forked; }
  if (deep && !snapshot->store->sha256) {
    return pks__fail(error, PKS_INVALID_ARGUMENT, "a deep check needs the option sha256", NULL, PKS_NO_OFFSET);
  }
  // Bitmaps and lazily opened segments change behind a snapshot that is constant to its user.
  verification v = {
    .view = (pks__view *)(uintptr_t)snapshot, .deep = deep, .fault = fault, .progress = progress, .context = context};
  pks_status status = open_verification(&v);
  if (!status) { status = check_all(&v); }
  if (!status && totals) { *totals = v.totals; }
  if (status && error) { *error = v.found; }
  close_verification(&v);
  return status;
}
