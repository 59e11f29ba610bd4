#include "generation.h"

#include <stdio.h>
#include <stdlib.h>

#include "checksum.h"
#include "memory.h"

#define MAGIC "PKSGENR0"

enum { FLAG_SHADOWS = 1, FLAG_GARBAGE = 2 };

void pks__generation_path(uint64_t number, char out[PKS__INDEX_NAME]) {
  char digits[17];
  pks__hex64(number, digits);
  (void)snprintf(out, PKS__INDEX_NAME, PKS__INDEX_FOLDER "/%s.generation", digits);
}

void pks__run_path(uint64_t name, char out[PKS__INDEX_NAME]) {
  char digits[17];
  pks__hex64(name, digits);
  (void)snprintf(out, PKS__INDEX_NAME, PKS__INDEX_FOLDER "/%s.run", digits);
}

void pks__generation_free(pks__generation *generation) {
  for (uint32_t i = 0; i < generation->run_count; i++) { pks__free(generation->runs[i].pack_numbers); }
  for (uint32_t i = 0; i < generation->pack_count; i++) { pks__free(generation->packs[i].versions); }
  pks__free(generation->runs);
  pks__free(generation->packs);
  *generation = (pks__generation){0};
}

// MARK: - Arrays

/// A copy of an array with room for `extra` more elements, never NULL for lack of elements.
static void *copy_array(const void *array, size_t count, size_t extra, size_t size) {
  void *copy = pks__allocate_zeroed(count + extra + 1, size);
  if (copy && count > 0) { memcpy(copy, array, count * size); }
  return copy;
}

pks_status pks__generation_copy(const pks__generation *from, pks__generation *out, pks_error *error) {
  pks__generation copy = *from;
  copy.run_count = 0;
  copy.pack_count = 0;
  copy.runs = copy_array(from->runs, from->run_count, 0, sizeof *from->runs);
  copy.packs = copy_array(from->packs, from->pack_count, 0, sizeof *from->packs);
  bool complete = copy.runs && copy.packs;
  for (uint32_t i = 0; complete && i < from->run_count; i++) {
    copy.runs[i].pack_numbers = copy_array(from->runs[i].pack_numbers, from->runs[i].pack_count, 0, sizeof(uint32_t));
    complete = copy.runs[i].pack_numbers != NULL;
    copy.run_count = i + 1;
  }
  for (uint32_t i = 0; complete && i < from->pack_count; i++) {
    copy.packs[i].versions = copy_array(from->packs[i].versions, from->packs[i].version_count, 0, sizeof(pks__version));
    complete = copy.packs[i].versions != NULL;
    copy.pack_count = i + 1;
  }
  if (!complete) {
    pks__generation_free(&copy);
    return pks__fail_memory(error);
  }
  *out = copy;
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

static bool wins(const pks__pack_state *a, const pks__pack_state *b) {
  return a->priority != b->priority ? a->priority > b->priority : a->number < b->number;
}

/// Insertion sort: packs are few and all but one are in order already.
void pks__generation_sort(pks__generation *generation) {
  pks__pack_state *packs = generation->packs;
  for (uint32_t i = 1; i < generation->pack_count; i++) {
    for (uint32_t at = i; at > 0 && wins(&packs[at], &packs[at - 1]); at--) {
      pks__pack_state moved = packs[at];
      packs[at] = packs[at - 1];
      packs[at - 1] = moved;
    }
  }
}

pks_status pks__generation_add_pack(
  pks__generation *generation, const char *name, int32_t priority, uint32_t *index, pks_error *error
) {
  if (generation->pack_count >= PKS__PACKS_MAX || generation->next_pack_number == UINT32_MAX) {
    return pks__fail(error, PKS_INVALID_ARGUMENT, "too many packs", name, PKS_NO_OFFSET);
  }
  pks__pack_state *packs = copy_array(generation->packs, generation->pack_count, 1, sizeof *packs);
  pks__version *versions = copy_array(NULL, 0, 0, sizeof *versions);
  if (!packs || !versions) {
    pks__free(packs);
    pks__free(versions);
    return pks__fail_memory(error);
  }
  pks__free(generation->packs);
  generation->packs = packs;
  uint32_t number = generation->next_pack_number++;
  pks__pack_state *pack = &packs[generation->pack_count++];
  *pack = (pks__pack_state){.number = number, .priority = priority, .versions = versions};
  (void)snprintf(pack->name, sizeof pack->name, "%s", name);
  pks__generation_sort(generation);
  *index = pks__generation_find_number(generation, number);
  return PKS_OK;
}

void pks__generation_remove_pack(pks__generation *generation, uint32_t index) {
  PKS_ASSERT(index < generation->pack_count);
  pks__free(generation->packs[index].versions);
  size_t after = generation->pack_count - index - 1;
  memmove(&generation->packs[index], &generation->packs[index + 1], after * sizeof *generation->packs);
  generation->pack_count--;
}

pks_status pks__generation_push_version(
  pks__generation *generation, uint32_t pack, const pks__version *version, uint32_t keep, pks_error *error
) {
  PKS_ASSERT(pack < generation->pack_count && keep >= 1);
  pks__pack_state *state = &generation->packs[pack];
  pks__version *versions = pks__allocate_zeroed((size_t)state->version_count + 1, sizeof *versions);
  if (!versions) { return pks__fail_memory(error); }
  versions[0] = *version;
  if (state->version_count > 0) { memcpy(&versions[1], state->versions, state->version_count * sizeof *versions); }
  pks__free(state->versions);
  state->versions = versions;
  uint32_t count = state->version_count + 1;
  if (keep > PKS__VERSIONS_MAX) { keep = PKS__VERSIONS_MAX; }
  state->version_count = count < keep ? count : keep;
  return PKS_OK;
}

pks_version pks__version_public(const pks__version *version) {
  pks_version out = {
    .number = version->number,
    .committed_at_ns = version->committed_at_ns,
    .file_count = version->file_count,
    .link_count = version->link_count,
    .folder_count = version->folder_count,
    .logical_bytes = version->logical_bytes,
  };
  memcpy(out.catalog, &version->catalog, sizeof out.catalog);
  return out;
}

pks_pack pks__generation_pack(const pks__generation *generation, uint32_t index) {
  PKS_ASSERT(index < generation->pack_count);
  const pks__pack_state *pack = &generation->packs[index];
  return (pks_pack){
    .name = pack->name,
    .priority = pack->priority,
    .version_count = pack->version_count,
    .current = pks__version_public(&pack->versions[0]),
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

typedef struct pen {
  pks__scratch *out;
  pks_status status;
  pks_error *error;
} pen;

static void write_bytes(pen *pen, const void *bytes, size_t length) {
  if (!pen->status) { pen->status = pks__scratch_append(pen->out, bytes, length, pen->error); }
}
static void write32(pen *pen, uint32_t value) {
  pks_le32 stored = pks__put32(value);
  write_bytes(pen, &stored, sizeof stored);
}
static void write64(pen *pen, uint64_t value) {
  pks_le64 stored = pks__put64(value);
  write_bytes(pen, &stored, sizeof stored);
}

static void write_version(pen *pen, const pks__version *version) {
  write64(pen, version->number);
  write_bytes(pen, &version->catalog, sizeof version->catalog);
  write_bytes(pen, &version->layout, sizeof version->layout);
  write64(pen, (uint64_t)version->committed_at_ns);
  write64(pen, version->file_count);
  write64(pen, version->link_count);
  write64(pen, version->folder_count);
  write64(pen, version->logical_bytes);
}

static void write_pack(pen *pen, const pks__pack_state *pack) {
  write32(pen, pack->number);
  write32(pen, (uint32_t)pack->priority);
  uint32_t length = (uint32_t)strlen(pack->name);
  write32(pen, length);
  write_bytes(pen, pack->name, length);
  write32(pen, pack->version_count);
  for (uint32_t i = 0; i < pack->version_count; i++) { write_version(pen, &pack->versions[i]); }
}

static void write_run(pen *pen, const pks__run_ref *run) {
  write64(pen, run->name.name);
  write64(pen, run->name.file_length);
  write64(pen, run->name.trailer_sum);
  write32(pen, run->pack_count);
  for (uint32_t i = 0; i < run->pack_count; i++) { write32(pen, run->pack_numbers[i]); }
}

pks_status pks__generation_encode(const pks__generation *generation, pks__scratch *out, pks_error *error) {
  pen pen = {.out = out, .error = error};
  uint64_t begin = out->length;
  write_bytes(&pen, MAGIC, 8);
  write32(&pen, PKS__FORMAT_VERSION);
  write32(&pen, (generation->has_shadows ? FLAG_SHADOWS : 0) | (generation->has_garbage ? FLAG_GARBAGE : 0));
  write64(&pen, generation->number);
  write32(&pen, generation->next_pack_number);
  write32(&pen, generation->run_count);
  for (uint32_t i = 0; i < generation->run_count; i++) { write_run(&pen, &generation->runs[i]); }
  write32(&pen, generation->pack_count);
  for (uint32_t i = 0; i < generation->pack_count; i++) { write_pack(&pen, &generation->packs[i]); }
  if (!pen.status) { write64(&pen, pks__checksum(out->bytes + begin, (size_t)(out->length - begin))); }
  return pen.status;
}

// MARK: - Decoding

static void read_version(pks__reader *reader, pks__version *version) {
  version->number = pks__read64(reader);
  const uint8_t *catalog = pks__read_bytes(reader, sizeof version->catalog);
  const uint8_t *layout = pks__read_bytes(reader, sizeof version->layout);
  if (catalog && layout) {
    memcpy(&version->catalog, catalog, sizeof version->catalog);
    memcpy(&version->layout, layout, sizeof version->layout);
  }
  version->committed_at_ns = (int64_t)pks__read64(reader);
  version->file_count = pks__read64(reader);
  version->link_count = pks__read64(reader);
  version->folder_count = pks__read64(reader);
  version->logical_bytes = pks__read64(reader);
}

/// Reads a count of things of at least `minimum` bytes each; a count that the rest cannot hold fails.
static uint32_t read_count(pks__reader *reader, size_t minimum) {
  uint32_t count = pks__read32(reader);
  if (count > pks__reader_left(reader) / minimum) { reader->failed = true; }
  return reader->failed ? 0 : count;
}

static bool read_pack(pks__reader *reader, pks__pack_state *pack) {
  pack->number = pks__read32(reader);
  pack->priority = (int32_t)pks__read32(reader);
  uint32_t length = read_count(reader, 1);
  const uint8_t *name = length <= PKS__PACK_NAME_MAX ? pks__read_bytes(reader, length) : NULL;
  if (name) { memcpy(pack->name, name, length); }
  uint32_t versions = read_count(reader, 1);
  pack->versions = pks__allocate_zeroed((size_t)versions + 1, sizeof *pack->versions);
  if (!pack->versions) { return false; }
  pack->version_count = versions;
  for (uint32_t i = 0; i < versions; i++) { read_version(reader, &pack->versions[i]); }
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
static bool read_lists(pks__reader *reader, pks__generation *generation) {
  uint32_t runs = read_count(reader, 28);
  generation->runs = pks__allocate_zeroed((size_t)runs + 1, sizeof *generation->runs);
  if (!generation->runs) { return false; }
  for (uint32_t i = 0; i < runs && !reader->failed; i++) {
    generation->run_count = i + 1;
    if (!read_run(reader, &generation->runs[i])) { return false; }
  }
  uint32_t packs = read_count(reader, 16);
  generation->packs = pks__allocate_zeroed((size_t)packs + 1, sizeof *generation->packs);
  if (!generation->packs) { return false; }
  for (uint32_t i = 0; i < packs && !reader->failed; i++) {
    generation->pack_count = i + 1;
    if (!read_pack(reader, &generation->packs[i])) { return false; }
  }
  return true;
}

pks_status pks__generation_decode(
  const void *bytes, size_t length, const char *name, pks__generation *out, pks_error *error
) {
  if (length < 24 || memcmp(bytes, MAGIC, 8) != 0) {
    return pks__fail(error, PKS_CORRUPT, "not a generation file", name, 0);
  }
  pks__reader tail = pks__reader_make((const uint8_t *)bytes + length - 8, 8);
  if (pks__checksum(bytes, length - 8) != pks__read64(&tail)) {
    return pks__fail(error, PKS_CORRUPT, "checksum mismatch", name, length - 8);
  }
  pks__reader reader = pks__reader_make((const uint8_t *)bytes + 8, length - 16);
  if (pks__read32(&reader) > PKS__FORMAT_VERSION) {
    return pks__fail(error, PKS_NEWER_FORMAT, "file is of a newer format", name, 8);
  }
  uint32_t flags = pks__read32(&reader);
  pks__generation generation = {.has_shadows = flags & FLAG_SHADOWS, .has_garbage = flags & FLAG_GARBAGE};
  generation.number = pks__read64(&reader);
  generation.next_pack_number = pks__read32(&reader);
  bool had_memory = read_lists(&reader, &generation);
  if (!had_memory || reader.failed || pks__reader_left(&reader) != 0) {
    pks__generation_free(&generation);
    return had_memory ? pks__fail(error, PKS_CORRUPT, "generation file contradicts itself", name, 8)
                      : pks__fail_memory(error);
  }
  pks__generation_sort(&generation);
  *out = generation;
  return PKS_OK;
}
