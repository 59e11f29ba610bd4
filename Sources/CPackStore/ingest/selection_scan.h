/// The selected entries of a folder, `pks_add_request.entries`, as a listing: each item has its source path. The folder is not
/// walked.
///
/// The list is external input. Its paths must rise, be valid, and not be below a file: anything else is INVALID_ARGUMENT.
#ifndef PKS_INGEST_SELECTION_SCAN_H
#define PKS_INGEST_SELECTION_SCAN_H

#include "ingest/source_probe.h"

/// Lists the entries of the probe's request. Entries that cannot be stored are reported, like in a walk. INVALID_ARGUMENT for an
/// invalid list, WRONG_KIND for a source that is not a file, folder or link.
pks_status pks__selection_scan(
  pks__source_probe *probe, pks__entry_list *listing, pks__scratch_folder *home, pks_error *error
);

/// Where an item of such a listing comes from: a path below the folder.
const char *pks__selection_source(const pks__entry_list *listing, const pks__item *item, size_t *length);

#endif
