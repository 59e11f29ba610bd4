/// Which segments to empty, and whose layouts that changes.
///
/// A segment goes as a whole file, once no version needs any of it. One of which little is needed is *emptied*: what is
/// needed is stored again, and all versions that lead to it are laid out again without it. Those come first of which most
/// goes for what must be copied.
///
/// A data segment is worth emptying if a frame of it is dead or sparse (`chunk_use.h`); so when none is left, dead bytes lie
/// only in frames of which three quarters are needed. A metadata segment is, if more than a quarter of its stored bytes are
/// dead: each layout that is written leaves the old one's root behind, so that a stricter rule would never end. A data
/// segment that layouts list and of which nothing is needed is emptied on request alone, for versions must be laid out again.
///
/// The data segments of one plan lie in one place: among the store's files, or in the cache folder, where they are one
/// purgeable pack's. What is copied stays there. A purgeable segment is emptied only if all is there that is needed of it.
///
/// Where versions are laid out again in any case, metadata segments that no others lead to are emptied with them.
///
/// Segments that the index has and no version leads to are left to go as they are: a reader may hold them for a while. Versions
/// that are laid out again avoid them like those that are emptied. So a segment that was emptied never comes back, and emptying
/// ends: each plan has fewer of the segments to choose from that were there before, and new ones have no dead frames.
#ifndef PKS_SPACE_EVACUATION_PLAN_H
#define PKS_SPACE_EVACUATION_PLAN_H

#include "space/chunk_use.h"

/// A version of a snapshot.
typedef struct pks__planned_version {
  uint32_t pack;     ///< as in `pks__generation_any_pack`
  uint32_t version;  ///< of the pack, 0 the current one
} pks__planned_version;

typedef struct pks__evacuation_limits {
  const pks__scratch *packs;  ///< names, NUL-terminated: only segments that these lead to; NULL: all segments
  uint64_t copy_bytes;        ///< that may be copied at most
  uint64_t crowded_bytes;     ///< instead, where the segments take over 5/4 of what is needed of them; 0: no more
  uint64_t cache_bytes;       ///< of them, to the cache folder; UINT64_MAX: no limit
  bool only_worthwhile;       ///< only segments of which at least as much goes as is copied
  bool any_place;             ///< of all places, for a plan that is not carried out
} pks__evacuation_limits;

typedef struct pks__evacuation_plan {
  pks__segment_set victims;  ///< data and metadata segments to empty
  pks__segment_set avoided;  ///< these, and those that no version leads to
  pks__scratch versions;     ///< pks__planned_version: all that lead to them, in order of packs, current ones first
  pks__chunk_use use;        ///< of the segments that were looked at
  bool is_purgeable;         ///< the data segments lie in the cache folder
  uint32_t pack;             ///< then: whose they are, as in `pks__generation_any_pack`
  uint64_t copy_bytes;       ///< about what must be stored again
  uint64_t free_bytes;       ///< about how much less that is than the segments take
} pks__evacuation_plan;

/// Makes a plan; nothing is to be emptied when it has no victims. What damage hides is no victim. The plan is to be freed,
/// also after an error. Time: a page for each version, and what `chunk_use.h` says of versions that lead to segments which
/// are looked at.
pks_status pks__evacuation_plan_make(
  pks__evacuation_plan *out, pks_snapshot *snapshot, const pks__evacuation_limits *limits, pks__scratch_folder *home,
  pks_error *error
);
void pks__evacuation_plan_free(pks__evacuation_plan *plan);  ///< a zeroed one is fine

#endif
