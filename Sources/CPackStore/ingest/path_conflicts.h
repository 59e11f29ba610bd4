/// Files of one pack that stand where another pack needs a folder.
#ifndef PKS_INGEST_PATH_CONFLICTS_H
#define PKS_INGEST_PATH_CONFLICTS_H

#include "ingest/ingest.h"

/// Whether a file or link of the source stands where another pack of `snapshot` has a folder, or the reverse. Time grows
/// with what changed.
pks_status pks__ingest_find_conflicts(const pks__ingest *ingest, pks_snapshot *snapshot, bool *found, pks_error *error);

#endif
