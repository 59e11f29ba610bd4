#include "platform/file_writer.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"

pks_status pks__file_writer_open(
  pks__file_writer *out, const pks_vfs *vfs, pks_vfs_file folder, const char *path, pks_error *error
) {
  pks_vfs_file file;
  int failure = pks__vfs_open(vfs, folder, path, PKS_VFS_OPEN_CREATE, &file);
  if (failure) { return pks__fail_system(error, failure, "cannot create", path); }
  pks_status status = pks__file_writer_adopt(out, vfs, file, path, error);
  if (status) { pks__vfs_close(vfs, file); }
  return status;
}

pks_status pks__file_writer_adopt(
  pks__file_writer *out, const pks_vfs *vfs, pks_vfs_file file, const char *name, pks_error *error
) {
  pks__file_writer writer = {.vfs = vfs, .file = file, .block = PKS__WRITE_BLOCK};
  (void)snprintf(writer.name, sizeof writer.name, "%s", name);
  writer.buffer = pks__allocate(PKS__WRITE_BLOCK);
  if (!writer.buffer) { return pks__fail_memory(error); }
  *out = writer;
  return PKS_OK;
}

static pks_status write_out(
  pks__file_writer *writer, const void *bytes, size_t byte_count, uint64_t offset, pks_error *error
) {
  int failure = pks__vfs_write_at(writer->vfs, writer->file, offset, bytes, byte_count);
  if (!failure) { return PKS_OK; }
  pks_status status = pks__fail_system(error, failure, "cannot write", writer->name);
  if (error) { error->needed = byte_count; }
  return status;
}

pks_status pks__file_writer_flush(pks__file_writer *writer, pks_error *error) {
  size_t buffered = writer->buffered;
  if (buffered == 0) { return PKS_OK; }
  writer->buffered = 0;
  return write_out(writer, writer->buffer, buffered, writer->length - buffered, error);
}

pks_status pks__file_writer_skip(pks__file_writer *writer, uint64_t offset, pks_error *error) {
  PKS_ASSERT(offset >= writer->length);
  pks_status status = pks__file_writer_flush(writer, error);
  if (!status) { writer->length = offset; }
  return status;
}

/// Goes over to long blocks where one may begin. Without memory for them it goes on as it is.
static void grow(pks__file_writer *writer) {
  bool may_grow = writer->grows && writer->block < PKS__LONG_WRITE_BLOCK && writer->buffered == 0;
  if (!may_grow || writer->length < PKS__LONG_FILE || writer->length % PKS__LONG_WRITE_BLOCK != 0) { return; }
  void *larger = pks__allocate(PKS__LONG_WRITE_BLOCK);
  if (!larger) { return; }
  pks__free(writer->buffer);
  writer->buffer = larger;
  writer->block = PKS__LONG_WRITE_BLOCK;
}

pks_status pks__file_writer_append(pks__file_writer *writer, const void *bytes, size_t byte_count, pks_error *error) {
  const uint8_t *from = bytes;
  pks_status status = PKS_OK;
  while (!status && byte_count > 0) {
    grow(writer);
    size_t room = writer->block - (size_t)(writer->length % writer->block);
    size_t count = pks__min_size(byte_count, room);
    if (count == writer->block) {
      count = byte_count - byte_count % writer->block;
      status = write_out(writer, from, count, writer->length, error);
    } else {
      memcpy(writer->buffer + writer->buffered, from, count);
      writer->buffered += count;
    }
    writer->length += count;
    from += count;
    byte_count -= count;
    if (!status && count == room) { status = pks__file_writer_flush(writer, error); }
  }
  // The unwritten bytes, and those that were to follow.
  if (status && error) { error->needed += byte_count; }
  return status;
}

pks_status pks__file_writer_align(pks__file_writer *writer, uint64_t alignment, pks_error *error) {
  static const uint8_t zeros[4096];
  PKS_ASSERT(alignment <= sizeof zeros);
  uint64_t padding = pks__align_up(writer->length, alignment) - writer->length;
  return pks__file_writer_append(writer, zeros, (size_t)padding, error);
}

pks_status pks__file_writer_finish(pks__file_writer *writer, bool sync, pks_error *error) {
  pks_status status = pks__file_writer_flush(writer, error);
  if (!status && sync) {
    int failure = pks__vfs_sync(writer->vfs, writer->file);
    if (failure) { status = pks__fail_system(error, failure, "cannot sync", writer->name); }
  }
  pks__file_writer_abandon(writer);
  return status;
}

pks_vfs_file pks__file_writer_release(pks__file_writer *writer) {
  PKS_ASSERT(writer->buffer && writer->buffered == 0);
  pks_vfs_file file = writer->file;
  pks__free(writer->buffer);
  *writer = (pks__file_writer){.file = PKS_VFS_NO_FILE};
  return file;
}

void pks__file_writer_abandon(pks__file_writer *writer) {
  if (!writer->buffer) { return; }
  pks__vfs_close(writer->vfs, writer->file);
  pks__free(writer->buffer);
  *writer = (pks__file_writer){.file = PKS_VFS_NO_FILE};
}
