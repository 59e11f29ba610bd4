/// Measures a snapshot: the contents of packs, their shared data, and the size on disk.
///
/// Each chunk row of a data segment has a mark with the last pack that counted it, and a bit for an earlier pack. Packs are
/// processed one after another, so these are enough for exact sums with any number of packs per chunk. The namespace is in order of
/// paths, which mixes packs; so one walk counts files, a second sorts them by pack, and then every pack's files are processed in
/// turn.
///
/// A chunk may be stored more than once: two writers may have staged the same content at the same time, and a map asset
/// is laid out whole. A look-up by id finds one of the copies, always the same; it is counted for all of them.
///
/// Memory: 17 bits a chunk and 8 bytes a file, in the heap: readers have no folder for temporary files.
#include "base/memory.h"
#include "index/extent_walk.h"
#include "read/namespace.h"
#include "store/chunk_lookup.h"
#include "store/segment_list.h"
#include "store/snapshot.h"

/// Marks of a data segment's chunks; made when the segment is first needed.
typedef struct marks {
  pks__segment *segment;  ///< NULL: not needed yet
  uint32_t last_frame;    ///< found last
  uint16_t *counted_by;   ///< per chunk: rank + 1 of the pack that counted it last; 0: none
  uint64_t *shared;       ///< bit per chunk: two packs or more use it
} marks;

_Static_assert(PKS__PACKS_MAX <= UINT16_MAX, "a rank plus one fits a mark");

typedef struct measurement {
  pks_snapshot *snapshot;
  pks__segment_list segments;
  marks *marks;  ///< by number in `segments`
  pks_usage all;
  pks_usage *usages;  ///< by rank
  uint64_t *ends;     ///< by rank: where its files end in `files`; while they are placed: where the next one goes
  uint64_t *files;    ///< records of files that have bytes, by rank: run << 40 | offset
  uint64_t index_bytes, segment_count, segment_bytes;
} measurement;

enum { OFFSET_BITS = 40 };

// MARK: - Chunks

static pks_status need_marks(measurement *m, uint32_t number, marks **out, pks_error *error) {
  marks *found = &m->marks[number];
  *out = found;
  if (found->segment) { return PKS_OK; }
  const pks__listed_segment *listed = pks__segment_list_at(&m->segments, number);
  pks__segment *segment;
  pks_status status = pks__snapshot_segment(m->snapshot, listed->run, listed->index, &segment, error);
  if (!status) { status = pks__segment_need_table(segment, error); }
  if (status) { return status; }
  found->counted_by = pks__allocate_zeroed((size_t)segment->chunk_count + 1, sizeof *found->counted_by);
  found->shared = pks__allocate_zeroed((size_t)segment->chunk_count / 64 + 1, sizeof *found->shared);
  if (!found->counted_by || !found->shared) { return pks__fail_memory(error); }
  found->segment = segment;
  return PKS_OK;
}

static bool get_bit(const uint64_t *bits, uint32_t index) { return bits[index / 64] >> (index % 64) & 1; }
static void set_bit(uint64_t *bits, uint32_t index) { bits[index / 64] |= (uint64_t)1 << (index % 64); }

/// Counts one chunk for a pack, unless that pack counted it before.
static void count_chunk(measurement *m, marks *marks, uint32_t row, uint32_t rank, uint64_t raw, uint64_t stored) {
  uint32_t before = marks->counted_by[row];
  if (before == rank + 1) { return; }
  marks->counted_by[row] = (uint16_t)(rank + 1);
  pks_usage *usage = &m->usages[rank];
  usage->chunk_count++;
  usage->unique_bytes += raw;
  usage->stored_bytes += stored;
  if (before == 0) {
    usage->own_unique_bytes += raw;
    usage->own_stored_bytes += stored;
    m->all.chunk_count++;
    m->all.unique_bytes += raw;
    m->all.stored_bytes += stored;
  } else if (!get_bit(marks->shared, row)) {
    set_bit(marks->shared, row);
    m->usages[before - 1].own_unique_bytes -= raw;
    m->usages[before - 1].own_stored_bytes -= stored;
  }
}

/// The first chunk of the frame that ends after `begin`.
static uint32_t first_chunk_after(const pks_le32 *ends, uint32_t count, uint32_t begin) {
  uint32_t low = 0, high = count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (pks__get32(ends[middle]) > begin) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

/// Counts the copy that counts for a chunk; `*done` is false when that is the chunk itself.
/// A chunk that is not counted yet is new or such a copy.
static pks_status count_other_copy(
  measurement *m, marks *own, uint32_t own_row, uint32_t rank, bool *done, pks_error *error
) {
  const pks__id *id;
  pks__chunk_ref ref;
  bool found = false;
  *done = false;
  pks_status status = pks__segment_chunk_id(own->segment, own_row, &id, error);
  if (!status) { status = pks__snapshot_find_chunk(m->snapshot, id, PKS__SEGMENT_DATA, &ref, &found, error); }
  if (status || !found || (ref.segment == own->segment && ref.row == own_row)) { return status; }
  marks *marks;
  pks__chunk_place place;
  pks__frame frame;
  status = need_marks(m, m->segments.numbers[ref.run][ref.segment_index], &marks, error);
  if (!status) { status = pks__segment_chunk(marks->segment, ref.row, &place, error); }
  if (!status) { status = pks__segment_frame(marks->segment, place.frame, &frame, error); }
  if (status) { return status; }
  count_chunk(
    m, marks, ref.row, rank, place.end - place.begin,
    pks__frame_stored_until(&frame, place.end) - pks__frame_stored_until(&frame, place.begin)
  );
  *done = true;
  return PKS_OK;
}

static pks_status count_piece(
  measurement *m, uint32_t run, uint32_t rank, const pks__extent_part *piece, pks_error *error
) {
  marks *marks;
  pks__frame frame;
  pks_status status = need_marks(m, m->segments.numbers[run][piece->frame.segment], &marks, error);
  if (!status) { status = pks__segment_find_frame(marks->segment, &piece->frame, &marks->last_frame, &frame, error); }
  if (status) { return status; }
  const pks_le32 *ends;
  status = pks__segment_frame_ends(marks->segment, &frame, &ends, error);
  if (status) { return status; }
  uint32_t i = first_chunk_after(ends, frame.chunk_count, piece->begin);
  uint32_t begin = i > 0 ? pks__get32(ends[i - 1]) : 0;
  for (; i < frame.chunk_count && begin < piece->end; i++) {
    uint32_t end = pks__get32(ends[i]);
    uint32_t row = frame.first_chunk + i;
    bool done = false;
    if (marks->counted_by[row] == 0) { status = count_other_copy(m, marks, row, rank, &done, error); }
    if (status) { return status; }
    if (!done) {
      count_chunk(
        m, marks, row, rank, end - begin, pks__frame_stored_until(&frame, end) - pks__frame_stored_until(&frame, begin)
      );
    }
    begin = end;
  }
  return PKS_OK;
}

static pks_status count_file(measurement *m, uint32_t rank, uint64_t file, pks_error *error) {
  uint32_t number = (uint32_t)(file >> OFFSET_BITS);
  pks__run *run = &m->snapshot->runs[number].open->run;
  pks__run_entry entry;
  pks_status status = pks__run_entry_at(run, file & (((uint64_t)1 << OFFSET_BITS) - 1), &entry, error);
  pks__extent_walk walk = pks__extent_walk_make(run, &entry);
  for (bool more = true; !status && more;) {
    pks__extent_part piece;
    status = pks__extent_walk_next(&walk, &piece, &more, error);
    if (!status && more) { status = count_piece(m, number, rank, &piece, error); }
  }
  return status;
}

static pks_status count_chunks(measurement *m, pks_error *error) {
  pks_status status = PKS_OK;
  for (uint32_t rank = 0, packs = m->snapshot->generation.pack_count; rank < packs; rank++) {
    uint64_t at = rank > 0 ? m->ends[rank - 1] : 0;
    for (; !status && at < m->ends[rank]; at++) { status = count_file(m, rank, m->files[at], error); }
  }
  return status;
}

// MARK: - Files

static void count_record(measurement *m, const pks__hit *hit) {
  pks_usage *usage = &m->usages[hit->rank];
  switch (hit->entry.kind) {
    case PKS__RECORD_FILE:
      usage->file_count++;
      usage->logical_bytes += hit->entry.size;
      m->ends[hit->rank] += hit->entry.size > 0;
      break;
    case PKS__RECORD_LINK: usage->link_count++; break;
    case PKS__RECORD_FOLDER: usage->folder_count++; break;
    case PKS__RECORD_ABSENT: break;
  }
}

static void place_record(measurement *m, const pks__hit *hit) {
  if (hit->entry.kind != PKS__RECORD_FILE || hit->entry.size == 0) { return; }
  m->files[m->ends[hit->rank]++] = (uint64_t)hit->run << OFFSET_BITS | hit->entry.offset;
}

/// Visits every pack's record of every path, including hidden ones.
static pks_status for_each_record(
  measurement *m, void (*visit)(measurement *m, const pks__hit *hit), pks_error *error
) {
  pks__run_merge merge = {0};
  pks_status status = pks__run_merge_open(&merge, m->snapshot, error);
  if (!status) { status = pks__run_merge_seek(&merge, "", 0, error); }
  for (bool more = true; !status && more;) {
    status = pks__run_merge_next(&merge, &more, error);
    for (uint32_t i = 0; !status && more && i < merge.hit_count; i++) { visit(m, &merge.hits[i]); }
  }
  pks__run_merge_close(&merge);
  return status;
}

static pks_status sort_files(measurement *m, pks_error *error) {
  pks_status status = for_each_record(m, count_record, error);
  if (status) { return status; }
  uint64_t sum = 0;
  for (uint32_t rank = 0; rank < m->snapshot->generation.pack_count; rank++) {
    const pks_usage *usage = &m->usages[rank];
    m->all.file_count += usage->file_count;
    m->all.link_count += usage->link_count;
    m->all.folder_count += usage->folder_count;
    m->all.logical_bytes += usage->logical_bytes;
    uint64_t count = m->ends[rank];
    m->ends[rank] = sum;
    sum += count;
  }
  m->files = sum < SIZE_MAX / sizeof *m->files ? pks__allocate((size_t)(sum + 1) * sizeof *m->files) : NULL;
  return m->files ? for_each_record(m, place_record, error) : pks__fail_memory(error);
}

// MARK: - Files on disk

typedef struct folder_size {
  const pks_vfs *vfs;
  pks_vfs_file folder;
  uint64_t count, bytes;
} folder_size;

/// A file deleted during the walk was collected, and counts as missing.
static bool add_size(void *context, const char *name, size_t length, pks_vfs_kind kind) {
  (void)length;
  folder_size *size = context;
  pks_vfs_info info;
  if (kind == PKS_VFS_KIND_FOLDER || pks__vfs_info(size->vfs, size->folder, name, false, &info) != 0) { return true; }
  size->count++;
  // A sparse file may say any size.
  if (__builtin_add_overflow(size->bytes, info.size, &size->bytes)) { size->bytes = UINT64_MAX; }
  return true;
}

static pks_status measure_folder(
  const pks_store *store, const char *path, uint64_t *count, uint64_t *bytes, pks_error *error
) {
  folder_size size = {.vfs = store->vfs};
  int failure = pks__vfs_open(size.vfs, store->root, path, PKS_VFS_OPEN_FOLDER, &size.folder);
  if (!failure) {
    failure = pks__vfs_list(size.vfs, size.folder, add_size, &size);
    pks__vfs_close(size.vfs, size.folder);
  }
  *count = size.count;
  *bytes = size.bytes;
  return failure ? pks__fail_system(error, failure, "cannot list", path) : PKS_OK;
}

// MARK: - Measuring

static pks_status open_measurement(measurement *m, pks_error *error) {
  uint32_t packs = m->snapshot->generation.pack_count;
  m->usages = pks__allocate_zeroed((size_t)packs + 1, sizeof *m->usages);
  m->ends = pks__allocate_zeroed((size_t)packs + 1, sizeof *m->ends);
  if (!m->usages || !m->ends) { return pks__fail_memory(error); }
  pks_status status = pks__segment_list_open(&m->segments, m->snapshot, error);
  for (uint32_t i = 0; !status && i < m->snapshot->run_count; i++) {
    pks__run *run = &m->snapshot->runs[i].open->run;
    if (run->records.length >> OFFSET_BITS) {
      return pks__fail(error, PKS_CORRUPT, "the index run exceeds the largest size", run->table.name, PKS_NO_OFFSET);
    }
    status = pks__segment_list_add(&m->segments, i, run, error);
  }
  if (status) { return status; }
  m->marks = pks__allocate_zeroed((size_t)pks__segment_list_count(&m->segments) + 1, sizeof *m->marks);
  return m->marks ? PKS_OK : pks__fail_memory(error);
}

static void close_measurement(measurement *m) {
  for (uint32_t i = 0; m->marks && i < pks__segment_list_count(&m->segments); i++) {
    pks__free(m->marks[i].counted_by);
    pks__free(m->marks[i].shared);
  }
  pks__free(m->marks);
  pks__segment_list_close(&m->segments);
  pks__free(m->files);
  pks__free(m->ends);
  pks__free(m->usages);
}

pks_status pks_snapshot_stat(pks_stat *out, pks_usage *usages, const pks_snapshot *snapshot, pks_error *error) {
  // Bitmaps and lazily opened segments change behind a snapshot that is constant to its user.
  measurement m = {.snapshot = pks__snapshot_mutable(snapshot)};
  uint64_t index_count;
  pks_status status = pks__store_check_process(snapshot->store, error);
  if (!status) { status = open_measurement(&m, error); }
  if (!status) { status = sort_files(&m, error); }
  if (!status) { status = count_chunks(&m, error); }
  if (!status) {
    status = measure_folder(m.snapshot->store, PKS__SEGMENTS_FOLDER, &m.segment_count, &m.segment_bytes, error);
  }
  if (!status) { status = measure_folder(m.snapshot->store, PKS__INDEX_FOLDER, &index_count, &m.index_bytes, error); }
  if (!status) {
    m.all.own_unique_bytes = m.all.unique_bytes;
    m.all.own_stored_bytes = m.all.stored_bytes;
    *out = (pks_stat){
      .all = m.all,
      .segment_count = m.segment_count,
      .segment_bytes = m.segment_bytes,
      .index_bytes = m.index_bytes,
      .run_count = m.snapshot->run_count,
    };
    if (usages) { memcpy(usages, m.usages, m.snapshot->generation.pack_count * sizeof *usages); }
  }
  close_measurement(&m);
  return status;
}
