/// Building one index run.
///
/// Segments, frames and chunks may be added at any time; records come in order of (path, pack). Everything grows in
/// scratch memory and is laid out when the run is finished. One thread at a time.
#ifndef PKS_INDEX_RUN_WRITER_H
#define PKS_INDEX_RUN_WRITER_H

#include "format/hash_map.h"
#include "index/path_hash.h"
#include "index/run.h"

typedef struct pks__run_writer {
  pks__scratch_folder *home;
  const pks__path_hasher *hasher;  ///< the store's hasher
  pks__scratch records;
  pks__scratch starts;  ///< le16 per page of `records`
  pks__scratch keys;    ///< hash of every path, and offset of its first record
  pks__scratch folders;
  pks__hash_map folder_map;  ///< a folder's path -> offset in `folders`
  pks__scratch frames;       ///< pks__run_frame; raw_start holds the raw length until the end
  pks__scratch segments;     ///< pks__run_segment
  pks__scratch chunks;       ///< prefix and number of every chunk
  uint32_t pack_count;
  uint64_t record_count;
  uint64_t last_record;    ///< its offset
  uint32_t listed_chunks;  ///< chunks of all segments so far
} pks__run_writer;

/// `hasher` outlives the writer; NULL for a run without records.
void pks__run_writer_init(
  pks__run_writer *writer, pks__scratch_folder *home, const pks__path_hasher *hasher, uint32_t pack_count
);
void pks__run_writer_free(pks__run_writer *writer);

/// Adds a segment and hands out its number. `chunk_count` is 0 when the run does not list its chunks. `first_chunk` is
/// ignored.
pks_status pks__run_writer_add_segment(
  pks__run_writer *writer, const pks__run_segment_info *info, uint32_t *number, pks_error *error
);

/// Adds a chunk of a listed segment; `number` counts through all listed chunks in order of segments.
pks_status pks__run_writer_add_chunk(pks__run_writer *writer, uint64_t prefix, uint32_t number, pks_error *error);

/// Adds a frame; `info->raw_start` is ignored. `info->segment` is a number handed out above.
pks_status pks__run_writer_add_frame(
  pks__run_writer *writer, const pks__run_frame_info *info, uint32_t *number, pks_error *error
);

/// A record to add. For a file `extents` has `extent_count` extents that cover it.
typedef struct pks__run_item {
  const char *path;
  size_t path_length;
  uint16_t pack;
  pks__record_kind kind;
  uint8_t flags;  ///< without PKS__FLAG_ONE_EXTENT, which follows from the count
  uint64_t size;
  const uint8_t *target;
  const pks__extent *extents;
  uint64_t extent_count;
} pks__run_item;
pks_status pks__run_writer_add(pks__run_writer *writer, const pks__run_item *item, pks_error *error);

/// The facts about a run in the generation.
typedef struct pks__run_name {
  uint64_t name;  ///< the file is `index/<16 hex digits>.run`
  uint64_t file_length;
  uint64_t trailer_sum;
} pks__run_name;

/// Writes the run to `path` in the staging folder and closes it. With `sync` its bytes are durable; its name is not.
/// HOSTILE_NAMES, and no file, when look-ups would inspect too many buckets under each of a few salts.
pks_status pks__run_writer_finish(
  pks__run_writer *writer, const char *path, bool sync, uint64_t *file_length, uint64_t *trailer_sum, pks_error *error
);

#endif
