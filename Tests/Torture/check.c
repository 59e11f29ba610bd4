#include "check.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

typedef unsigned long long number;

// MARK: - Packs

static bool check_pack(
  checker *checker, const pks_snapshot *snapshot, uint32_t rank, const pack_state *state, uint32_t pack
) {
  pks_pack shown = pks_snapshot_pack(snapshot, rank);
  number generation = pks_snapshot_generation(snapshot);
  const char *name = content_pack(pack);
  if (strcmp(shown.name, name) != 0) {
    return fail(checker->failure, "generation %llu: %s at rank %u instead of %s", generation, shown.name, rank, name);
  }
  bool same =
    shown.priority == state->priority && shown.current.number == state->version && shown.version_count == state->kept;
  return same
    || fail(
           checker->failure,
           "generation %llu: %s is at version %llu of %u, priority %d, instead of %llu of %u, priority %d", generation,
           name, (number)shown.current.number, shown.version_count, shown.priority, (number)state->version, state->kept,
           state->priority
    );
}

bool check_packs(checker *checker, const pks_snapshot *snapshot, const store_state *state) {
  uint32_t order[PACK_COUNT], count = state_order(state, order), shown = pks_snapshot_pack_count(snapshot);
  if (shown != count) {
    return fail(
      checker->failure, "generation %llu: %u packs instead of %u", (number)pks_snapshot_generation(snapshot), shown,
      count
    );
  }
  for (uint32_t rank = 0; rank < count; rank++) {
    if (!check_pack(checker, snapshot, rank, &state->packs[order[rank]], order[rank])) { return false; }
  }
  return true;
}

// MARK: - Bytes

/// An asset being read, and its expected contents.
typedef struct expected {
  const pks_asset *asset;
  uint32_t pack, number;
  uint64_t version, revision, size;
} expected;

static bool compare(
  checker *checker, const expected *expected, const char *way, uint64_t offset, const void *bytes, size_t count
) {
  checker->reads++;
  checker->bytes += count;
  if (content_is(expected->pack, expected->number, expected->revision, offset, bytes, count)) { return true; }
  checker->wrong++;
  char path[CONTENT_PATH_SIZE];
  content_path(expected->pack, expected->number, path);
  return fail(
    checker->failure, "wrong bytes by %s: %s of %s@%llu, %zu bytes at %llu", way, path, content_pack(expected->pack),
    (number)expected->version, count, (number)offset
  );
}

static bool read_range(checker *checker, const expected *expected, uint64_t begin, uint64_t end) {
  pks_error error = {0};
  size_t count = (size_t)(end - begin);
  pks_status status = pks_asset_read(expected->asset, begin, checker->buffer, count, &error);
  return succeeded(checker->failure, "read", status, &error)
    && compare(checker, expected, "read", begin, checker->buffer, count);
}

static bool read_borrowed(checker *checker, const expected *expected) {
  pks_error error = {0};
  pks_bytes loan;
  pks_status status = pks_asset_borrow(&loan, expected->asset, &error);
  return succeeded(checker->failure, "borrow", status, &error)
    && compare(checker, expected, "borrow", 0, loan.bytes, loan.count);
}

static bool read_contents(checker *checker, const expected *expected) {
  pks_error error = {0};
  pks_contents contents;
  pks_status status = pks_asset_contents(&contents, expected->asset, &error);
  if (!succeeded(checker->failure, "contents", status, &error)) { return false; }
  bool same =
    contents.count == expected->size && compare(checker, expected, "contents", 0, contents.bytes, contents.count);
  pks_contents_release(&contents);
  return same || fail(checker->failure, "contents of another length");
}

/// Reads the descriptor possibly after the asset's snapshot is closed: the result must be the same.
static bool read_file(checker *checker, const expected *expected) {
  pks_error error = {0};
  int file = -1;
  pks_status status = pks_asset_open_file(&file, expected->asset, &error);
  if (!succeeded(checker->failure, "open_file", status, &error)) { return false; }
  struct stat info;
  bool same = fstat(file, &info) == 0 && (uint64_t)info.st_size == expected->size
    && pread(file, checker->buffer, CONTENT_SIZE_MAX, 0) == (ssize_t)expected->size
    && compare(checker, expected, "open_file", 0, checker->buffer, (size_t)expected->size);
  (void)close(file);
  return same || fail(checker->failure, "a file of another length");
}

static bool check_file(checker *checker, const expected *expected, reading reading) {
  if (expected->asset->size != expected->size) {
    return fail(
      checker->failure, "%s@%llu: asset %u has %llu bytes instead of %llu", content_pack(expected->pack),
      (number)expected->version, expected->number, (number)expected->asset->size, (number)expected->size
    );
  }
  uint64_t begin = expected->size ? random_below(&checker->random, expected->size) : 0;
  uint64_t end = begin + (expected->size ? random_below(&checker->random, expected->size - begin + 1) : 0);
  switch (reading) {
    case READING_RANGE: return read_range(checker, expected, begin, end);
    case READING_BORROW:
      return expected->asset->contiguous ? read_borrowed(checker, expected) : read_range(checker, expected, begin, end);
    case READING_CONTENTS: return read_contents(checker, expected);
    case READING_FILE: return read_file(checker, expected);
    case READING_WHOLE:
    case READING_COUNT: return read_range(checker, expected, 0, expected->size);
  }
  return false;
}

static bool check_link(checker *checker, const expected *expected) {
  pks_error error = {0};
  pks_bytes target;
  char text[CONTENT_PATH_SIZE];
  pks_status status = pks_asset_link_target(&target, expected->asset, &error);
  if (!succeeded(checker->failure, "link", status, &error)) { return false; }
  content_target(expected->pack, expected->number, expected->revision, text);
  checker->reads++;
  checker->bytes += target.count;
  if (target.count == strlen(text) && memcmp(target.bytes, text, target.count) == 0) { return true; }
  checker->wrong++;
  return fail(
    checker->failure, "wrong target: %.*s instead of %s", (int)target.count, (const char *)target.bytes, text
  );
}

/// Checks that the asset is the asset of `pack` with this number.
static bool check_found(
  checker *checker, const pks_asset *asset, const store_state *state, uint32_t pack, uint32_t number, reading reading
) {
  expected expected = {.asset = asset, .pack = pack, .number = number, .version = state->packs[pack].version};
  expected.revision = content_revision(pack, number, expected.version);
  const char *shown = asset->pack == PKS_ANY_PACK ? "no pack" : pks_snapshot_pack(asset->snapshot, asset->pack).name;
  if (strcmp(shown, content_pack(pack)) != 0) {
    return fail(checker->failure, "asset %u comes from %s instead of %s", number, shown, content_pack(pack));
  }
  if (asset->kind != (content_is_link(number) ? PKS_LINK : PKS_FILE)) {
    return fail(checker->failure, "of another kind");
  }
  if (content_is_link(number)) { return check_link(checker, &expected); }
  expected.size = content_size(pack, number, expected.revision);
  return check_file(checker, &expected, reading);
}

bool check_asset(
  checker *checker, const pks_snapshot *snapshot, const store_state *state, uint32_t pack, uint32_t asset,
  reading reading
) {
  pks_error error = {0};
  pks_asset found;
  char path[CONTENT_PATH_SIZE];
  content_path(pack, asset, path);
  uint32_t winner = state_winner(state, pack, asset);
  pks_status status = pks_snapshot_find(&found, snapshot, path, strlen(path), PKS_ANY_PACK, &error);
  if (winner == PACK_COUNT) {
    return status == PKS_NOT_FOUND
      || fail(checker->failure, "%s should not be there: %s", path, pks_status_name(status));
  }
  return succeeded(checker->failure, "find", status, &error)
    && check_found(checker, &found, state, winner, asset, reading);
}

// MARK: - Listings

/// Finds the asset of an entry's path in the entry's pack. Returns false if the path is unknown.
static bool find_number(const store_state *state, const pks_entry *entry, uint32_t *pack, uint32_t *number) {
  for (*pack = 0; *pack < PACK_COUNT; ++*pack) {
    for (*number = 0; *number < content_count(*pack); ++*number) {
      char path[CONTENT_PATH_SIZE];
      content_path(*pack, *number, path);
      bool same = strlen(path) == entry->asset.path_length && memcmp(path, entry->asset.path, strlen(path)) == 0;
      if (same && state_winner(state, *pack, *number) == *pack) { return true; }
    }
  }
  return false;
}

static uint32_t count_winners(const store_state *state) {
  uint32_t count = 0;
  for (uint32_t pack = 0; pack < PACK_COUNT; pack++) {
    for (uint32_t asset = 0; asset < content_count(pack); asset++) {
      count += state_winner(state, pack, asset) == pack;
    }
  }
  return count;
}

static bool check_entry(checker *checker, const store_state *state, const pks_entry *entry) {
  uint32_t pack, asset;
  if (!find_number(state, entry, &pack, &asset)) {
    return fail(checker->failure, "listed though not there: %.*s", (int)entry->asset.path_length, entry->asset.path);
  }
  return check_found(checker, &entry->asset, state, pack, asset, READING_WHOLE);
}

bool check_listing(checker *checker, const pks_snapshot *snapshot, const store_state *state) {
  pks_error error = {0};
  pks_cursor *cursor;
  pks_entry entry;
  uint32_t count = 0;
  bool more = true;
  pks_status status = pks_cursor_open(&cursor, snapshot, "", 0, PKS_ANY_PACK, PKS_DESCENDANTS, &error);
  if (!succeeded(checker->failure, "list", status, &error)) { return false; }
  bool good = true;
  while (good) {
    status = pks_cursor_next(&entry, &more, cursor, &error);
    good = succeeded(checker->failure, "list", status, &error);
    if (!good || !more) { break; }
    count++;
    good = check_entry(checker, state, &entry);
  }
  pks_cursor_close(cursor);
  if (!good) { return false; }
  uint32_t expected = count_winners(state);
  return count == expected || fail(checker->failure, "%u assets are listed instead of %u", count, expected);
}

bool check_everything(checker *checker, const pks_snapshot *snapshot, const store_state *state) {
  if (!check_packs(checker, snapshot, state) || !check_listing(checker, snapshot, state)) { return false; }
  for (uint32_t pack = 0; pack < PACK_COUNT; pack++) {
    for (uint32_t asset = 0; asset < content_count(pack); asset++) {
      if (!check_asset(checker, snapshot, state, pack, asset, READING_WHOLE)) { return false; }
    }
  }
  return true;
}

// MARK: - Structure

typedef struct structure_check {
  checker *checker;
  uint32_t how;
} structure_check;

static void note_fault(void *context, const pks_fault *fault) {
  const structure_check *check = context;
  if ((check->how & CHECK_TORN_COPY) && strcmp(fault->file, "CONTROL") == 0) { return; }
  fail(check->checker->failure, "verify: %s %s at %llu", fault->text, fault->file, (number)fault->offset);
}

bool check_structure(checker *checker, const pks_snapshot *snapshot, uint32_t how) {
  pks_error error = {0};
  pks_verify_totals totals;
  structure_check check = {.checker = checker, .how = how};
  pks_status status = pks_snapshot_verify(snapshot, how & CHECK_DEEP, note_fault, NULL, &check, &totals, &error);
  if (!succeeded(checker->failure, "verify", status, &error) || checker->failure->is_set) { return false; }
  return !totals.may_hide_commit || fail(checker->failure, "verify: a commit may be hidden");
}
