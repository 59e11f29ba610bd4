#include "store/generation.h"

#include <stdio.h>

#include "base/memory.h"
#include "codec/checksum.h"

#define MAGIC "PKSGENR0"

enum { FLAG_SHADOWS = 1, FLAG_GARBAGE = 2, FLAG_SITE = 4, FLAG_DURABLE = 8 };
enum { PACK_FLAG_HELD = 1, PACK_FLAG_REMOVED = 2, PACK_FLAG_PURGEABLE = 4, PACK_FLAG_PLACED = 8 };
enum { VERSION_FLAG_PINNED = 1 };
enum { VERSION_SIZE = 152, PACK_SIZE = 33 + VERSION_SIZE };  ///< the least that each takes

void pks__generation_path(uint64_t number, char out[PKS__INDEX_NAME]) {
  char digits[17];
  pks__hex64(number, digits);
  (void)snprintf(out, PKS__INDEX_NAME, PKS__INDEX_FOLDER "/%s.generation", digits);
}

bool pks__generation_name_parse(const char *name, size_t length, uint64_t *number) {
  static const char suffix[] = ".generation";
  char digits[17] = {0};
  if (length != sizeof digits - 1 + sizeof suffix - 1) { return false; }
  memcpy(digits, name, sizeof digits - 1);
  return memcmp(name + sizeof digits - 1, suffix, sizeof suffix - 1) == 0 && pks__hex_parse64(digits, number)
    && *number > 0 && *number >> 62 == 0;
}

void pks__run_path(uint64_t name, char out[PKS__INDEX_NAME]) {
  char digits[17];
  pks__hex64(name, digits);
  (void)snprintf(out, PKS__INDEX_NAME, PKS__INDEX_FOLDER "/%s.run", digits);
}

void pks__generation_free(pks__generation *generation) {
  for (uint32_t i = 0; i < generation->run_count; i++) { pks__free(generation->runs[i].pack_numbers); }
  for (uint32_t i = 0; i < generation->pack_count; i++) { pks__free(generation->packs[i].versions); }
  for (uint32_t i = 0; i < generation->removed_count; i++) { pks__free(generation->removed[i].versions); }
  pks__free(generation->runs);
  pks__free(generation->packs);
  pks__free(generation->removed);
  pks__free(generation->cache_folder);
  pks__origins_free(&generation->origins);
  *generation = (pks__generation){0};
}

// MARK: - Arrays

/// A copy of an array with room for `extra` more elements, never NULL for lack of elements.
static void *copy_array(const void *array, size_t count, size_t extra, size_t size) {
  void *copy = pks__allocate_zeroed(count + extra + 1, size);
  if (copy && count > 0) { memcpy(copy, array, count * size); }
  return copy;
}

/// Copies packs with their versions; `*count` is how many are there to be freed, also after a failure.
static bool copy_packs(const pks__pack_state *from, uint32_t from_count, pks__pack_state *out, uint32_t *count) {
  for (*count = 0; *count < from_count;) {
    pks__pack_state *pack = &out[*count];
    *pack = from[*count];
    pack->versions = copy_array(pack->versions, pack->version_count, 0, sizeof *pack->versions);
    ++*count;
    if (!pack->versions) { return false; }
  }
  return true;
}

static bool copy_runs(const pks__run_ref *from, uint32_t from_count, pks__run_ref *out, uint32_t *count) {
  for (*count = 0; *count < from_count;) {
    pks__run_ref *run = &out[*count];
    *run = from[*count];
    run->pack_numbers = copy_array(run->pack_numbers, run->pack_count, 0, sizeof *run->pack_numbers);
    ++*count;
    if (!run->pack_numbers) { return false; }
  }
  return true;
}

pks_status pks__generation_copy(const pks__generation *from, pks__generation *out, pks_error *error) {
  pks__generation copy = *from;
  copy.run_count = copy.pack_count = copy.removed_count = 0;
  copy.runs = copy_array(NULL, 0, from->run_count, sizeof *from->runs);
  copy.packs = copy_array(NULL, 0, from->pack_count, sizeof *from->packs);
  copy.removed = copy_array(NULL, 0, from->removed_count, sizeof *from->removed);
  copy.origins = (pks__origin_table){0};
  copy.cache_folder = from->cache_folder ? pks__copy_text(from->cache_folder) : NULL;
  bool complete = copy.runs && copy.packs && copy.removed && !copy.cache_folder == !from->cache_folder
    && pks__origins_copy(&from->origins, &copy.origins, NULL) == PKS_OK
    && copy_runs(from->runs, from->run_count, copy.runs, &copy.run_count)
    && copy_packs(from->packs, from->pack_count, copy.packs, &copy.pack_count)
    && copy_packs(from->removed, from->removed_count, copy.removed, &copy.removed_count);
  if (!complete) {
    pks__generation_free(&copy);
    return pks__fail_memory(error);
  }
  *out = copy;
  return PKS_OK;
}

// MARK: - The cache folder

bool pks__cache_folder_is_valid(const char *path) { return path[0] == '/' && strlen(path) <= PKS__CACHE_FOLDER_MAX; }

pks_status pks__generation_set_cache(
  pks__generation *generation, const char *folder, uint64_t budget, pks_error *error
) {
  PKS_ASSERT(pks__cache_folder_is_valid(folder));
  char *copy = pks__copy_text(folder);
  if (!copy) { return pks__fail_memory(error); }
  pks__free(generation->cache_folder);
  generation->cache_folder = copy;
  generation->cache_budget = budget;
  return PKS_OK;
}

// MARK: - Packs

uint32_t pks__generation_find_pack(const pks__generation *generation, const char *name) {
  for (uint32_t i = 0; i < generation->pack_count; i++) {
    if (strcmp(generation->packs[i].name, name) == 0) { return i; }
  }
  return UINT32_MAX;
}

uint32_t pks__generation_find_number(const pks__generation *generation, uint32_t number) {
  for (uint32_t i = 0; i < generation->pack_count; i++) {
    if (generation->packs[i].number == number) { return i; }
  }
  return UINT32_MAX;
}

uint32_t pks__generation_find_removed(const pks__generation *generation, const char *name) {
  for (uint32_t i = 0; i < generation->removed_count; i++) {
    if (strcmp(generation->removed[i].name, name) == 0) { return i; }
  }
  return UINT32_MAX;
}

pks__pack_state *pks__generation_find_state(const pks__generation *generation, const char *name, bool *is_live) {
  uint32_t live = pks__generation_find_pack(generation, name);
  uint32_t removed = live == UINT32_MAX ? pks__generation_find_removed(generation, name) : UINT32_MAX;
  if (is_live) { *is_live = live != UINT32_MAX; }
  if (live != UINT32_MAX) { return &generation->packs[live]; }
  return removed != UINT32_MAX ? &generation->removed[removed] : NULL;
}

const pks__version *pks__generation_current(const pks__generation *generation, const char *name) {
  uint32_t live = pks__generation_find_pack(generation, name);
  return live == UINT32_MAX ? NULL : &generation->packs[live].versions[0];
}

uint32_t pks__pack_find_version(const pks__pack_state *pack, uint64_t number) {
  for (uint32_t i = 0; i < pack->version_count; i++) {
    if (pack->versions[i].number == number) { return i; }
  }
  return UINT32_MAX;
}

static bool wins(const pks__pack_state *a, const pks__pack_state *b) {
  if (a->origin_rank != b->origin_rank) { return a->origin_rank < b->origin_rank; }
  return a->priority != b->priority ? a->priority > b->priority : a->number < b->number;
}

/// Shell sort with Knuth's gaps: linear where all but one are in order already, as they mostly are, and not quadratic
/// where 65,535 packs come in the worst order.
void pks__generation_sort(pks__generation *generation) {
  pks__pack_state *packs = generation->packs;
  uint32_t gap = 1;
  for (uint32_t i = 0; i < generation->pack_count; i++) {
    packs[i].origin_rank = pks__origins_rank(&generation->origins, packs[i].origin);
  }
  while (gap < generation->pack_count / 3) { gap = 3 * gap + 1; }
  for (; gap > 0; gap /= 3) {
    for (uint32_t i = gap; i < generation->pack_count; i++) {
      if (!wins(&packs[i], &packs[i - gap])) { continue; }
      pks__pack_state moved = packs[i];
      uint32_t at = i;
      for (; at >= gap && wins(&moved, &packs[at - gap]); at -= gap) { packs[at] = packs[at - gap]; }
      packs[at] = moved;
    }
  }
}

/// Takes one out of an array of packs. The versions are the caller's from then on.
static pks__pack_state take_pack(pks__pack_state *packs, uint32_t *count, uint32_t index) {
  PKS_ASSERT(index < *count);
  pks__pack_state taken = packs[index];
  memmove(&packs[index], &packs[index + 1], (size_t)(--*count - index) * sizeof *packs);
  return taken;
}

/// Makes room for one more in an array of packs.
static pks_status grow_packs(pks__pack_state **packs, uint32_t count, pks_error *error) {
  pks__pack_state *larger = copy_array(*packs, count, 1, sizeof *larger);
  if (!larger) { return pks__fail_memory(error); }
  pks__free(*packs);
  *packs = larger;
  return PKS_OK;
}

pks_status pks__generation_add_pack(
  pks__generation *generation, const char *name, int32_t priority, uint32_t *index, pks_error *error
) {
  if (generation->pack_count >= PKS__PACKS_MAX || generation->next_pack_number == UINT32_MAX) {
    return pks__fail_about(
      error, PKS_INVALID_ARGUMENT, PKS_DETAIL_LIMIT, PKS_SUBJECT_STORE_FILE, name, "too many packs"
    );
  }
  pks_status status = grow_packs(&generation->packs, generation->pack_count, error);
  uint32_t removed = pks__generation_find_removed(generation, name);
  pks__pack_state pack = {0};
  if (!status && removed == UINT32_MAX) {
    pack.versions = copy_array(NULL, 0, 0, sizeof *pack.versions);
    if (!pack.versions) { status = pks__fail_memory(error); }
  } else if (!status) {
    pack = take_pack(generation->removed, &generation->removed_count, removed);
  }
  if (status) { return status; }
  pack.number = generation->next_pack_number++;
  pack.priority = priority;
  pack.held = false;
  (void)snprintf(pack.name, sizeof pack.name, "%s", name);
  generation->packs[generation->pack_count++] = pack;
  pks__generation_sort(generation);
  *index = pks__generation_find_number(generation, pack.number);
  return PKS_OK;
}

pks_status pks__generation_remove_pack(
  pks__generation *generation, uint32_t index, bool keep_history, pks_error *error
) {
  pks_status status = keep_history ? grow_packs(&generation->removed, generation->removed_count, error) : PKS_OK;
  if (status) { return status; }
  pks__pack_state pack = take_pack(generation->packs, &generation->pack_count, index);
  if (keep_history) {
    generation->removed[generation->removed_count++] = pack;
  } else {
    pks__free(pack.versions);
  }
  return PKS_OK;
}

void pks__generation_forget_removed(pks__generation *generation, uint32_t index) {
  pks__free(take_pack(generation->removed, &generation->removed_count, index).versions);
}

pks_status pks__generation_push_version(
  pks__generation *generation, uint32_t pack, const pks__version *version, uint32_t keep, pks_error *error
) {
  PKS_ASSERT(pack < generation->pack_count && keep >= 1);
  pks__pack_state *state = &generation->packs[pack];
  pks__version *versions = pks__allocate_zeroed((size_t)state->version_count + 1, sizeof *versions);
  if (!versions) { return pks__fail_memory(error); }
  versions[0] = *version;
  uint32_t count = 1;
  for (uint32_t i = 0; i < state->version_count && count < PKS__VERSIONS_MAX; i++) {
    const pks__version *old = &state->versions[i];
    bool is_kept = count < keep || old->pinned;
    if (old->number != version->number && is_kept) { versions[count++] = *old; }
  }
  pks__free(state->versions);
  state->versions = versions;
  state->version_count = count;
  if (version->number > state->highest_version) { state->highest_version = version->number; }
  return PKS_OK;
}

void pks__pack_trim(pks__pack_state *pack, uint32_t keep) {
  PKS_ASSERT(keep >= 1);
  uint32_t count = 0;
  for (uint32_t i = 0; i < pack->version_count; i++) {
    if (count < keep || pack->versions[i].pinned) { pack->versions[count++] = pack->versions[i]; }
  }
  pack->version_count = count;
}

pks_pack_version pks__version_public(const pks__version *version) {
  pks_pack_version out = {
    .number = version->number,
    .committed_at_ns = version->committed_at_ns,
    .file_count = version->file_count,
    .link_count = version->link_count,
    .folder_count = version->folder_count,
    .logical_bytes = version->logical_bytes,
    .pinned = version->pinned,
  };
  memcpy(out.catalog, &version->catalog, sizeof out.catalog);
  memcpy(out.layout, &version->layout, sizeof out.layout);
  memcpy(out.attributes, &version->attributes, sizeof out.attributes);
  return out;
}

const pks__pack_state *pks__generation_any_pack(const pks__generation *generation, uint32_t index) {
  PKS_ASSERT(index < generation->pack_count + generation->removed_count);
  return index < generation->pack_count ? &generation->packs[index]
                                        : &generation->removed[index - generation->pack_count];
}

pks_pack pks__generation_pack(const pks__generation *generation, uint32_t index) {
  const pks__pack_state *pack = pks__generation_any_pack(generation, index);
  pks__origin origin = {0};
  (void)pks__origins_get(&generation->origins, pack->origin, &origin);
  return (pks_pack){
    .origin = pks__origin_public(&origin),
    .name = pack->name,
    .priority = pack->priority,
    .removed = index >= generation->pack_count,
    .held = pack->held,
    .purgeable = pack->purgeable,
    .placed_by_hand = pack->placed_by_hand,
    .version_count = pack->version_count,
    .current = pks__version_public(&pack->versions[0]),
    .highest_version = pack->highest_version,
  };
}

// MARK: - Runs

pks_status pks__generation_replace_runs(
  pks__generation *generation, uint32_t first, uint32_t count, const pks__run_name *name, const uint32_t *pack_numbers,
  uint32_t pack_count, pks_error *error
) {
  PKS_ASSERT(first + count <= generation->run_count);
  pks__run_ref *runs = copy_array(NULL, 0, generation->run_count + 1, sizeof *runs);
  uint32_t *numbers = copy_array(pack_numbers, pack_count, 0, sizeof *numbers);
  if (!runs || !numbers) {
    pks__free(runs);
    pks__free(numbers);
    return pks__fail_memory(error);
  }
  uint32_t after = generation->run_count - first - count;
  if (first > 0) { memcpy(runs, generation->runs, first * sizeof *runs); }
  runs[first] = (pks__run_ref){.name = *name, .pack_count = pack_count, .pack_numbers = numbers};
  if (after > 0) { memcpy(&runs[first + 1], &generation->runs[first + count], after * sizeof *runs); }
  for (uint32_t i = first; i < first + count; i++) { pks__free(generation->runs[i].pack_numbers); }
  pks__free(generation->runs);
  generation->runs = runs;
  generation->run_count = first + 1 + after;
  return PKS_OK;
}

pks_status pks__generation_add_run(
  pks__generation *generation, const pks__run_name *name, const uint32_t *pack_numbers, uint32_t pack_count,
  pks_error *error
) {
  return pks__generation_replace_runs(generation, generation->run_count, 0, name, pack_numbers, pack_count, error);
}

// MARK: - Encoding

static void write_version(pks__byte_writer *pen, const pks__version *version) {
  pks__write_64(pen, version->number);
  pks__write_bytes(pen, &version->catalog, sizeof version->catalog);
  pks__write_bytes(pen, &version->layout, sizeof version->layout);
  pks__write_bytes(pen, &version->attributes, sizeof version->attributes);
  pks__write_64(pen, (uint64_t)version->committed_at_ns);
  pks__write_64(pen, version->file_count);
  pks__write_64(pen, version->link_count);
  pks__write_64(pen, version->folder_count);
  pks__write_64(pen, version->logical_bytes);
  pks__write_64(pen, version->pinned ? VERSION_FLAG_PINNED : 0);
}

static uint32_t stored_pack_flags(const pks__pack_state *pack, bool removed) {
  return (pack->held ? PACK_FLAG_HELD : 0) | (removed ? PACK_FLAG_REMOVED : 0)
    | (pack->purgeable ? PACK_FLAG_PURGEABLE : 0) | (pack->placed_by_hand ? PACK_FLAG_PLACED : 0);
}

static void write_pack(pks__byte_writer *pen, const pks__pack_state *pack, bool removed) {
  pks__write_32(pen, pack->number);
  pks__write_32(pen, (uint32_t)pack->priority);
  pks__write_32(pen, pack->origin);
  pks__write_32(pen, stored_pack_flags(pack, removed));
  pks__write_64(pen, pack->highest_version);
  pks__write_text(pen, pack->name);
  pks__write_32(pen, pack->version_count);
  for (uint32_t i = 0; i < pack->version_count; i++) { write_version(pen, &pack->versions[i]); }
}

static void write_run(pks__byte_writer *pen, const pks__run_ref *run) {
  pks__write_64(pen, run->name.name);
  pks__write_64(pen, run->name.file_length);
  pks__write_64(pen, run->name.trailer_sum);
  pks__write_32(pen, run->pack_count);
  for (uint32_t i = 0; i < run->pack_count; i++) { pks__write_32(pen, run->pack_numbers[i]); }
}

static uint32_t stored_flags(const pks__generation *generation) {
  return (generation->has_shadows ? FLAG_SHADOWS : 0) | (generation->has_garbage ? FLAG_GARBAGE : 0)
    | (generation->is_site ? FLAG_SITE : 0) | (generation->durable ? FLAG_DURABLE : 0);
}

pks_status pks__generation_encode(const pks__generation *generation, pks__scratch *out, pks_error *error) {
  pks__byte_writer pen = {.out = out, .error = error};
  uint64_t begin = out->length;
  pks__write_bytes(&pen, MAGIC, 8);
  bool has_epochs = pks__origins_have_epochs(&generation->origins);
  pks__write_32(&pen, PKS__FORMAT | (has_epochs ? PKS__FEATURE_EPOCHS : 0));
  pks__write_32(&pen, stored_flags(generation) | (uint32_t)generation->lineage << 16);
  pks__write_64(&pen, generation->number);
  pks__write_64(&pen, generation->predecessor);
  pks__write_bytes(&pen, generation->store_id, sizeof generation->store_id);
  pks__write_bytes(&pen, generation->boot_id, sizeof generation->boot_id);
  pks__write_bytes(&pen, generation->path_key, sizeof generation->path_key);
  pks__write_bytes(&pen, generation->base.store_id, sizeof generation->base.store_id);
  pks__write_64(&pen, generation->base.generation);
  pks__write_64(&pen, generation->cache_budget);
  pks__write_text(&pen, generation->cache_folder ? generation->cache_folder : "");
  pks__origins_write(&pen, &generation->origins, has_epochs);
  pks__write_32(&pen, generation->next_pack_number);
  pks__write_32(&pen, generation->run_count);
  for (uint32_t i = 0; i < generation->run_count; i++) { write_run(&pen, &generation->runs[i]); }
  pks__write_32(&pen, generation->pack_count + generation->removed_count);
  for (uint32_t i = 0; i < generation->pack_count; i++) { write_pack(&pen, &generation->packs[i], false); }
  for (uint32_t i = 0; i < generation->removed_count; i++) { write_pack(&pen, &generation->removed[i], true); }
  if (!pen.status) { pks__write_64(&pen, pks__checksum(out->bytes + begin, (size_t)(out->length - begin))); }
  return pen.status;
}

// MARK: - Decoding

static void read_version(pks__reader *reader, pks__version *version) {
  version->number = pks__read64(reader);
  const uint8_t *catalog = pks__read_bytes(reader, sizeof version->catalog);
  const uint8_t *layout = pks__read_bytes(reader, sizeof version->layout);
  const uint8_t *attributes = pks__read_bytes(reader, sizeof version->attributes);
  if (catalog && layout && attributes) {
    memcpy(&version->catalog, catalog, sizeof version->catalog);
    memcpy(&version->layout, layout, sizeof version->layout);
    memcpy(&version->attributes, attributes, sizeof version->attributes);
  }
  version->committed_at_ns = (int64_t)pks__read64(reader);
  version->file_count = pks__read64(reader);
  version->link_count = pks__read64(reader);
  version->folder_count = pks__read64(reader);
  version->logical_bytes = pks__read64(reader);
  version->pinned = pks__read64(reader) & VERSION_FLAG_PINNED;
}

static void read_array(pks__reader *reader, uint8_t *out, size_t byte_count) {
  const uint8_t *bytes = pks__read_bytes(reader, byte_count);
  if (bytes) { memcpy(out, bytes, byte_count); }
}

/// Reads a count of things of at least `minimum` bytes each; a count that the rest cannot hold fails.
static uint32_t read_count(pks__reader *reader, size_t minimum) {
  uint32_t count = pks__read32(reader);
  if (count > pks__reader_left(reader) / minimum) { reader->failed = true; }
  return reader->failed ? 0 : count;
}

static bool read_pack(pks__reader *reader, pks__pack_state *pack, bool *removed) {
  pack->number = pks__read32(reader);
  pack->priority = (int32_t)pks__read32(reader);
  pack->origin = pks__read32(reader);
  uint32_t flags = pks__read32(reader);
  pack->held = flags & PACK_FLAG_HELD;
  pack->purgeable = flags & PACK_FLAG_PURGEABLE;
  pack->placed_by_hand = flags & PACK_FLAG_PLACED;
  *removed = flags & PACK_FLAG_REMOVED;
  pack->highest_version = pks__read64(reader);
  uint32_t length = read_count(reader, 1);
  const uint8_t *name = length <= PKS__PACK_NAME_MAX ? pks__read_bytes(reader, length) : NULL;
  if (name) { memcpy(pack->name, name, length); }
  uint32_t versions = read_count(reader, VERSION_SIZE);
  if (versions > PKS__VERSIONS_MAX || !pks__version_is_valid(pack->highest_version)) { reader->failed = true; }
  if (reader->failed) { versions = 0; }
  pack->versions = pks__allocate_zeroed((size_t)versions + 1, sizeof *pack->versions);
  if (!pack->versions) { return false; }
  pack->version_count = versions;
  for (uint32_t i = 0; i < versions && !reader->failed; i++) {
    read_version(reader, &pack->versions[i]);
    uint64_t number = pack->versions[i].number;
    bool is_repeated = pks__pack_find_version(pack, number) != i;
    if (number == 0 || number > pack->highest_version || is_repeated) { reader->failed = true; }
  }
  if (!name || versions == 0 || !pks__pack_name_is_valid(pack->name)) { reader->failed = true; }
  return true;
}

static bool read_run(pks__reader *reader, pks__run_ref *run) {
  run->name.name = pks__read64(reader);
  run->name.file_length = pks__read64(reader);
  run->name.trailer_sum = pks__read64(reader);
  run->pack_count = read_count(reader, sizeof(pks_le32));
  run->pack_numbers = pks__allocate_zeroed((size_t)run->pack_count + 1, sizeof *run->pack_numbers);
  if (!run->pack_numbers) { return false; }
  for (uint32_t i = 0; i < run->pack_count; i++) { run->pack_numbers[i] = pks__read32(reader); }
  return true;
}

/// False when memory is short; bad bytes set `reader->failed`.
static bool read_cache_folder(pks__reader *reader, pks__generation *generation) {
  generation->cache_budget = pks__read64(reader);
  uint32_t length = read_count(reader, 1);
  const char *path = (const char *)pks__read_bytes(reader, length);
  if (length == 0 || !path) { return true; }
  if (length > PKS__CACHE_FOLDER_MAX || path[0] != '/' || memchr(path, 0, length)) {
    reader->failed = true;
    return true;
  }
  generation->cache_folder = pks__allocate_zeroed((size_t)length + 1, 1);
  if (!generation->cache_folder) { return false; }
  memcpy(generation->cache_folder, path, length);
  return true;
}

/// False when memory is short; bad bytes set `reader->failed`.
static bool read_lists(pks__reader *reader, pks__generation *generation) {
  uint32_t runs = read_count(reader, 28);
  generation->runs = pks__allocate_zeroed((size_t)runs + 1, sizeof *generation->runs);
  if (!generation->runs) { return false; }
  for (uint32_t i = 0; i < runs && !reader->failed; i++) {
    generation->run_count = i + 1;
    if (!read_run(reader, &generation->runs[i])) { return false; }
  }
  uint32_t packs = read_count(reader, PACK_SIZE);
  if (packs > PKS__PACKS_MAX) {
    reader->failed = true;
    packs = 0;
  }
  generation->packs = pks__allocate_zeroed((size_t)packs + 1, sizeof *generation->packs);
  generation->removed = pks__allocate_zeroed((size_t)packs + 1, sizeof *generation->removed);
  if (!generation->packs || !generation->removed) { return false; }
  for (uint32_t i = 0; i < packs && !reader->failed; i++) {
    pks__pack_state pack = {0};
    bool removed, had_memory = read_pack(reader, &pack, &removed);
    // Numbers are given once: a number that was not given yet would be given again.
    if (pack.number == 0 || pack.number >= generation->next_pack_number) { reader->failed = true; }
    if (pks__origins_rank(&generation->origins, pack.origin) == UINT32_MAX) { reader->failed = true; }
    if (pack.purgeable && !generation->cache_folder) { reader->failed = true; }
    if (removed) {
      generation->removed[generation->removed_count++] = pack;
    } else {
      generation->packs[generation->pack_count++] = pack;
    }
    if (!had_memory) { return false; }
  }
  return true;
}

/// Whether a pack that the maps know has the name or the number of pack `index`.
static bool is_repeated(
  const pks__generation *generation, const pks__hash_map *names, const pks__hash_map *numbers, uint32_t index
) {
  const pks__pack_state *pack = pks__generation_any_pack(generation, index);
  uint64_t probe = 0, key = pks__hash_map_key(names, pack->name, strlen(pack->name));
  uint32_t other;
  while (pks__hash_map_next(names, key, &probe, &other)) {
    if (strcmp(pks__generation_any_pack(generation, other)->name, pack->name) == 0) { return true; }
  }
  probe = 0;
  return pks__hash_map_next(numbers, pack->number, &probe, &other);
}

/// Whether no two packs have a name or a number in common.
static pks_status check_packs(const pks__generation *generation, bool *differ, pks_error *error) {
  pks__hash_map names = {0}, numbers = {0};
  memcpy(&names.key, generation->path_key, sizeof names.key);
  numbers.key = names.key;
  pks_status status = PKS_OK;
  *differ = true;
  for (uint32_t i = 0; !status && *differ && i < generation->pack_count + generation->removed_count; i++) {
    const pks__pack_state *pack = pks__generation_any_pack(generation, i);
    *differ = !is_repeated(generation, &names, &numbers, i);
    status = pks__hash_map_insert(&names, pks__hash_map_key(&names, pack->name, strlen(pack->name)), i, error);
    if (!status) { status = pks__hash_map_insert(&numbers, pack->number, i, error); }
  }
  pks__hash_map_free(&names);
  pks__hash_map_free(&numbers);
  return status;
}

pks_status pks__generation_decode(
  const void *bytes, size_t length, const char *name, pks__generation *out, pks_error *error
) {
  if (length < 24 || memcmp(bytes, MAGIC, 8) != 0) {
    return pks__fail(error, PKS_CORRUPT, "is not a generation file", name, 0);
  }
  pks__reader tail = pks__reader_make((const uint8_t *)bytes + length - 8, 8);
  if (pks__checksum(bytes, length - 8) != pks__read64(&tail)) {
    return pks__fail(error, PKS_CORRUPT, "checksum mismatch", name, length - 8);
  }
  pks__reader reader = pks__reader_make((const uint8_t *)bytes + 8, length - 16);
  uint32_t format = pks__read32(&reader), for_all = format & ~(UINT32_MAX << PKS__FORMAT_WRITER_SHIFT);
  bool has_epochs = for_all & PKS__FEATURE_EPOCHS;
  pks_status status = pks__check_format(for_all & ~(uint32_t)PKS__FEATURE_EPOCHS, name, 8, error);
  if (status) { return status; }
  uint32_t flags = pks__read32(&reader);
  pks__generation generation = {
    .writer_features = (uint8_t)(format >> PKS__FORMAT_WRITER_SHIFT),
    .has_shadows = flags & FLAG_SHADOWS,
    .has_garbage = flags & FLAG_GARBAGE,
    .is_site = flags & FLAG_SITE,
    .durable = flags & FLAG_DURABLE,
    .lineage = (uint16_t)(flags >> 16),
  };
  generation.number = pks__read64(&reader);
  generation.predecessor = pks__read64(&reader);
  read_array(&reader, generation.store_id, sizeof generation.store_id);
  read_array(&reader, generation.boot_id, sizeof generation.boot_id);
  read_array(&reader, generation.path_key, sizeof generation.path_key);
  read_array(&reader, generation.base.store_id, sizeof generation.base.store_id);
  generation.base.generation = pks__read64(&reader);
  generation.base.is_set = generation.base.generation != 0;
  for (size_t i = 0; i < sizeof generation.base.store_id && !generation.base.is_set; i++) {
    reader.failed = reader.failed || generation.base.store_id[i];
  }
  bool had_memory = read_cache_folder(&reader, &generation), differ = false;
  had_memory = had_memory && pks__origins_read(&reader, has_epochs, &generation.origins);
  generation.next_pack_number = pks__read32(&reader);
  had_memory = had_memory && read_lists(&reader, &generation);
  if (had_memory && !reader.failed) { had_memory = check_packs(&generation, &differ, error) == PKS_OK; }
  if (!had_memory || reader.failed || pks__reader_left(&reader) != 0 || !differ) {
    pks__generation_free(&generation);
    return had_memory ? pks__fail(error, PKS_CORRUPT, "contradicts itself", name, 8) : pks__fail_memory(error);
  }
  pks__generation_sort(&generation);
  *out = generation;
  return PKS_OK;
}

pks_status pks__generation_check_change(const pks__generation *generation, bool is_publication, pks_error *error) {
  if (generation->writer_features) {
    const char *text = "in use by a later version of this library; this version can only read it";
    return pks__fail_about(error, PKS_NEWER_FORMAT, PKS_DETAIL_NEWER_WRITER, PKS_SUBJECT_STORE, NULL, text);
  }
  return generation->is_site && !is_publication ? pks__fail_is_site(error) : PKS_OK;
}
