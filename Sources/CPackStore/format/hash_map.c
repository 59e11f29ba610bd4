#include "format/hash_map.h"

/// A slot is free while `used` is 0.
typedef struct slot {
  uint64_t key;
  uint32_t value;
  uint32_t used;
} slot;

enum { FIRST_SLOTS = 256 };

static uint64_t slot_count(const pks__hash_map *map) { return map->slots.length / sizeof(slot); }

static uint64_t home_slot(const pks__hash_map *map, uint64_t key) {
  pks_le64 stored = pks__put64(key);
  return pks__keyed_hash(&map->key, &stored, sizeof stored);
}

void pks__hash_map_init(pks__hash_map *map, pks__scratch_folder *home) {
  *map = (pks__hash_map){0};
  pks__scratch_init(&map->slots, home);
  if (home) { map->key = home->key; }
}

void pks__hash_map_free(pks__hash_map *map) { pks__scratch_free(&map->slots); }

static void place(pks__hash_map *map, pks__scratch *slots, uint64_t key, uint32_t value) {
  uint64_t mask = slots->length / sizeof(slot) - 1, home = home_slot(map, key), step = 0;
  while (PKS__SCRATCH_AT(slots, slot, (home + step) & mask)->used) { step++; }
  map->steps += step + 1;
  *PKS__SCRATCH_AT(slots, slot, (home + step) & mask) = (slot){.key = key, .value = value, .used = 1};
}

static pks_status grow(pks__hash_map *map, pks_error *error) {
  uint64_t count = slot_count(map);
  pks__scratch larger;
  pks__scratch_init(&larger, map->slots.home);
  uint64_t new_count = count ? count * 2 : FIRST_SLOTS;
  pks_status status = pks__scratch_append(&larger, NULL, new_count * sizeof(slot), error);
  if (status) { return status; }
  for (uint64_t i = 0; i < count; i++) {
    const slot *old = PKS__SCRATCH_AT(&map->slots, slot, i);
    if (old->used) { place(map, &larger, old->key, old->value); }
  }
  pks__scratch_free(&map->slots);
  map->slots = larger;
  return PKS_OK;
}

pks_status pks__hash_map_insert(pks__hash_map *map, uint64_t key, uint32_t value, pks_error *error) {
  if ((map->count + 1) * 4 > slot_count(map) * 3) {
    pks_status status = grow(map, error);
    if (status) { return status; }
  }
  place(map, &map->slots, key, value);
  map->count++;
  return PKS_OK;
}

bool pks__hash_map_next(const pks__hash_map *map, uint64_t key, uint64_t *probe, uint32_t *value) {
  uint64_t count = slot_count(map);
  if (count == 0) { return false; }
  uint64_t mask = count - 1, home = home_slot(map, key);
  for (;;) {
    const slot *at = PKS__SCRATCH_AT(&map->slots, slot, (home + *probe) & mask);
    if (!at->used) { return false; }
    ++*probe;
    if (at->key == key) {
      *value = at->value;
      return true;
    }
  }
}

bool pks__hash_map_next_id(
  const pks__hash_map *map, const pks__id *id, pks__hash_map_id_of *id_of, const void *context, uint64_t *probe,
  uint32_t *value
) {
  uint64_t key = pks__hash_map_key(map, id, sizeof *id);
  while (pks__hash_map_next(map, key, probe, value)) {
    if (pks__id_equal(id_of(context, *value), id)) { return true; }
  }
  return false;
}
