/// A version of a pack laid out in a row: its entries in order of paths, and the chunks of all its files one after
/// another.
///
/// Deltas refer to a version by these numbers. The *row* of a chunk is the number of chunks before it in its file and in all
/// earlier files. The *position* of a byte is counted in the same way, as if all files were one.
///
/// In scratch memory, 48 bytes a chunk. Once it is read, any number of threads may use it, each with a reader of its own.
#ifndef PKS_DELTA_VERSION_LIST_H
#define PKS_DELTA_VERSION_LIST_H

#include "catalog/catalog.h"
#include "catalog/entry_list.h"
#include "segment/frame_cache.h"
#include "store/chunk_lookup.h"
#include "store/state.h"

typedef struct pks__listed_chunk {
  uint64_t position;  ///< of its first byte
  uint32_t length;
  pks__id id;
} pks__listed_chunk;

typedef struct pks__version_list {
  pks_snapshot *snapshot;
  pks__catalog_info info;
  pks__entry_list listing;
  pks__scratch first_rows;  ///< uint64_t by item, and one more: the row of its first chunk, or where that would be
  pks__scratch chunks;      ///< pks__listed_chunk by row
  uint64_t byte_count;      ///< bytes of all files
} pks__version_list;

void pks__version_list_init(pks__version_list *list, pks_snapshot *snapshot, pks__scratch_folder *home);
/// Reads the catalog, and the map assets of the layout, replacing the previous version. Errors: CORRUPT, PURGED, NO_SPACE,
/// IO_ERROR, OUT_OF_MEMORY.
pks_status pks__version_list_read(pks__version_list *list, const pks__version *version, pks_error *error);
void pks__version_list_close(pks__version_list *list);  ///< a zeroed one is fine

static inline uint64_t pks__version_list_rows(const pks__version_list *list) {
  return PKS__SCRATCH_COUNT(&list->chunks, pks__listed_chunk);
}
static inline const pks__listed_chunk *pks__version_list_chunk(const pks__version_list *list, uint64_t row) {
  return PKS__SCRATCH_AT(&list->chunks, const pks__listed_chunk, row);
}
/// The row of the first chunk of item `index`, or of the end for `index` = number of items.
static inline uint64_t pks__version_list_first_row(const pks__version_list *list, uint64_t index) {
  return *PKS__SCRATCH_AT(&list->first_rows, const uint64_t, index);
}
/// The position at which row `row` <= number of rows begins.
static inline uint64_t pks__version_list_position(const pks__version_list *list, uint64_t row) {
  return row < pks__version_list_rows(list) ? pks__version_list_chunk(list, row)->position : list->byte_count;
}

/// Reads bytes of a version. Zero-initialise; it belongs to one thread at a time.
typedef struct pks__version_reader {
  const pks__version_list *list;
  uint64_t row;  ///< read last
  pks__chunk_ref ref;
  bool has_ref;  ///< `ref` is the place of chunk `row`
  pks__frame_reader *frames;
  pks__frame_cache *cache;  ///< shared with others who read the version; NULL: none
} pks__version_reader;

/// Copies the bytes at positions [position, position + byte_count), which are all in the version (asserted). Frames are
/// checked, ids are not. Errors: CORRUPT (also when a chunk is nowhere), PURGED, IO_ERROR, OUT_OF_MEMORY.
pks_status pks__version_read(
  pks__version_reader *reader, uint64_t position, void *out, size_t byte_count, pks_error *error
);
/// Gives back what reading took.
void pks__version_reader_close(pks__version_reader *reader);

#endif
