/// The contents of a delta: version B in terms of version A, and the bytes that A lacks.
///
/// Chunks of B are searched in A by id, at any place: renamed, moved or joined data costs nothing. New data is recorded with the
/// place in A of the data it replaces, where the encoder first searches for similarities.
#ifndef PKS_DELTA_DELTA_PLAN_H
#define PKS_DELTA_DELTA_PLAN_H

#include "delta/delta_copies.h"
#include "delta/version_list.h"

/// New bytes between chunks that are kept.
typedef struct pks__new_stretch {
  uint64_t begin, end;          ///< among the new bytes
  uint64_t old_begin, old_end;  ///< positions in A of the replaced data; empty if unknown
} pks__new_stretch;

/// A group to be: chunks that are encoded together.
typedef struct pks__planned_group {
  uint64_t first_chunk;    ///< among the new ones
  uint64_t position;       ///< of its first byte among the new bytes
  uint64_t first_stretch;  ///< that reaches into it
  uint32_t chunk_count;
  uint32_t length;
} pks__planned_group;

/// Positions [begin, end) of A.
typedef struct pks__old_span {
  uint64_t begin, end;
} pks__old_span;

typedef struct pks__delta_plan {
  pks__version_list from, to;
  pks__scratch kept;  ///< uint8_t by row of A: whether a file of B refers to it; of equal chunks, to which it does
  pks__scratch description;  ///< bytes
  pks__scratch new_rows;     ///< uint64_t by number of the new chunk: its row in B
  pks__scratch stretches;    ///< pks__new_stretch
  pks__scratch groups;       ///< pks__planned_group
  pks__new_steps steps;      ///< of new bytes, as in the description
  uint64_t new_bytes;
  pks__scratch matches;  ///< how the entries of B stand to A: its own business
} pks__delta_plan;

/// Reads version B of `snapshot`. `home` may be NULL. To be closed, also after an error. Errors: CORRUPT, PURGED, NO_SPACE,
/// IO_ERROR, OUT_OF_MEMORY.
pks_status pks__delta_plan_open(
  pks__delta_plan *out, pks_snapshot *snapshot, const pks__version *to, pks__scratch_folder *home, pks_error *error
);
/// Compares version A, replacing the previous comparison. Time is linear in entries and chunks. Errors: INVALID_ARGUMENT (2^32
/// chunks or more), and as above.
pks_status pks__delta_plan_compare(pks__delta_plan *plan, const pks__version *from, pks_error *error);
/// Divides the new chunks into groups of at most `length_max` bytes, or one chunk. Replaces earlier groups.
pks_status pks__delta_plan_group(pks__delta_plan *plan, uint32_t length_max, pks_error *error);
/// Appends what B refers to no more of A, in order: pks__old_span. Spans that are near to each other are one.
pks_status pks__delta_plan_list_gone(const pks__delta_plan *plan, pks__scratch *out, pks_error *error);
void pks__delta_plan_close(pks__delta_plan *plan);  ///< a zeroed one is fine

#endif
