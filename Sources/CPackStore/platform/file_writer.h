/// Buffered, append-only writing of one new file.
///
/// Bytes are written when a block of the file is full, as a whole block, and several blocks at once if that many are appended. The
/// kernel keeps aligned pieces in its cache as large as they were written, and large ones are permanently faster to map and to copy
/// from: data written in 512 KiB is mapped and read 1.7 times as fast as data written in unaligned pieces. (Intermediate flushes,
/// as in deliveries, reduce this.) Pieces of 2 MiB are mapped with one entry of a page table each: a long file may be written so
/// from its fifth megabyte on.
///
/// States: open -> finished (synced if asked) or abandoned. After a failed write or sync the file is abandoned: nothing
/// retries on that descriptor, because a second sync that succeeds would prove nothing.
#ifndef PKS_PLATFORM_FILE_WRITER_H
#define PKS_PLATFORM_FILE_WRITER_H

#include "base/status.h"
#include "platform/vfs.h"

/// Bytes of a block: few enough to stay in the second-level cache between filling and writing.
enum { PKS__WRITE_BLOCK = 512 * 1024 };

/// The block size after the first `PKS__LONG_FILE` bytes of a file that `grows`.
enum { PKS__LONG_WRITE_BLOCK = 2 * 1024 * 1024, PKS__LONG_FILE = 2 * PKS__LONG_WRITE_BLOCK };

/// For files whose layout in the kernel's cache matters less than memory.
enum { PKS__SHORT_WRITE_BLOCK = 64 * 1024 };

typedef struct pks__file_writer {
  const pks_vfs *vfs;
  pks_vfs_file file;
  char name[64];
  uint64_t length;  ///< bytes appended
  uint8_t *buffer;  ///< what of the present block is not written
  size_t buffered;
  size_t block;  ///< bytes of one; may be made shorter before the first is begun
  bool grows;    ///< blocks become longer when the file is long
} pks__file_writer;

/// Creates `path`; EEXIST is an IO_ERROR.
pks_status pks__file_writer_open(
  pks__file_writer *out, const pks_vfs *vfs, pks_vfs_file folder, const char *path, pks_error *error
);
/// Writes from the beginning of a file that is open for writing, and takes it over on success.
pks_status pks__file_writer_adopt(
  pks__file_writer *out, const pks_vfs *vfs, pks_vfs_file file, const char *name, pks_error *error
);
/// Continues at `offset`, not before the current end: the bytes between stay unchanged in the file.
pks_status pks__file_writer_skip(pks__file_writer *writer, uint64_t offset, pks_error *error);
pks_status pks__file_writer_append(pks__file_writer *writer, const void *bytes, size_t byte_count, pks_error *error);
/// Appends zeros up to the next multiple of `alignment`, a power of two of at most 4096.
pks_status pks__file_writer_align(pks__file_writer *writer, uint64_t alignment, pks_error *error);
pks_status pks__file_writer_flush(pks__file_writer *writer, pks_error *error);
/// Flushes, syncs if requested, closes. The writer is closed even on an error.
pks_status pks__file_writer_finish(pks__file_writer *writer, bool sync, pks_error *error);
/// Hands the flushed file to the caller, who closes it; ends the writer.
pks_vfs_file pks__file_writer_release(pks__file_writer *writer);
void pks__file_writer_abandon(pks__file_writer *writer);  ///< closes; a zeroed or closed writer is fine

#endif
