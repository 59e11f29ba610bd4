#include "ingest/file_holes.h"

#include <string.h>

pks__file_holes pks__file_holes_make(const pks_vfs *vfs, pks_vfs_file file, uint64_t size) {
  return (pks__file_holes){.vfs = vfs, .file = file, .size = size};
}

/// Finds the data at or after `position`, which is in the file. If that fails, everything from there on counts as data: reading it
/// reports the error.
static void look_up(pks__file_holes *holes, uint64_t position) {
  if (position >= holes->from && position < holes->data_end) { return; }
  uint64_t begin, end;
  int failure = pks__vfs_find_data(holes->vfs, holes->file, position, &begin, &end);
  bool fits = !failure && begin >= position && end >= begin && (end > begin || begin >= holes->size);
  holes->from = position;
  holes->data_begin = fits ? pks__min64(begin, holes->size) : position;
  // A hole up to the end counts as data of no bytes after it.
  holes->data_end = fits && begin < holes->size ? pks__min64(end, holes->size) : holes->size;
}

uint64_t pks__file_holes_end(pks__file_holes *holes, uint64_t position) {
  if (position >= holes->size) { return position; }
  look_up(holes, position);
  return pks__max64(holes->data_begin, position);
}

uint64_t pks__file_holes_next(pks__file_holes *holes, uint64_t position, uint64_t limit, uint64_t length) {
  while (position < limit) {
    uint64_t end = pks__file_holes_end(holes, position);
    if (end - position >= length) { return position; }
    if (end >= holes->size) { return limit; }
    look_up(holes, end);
    position = holes->data_end;
  }
  return limit;
}

int pks__file_holes_read(pks__file_holes *holes, uint64_t offset, void *out, size_t byte_count, size_t *got) {
  uint8_t *bytes = out;
  uint64_t limit = offset + byte_count;
  PKS_ASSERT(limit <= holes->size);
  for (uint64_t position = offset; position < limit;) {
    uint64_t data = pks__min64(pks__file_holes_end(holes, position), limit);
    memset(bytes + (position - offset), 0, (size_t)(data - position));
    position = data;
    if (position == limit) { break; }
    size_t part = (size_t)(pks__min64(holes->data_end, limit) - position), read = 0;
    int failure = pks__vfs_read_at(holes->vfs, holes->file, position, bytes + (position - offset), part, &read);
    position += read;
    *got = (size_t)(position - offset);
    if (failure || read < part) { return failure; }
  }
  *got = byte_count;
  return 0;
}
