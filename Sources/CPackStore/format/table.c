#include "format/table.h"

#include <stdio.h>

#include "base/memory.h"
#include "codec/checksum.h"

// MARK: - Geometry

/// A body of `pages` pages is followed by `pages` page sums, then one group sum per 512 of those.
static uint64_t group_count(uint64_t pages) { return (pages + PKS__SUMS_PER_GROUP - 1) / PKS__SUMS_PER_GROUP; }

static uint64_t page_count(const pks__table *table) { return table->body_length / PKS__PAGE; }

static uint64_t sums_in_group(uint64_t pages, uint64_t group) {
  return pks__min64(PKS__SUMS_PER_GROUP, pages - group * PKS__SUMS_PER_GROUP);
}

// MARK: - Opening

/// Decodes the trailer into `table`, with its mapping and its length. `is_apart`: the beginning of the file, up to the body, is
/// stored elsewhere.
static pks_status read_trailer(pks__table *table, pks__table_kind kind, bool is_apart, pks_error *error) {
  uint64_t file_length = table->file_length;
  pks__table_trailer trailer;
  if (file_length < sizeof trailer) { return pks__fail(error, PKS_CORRUPT, "is too short", table->name, 0); }
  uint64_t at = file_length - sizeof trailer;
  memcpy(&trailer, table->mapping + at, sizeof trailer);
  if (memcmp(trailer.magic, PKS__TABLE_MAGIC, sizeof trailer.magic) != 0) {
    return pks__fail(error, PKS_CORRUPT, "does not end with a table", table->name, at);
  }
  table->trailer_sum = pks__get64(trailer.sum);
  if (table->trailer_sum != pks__checksum(&trailer, offsetof(pks__table_trailer, sum))) {
    return pks__fail(error, PKS_CORRUPT, "checksum mismatch in the trailer", table->name, at);
  }
  pks_status status = pks__check_format(pks__get32(trailer.version), table->name, at, error);
  if (status) { return status; }
  uint64_t offset = pks__get64(trailer.body_offset), length = pks__get64(trailer.body_length);
  if (is_apart) {
    if (__builtin_add_overflow(file_length, offset, &file_length)) {
      return pks__fail(error, PKS_CORRUPT, "the trailer does not fit the file", table->name, at);
    }
    at = file_length - sizeof trailer;
  }
  bool aligned = offset % PKS__PAGE == 0 && length % PKS__PAGE == 0 && length > 0;
  bool is_expected = pks__get32(trailer.kind) == (uint32_t)kind && pks__get64(trailer.file_length) == file_length;
  if (!is_expected || !aligned || !pks__range_fits(offset, length, at)) {
    return pks__fail(error, PKS_CORRUPT, "the trailer does not fit the file", table->name, at);
  }
  uint64_t pages = length / PKS__PAGE, sums = (pages + group_count(pages)) * sizeof(pks_le64);
  if (at - offset - length != sums) {
    return pks__fail(error, PKS_CORRUPT, "the trailer does not fit the file", table->name, at);
  }
  table->mapping_begin = is_apart ? offset : 0;
  table->file_length = file_length;
  table->body_offset = offset;
  table->body = table->mapping + (offset - table->mapping_begin);
  table->body_length = length;
  table->page_sums = (const pks_le64 *)(const void *)(table->body + length);
  table->group_sums = table->page_sums + pages;
  uint64_t groups_length = group_count(pages) * sizeof(pks_le64);
  if (pks__checksum(table->group_sums, (size_t)groups_length) != pks__get64(trailer.groups_sum)) {
    return pks__fail(error, PKS_CORRUPT, "checksum mismatch in the group sums", table->name, at - groups_length);
  }
  return PKS_OK;
}

static pks_status map_file(pks__table *table, pks_vfs_file folder, const char *path, pks_error *error) {
  const pks_vfs *vfs = table->vfs;
  pks_vfs_file file = PKS_VFS_NO_FILE;
  int failure = pks__vfs_open(vfs, folder, path, PKS_VFS_OPEN_READ, &file);
  if (failure) { return pks__fail_system(error, failure, "cannot open", path); }
  pks_vfs_info info = {0};
  void *address = NULL;
  failure = pks__vfs_info_of(vfs, file, &info);
  if (!failure && info.size > 0) { failure = pks__vfs_map(vfs, file, (size_t)info.size, false, &address); }
  pks__vfs_close(vfs, file);
  if (failure) { return pks__fail_system(error, failure, "cannot map", path); }
  table->mapping = address;
  table->owns_mapping = address != NULL;
  table->file_length = address ? info.size : 0;
  return PKS_OK;
}

/// Reads the trailer of a mapped file and makes the bitmap. On failure the table is closed.
static pks_status open_mapping(pks__table *table, pks__table_kind kind, bool is_apart, pks_error *error) {
  pks_status status = read_trailer(table, kind, is_apart, error);
  if (!status) {
    uint64_t bits = page_count(table) + group_count(page_count(table));
    table->checked = pks__allocate_zeroed((size_t)(bits / 64 + 1), sizeof *table->checked);
    if (!table->checked) { status = pks__fail_memory(error); }
  }
  if (status) { pks__table_close(table); }
  return status;
}

static pks_status open_path(
  pks__table *out, const pks_vfs *vfs, pks_vfs_file folder, const char *path, pks__table_kind kind, bool is_apart,
  pks_error *error
) {
  pks__table table = {.vfs = vfs};
  (void)snprintf(table.name, sizeof table.name, "%s", path);
  pks_status status = map_file(&table, folder, path, error);
  if (!status) { status = open_mapping(&table, kind, is_apart, error); }
  if (!status) { *out = table; }
  return status;
}

pks_status pks__table_open(
  pks__table *out, const pks_vfs *vfs, pks_vfs_file folder, const char *path, pks__table_kind kind, pks_error *error
) {
  return open_path(out, vfs, folder, path, kind, false, error);
}

pks_status pks__table_open_apart(
  pks__table *out, const pks_vfs *vfs, pks_vfs_file folder, const char *path, pks__table_kind kind, pks_error *error
) {
  return open_path(out, vfs, folder, path, kind, true, error);
}

pks_status pks__table_open_mapped(
  pks__table *out, const pks_vfs *vfs, const char *name, const uint8_t *mapping, uint64_t file_length,
  pks__table_kind kind, pks_error *error
) {
  pks__table table = {.vfs = vfs, .mapping = mapping, .file_length = file_length};
  (void)snprintf(table.name, sizeof table.name, "%s", name);
  pks_status status = open_mapping(&table, kind, false, error);
  if (!status) { *out = table; }
  return status;
}

void pks__table_close(pks__table *table) {
  if (table->owns_mapping) {
    uint64_t length = table->file_length - table->mapping_begin;
    pks__vfs_unmap(table->vfs, (void *)(uintptr_t)table->mapping, (size_t)length);
  }
  pks__free((void *)table->checked);
  *table = (pks__table){0};
}

// MARK: - Checking

static bool is_checked(const pks__table *table, uint64_t bit) { return table->checked[bit / 64] >> (bit % 64) & 1; }

static void set_checked(pks__table *table, uint64_t bit) {
  __atomic_fetch_or((uint64_t *)(void *)&table->checked[bit / 64], (uint64_t)1 << (bit % 64), __ATOMIC_RELEASE);
}

static pks_status check_group(pks__table *table, uint64_t group, pks_error *error) {
  uint64_t pages = page_count(table);
  if (is_checked(table, pages + group)) { return PKS_OK; }
  const pks_le64 *sums = table->page_sums + group * PKS__SUMS_PER_GROUP;
  size_t length = (size_t)sums_in_group(pages, group) * sizeof *sums;
  if (pks__checksum(sums, length) != pks__get64(table->group_sums[group])) {
    uint64_t at = table->mapping_begin + (uint64_t)((const uint8_t *)sums - table->mapping);
    return pks__fail(error, PKS_CORRUPT, "checksum mismatch in the page sums", table->name, at);
  }
  set_checked(table, pages + group);
  return PKS_OK;
}

static pks_status check_page(pks__table *table, uint64_t page, pks_error *error) {
  if (is_checked(table, page)) { return PKS_OK; }
  pks_status status = check_group(table, page / PKS__SUMS_PER_GROUP, error);
  if (status) { return status; }
  if (pks__checksum(table->body + page * PKS__PAGE, PKS__PAGE) != pks__get64(table->page_sums[page])) {
    return pks__fail(error, PKS_CORRUPT, "checksum mismatch", table->name, table->body_offset + page * PKS__PAGE);
  }
  set_checked(table, page);
  return PKS_OK;
}

pks_status pks__table_check_pages(pks__table *table, uint64_t first, uint64_t last, pks_error *error) {
  for (uint64_t page = first; page <= last; page++) {
    pks_status status = check_page(table, page, error);
    if (status) { return status; }
  }
  return PKS_OK;
}

pks_status pks__table_check_all(pks__table *table, pks_error *error) {
  return pks__table_check_pages(table, 0, page_count(table) - 1, error);
}

// MARK: - Writing

static pks_status append_sums(pks__scratch *out, const uint8_t *bytes, uint64_t length, pks_error *error) {
  for (uint64_t at = 0; at < length; at += PKS__PAGE) {
    size_t piece = (size_t)pks__min64(PKS__PAGE, length - at);
    pks_le64 sum = pks__put64(pks__checksum(bytes + at, piece));
    pks_status status = pks__scratch_append(out, &sum, sizeof sum, error);
    if (status) { return status; }
  }
  return PKS_OK;
}

pks_status pks__table_finish(
  pks__scratch *body, uint64_t body_offset, pks__table_kind kind, pks__scratch *sums_and_trailer, pks_error *error
) {
  PKS_ASSERT(body_offset % PKS__PAGE == 0 && body->length > 0);
  pks__scratch *out = sums_and_trailer;
  uint64_t padded = pks__align_up(body->length, PKS__PAGE), begin = out->length;
  pks_status status = pks__scratch_append(body, NULL, padded - body->length, error);
  if (!status) { status = append_sums(out, body->bytes, padded, error); }
  uint64_t sums_length = out->length - begin;
  // The page sums move when `out` grows, so room for the group sums is made first.
  if (!status) { status = pks__scratch_reserve(out, sums_length / PKS__SUMS_PER_GROUP + 64, error); }
  if (!status) { status = append_sums(out, out->bytes + begin, sums_length, error); }
  if (status) { return status; }
  uint64_t groups_begin = begin + sums_length;
  pks__table_trailer trailer = {
    .version = pks__put32(PKS__FORMAT),
    .kind = pks__put32((uint32_t)kind),
    .body_offset = pks__put64(body_offset),
    .body_length = pks__put64(padded),
    .file_length = pks__put64(body_offset + padded + (out->length - begin) + sizeof trailer),
    .groups_sum = pks__put64(pks__checksum(out->bytes + groups_begin, (size_t)(out->length - groups_begin))),
  };
  memcpy(trailer.magic, PKS__TABLE_MAGIC, sizeof trailer.magic);
  trailer.sum = pks__put64(pks__checksum(&trailer, offsetof(pks__table_trailer, sum)));
  return pks__scratch_append(out, &trailer, sizeof trailer, error);
}
