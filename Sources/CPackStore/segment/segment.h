/// Segments: immutable files of frames with a table at the end (layout in `format.h`).
///
/// A `pks__segment` is an open segment, shared by readers on any number of threads. Frames are read with `pread` and checked before
/// any caller sees them; the table (chunk ids, frame rows) is mapped only when a writer or a whole-store walk needs it.
///
/// The table's columns are believed page by page, after `pks__table_check`, and every row that is used is checked
/// against the file's limits.
///
/// A *purgeable* segment's table is stored separately, among the durable files, and its file is in a cache folder, where it may be
/// deleted or truncated at any moment. So the file is never mapped, and data in it that is unreadable, or has a wrong checksum, is
/// PURGED: missing and to be fetched again, not damage.
///
/// Frames may be encoded with *dictionaries*, of which the segment has its own copies. They are neither frames nor chunks: code
/// that decodes frames gets them from `segment/dictionaries.h`, and code that copies frames copies them too.
#ifndef PKS_SEGMENT_H
#define PKS_SEGMENT_H

#include "codec/codec.h"
#include "format/format.h"
#include "format/table.h"
#include "platform/threads.h"

#define PKS__SEGMENTS_FOLDER "segments"
#define PKS__TABLES_FOLDER "tables"

typedef struct pks__segment {
  // What reading a raw frame needs comes first, in one cache line.
  const pks_vfs *vfs;
  uint64_t file_length;     ///< for a purgeable segment the length in its table
  _Atomic(uint8_t *) data;  ///< the whole file mapped, for borrowed raw assets and the mapped mode
  pks_vfs_file file;        ///< for a purgeable segment PKS_VFS_NO_FILE if it was missing
  bool is_purgeable;
  bool is_base;         ///< it is in the base
  bool is_read_mapped;  ///< raw frames that were checked are copied from the mapping (`pks_options.mapped_mode`)
  pks__segment_id id;
  char name[64];  ///< path in the store, for messages
  _Atomic(uint64_t
  ) present;         ///< bytes of the file that were there when it was opened or, if it is purgeable, measured last
  pks__table table;  ///< mapped once `has_table`
  _Atomic(bool) has_table;
  _Atomic(bool) is_gone;  ///< the file was collected while it is open here
  uint32_t kind;          ///< the rest once `has_table`
  uint32_t frame_count;
  uint32_t chunk_count;
  uint32_t dictionary_count;
  uint64_t frames_end;
  const pks__frame_row *frames;
  const pks__dictionary_row *dictionaries;
  const pks__id *ids;
  const pks_le32 *ends;
  pks__mutex *mutex;  ///< guards the mapping of the table and of the data, and the bad frames
  _Atomic(bool) has_bad_frames;
  pks__scratch bad_frames;  ///< uint64_t: offsets of frames whose checksum failed in this process, in the heap
  bool all_bad;             ///< so many that all count as bad
} pks__segment;

/// Opens `path` (under `folder`), the file of the segment `id`. PURGED if it does not exist.
pks_status pks__segment_open(
  pks__segment **out, const pks_vfs *vfs, pks_vfs_file folder, const char *path, const pks__segment_id *id,
  pks_error *error
);
/// Opens a purgeable segment: its table at `path` under `folder`, and its file `data`, whose ownership is taken even on an error;
/// PKS_VFS_NO_FILE: it is missing. PURGED if the table does not exist.
pks_status pks__segment_open_purgeable(
  pks__segment **out, const pks_vfs *vfs, pks_vfs_file folder, const char *path, pks_vfs_file data,
  const pks__segment_id *id, pks_error *error
);
void pks__segment_close(pks__segment *segment);  ///< NULL is fine

/// Maps the table unless that was done before. The columns' places are checked; their rows are not.
pks_status pks__segment_need_table(pks__segment *segment, pks_error *error);

/// A frame according to its row, checked against the file.
typedef struct pks__frame {
  pks__frame_ref ref;
  uint32_t first_chunk;
  uint32_t chunk_count;
} pks__frame;

/// Frame `index` < frame_count. Needs the table.
pks_status pks__segment_frame(pks__segment *segment, uint32_t index, pks__frame *out, pks_error *error);

/// A dictionary according to its row, checked against the file. Its codec is raw or plain zstd.
typedef struct pks__segment_dictionary {
  pks__frame_ref ref;
  pks__id id;  ///< SHA-256 of its bytes
} pks__segment_dictionary;

/// Returns the dictionary for frames of codec PKS__CODEC_DICTIONARY + `number`; CORRUPT if it does not exist. Needs the table.
pks_status pks__segment_dictionary_at(
  pks__segment *segment, uint32_t number, pks__segment_dictionary *out, pks_error *error
);

/// The ends of the frame's chunks within its raw bytes, checked: they rise, and the last is the raw length. Needs the table.
pks_status pks__segment_frame_ends(
  pks__segment *segment, const pks__frame *frame, const pks_le32 **out, pks_error *error
);

/// A chunk's share of its frame's stored bytes goes up to here, if the chunk ends at `raw_end`. Shares so cut add up to the
/// whole frame.
static inline uint64_t pks__frame_stored_until(const pks__frame *frame, uint32_t raw_end) {
  return (uint64_t)frame->ref.stored_length * raw_end / frame->ref.raw_length;
}

/// The place of chunk `row` < chunk_count: its frame, and [begin, end) within the frame's raw bytes. Needs the table. O(log
/// frames).
typedef struct pks__chunk_place {
  uint32_t frame;
  uint32_t begin;
  uint32_t end;
} pks__chunk_place;
pks_status pks__segment_chunk(pks__segment *segment, uint32_t row, pks__chunk_place *out, pks_error *error);

/// The id of chunk `row` < chunk_count, on loan until the segment closes. Needs the table.
pks_status pks__segment_chunk_id(pks__segment *segment, uint32_t row, const pks__id **out, pks_error *error);

/// Measures the current length of a purgeable segment's file, which may have been truncated. Restored data counts once the segment
/// is opened again.
void pks__segment_measure(pks__segment *segment);

/// Fails with PURGED: `byte_count` bytes in the cache folder are damaged or missing.
pks_status pks__segment_fail_purged(
  const pks__segment *segment, bool is_damaged, uint64_t offset, uint64_t byte_count, pks_error *error
);

/// Reads stored bytes, which must not be used before they are checked.
pks_status pks__segment_read(pks__segment *segment, uint64_t offset, size_t byte_count, void *out, pks_error *error);

/// The whole file, mapped for as long as the segment is open. NOT_CONTIGUOUS for a purgeable segment.
pks_status pks__segment_map_data(pks__segment *segment, const uint8_t **out, pks_error *error);

#endif
