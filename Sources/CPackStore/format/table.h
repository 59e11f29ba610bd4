/// Tables: the checked, mapped tail of an immutable file (layout in `format.h`).
///
/// Opening maps the file and checks trailer and group checksums. Before a caller reads bytes of the body, it calls
/// `pks__table_check`; a page is checked on first access, and remembered in a bitmap. Checks may run on any number of threads at
/// once. Nothing is parsed, and only the bitmap is allocated: one bit per 4 KiB.
#ifndef PKS_FORMAT_TABLE_H
#define PKS_FORMAT_TABLE_H

#include "format/format.h"
#include "platform/scratch.h"
#include "platform/vfs.h"

typedef struct pks__table {
  const pks_vfs *vfs;
  char name[64];           ///< for messages: the file's path in the store
  const uint8_t *mapping;  ///< the whole file, or its end
  bool owns_mapping;
  uint64_t mapping_begin;  ///< offset in the file of the first mapped byte; 0 unless the table is stored apart
  uint64_t file_length;
  uint64_t body_offset;
  const uint8_t *body;
  uint64_t body_length;
  const pks_le64 *page_sums;
  const pks_le64 *group_sums;
  uint64_t trailer_sum;        ///< identifies the whole table: it covers the group checksums, which cover the rest
  _Atomic(uint64_t) *checked;  ///< bit per page of the body, then bit per group
} pks__table;

/// Opens and maps the table at the end of `path`. CORRUPT when it is not a table of that kind, NEWER_FORMAT when of a
/// later version.
pks_status pks__table_open(
  pks__table *out, const pks_vfs *vfs, pks_vfs_file folder, const char *path, pks__table_kind kind, pks_error *error
);
/// Opens a table that is stored apart from its file: `path` contains that file's bytes from the body on.
pks_status pks__table_open_apart(
  pks__table *out, const pks_vfs *vfs, pks_vfs_file folder, const char *path, pks__table_kind kind, pks_error *error
);
/// Opens a table in a file that the caller has mapped, and keeps mapped longer than the table is open.
pks_status pks__table_open_mapped(
  pks__table *out, const pks_vfs *vfs, const char *name, const uint8_t *mapping, uint64_t file_length,
  pks__table_kind kind, pks_error *error
);
void pks__table_close(pks__table *table);  ///< a zeroed one is fine

/// Slow path of `pks__table_check`.
pks_status pks__table_check_pages(pks__table *table, uint64_t first, uint64_t last, pks_error *error);

/// Whether the body contains `[offset, offset + length)` and its bytes match their checksums.
static inline pks_status pks__table_check(pks__table *table, uint64_t offset, uint64_t length, pks_error *error) {
  if (__builtin_expect(!pks__range_fits(offset, length, table->body_length), 0)) {
    return pks__fail(error, PKS_CORRUPT, "reference past the end of the table", table->name, offset);
  }
  if (length == 0) { return PKS_OK; }
  uint64_t first = offset / PKS__PAGE, last = (offset + length - 1) / PKS__PAGE;
  if (__builtin_expect(first == last, 1)) {
    uint64_t word = __atomic_load_n((const uint64_t *)(const void *)&table->checked[first / 64], __ATOMIC_ACQUIRE);
    if (__builtin_expect(word >> (first % 64) & 1, 1)) { return PKS_OK; }
  }
  return pks__table_check_pages(table, first, last, error);
}

/// Checks every page, for whole-file walks. Reports the first bad page.
pks_status pks__table_check_all(pks__table *table, pks_error *error);

/// Ends a file with a table: pads `body` (which begins at `body_offset` of the file, a multiple of 4096) to whole pages
/// and appends it, its sums and the trailer to `out`, in the form they take in the file.
pks_status pks__table_finish(
  pks__scratch *body, uint64_t body_offset, pks__table_kind kind, pks__scratch *sums_and_trailer, pks_error *error
);

#endif
