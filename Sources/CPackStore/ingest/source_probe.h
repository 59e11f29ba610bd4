/// Examines one path of the source of an add, and whether it can be stored.
///
/// Every entry that cannot be stored is reported, not only the first: an add examines everything before it fails.
#ifndef PKS_INGEST_SOURCE_PROBE_H
#define PKS_INGEST_SOURCE_PROBE_H

#include "catalog/entry_list.h"
#include "platform/vfs.h"

typedef struct pks__source_probe {
  const pks_vfs *vfs;
  pks_vfs_file root;  ///< the folder that is added
  const pks_add_request *request;
  bool refused;   ///< a refusal was reported
  uint64_t seen;  ///< for progress
} pks__source_probe;

/// A path of the source: `name` below the open folder `folder`, `path` below the root. Both end in a zero.
typedef struct pks__source_place {
  pks_vfs_file folder;
  const char *name;
  const char *path;
  size_t path_length;
} pks__source_place;

void pks__source_probe_notice(
  pks__source_probe *probe, pks_notice kind, const char *path, size_t path_length, int system_error
);

/// Reports a path that some disks do not distinguish from `twin`.
void pks__source_probe_twin(
  pks__source_probe *probe, const char *path, size_t path_length, const char *twin, size_t twin_length
);

/// Examines the entry; with PKS_LINKS_FOLLOW the target of a link, and sets `*followed`. Returns false, after a notice, if it
/// cannot be stored.
bool pks__source_probe_examine(
  pks__source_probe *probe, const pks__source_place *place, pks_vfs_info *out, bool *followed
);

/// Adds the examined entry to the listing, under `path`: a file, a link or an empty folder. If a link can no longer be read,
/// reports a notice and adds nothing.
pks_status pks__source_probe_add(
  pks__source_probe *probe, const pks__source_place *place, const pks_vfs_info *info, pks__entry_list *listing,
  const char *path, size_t path_length, pks_error *error
);

/// Reports the number of listed entries from time to time. CANCELLED if the caller cancels.
pks_status pks__source_probe_report(pks__source_probe *probe, const pks__entry_list *listing, pks_error *error);

#endif
