/// The merged namespace: which record a path means.
///
/// Every pack contributes its paths. Among packs with the same path, the lowest rank (first in the generation's order) wins. A file
/// or link of one pack and a folder of another at the same path conflict in the same way: the lower rank wins, and the loser is
/// hidden. Folders never conflict: they merge. Within one pack, the newest run with the path decides.
#ifndef PKS_READ_NAMESPACE_H
#define PKS_READ_NAMESPACE_H

#include "read/run_merge.h"

/// The record that `path` means in the whole namespace (`rank` PKS_ANY_PACK) or in one pack, without regard to files
/// that stand where others need folders.
pks_status pks__namespace_find(
  pks_snapshot *snapshot, const char *path, size_t length, uint32_t rank, pks__hit *out, bool *found, pks_error *error
);

/// Whether a file or link at a folder above `path`, of a pack that wins over `rank`, hides it. `*by` is the winner and
/// `*by_length` how much of `path` it is.
pks_status pks__namespace_hidden_by_file(
  pks_snapshot *snapshot, const char *path, size_t length, uint32_t rank, bool *hidden, pks__hit *by, size_t *by_length,
  pks_error *error
);

/// Whether something below `path`, of a pack that wins over `rank`, needs a folder where `rank` has a file or link.
pks_status pks__namespace_hidden_by_folder(
  pks_snapshot *snapshot, const char *path, size_t length, uint32_t rank, bool *hidden, uint32_t *by_rank,
  pks_error *error
);

/// Returns a public asset for a record. The caller states how long `path` is borrowed.
pks_asset pks__namespace_asset(const pks_snapshot *snapshot, const pks__hit *hit, const char *path, size_t length);

/// The record behind an asset again. The asset is a file or link of this snapshot. FORKED in a forked child: each call
/// that takes an asset begins here.
pks_status pks__namespace_record(const pks_asset *asset, pks__hit *out, pks_error *error);

/// The record behind a file. WRONG_KIND for anything else.
pks_status pks__namespace_file(const pks_asset *asset, pks__hit *out, pks_error *error);

/// Names the asset, too, in an error that names a segment. Returns `status`.
pks_status pks__namespace_blame(pks_status status, const pks_asset *asset, pks_error *error);

#endif
