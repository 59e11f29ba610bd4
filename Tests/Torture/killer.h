/// A seam that kills its process at a chosen call, as `kill -9` just then would.
///
/// In front of the machine's `pks_vfs`, it counts every call that reaches the kernel. A kill before call n + 1 is a kill
/// after call n, so all moments are before some call, within a write, or after the last call.
#ifndef TORTURE_KILLER_H
#define TORTURE_KILLER_H

#include <stdatomic.h>

#include "platform/vfs_posix.h"

typedef struct killer {
  _Atomic(uint64_t) calls;
  uint64_t kill_at;  ///< before this call, the first being 1; 0: never
  uint32_t part;  ///< of a write: 0 nothing, 1 its first byte, 2 half of it, 3 all but the last byte are written first
  bool skips_syncs;  ///< counts them only: a kill loses nothing that was written, so they make no difference
  _Atomic(uint32_t) *was_killed;  ///< set before it happens; may be NULL
  uint8_t *kinds;  ///< of each call, where there is room: 1 for a write of two bytes and more; may be NULL
  uint64_t kind_capacity;
  pks_vfs vfs;  ///< the seam; `killer_arm` fills it
} killer;

/// Makes `killer->vfs` ready. The killer stays where it is as long as that is used.
void killer_arm(killer *killer);

#endif
