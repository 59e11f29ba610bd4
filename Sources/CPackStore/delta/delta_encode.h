/// Encodes a group of new bytes: selects its prefix and its covers for the smallest result.
///
/// A fast encoder tries the alternatives; the slow one runs once, or twice at the highest levels.
#ifndef PKS_DELTA_DELTA_ENCODE_H
#define PKS_DELTA_DELTA_ENCODE_H

#include "delta/delta_prefix.h"

/// How much work to do.
typedef struct pks__delta_effort {
  int level;
  uint32_t prefix_max;  ///< bytes of a prefix
  uint32_t far_max;     ///< ranges of A in a prefix that are not where the group's chunks replace others
  bool tries_both;      ///< with and without covers, by the slow encoder
  bool fits;            ///< an exact index, and fitted prefixes
  bool only_copies;     ///< no prefixes: a group is copies and literals, or stored raw
} pks__delta_effort;

/// Returns the effort for a level, 1 to 22.
pks__delta_effort pks__delta_effort_make(int level);

typedef struct pks__group_encoder pks__group_encoder;

/// An encoder for one thread at a time. Plan and index outlive it. NULL when memory is short.
PKS_NODISCARD pks__group_encoder *pks__group_encoder_create(
  const pks__delta_plan *plan, const pks__delta_index *index, const pks__delta_effort *effort, uint32_t group_max
);
void pks__group_encoder_destroy(pks__group_encoder *encoder);  ///< NULL is fine

/// Room that the stored form of a group needs at most.
static inline size_t pks__group_stored_max(uint32_t raw_length) {
  return (size_t)raw_length + PKS__DELTA_GROUP_START_MAX + 2;
}

/// Reads and encodes a group. Depends only on plan, group, effort and libzstd's version. `*prefix_length` is the length of the
/// selected prefix. Errors: CORRUPT, PURGED, IO_ERROR, OUT_OF_MEMORY.
pks_status pks__group_encode(
  pks__group_encoder *encoder, const pks__planned_group *group, uint8_t *out, size_t *stored_length,
  uint32_t *prefix_length, pks_error *error
);

#endif
