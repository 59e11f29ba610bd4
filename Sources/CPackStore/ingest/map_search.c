#include "ingest/map_search.h"

#include "codec/codec.h"
#include "index/extent_walk.h"
#include "read/namespace.h"
#include "store/chunk_lookup.h"
#include "store/snapshot.h"

/// New chunks in the form of a map asset.
typedef struct stretch {
  uint32_t first, count;
} stretch;

void pks__map_search_init(
  pks__map_search *search, pks_snapshot *base, uint32_t base_pack, const pks__scratch *new_ids,
  pks__scratch_folder *home
) {
  *search = (pks__map_search){.base = base, .base_pack = base_pack, .new_ids = new_ids};
  pks__scratch_init(&search->laid_out, home);
  pks__hash_map_init(&search->laid_out_by_first, home);
}

void pks__map_search_free(pks__map_search *search) {
  pks__scratch_free(&search->laid_out);
  pks__hash_map_free(&search->laid_out_by_first);
}

// MARK: - Stored places

/// The place of a chunk of the store in its segment file.
typedef struct location {
  bool raw;  ///< false: in another form
  uint32_t frame;
  bool begins_frame;
  uint64_t begin, end;
} location;

static pks_status locate(pks__segment *segment, uint32_t row, location *out, pks_error *error) {
  pks__chunk_place place;
  pks__frame frame;
  pks_status status = pks__segment_chunk(segment, row, &place, error);
  if (!status) { status = pks__segment_frame(segment, place.frame, &frame, error); }
  if (status) { return status; }
  *out = (location){
    .raw = frame.ref.codec == PKS__CODEC_RAW,
    .frame = place.frame,
    .begins_frame = place.begin == 0,
    .begin = frame.ref.offset + place.begin,
    .end = frame.ref.offset + place.end,
  };
  return PKS_OK;
}

/// Unreadable data offers no place: its chunks are stored again.
static pks_status forgive(pks_status status) { return status == PKS_CORRUPT || status == PKS_PURGED ? PKS_OK : status; }

static bool has_place(const pks__map_search *search, const pks__chunk_ref *ref, bool may_lack) {
  for (uint32_t i = 0; i < search->place_count; i++) {
    const pks__map_place *place = &search->places[i];
    bool is_same = place->first.segment == ref->segment && place->first.row == ref->row;
    if (is_same && place->may_lack == may_lack) { return true; }
  }
  return false;
}

/// Adds the place that begins with a stored chunk, if one does.
static pks_status add_stored(
  pks__map_search *search, const pks__chunk_ref *ref, bool is_kept, bool may_lack, pks_error *error
) {
  location at;
  if (has_place(search, ref, may_lack)) { return PKS_OK; }
  if (!pks__reuse_policy_allows(search->reuse_policy, ref->segment, ref->row, may_lack)) { return PKS_OK; }
  pks_status status = locate(ref->segment, ref->row, &at, error);
  if (status || !at.raw || at.begin % PKS__PAGE != 0) { return forgive(status); }
  search->places[search->place_count++] =
    (pks__map_place){.first = *ref, .frame = at.frame, .next_offset = at.end, .is_kept = is_kept, .may_lack = may_lack};
  return PKS_OK;
}

/// The row of the chunk that begins at `begin` in a frame, among the frame's rows.
static pks_status find_row(
  pks__segment *segment, const pks__frame *frame, uint32_t begin, uint32_t *row, bool *found, pks_error *error
) {
  *found = false;
  for (*row = frame->first_chunk; *row < frame->first_chunk + frame->chunk_count; ++*row) {
    pks__chunk_place place;
    pks_status status = pks__segment_chunk(segment, *row, &place, error);
    if (status) { return status; }
    *found = place.begin == begin;
    if (place.begin >= begin) { return PKS_OK; }
  }
  return PKS_OK;
}

/// The chunk with which the file of a record begins.
static pks_status first_chunk_of(
  pks_snapshot *base, const pks__hit *hit, pks__chunk_ref *out, bool *found, pks_error *error
) {
  pks__extent_walk walk = pks__extent_walk_make(&base->runs[hit->run].open->run, &hit->entry);
  pks__extent_part piece;
  pks__frame frame;
  uint32_t hint = 0;
  *found = false;
  pks_status status = pks__extent_walk_next(&walk, &piece, found, error);
  if (status || !*found) { return status; }
  *out = (pks__chunk_ref){.run = hit->run, .segment_index = piece.frame.segment};
  status = pks__snapshot_segment(base, out->run, out->segment_index, &out->segment, error);
  if (!status) { status = pks__segment_need_table(out->segment, error); }
  if (!status) { status = pks__segment_find_frame(out->segment, &piece.frame, &hint, &frame, error); }
  if (!status) { status = find_row(out->segment, &frame, piece.begin, &out->row, found, error); }
  return status;
}

/// Adds the place where the pack's current version has the path.
static pks_status add_kept(
  pks__map_search *search, const char *path, size_t length, const pks__id *first, bool may_lack, pks_error *error
) {
  if (search->base_pack == UINT32_MAX) { return PKS_OK; }
  pks__hit hit;
  pks__chunk_ref ref;
  const pks__id *id;
  bool found;
  pks_status status = pks__namespace_find(search->base, path, length, search->base_pack, &hit, &found, error);
  if (status || !found || !(hit.entry.flags & PKS__FLAG_CONTIGUOUS)) { return status; }
  status = first_chunk_of(search->base, &hit, &ref, &found, error);
  if (!status && found) { status = pks__segment_chunk_id(ref.segment, ref.row, &id, error); }
  if (status || !found) { return forgive(status); }
  if (atomic_load(&ref.segment->is_gone) || !pks__id_equal(id, first)) { return PKS_OK; }
  return add_stored(search, &ref, hit.entry.flags & PKS__FLAG_MAPPED, may_lack, error);
}

/// Adds places that begin with a copy of the chunk which the store has.
static pks_status add_copies(pks__map_search *search, const pks__id *first, bool may_lack, pks_error *error) {
  pks__chunk_probe probe = {.any = may_lack};
  for (uint32_t copies = 0; copies < PKS__COPIES_MAX && search->place_count < PKS__MAP_PLACES_MAX / 2; copies++) {
    pks__chunk_ref ref;
    bool found;
    pks_status status = pks__snapshot_next_chunk(search->base, first, PKS__SEGMENT_DATA, &probe, &ref, &found, error);
    if (!status && found) { status = add_stored(search, &ref, false, may_lack, error); }
    if (status || !found) { return status; }
  }
  return PKS_OK;
}

// MARK: - Places of this add

static const pks__id *new_id(const pks__map_search *search, uint32_t number) {
  return PKS__SCRATCH_AT(search->new_ids, const pks__id, number);
}

/// The id of a stretch's first chunk.
static const pks__id *stretch_id(const void *context, uint32_t index) {
  const pks__map_search *search = context;
  return new_id(search, PKS__SCRATCH_AT(&search->laid_out, const stretch, index)->first);
}

/// The next stretch that begins with the chunk.
static bool next_laid_out(const pks__map_search *search, const pks__id *first, uint64_t *probe, stretch *out) {
  uint32_t index;
  if (!pks__hash_map_next_id(&search->laid_out_by_first, first, stretch_id, search, probe, &index)) { return false; }
  *out = *PKS__SCRATCH_AT(&search->laid_out, const stretch, index);
  return true;
}

static void add_laid_out(pks__map_search *search, const pks__id *first) {
  uint64_t probe = 0;
  stretch stretch;
  while (search->place_count < PKS__MAP_PLACES_MAX && next_laid_out(search, first, &probe, &stretch)) {
    search->places[search->place_count++] =
      (pks__map_place){.new_first = stretch.first, .new_end = stretch.first + stretch.count};
  }
}

static void add_written(pks__map_search *search, const pks__id *first) {
  const pks__written_chunks *written = &search->written;
  uint64_t probe = 0;
  uint32_t number;
  for (uint32_t copies = 0; copies < PKS__COPIES_MAX && search->place_count < PKS__MAP_PLACES_MAX; copies++) {
    if (written->count == 0 || !written->next(written->context, first, &probe, &number)) { return; }
    if (number >= written->count || !written->begins(written->context, number)) { continue; }
    search->places[search->place_count++] =
      (pks__map_place){.new_first = number, .new_end = written->count, .is_written = true};
  }
}

/// A stretch is not noted once as many begin with its first chunk as are ever tried.
pks_status pks__map_search_note(pks__map_search *search, uint32_t first, uint32_t count, pks_error *error) {
  const pks__id *id = new_id(search, first);
  stretch noted, added = {.first = first, .count = count};
  uint64_t probe = 0;
  for (uint32_t same = 0; next_laid_out(search, id, &probe, &noted);) {
    if (++same == PKS__MAP_PLACES_MAX) { return PKS_OK; }
  }
  uint32_t index = (uint32_t)PKS__SCRATCH_COUNT(&search->laid_out, stretch);
  pks_status status = pks__scratch_append(&search->laid_out, &added, sizeof added, error);
  return status ? status : pks__hash_map_insert_id(&search->laid_out_by_first, id, index, error);
}

// MARK: - Searching

pks_status pks__map_search_begin(
  pks__map_search *search, const char *path, size_t length, const pks__id *first, pks_error *error
) {
  search->place_count = 0;
  search->chunk_count = 1;
  pks_status status = add_kept(search, path, length, first, false, error);
  if (!status) { status = add_copies(search, first, false, error); }
  if (!status) { add_laid_out(search, first); }
  if (!status) { add_written(search, first); }
  // Existing data, and data of this add, take precedence over missing data.
  bool may_lack = search->reuse_policy->keeps_missing;
  if (!status && may_lack) { status = add_kept(search, path, length, first, true, error); }
  if (!status && may_lack) { status = add_copies(search, first, true, error); }
  return status;
}

/// Whether the chunk comes next at a place of this add.
static bool new_goes_on(const pks__map_search *search, const pks__map_place *place, const pks__id *id) {
  uint64_t number = (uint64_t)place->new_first + search->chunk_count;
  if (number >= place->new_end || !pks__id_equal(new_id(search, (uint32_t)number), id)) { return false; }
  return !place->is_written || search->written.follows(search->written.context, (uint32_t)number);
}

/// Whether the chunk comes next at a place of the store, raw and without a gap.
static pks_status stored_goes_on(
  const pks__map_search *search, pks__map_place *place, const pks__id *id, bool *goes_on, pks_error *error
) {
  pks__segment *segment = place->first.segment;
  uint64_t row = (uint64_t)place->first.row + search->chunk_count;
  const pks__id *stored;
  location at;
  *goes_on = false;
  if (row >= segment->chunk_count) { return PKS_OK; }
  pks_status status = pks__segment_chunk_id(segment, (uint32_t)row, &stored, error);
  if (status || !pks__id_equal(stored, id)) { return forgive(status); }
  if (!pks__reuse_policy_allows(search->reuse_policy, segment, (uint32_t)row, place->may_lack)) { return PKS_OK; }
  status = locate(segment, (uint32_t)row, &at, error);
  if (status) { return forgive(status); }
  // Frames must also be consecutive by number, in case a table contains wrong offsets.
  bool is_next_frame = at.frame == place->frame || (at.frame == place->frame + 1 && at.begins_frame);
  *goes_on = at.raw && at.begin == place->next_offset && is_next_frame;
  place->frame = at.frame;
  place->next_offset = at.end;
  return PKS_OK;
}

pks_status pks__map_search_next(pks__map_search *search, const pks__id *id, pks_error *error) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < search->place_count; i++) {
    pks__map_place place = search->places[i];
    bool goes_on = !place.first.segment && new_goes_on(search, &place, id);
    pks_status status = place.first.segment ? stored_goes_on(search, &place, id, &goes_on, error) : PKS_OK;
    if (status) { return status; }
    if (goes_on) { search->places[kept++] = place; }
  }
  search->place_count = kept;
  search->chunk_count++;
  return PKS_OK;
}
