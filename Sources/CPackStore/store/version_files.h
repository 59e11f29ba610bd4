/// Finds out which segments of a version are whole: the segments that its layout lists, and the segment of the layout's root.
///
/// Copies that never had the frames lack nothing: a site's copy without frames refers to remote segments and has their tables.
/// Segments in the cache folder or in a base are APART, and for the caller to measure.
#ifndef PKS_STORE_VERSION_FILES_H
#define PKS_STORE_VERSION_FILES_H

#include "store/segment_files.h"

typedef struct pks__version_file {
  pks__segment_id id;
  pks__segment_files files;
} pks__version_file;

typedef struct pks__version_files {
  pks__scratch files;  ///< pks__version_file
  bool has_apart;      ///< a segment is APART, and not remote
  bool lost_data;      ///< a data segment is LOST
  bool lost_pages;     ///< a metadata segment is LOST: pages of the catalog or of the layout cannot be read
  bool
    lost_list;  ///< the page that lists the segments is among them: `files` is incomplete, and data may be lost as well
} pks__version_files;

/// Examines the files. O(n) in the segments that the index and the layout list, with one to three system calls for each that the
/// layout lists. A layout's root that is damaged counts as lost. The result is to be freed also after an error. Errors: CORRUPT
/// (the index is damaged), IO_ERROR, OUT_OF_MEMORY.
pks_status pks__version_files_find(
  pks__version_files *out, pks_snapshot *snapshot, pks_vfs_file cache, const pks__version *version, pks_error *error
);
void pks__version_files_free(pks__version_files *files);  ///< a zeroed one is fine

#endif
