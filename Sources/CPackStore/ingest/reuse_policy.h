/// Which stored copies of chunks and pages a new layout may refer to.
///
/// - Copies in durable segments, for any pack; of chunks, those in the base, and in remote segments, too.
/// - Copies in purgeable segments, only for a purgeable pack, if a layout of one of its own versions contains the segment and the
///   bytes exist now. Missing data then affects only one pack, and a new version is complete when it is committed. A version that
///   is only laid out again continues without missing data.
/// - Nothing in segments whose file is lost (`segment_files.h`).
/// - Nothing in segments to be *avoided*: their needed data is stored again, elsewhere.
///
/// A record of the current version that refers to anything else gets a new one, though its asset did not change: the asset is
/// *relaid*.
#ifndef PKS_INGEST_REUSE_POLICY_H
#define PKS_INGEST_REUSE_POLICY_H

#include "read/namespace.h"
#include "segment/segment_set.h"
#include "store/chunk_lookup.h"

typedef struct pks__reuse_policy {
  bool purgeable;      ///< the pack is purgeable: its data is stored in the cache folder
  bool is_limited;     ///< records of the current version may refer to data that must not be used
  bool has_losses;     ///< files that the current version needs are lost
  bool lacks_pages;    ///< pages of the current version's catalog or layout are lost: the index alone lists its paths
  bool keeps_missing;  ///< the version continues without missing data: `pks__reuse_policy_find_chunk`
  const pks_snapshot *base;
  pks__segment_set own;             ///< segments in the pack's layouts that are not among the store's files
  pks__scratch own_lengths;         ///< uint64_t by index in `own`: existing bytes of the file
  const pks__segment_set *avoided;  ///< NULL: none
} pks__reuse_policy;

/// The copies that a version of `pack` may refer to. `purgeable` is the pack's new placement. `avoided` may be NULL, and must
/// outlive the result, which must be freed also after an error.
pks_status pks__reuse_policy_open(
  pks__reuse_policy *out, pks_snapshot *base, const char *pack, bool purgeable, const pks__segment_set *avoided,
  pks__scratch_folder *home, pks_error *error
);
void pks__reuse_policy_free(pks__reuse_policy *reuse_policy);  ///< a zeroed one is fine

/// Whether the copy of a chunk in row `row` may be used; a copy known to be damaged may not. Needs the segment's table. With
/// `may_lack`, copies in the pack's own layouts may be used even if their bytes are missing.
bool pks__reuse_policy_allows(
  const pks__reuse_policy *reuse_policy, pks__segment *segment, uint32_t row, bool may_lack
);

/// Whether all frames that a record of the base refers to may be. What cannot be read is not relied on.
pks_status pks__reuse_policy_allows_record(
  const pks__reuse_policy *reuse_policy, pks_snapshot *base, const pks__hit *hit, bool *allows, pks_error *error
);

/// Like `pks__snapshot_find_chunk`, among the copies that may be used; with `keeps_missing`, if none exists, among copies with
/// missing bytes.
pks_status pks__reuse_policy_find_chunk(
  const pks__reuse_policy *reuse_policy, pks_snapshot *base, const pks__id *id, pks__segment_kind kind,
  pks__chunk_ref *out, bool *found, pks_error *error
);

#endif
