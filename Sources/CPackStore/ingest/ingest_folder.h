/// A folder as the source of an ingest: read, chunked and hashed on all threads.
#ifndef PKS_INGEST_INGEST_FOLDER_H
#define PKS_INGEST_INGEST_FOLDER_H

#include "ingest/ingest.h"

/// First pass over a folder. The new version may reuse data of `base`. The result must be closed, also after an error.
pks_status pks__ingest_folder(
  pks__ingest *out, pks__staging *staging, pks_snapshot *base, const pks_add_request *request, bool sync,
  pks_error *error
);

#endif
