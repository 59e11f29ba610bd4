/// Where the files of a segment are now, by names and lengths: no byte is read. So a file that another program deleted or cut short
/// is found by one system call, even while this process has it open.
#ifndef PKS_STORE_SEGMENT_FILES_H
#define PKS_STORE_SEGMENT_FILES_H

#include "store/state.h"

typedef enum pks__segment_place {
  PKS__SEGMENT_STORED,  ///< among the store's own files, at its full length, or staged to be so
  PKS__SEGMENT_APART,  ///< the store has the table: the file is in the cache folder, in the base or at a site, or purged
  PKS__SEGMENT_LOST,   ///< both file and table are missing, or the file is shorter than the index records
} pks__segment_place;

typedef struct pks__segment_files {
  pks__segment_place place;
  uint64_t length;  ///< bytes of an APART segment's file in the cache folder, or staged; 0 otherwise
} pks__segment_files;

/// Finds the files of segment `id`. `cache` is the store's own folder in the cache folder (PKS_VFS_NO_FILE: none).
/// `file_length` is the length that the index records; 0: unknown, then a file of any length counts as STORED. A LOST segment that
/// this process has open is forgotten: nothing new refers to it. At most three system calls. IO_ERROR: its place is unknown.
pks_status pks__segment_files_find(
  const pks_snapshot *snapshot, pks_vfs_file cache, const pks__segment_id *id, uint64_t file_length,
  pks__segment_files *out, pks_error *error
);

#endif
