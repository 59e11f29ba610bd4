/// Cursors: folders of the merged namespace, in order.
///
/// A cursor steps through the merged groups below its folder. For each group it determines the winner, including files in the place
/// of other packs' folders (`namespace.h`). Children are found by skipping: after an implied folder the walk seeks to the first
/// path after it.
#include "base/memory.h"
#include "read/namespace.h"

struct pks_cursor {
  pks__run_merge merge;
  pks_walk walk;
  uint32_t rank;  ///< the pack it is limited to, or PKS_ANY_PACK
  char *folder;   ///< with a slash at the end, unless it is the root
  size_t folder_length;
  bool has_group;  ///< PKS_CONFLICTS: losers of the present group are left
  uint32_t next_loser;
  pks__hit winner;
  char *winner_path;  ///< for the caller
  size_t winner_length;
  char *returned;  ///< the path handed out
};

static pks_status seek(pks_cursor *cursor, const char *path, size_t length, pks_error *error) {
  return pks__run_merge_seek(&cursor->merge, path, length, error);
}

/// Checks that the folder exists; the root always does.
static pks_status check_folder(
  const pks_snapshot *snapshot, const char *folder, size_t length, uint32_t pack, pks_error *error
) {
  if (length == 0) { return PKS_OK; }
  pks_asset asset;
  pks_status status = pks_snapshot_find(&asset, snapshot, folder, length, pack, error);
  if (status || asset.kind == PKS_FOLDER) { return status; }
  return pks__fail_at_path(error, PKS_WRONG_KIND, "not a folder", folder, length);
}

static pks_status allocate_paths(pks_cursor *cursor, const char *folder, size_t length, pks_error *error) {
  cursor->folder = pks__allocate(length + 1);
  cursor->winner_path = pks__allocate(PKS__PATH_MAX + 1);
  cursor->returned = pks__allocate(PKS__PATH_MAX + 1);
  if (!cursor->folder || !cursor->winner_path || !cursor->returned) { return pks__fail_memory(error); }
  if (length > 0) {
    memcpy(cursor->folder, folder, length);
    cursor->folder[length] = '/';
    cursor->folder_length = length + 1;
  }
  return PKS_OK;
}

pks_status pks_cursor_open(
  pks_cursor **out, const pks_snapshot *snapshot, const char *folder, size_t folder_length, uint32_t pack,
  pks_walk walk, pks_error *error
) {
  pks_status status = pks__store_check_process(snapshot->store, error);
  if (!status) { status = check_folder(snapshot, folder, folder_length, pack, error); }
  if (status) { return status; }
  pks_cursor *cursor = pks__allocate_zeroed(1, sizeof *cursor);
  if (!cursor) { return pks__fail_memory(error); }
  cursor->walk = walk;
  cursor->rank = pack;
  status = allocate_paths(cursor, folder, folder_length, error);
  if (!status) { status = pks__run_merge_open(&cursor->merge, pks__snapshot_mutable(snapshot), error); }
  if (!status) { status = seek(cursor, cursor->folder, cursor->folder_length, error); }
  if (status) {
    pks_cursor_close(cursor);
    return status;
  }
  // The snapshot outlives the cursor as the caller promises; nothing to retain.
  *out = cursor;
  return PKS_OK;
}

void pks_cursor_close(pks_cursor *cursor) {
  if (!cursor) { return; }
  pks__run_merge_close(&cursor->merge);
  pks__free(cursor->folder);
  pks__free(cursor->winner_path);
  pks__free(cursor->returned);
  pks__free(cursor);
}

// MARK: - Groups

/// The next group below the folder.
static pks_status next_group(pks_cursor *cursor, bool *more, pks_error *error) {
  return pks__run_merge_next_within(&cursor->merge, cursor->folder, cursor->folder_length, more, error);
}

static void set_winner(pks_cursor *cursor, const pks__hit *winner, size_t length) {
  cursor->winner = *winner;
  cursor->winner_length = length;
  memcpy(cursor->winner_path, cursor->merge.path, length);
}

/// Decides who wins the present group. `*loser` is the first hit that loses; hits before it win.
static pks_status judge(pks_cursor *cursor, uint32_t *loser, pks_error *error) {
  pks__run_merge *merge = &cursor->merge;
  const pks__hit *best = &merge->hits[0];
  set_winner(cursor, best, merge->path_length);
  *loser = 1;
  if (!merge->snapshot->generation.has_shadows) { return PKS_OK; }
  bool hidden;
  pks__hit by;
  size_t by_length;
  uint32_t by_rank;
  pks_status status = pks__namespace_hidden_by_file(
    merge->snapshot, merge->path, merge->path_length, best->rank, &hidden, &by, &by_length, error
  );
  if (status) { return status; }
  if (hidden) {
    set_winner(cursor, &by, by_length);
    *loser = 0;
    return PKS_OK;
  }
  if (best->entry.kind == PKS__RECORD_FOLDER) { return PKS_OK; }
  status = pks__namespace_hidden_by_folder(
    merge->snapshot, merge->path, merge->path_length, best->rank, &hidden, &by_rank, error
  );
  if (!status && hidden) {
    cursor->winner.rank = by_rank;
    cursor->winner.entry.kind = PKS__RECORD_FOLDER;
    *loser = 0;
  }
  return status;
}

/// The hit that the walk shows of the present group, or NULL.
static pks_status visible_hit(pks_cursor *cursor, const pks__hit **out, pks_error *error) {
  pks__run_merge *merge = &cursor->merge;
  *out = NULL;
  if (cursor->rank != PKS_ANY_PACK) {
    for (uint32_t i = 0; i < merge->hit_count; i++) {
      if (merge->hits[i].rank == cursor->rank) { *out = &merge->hits[i]; }
    }
    return PKS_OK;
  }
  uint32_t loser;
  pks_status status = judge(cursor, &loser, error);
  if (!status && loser > 0) { *out = &merge->hits[0]; }
  return status;
}

// MARK: - Walks

/// Hands out the path of the group, which may move with the next call.
static const char *hand_out(pks_cursor *cursor, size_t length) {
  memcpy(cursor->returned, cursor->merge.path, length);
  return cursor->returned;
}

/// Moves to the next group with a hit that the walk shows.
static pks_status next_visible(pks_cursor *cursor, const pks__hit **hit, bool *more, pks_error *error) {
  pks_status status;
  *hit = NULL;
  do {
    status = next_group(cursor, more, error);
    if (status || !*more) { return status; }
    status = visible_hit(cursor, hit, error);
  } while (!status && !*hit);
  return status;
}

static pks_status next_descendant(pks_cursor *cursor, pks_entry *out, bool *more, pks_error *error) {
  const pks__hit *hit;
  pks_status status = next_visible(cursor, &hit, more, error);
  if (status || !*more) { return status; }
  size_t length = cursor->merge.path_length;
  *out = (pks_entry){.asset = pks__namespace_asset(cursor->merge.snapshot, hit, hand_out(cursor, length), length)};
  return PKS_OK;
}

/// Seeks behind everything below the child folder that ends at `slash` of the group's path.
static pks_status skip_folder(pks_cursor *cursor, size_t slash, pks_error *error) {
  char after[PKS__PATH_MAX + 1];
  memcpy(after, cursor->merge.path, slash);
  after[slash] = '/' + 1;
  return seek(cursor, after, slash + 1, error);
}

/// Whether a pack has the child folder as an entry of its own: the walk has shown it already.
static pks_status has_explicit_folder(pks_cursor *cursor, size_t length, bool *is_explicit, pks_error *error) {
  pks__hit hit;
  pks_status status =
    pks__namespace_find(cursor->merge.snapshot, cursor->merge.path, length, cursor->rank, &hit, is_explicit, error);
  *is_explicit = !status && *is_explicit && hit.entry.kind == PKS__RECORD_FOLDER;
  return status;
}

static pks_status next_child(pks_cursor *cursor, pks_entry *out, bool *more, pks_error *error) {
  for (;;) {
    const pks__hit *hit;
    pks_status status = next_visible(cursor, &hit, more, error);
    if (status || !*more) { return status; }
    const char *rest = cursor->merge.path + cursor->folder_length;
    const char *slash = memchr(rest, '/', cursor->merge.path_length - cursor->folder_length);
    if (!slash) {
      size_t length = cursor->merge.path_length;
      *out = (pks_entry){
        .asset = pks__namespace_asset(cursor->merge.snapshot, hit, hand_out(cursor, length), length),
        .name_offset = (uint32_t)cursor->folder_length,
      };
      return PKS_OK;
    }
    size_t length = (size_t)(slash - cursor->merge.path);
    bool is_explicit;
    status = has_explicit_folder(cursor, length, &is_explicit, error);
    if (status) { return status; }
    if (is_explicit) {
      status = skip_folder(cursor, length, error);
      if (status) { return status; }
      continue;
    }
    *out = (pks_entry){
      .asset =
        {
          .snapshot = cursor->merge.snapshot,
          .path = hand_out(cursor, length),
          .path_length = (uint32_t)length,
          .kind = PKS_FOLDER,
          .pack = PKS_ANY_PACK,
        },
      .name_offset = (uint32_t)cursor->folder_length,
    };
    return skip_folder(cursor, length, error);
  }
}

/// Whether the next loser and its winner are folders at one path, which merge rather than contest.
static bool is_merged_folder(const pks_cursor *cursor) {
  const pks__hit *loser = &cursor->merge.hits[cursor->next_loser];
  return loser->entry.kind == PKS__RECORD_FOLDER && cursor->winner.entry.kind == PKS__RECORD_FOLDER
    && cursor->winner_length == cursor->merge.path_length;
}

static pks_status next_conflict(pks_cursor *cursor, pks_entry *out, bool *more, pks_error *error) {
  for (;;) {
    if (!cursor->has_group) {
      pks_status status = next_group(cursor, more, error);
      if (status || !*more) { return status; }
      status = judge(cursor, &cursor->next_loser, error);
      if (status) { return status; }
      cursor->has_group = true;
    }
    while (cursor->next_loser < cursor->merge.hit_count && is_merged_folder(cursor)) { cursor->next_loser++; }
    if (cursor->next_loser < cursor->merge.hit_count) { break; }
    cursor->has_group = false;
  }
  const pks__hit *loser = &cursor->merge.hits[cursor->next_loser++];
  size_t length = cursor->merge.path_length;
  *out = (pks_entry){
    .asset = pks__namespace_asset(cursor->merge.snapshot, loser, hand_out(cursor, length), length),
    .winner_pack = cursor->winner.rank,
    .winner_path = cursor->winner_path,
    .winner_path_length = (uint32_t)cursor->winner_length,
  };
  *more = true;
  return PKS_OK;
}

pks_status pks_cursor_next(pks_entry *out, bool *more, pks_cursor *cursor, pks_error *error) {
  pks_status status = pks__store_check_process(cursor->merge.snapshot->store, error);
  if (status) { return status; }
  switch (cursor->walk) {
    case PKS_CHILDREN: return next_child(cursor, out, more, error);
    case PKS_DESCENDANTS: return next_descendant(cursor, out, more, error);
    case PKS_CONFLICTS: return next_conflict(cursor, out, more, error);
  }
  return pks__fail(error, PKS_INVALID_ARGUMENT, "unknown kind of walk", NULL, PKS_NO_OFFSET);
}
