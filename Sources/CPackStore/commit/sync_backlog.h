/// Makes the data of atomic commits durable.
///
/// A durable commit on top of an atomic generation vouches for all data of that generation. Data of the last durable generation is
/// durable; the rest was never synced, and is synced now. If a sync of a file or of its folder fails, the kernel marks lost pages
/// as clean, so that a later sync would succeed and prove nothing. So a commit that fails from here on marks the generation as *in
/// doubt* (`control.h`), and from then on a durable commit does not sync its files but writes them again, from reads, and renames
/// the copies over them. (If the kernel has dropped pages that it considered clean, reads return what every reader sees: damage
/// that checksums find.)
#ifndef PKS_COMMIT_SYNC_BACKLOG_H
#define PKS_COMMIT_SYNC_BACKLOG_H

#include "ingest/staging.h"

/// Makes durable what `current`, the generation of `control`'s current slot, needs: files, and names in `segments/`;
/// those in `index/` become durable with the commit's own. The writer's lock is held. After a failure everything reads
/// as it did. Errors: IO_ERROR, NO_SPACE, CORRUPT, OUT_OF_MEMORY.
pks_status pks__sync_backlog(
  pks__staging *staging, const pks__control *control, pks_snapshot *current, pks_error *error
);

/// Copies a file of the store, `path`, to a new one, syncs that and renames it over the old one: a process that has
/// that open or mapped keeps it. With `may_be_gone` a file that is not there is not missed.
pks_status pks__rewrite_file(pks__staging *staging, const char *path, bool may_be_gone, pks_error *error);

#endif
