/// The missing parts of a version: files to examine, and chunks to fetch.
///
/// Definitions
///   needy file  a file of the version with a chunk that is neither in the base nor among the new ones, or whose entry differs from
///               the current version's (for the latter, only the layout is needed, to find map assets).
///   missing     a chunk to fetch. Each is listed once, except in map assets that are fetched as a whole.
///
/// The catalog is walked here before anything is fetched, and again by the ingest after everything has arrived
/// (`ingest_version.h`). This walk finds the missing chunks. The second one builds the version, and needs the numbers of the new
/// chunks, which follow from the order in which frames are written and are unknown here. A single walk would save reading the
/// catalog twice, but keep a row for each of its files and chunks until the frames arrive; for 20,000 files this whole walk takes
/// 13 ms.
///
/// States: empty -> found (`pks__missing_chunks_find`): all files with path, entry and missing chunks -> laid out: each file has
/// its layout value, from an accepted change list, or from the pages (`pks__missing_chunks_request_layout`,
/// `pks__missing_chunks_visit_layout`, in order of pages) -> complete (`pks__missing_chunks_complete_mapped`): map assets fetched
/// as a whole list all of their chunks.
///
/// Invariants
///   1. Files are in order of paths. The missing chunks of a file are those from `first` to `end`, in order of offsets.
///   2. Sizes, lengths and folders in the catalog are checked for all files once the needs are found.
///
/// Owner: `missing_chunks.c`.
#ifndef PKS_TRANSFER_MISSING_CHUNKS_H
#define PKS_TRANSFER_MISSING_CHUNKS_H

#include "ingest/ingest.h"
#include "transfer/delivery_changes.h"

typedef struct pks__needy_file {
  uint64_t path;  ///< in `texts`
  uint32_t path_length;
  bool mapped;
  uint64_t size;
  uint64_t chunk_count;  ///< chunks of the file
  uint64_t entry;        ///< in `texts`: its value in the catalog
  uint32_t entry_length;
  uint32_t layout_length;
  uint64_t layout;      ///< in `texts`: its value in the layout
  uint64_t first, end;  ///< its missing chunks
} pks__needy_file;

typedef struct pks__missing_chunk {
  pks__id id;
  uint32_t length;
  uint32_t file;
  uint64_t offset;  ///< in the file
} pks__missing_chunk;

typedef struct pks__missing_chunks {
  pks__delivery_context *context;
  pks__delivery_pages *pages;
  pks__delivery_changes *changes;
  pks__ingest *ingest;    ///< with the chunks that came already; only read here
  pks__scratch texts;     ///< paths, entries and values of the layout, back to back
  pks__scratch files;     ///< pks__needy_file
  pks__scratch chunks;    ///< pks__missing_chunk
  pks__hash_map missing;  ///< id -> index in `chunks`
  uint64_t next_mapped;   ///< needy file to be asked about next
  pks__scratch value;     ///< layout value of one file
  bool is_laid_out;       ///< by the change list
} pks__missing_chunks;

/// `ingest` is opened before the needs are found.
void pks__missing_chunks_init(
  pks__missing_chunks *needs, pks__delivery_context *context, pks__delivery_pages *pages,
  pks__delivery_changes *changes, pks__ingest *ingest
);

/// Walks the catalog, all of whose pages are present, and requests the root page of the layout, unless the change list replaces the
/// layout.
pks_status pks__missing_chunks_find(pks__missing_chunks *needs, pks_error *error);

/// Requests the pages of the layout that lead to needy files, if needed: its root is present.
pks_status pks__missing_chunks_request_layout(pks__missing_chunks *needs, pks_error *error);

/// Processes a present page of the layout: a `pks__layout_visitor`.
pks_status pks__missing_chunks_visit_layout(
  void *needs, const pks__page_task *task, pks__scratch *page, pks_error *error
);

/// Whether a map asset with `missing` of `size` bytes missing is fetched as a whole.
static inline bool pks__is_nearly_new(uint64_t missing, uint64_t size) { return missing >= size - size / 8; }

/// Lists all chunks of map assets that are to come as a whole as missing.
pks_status pks__missing_chunks_complete_mapped(pks__missing_chunks *needs, pks_error *error);

/// Whether a file is a map asset on the site; called in order of paths. For files whose entry is the current version's, the base
/// decides. As in `pks__version_request`.
bool pks__missing_chunks_is_mapped(void *needs, const char *path, size_t path_length);

static inline uint64_t pks__missing_chunks_file_count(const pks__missing_chunks *needs) {
  return PKS__SCRATCH_COUNT(&needs->files, pks__needy_file);
}
static inline const pks__needy_file *pks__missing_chunks_file(const pks__missing_chunks *needs, uint64_t index) {
  return PKS__SCRATCH_AT(&needs->files, const pks__needy_file, index);
}
static inline uint64_t pks__missing_chunks_chunk_count(const pks__missing_chunks *needs) {
  return PKS__SCRATCH_COUNT(&needs->chunks, pks__missing_chunk);
}
static inline const pks__missing_chunk *pks__missing_chunks_chunk(const pks__missing_chunks *needs, uint64_t index) {
  return PKS__SCRATCH_AT(&needs->chunks, const pks__missing_chunk, index);
}
/// The value of a file in the layout, on loan; false when it makes no sense. The layout was visited.
bool pks__missing_chunks_layout_entry(
  const pks__missing_chunks *needs, const pks__needy_file *file, pks__layout_entry *out
);
/// Bytes of a file's missing chunks.
uint64_t pks__missing_chunks_missing_bytes(const pks__missing_chunks *needs, const pks__needy_file *file);
/// Fails with CORRUPT, naming the file.
pks_status pks__missing_chunks_corrupt(
  const pks__missing_chunks *needs, const pks__needy_file *file, const char *text, pks_error *error
);

#endif
