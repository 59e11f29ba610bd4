/// Record files: append-only files of records with checksums. A crash may remove the end, but cannot change a record undetected.
///
/// A record is le32 length of its payload, le32 0, the payload, le64 XXH3-64 of the checksum of the record before (0 for the
/// first), the length and the payload. So a record is valid only where it was written: the rest of an older end, after records
/// written over it, is not mistaken for more of them.
///
/// Appended data is in the system's buffers when the call returns: it survives the process, but not power loss.
#ifndef PKS_FORMAT_RECORD_LOG_H
#define PKS_FORMAT_RECORD_LOG_H

#include "platform/scratch.h"

/// The largest payload, bytes.
enum { PKS__RECORD_MAX = 65 * 1024 * 1024 };

typedef struct pks__record_log {
  const pks_vfs *vfs;
  pks_vfs_file file;  ///< open for reading and writing; the owner's
  const char *name;   ///< for messages, static
  uint64_t length;    ///< up to which records count
  uint64_t sum;       ///< checksum of the last one
  uint64_t present;   ///< bytes that the file had when it was opened
  pks__scratch buffer;
} pks__record_log;

pks_status pks__record_log_open(
  pks__record_log *out, const pks_vfs *vfs, pks_vfs_file file, const char *name, pks__scratch_folder *home,
  pks_error *error
);
void pks__record_log_close(pks__record_log *records);  ///< a zeroed one is fine

/// Walks the records from the beginning: `*payload` is borrowed until the next call; `*offset` is its offset in the file. `*more`
/// is false at the end, or at the first invalid record, where the next one is appended.
pks_status pks__record_log_next(
  pks__record_log *records, const uint8_t **payload, size_t *byte_count, uint64_t *offset, bool *more, pks_error *error
);

/// The place before the next record, to go back to.
typedef struct pks__record_log_mark {
  uint64_t length, sum;
} pks__record_log_mark;
static inline pks__record_log_mark pks__record_log_here(const pks__record_log *records) {
  return (pks__record_log_mark){records->length, records->sum};
}
/// Drops everything after the mark.
static inline void pks__record_log_cut(pks__record_log *records, pks__record_log_mark mark) {
  records->length = mark.length;
  records->sum = mark.sum;
}

/// A part of a payload.
typedef struct pks__record_part {
  const void *bytes;
  size_t byte_count;
} pks__record_part;

/// Appends a record whose payload consists of the parts. `*offset` (may be NULL) is the payload's offset.
pks_status pks__record_log_append(
  pks__record_log *records, const pks__record_part *parts, size_t part_count, uint64_t *offset, pks_error *error
);

/// Reads bytes of a payload.
pks_status pks__record_log_read(
  const pks__record_log *records, uint64_t offset, void *out, size_t byte_count, pks_error *error
);

#endif
