/// A survey of a damaged store: finds intact data in its segments, without the index.
///
/// Segments with every byte intact are used unchanged. For the others, the *intact chunks* are known: those of intact frames in
/// damaged segments. Data in a segment with an unreadable table is not found here. Layout roots are recorded too: they show the
/// versions of packs if no index does.
#ifndef PKS_REPAIR_SEGMENT_SCAN_H
#define PKS_REPAIR_SEGMENT_SCAN_H

#include "index/run_writer.h"
#include "segment/segment_check.h"
#include "store/state.h"

/// A segment file.
typedef struct pks__scanned_segment {
  pks__segment_id id;
  pks__segment *segment;  ///< open; NULL: it could not be opened
  bool is_whole;
  bool is_remote;  ///< it is stored elsewhere: the store has only the table
} pks__scanned_segment;

/// A chunk of a frame that is whole.
typedef struct pks__intact_chunk {
  uint32_t segment;  ///< number in `segments`
  uint32_t frame;
  uint32_t row;
} pks__intact_chunk;

typedef struct pks__segment_scan {
  pks_store *store;
  pks__scratch segments;       ///< pks__scanned_segment, in order of ids
  pks__scratch chunks;         ///< pks__intact_chunk, of segments that are not whole
  pks__hash_map by_id;         ///< id -> index in `chunks`
  pks__scratch layouts;        ///< pks__id: intact layout roots, at any place
  uint64_t whole_count;        ///< segments
  bool has_tables;             ///< set before opening: segments with only a table in `tables/` count too
  pks__frame_readers readers;  ///< apart from the store's: dictionaries that are damaged are found in other segments
  pks__frame_reader *reader;
  // While it is made.
  bool (*progress)(void *context, uint64_t bytes_done, uint64_t bytes_total);
  void *context;
  uint32_t present;      ///< segment under way
  uint64_t first_chunk;  ///< its first in `chunks`
  uint64_t bytes_begin, bytes_done, bytes_shown, bytes_total;
} pks__segment_scan;

/// Reads all of `segments/`: time in proportion to its bytes. `progress` may be NULL; false cancels.
pks_status pks__segment_scan_open(
  pks__segment_scan *out, pks_store *store, pks__scratch_folder *home,
  bool (*progress)(void *context, uint64_t bytes_done, uint64_t bytes_total), void *context, pks_error *error
);
void pks__segment_scan_close(pks__segment_scan *survey);  ///< a zeroed one is fine

/// Writes a run that lists the segments that are whole, with their chunks, and has no records: a snapshot of it and of no
/// pack has all that may be reused. The run's file is `path` in the staging folder, synced.
pks_status pks__segment_scan_write_run(
  const pks__segment_scan *survey, pks__scratch_folder *home, const char *path, pks__run_name *name, pks_error *error
);

/// An intact chunk of a segment that is not whole.
bool pks__segment_scan_has(const pks__segment_scan *survey, const pks__id *id);
/// Appends its bytes to `out`; `*found` is false if it does not exist.
pks_status pks__segment_scan_read(
  pks__segment_scan *survey, const pks__id *id, pks__scratch *out, bool *found, pks_error *error
);

#endif
