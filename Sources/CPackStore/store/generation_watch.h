/// Detects a store's new generations by a few loads.
///
/// Every commit writes a slot of `CONTROL` with a generation number above all earlier ones. If a mapping shows the writes of other
/// processes, the numbers in the first copies of both slots are read in place. They are hints: the only conclusion is that
/// unchanged numbers mean an unchanged file. For any other result, the control file is read and checked.
///
/// Settled is a number G when a checked reading of the file found G to be the current generation and neither slot with a
/// higher number in it. From there each commit leads to a slot with a higher one, and no slot comes to hold G that did
/// not hold it before. A copy that is damaged, or that counted before the machine started again, may hold a higher number
/// already: then nothing is settled, and every look reads the file until a commit has written that slot.
///
/// A store whose control file cannot be mapped, or not with profit, is read at every look.
///
/// Threads: any number may look and settle at once.
#ifndef PKS_STORE_GENERATION_WATCH_H
#define PKS_STORE_GENERATION_WATCH_H

#include "store/control.h"

typedef struct pks__generation_watch {
  const pks_vfs *vfs;
  const uint8_t *control;  ///< `CONTROL`, mapped; NULL: not
  uint64_t settled;        ///< atomic; 0: nothing is
} pks__generation_watch;

/// Begins to watch an open control file. Cannot fail: what cannot be mapped is read.
void pks__generation_watch_open(pks__generation_watch *out, const pks_vfs *vfs, pks_vfs_file control);
void pks__generation_watch_close(pks__generation_watch *watch);  ///< a zeroed one is fine

/// The newest generation if it is the settled one still; 0: the control file has to be read.
uint64_t pks__generation_watch_newest(const pks__generation_watch *watch);
/// Takes note of a reading.
void pks__generation_watch_settle(pks__generation_watch *watch, const pks__control *control);

#endif
