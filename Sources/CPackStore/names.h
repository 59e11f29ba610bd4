/// The merged namespace: which record a path means.
///
/// Every pack contributes its paths. Among packs that have a path the one of the lowest rank (first in the generation's
/// order) wins. A file or link and the folder that other packs need at the same path contest it in the same way:
/// whichever belongs to the lower rank wins, and the loser is hidden. Folders never contest: they merge. Within one
/// pack the newest run that speaks of a path decides.
#ifndef PKS_NAMES_H
#define PKS_NAMES_H

#include "store.h"

/// A record of a view.
typedef struct pks__hit {
  uint32_t run;
  uint32_t rank;
  pks__run_entry entry;
} pks__hit;

/// The record that `path` means in the whole namespace (`rank` PKS_ANY_PACK) or in one pack, without regard to files
/// that stand where others need folders.
pks_status pks__names_find(
  pks__view *view, const char *path, size_t length, uint32_t rank, pks__hit *out, bool *found, pks_error *error
);

/// Whether a file or link at a folder above `path`, of a pack that wins over `rank`, hides it. `*by` is the winner and
/// `*by_length` how much of `path` it is.
pks_status pks__names_hidden_by_file(
  pks__view *view, const char *path, size_t length, uint32_t rank, bool *hidden, pks__hit *by, size_t *by_length,
  pks_error *error
);

/// Whether something below `path`, of a pack that wins over `rank`, needs a folder where `rank` has a file or link.
pks_status pks__names_hidden_by_folder(
  pks__view *view, const char *path, size_t length, uint32_t rank, bool *hidden, uint32_t *by_rank, pks_error *error
);

/// A public asset of a record. `path` is on loan as the caller says.
pks_asset pks__names_asset(const pks__view *view, const pks__hit *hit, const char *path, size_t length);

/// The record behind an asset again. The asset is a file or link of this view. FORKED in a forked child: each call that
/// takes an asset begins here.
pks_status pks__names_record(const pks_asset *asset, pks__hit *out, pks_error *error);

/// The record behind a file. WRONG_KIND for anything else.
pks_status pks__names_file(const pks_asset *asset, pks__hit *out, pks_error *error);

/// Names the asset, too, in an error that names a segment. Returns `status`.
pks_status pks__names_blame(pks_status status, const pks_asset *asset, pks_error *error);

/// Walks all records of a view in order of paths, merged over runs: for each path and pack the newest.
typedef struct pks__merge_place {
  uint64_t offset;  ///< of the record in `entry`; the section's length at the end
  pks__run_entry entry;
} pks__merge_place;

typedef struct pks__merge {
  pks__view *view;
  pks__merge_place *places;  ///< one per run
  char *path;                ///< the path of the group, PKS__PATH_MAX bytes
  size_t path_length;
  pks__hit *hits;  ///< the group's records by rank, the absent ones left out
  uint32_t hit_count;
  uint32_t hit_capacity;
  bool keeps_absent;  ///< records that say "absent" are hits too
} pks__merge;

pks_status pks__merge_open(pks__merge *out, pks__view *view, pks_error *error);
void pks__merge_close(pks__merge *merge);  ///< a zeroed one is fine
/// Moves to the first path that is not before `path`.
pks_status pks__merge_seek(pks__merge *merge, const char *path, size_t length, pks_error *error);
/// The next path that some pack has: `path` and `hits`, best rank first. `*more` is false after the last.
pks_status pks__merge_next(pks__merge *merge, bool *more, pks_error *error);
/// The same, as long as paths begin with `prefix`; the merge stands at one that does, or behind all of them. Time grows
/// with the records of such paths, those of removed packs and removed assets included, and with no others.
pks_status pks__merge_next_within(pks__merge *merge, const char *prefix, size_t length, bool *more, pks_error *error);

#endif
