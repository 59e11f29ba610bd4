/// First pass of an ingest over a delta.
///
/// Chunks of version A are passed on by their ids, without reading them; new ones come from the groups. The delta may come from an
/// attacker: the result must have the catalog id in its header, or is refused.
#ifndef PKS_DELTA_DELTA_INGEST_H
#define PKS_DELTA_DELTA_INGEST_H

#include "delta/delta_file.h"
#include "ingest/ingest.h"

/// The version that a delta begins with. Its snapshot may be another one than that which is ingested into: then chunks that the
/// latter lacks are read there, and stored.
typedef struct pks__delta_origin {
  pks_snapshot *snapshot;
  const pks__version *version;  ///< a version of the snapshot
} pks__delta_origin;

/// First pass over a delta that begins with `from`. `request` is for the pack, how to encode, and progress. The result is to
/// be closed, also after an error. Errors: CORRUPT (the delta, or the store), PURGED, CANCELLED, NO_SPACE, IO_ERROR,
/// OUT_OF_MEMORY.
pks_status pks__ingest_delta(
  pks__ingest *out, pks__staging *staging, pks_snapshot *base, const pks_add_request *request,
  const pks__delta_file *file, const pks__delta_origin *from, bool sync, pks_error *error
);

#endif
