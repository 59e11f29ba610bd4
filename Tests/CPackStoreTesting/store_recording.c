#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec/checksum.h"
#include "format/format.h"
#include "include/StoreRecording.h"
#include "simulated_disk.h"

/// One result, or the absence of one.
typedef struct line {
  uint64_t what;     ///< hash of kind and path: equal for equal objects
  uint64_t content;  ///< hash of everything else
  pks_status status;
  bool ends_section;
  char text[80];  ///< for messages
} line;

struct sim_recording {
  pks_status status;
  uint64_t generation;
  line *lines;
  size_t line_count, line_capacity;
  char **paths;
  size_t path_count, path_capacity;
  uint64_t fault_count;
  bool may_hide;
  char fault[256];
  char wrong[256];
};

// MARK: - Taking down

static uint64_t mix(uint64_t sum, const void *bytes, size_t byte_count) {
  uint64_t both[2] = {sum, pks__checksum(bytes, byte_count)};
  return pks__checksum(both, sizeof both);
}

static uint64_t mix_number(uint64_t sum, uint64_t number) { return mix(sum, &number, sizeof number); }

static line *add_line(sim_recording *served, const char *kind, const char *path, size_t length) {
  served->lines = sim__grow(served->lines, &served->line_capacity, served->line_count, sizeof *served->lines);
  line *line = &served->lines[served->line_count++];
  *line = (struct line){.what = mix(mix(0, kind, strlen(kind)), path, length)};
  (void)snprintf(line->text, sizeof line->text, "%s %.*s", kind, (int)(length < 60 ? length : 60), path);
  return line;
}

static void end_section(sim_recording *served, const char *kind, pks_status status) {
  line *line = add_line(served, kind, "", 0);
  line->status = status;
  line->ends_section = true;
}

static void add_path(sim_recording *served, const char *path, size_t length) {
  served->paths = sim__grow(served->paths, &served->path_capacity, served->path_count, sizeof *served->paths);
  char *copy = sim__allocate(length + 1);
  memcpy(copy, path, length);
  served->paths[served->path_count++] = copy;
}

static uint64_t describe(const pks_asset *asset) {
  uint64_t sum = mix_number(0, asset->kind);
  sum = mix_number(sum, asset->executable);
  sum = mix_number(sum, asset->mapped);
  sum = mix_number(sum, asset->pack);
  return mix_number(sum, asset->size);
}

/// Reads an asset whole, in short ranges, by borrowing, and as contents.
static pks_status read_all(const pks_asset *asset, uint64_t *sum, pks_error *error) {
  if (asset->kind == PKS_LINK) {
    pks_bytes target;
    pks_status status = pks_asset_link_target(&target, asset, error);
    if (!status) { *sum = mix(*sum, target.bytes, target.count); }
    return status;
  }
  if (asset->kind != PKS_FILE) { return PKS_OK; }
  uint8_t *bytes = sim__allocate((size_t)asset->size);
  pks_status status = pks_asset_read(asset, 0, bytes, (size_t)asset->size, error);
  uint64_t content = status ? 0 : pks__checksum(bytes, (size_t)asset->size);
  pks_contents contents;
  if (!status) { status = pks_asset_contents(&contents, asset, error); }
  if (!status) {
    *sum = mix_number(mix_number(*sum, content), pks__checksum(contents.bytes, contents.count));
    pks_contents_release(&contents);
  }
  pks_bytes borrowed;
  if (!status && asset->contiguous) {
    status = pks_asset_borrow(&borrowed, asset, error);
    if (!status) { *sum = mix(*sum, borrowed.bytes, borrowed.count); }
  }
  free(bytes);
  return status;
}

static void take_packs(sim_recording *served, const pks_snapshot *snapshot) {
  for (uint32_t i = 0; i < pks_snapshot_pack_count(snapshot); i++) {
    pks_pack pack = pks_snapshot_pack(snapshot, i);
    line *line = add_line(served, "pack", pack.name, strlen(pack.name));
    line->content = mix_number((uint64_t)(int64_t)pack.priority, i);
    for (uint32_t version = 0; version < pack.version_count; version++) {
      pks_pack_version kept = pks_snapshot_version(snapshot, i, version);
      line->content = mix(mix_number(line->content, kept.number), kept.catalog, sizeof kept.catalog);
      line->content = mix_number(line->content, (uint64_t)kept.committed_at_ns);
      line->content = mix_number(line->content, kept.file_count + kept.link_count + kept.folder_count);
      line->content = mix_number(line->content, kept.logical_bytes);
    }
  }
  end_section(served, "packs", PKS_OK);
}

static void take_walk(
  sim_recording *served, const pks_snapshot *snapshot, uint32_t pack, pks_walk kind, const char *name
) {
  pks_cursor *cursor;
  pks_error error;
  pks_status status = pks_cursor_open(&cursor, snapshot, "", 0, pack, kind, &error);
  if (status) {
    end_section(served, name, status);
    return;
  }
  for (bool more = true; more;) {
    pks_entry entry;
    status = pks_cursor_next(&entry, &more, cursor, &error);
    if (status || !more) { break; }
    line *line = add_line(served, name, entry.asset.path, entry.asset.path_length);
    line->content = describe(&entry.asset);
    if (kind == PKS_CONFLICTS) {
      line->content = mix(mix_number(line->content, entry.winner_pack), entry.winner_path, entry.winner_path_length);
    }
    if (kind == PKS_DESCENDANTS && pack == PKS_ANY_PACK) {
      add_path(served, entry.asset.path, entry.asset.path_length);
    }
    // An asset hidden in the merged namespace is read in the walk of its pack.
    if (pack != PKS_ANY_PACK) { line->status = read_all(&entry.asset, &line->content, &error); }
  }
  pks_cursor_close(cursor);
  end_section(served, name, status);
}

static void take_finds(sim_recording *served, const pks_snapshot *snapshot, const sim_recording *known) {
  for (size_t i = 0; i < known->path_count; i++) {
    const char *path = known->paths[i];
    pks_asset asset;
    pks_error error;
    line *line = add_line(served, "find", path, strlen(path));
    line->status = pks_snapshot_find(&asset, snapshot, path, strlen(path), PKS_ANY_PACK, &error);
    if (line->status) { continue; }
    line->content = describe(&asset);
    line->status = read_all(&asset, &line->content, &error);
  }
  pks_asset asset;
  line *line = add_line(served, "find", "what is not there", 17);
  line->status = pks_snapshot_find(&asset, snapshot, "what/is not there", 17, PKS_ANY_PACK, NULL);
  end_section(served, "finds", PKS_OK);
}

static void note(sim_recording *served, const char *text, const char *file) {
  if (served->fault_count++ > 0) { return; }
  (void)snprintf(served->fault, sizeof served->fault, "%s: %.160s", text, file);
}

static void note_fault(void *context, const pks_fault *fault) { note(context, fault->text, fault->file); }

sim_recording *sim_record(
  const pks_vfs *vfs, const char *path, pks_sha256 *sha256, const char *cache, const sim_recording *known
) {
  sim_recording *served = sim__allocate(sizeof *served);
  pks_options options = {
    .sha256 = sha256, .thread_count = 1, .vfs = vfs, .cache = cache, .cache_bytes = cache ? 64 << 20 : 0};
  pks_store *store = NULL;
  pks_snapshot *snapshot = NULL;
  pks_error error = {.text = ""};
  served->status = pks_store_open(&store, path, &options, &error);
  if (!served->status) { served->status = pks_snapshot_open(&snapshot, store, &error); }
  if (served->status) {
    note(served, error.text, error.file);
  } else {
    served->generation = pks_snapshot_generation(snapshot);
    take_packs(served, snapshot);
    take_walk(served, snapshot, PKS_ANY_PACK, PKS_DESCENDANTS, "all");
    take_walk(served, snapshot, PKS_ANY_PACK, PKS_CHILDREN, "top");
    take_walk(served, snapshot, PKS_ANY_PACK, PKS_CONFLICTS, "conflict");
    for (uint32_t i = 0; i < pks_snapshot_pack_count(snapshot); i++) {
      take_walk(served, snapshot, i, PKS_DESCENDANTS, "of a pack");
    }
    take_finds(served, snapshot, known ? known : served);
    served->may_hide = pks_store_check_control(store, &error) != PKS_OK;
    if (served->may_hide) { note(served, error.text, error.file); }
    pks_verify_totals totals;
    pks_status verified = pks_snapshot_verify(snapshot, true, note_fault, NULL, served, &totals, &error);
    if (verified) { note(served, error.text, error.file); }
    pks_snapshot_close(snapshot);
  }
  pks_store_close(store);
  return served;
}

void sim_recording_free(sim_recording *served) {
  if (!served) { return; }
  for (size_t i = 0; i < served->path_count; i++) { free(served->paths[i]); }
  free(served->paths);
  free(served->lines);
  free(served);
}

uint64_t sim_recording_generation(const sim_recording *served) { return served->generation; }
pks_status sim_recording_status(const sim_recording *served) { return served->status; }
bool sim_recording_may_hide(const sim_recording *served) { return served->may_hide; }
uint64_t sim_recording_fault_count(const sim_recording *served) { return served->fault_count; }
const char *sim_recording_fault(const sim_recording *served) { return served->fault; }
const char *sim_recording_wrong(const sim_recording *served) { return served->wrong; }

// MARK: - Comparing

/// Whether an error reports damage. Any other error, such as NOT_FOUND, would be a false statement about the store.
static bool speaks_of_damage(pks_status status) {
  return status == PKS_CORRUPT || status == PKS_NEWER_FORMAT || status == PKS_OTHER_DRAFT || status == PKS_PURGED;
}

static sim_outcome wrong(sim_recording *served, const char *what, const line *line) {
  (void)snprintf(
    served->wrong, sizeof served->wrong, "%s: %s (%s)", what, line ? line->text : "",
    line ? pks_status_name(line->status) : ""
  );
  return SIM_RECORDING_WRONG;
}

sim_outcome sim_recording_compare(sim_recording *served, const sim_recording *whole) {
  if (served->status) {
    bool says_why = speaks_of_damage(served->status) || served->status == PKS_NOT_A_STORE;
    return says_why ? SIM_RECORDING_NOTHING : wrong(served, pks_status_name(served->status), NULL);
  }
  sim_outcome outcome = SIM_RECORDING_ALL;
  size_t at = 0;  // in the whole store's lines
  for (size_t i = 0; i < served->line_count; i++, at++) {
    const line *line = &served->lines[i];
    bool ends_early = line->ends_section && speaks_of_damage(line->status);
    while (ends_early && at < whole->line_count && !whole->lines[at].ends_section) { at++; }
    if (at == whole->line_count) { return wrong(served, "is served besides", line); }
    const struct line *expected = &whole->lines[at];
    if (line->what != expected->what) { return wrong(served, "is served in place of what is there", line); }
    if (line->status == expected->status) {
      bool same = line->status || line->content == expected->content;
      if (!same) { return wrong(served, "is served with other content", line); }
      continue;
    }
    if (!speaks_of_damage(line->status)) { return wrong(served, "ends otherwise", line); }
    outcome = SIM_RECORDING_PART;
  }
  return at == whole->line_count ? outcome : wrong(served, "is left out", &whole->lines[at]);
}
