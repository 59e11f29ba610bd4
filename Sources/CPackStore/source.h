/// The folder that is being added: a listing of everything in it, in bytewise order of paths.
///
/// The scan reads names and sizes, no content. All that cannot be stored is reported, not just the first, before a byte
/// is read.
#ifndef PKS_SOURCE_H
#define PKS_SOURCE_H

#include "listing.h"
#include "vfs.h"

typedef struct pks__source {
  const pks_vfs *vfs;
  pks__file root;
  bool follows;           ///< links were followed
  pks__listing *listing;  ///< what is in it
} pks__source;

/// Scans `request->folder` into `listing`, which is empty and stays where it is. `own` is the store's directory: it is
/// left out if it lies within.
/// REFUSED after everything was reported; NOT_FOUND, WRONG_KIND for the folder itself.
pks_status pks__source_scan(
  pks__source *out, pks__listing *listing, pks__scratch_folder *home, const pks_add_request *request,
  const pks__file_info *own, pks_error *error
);
void pks__source_close(pks__source *source);  ///< a zeroed one is fine

/// SOURCE_CHANGED: the item's file is not what it was.
pks_status pks__source_changed(const pks__source *source, const pks__item *item, pks_error *error);

/// Reads `length` bytes at `offset` of an item's open file. SOURCE_CHANGED when it has fewer.
pks_status pks__source_read(
  const pks__source *source, const pks__item *item, pks__file file, uint64_t offset, void *out, size_t length,
  pks_error *error
);
/// A call of the seam failed for the item's file.
pks_status pks__source_failed(const pks__source *source, const pks__item *item, int failure, pks_error *error);

/// Tries every file and reports those that cannot be opened for lack of permission. For use after one could not be.
void pks__source_report_unreadable(const pks__source *source, const pks_add_request *request);

/// Opens the file of an item for reading. Links are followed if the request said so.
pks_status pks__source_open(const pks__source *source, const pks__item *item, pks__file *out, pks_error *error);

#endif
