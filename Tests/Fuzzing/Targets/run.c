/// Runs: records, buckets, order, frames, pieces and chunks.
///
/// Input: le16 index of the chunk to find; 32 bytes of the store's path key; the table's body.
#include "../fuzzing.h"

enum { ROWS_MAX = 200 };

static void walk_pieces(pks__run *run, const pks__run_entry *entry, uint64_t from) {
  pks__extent_walk walk = pks__extent_walk_make(run, entry);
  pks__extent_part piece;
  pks_error error;
  bool more = true;
  uint64_t offset = from;
  if (from > 0 && pks__extent_walk_seek(&walk, from, &error)) { return; }
  pks_status status = PKS_OK;
  for (unsigned i = 0; i < ROWS_MAX; i++) {
    status = pks__extent_walk_next(&walk, &piece, &more, &error);
    if (status || !more) { break; }
    FUZZ_ASSERT(piece.begin < piece.end && piece.end <= piece.frame.ref.raw_length && piece.index < run->frame_count);
    offset += piece.end - piece.begin;
    FUZZ_ASSERT(offset <= entry->size);
  }
  if (!status && !more) { FUZZ_ASSERT(offset == entry->size); }
}

/// Finds a record by its path, and the frames of a record.
static void use_record(pks__run *run, const pks__path_hasher *hasher, const pks__run_entry *entry) {
  char path[70000 * 2];
  size_t length = entry->folder_length;
  FUZZ_ASSERT(length + 1 + entry->name_length <= sizeof path);
  memcpy(path, entry->folder, length);
  if (length > 0) { path[length++] = '/'; }
  memcpy(path + length, entry->name, entry->name_length);
  length += entry->name_length;
  FUZZ_ASSERT(pks__run_entry_compare(entry, path, length) == 0);
  pks__run_probe probe = {0};
  pks__run_entry found;
  pks_error error;
  bool more = true;
  uint64_t hash = pks__path_hash(hasher, path, length), offset;
  for (unsigned i = 0; i < 20 && !pks__run_find(run, hash, path, length, &probe, &found, &more, &error) && more; i++) {
    FUZZ_ASSERT(pks__run_entry_compare(&found, path, length) == 0);
  }
  FUZZ_ASSERT(probe.buckets <= PKS__BUCKETS_MAX);
  if (!pks__run_seek(run, path, length, &offset, &error)) {
    if (offset < run->records.length && !pks__run_entry_at(run, offset, &found, &error)) {
      FUZZ_ASSERT(pks__run_entry_compare(&found, path, length) >= 0);
    }
  }
  if (entry->target) { (void)pks__checksum(entry->target, (size_t)entry->size); }
  if (entry->kind != PKS__RECORD_FILE) { return; }
  walk_pieces(run, entry, 0);
  if (entry->size > 1) { walk_pieces(run, entry, entry->size / 2); }
  if (entry->size > 1) { walk_pieces(run, entry, entry->size - 1); }
}

static void use_frames(pks__run *run) {
  pks__run_frame_info frame;
  pks_error error;
  for (uint32_t i = 0; i < run->frame_count && i < ROWS_MAX; i++) {
    if (pks__run_frame_at(run, i, &frame, &error)) { continue; }
    FUZZ_ASSERT(
      frame.ref.raw_length > 0 && frame.ref.raw_length <= PKS__FRAME_RAW_MAX && frame.segment < run->segment_count
    );
    uint32_t found;
    uint64_t position = frame.raw_start + frame.ref.raw_length / 2;
    if (pks__run_frame_find(run, i / 2, position, &found, &error)) { continue; }
    FUZZ_ASSERT(!pks__run_frame_at(run, found, &frame, &error));
    FUZZ_ASSERT(frame.raw_start <= position && position - frame.raw_start < frame.ref.raw_length);
  }
  for (uint32_t i = 0; i < run->segment_count && i < ROWS_MAX; i++) {
    pks__run_segment_info segment;
    (void)pks__run_segment_at(run, i, &segment, &error);
  }
}

static void use_chunks(pks__run *run, uint64_t seed) {
  pks_error error;
  for (uint64_t i = 0; i < 8; i++) {
    uint64_t prefix = (seed << 48 | seed << 16 | seed) + (i << 61);
    uint32_t probe = 0, segment, row;
    bool found = true;
    for (unsigned n = 0; n < ROWS_MAX && !pks__run_find_chunk(run, prefix, &probe, &segment, &row, &found, &error);
         n++) {
      if (!found) { break; }
      FUZZ_ASSERT(segment < run->segment_count);
    }
    (void)pks__run_lists_chunk(run, prefix, (uint32_t)i, &found, &error);
  }
}

/// Chunks as the run's own rows name them.
static void use_own_chunks(pks__run *run) {
  pks_error error;
  for (uint64_t i = 0; i < run->chunk_count && i < 20; i++) {
    uint64_t at = run->chunk_rows.offset + i * sizeof(pks__chunk_row);
    if (pks__table_check(&run->table, at, sizeof(pks__chunk_row), &error)) { return; }
    pks__chunk_row row;
    memcpy(&row, run->table.body + at, sizeof row);
    uint32_t probe = 0, segment, place;
    bool found;
    (void)pks__run_find_chunk(run, pks__get32(row.fingerprint), &probe, &segment, &place, &found, &error);
    (void)pks__run_lists_chunk(run, pks__get32(row.fingerprint), pks__get32(row.number), &found, &error);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count) {
  fuzz_input input = {bytes, byte_count};
  uint64_t seed = fuzz_take(&input, 2);
  size_t got;
  uint8_t path_key[PKS__PATH_KEY_SIZE] = {0};
  const uint8_t *key = fuzz_take_bytes(&input, sizeof path_key, &got);
  if (got > 0) { memcpy(path_key, key, got); }
  pks__path_hasher hasher;
  pks__path_hasher_init(&hasher, path_key);
  fuzz_file file = fuzz_table_file(PKS__TABLE_RUN, NULL, 0, input.next, input.left);
  pks_vfs vfs = fuzz_vfs(&file);
  pks__run run;
  pks_error error;
  if (!pks__run_open(&run, &vfs, 3, "index/run", &error)) {
    pks__run_entry entry;
    uint64_t at = 0;
    for (unsigned i = 0; i < ROWS_MAX && at < run.records.length; i++, at = entry.next) {
      if (pks__run_entry_at(&run, at, &entry, &error)) { break; }
      FUZZ_ASSERT(entry.next > at);
      use_record(&run, &hasher, &entry);
    }
    use_frames(&run);
    use_chunks(&run, seed);
    use_own_chunks(&run);
    pks__run_close(&run);
  }
  free(file.bytes);
  return 0;
}
