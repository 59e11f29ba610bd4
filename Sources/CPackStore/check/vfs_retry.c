#include "check/vfs_retry.h"

#include <errno.h>
#include <string.h>

#include "base/memory.h"
#include "format/format.h"

static const pks_vfs *below(void *context) { return ((const pks__vfs_retry *)context)->below; }

// MARK: - Reading: once more after an I/O error

static int patient_open_root(void *context, const char *path, bool create, pks_vfs_file *out) {
  int failure = pks__vfs_open_root(below(context), path, create, out);
  return failure == EIO ? pks__vfs_open_root(below(context), path, create, out) : failure;
}

static int patient_open(
  void *context, pks_vfs_file folder, const char *path, pks_vfs_open_mode mode, pks_vfs_file *out
) {
  int failure = pks__vfs_open(below(context), folder, path, mode, out);
  return failure == EIO ? pks__vfs_open(below(context), folder, path, mode, out) : failure;
}

static int patient_info(void *context, pks_vfs_file folder, const char *path, bool follow, pks_vfs_info *out) {
  int failure = pks__vfs_info(below(context), folder, path, follow, out);
  return failure == EIO ? pks__vfs_info(below(context), folder, path, follow, out) : failure;
}

static int patient_info_of(void *context, pks_vfs_file file, pks_vfs_info *out) {
  int failure = pks__vfs_info_of(below(context), file, out);
  return failure == EIO ? pks__vfs_info_of(below(context), file, out) : failure;
}

static int patient_read_link(
  void *context, pks_vfs_file folder, const char *path, char *out, size_t capacity, size_t *length
) {
  int failure = pks__vfs_read_link(below(context), folder, path, out, capacity, length);
  return failure == EIO ? pks__vfs_read_link(below(context), folder, path, out, capacity, length) : failure;
}

static int patient_read_at(
  void *context, pks_vfs_file file, uint64_t offset, void *out, size_t byte_count, size_t *got
) {
  int failure = pks__vfs_read_at(below(context), file, offset, out, byte_count, got);
  return failure == EIO ? pks__vfs_read_at(below(context), file, offset, out, byte_count, got) : failure;
}

static int patient_find_data(void *context, pks_vfs_file file, uint64_t offset, uint64_t *begin, uint64_t *end) {
  int failure = pks__vfs_find_data(below(context), file, offset, begin, end);
  return failure == EIO ? pks__vfs_find_data(below(context), file, offset, begin, end) : failure;
}

enum { READ_SIZE = 64 * 1024 };

/// Reads a part of a file for nothing but to see that it can be read.
static int try_range(void *context, pks_vfs_file file, uint64_t offset, uint64_t length) {
  uint8_t *buffer = pks__allocate(READ_SIZE);
  int failure = buffer ? 0 : ENOMEM;
  for (uint64_t end = offset + length; !failure && offset < end; offset += READ_SIZE) {
    size_t got;
    failure = patient_read_at(context, file, offset, buffer, (size_t)pks__min64(READ_SIZE, end - offset), &got);
  }
  pks__free(buffer);
  return failure;
}

/// Reads the table at the end of a file, which is all that is looked at in a mapping; without one, the end.
static int try_table(void *context, pks_vfs_file file, uint64_t file_length) {
  pks__table_trailer trailer;
  size_t got = 0;
  if (file_length < sizeof trailer) { return try_range(context, file, 0, file_length); }
  uint64_t at = file_length - sizeof trailer;
  int failure = patient_read_at(context, file, at, &trailer, sizeof trailer, &got);
  bool has_table = !failure && got == sizeof trailer
    && memcmp(trailer.magic, PKS__TABLE_MAGIC, sizeof trailer.magic) == 0 && pks__get64(trailer.body_offset) < at;
  if (failure || !has_table) { return failure; }
  uint64_t offset = pks__get64(trailer.body_offset);
  return try_range(context, file, offset, file_length - offset);
}

static int patient_map(void *context, pks_vfs_file file, size_t byte_count, bool writable, void **out) {
  int failure = writable ? 0 : try_table(context, file, byte_count);
  if (failure) { return failure; }
  failure = pks__vfs_map(below(context), file, byte_count, writable, out);
  return failure == EIO ? pks__vfs_map(below(context), file, byte_count, writable, out) : failure;
}

static int patient_map_private(void *context, pks_vfs_file file, uint64_t offset, size_t byte_count, void **out) {
  int failure = pks__vfs_map_private(below(context), file, offset, byte_count, out);
  return failure == EIO ? pks__vfs_map_private(below(context), file, offset, byte_count, out) : failure;
}

// MARK: - All else: once

static int patient_list(void *context, pks_vfs_file folder, pks_vfs_visitor *visit, void *visit_context) {
  return pks__vfs_list(below(context), folder, visit, visit_context);
}

static int patient_write_at(void *context, pks_vfs_file file, uint64_t offset, const void *bytes, size_t byte_count) {
  return pks__vfs_write_at(below(context), file, offset, bytes, byte_count);
}

static int patient_preallocate(void *context, pks_vfs_file file, uint64_t size) {
  return pks__vfs_preallocate(below(context), file, size);
}

static int patient_sync(void *context, pks_vfs_file file) { return pks__vfs_sync(below(context), file); }

static int patient_make_folder(void *context, pks_vfs_file folder, const char *path) {
  return pks__vfs_make_folder(below(context), folder, path);
}

static int patient_rename(void *context, pks_vfs_file folder, const char *from, const char *to) {
  return pks__vfs_rename(below(context), folder, from, to);
}

static int patient_unlink(void *context, pks_vfs_file folder, const char *path, bool is_folder) {
  return pks__vfs_unlink(below(context), folder, path, is_folder);
}

static int patient_memory_file(void *context, const char *label, pks_vfs_file *out) {
  return pks__vfs_memory_file(below(context), label, out);
}

static int patient_seal(void *context, pks_vfs_file file) { return pks__vfs_seal(below(context), file); }

static int patient_touch(void *context, pks_vfs_file folder, const char *path) {
  return pks__vfs_touch(below(context), folder, path);
}

static int patient_lock(void *context, pks_vfs_file file, uint64_t offset, uint64_t length, pks_vfs_lock_kind kind) {
  return pks__vfs_lock(below(context), file, offset, length, kind);
}

static int patient_lock_held(void *context, pks_vfs_file file, uint64_t offset, uint64_t length, bool *held) {
  return pks__vfs_lock_held(below(context), file, offset, length, held);
}

static int patient_sleep_ns(void *context, int64_t ns) { return pks__vfs_sleep_ns(below(context), ns); }

static int patient_random(void *context, void *out, size_t byte_count) {
  return pks__vfs_random(below(context), out, byte_count);
}

static int patient_boot_id(void *context, uint8_t out[16]) { return pks__vfs_boot_id(below(context), out); }

static int patient_free_bytes(void *context, pks_vfs_file folder, uint64_t *out) {
  return pks__vfs_free_bytes(below(context), folder, out);
}

static void patient_close(void *context, pks_vfs_file file) { pks__vfs_close(below(context), file); }

static void patient_advise(void *context, pks_vfs_file file, uint64_t offset, uint64_t byte_count, bool will_need) {
  pks__vfs_advise(below(context), file, offset, byte_count, will_need);
}

static void patient_unmap(void *context, void *address, size_t byte_count) {
  pks__vfs_unmap(below(context), address, byte_count);
}

static bool patient_map_is_live(void *context, pks_vfs_file file) { return pks__vfs_map_is_live(below(context), file); }

static pks_vfs_privacy patient_privacy(void *context, pks_vfs_file file) {
  return pks__vfs_privacy(below(context), file);
}

static int patient_fork_mark(void *context, const uint32_t **out) { return pks__vfs_fork_mark(below(context), out); }

static void patient_fork_unmark(void *context, const uint32_t *mark) { pks__vfs_fork_unmark(below(context), mark); }

static int64_t patient_now_ns(void *context) { return pks__vfs_now_ns(below(context)); }

static int64_t patient_monotonic_ns(void *context) { return pks__vfs_monotonic_ns(below(context)); }

static uint32_t patient_processor_count(void *context) { return pks__vfs_processor_count(below(context)); }

static uint64_t patient_process_id(void *context) { return pks__vfs_process_id(below(context)); }

void pks__vfs_retry_init(pks__vfs_retry *patient, const pks_vfs *seam) {
  patient->below = seam;
  patient->vfs = (pks_vfs){
    .context = patient,
    .open_root = patient_open_root,
    .open = patient_open,
    .info = patient_info,
    .info_of = patient_info_of,
    .read_link = patient_read_link,
    .list = patient_list,
    .read_at = patient_read_at,
    .find_data = patient_find_data,
    .write_at = patient_write_at,
    .preallocate = patient_preallocate,
    .sync = patient_sync,
    .make_folder = patient_make_folder,
    .rename = patient_rename,
    .unlink = patient_unlink,
    .map = patient_map,
    .map_private = patient_map_private,
    .memory_file = patient_memory_file,
    .seal = patient_seal,
    .touch = patient_touch,
    .lock = patient_lock,
    .lock_held = patient_lock_held,
    .sleep_ns = patient_sleep_ns,
    .random = patient_random,
    .boot_id = patient_boot_id,
    .free_bytes = patient_free_bytes,
    .close = patient_close,
    .advise = patient_advise,
    .unmap = patient_unmap,
    .now_ns = patient_now_ns,
    .monotonic_ns = patient_monotonic_ns,
    .processor_count = patient_processor_count,
    .map_is_live = patient_map_is_live,
    .privacy = patient_privacy,
    .fork_mark = patient_fork_mark,
    .fork_unmark = patient_fork_unmark,
    .process_id = patient_process_id,
  };
}
