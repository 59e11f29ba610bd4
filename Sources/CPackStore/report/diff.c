/// Comparing two versions by their catalogs.
///
/// Both catalogs are in order of paths, so one walk through both finds every difference. Whether an added path was moved is known
/// only when all removed paths are: differences are held back until the walk ends, matched by content, and then reported in order
/// of paths, moves last.
///
/// A file's new chunks are also known only at the end, so its chunks are listed during the walk. A chunk counts for the first file
/// that has it.
///
/// Memory: the differences, and the ids of the chunks of both versions, about 65 bytes a chunk. It is in the heap: a reader has no
/// folder for temporary files.
#include "catalog/catalog.h"
#include "catalog/tree_cursor.h"
#include "codec/checksum.h"
#include "commit/transaction.h"
#include "packstore_admin.h"
#include "read/namespace.h"
#include "store/chunk_lookup.h"

/// A difference held back. `kind` and `change` are the values to report.
typedef struct held {
  pks_change change;
  pks_kind kind;
  uint64_t path;  ///< offset in `text`
  uint32_t path_length;
  uint32_t value_length;  ///< 0: cannot have moved
  uint64_t value;         ///< offset in `text` of the encoded entry
  uint64_t old_size, new_size;
  uint64_t first_chunk;  ///< in `listed`; the next difference's chunks follow
  uint32_t other;        ///< removed: the next of equal content; moved: the removed entry it was; or NONE
  bool is_moved_away;    ///< removed, but really moved: not reported by itself
} held;

#define NONE UINT32_MAX

/// Removed entries of equal content that are not matched yet, in order of paths.
typedef struct group {
  uint32_t first, last;
} group;

enum { IN_OLD = 1, IN_NEW = 2, COUNTED = 4 };

typedef struct known_chunk {
  pks__id id;
  uint32_t length;
  uint32_t versions;  ///< IN_OLD, IN_NEW; COUNTED: for a difference that was reported
} known_chunk;

/// One of the two catalogs, at its present entry.
typedef struct side {
  pks__page_source pages;
  pks__tree_cursor cursor;
  pks__catalog_entry entry;
  bool more;
} side;

typedef struct comparison {
  side old_side, new_side;
  pks__scratch held;       ///< struct held, in order of paths
  pks__scratch text;       ///< paths and values
  pks__scratch groups;     ///< struct group
  pks__hash_map by_value;  ///< key of a value -> group
  pks__scratch chunks;     ///< known_chunk
  pks__hash_map by_id;     ///< id -> index in `chunks`
  pks__scratch listed;     ///< uint32_t, index in `chunks`: the chunks of each difference
  pks_diff_totals totals;
} comparison;

// MARK: - Chunks

static const pks__id *known_id(const void *context, uint32_t index) {
  const comparison *c = context;
  return &PKS__SCRATCH_AT(&c->chunks, const known_chunk, index)->id;
}

/// Notes a chunk; `*index` is its place in `chunks`.
static pks_status note_chunk(
  comparison *c, const pks__catalog_chunk *chunk, uint32_t versions, uint32_t *index, pks_error *error
) {
  if (pks__hash_map_find_id(&c->by_id, &chunk->id, known_id, c, index)) {
    PKS__SCRATCH_AT(&c->chunks, known_chunk, *index)->versions |= versions;
    return PKS_OK;
  }
  uint64_t count = PKS__SCRATCH_COUNT(&c->chunks, known_chunk);
  if (count == UINT32_MAX) {
    return pks__fail_about(
      error, PKS_INVALID_ARGUMENT, PKS_DETAIL_LIMIT, PKS_SUBJECT_NONE, NULL, "too many chunks to compare"
    );
  }
  known_chunk row = {.id = chunk->id, .length = pks__get32(chunk->length), .versions = versions};
  *index = (uint32_t)count;
  pks_status status = pks__scratch_append(&c->chunks, &row, sizeof row, error);
  return status ? status : pks__hash_map_insert_id(&c->by_id, &chunk->id, *index, error);
}

static pks_status note_chunks(comparison *c, const side *side, uint32_t versions, pks_error *error) {
  const pks__catalog_entry *entry = &side->entry;
  if (entry->kind != PKS__RECORD_FILE) { return PKS_OK; }
  pks__chunk_cursor cursor;
  pks__chunk_cursor_init(&cursor, side->pages, entry);
  pks_status status = PKS_OK;
  for (bool more = true; !status && more;) {
    pks__catalog_chunk chunk;
    status = pks__chunk_cursor_next(&cursor, &chunk, &more, error);
    uint32_t index;
    if (!status && more) { status = note_chunk(c, &chunk, versions, &index, error); }
    bool is_listed = more && versions == IN_NEW;  // it is of the difference that was held last
    if (!status && is_listed) { status = pks__scratch_append(&c->listed, &index, sizeof index, error); }
  }
  pks__chunk_cursor_free(&cursor);
  return status;
}

static void count_chunks(comparison *c) {
  for (uint64_t i = 0; i < PKS__SCRATCH_COUNT(&c->chunks, known_chunk); i++) {
    const known_chunk *chunk = PKS__SCRATCH_AT(&c->chunks, const known_chunk, i);
    c->totals.chunk_count += (chunk->versions & IN_NEW) != 0;
    if (chunk->versions & IN_OLD) { continue; }
    c->totals.new_chunk_count++;
    c->totals.new_bytes += chunk->length;
  }
}

// MARK: - Holding differences back

/// Content that a move could be recognised by. Empty files and empty folders are all alike.
static bool has_content(const pks__catalog_entry *entry) {
  return entry->kind != PKS__RECORD_FOLDER && entry->size > 0;
}

static pks_status hold(
  comparison *c, pks_change change, const pks__catalog_entry *entry, uint64_t old_size, uint64_t new_size,
  pks_error *error
) {
  if (PKS__SCRATCH_COUNT(&c->held, held) == NONE) {
    return pks__fail_about(
      error, PKS_INVALID_ARGUMENT, PKS_DETAIL_LIMIT, PKS_SUBJECT_NONE, NULL, "too many differences"
    );
  }
  bool may_move = change != PKS_CHANGED && has_content(entry);
  held row = {
    .change = change,
    .kind = (pks_kind)entry->kind,
    .path = c->text.length,
    .path_length = (uint32_t)entry->path_length,
    .value = c->text.length + entry->path_length,
    .value_length = may_move ? (uint32_t)entry->value_length : 0,
    .old_size = old_size,
    .new_size = new_size,
    .first_chunk = PKS__SCRATCH_COUNT(&c->listed, uint32_t),
    .other = NONE,
  };
  pks_status status = pks__scratch_append(&c->text, entry->path, entry->path_length, error);
  if (!status) { status = pks__scratch_append(&c->text, entry->value, row.value_length, error); }
  return status ? status : pks__scratch_append(&c->held, &row, sizeof row, error);
}

// MARK: - Walking both catalogs

static pks_status step(side *side, pks_error *error) {
  pks_status status = pks__tree_cursor_next(&side->cursor, &side->more, error);
  return status || !side->more ? status : pks__catalog_entry_read(&side->cursor, &side->entry, error);
}

/// Which side is at the lower path: negative, the old one; 0, both.
static int compare_sides(const side *a, const side *b) {
  if (!a->more || !b->more) { return a->more ? -1 : 1; }
  const pks__catalog_entry *left = &a->entry, *right = &b->entry;
  return pks__compare_bytes(left->path, left->path_length, right->path, right->path_length);
}

/// Takes the lower path of the two sides, and moves on.
static pks_status take_lower(comparison *c, pks_error *error) {
  side *old_side = &c->old_side, *new_side = &c->new_side;
  const pks__catalog_entry *before = &old_side->entry, *now = &new_side->entry;
  int order = compare_sides(old_side, new_side);
  pks_status status = PKS_OK;
  if (order < 0) {
    status = hold(c, PKS_REMOVED, before, before->size, 0, error);
  } else if (order > 0) {
    status = hold(c, PKS_ADDED, now, 0, now->size, error);
  } else if (before->value_length == now->value_length && memcmp(before->value, now->value, now->value_length) == 0) {
    c->totals.unchanged++;
    status = note_chunks(c, new_side, IN_OLD | IN_NEW, error);
    if (!status) { status = step(old_side, error); }
    return status ? status : step(new_side, error);
  } else {
    status = hold(c, PKS_CHANGED, now, before->size, now->size, error);
  }
  if (!status && order <= 0) { status = note_chunks(c, old_side, IN_OLD, error); }
  if (!status && order >= 0) { status = note_chunks(c, new_side, IN_NEW, error); }
  if (!status && order <= 0) { status = step(old_side, error); }
  if (!status && order >= 0) { status = step(new_side, error); }
  return status;
}

static pks_status open_side(side *side, const pks__id *catalog, pks_error *error) {
  pks__catalog_info info;
  pks__tree map;
  pks_status status = pks__catalog_read_root(side->pages, catalog, &info, &map, error);
  if (status) { return status; }
  pks__tree_cursor_init(&side->cursor, side->pages, PKS__TREE_MAP, 0, &map);
  return step(side, error);
}

static pks_status walk_both(comparison *c, const pks__id *old_catalog, const pks__id *new_catalog, pks_error *error) {
  pks_status status = open_side(&c->old_side, old_catalog, error);
  if (!status) { status = open_side(&c->new_side, new_catalog, error); }
  while (!status && (c->old_side.more || c->new_side.more)) { status = take_lower(c, error); }
  return status;
}

/// A version compared with itself: nothing differs, and its chunks remain to be counted.
static pks_status walk_one(comparison *c, const pks__id *catalog, pks_error *error) {
  side *side = &c->new_side;
  pks_status status = open_side(side, catalog, error);
  while (!status && side->more) {
    c->totals.unchanged++;
    status = note_chunks(c, side, IN_OLD | IN_NEW, error);
    if (!status) { status = step(side, error); }
  }
  return status;
}

// MARK: - Moves

static held *held_at(comparison *c, uint32_t index) { return PKS__SCRATCH_AT(&c->held, held, index); }

static bool has_equal_content(const comparison *c, const held *a, const held *b) {
  return a->kind == b->kind && a->value_length == b->value_length
    && memcmp(c->text.bytes + a->value, c->text.bytes + b->value, a->value_length) == 0;
}

static uint64_t value_key(const comparison *c, const held *row) {
  return pks__hash_map_key(&c->by_value, c->text.bytes + row->value, row->value_length);
}

/// The group whose members have the content of `row`, or NULL. Every group keeps a member, matched or not, for that
/// comparison.
static group *find_group(comparison *c, const held *row, uint64_t key) {
  uint64_t probe = 0;
  uint32_t index;
  while (pks__hash_map_next(&c->by_value, key, &probe, &index)) {
    group *found = PKS__SCRATCH_AT(&c->groups, group, index);
    if (has_equal_content(c, held_at(c, found->last), row)) { return found; }
  }
  return NULL;
}

static pks_status group_removed(comparison *c, uint32_t index, pks_error *error) {
  held *row = held_at(c, index);
  uint64_t key = value_key(c, row);
  group *known = find_group(c, row, key);
  if (known) {
    held_at(c, known->last)->other = index;
    known->last = index;
    return PKS_OK;
  }
  group new_group = {.first = index, .last = index};
  uint32_t number = (uint32_t)PKS__SCRATCH_COUNT(&c->groups, group);
  pks_status status = pks__scratch_append(&c->groups, &new_group, sizeof new_group, error);
  return status ? status : pks__hash_map_insert(&c->by_value, key, number, error);
}

/// Makes an added entry a moved one if something of equal content was removed: the first such path that is not taken.
static void match_added(comparison *c, uint32_t index) {
  held *row = held_at(c, index);
  group *known = find_group(c, row, value_key(c, row));
  if (!known || known->first == NONE) { return; }
  held *removed = held_at(c, known->first);
  row->change = PKS_MOVED;
  row->old_size = removed->old_size;
  row->other = known->first;
  removed->is_moved_away = true;
  known->first = removed->other;
}

static pks_status find_moves(comparison *c, pks_error *error) {
  uint32_t count = (uint32_t)PKS__SCRATCH_COUNT(&c->held, held);
  pks_status status = PKS_OK;
  for (uint32_t i = 0; !status && i < count; i++) {
    const held *row = held_at(c, i);
    if (row->change == PKS_REMOVED && row->value_length > 0) { status = group_removed(c, i, error); }
  }
  for (uint32_t i = 0; !status && i < count; i++) {
    const held *row = held_at(c, i);
    if (row->change == PKS_ADDED && row->value_length > 0) { match_added(c, i); }
  }
  return status;
}

// MARK: - Reporting

typedef bool visitor(void *context, const pks_difference *difference);

static void count_difference(pks_diff_totals *totals, pks_change change) {
  switch (change) {
    case PKS_ADDED: totals->added++; break;
    case PKS_REMOVED: totals->removed++; break;
    case PKS_CHANGED: totals->changed++; break;
    case PKS_MOVED: totals->moved++; break;
  }
}

/// Bytes of the chunks of difference `index` that are new and were not counted before.
static uint64_t count_new_bytes(comparison *c, uint32_t index) {
  bool is_last = index + 1 == PKS__SCRATCH_COUNT(&c->held, held);
  uint64_t end = is_last ? PKS__SCRATCH_COUNT(&c->listed, uint32_t) : held_at(c, index + 1)->first_chunk, bytes = 0;
  for (uint64_t i = held_at(c, index)->first_chunk; i < end; i++) {
    known_chunk *chunk = PKS__SCRATCH_AT(&c->chunks, known_chunk, *PKS__SCRATCH_AT(&c->listed, const uint32_t, i));
    if (chunk->versions != IN_NEW) { continue; }
    chunk->versions |= COUNTED;
    bytes += chunk->length;
  }
  return bytes;
}

/// Reports the moves, or all the rest.
static pks_status report(comparison *c, bool moves, visitor *visit, void *context, pks_error *error) {
  const char *text = (const char *)c->text.bytes;
  for (uint32_t i = 0; i < PKS__SCRATCH_COUNT(&c->held, held); i++) {
    const held *row = held_at(c, i);
    if (row->is_moved_away || (row->change == PKS_MOVED) != moves) { continue; }
    count_difference(&c->totals, row->change);
    pks_difference difference = {
      .change = row->change,
      .kind = row->kind,
      .path = text + row->path,
      .path_length = row->path_length,
      .old_size = row->old_size,
      .new_size = row->new_size,
      .new_bytes = count_new_bytes(c, i),
    };
    if (moves) {
      difference.old_path = text + held_at(c, row->other)->path;
      difference.old_path_length = held_at(c, row->other)->path_length;
    }
    if (visit && !visit(context, &difference)) {
      return pks__fail(error, PKS_CANCELLED, "cancelled", NULL, PKS_NO_OFFSET);
    }
  }
  return PKS_OK;
}

// MARK: - Comparing

static pks_status find_version(
  const pks_snapshot *snapshot, uint32_t pack, uint64_t number, const pks__version **out, pks_error *error
) {
  if (pack >= snapshot->generation.pack_count + snapshot->generation.removed_count) {
    return pks__fail(error, PKS_INVALID_ARGUMENT, "invalid index of a pack", NULL, PKS_NO_OFFSET);
  }
  const pks__pack_state *state = pks__generation_any_pack(&snapshot->generation, pack);
  uint32_t version = pks__pack_find_version(state, number);
  if (version == UINT32_MAX) {
    return pks__fail_about(
      error, PKS_NOT_FOUND, PKS_DETAIL_NO_VERSION, PKS_SUBJECT_PACK, state->name, "this version is not kept"
    );
  }
  *out = &state->versions[version];
  return PKS_OK;
}

static void close_comparison(comparison *c) {
  pks__tree_cursor_free(&c->old_side.cursor);
  pks__tree_cursor_free(&c->new_side.cursor);
  pks__scratch *all[] = {&c->held, &c->text, &c->groups, &c->chunks, &c->listed};
  for (size_t i = 0; i < PKS_COUNT_OF(all); i++) { pks__scratch_free(all[i]); }
  pks__hash_map_free(&c->by_value);
  pks__hash_map_free(&c->by_id);
}

static pks_status compare(
  const pks_snapshot *old_snapshot, const pks__version *before, const pks_snapshot *new_snapshot,
  const pks__version *now, visitor *visit, void *context, pks_diff_totals *totals, pks_error *error
) {
  // Bitmaps and lazily opened segments change behind a snapshot that is constant to its user.
  comparison c = {
    .old_side.pages = pks__snapshot_pages(pks__snapshot_mutable(old_snapshot)),
    .new_side.pages = pks__snapshot_pages(pks__snapshot_mutable(new_snapshot)),
  };
  bool same = pks__id_equal(&before->catalog, &now->catalog);
  pks_status status = same ? walk_one(&c, &now->catalog, error) : walk_both(&c, &before->catalog, &now->catalog, error);
  if (!status) { status = find_moves(&c, error); }
  if (!status) { status = report(&c, false, visit, context, error); }
  if (!status) { status = report(&c, true, visit, context, error); }
  if (!status) { count_chunks(&c); }
  if (!status && totals) { *totals = c.totals; }
  close_comparison(&c);
  return status;
}

pks_status pks_snapshot_diff(
  const pks_snapshot *old_snapshot, uint32_t old_pack, uint64_t old_version, const pks_snapshot *new_snapshot,
  uint32_t new_pack, uint64_t new_version, bool (*visit)(void *context, const pks_difference *difference),
  void *context, pks_diff_totals *totals, pks_error *error
) {
  const pks__version *before, *now;
  pks_status status = pks__store_check_process(old_snapshot->store, error);
  if (!status) { status = pks__store_check_process(new_snapshot->store, error); }
  if (!status) { status = find_version(old_snapshot, old_pack, old_version, &before, error); }
  if (!status) { status = find_version(new_snapshot, new_pack, new_version, &now, error); }
  return status ? status : compare(old_snapshot, before, new_snapshot, now, visit, context, totals, error);
}

pks_status pks_txn_diff(
  pks_diff_totals *totals, const pks_txn *txn, const char *pack, uint64_t old_version, uint64_t new_version,
  pks_error *error
) {
  const pks_snapshot *snapshot = pks__txn_snapshot(txn);
  uint32_t index = pks__generation_find_pack(&snapshot->generation, pack);
  const pks__version *before, *now;
  pks_status status = pks__store_check_process(txn->store, error);
  if (!status && index == UINT32_MAX) {
    status = pks__fail_about(error, PKS_NOT_FOUND, PKS_DETAIL_NO_PACK, PKS_SUBJECT_PACK, pack, "not in the store");
  }
  if (!status) { status = find_version(snapshot, index, old_version, &before, error); }
  if (!status) { status = find_version(snapshot, index, new_version, &now, error); }
  return status ? status : compare(snapshot, before, snapshot, now, NULL, NULL, totals, error);
}
