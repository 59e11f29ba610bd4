#include "format/record_log.h"

#include <string.h>

#include "base/bytes.h"
#include "codec/checksum.h"

/// The bytes before and after a payload.
typedef struct head {
  pks_le64 sum_before;  // not stored
  pks_le32 length;
  pks_le32 zero;
} head;
enum { HEAD_STORED = 8, TAIL_STORED = 8 };

pks_status pks__record_log_open(
  pks__record_log *out, const pks_vfs *vfs, pks_vfs_file file, const char *name, pks__scratch_folder *home,
  pks_error *error
) {
  pks_vfs_info info;
  int failure = pks__vfs_info_of(vfs, file, &info);
  if (failure) { return pks__fail_system(error, failure, "cannot examine", name); }
  *out = (pks__record_log){.vfs = vfs, .file = file, .name = name, .present = info.size};
  pks__scratch_init(&out->buffer, home);
  return PKS_OK;
}

void pks__record_log_close(pks__record_log *records) { pks__scratch_free(&records->buffer); }

static pks_status read_at(
  const pks__record_log *records, uint64_t offset, void *out, size_t byte_count, size_t *got, pks_error *error
) {
  int failure = pks__vfs_read_at(records->vfs, records->file, offset, out, byte_count, got);
  return failure ? pks__fail_system(error, failure, "cannot read", records->name) : PKS_OK;
}

/// Puts the sum before, the head and room for `byte_count` bytes into the buffer.
static pks_status begin(pks__record_log *records, size_t byte_count, pks_error *error) {
  head head = {.sum_before = pks__put64(records->sum), .length = pks__put32((uint32_t)byte_count)};
  records->buffer.length = 0;
  pks_status status = pks__scratch_reserve(&records->buffer, sizeof head + byte_count + TAIL_STORED, error);
  return status ? status : pks__scratch_append(&records->buffer, &head, sizeof head, error);
}

pks_status pks__record_log_next(
  pks__record_log *records, const uint8_t **payload, size_t *byte_count, uint64_t *offset, bool *more, pks_error *error
) {
  struct {
    pks_le32 length, zero;
  } stored;
  size_t got = 0;
  *more = false;
  pks_status status = read_at(records, records->length, &stored, sizeof stored, &got, error);
  if (status || got < sizeof stored) { return status; }
  uint32_t length = pks__get32(stored.length);
  bool fits = length <= PKS__RECORD_MAX && pks__get32(stored.zero) == 0
    && pks__range_fits(records->length, HEAD_STORED + (uint64_t)length + TAIL_STORED, records->present);
  if (!fits) { return PKS_OK; }
  status = begin(records, length, error);
  if (status) { return status; }
  uint8_t *bytes = records->buffer.bytes;
  size_t wanted = (size_t)length + TAIL_STORED;
  status = read_at(records, records->length + HEAD_STORED, bytes + sizeof(head), wanted, &got, error);
  if (status || got < wanted) { return status; }
  pks_le64 sum;
  memcpy(&sum, bytes + sizeof(head) + length, sizeof sum);
  if (pks__checksum(bytes, sizeof(head) + length) != pks__get64(sum)) { return PKS_OK; }
  *payload = bytes + sizeof(head);
  *byte_count = length;
  *offset = records->length + HEAD_STORED;
  *more = true;
  records->length += HEAD_STORED + length + TAIL_STORED;
  records->sum = pks__get64(sum);
  return PKS_OK;
}

pks_status pks__record_log_append(
  pks__record_log *records, const pks__record_part *parts, size_t part_count, uint64_t *offset, pks_error *error
) {
  size_t length = 0;
  for (size_t i = 0; i < part_count; i++) { length += parts[i].byte_count; }
  PKS_ASSERT(length <= PKS__RECORD_MAX);
  pks_status status = begin(records, length, error);
  for (size_t i = 0; !status && i < part_count; i++) {
    status = pks__scratch_append(&records->buffer, parts[i].bytes, parts[i].byte_count, error);
  }
  if (status) { return status; }
  uint64_t sum = pks__checksum(records->buffer.bytes, (size_t)records->buffer.length);
  pks_le64 stored = pks__put64(sum);
  status = pks__scratch_append(&records->buffer, &stored, sizeof stored, error);
  if (status) { return status; }
  const uint8_t *bytes = records->buffer.bytes + sizeof(head) - HEAD_STORED;
  size_t byte_count = HEAD_STORED + length + TAIL_STORED;
  int failure = pks__vfs_write_at(records->vfs, records->file, records->length, bytes, byte_count);
  if (failure) {
    status = pks__fail_system(error, failure, "cannot write", records->name);
    if (error) { error->needed = byte_count; }
    return status;
  }
  if (offset) { *offset = records->length + HEAD_STORED; }
  records->length += byte_count;
  records->sum = sum;
  return PKS_OK;
}

pks_status pks__record_log_read(
  const pks__record_log *records, uint64_t offset, void *out, size_t byte_count, pks_error *error
) {
  size_t got = 0;
  pks_status status = read_at(records, offset, out, byte_count, &got, error);
  if (status || got == byte_count) { return status; }
  return pks__fail(error, PKS_CORRUPT, "is truncated", records->name, offset);
}
