/// Files of one pack that stand where another pack needs a folder.
#ifndef PKS_INGEST_PATH_CONFLICTS_H
#define PKS_INGEST_PATH_CONFLICTS_H

#include "ingest/ingest.h"

/// Whether a file or link of the source has the path of a folder in another pack of `snapshot`, or the reverse. Time is
/// proportional to the changes.
pks_status pks__ingest_find_conflicts(const pks__ingest *ingest, pks_snapshot *snapshot, bool *found, pks_error *error);

#endif
