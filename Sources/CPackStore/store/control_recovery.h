/// What a damaged slot of the control file hid: a generation that is known by its own file is adopted.
///
/// A commit makes its generation's file durable under its final name before it writes a slot, and the file says all that
/// the slot does: whether the commit is durable, on which machine start it was made, in which store, and which generation
/// was in the slot that it left alone, its *predecessor*. So when both copies of a slot are lost, the intact slot and the
/// files of `index/` say what it held:
///
///   intact slot durable   the lost one held its successor, or something older that nothing needs. Adopted is the file of
///                         the highest number that is above the intact slot's, has that as its predecessor, is of this
///                         store, and counts: durable, or atomic and made since the machine was started.
///   intact slot atomic    the lost one held its predecessor, for a durable generation stays in its slot until its
///                         successor is durable. That very file is adopted, if it is durable and of this store. So the
///                         last
///                         durable generation is found after a restart as well.
///
/// A file is judged by its own sum and by the lengths and trailers of the runs that it names: no segment is opened. Every
/// reader and every writer sees the adopted slot as if it stood in the control file; readers write nothing, and writers
/// write it there before they begin to commit. Why nothing wrong is adopted:
///   - A commit that fails unlinks its generation's file before it does anything else, unless its slot may last; then old
///     and new are both whole, as after a crash.
///   - A commit that a crash ended leaves a file that may be adopted later: the new generation, whole.
///   - What a repair left behind has lower numbers than what it made.
///   - An atomic generation from before a restart does not count. One that is adopted is in doubt, as its slot may
///     have been.
///
/// A slot with one damaged copy whose other copy says something older than the intact slot may have lost the new
/// content of the damaged one, if a crash kept the other from being written. There, too, what succeeds is adopted; but
/// when there is nothing, then nothing was hidden: that commit was never confirmed.
///
/// What cannot be adopted may be a commit that was confirmed and is lost. Such a store opens at the intact slot's
/// generation, `pks_store_check_control` says so, and writing is refused until a repair has settled it: the next commit
/// would make the loss final.
#ifndef PKS_STORE_CONTROL_RECOVERY_H
#define PKS_STORE_CONTROL_RECOVERY_H

#include "store/state.h"

/// Reads the control file, and adopts what its damage hides. Errors as of `pks__control_read`, and OUT_OF_MEMORY.
pks_status pks__store_read_control(pks_store *store, pks__control *out, pks_error *error);

/// Reads the control file for a writer, who holds the writer's lock, and mends it where it is damaged or a crash cut a
/// write. CORRUPT when it may hide a commit that could not be found.
pks_status pks__store_ready_control(pks_store *store, pks__control *out, pks_error *error);

#endif
