/// What was selected of a folder, `pks_add_request.entries`, as a listing: each item with the path below the folder that it
/// comes from. The folder is not walked.
///
/// The list comes from outside. Its paths rise, are valid, and none lies below a file: anything else is INVALID_ARGUMENT.
#ifndef PKS_INGEST_SELECTION_SCAN_H
#define PKS_INGEST_SELECTION_SCAN_H

#include "ingest/source_probe.h"

/// Lists the entries of the probe's request. What cannot be stored is reported, as by a walk. INVALID_ARGUMENT for a bad
/// list, WRONG_KIND for what is neither file, folder nor link.
pks_status pks__selection_scan(
  pks__source_probe *probe, pks__entry_list *listing, pks__scratch_folder *home, pks_error *error
);

/// Where an item of such a listing comes from: a path below the folder.
const char *pks__selection_source(const pks__entry_list *listing, const pks__item *item, size_t *length);

#endif
