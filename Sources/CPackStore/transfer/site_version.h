/// A kept version as a site shows it: found by its number, with its segments in the order of a manifest.
///
/// Owner: `site_version.c`.
#ifndef PKS_TRANSFER_SITE_VERSION_H
#define PKS_TRANSFER_SITE_VERSION_H

#include "catalog/catalog.h"
#include "store/snapshot.h"

typedef struct pks__site_version {
  const pks__version *version;  ///< a version of the snapshot
  pks__layout_root layout;
  pks__scratch segments;  ///< pks__segment_id: segments of the layout, and last the segment with the layout's root
} pks__site_version;

/// Finds a version of a pack, which may be a removed one, and reads the root of its layout. NOT_FOUND; PURGED when the
/// layout is gone.
pks_status pks__site_version_open(
  pks__site_version *out, pks_snapshot *snapshot, uint32_t pack, uint64_t number, pks_error *error
);

/// Frees it; a zeroed one too.
void pks__site_version_close(pks__site_version *version);

#endif
