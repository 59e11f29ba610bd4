/// Selects the segments to empty, and the versions whose layouts change.
///
/// A segment file is deleted as a whole, once no version needs any of it. A segment of which little is needed is *emptied*: its
/// live data is stored again, and all versions that use it are laid out again without it. The segments that free the most per
/// copied byte come first.
///
/// A data segment is worth emptying if a frame of it is dead or sparse (`chunk_use.h`); so when none is left, dead bytes are only
/// in frames that are at least three quarters live. A metadata segment is worth emptying if more than a quarter of its stored bytes
/// are dead: each written layout leaves the old one's root behind, so a stricter rule would never end. A data segment that layouts
/// list although nothing in it is needed is emptied only on request, because versions must be laid out again.
///
/// The data segments of one plan are in one place: among the store's files, or in the cache folder, where they belong to one
/// purgeable pack. Copies stay in that place. A purgeable segment is emptied only if all of its needed data exists.
///
/// If versions are laid out again anyway, metadata segments that no other versions use are emptied with them.
///
/// Segments in the index that no version uses are left alone, because a reader may retain them for a while. Versions that are laid
/// out again avoid them like emptied ones. So an emptied segment never comes back, and emptying ends: each plan has fewer of the
/// earlier segments to choose from, and new ones have no dead frames.
#ifndef PKS_SPACE_EVACUATION_PLAN_H
#define PKS_SPACE_EVACUATION_PLAN_H

#include "space/chunk_use.h"

/// A version of a snapshot.
typedef struct pks__planned_version {
  uint32_t pack;     ///< as in `pks__generation_any_pack`
  uint32_t version;  ///< version of the pack, 0 the current one
} pks__planned_version;

typedef struct pks__evacuation_limits {
  const pks__scratch *packs;  ///< names, NUL-terminated: only segments that these lead to; NULL: all segments
  uint64_t copy_bytes;        ///< that may be copied at most
  uint64_t crowded_bytes;     ///< used instead if the segments use over 5/4 of their live data's size; 0: no more
  uint64_t cache_bytes;       ///< of them, to the cache folder; UINT64_MAX: no limit
  bool only_worthwhile;       ///< only segments that free at least as much as is copied
  bool any_place;             ///< segments of all places, for a plan that is not executed
} pks__evacuation_limits;

typedef struct pks__evacuation_plan {
  pks__segment_set victims;  ///< data and metadata segments to empty
  pks__segment_set avoided;  ///< these, and segments that no version uses
  pks__scratch versions;     ///< pks__planned_version: all that lead to them, in order of packs, current ones first
  pks__chunk_use use;        ///< needs in the examined segments
  bool is_purgeable;         ///< the data segments are in the cache folder
  uint32_t pack;             ///< then: whose they are, as in `pks__generation_any_pack`
  uint64_t copy_bytes;       ///< approximate bytes to store again
  uint64_t free_bytes;       ///< about how much less that is than the segments take
} pks__evacuation_plan;

/// Makes a plan; without victims, nothing is to be emptied. Segments with hidden needs are not victims. The plan must be freed,
/// also after an error. Time: a page for each version, and the time in `chunk_use.h` for versions that use examined segments.
pks_status pks__evacuation_plan_make(
  pks__evacuation_plan *out, pks_snapshot *snapshot, const pks__evacuation_limits *limits, pks__scratch_folder *home,
  pks_error *error
);
void pks__evacuation_plan_free(pks__evacuation_plan *plan);  ///< a zeroed one is fine

#endif
