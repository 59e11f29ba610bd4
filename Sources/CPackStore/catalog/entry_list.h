/// The contents of a new pack version: its files, links and empty folders, in bytewise order of paths.
///
/// A listing is made by scanning a folder or by reading a catalog. It lives in scratch memory, so a million files cost no
/// private memory. One thread changes it; once it is complete any number may read it.
#ifndef PKS_CATALOG_ENTRY_LIST_H
#define PKS_CATALOG_ENTRY_LIST_H

#include "format/format.h"
#include "platform/scratch.h"

typedef struct pks__item {
  uint64_t text;  ///< where its path begins in the texts; a link's target follows the path
  uint64_t size;  ///< bytes of the file or the target
  uint32_t path_length;
  uint8_t kind;  ///< pks__record_kind
  bool executable;
  bool mapped;  ///< a file that holds bytes and is to be a map asset
} pks__item;

typedef struct pks__entry_list {
  pks__scratch items;  ///< pks__item
  pks__scratch texts;
  uint64_t file_count;
  uint64_t byte_count;    ///< bytes of all files
  uint64_t mapped_count;  ///< items to be map assets
} pks__entry_list;

void pks__entry_list_init(pks__entry_list *listing, pks__scratch_folder *home);
void pks__entry_list_clear(pks__entry_list *listing);  ///< leaves the room that it took
void pks__entry_list_free(pks__entry_list *listing);   ///< a zeroed one is fine

/// Appends an item; sets `item->text`. `target` is the target of a link, `item->size` bytes.
pks_status pks__entry_list_append(
  pks__entry_list *listing, const pks__item *item, const char *path, const void *target, pks_error *error
);

/// Moves the item appended last to where its path belongs. Time in proportion to how far that is.
void pks__entry_list_settle_last(pks__entry_list *listing);

static inline uint64_t pks__entry_list_count(const pks__entry_list *listing) {
  return PKS__SCRATCH_COUNT(&listing->items, pks__item);
}
static inline const pks__item *pks__entry_list_at(const pks__entry_list *listing, uint64_t index) {
  return PKS__SCRATCH_AT(&listing->items, const pks__item, index);
}
static inline const char *pks__entry_list_path(const pks__entry_list *listing, const pks__item *item) {
  return (const char *)listing->texts.bytes + item->text;
}
static inline const uint8_t *pks__entry_list_target(const pks__entry_list *listing, const pks__item *item) {
  return listing->texts.bytes + item->text + item->path_length;
}

#endif
