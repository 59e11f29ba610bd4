#include "scratch.h"

#include <stdio.h>
#include <string.h>

#include "memory.h"

static const char scratch_text[] = "cannot make room for a temporary file";

void pks__scratch_free(pks__scratch *scratch) {
  if (scratch->mapped) {
    const pks_vfs *vfs = scratch->home->vfs;
    vfs->unmap(vfs->context, scratch->bytes, (size_t)scratch->capacity);
  } else {
    pks__free(scratch->bytes);
  }
  *scratch = (pks__scratch){.home = scratch->home};
}

/// Moves the array to a new file of `capacity` bytes. The file loses its name at once: the mapping keeps it, and a
/// killed process leaves none.
static pks_status move_to_file(pks__scratch *scratch, uint64_t capacity, pks_error *error) {
  const pks_vfs *vfs = scratch->home->vfs;
  char name[32];
  (void)snprintf(name, sizeof name, "scratch-%u", scratch->home->next_number++);
  pks__file file = PKS__NO_FILE;
  void *address = NULL;
  int failure = vfs->open(vfs->context, scratch->home->folder, name, PKS__OPEN_CREATE, &file);
  if (failure) { return pks__fail_system(error, failure, scratch_text, name); }
  failure = vfs->preallocate(vfs->context, file, capacity);
  if (!failure) { failure = vfs->map(vfs->context, file, (size_t)capacity, true, &address); }
  vfs->close(vfs->context, file);
  (void)vfs->unlink(vfs->context, scratch->home->folder, name, false);
  if (failure) {
    pks_status status = pks__fail_system(error, failure, scratch_text, name);
    if (error) { error->needed = capacity; }
    return status;
  }
  if (scratch->length > 0) { memcpy(address, scratch->bytes, (size_t)scratch->length); }
  uint64_t length = scratch->length;
  pks__scratch_free(scratch);
  scratch->bytes = address;
  scratch->length = length;
  scratch->capacity = capacity;
  scratch->mapped = true;
  return PKS_OK;
}

pks_status pks__scratch_reserve(pks__scratch *scratch, uint64_t byte_count, pks_error *error) {
  uint64_t needed;
  if (pks__add_overflows(scratch->length, byte_count, &needed) || needed > SIZE_MAX / 4) {
    return pks__fail_memory(error);
  }
  if (needed <= scratch->capacity) { return PKS_OK; }
  uint64_t capacity = pks__max64(scratch->capacity, 4096);
  while (capacity < needed) { capacity *= 2; }
  if (capacity > PKS__SCRATCH_HEAP_MAX && scratch->home) { return move_to_file(scratch, capacity, error); }
  uint8_t *bytes = pks__reallocate(scratch->bytes, (size_t)capacity);
  if (!bytes) { return pks__fail_memory(error); }
  scratch->bytes = bytes;
  scratch->capacity = capacity;
  return PKS_OK;
}

pks_status pks__scratch_expect(pks__scratch *scratch, uint64_t byte_count, pks_error *error) {
  bool goes_to_file = scratch->home && byte_count > PKS__SCRATCH_HEAP_MAX;
  return goes_to_file ? pks__scratch_reserve(scratch, PKS__SCRATCH_HEAP_MAX + 1, error) : PKS_OK;
}

pks_status pks__scratch_append(pks__scratch *scratch, const void *bytes, uint64_t byte_count, pks_error *error) {
  pks_status status = pks__scratch_reserve(scratch, byte_count, error);
  if (status || byte_count == 0) { return status; }
  uint8_t *end = scratch->bytes + scratch->length;
  if (bytes) {
    memcpy(end, bytes, (size_t)byte_count);
  } else {
    memset(end, 0, (size_t)byte_count);
  }
  scratch->length += byte_count;
  return PKS_OK;
}

// MARK: - Map

/// A slot is free while `used` is 0.
typedef struct slot {
  uint64_t key;
  uint32_t value;
  uint32_t used;
} slot;

enum { FIRST_SLOTS = 256 };

static uint64_t slot_count(const pks__map *map) { return map->slots.length / sizeof(slot); }

static uint64_t home_slot(uint64_t key, uint64_t mask) { return (key * 0x9e3779b97f4a7c15u >> 20) & mask; }

void pks__map_init(pks__map *map, pks__scratch_folder *home) {
  *map = (pks__map){0};
  pks__scratch_init(&map->slots, home);
}

void pks__map_free(pks__map *map) { pks__scratch_free(&map->slots); }

static void place(pks__scratch *slots, uint64_t key, uint32_t value) {
  uint64_t mask = slots->length / sizeof(slot) - 1;
  uint64_t at = home_slot(key, mask);
  while (PKS__SCRATCH_AT(slots, slot, at)->used) { at = (at + 1) & mask; }
  *PKS__SCRATCH_AT(slots, slot, at) = (slot){.key = key, .value = value, .used = 1};
}

static pks_status grow(pks__map *map, pks_error *error) {
  uint64_t count = slot_count(map);
  pks__scratch larger;
  pks__scratch_init(&larger, map->slots.home);
  uint64_t new_count = count ? count * 2 : FIRST_SLOTS;
  pks_status status = pks__scratch_append(&larger, NULL, new_count * sizeof(slot), error);
  if (status) { return status; }
  for (uint64_t i = 0; i < count; i++) {
    const slot *old = PKS__SCRATCH_AT(&map->slots, slot, i);
    if (old->used) { place(&larger, old->key, old->value); }
  }
  pks__scratch_free(&map->slots);
  map->slots = larger;
  return PKS_OK;
}

pks_status pks__map_insert(pks__map *map, uint64_t key, uint32_t value, pks_error *error) {
  if ((map->count + 1) * 4 > slot_count(map) * 3) {
    pks_status status = grow(map, error);
    if (status) { return status; }
  }
  place(&map->slots, key, value);
  map->count++;
  return PKS_OK;
}

bool pks__map_next(const pks__map *map, uint64_t key, uint64_t *probe, uint32_t *value) {
  uint64_t count = slot_count(map);
  if (count == 0) { return false; }
  uint64_t mask = count - 1;
  for (;;) {
    const slot *at = PKS__SCRATCH_AT(&map->slots, slot, (home_slot(key, mask) + *probe) & mask);
    if (!at->used) { return false; }
    ++*probe;
    if (at->key == key) {
      *value = at->value;
      return true;
    }
  }
}
