/// Verification, level 5: the merged namespace, which assets faults of frames damage; and an entry of a catalog against
/// the index. See `verification.h`.
#include "check/verify_names.h"

#include <string.h>

#include "catalog/tree_cursor.h"
#include "check/verify_segments.h"
#include "segment/frame_check.h"
#include "store/chunk_lookup.h"
#include "store/snapshot.h"

// MARK: - Which assets faults damage

/// Reads a frame of a segment whose table cannot be used, to see whether it is whole.
static pks_status probe_frame(pks__verification *v, uint32_t number, const pks__run_frame_info *frame) {
  const pks__listed_segment *listed = pks__segment_list_at(&v->segments, number);
  pks__frame_finding finding = {.segment = number, .offset = frame->ref.offset, .length = frame->ref.stored_length};
  pks__segment *segment;
  v->stored.length = 0;
  pks_status status = pks__scratch_reserve(&v->stored, frame->ref.stored_length, &v->found);
  if (status) { return status; }
  status = pks__snapshot_segment(v->snapshot, listed->run, listed->index, &segment, &v->found);
  if (!status) { status = pks__frame_read_stored(segment, &frame->ref, v->stored.bytes, &v->found); }
  if (status && !pks__error_is_damage(&v->found)) { return status; }
  v->inspector.frames_checked++;
  finding.is_bad = status != PKS_OK;
  finding.status = status;
  finding.system_error = status ? v->found.system_error : 0;
  finding.text = status ? v->found.text : "";
  return pks__verify_note(v, &finding);
}

/// Finds the result for the frame of a record.
static pks_status find_fault(
  pks__verification *v, uint32_t number, const pks__run_frame_info *frame, pks__frame_finding **out
) {
  pks__segment_state state = v->states[number];
  *out = pks__verify_finding(v, number, state == PKS__SEGMENT_GONE ? PKS_NO_OFFSET : frame->ref.offset);
  if (*out || state != PKS__SEGMENT_DAMAGED) { return PKS_OK; }
  pks_status status = probe_frame(v, number, frame);
  if (!status) { *out = pks__verify_finding(v, number, frame->ref.offset); }
  return status;
}

/// Returns the number of a segment with index `index` in a run. Not all rows of a damaged run are listed.
static pks_status segment_number(pks__verification *v, uint32_t run, uint32_t index, uint32_t *number) {
  const uint32_t *numbers = v->segments.numbers[run];
  pks__run_segment_info info;
  if (numbers) {
    *number = numbers[index];
    return PKS_OK;
  }
  pks_status status = pks__run_segment_at(&v->snapshot->runs[run].open->run, index, &info, &v->found);
  *number = status ? PKS__NO_SEGMENT : pks__segment_list_find(&v->segments, &info.id);
  if (!status && *number == PKS__NO_SEGMENT) {
    status = pks__fail(&v->found, PKS_CORRUPT, "a segment could not be checked", NULL, PKS_NO_OFFSET);
  }
  return status;
}

/// Looks at one frame of a record.
static pks_status check_piece(
  pks__verification *v, uint32_t run, const pks__extent_part *piece, const pks__fault_subject *subject
) {
  uint32_t number;
  pks__frame_finding *finding = NULL;
  pks_status status = segment_number(v, run, piece->frame.segment, &number);
  if (!status) { status = find_fault(v, number, &piece->frame, &finding); }
  if (!status && finding && finding->is_bad) { pks__verify_blame(v, finding, subject); }
  return status;
}

pks_status pks__verify_record(pks__verification *v, const pks__hit *hit, const pks__fault_subject *subject) {
  v->subject++;
  if (hit->entry.kind != PKS__RECORD_FILE) { return PKS_OK; }
  pks__extent_walk walk = pks__extent_walk_make(&v->snapshot->runs[hit->run].open->run, &hit->entry);
  pks_status status = PKS_OK;
  for (bool more = true; !status;) {
    pks__extent_part piece;
    status = pks__extent_walk_next(&walk, &piece, &more, &v->found);
    if (status || !more) { break; }
    status = check_piece(v, hit->run, &piece, subject);
    if (!status) { status = pks__verify_tick(v); }
  }
  return pks__verify_settle(v, status, subject);
}

// MARK: - Namespace

pks_status pks__verify_namespace(pks__verification *v) {
  pks__run_merge merge = {0};
  uint64_t count = 0;
  pks_status status = pks__run_merge_open(&merge, v->snapshot, &v->found);
  if (!status) { status = pks__run_merge_seek(&merge, "", 0, &v->found); }
  for (bool more = true; !status && more;) {
    status = pks__run_merge_next(&merge, &more, &v->found);
    if (status) {
      status = pks__verify_settle(v, status, NULL);
      break;
    }
    for (uint32_t i = 0; !status && more && i < merge.hit_count; i++) {
      const pks__pack_state *pack = &v->snapshot->generation.packs[merge.hits[i].rank];
      pks__fault_subject subject = {
        .pack = pack->name,
        .version = pack->versions[0].number,
        .asset = merge.path,
        .asset_length = merge.path_length,
      };
      v->record_counts[merge.hits[i].rank]++;
      status = pks__verify_record(v, &merge.hits[i], &subject);
    }
    if (!status && ++count % PKS__VERIFY_ENTRIES == 0) { status = pks__verify_progress(v, true); }
  }
  pks__run_merge_close(&merge);
  return status;
}

// MARK: - Damaged runs

/// Looks an entry of a catalog up in an index with damaged parts.
static pks_status look_up(pks__verification *v, uint32_t rank, const pks__catalog_entry *entry) {
  const pks__pack_state *pack = &v->snapshot->generation.packs[rank];
  pks__fault_subject subject = {
    .pack = pack->name,
    .version = pack->versions[0].number,
    .asset = entry->path,
    .asset_length = entry->path_length,
  };
  pks__hit hit;
  bool found;
  pks_status status = pks__namespace_find(v->snapshot, entry->path, entry->path_length, rank, &hit, &found, &v->found);
  if (!status && found) { return pks__verify_record(v, &hit, &subject); }
  if (!status) {
    status = pks__fail(&v->found, PKS_CORRUPT, "the index lacks an asset of the catalog", NULL, PKS_NO_OFFSET);
  }
  v->subject++;
  return pks__verify_settle(v, status, &subject);
}

/// Looks up the entries of the pack's current catalog, as far as they can be read.
static pks_status look_up_pack(pks__verification *v, uint32_t rank) {
  const pks__pack_state *pack = &v->snapshot->generation.packs[rank];
  pks__fault_subject subject = {.pack = pack->name, .version = pack->versions[0].number};
  pks__page_source pages = pks__snapshot_pages(v->snapshot);
  pks__tree_cursor cursor = {0};
  pks__catalog_info info;
  pks__tree map;
  pks_status status = pks__catalog_read_root(pages, &pack->versions[0].catalog, &info, &map, &v->found);
  if (!status) { pks__tree_cursor_init(&cursor, pages, PKS__TREE_MAP, 0, &map); }
  for (uint64_t count = 1; !status; count++) {
    bool more;
    pks__catalog_entry entry;
    status = pks__tree_cursor_next(&cursor, &more, &v->found);
    if (!status && more) { status = pks__catalog_entry_read(&cursor, &entry, &v->found); }
    if (status || !more) { break; }
    status = look_up(v, rank, &entry);
    if (!status && count % PKS__VERIFY_ENTRIES == 0) { status = pks__verify_progress(v, true); }
  }
  v->subject++;
  status = pks__verify_settle(v, status, &subject);
  pks__tree_cursor_free(&cursor);
  return status;
}

pks_status pks__verify_lookups(pks__verification *v) {
  pks_status status = PKS_OK;
  for (uint32_t rank = 0; !status && v->pages_are_sound && rank < v->snapshot->generation.pack_count; rank++) {
    status = look_up_pack(v, rank);
  }
  return status;
}

// MARK: - An entry's chunks

/// Where a comparison of chunks is.
typedef struct chunk_walk {
  pks__part_source parts;
  pks__frame_part part;
  uint32_t row;
} chunk_walk;

/// Goes to the next part and its first chunk.
static pks_status next_part(pks__verification *v, chunk_walk *walk) {
  pks_status status = walk->parts.next(walk->parts.context, &walk->part, &v->found);
  if (status || !walk->part.segment) { return status; }
  const pks__frame *frame = &walk->part.frame;
  const pks_le32 *ends = walk->part.segment->ends;
  uint32_t low = frame->first_chunk, high = frame->first_chunk + frame->chunk_count - 1;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (pks__get32(ends[middle]) > walk->part.begin) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  walk->row = low;
  return PKS_OK;
}

/// Compares the next chunk of the catalog with the next that the parts lead to. `*usable` is false when the segment was
/// found damaged.
static pks_status compare_chunk(pks__verification *v, chunk_walk *walk, const pks__catalog_chunk *chunk, bool *usable) {
  pks__frame_part *part = &walk->part;
  *usable = true;
  if (part->begin == part->end) {
    pks_status status = next_part(v, walk);
    *usable = part->segment != NULL;
    if (status || !*usable) { return status; }
  }
  pks__segment *segment = part->segment;
  pks__chunk_place place;
  const pks__id *id;
  pks_status status = pks__segment_chunk(segment, walk->row, &place, &v->found);
  if (!status) { status = pks__segment_chunk_id(segment, walk->row, &id, &v->found); }
  if (status) { return status; }
  bool same = place.begin == part->begin && place.end <= part->end
    && place.end - place.begin == pks__get32(chunk->length) && pks__id_equal(id, &chunk->id);
  if (!same) {
    return pks__fail(&v->found, PKS_CORRUPT, "chunks differ from the catalog", segment->name, part->frame.ref.offset);
  }
  walk->row++;
  part->begin = place.end;
  return PKS_OK;
}

pks_status pks__verify_chunks(pks__verification *v, const pks__catalog_entry *entry, pks__part_source parts) {
  chunk_walk walk = {.parts = parts};
  pks__chunk_cursor cursor;
  pks__chunk_cursor_init(&cursor, pks__snapshot_pages(v->snapshot), entry);
  pks_status status = PKS_OK;
  for (bool more = true, usable = true; !status && more && usable;) {
    pks__catalog_chunk chunk;
    status = pks__chunk_cursor_next(&cursor, &chunk, &more, &v->found);
    if (!status && more) { status = compare_chunk(v, &walk, &chunk, &usable); }
    if (!status) { status = pks__verify_tick(v); }
  }
  pks__chunk_cursor_free(&cursor);
  return status;
}

// MARK: - Entries against the index

/// The parts of frames that a record's bytes run through.
typedef struct record_parts {
  pks__verification *v;
  uint32_t run;
  pks__extent_walk pieces;
} record_parts;

static pks_status next_record_part(void *context, pks__frame_part *out, pks_error *error) {
  record_parts *parts = context;
  pks__verification *v = parts->v;
  pks__extent_part piece;
  bool more;
  uint32_t hint = 0;
  pks_status status = pks__extent_walk_next(&parts->pieces, &piece, &more, error);
  if (!status && !more) { status = pks__bad_extents(&parts->pieces, error); }
  if (status) { return status; }
  *out = (pks__frame_part){.begin = piece.begin, .end = piece.end};
  status = pks__verify_use_segment(v, v->segments.numbers[parts->run][piece.frame.segment], &out->segment);
  if (status || !out->segment) { return status; }
  return pks__segment_find_frame(out->segment, &piece.frame, &hint, &out->frame, error);
}

static bool is_record_of(const pks__catalog_entry *entry, const pks__run_entry *record) {
  bool executable = record->flags & PKS__FLAG_EXECUTABLE;
  if (record->kind != entry->kind || executable != entry->executable || record->size != entry->size) { return false; }
  return entry->kind != PKS__RECORD_LINK || memcmp(record->target, entry->target, (size_t)entry->size) == 0;
}

pks_status pks__verify_entry(pks__verification *v, uint32_t rank, const pks__catalog_entry *entry) {
  pks__hit hit;
  bool found;
  pks_status status = pks__namespace_find(v->snapshot, entry->path, entry->path_length, rank, &hit, &found, &v->found);
  if (status) { return status; }
  if (!found || !is_record_of(entry, &hit.entry)) {
    const char *text = found ? "the index contradicts the catalog" : "the index lacks an asset of the catalog";
    return pks__fail(&v->found, PKS_CORRUPT, text, NULL, PKS_NO_OFFSET);
  }
  if (entry->kind != PKS__RECORD_FILE) { return PKS_OK; }
  record_parts parts = {
    .v = v, .run = hit.run, .pieces = pks__extent_walk_make(&v->snapshot->runs[hit.run].open->run, &hit.entry)};
  return pks__verify_chunks(v, entry, (pks__part_source){.context = &parts, .next = next_record_part});
}
