/// The generation that a damaged slot of the control file may have named: a newer one than the store shows.
///
/// A slot that fails its sum was torn by a crash, in the middle of a commit, or damaged after it: then a commit that was
/// acknowledged does not show. In either case all files of its generation may be there, and showing them is right: after a
/// crash in that moment, new is as good as old.
///
/// But the files of an atomic commit were never synced. A generation is *trusted* when the slot says of it that it was
/// durable, or made since the machine was started; the first sector of the slot says so, whole or not at all unless it is
/// damaged. Of any other one every byte must be checked before anything relies on it.
#ifndef PKS_NEWER_H
#define PKS_NEWER_H

#include "store.h"

typedef struct pks__newer {
  uint64_t number;  ///< 0: there is none
  bool is_trusted;
} pks__newer;

/// Looks for a newer generation than the one that `control` shows, of which file, runs and segments are there. Damage of
/// it means that there is none.
pks_status pks__newer_find(pks_store *store, const pks__control *control, pks__newer *out, pks_error *error);

#endif
