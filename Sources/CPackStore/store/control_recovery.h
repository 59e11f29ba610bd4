/// Recovery of a damaged slot of the control file: the generation is adopted from its own file.
///
/// A commit makes its generation's file durable under its final name before it writes a slot, and the file contains everything in
/// the slot: whether the commit is durable, the machine start and the store in which it was made, and the generation in the other
/// slot, its *predecessor*. So if both copies of a slot are lost, the intact slot and the files of `index/` determine its contents:
///
///   intact slot durable   the lost one contained its successor, or an older generation that nothing needs. The adopted file has
///                         the highest number above the intact slot's, has the latter as its predecessor, belongs to this store,
///                         and is valid: durable, or atomic and made since the machine was started.
///   intact slot atomic    the lost one contained its predecessor, because a durable generation stays in its slot until its
///                         successor is durable. Exactly that file is adopted, if it is durable and belongs to this store. So the
///                         last durable generation is found after a restart as well.
///
/// A file is checked by its own checksum and by the lengths and trailers of its runs: no segment is opened. Every reader and every
/// writer sees the adopted slot as if it were in the control file; readers write nothing, and writers write it there before they
/// begin to commit. Why nothing wrong is adopted:
///   - A commit that fails unlinks its generation's file before it does anything else, unless its slot may last; then old
///     and new are both whole, as after a crash.
///   - A commit that a crash ended leaves a file that may be adopted later: the new generation, whole.
///   - Leftovers of a repair have lower numbers than its result.
///   - An atomic generation from before a restart is invalid. An adopted one is in doubt, as its slot may have been.
///
/// A slot with one damaged copy, whose other copy is older than the intact slot, may have lost the new content of the damaged copy,
/// if a crash kept the other from being written. There, too, a successor is adopted; if none exists, nothing was hidden: that
/// commit was never confirmed.
///
/// A commit that cannot be adopted may have been confirmed and lost. Such a store opens at the intact slot's generation,
/// `pks_store_check_control` reports it, and writing is refused until a repair: the next commit would make the loss permanent.
#ifndef PKS_STORE_CONTROL_RECOVERY_H
#define PKS_STORE_CONTROL_RECOVERY_H

#include "store/state.h"

/// Reads the control file, and adopts commits hidden by its damage. Errors: as for `pks__control_read`, and OUT_OF_MEMORY.
pks_status pks__store_read_control(pks_store *store, pks__control *out, pks_error *error);

/// Reads the control file for a writer, who holds the writer's lock, and repairs damage and interrupted writes. CORRUPT if it may
/// hide a commit that could not be found.
pks_status pks__store_ready_control(pks_store *store, pks__control *out, pks_error *error);

#endif
