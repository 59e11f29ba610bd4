/// The second pass of an ingest: determines the place of every asset.
#ifndef PKS_INGEST_LAYOUT_PASS_H
#define PKS_INGEST_LAYOUT_PASS_H

#include "ingest/ingest.h"

/// Second pass, unless there is nothing to commit: writes the layout, of version `number`, and the run to the staging folder.
/// Everything is synced if `sync`.
pks_status pks__ingest_lay_out(pks__ingest *ingest, uint64_t number, bool sync, pks_error *error);

#endif
