/// A seam that kills its process at a chosen call, like `kill -9` at that moment.
///
/// It wraps the machine's `pks_vfs` and counts every call that reaches the kernel. A kill before call n + 1 equals a
/// kill after call n. So every moment is before a call, within a write, or after the last call.
#ifndef TORTURE_KILLER_H
#define TORTURE_KILLER_H

#include <stdatomic.h>

#include "platform/vfs_posix.h"

typedef struct killer {
  _Atomic(uint64_t) calls;
  uint64_t kill_at;  ///< before this call, counted from 1; 0: never
  uint32_t
    part;  ///< bytes of a write that are written first: 0 none, 1 the first one, 2 half, 3 all except the last one
  bool skips_syncs;               ///< only counts them: a kill loses no written data, so they make no difference
  _Atomic(uint32_t) *was_killed;  ///< set before the kill; may be NULL
  uint8_t *kinds;  ///< kind of each call, up to the capacity: 1 for a write of two or more bytes; may be NULL
  uint64_t kind_capacity;
  pks_vfs vfs;  ///< the seam; `killer_arm` fills it
} killer;

/// Initializes `killer->vfs`. The killer must not move while that is in use.
void killer_arm(killer *killer);

#endif
