/// Maps from 64-bit keys to 32-bit values in scratch memory.
///
/// Open addressing with linear probing, at most 3/4 full. Names in a site or a pack determine many of the keys. Therefore a key's
/// position is its hash under a secret (`keyed_hash.h`), and longer keys are hashes of all their bytes under the same secret: no
/// choice of names makes a probe long.
///
/// A key may have several values, and inserting one more takes time proportional to their number. A caller first checks whether the
/// key is known, or bounds the number of values per key.
#ifndef PKS_FORMAT_HASH_MAP_H
#define PKS_FORMAT_HASH_MAP_H

#include "base/keyed_hash.h"
#include "format/format.h"
#include "platform/scratch.h"

/// Zero-initialised it is empty, in the heap, and keyed by zeros: for keys that no attacker chooses.
typedef struct pks__hash_map {
  pks__scratch slots;
  uint64_t count;
  uint64_t steps;  ///< slots that insertions examined in total: tests compare it with `count`
  pks__hash_key key;
} pks__hash_map;

/// A map in the files of `home`, with its key.
void pks__hash_map_init(pks__hash_map *map, pks__scratch_folder *home);
void pks__hash_map_free(pks__hash_map *map);
pks_status pks__hash_map_insert(pks__hash_map *map, uint64_t key, uint32_t value, pks_error *error);

/// Walks the values of `key`: start with `*probe = 0`, call until false. `*probe` is how many slots were looked at.
bool pks__hash_map_next(const pks__hash_map *map, uint64_t key, uint64_t *probe, uint32_t *value);

/// Returns the key for bytes of any length. Other bytes may have the same key, so the found value must be compared in full.
static inline uint64_t pks__hash_map_key(const pks__hash_map *map, const void *bytes, size_t byte_count) {
  return pks__keyed_hash(&map->key, bytes, byte_count);
}

/// Where the id of a value is, in a map by ids.
typedef const pks__id *pks__hash_map_id_of(const void *context, uint32_t value);

/// Walks the values of an id.
bool pks__hash_map_next_id(
  const pks__hash_map *map, const pks__id *id, pks__hash_map_id_of *id_of, const void *context, uint64_t *probe,
  uint32_t *value
);
/// The first value of an id.
static inline bool pks__hash_map_find_id(
  const pks__hash_map *map, const pks__id *id, pks__hash_map_id_of *id_of, const void *context, uint32_t *value
) {
  uint64_t probe = 0;
  return pks__hash_map_next_id(map, id, id_of, context, &probe, value);
}
static inline pks_status pks__hash_map_insert_id(
  pks__hash_map *map, const pks__id *id, uint32_t value, pks_error *error
) {
  return pks__hash_map_insert(map, pks__hash_map_key(map, id, sizeof *id), value, error);
}

#endif
