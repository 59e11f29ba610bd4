/// Generations: which pack versions a store shows at one moment, and which runs make up its index.
///
/// A generation is a small immutable file, `index/<16 hex digits of its number>.generation`; its size grows with packs
/// and runs, not with assets. The control file names the current one. Layout: `Docs/FORMAT.md`; encoded and decoded
/// here alone.
///
/// In memory packs stand in the order in which they win: by the order of their origins (`origin.h`), then by priority,
/// highest first, then first installed first; a pack's index is its rank. A pack's *number* is given once and never
/// used again, so that records of a removed pack stay dead if one of the same name comes back. Packs that were removed
/// but keep their history stand apart: they have versions and no assets.
///
/// Kept versions of a pack are in the reverse order of being current. A new version drops versions beyond the number to keep,
/// unless they are pinned. A *held* pack stays at its current version until a user releases it.
///
/// The data of a *purgeable* pack is in the cache folder and may be deleted at any moment (`cache_folder.h`). A pack's versions
/// determine its placement, unless a user has chosen it: then later versions do not change it.
#ifndef PKS_STORE_GENERATION_H
#define PKS_STORE_GENERATION_H

#include "format/format.h"
#include "index/run_writer.h"
#include "platform/scratch.h"
#include "store/origin.h"

typedef struct pks__version {
  uint64_t number;
  pks__id catalog;
  pks__id layout;
  pks__id attributes;  ///< zero: none
  int64_t committed_at_ns;
  uint64_t file_count, link_count, folder_count, logical_bytes;
  bool pinned;  ///< kept regardless of the number to keep
} pks__version;

typedef struct pks__pack_state {
  uint32_t number;
  uint32_t origin;  ///< number of an origin of the generation's table
  int32_t priority;
  bool held;             ///< at its current version
  bool purgeable;        ///< its data is stored in the cache folder
  bool placed_by_hand;   ///< a user chose the placement: the placement of later versions is ignored
  uint32_t origin_rank;  ///< of `origin`, as of the last sorting; not stored
  char name[PKS__PACK_NAME_MAX + 1];
  uint64_t highest_version;  ///< number that any version of it ever had
  uint32_t version_count;    ///< >= 1
  pks__version *versions;    ///< the current one first, then the previous ones
} pks__pack_state;

typedef struct pks__run_ref {
  pks__run_name name;
  uint32_t pack_count;
  uint32_t *pack_numbers;  ///< numbers of the run's packs, by their index within the run
} pks__run_ref;

/// A generation of another store, which is a base (`base_store.h`).
typedef struct pks__base_name {
  bool is_set;
  uint8_t store_id[PKS__STORE_ID_SIZE];
  uint64_t generation;
} pks__base_name;

typedef struct pks__generation {
  uint64_t number;
  uint64_t predecessor;  ///< the generation in the control slot that this one's commit left alone; 0: there was none
  uint8_t store_id[PKS__STORE_ID_SIZE];
  bool durable;                          ///< committed to survive a loss of power
  uint8_t boot_id[PKS__BOOT_ID_SIZE];    ///< boot id of the machine at the commit
  uint8_t path_key[PKS__PATH_KEY_SIZE];  ///< random, the same in all generations of a store between repairs
  bool is_site;                          ///< the store is a site's: only publications are committed
  uint8_t writer_features;               ///< of later versions: who does not know them changes nothing
  pks__base_name base;                   ///< what base the store's packs were taken over from last
  uint64_t cache_budget;                 ///< bytes that the store's files in its cache folder may take; 0: no limit
  char *cache_folder;                    ///< absolute path, owned; NULL: none was chosen, and no pack is purgeable
  pks__origin_table origins;
  uint32_t next_pack_number;
  bool has_shadows;  ///< somewhere a file of one pack may stand where another needs a folder
  bool has_garbage;  ///< versions were dropped whose segments may still be there
  uint16_t
    lineage;  ///< 0, or a random number of the last repair: data staged before a repair is not committed after it
  uint32_t run_count;  ///< oldest first
  pks__run_ref *runs;
  uint32_t pack_count;
  pks__pack_state *packs;
  uint32_t removed_count;
  pks__pack_state *removed;  ///< packs without a current version, whose history is kept
} pks__generation;

/// Whether the version is what these say: its number apart, catalog and attributes are all that it is.
static inline bool pks__version_is(const pks__version *version, const pks__id *catalog, const pks__id *attributes) {
  return pks__id_equal(&version->catalog, catalog) && pks__id_equal(&version->attributes, attributes);
}

/// Whether a path is valid for a cache folder: absolute, and not too long.
bool pks__cache_folder_is_valid(const char *path);
/// Chooses the cache folder and its budget. The path is copied.
pks_status pks__generation_set_cache(
  pks__generation *generation, const char *folder, uint64_t budget, pks_error *error
);

void pks__generation_free(pks__generation *generation);  ///< a zeroed one is fine
pks_status pks__generation_copy(const pks__generation *from, pks__generation *out, pks_error *error);

pks_status pks__generation_encode(const pks__generation *generation, pks__scratch *out, pks_error *error);
/// `name` is for messages.
pks_status pks__generation_decode(
  const void *bytes, size_t length, const char *name, pks__generation *out, pks_error *error
);
/// Whether another generation may follow this one, or any of its data may be deleted: IS_SITE except for publications, NEWER_FORMAT
/// if it has unknown features that concern writers.
pks_status pks__generation_check_change(const pks__generation *generation, bool is_publication, pks_error *error);

/// Index of the pack, or UINT32_MAX.
uint32_t pks__generation_find_pack(const pks__generation *generation, const char *name);
uint32_t pks__generation_find_number(const pks__generation *generation, uint32_t number);

/// Index among the removed packs, or UINT32_MAX.
uint32_t pks__generation_find_removed(const pks__generation *generation, const char *name);
/// Returns the pack, or the removed pack with a kept history; NULL if neither exists. `is_live` (may be NULL): the former.
pks__pack_state *pks__generation_find_state(const pks__generation *generation, const char *name, bool *is_live);
/// Returns the current version of the pack; NULL if the pack does not exist.
const pks__version *pks__generation_current(const pks__generation *generation, const char *name);
/// Index among a pack's versions, or UINT32_MAX.
uint32_t pks__pack_find_version(const pks__pack_state *pack, uint64_t number);

/// Adds a pack and returns its index: without versions, or with those of a removed pack with the same name. Ranks change.
pks_status pks__generation_add_pack(
  pks__generation *generation, const char *name, int32_t priority, uint32_t *index, pks_error *error
);
/// Removes a pack, with its history or without.
pks_status pks__generation_remove_pack(
  pks__generation *generation, uint32_t index, bool keep_history, pks_error *error
);
/// Removes the history of a removed pack.
void pks__generation_forget_removed(pks__generation *generation, uint32_t index);
/// Puts packs back in order after a priority, a pack's origin or the order of origins changed.
void pks__generation_sort(pks__generation *generation);
/// Makes `version` the pack's current one. One of the same number takes its place; of the others those are kept that are
/// pinned or are among the `keep` that were current last, the new one included.
pks_status pks__generation_push_version(
  pks__generation *generation, uint32_t pack, const pks__version *version, uint32_t keep, pks_error *error
);
/// Drops versions except pinned ones and the `keep` that were current last.
void pks__pack_trim(pks__pack_state *pack, uint32_t keep);
/// Adds a run as the newest; takes a copy of the numbers.
pks_status pks__generation_add_run(
  pks__generation *generation, const pks__run_name *name, const uint32_t *pack_numbers, uint32_t pack_count,
  pks_error *error
);
/// Replaces runs [first, first + count) by one.
pks_status pks__generation_replace_runs(
  pks__generation *generation, uint32_t first, uint32_t count, const pks__run_name *name, const uint32_t *pack_numbers,
  uint32_t pack_count, pks_error *error
);

/// Packs by number of the public interface: the removed ones follow those in order of ranks.
const pks__pack_state *pks__generation_any_pack(const pks__generation *generation, uint32_t index);
/// As the public header shows them. The name is on loan from the generation.
pks_pack pks__generation_pack(const pks__generation *generation, uint32_t index);
pks_pack_version pks__version_public(const pks__version *version);

enum { PKS__INDEX_NAME = 64 };
void pks__generation_path(uint64_t number, char out[PKS__INDEX_NAME]);  ///< "index/<number>.generation"
/// The number of a generation's file, without its folder; false for any other name.
bool pks__generation_name_parse(const char *name, size_t length, uint64_t *number);
void pks__run_path(uint64_t name, char out[PKS__INDEX_NAME]);  ///< "index/<name>.run"

#endif
