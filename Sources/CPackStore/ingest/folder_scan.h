/// The added folder: a listing of all its entries, or of the selected ones (`selection_scan.h`), in bytewise order of paths.
///
/// The scan reads names and sizes, no content. It reports every entry that cannot be stored, not only the first, before a byte is
/// read.
#ifndef PKS_INGEST_FOLDER_SCAN_H
#define PKS_INGEST_FOLDER_SCAN_H

#include "catalog/entry_list.h"
#include "ingest/file_holes.h"
#include "platform/vfs.h"

typedef struct pks__folder_scan {
  const pks_vfs *vfs;
  pks_vfs_file root;
  bool follows;              ///< links were followed
  bool selects;              ///< items have other paths below the folder than in the pack
  pks__entry_list *listing;  ///< its entries
} pks__folder_scan;

/// Scans `request->folder` into `listing`, which must be empty and must not move. `own` is the store's directory, which is skipped
/// if it is inside. REFUSED after everything was reported; NOT_FOUND, WRONG_KIND for the folder itself.
pks_status pks__folder_scan_scan(
  pks__folder_scan *out, pks__entry_list *listing, pks__scratch_folder *home, const pks_add_request *request,
  const pks_vfs_info *own, pks_error *error
);
void pks__folder_scan_close(pks__folder_scan *source);  ///< a zeroed one is fine

/// SOURCE_CHANGED: the item's file has changed.
pks_status pks__folder_scan_changed(const pks__folder_scan *source, const pks__item *item, pks_error *error);

/// Fails for an item whose open file has more or fewer bytes than its size. REFUSED if reading changed neither size nor time: files
/// of /proc and /sys are such files. Otherwise SOURCE_CHANGED.
pks_status pks__folder_scan_wrong_size(
  const pks__folder_scan *source, const pks__item *item, pks_vfs_file file, int64_t modified_ns, pks_error *error
);

/// Reads `length` bytes at `offset` of an item's open file. SOURCE_CHANGED when it has fewer.
pks_status pks__folder_scan_read(
  const pks__folder_scan *source, const pks__item *item, pks_vfs_file file, uint64_t offset, void *out, size_t length,
  pks_error *error
);
/// Like `pks__folder_scan_read`, without reading the holes of the file.
pks_status pks__folder_scan_read_data(
  const pks__folder_scan *source, const pks__item *item, pks__file_holes *holes, uint64_t offset, void *out,
  size_t length, pks_error *error
);
/// Checks the first bytes of an item's file: all of them, or at least as many as a line has. REFUSED after a notice for a file
/// that begins with `request->refused_first_line`.
pks_status pks__folder_scan_check_start(
  const pks__folder_scan *source, const pks__item *item, const pks_add_request *request, const uint8_t *bytes,
  size_t length, pks_error *error
);
/// A call of the seam failed for the item's file.
pks_status pks__folder_scan_failed(
  const pks__folder_scan *source, const pks__item *item, int failure, pks_error *error
);

/// Opens every file, and reports files that cannot be opened for lack of permission. Call it after one failed.
void pks__folder_scan_report_unreadable(const pks__folder_scan *source, const pks_add_request *request);

/// Opens the file of an item for reading. Follows links if the request does.
pks_status pks__folder_scan_open(
  const pks__folder_scan *source, const pks__item *item, pks_vfs_file *out, pks_error *error
);

#endif
