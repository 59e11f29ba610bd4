/// Locks: who writes, who reads which generation, who stages.
///
/// All are open-file-description locks on bytes of `LOCK`; the kernel drops them however their holder ends.
///   byte 0                      the writer, exclusive, while it commits
///   byte g, 0 < g < 2^62        readers of generation g, shared
///   byte 2^62 + session id      a staging session, exclusive, while `tmp/<session id>/` is in use
/// The file's text names the last writer, for messages; nobody relies on it.
#ifndef PKS_PINS_H
#define PKS_PINS_H

#include "status.h"
#include "vfs.h"

#define PKS__LOCK_FILE "LOCK"

enum { PKS__SESSION_BITS = 60 };
#define PKS__SESSIONS_BEGIN ((uint64_t)1 << 62)

/// Takes the writer's lock, and notes who has it. BUSY when another has it and `wait` is false; `error->needed` is then
/// that process's id, or 0.
pks_status pks__pin_writer(const pks_vfs *vfs, pks__file lock, bool wait, pks_error *error);
void pks__unpin_writer(const pks_vfs *vfs, pks__file lock);

pks_status pks__pin_generation(const pks_vfs *vfs, pks__file lock, uint64_t generation, pks_error *error);
void pks__unpin_generation(const pks_vfs *vfs, pks__file lock, uint64_t generation);

/// Whether anybody reads a generation in [first, end): `*found` is one such.
pks_status pks__pinned_generation(
  const pks_vfs *vfs, pks__file lock, uint64_t first, uint64_t end, bool *pinned, uint64_t *found, pks_error *error
);

/// Takes a session's lock at once; `*taken` is false when a living process has it.
pks_status pks__pin_session(const pks_vfs *vfs, pks__file lock, uint64_t session, bool *taken, pks_error *error);
void pks__unpin_session(const pks_vfs *vfs, pks__file lock, uint64_t session);

#endif
