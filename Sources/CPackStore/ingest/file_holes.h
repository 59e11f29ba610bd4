/// Holes of a file that is read from front to back: bytes that are zeros and take no room on the disk.
///
/// The file system reports them (`find_data` of the seam), and they are not read. If it reports none, all of the file is data. The
/// map of holes may be out of date when another process writes to the file: the reader compares size and time of the file
/// afterwards, as for bytes that it read.
#ifndef PKS_INGEST_FILE_HOLES_H
#define PKS_INGEST_FILE_HOLES_H

#include "platform/vfs.h"

typedef struct pks__file_holes {
  const pks_vfs *vfs;
  pks_vfs_file file;
  uint64_t size;  ///< bytes
  /// The last answer: [from, data_begin) is a hole or empty, [data_begin, data_end) is data.
  uint64_t from, data_begin, data_end;
} pks__file_holes;

/// Holes of an open file, which stays open for as long as they are used.
pks__file_holes pks__file_holes_make(const pks_vfs *vfs, pks_vfs_file file, uint64_t size);

/// The end of the hole that `position` is in; `position` itself if it is data.
uint64_t pks__file_holes_end(pks__file_holes *holes, uint64_t position);

/// Where the first hole of at least `length` bytes begins in [position, limit); `limit` if none does.
uint64_t pks__file_holes_next(pks__file_holes *holes, uint64_t position, uint64_t limit, uint64_t length);

/// Reads `byte_count` bytes at `offset` except those in holes, which become zeros. `*got` is smaller only if data ends before. 0,
/// or an errno.
int pks__file_holes_read(pks__file_holes *holes, uint64_t offset, void *out, size_t byte_count, size_t *got);

#endif
