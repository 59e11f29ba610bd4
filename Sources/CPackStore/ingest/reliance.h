/// Which stored copies of chunks and pages a new layout may refer to.
///
/// - Copies in durable segments, for any pack; of chunks, those in the base, and in remote segments, too.
/// - Copies in purgeable segments for a purgeable pack alone, if a layout of one of its own versions names the segment, and the
///   bytes are there now: so what vanishes costs one pack, and a version that is made is whole when it is committed. A version
///   that is only laid out otherwise goes on without what is gone.
/// - Nothing in segments whose file is lost (`segment_files.h`).
/// - Nothing in segments that are to be *avoided*: what is needed of them is to be stored again, elsewhere.
///
/// A record of the current version that refers to anything else gets a new one, though its asset did not change: the asset is
/// *relaid*.
#ifndef PKS_INGEST_RELIANCE_H
#define PKS_INGEST_RELIANCE_H

#include "read/namespace.h"
#include "segment/segment_set.h"
#include "store/chunk_lookup.h"

typedef struct pks__reliance {
  bool purgeable;      ///< the pack is: what is stored for it goes to the cache folder
  bool is_limited;     ///< records of the current version may refer to what may not be relied on
  bool has_losses;     ///< files that the current version needs are lost
  bool lacks_pages;    ///< pages of the current version's catalog or layout are lost: the index alone lists its paths
  bool keeps_missing;  ///< the version goes on without what is gone: `pks__reliance_find_chunk`
  const pks_snapshot *base;
  pks__segment_set own;      ///< segments that layouts of the pack name, and that do not lie among the store's files
  pks__scratch own_lengths;  ///< uint64_t by index in `own`: bytes of the file that are there
  const pks__segment_set *avoided;  ///< NULL: none
} pks__reliance;

/// What a version of `pack` may refer to. `purgeable` says how the pack is to be placed. `avoided` may be NULL, and outlives the
/// result, which is to be freed also after an error.
pks_status pks__reliance_open(
  pks__reliance *out, pks_snapshot *base, const char *pack, bool purgeable, const pks__segment_set *avoided,
  pks__scratch_folder *home, pks_error *error
);
void pks__reliance_free(pks__reliance *reliance);  ///< a zeroed one is fine

/// Whether the copy of a chunk in row `row` may be referred to; none that is known to be damaged may. Needs the segment's table.
/// With `may_lack`, what the pack's own layouts name may be referred to though its bytes be gone.
bool pks__reliance_allows(const pks__reliance *reliance, pks__segment *segment, uint32_t row, bool may_lack);

/// Whether all frames that a record of the base refers to may be. What cannot be read is not relied on.
pks_status pks__reliance_allows_record(
  const pks__reliance *reliance, pks_snapshot *base, const pks__hit *hit, bool *allows, pks_error *error
);

/// As `pks__snapshot_find_chunk`, among the copies that may be referred to; with `keeps_missing`, where there is none, among
/// those of which the bytes are gone.
pks_status pks__reliance_find_chunk(
  const pks__reliance *reliance, pks_snapshot *base, const pks__id *id, pks__segment_kind kind, pks__chunk_ref *out,
  bool *found, pks_error *error
);

#endif
