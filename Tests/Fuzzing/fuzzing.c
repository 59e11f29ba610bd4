#include "fuzzing.h"

#include <errno.h>

// MARK: - Input

uint64_t fuzz_take(fuzz_input *input, size_t byte_count) {
  uint64_t value = 0;
  for (size_t i = 0; i < byte_count && input->left > 0; i++) {
    value |= (uint64_t)*input->next++ << (8 * i);
    input->left--;
  }
  return value;
}

const uint8_t *fuzz_take_bytes(fuzz_input *input, size_t byte_count, size_t *got) {
  const uint8_t *bytes = input->next;
  *got = pks__min_size(byte_count, input->left);
  input->next += *got;
  input->left -= *got;
  return bytes;
}

uint8_t *fuzz_copy(const void *bytes, size_t byte_count) {
  uint8_t *copy = malloc(byte_count > 0 ? byte_count : 1);
  FUZZ_ASSERT(copy);
  if (byte_count > 0) { memcpy(copy, bytes, byte_count); }
  return copy;
}

// MARK: - One file

static int open_file(void *context, pks_vfs_file folder, const char *path, pks_vfs_open_mode mode, pks_vfs_file *out) {
  (void)context, (void)folder, (void)path, (void)mode;
  *out = 3;
  return 0;
}

static void close_file(void *context, pks_vfs_file file) { (void)context, (void)file; }

static int info_of(void *context, pks_vfs_file file, pks_vfs_info *out) {
  (void)file;
  *out = (pks_vfs_info){.kind = PKS_VFS_KIND_FILE, .size = ((fuzz_file *)context)->length};
  return 0;
}

static int read_at(void *context, pks_vfs_file file, uint64_t offset, void *out, size_t byte_count, size_t *got) {
  (void)file;
  const fuzz_file *whole = context;
  *got = offset < whole->length ? pks__min_size(byte_count, whole->length - (size_t)offset) : 0;
  if (*got > 0) { memcpy(out, whole->bytes + offset, *got); }
  return 0;
}

static int write_at(void *context, pks_vfs_file file, uint64_t offset, const void *bytes, size_t byte_count) {
  (void)file;
  const fuzz_file *whole = context;
  if (!pks__range_fits(offset, byte_count, whole->length)) { return EIO; }
  memcpy(whole->bytes + offset, bytes, byte_count);
  return 0;
}

static int sync_file(void *context, pks_vfs_file file) {
  (void)context, (void)file;
  return 0;
}

static int map_file(void *context, pks_vfs_file file, size_t byte_count, bool writable, void **out) {
  (void)file, (void)writable;
  const fuzz_file *whole = context;
  FUZZ_ASSERT(byte_count > 0 && byte_count <= whole->length);
  *out = whole->bytes;
  return 0;
}

static void unmap_file(void *context, void *address, size_t byte_count) {
  (void)context, (void)address, (void)byte_count;
}

pks_vfs fuzz_vfs(fuzz_file *file) {
  return (pks_vfs){
    .context = file,
    .open = open_file,
    .close = close_file,
    .info_of = info_of,
    .read_at = read_at,
    .write_at = write_at,
    .sync = sync_file,
    .map = map_file,
    .unmap = unmap_file,
  };
}

// MARK: - Sums

static uint64_t load(const uint8_t *bytes, size_t byte_count) {
  fuzz_input input = {bytes, byte_count};
  return fuzz_take(&input, byte_count);
}

static void store64(uint8_t *bytes, uint64_t value) {
  pks_le64 stored = pks__put64(value);
  memcpy(bytes, &stored, sizeof stored);
}

fuzz_file fuzz_table_file(
  pks__table_kind kind, const uint8_t *front, size_t front_length, const uint8_t *body, size_t body_length
) {
  size_t offset = (front_length + PKS__PAGE - 1) / PKS__PAGE * PKS__PAGE;
  size_t length = (body_length + PKS__PAGE - 1) / PKS__PAGE * PKS__PAGE;
  if (length == 0) { length = PKS__PAGE; }
  size_t pages = length / PKS__PAGE, groups = (pages + PKS__SUMS_PER_GROUP - 1) / PKS__SUMS_PER_GROUP;
  fuzz_file file = {.length = offset + length + 8 * (pages + groups) + sizeof(pks__table_trailer)};
  file.bytes = calloc(1, file.length);
  FUZZ_ASSERT(file.bytes);
  if (front_length > 0) { memcpy(file.bytes, front, front_length); }
  if (body_length > 0) { memcpy(file.bytes + offset, body, body_length); }
  pks__table_trailer trailer = {
    .version = pks__put32(PKS__FORMAT),
    .kind = pks__put32((uint32_t)kind),
    .body_offset = pks__put64(offset),
    .body_length = pks__put64(length),
    .file_length = pks__put64(file.length),
  };
  memcpy(trailer.magic, PKS__TABLE_MAGIC, sizeof trailer.magic);
  memcpy(file.bytes + file.length - sizeof trailer, &trailer, sizeof trailer);
  fuzz_sum_table(file.bytes, file.length);
  return file;
}

/// Finds the body, if the trailer is valid.
static bool find_body(const uint8_t *file, size_t length, uint64_t *offset, uint64_t *body_length) {
  if (length < sizeof(pks__table_trailer)) { return false; }
  const uint8_t *trailer = file + length - sizeof(pks__table_trailer);
  *offset = load(trailer + 16, 8);
  *body_length = load(trailer + 24, 8);
  uint64_t end = length - sizeof(pks__table_trailer);
  if (!pks__range_fits(*offset, *body_length, end) || *body_length % PKS__PAGE != 0) { return false; }
  uint64_t pages = *body_length / PKS__PAGE, groups = (pages + PKS__SUMS_PER_GROUP - 1) / PKS__SUMS_PER_GROUP;
  return end - *offset - *body_length == 8 * (pages + groups);
}

void fuzz_sum_table(uint8_t *file, size_t length) {
  uint64_t offset, body_length;
  if (length < sizeof(pks__table_trailer)) { return; }
  uint8_t *trailer = file + length - sizeof(pks__table_trailer);
  if (find_body(file, length, &offset, &body_length)) {
    uint64_t pages = body_length / PKS__PAGE, groups = (pages + PKS__SUMS_PER_GROUP - 1) / PKS__SUMS_PER_GROUP;
    uint8_t *page_sums = file + offset + body_length, *group_sums = page_sums + 8 * pages;
    for (uint64_t page = 0; page < pages; page++) {
      store64(page_sums + 8 * page, pks__checksum(file + offset + page * PKS__PAGE, PKS__PAGE));
    }
    for (uint64_t group = 0; group < groups; group++) {
      size_t sums = (size_t)pks__min64(PKS__SUMS_PER_GROUP, pages - group * PKS__SUMS_PER_GROUP);
      store64(group_sums + 8 * group, pks__checksum(page_sums + group * PKS__PAGE, 8 * sums));
    }
    store64(trailer + 40, pks__checksum(group_sums, (size_t)(8 * groups)));
  }
  store64(trailer + 56, pks__checksum(trailer, 56));
}

void fuzz_sum_frames(uint8_t *segment, size_t length) {
  uint64_t offset, body_length;
  if (!find_body(segment, length, &offset, &body_length) || body_length < sizeof(pks__segment_columns)) { return; }
  uint8_t *body = segment + offset;
  uint64_t count = load(body + 8, 4), rows = load(body + 16, 8);
  if (!pks__range_fits(rows, count * sizeof(pks__frame_row), body_length)) { return; }
  for (uint64_t i = 0; i < count; i++) {
    uint8_t *row = body + rows + i * sizeof(pks__frame_row);
    uint64_t at = load(row, 7), stored = load(row + 8, 4);
    if (pks__range_fits(at, stored, offset)) { store64(row + 16, pks__checksum(segment + at, (size_t)stored)); }
  }
  count = load(body + 56, 4);
  rows = load(body + 48, 8);
  if (!pks__range_fits(rows, count * sizeof(pks__dictionary_row), body_length)) { return; }
  for (uint64_t i = 0; i < count; i++) {
    uint8_t *row = body + rows + i * sizeof(pks__dictionary_row);
    uint64_t at = load(row, 7), stored = load(row + 8, 4);
    if (pks__range_fits(at, stored, offset)) { store64(row + 16, pks__checksum(segment + at, (size_t)stored)); }
  }
}

void fuzz_sum_generation(uint8_t *file, size_t length) {
  if (length >= 8) { store64(file + length - 8, pks__checksum(file, length - 8)); }
}

void fuzz_sum_control(uint8_t *file, size_t length) {
  for (size_t at = 0; at + PKS__CONTROL_COPY_SIZE <= length; at += PKS__CONTROL_COPY_SIZE) {
    // A lost copy stays lost: a checksum would make it valid.
    if (memcmp(file + at, "PKSCTRL0", 8) == 0) { store64(file + at + 504, pks__checksum(file + at, 504)); }
  }
}

// MARK: - Pages

/// Reads the next page at `*at`.
static bool next_page(const fuzz_pages *pages, size_t *at, const uint8_t **key, const uint8_t **page, size_t *length) {
  if (pages->length - *at < 6) { return false; }
  *key = pages->bytes + *at;
  *page = *key + 6;
  *length = pks__min_size((size_t)load(*key + 4, 2), pages->length - *at - 6);
  *at += 6 + *length;
  return true;
}

static pks_status get_page(void *context, const pks__id *id, pks__scratch *out, pks_error *error) {
  const fuzz_pages *pages = context;
  const uint8_t *key, *page;
  out->length = 0;
  for (size_t at = 0, length; next_page(pages, &at, &key, &page, &length);) {
    if (memcmp(key, id, 4) != 0) { continue; }
    return pks__scratch_append(out, page, length, error);
  }
  return pks__fail(error, PKS_CORRUPT, "no such page", NULL, PKS_NO_OFFSET);
}

pks__page_source fuzz_page_source(fuzz_pages *pages) { return (pks__page_source){.context = pages, .get = get_page}; }

bool fuzz_first_page(const fuzz_pages *pages, pks__id *id) {
  const uint8_t *key, *page;
  size_t at = 0, length;
  *id = (pks__id){{0}};
  if (!next_page(pages, &at, &key, &page, &length)) { return false; }
  memcpy(id, key, 4);
  return true;
}
