#include "index/run.h"

#include "codec/codec.h"

// MARK: - Opening

/// A section that must hold `count` rows of `row_size` bytes at `stored`.
static bool read_section(
  const pks__table *table, pks_le64 stored, uint64_t count, uint64_t row_size, pks__section *out
) {
  out->offset = pks__get64(stored);
  return !pks__mul_overflows(count, row_size, &out->length)
    && pks__range_fits(out->offset, out->length, table->body_length);
}

static bool read_header(pks__run *run, const pks__run_header *header) {
  const pks__table *table = &run->table;
  run->pack_count = pks__get32(header->pack_count);
  run->record_count = pks__get64(header->record_count);
  run->frame_count = pks__get32(header->frame_count);
  run->segment_count = pks__get32(header->segment_count);
  run->chunk_bits = pks__get32(header->chunk_bits);
  run->bucket_count = pks__get64(header->bucket_count);
  run->bucket_limit = (uint32_t)pks__min64(run->bucket_count, PKS__BUCKETS_MAX);
  run->salt = pks__get32(header->salt);
  run->chunk_count = pks__get64(header->chunk_count);
  uint64_t records_length = pks__get64(header->records_length);
  uint64_t record_pages = records_length / PKS__PAGE + 1;
  return pks__get32(header->version) == PKS__FORMAT && run->chunk_bits <= 28 && run->frame_count < UINT32_MAX
    && run->bucket_count > 0 && run->bucket_count <= UINT32_MAX && run->chunk_count <= UINT32_MAX
    && read_section(table, header->buckets, run->bucket_count, sizeof(pks__bucket), &run->buckets)
    && read_section(table, header->records, records_length, 1, &run->records)
    && read_section(table, header->starts, record_pages, sizeof(pks_le16), &run->starts)
    && read_section(table, header->folders, pks__get64(header->folders_length), 1, &run->folders)
    && read_section(table, header->frames, (uint64_t)run->frame_count + 1, sizeof(pks__run_frame), &run->frames)
    && read_section(table, header->segments, run->segment_count, sizeof(pks__run_segment), &run->segments)
    && read_section(
           table, header->chunk_directory, ((uint64_t)1 << run->chunk_bits) + 1, sizeof(pks_le32), &run->chunk_directory
    )
    && read_section(table, header->chunk_rows, run->chunk_count, sizeof(pks__chunk_row), &run->chunk_rows);
}

pks_status pks__run_open(pks__run *out, const pks_vfs *vfs, pks_vfs_file folder, const char *path, pks_error *error) {
  pks__run run = {0};
  pks_status status = pks__table_open(&run.table, vfs, folder, path, PKS__TABLE_RUN, error);
  if (status) { return status; }
  pks__run_header header;
  status = pks__table_check(&run.table, 0, sizeof header, error);
  if (!status) {
    memcpy(&header, run.table.body, sizeof header);
    if (!read_header(&run, &header)) {
      status = pks__fail(error, PKS_CORRUPT, "the index run does not fit the file", path, 0);
    }
  }
  if (status) {
    pks__run_close(&run);
    return status;
  }
  *out = run;
  return PKS_OK;
}

void pks__run_close(pks__run *run) { pks__table_close(&run->table); }

// MARK: - Sections

static pks_status corrupt_at(const pks__run *run, uint64_t body_offset, pks_error *error) {
  return pks__fail(
    error, PKS_CORRUPT, "the index contradicts itself", run->table.name, run->table.body_offset + body_offset
  );
}

/// `length` checked bytes at `offset` of a section.
static inline pks_status section_bytes(
  pks__run *run, const pks__section *section, uint64_t offset, uint64_t length, const uint8_t **out, pks_error *error
) {
  if (__builtin_expect(!pks__range_fits(offset, length, section->length), 0)) {
    return corrupt_at(run, section->offset, error);
  }
  *out = run->table.body + section->offset + offset;
  return pks__table_check(&run->table, section->offset + offset, length, error);
}

// MARK: - Records

static pks_status read_folder(pks__run *run, uint32_t at, pks__run_entry *entry, pks_error *error) {
  const uint8_t *bytes;
  pks_le16 length;
  pks_status status = section_bytes(run, &run->folders, at, sizeof length, &bytes, error);
  if (status) { return status; }
  memcpy(&length, bytes, sizeof length);
  entry->folder_length = pks__get16(length);
  status = section_bytes(run, &run->folders, at + sizeof length, entry->folder_length, &bytes, error);
  entry->folder = (const char *)bytes;
  return status;
}

/// Reads the part after the name: a target, extents or nothing. `offset` is its offset, and becomes that of the next record.
static pks_status read_tail(
  pks__run *run, const pks__record *record, uint64_t *offset, pks__run_entry *entry, pks_error *error
) {
  uint64_t length = 0;
  if (entry->kind == PKS__RECORD_LINK) {
    length = entry->size;
    if (length == 0 || length > PKS__LINK_TARGET_MAX) { return corrupt_at(run, run->records.offset + *offset, error); }
  } else if (entry->kind == PKS__RECORD_FILE && (entry->flags & PKS__FLAG_ONE_EXTENT)) {
    entry->extent_count = 1;
    entry->frame = pks__get32(record->place.extent.frame);
    entry->skip = pks__get32(record->place.extent.skip);
    return PKS_OK;
  } else if (entry->kind == PKS__RECORD_FILE) {
    entry->extent_count = pks__get64(record->place.extent_count);
    if (pks__mul_overflows(entry->extent_count, sizeof(pks__extent), &length)) {
      return corrupt_at(run, run->records.offset + *offset, error);
    }
  }
  const uint8_t *bytes;
  pks_status status = section_bytes(run, &run->records, *offset, length, &bytes, error);
  if (status) { return status; }
  if (entry->kind == PKS__RECORD_LINK) {
    entry->target = bytes;
  } else {
    entry->extents = (const pks__extent *)(const void *)bytes;
  }
  *offset += length;
  return PKS_OK;
}

/// The record at an offset, and its folder if that is wanted.
static inline pks_status read_entry(
  pks__run *run, uint64_t offset, bool with_folder, pks__run_entry *out, pks_error *error
) {
  const uint8_t *bytes;
  pks_status status = section_bytes(run, &run->records, offset, sizeof(pks__record), &bytes, error);
  if (status) { return status; }
  const pks__record *record = (const pks__record *)(const void *)bytes;
  // Filled in place: look-ups spend a tenth of their time on copies otherwise.
  *out = (pks__run_entry){
    .offset = offset,
    .kind = (pks__record_kind)record->kind,
    .flags = record->flags,
    .pack = pks__get16(record->pack),
    .name_length = pks__get16(record->name_length),
    .size = pks__get64(record->size),
  };
  if (record->kind > PKS__RECORD_FOLDER || out->pack >= run->pack_count) {
    return corrupt_at(run, run->records.offset + offset, error);
  }
  uint64_t at = offset + sizeof *record;
  status = section_bytes(run, &run->records, at, out->name_length, &bytes, error);
  if (status) { return status; }
  out->name = (const char *)bytes;
  at += out->name_length;
  if (with_folder) { status = read_folder(run, pks__get32(record->folder), out, error); }
  if (!status) { status = read_tail(run, record, &at, out, error); }
  out->next = at;
  return status;
}

pks_status pks__run_entry_at(pks__run *run, uint64_t offset, pks__run_entry *out, pks_error *error) {
  return read_entry(run, offset, true, out, error);
}

pks_status pks__run_place_at(pks__run *run, uint64_t offset, pks__run_entry *out, pks_error *error) {
  return read_entry(run, offset, false, out, error);
}

/// Compares `folder/name` with a path without putting them together.
int pks__run_entry_compare(const pks__run_entry *entry, const char *path, size_t length) {
  size_t folder = entry->folder_length;
  if (folder > 0) {
    int order = memcmp(entry->folder, path, pks__min_size(folder, length));
    if (order != 0) { return order; }
    if (length <= folder) { return 1; }
    if (path[folder] != '/') { return (unsigned char)'/' < (unsigned char)path[folder] ? -1 : 1; }
    path += folder + 1;
    length -= folder + 1;
  }
  return pks__compare_bytes(entry->name, entry->name_length, path, length);
}

static bool entry_is_at(const pks__run_entry *entry, const char *path, size_t length) {
  size_t folder = entry->folder_length, slash = folder > 0;
  return folder + slash + entry->name_length == length
    && memcmp(entry->name, path + folder + slash, entry->name_length) == 0
    && (folder == 0 || (path[folder] == '/' && memcmp(entry->folder, path, folder) == 0));
}

// MARK: - Look-up

static uint64_t slot_value(const pks__bucket *bucket, uint32_t slot) {
  uint64_t value = 0;
  memcpy(&value, bucket->slots[slot], PKS__SLOT_SIZE);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  value = __builtin_bswap64(value);
#endif
  return value;
}

/// Finds the first record of the path: among those with the path's fingerprint, in its bucket and the following ones.
static pks_status find_first(
  pks__run *run, uint64_t hash, const char *path, size_t length, pks__run_probe *probe, pks__run_entry *out,
  bool *found, pks_error *error
) {
  uint64_t bucket_hash = pks__bucket_hash(hash, run->salt), fingerprint = pks__fingerprint_of(bucket_hash);
  uint64_t at = pks__bucket_of(bucket_hash, run->bucket_count);
  while (probe->buckets < run->bucket_limit) {
    const uint8_t *bytes;
    pks_status status = section_bytes(run, &run->buckets, at * sizeof(pks__bucket), sizeof(pks__bucket), &bytes, error);
    if (status) { return status; }
    const pks__bucket *bucket = (const pks__bucket *)(const void *)bytes;
    probe->buckets++;
    for (uint32_t slot = 0; slot < PKS__BUCKET_SLOTS; slot++) {
      uint64_t value = slot_value(bucket, slot);
      if (value == 0) { return PKS_OK; }
      if (value >> 36 != fingerprint) { continue; }
      status = pks__run_entry_at(run, (value & 0xfffffffffu) - 1, out, error);
      if (status) { return status; }
      *found = entry_is_at(out, path, length);
      if (*found) { return PKS_OK; }
    }
    at = at + 1 < run->bucket_count ? at + 1 : 0;
  }
  return PKS_OK;
}

pks_status pks__run_find(
  pks__run *run, uint64_t hash, const char *path, size_t length, pks__run_probe *probe, pks__run_entry *out,
  bool *found, pks_error *error
) {
  *found = false;
  pks_status status = PKS_OK;
  if (probe->next == 0) {
    status = find_first(run, hash, path, length, probe, out, found, error);
  } else if (probe->next != UINT64_MAX) {
    status = pks__run_entry_at(run, probe->next, out, error);
    *found = !status && entry_is_at(out, path, length);
    if (!status && !*found) { status = corrupt_at(run, run->records.offset + probe->next, error); }
  }
  if (!status) { probe->next = *found && (out->flags & PKS__FLAG_FOLLOWED) ? out->next : UINT64_MAX; }
  return status;
}

// MARK: - Order

/// Where the first record begins in a page of the records section, or in the first page after it that has one.
static pks_status first_record_from(
  pks__run *run, uint64_t page, uint64_t page_end, uint64_t *offset, pks_error *error
) {
  for (; page < page_end; page++) {
    const uint8_t *bytes;
    pks_le16 start;
    pks_status status = section_bytes(run, &run->starts, page * sizeof start, sizeof start, &bytes, error);
    if (status) { return status; }
    memcpy(&start, bytes, sizeof start);
    if (pks__get16(start) != 0xffff) {
      *offset = page * PKS__PAGE + pks__get16(start);
      return PKS_OK;
    }
  }
  *offset = run->records.length;
  return PKS_OK;
}

pks_status pks__run_seek(pks__run *run, const char *path, size_t length, uint64_t *offset, pks_error *error) {
  // The last page whose first record is not after `path`; pages without a first record count as the next that has one.
  uint64_t low = 0, high = run->starts.length / sizeof(pks_le16);
  pks__run_entry entry;
  while (high - low > 1) {
    uint64_t middle = low + (high - low) / 2, at;
    pks_status status = first_record_from(run, middle, high, &at, error);
    if (status) { return status; }
    bool after = at >= run->records.length;
    if (!after) {
      status = pks__run_entry_at(run, at, &entry, error);
      if (status) { return status; }
      after = pks__run_entry_compare(&entry, path, length) >= 0;
    }
    if (after) {
      high = middle;
    } else {
      low = middle;
    }
  }
  uint64_t at;
  pks_status status = first_record_from(run, low, run->starts.length / sizeof(pks_le16), &at, error);
  while (!status && at < run->records.length) {
    status = pks__run_entry_at(run, at, &entry, error);
    if (status || pks__run_entry_compare(&entry, path, length) >= 0) { break; }
    at = entry.next;
  }
  if (!status) { *offset = at; }
  return status;
}

// MARK: - Frames and segments

pks_status pks__run_frame_at(pks__run *run, uint32_t index, pks__run_frame_info *out, pks_error *error) {
  const uint8_t *bytes;
  if (index >= run->frame_count) { return corrupt_at(run, run->frames.offset, error); }
  pks_status status = section_bytes(
    run, &run->frames, (uint64_t)index * sizeof(pks__run_frame), 2 * sizeof(pks__run_frame), &bytes, error
  );
  if (status) { return status; }
  const pks__run_frame *row = (const pks__run_frame *)(const void *)bytes;
  uint64_t start = pks__get64(row->raw_start), end = pks__get64(row[1].raw_start);
  pks__run_frame_info frame = {
    .ref = pks__frame_ref_make(row->place, row->stored_length, (uint32_t)(end - start), row->sum),
    .segment = pks__get32(row->segment),
    .raw_start = start,
  };
  bool fits = start < end && end - start <= PKS__FRAME_RAW_MAX && pks__codec_is_known(frame.ref.codec)
    && frame.segment < run->segment_count && frame.ref.stored_length > 0
    && frame.ref.stored_length <= frame.ref.raw_length
    && (frame.ref.codec != PKS__CODEC_RAW || frame.ref.stored_length == frame.ref.raw_length);
  if (!fits) { return corrupt_at(run, run->frames.offset + (uint64_t)index * sizeof *row, error); }
  *out = frame;
  return PKS_OK;
}

/// Estimates the frame of `position` by the average length of the frames between `first` and `probed`.
static uint32_t guess_frame(
  const pks__run_frame_info *first, uint32_t frames, const pks__run_frame_info *probed, uint32_t at, uint64_t position
) {
  uint64_t average = frames > 0 ? (probed->raw_start - first->raw_start) / frames : first->ref.raw_length;
  if (average == 0) { average = 1; }
  bool ahead = position >= probed->raw_start;
  uint64_t distance = (ahead ? position - probed->raw_start : probed->raw_start - position) / average;
  if (ahead) { return distance < UINT32_MAX - at ? at + (uint32_t)distance : UINT32_MAX; }
  return distance < at ? at - (uint32_t)distance : 0;
}

pks_status pks__run_frame_find(pks__run *run, uint32_t first, uint64_t position, uint32_t *index, pks_error *error) {
  // Frames of one asset are of much the same length, so a guess is seldom far off; a run that is not so even is halved.
  enum { GUESSES = 8 };
  uint32_t low = first, high = run->frame_count, at = first;
  pks__run_frame_info begin, frame;
  pks_status status = pks__run_frame_at(run, first, &begin, error);
  frame = begin;
  for (uint32_t tries = 0; !status; tries++) {
    if (frame.raw_start > position) {
      high = at;
    } else if (position - frame.raw_start < frame.ref.raw_length) {
      *index = at;
      return PKS_OK;
    } else {
      low = at + 1;
    }
    if (low >= high) { return corrupt_at(run, run->frames.offset, error); }
    uint32_t guess = tries < GUESSES ? guess_frame(&begin, at - first, &frame, at, position) : low + (high - low) / 2;
    at = guess < low ? low : guess >= high ? high - 1 : guess;
    status = pks__run_frame_at(run, at, &frame, error);
  }
  return status;
}

pks_status pks__run_segment_at(pks__run *run, uint32_t index, pks__run_segment_info *out, pks_error *error) {
  const uint8_t *bytes;
  pks_status status = section_bytes(
    run, &run->segments, (uint64_t)index * sizeof(pks__run_segment), sizeof(pks__run_segment), &bytes, error
  );
  if (status) { return status; }
  const pks__run_segment *row = (const pks__run_segment *)(const void *)bytes;
  out->id = row->id;
  out->chunk_count = pks__get32(row->chunk_count);
  out->first_chunk = pks__get32(row->first_chunk);
  out->kind = pks__place_codec(pks__get64(row->length));
  out->file_length = pks__place_offset(pks__get64(row->length));
  return PKS_OK;
}

// MARK: - Chunks

/// Which segment the run's chunk `number` belongs to, and its row there: the last segment whose first chunk is not
/// after it.
static pks_status split_number(pks__run *run, uint32_t number, uint32_t *segment, uint32_t *row, pks_error *error) {
  uint32_t low = 0, high = run->segment_count;
  pks__run_segment_info info = {0};
  while (high - low > 1) {
    uint32_t middle = low + (high - low) / 2;
    pks_status status = pks__run_segment_at(run, middle, &info, error);
    if (status) { return status; }
    if (info.first_chunk <= number) {
      low = middle;
    } else {
      high = middle;
    }
  }
  pks_status status = pks__run_segment_at(run, low, &info, error);
  if (status) { return status; }
  if (number < info.first_chunk || number - info.first_chunk >= info.chunk_count) {
    return corrupt_at(run, run->segments.offset + low * sizeof(pks__run_segment), error);
  }
  *segment = low;
  *row = number - info.first_chunk;
  return PKS_OK;
}

/// Finds the rows whose prefixes may begin like `prefix`, according to the directory.
static pks_status find_rows(
  pks__run *run, uint64_t prefix, const pks__chunk_row **rows, uint32_t *count, pks_error *error
) {
  const uint8_t *bytes;
  uint64_t slot = run->chunk_bits ? prefix >> (64 - run->chunk_bits) : 0;
  pks_status status =
    section_bytes(run, &run->chunk_directory, slot * sizeof(pks_le32), 2 * sizeof(pks_le32), &bytes, error);
  if (status) { return status; }
  const pks_le32 *bounds = (const pks_le32 *)(const void *)bytes;
  uint32_t first = pks__get32(bounds[0]), end = pks__get32(bounds[1]);
  if (first > end || end > run->chunk_count) { return corrupt_at(run, run->chunk_directory.offset, error); }
  status = section_bytes(
    run, &run->chunk_rows, (uint64_t)first * sizeof(pks__chunk_row), (uint64_t)(end - first) * sizeof(pks__chunk_row),
    &bytes, error
  );
  *rows = (const pks__chunk_row *)(const void *)bytes;
  *count = end - first;
  return status;
}

/// The first of the rows, which are in order of fingerprints and then numbers, that is not before this one.
static uint32_t lower_bound(const pks__chunk_row *rows, uint32_t count, uint32_t fingerprint, uint32_t number) {
  uint64_t wanted = (uint64_t)fingerprint << 32 | number;
  uint32_t low = 0, high = count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (((uint64_t)pks__get32(rows[middle].fingerprint) << 32 | pks__get32(rows[middle].number)) < wanted) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

pks_status pks__run_find_chunk(
  pks__run *run, uint64_t prefix, uint32_t *probe, uint32_t *segment, uint32_t *row, bool *found, pks_error *error
) {
  const pks__chunk_row *rows;
  uint32_t count;
  *found = false;
  if (run->chunk_count == 0) { return PKS_OK; }
  pks_status status = find_rows(run, prefix, &rows, &count, error);
  if (status) { return status; }
  uint64_t at = (uint64_t)lower_bound(rows, count, (uint32_t)prefix, 0) + *probe;
  if (at >= count || pks__get32(rows[at].fingerprint) != (uint32_t)prefix) { return PKS_OK; }
  ++*probe;
  *found = true;
  return split_number(run, pks__get32(rows[at].number), segment, row, error);
}

pks_status pks__run_lists_chunk(pks__run *run, uint64_t prefix, uint32_t number, bool *listed, pks_error *error) {
  const pks__chunk_row *rows;
  uint32_t count;
  *listed = false;
  if (run->chunk_count == 0) { return PKS_OK; }
  pks_status status = find_rows(run, prefix, &rows, &count, error);
  if (status) { return status; }
  uint32_t at = lower_bound(rows, count, (uint32_t)prefix, number);
  *listed = at < count && pks__get32(rows[at].fingerprint) == (uint32_t)prefix && pks__get32(rows[at].number) == number;
  return PKS_OK;
}
