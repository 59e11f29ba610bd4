/// Index runs: immutable, mapped pieces of the index (layout in `format.h`).
///
/// A run holds records, one per (path, pack) that some commits changed; a later run's record hides an earlier one's for
/// the same path and pack. It also holds the frames its records refer to, and a table of the chunks that came with
/// those commits. Nothing is parsed when a run opens: look-ups work on the mapped bytes, each page checked when first
/// touched, each reference checked against its section.
///
/// Look-up of a path: one hash for all runs, one bucket (a cache line), one record; then the name and its folder are
/// compared in full. No names make it inspect more than PKS__BUCKETS_MAX buckets.
#ifndef PKS_INDEX_RUN_H
#define PKS_INDEX_RUN_H

#include "format/format.h"
#include "format/table.h"

#define PKS__INDEX_FOLDER "index"

/// A part of the body that holds `count` rows or `length` bytes.
typedef struct pks__section {
  uint64_t offset;
  uint64_t length;
} pks__section;

typedef struct pks__run {
  pks__table table;
  uint32_t pack_count;
  uint32_t frame_count;
  uint32_t segment_count;
  uint32_t chunk_bits;
  uint32_t salt;
  uint64_t record_count;
  uint64_t bucket_count;
  uint32_t bucket_limit;  ///< that a look-up inspects at most
  uint64_t chunk_count;
  pks__section buckets, records, starts, folders, frames, segments, chunk_directory, chunk_rows;
} pks__run;

/// Opens and maps the run in the file `path`.
pks_status pks__run_open(pks__run *out, const pks_vfs *vfs, pks_vfs_file folder, const char *path, pks_error *error);
void pks__run_close(pks__run *run);  ///< a zeroed one is fine

/// A record, decoded; names, target and extents are on loan until the run closes.
typedef struct pks__run_entry {
  uint64_t offset, next;  ///< in the records section
  pks__record_kind kind;
  uint8_t flags;
  uint16_t pack;  ///< within the run
  const char *folder;
  uint16_t folder_length;
  const char *name;
  uint16_t name_length;
  uint64_t size;
  const uint8_t *target;  ///< target of a link, `size` bytes
  uint64_t extent_count;
  const pks__extent *extents;  ///< NULL with PKS__FLAG_ONE_EXTENT
  uint32_t frame, skip;        ///< with PKS__FLAG_ONE_EXTENT
} pks__run_entry;

/// The record at an offset. On an error `*out` is unspecified.
pks_status pks__run_entry_at(pks__run *run, uint64_t offset, pks__run_entry *out, pks_error *error);

/// Reads a record without the folder: for one that was found before.
pks_status pks__run_place_at(pks__run *run, uint64_t offset, pks__run_entry *out, pks_error *error);

/// Walks the records of a path (one per pack that has it): zero `*probe`, call until `*found` is false. `hash` is the
/// store's `pks__path_hash` of the path.
typedef struct pks__run_probe {
  uint64_t next;     ///< offset of the next record; 0: not set, UINT64_MAX: none
  uint32_t buckets;  ///< that were inspected, PKS__BUCKETS_MAX at most
} pks__run_probe;
pks_status pks__run_find(
  pks__run *run, uint64_t hash, const char *path, size_t length, pks__run_probe *probe, pks__run_entry *out,
  bool *found, pks_error *error
);

/// Finds the offset of the first record whose path is not before `path`; the section's length if none. O(log records).
pks_status pks__run_seek(pks__run *run, const char *path, size_t length, uint64_t *offset, pks_error *error);

/// Full paths compared bytewise.
int pks__run_entry_compare(const pks__run_entry *entry, const char *path, size_t length);

/// Frame `index`, checked against the sections.
typedef struct pks__run_frame_info {
  pks__frame_ref ref;
  uint32_t segment;
  uint64_t raw_start;
} pks__run_frame_info;
pks_status pks__run_frame_at(pks__run *run, uint32_t index, pks__run_frame_info *out, pks_error *error);

/// Finds the frame among [first, count) that contains raw position `position` of the run's running sum of raw lengths. O(log
/// frames), and a few probes if frames have similar lengths.
pks_status pks__run_frame_find(pks__run *run, uint32_t first, uint64_t position, uint32_t *index, pks_error *error);

typedef struct pks__run_segment_info {
  pks__segment_id id;
  uint32_t first_chunk;
  uint32_t chunk_count;
  uint32_t kind;
  uint64_t file_length;
} pks__run_segment_info;
pks_status pks__run_segment_at(pks__run *run, uint32_t index, pks__run_segment_info *out, pks_error *error);

/// Walks the chunks whose id begins like `prefix` does; a hit is a hint, to be compared with the id in the segment.
/// Zero `*probe`, call until `*found` is false. `*segment` is within the run, `*row` within the segment. O(log chunks) a
/// call.
pks_status pks__run_find_chunk(
  pks__run *run, uint64_t prefix, uint32_t *probe, uint32_t *segment, uint32_t *row, bool *found, pks_error *error
);

/// Whether that walk comes upon the run's chunk `number`. O(log chunks) however many have the prefix.
pks_status pks__run_lists_chunk(pks__run *run, uint64_t prefix, uint32_t number, bool *listed, pks_error *error);

#endif
