/// The folder that is being added: a listing of everything in it, in bytewise order of paths.
///
/// The scan reads names and sizes, no content. All that cannot be stored is reported, not just the first, before a byte
/// is read. The listing lives in scratch memory, so a million files cost no private memory.
#ifndef PKS_SOURCE_H
#define PKS_SOURCE_H

#include "format.h"
#include "scratch.h"
#include "vfs.h"

typedef struct pks__source_item {
  uint64_t text;  ///< where its path begins in the texts; a link's target follows the path
  uint64_t size;  ///< of the file or the target, bytes
  uint32_t path_length;
  uint8_t kind;  ///< pks__record_kind
  bool executable;
  bool mapped;  ///< a file that holds bytes and is to be a map asset
} pks__source_item;

typedef struct pks__source {
  const pks_vfs *vfs;
  pks__file root;
  bool follows;        ///< links were followed
  pks__scratch items;  ///< pks__source_item
  pks__scratch texts;
  uint64_t file_count;
  uint64_t byte_count;    ///< of all files
  uint64_t mapped_count;  ///< items to be map assets
} pks__source;

/// Scans `request->folder`. `own_device` and `own_inode` are the store's directory: it is left out if it lies within.
/// REFUSED after everything was reported; NOT_FOUND, WRONG_KIND for the folder itself.
pks_status pks__source_scan(
  pks__source *out, pks__scratch_folder *home, const pks_add_request *request, const pks__file_info *own,
  pks_error *error
);
void pks__source_close(pks__source *source);  ///< a zeroed one is fine

static inline uint64_t pks__source_count(const pks__source *source) {
  return PKS__SCRATCH_COUNT(&source->items, pks__source_item);
}
static inline const pks__source_item *pks__source_at(const pks__source *source, uint64_t index) {
  return PKS__SCRATCH_AT(&source->items, const pks__source_item, index);
}
static inline const char *pks__source_path(const pks__source *source, const pks__source_item *item) {
  return (const char *)source->texts.bytes + item->text;
}
static inline const uint8_t *pks__source_target(const pks__source *source, const pks__source_item *item) {
  return source->texts.bytes + item->text + item->path_length;
}

/// SOURCE_CHANGED: the item's file is not what it was.
pks_status pks__source_changed(const pks__source *source, const pks__source_item *item, pks_error *error);

/// Reads `length` bytes at `offset` of an item's open file. SOURCE_CHANGED when it has fewer.
pks_status pks__source_read(
  const pks__source *source, const pks__source_item *item, pks__file file, uint64_t offset, void *out, size_t length,
  pks_error *error
);
/// A call of the seam failed for the item's file.
pks_status pks__source_failed(const pks__source *source, const pks__source_item *item, int failure, pks_error *error);

/// Tries every file and reports those that cannot be opened for lack of permission. For use after one could not be.
void pks__source_report_unreadable(const pks__source *source, const pks_add_request *request);

/// Opens the file of an item for reading. Links are followed if the request said so.
pks_status pks__source_open(const pks__source *source, const pks__source_item *item, pks__file *out, pks_error *error);

#endif
