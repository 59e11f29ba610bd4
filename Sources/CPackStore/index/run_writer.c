#include "index/run_writer.h"

#include <string.h>

#include "platform/file_writer.h"

typedef struct record_key {
  uint64_t hash, offset;
} record_key;
typedef struct chunk_key {
  uint64_t prefix;
  uint32_t number;
  uint32_t unused;
} chunk_key;

enum { SECTION_ALIGNMENT = 64, PATHS_PER_BUCKET = 7, SALTS = 4, CHUNKS_PER_PREFIX = 16 };
/// The low half of a prefix is sorted by so many bits at a time.
enum { DIGIT_BITS = 8, DIGIT_MASK = (1 << DIGIT_BITS) - 1 };

void pks__run_writer_init(
  pks__run_writer *writer, pks__scratch_folder *home, const pks__path_hasher *hasher, uint32_t pack_count
) {
  *writer = (pks__run_writer){.home = home, .hasher = hasher, .pack_count = pack_count};
  pks__scratch *all[] = {&writer->records, &writer->starts,   &writer->keys,  &writer->folders,
                         &writer->frames,  &writer->segments, &writer->chunks};
  for (size_t i = 0; i < PKS_COUNT_OF(all); i++) { pks__scratch_init(all[i], home); }
  pks__hash_map_init(&writer->folder_map, home);
}

void pks__run_writer_free(pks__run_writer *writer) {
  pks__scratch *all[] = {&writer->records, &writer->starts,   &writer->keys,  &writer->folders,
                         &writer->frames,  &writer->segments, &writer->chunks};
  for (size_t i = 0; i < PKS_COUNT_OF(all); i++) { pks__scratch_free(all[i]); }
  pks__hash_map_free(&writer->folder_map);
}

// MARK: - Adding

pks_status pks__run_writer_add_segment(
  pks__run_writer *writer, const pks__run_segment_info *info, uint32_t *number, pks_error *error
) {
  pks__run_segment row = {
    .id = info->id,
    .first_chunk = pks__put32(writer->listed_chunks),
    .chunk_count = pks__put32(info->chunk_count),
    .length = pks__put64(pks__place_make(info->file_length, info->kind)),
  };
  writer->listed_chunks += info->chunk_count;
  *number = (uint32_t)PKS__SCRATCH_COUNT(&writer->segments, pks__run_segment);
  return pks__scratch_append(&writer->segments, &row, sizeof row, error);
}

pks_status pks__run_writer_add_chunk(pks__run_writer *writer, uint64_t prefix, uint32_t number, pks_error *error) {
  chunk_key key = {.prefix = prefix, .number = number};
  return pks__scratch_append(&writer->chunks, &key, sizeof key, error);
}

pks_status pks__run_writer_add_frame(
  pks__run_writer *writer, const pks__run_frame_info *info, uint32_t *number, pks_error *error
) {
  pks__run_frame row = {
    .raw_start = pks__put64(info->ref.raw_length),
    .place = pks__put64(pks__place_make(info->ref.offset, info->ref.codec)),
    .stored_length = pks__put32(info->ref.stored_length),
    .segment = pks__put32(info->segment),
    .sum = pks__put64(info->ref.sum),
  };
  *number = (uint32_t)PKS__SCRATCH_COUNT(&writer->frames, pks__run_frame);
  return pks__scratch_append(&writer->frames, &row, sizeof row, error);
}

/// Returns the offset of the folder's path in the folders section, and adds a new one.
static pks_status folder_offset(
  pks__run_writer *writer, const char *folder, size_t length, uint32_t *offset, pks_error *error
) {
  uint64_t key = pks__hash_map_key(&writer->folder_map, folder, length), probe = 0;
  pks_le16 stored_length = pks__put16((uint16_t)length);
  while (pks__hash_map_next(&writer->folder_map, key, &probe, offset)) {
    const uint8_t *known = writer->folders.bytes + *offset;
    if (memcmp(known, &stored_length, sizeof stored_length) == 0 && memcmp(known + sizeof stored_length, folder, length) == 0) {
      return PKS_OK;
    }
  }
  if (writer->folders.length > UINT32_MAX - PKS__PATH_MAX) {
    return pks__fail_about(
      error, PKS_INVALID_ARGUMENT, PKS_DETAIL_LIMIT, PKS_SUBJECT_NONE, NULL, "too many folders for one pack"
    );
  }
  *offset = (uint32_t)writer->folders.length;
  pks_status status = pks__scratch_append(&writer->folders, &stored_length, sizeof stored_length, error);
  if (!status) { status = pks__scratch_append(&writer->folders, folder, length, error); }
  return status ? status : pks__hash_map_insert(&writer->folder_map, key, *offset, error);
}

/// Notes where the record at `offset` begins, if it is the first of its page.
static pks_status note_start(pks__run_writer *writer, uint64_t offset, pks_error *error) {
  const pks_le16 none = pks__put16(0xffff);
  pks_status status = PKS_OK;
  while (!status && PKS__SCRATCH_COUNT(&writer->starts, pks_le16) <= offset / PKS__PAGE) {
    status = pks__scratch_append(&writer->starts, &none, sizeof none, error);
  }
  if (status) { return status; }
  pks_le16 *start = PKS__SCRATCH_AT(&writer->starts, pks_le16, offset / PKS__PAGE);
  if (pks__get16(*start) == 0xffff) { *start = pks__put16((uint16_t)(offset % PKS__PAGE)); }
  return PKS_OK;
}

/// Whether one extent is enough: it begins anywhere and covers the file.
static bool has_one_extent(const pks__run_item *item) {
  return item->kind == PKS__RECORD_FILE && item->extent_count == 1;
}

static pks_status append_tail(pks__run_writer *writer, const pks__run_item *item, pks_error *error) {
  if (item->kind == PKS__RECORD_LINK) { return pks__scratch_append(&writer->records, item->target, item->size, error); }
  if (item->kind != PKS__RECORD_FILE || has_one_extent(item)) { return PKS_OK; }
  return pks__scratch_append(&writer->records, item->extents, item->extent_count * sizeof *item->extents, error);
}

/// Whether the last added record has the path with this folder and name; if so, records it.
static bool follows_last(pks__run_writer *writer, uint32_t folder, const char *name, size_t name_length) {
  if (writer->record_count == 0) { return false; }
  pks__record *last = (pks__record *)(void *)(writer->records.bytes + writer->last_record);
  bool is_same = pks__get32(last->folder) == folder && pks__get16(last->name_length) == name_length
    && memcmp(last + 1, name, name_length) == 0;
  if (is_same) { last->flags |= PKS__FLAG_FOLLOWED; }
  return is_same;
}

/// Notes where the first record of a path is.
static pks_status note_path(pks__run_writer *writer, const pks__run_item *item, pks_error *error) {
  record_key key = {
    .hash = pks__path_hash(writer->hasher, item->path, item->path_length), .offset = writer->records.length};
  return pks__scratch_append(&writer->keys, &key, sizeof key, error);
}

pks_status pks__run_writer_add(pks__run_writer *writer, const pks__run_item *item, pks_error *error) {
  const char *slash = NULL;
  for (size_t i = item->path_length; i > 0 && !slash; i--) {
    if (item->path[i - 1] == '/') { slash = item->path + i - 1; }
  }
  const char *name = slash ? slash + 1 : item->path;
  size_t name_length = item->path_length - (size_t)(name - item->path);
  uint32_t folder;
  pks_status status = folder_offset(writer, item->path, slash ? (size_t)(slash - item->path) : 0, &folder, error);
  if (status) { return status; }
  pks__record record = {
    .kind = (uint8_t)item->kind,
    .flags = (uint8_t)(item->flags | (has_one_extent(item) ? PKS__FLAG_ONE_EXTENT : 0)),
    .pack = pks__put16(item->pack),
    .name_length = pks__put16((uint16_t)name_length),
    .folder = pks__put32(folder),
    .size = pks__put64(item->size),
  };
  if (has_one_extent(item)) {
    record.place.extent.frame = item->extents[0].frame;
    record.place.extent.skip = item->extents[0].skip;
  } else {
    record.place.extent_count = pks__put64(item->extent_count);
  }
  status = note_start(writer, writer->records.length, error);
  if (!status && !follows_last(writer, folder, name, name_length)) { status = note_path(writer, item, error); }
  writer->last_record = writer->records.length;
  writer->record_count++;
  if (!status) { status = pks__scratch_append(&writer->records, &record, sizeof record, error); }
  if (!status) { status = pks__scratch_append(&writer->records, name, name_length, error); }
  return status ? status : append_tail(writer, item, error);
}

// MARK: - Laying out

/// Appends a section at the next multiple of a cache line; `*offset` is where.
static pks_status add_section(
  pks__scratch *body, const void *bytes, uint64_t length, pks_le64 *offset, pks_error *error
) {
  uint64_t begin = pks__align_up(body->length, SECTION_ALIGNMENT);
  pks_status status = pks__scratch_append(body, NULL, begin - body->length, error);
  if (!status) { status = pks__scratch_append(body, bytes, length, error); }
  *offset = pks__put64(begin);
  return status;
}

/// False when none of the buckets that a look-up inspects has room.
static bool put_in_bucket(pks__bucket *buckets, uint64_t bucket_count, uint32_t salt, const record_key *key) {
  uint64_t hash = pks__bucket_hash(key->hash, salt), at = pks__bucket_of(hash, bucket_count);
  pks_le64 stored = pks__put64(pks__fingerprint_of(hash) << 36 | (key->offset + 1));
  for (uint64_t i = 0; i < PKS__BUCKETS_MAX && i < bucket_count; i++, at = at + 1 < bucket_count ? at + 1 : 0) {
    for (uint32_t slot = 0; slot < PKS__BUCKET_SLOTS; slot++) {
      static const uint8_t empty[PKS__SLOT_SIZE];
      if (memcmp(buckets[at].slots[slot], empty, sizeof empty) != 0) { continue; }
      memcpy(buckets[at].slots[slot], &stored, PKS__SLOT_SIZE);
      return true;
    }
  }
  return false;
}

static bool fill_buckets(const pks__run_writer *writer, pks__bucket *buckets, uint64_t count, uint32_t salt) {
  memset(buckets, 0, (size_t)count * sizeof *buckets);
  for (uint64_t i = 0; i < PKS__SCRATCH_COUNT(&writer->keys, record_key); i++) {
    if (!put_in_bucket(buckets, count, salt, PKS__SCRATCH_AT(&writer->keys, record_key, i))) { return false; }
  }
  return true;
}

/// Without chosen names the first salt does: a path finds no room in one run of many millions, if in any.
static pks_status add_buckets(pks__run_writer *writer, pks__scratch *body, pks__run_header *header, pks_error *error) {
  uint64_t count = PKS__SCRATCH_COUNT(&writer->keys, record_key) / PATHS_PER_BUCKET + 1;
  header->record_count = pks__put64(writer->record_count);
  header->bucket_count = pks__put64(count);
  pks_status status = add_section(body, NULL, count * sizeof(pks__bucket), &header->buckets, error);
  if (status) { return status; }
  pks__bucket *buckets = (pks__bucket *)(void *)(body->bytes + pks__get64(header->buckets));
  for (uint32_t salt = 0; salt < SALTS; salt++) {
    header->salt = pks__put32(salt);
    if (fill_buckets(writer, buckets, count, salt)) { return PKS_OK; }
  }
  return pks__fail(
    error, PKS_HOSTILE_NAMES, "the pack has names that were chosen to collide in the index", NULL, PKS_NO_OFFSET
  );
}

static pks_status add_records(pks__run_writer *writer, pks__scratch *body, pks__run_header *header, pks_error *error) {
  if (writer->records.length >= (uint64_t)1 << 36) {
    return pks__fail_about(
      error, PKS_INVALID_ARGUMENT, PKS_DETAIL_LIMIT, PKS_SUBJECT_NONE, NULL, "too many assets for one pack"
    );
  }
  header->records_length = pks__put64(writer->records.length);
  header->folders_length = pks__put64(writer->folders.length);
  pks_status status = PKS_OK;
  // Every page has a start, including the first page of an empty section.
  const pks_le16 none = pks__put16(0xffff);
  while (!status && PKS__SCRATCH_COUNT(&writer->starts, pks_le16) < writer->records.length / PKS__PAGE + 1) {
    status = pks__scratch_append(&writer->starts, &none, sizeof none, error);
  }
  if (!status) { status = add_section(body, writer->records.bytes, writer->records.length, &header->records, error); }
  if (!status) { status = add_section(body, writer->starts.bytes, writer->starts.length, &header->starts, error); }
  return status ? status : add_section(body, writer->folders.bytes, writer->folders.length, &header->folders, error);
}

/// Turns raw lengths into the running sum that readers search.
static pks_status add_frames(pks__run_writer *writer, pks__scratch *body, pks__run_header *header, pks_error *error) {
  uint64_t count = PKS__SCRATCH_COUNT(&writer->frames, pks__run_frame), sum = 0;
  header->frame_count = pks__put32((uint32_t)count);
  for (uint64_t i = 0; i < count; i++) {
    pks__run_frame *frame = PKS__SCRATCH_AT(&writer->frames, pks__run_frame, i);
    uint64_t length = pks__get64(frame->raw_start);
    frame->raw_start = pks__put64(sum);
    sum += length;
  }
  pks__run_frame sentinel = {.raw_start = pks__put64(sum)};
  pks_status status = pks__scratch_append(&writer->frames, &sentinel, sizeof sentinel, error);
  if (!status) { status = add_section(body, writer->frames.bytes, writer->frames.length, &header->frames, error); }
  header->segment_count = pks__put32((uint32_t)PKS__SCRATCH_COUNT(&writer->segments, pks__run_segment));
  return status ? status : add_section(body, writer->segments.bytes, writer->segments.length, &header->segments, error);
}

/// Sorts chunks by `DIGIT_BITS` bits of their prefixes; a stable sort.
static void sort_by_digit(const chunk_key *from, chunk_key *to, uint64_t count, unsigned shift) {
  uint64_t places[1 << DIGIT_BITS] = {0}, sum = 0;
  for (uint64_t i = 0; i < count; i++) { places[from[i].prefix >> shift & DIGIT_MASK]++; }
  for (uint32_t digit = 0; digit <= DIGIT_MASK; digit++) {
    uint64_t size = places[digit];
    places[digit] = sum;
    sum += size;
  }
  for (uint64_t i = 0; i < count; i++) { to[places[from[i].prefix >> shift & DIGIT_MASK]++] = from[i]; }
}

/// Puts chunks, which are in order of their numbers, in order of their fingerprints: the low halves of their prefixes.
static pks_status sort_by_fingerprint(pks__run_writer *writer, pks_error *error) {
  uint64_t count = PKS__SCRATCH_COUNT(&writer->chunks, chunk_key);
  pks__scratch other;
  pks__scratch_init(&other, writer->home);
  pks_status status = pks__scratch_append(&other, NULL, writer->chunks.length, error);
  for (unsigned shift = 0; !status && shift < 32; shift += DIGIT_BITS) {
    sort_by_digit(PKS__SCRATCH_AT(&writer->chunks, chunk_key, 0), PKS__SCRATCH_AT(&other, chunk_key, 0), count, shift);
    pks__scratch sorted = other;
    other = writer->chunks;
    writer->chunks = sorted;
  }
  pks__scratch_free(&other);
  return status;
}

/// Counting sort of the chunks by prefix: sizes, running sums, rows.
static pks_status add_chunks(pks__run_writer *writer, pks__scratch *body, pks__run_header *header, pks_error *error) {
  uint64_t count = PKS__SCRATCH_COUNT(&writer->chunks, chunk_key);
  uint32_t bits = 0;
  while (bits < 28 && count >> bits > CHUNKS_PER_PREFIX) { bits++; }
  header->chunk_bits = pks__put32(bits);
  header->chunk_count = pks__put64(count);
  uint64_t prefixes = (uint64_t)1 << bits;
  pks_status status = add_section(body, NULL, (prefixes + 1) * sizeof(pks_le32), &header->chunk_directory, error);
  if (!status) { status = add_section(body, NULL, count * sizeof(pks__chunk_row), &header->chunk_rows, error); }
  if (!status) { status = sort_by_fingerprint(writer, error); }
  if (status || count == 0) { return status; }
  pks_le32 *directory = (pks_le32 *)(void *)(body->bytes + pks__get64(header->chunk_directory));
  pks__chunk_row *rows = (pks__chunk_row *)(void *)(body->bytes + pks__get64(header->chunk_rows));
  const chunk_key *keys = PKS__SCRATCH_AT(&writer->chunks, chunk_key, 0);
  for (uint64_t i = 0; i < count; i++) {
    pks_le32 *size = &directory[bits ? keys[i].prefix >> (64 - bits) : 0];
    *size = pks__put32(pks__get32(*size) + 1);
  }
  uint32_t sum = 0;
  for (uint64_t i = 0; i <= prefixes; i++) {
    sum += pks__get32(directory[i]);
    directory[i] = pks__put32(sum);
  }
  // Filling from the back turns each prefix's end into its beginning, and keeps equal prefixes in order.
  for (uint64_t i = count; i > 0; i--) {
    pks_le32 *end = &directory[bits ? keys[i - 1].prefix >> (64 - bits) : 0];
    uint32_t at = pks__get32(*end) - 1;
    *end = pks__put32(at);
    rows[at] = (pks__chunk_row){pks__put32((uint32_t)keys[i - 1].prefix), pks__put32(keys[i - 1].number)};
  }
  return PKS_OK;
}

static pks_status lay_out(pks__run_writer *writer, pks__scratch *body, pks_error *error) {
  pks__run_header header = {.version = pks__put32(PKS__FORMAT), .pack_count = pks__put32(writer->pack_count)};
  pks_status status = pks__scratch_append(body, &header, sizeof header, error);
  if (!status) { status = add_buckets(writer, body, &header, error); }
  if (!status) { status = add_records(writer, body, &header, error); }
  if (!status) { status = add_frames(writer, body, &header, error); }
  if (!status) { status = add_chunks(writer, body, &header, error); }
  if (!status) { memcpy(body->bytes, &header, sizeof header); }
  return status;
}

pks_status pks__run_writer_finish(
  pks__run_writer *writer, const char *path, bool sync, uint64_t *file_length, uint64_t *trailer_sum, pks_error *error
) {
  pks__scratch body, tail;
  pks__scratch_init(&body, writer->home);
  pks__scratch_init(&tail, writer->home);
  pks__file_writer file = {.file = PKS_VFS_NO_FILE};
  pks_status status = lay_out(writer, &body, error);
  if (!status) { status = pks__table_finish(&body, 0, PKS__TABLE_RUN, &tail, error); }
  if (!status) { status = pks__file_writer_open(&file, writer->home->vfs, writer->home->folder, path, error); }
  if (!status) { status = pks__file_writer_append(&file, body.bytes, (size_t)body.length, error); }
  if (!status) { status = pks__file_writer_append(&file, tail.bytes, (size_t)tail.length, error); }
  if (!status) {
    pks_le64 sum;
    memcpy(&sum, tail.bytes + tail.length - sizeof sum, sizeof sum);
    *trailer_sum = pks__get64(sum);
    *file_length = file.length;
    status = pks__file_writer_finish(&file, sync, error);
  }
  pks__file_writer_abandon(&file);
  pks__scratch_free(&body);
  pks__scratch_free(&tail);
  return status;
}
