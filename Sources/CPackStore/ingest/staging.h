/// Staging: a private folder for one transaction's files, and the segments written there.
///
/// A staging folder is `tmp/<16 hex digits>/`; its locked byte shows that its process is alive. The next writer deletes the folders
/// of ended processes. A folder without a living owner also marks that `segments/` may contain files that nothing refers to.
/// Therefore a staging that leaves such files, or that removed another mark and collected nothing, leaves its own folder behind,
/// empty. Power loss may delete the folder; then the machine's boot id reveals it (`commit.c`). A segment sealed here already has
/// its final name, and the commit moves it to `segments/`. Syncs run on a thread of their own, in parallel with the following work.
#ifndef PKS_INGEST_STAGING_H
#define PKS_INGEST_STAGING_H

#include "platform/scratch.h"
#include "segment/segment_writer.h"
#include "store/state.h"

typedef struct pks__staging {
  pks_store *store;
  pks_vfs_file lock;     ///< an opening of `LOCK` of its own, so that it sees the locks of this process too
  pks_vfs_file readers;  ///< the same for `READERS`
  uint64_t id;
  pks_vfs_file folder;
  char path[PKS__INDEX_NAME];  ///< "tmp/<id>"
  pks__scratch_folder scratch;
  pks__pool *syncs;
  pks_vfs_file cache;   ///< the store's own folder in the cache folder; PKS_VFS_NO_FILE until it is needed
  char *cache_folder;   ///< the path of the cache folder, for errors; NULL until `cache` is open
  bool leaves_garbage;  ///< `segments/` may hold files that nothing names; the folder stays as a note of it
  bool is_for_site;     ///< data segments are as long as may be: each is a file that clients fetch from
} pks__staging;

/// Opens a staging after deleting those of ended processes.
pks_status pks__staging_open(pks__staging *out, pks_store *store, pks_error *error);
/// Opens the cache folder, and a folder `tmp/<id>/` in it, which goes with the one in the store; unless that was done before.
/// Errors: INVALID_ARGUMENT when `folder` is NULL: none was chosen; IO_ERROR, which names the folder.
pks_status pks__staging_need_cache(pks__staging *staging, const char *folder, pks_error *error);

/// Copies the segment `name`, sealed in `folder` of the store, into the cache folder, and its table into the staging folder, under
/// the same name and PKS__TABLE_SUFFIX; both are synced if `sync`. Deletes the file from the staging folder unless `keeps` is set:
/// then it is moved to the store's files, too. Opens it as a purgeable segment. The cache must be open.
pks_status pks__staging_place_in_cache(
  pks__staging *staging, const char *folder, const pks__segment_id *id, bool keeps, bool sync, pks__segment **out,
  pks_error *error
);
#define PKS__TABLE_SUFFIX ".table"

/// Deletes the files that stagings of ended processes left in the cache folder `root`.
void pks__staging_sweep_cache(const pks__staging *staging, pks_vfs_file root);

/// Removes the folder with all that is left in it. A zeroed staging is fine.
void pks__staging_close(pks__staging *staging);
/// Closes the parts of its parent's staging that a forked child inherited; the parent's staging continues.
void pks__staging_leave(const pks__staging *staging);

// MARK: - Sealed segments

typedef struct pks__sealed_segment {
  pks__task task;  ///< the sync
  pks__run_segment_info info;
  pks_vfs_file file;  ///< PKS_VFS_NO_FILE once synced
  const pks_vfs *vfs;
  int sync_failure;
} pks__sealed_segment;

/// Copies the table of a segment of the base to `<name>.table` of the staging folder, for `tables/`. `*had`: it already exists.
pks_status pks__staging_keep_table(
  pks__staging *staging, pks__segment *segment, bool sync, bool *had, pks_error *error
);

/// The destination of a series' frames, if not the staging folder: a folder that outlives the staging, with a journal of its
/// contents.
typedef struct pks__frame_sink {
  void *context;
  const char *path;  ///< path of the folder in the store
  /// Opens the file of segment `number`, a leftover or a new one, for reading and writing.
  pks_status (*open_segment)(void *context, uint32_t number, pks_vfs_file *out, pks_error *error);
  /// Notes a frame of segment `number`, with its chunks, whose bytes are in the file.
  pks_status (*note_frame
  )(void *context, uint32_t number, const pks__frame_row *row, const pks__id *ids, const uint32_t *ends,
    uint32_t chunk_count, pks_error *error);
  /// Notes a dictionary of segment `number`, whose bytes are in the file.
  pks_status (*note_dictionary)(void *context, uint32_t number, const pks__dictionary_row *row, pks_error *error);
  /// Notes that segment `number` is complete, before its file gets its final name.
  pks_status (*note_sealed)(void *context, uint32_t number, const pks__segment_id *id, pks_error *error);
} pks__frame_sink;

/// Appends frames to a series of segments. A segment ends at the end of an asset once it has its target length, or 128 times the
/// length of its dictionaries if that is more. An asset that is not raw in one piece may be split anywhere once the segment is four
/// times as long; a raw asset in one piece is never split.
typedef struct pks__series_dictionary {
  uint32_t segment;  ///< in the series
  uint32_t number;   ///< in the segment
  pks__dictionary_row row;
} pks__series_dictionary;

typedef struct pks__segment_series {
  pks__staging *staging;
  pks__segment_kind kind;
  const pks__frame_sink *sink;  ///< NULL: the staging
  bool sync;
  bool is_open;
  bool has_long_blocks;  ///< long raw assets are written in long blocks, which take 1.5 MiB more (`file_writer.h`)
  uint64_t target;       ///< length in bytes from which on a segment may end
  pks__segment_writer writer;
  char working_name[32];
  pks__sealed_segment **sealed;  ///< in order
  uint32_t sealed_count, sealed_capacity;
  uint64_t stored_bytes;      ///< of frames and dictionaries
  pks__scratch dictionaries;  ///< pks__series_dictionary: of all segments
} pks__segment_series;

enum {
  PKS__SEGMENT_TARGET_MIN = 1024 * 1024,
  PKS__SEGMENT_TARGET_MAX = 64 * 1024 * 1024,
};

/// Returns the target length of segments for a version of `byte_count` bytes: a 128th of it. A segment is deleted or emptied as a
/// whole; so segments are small compared with the version, and their number is bounded for any size (Decision 0017).
uint64_t pks__segment_target(uint64_t byte_count);

/// Initializes a series with the maximum target length. `sink` must outlive the series; NULL: its segments are in the staging
/// folder.
void pks__segment_series_init(
  pks__segment_series *series, pks__staging *staging, const pks__frame_sink *sink, pks__segment_kind kind, bool sync
);
/// Deletes the written segments, including sealed ones, unless they were moved.
void pks__segment_series_free(pks__segment_series *series);

/// A frame that is encoded already.
typedef struct pks__encoded_frame {
  const void *stored;  ///< NULL: a hole
  uint32_t stored_length;
  uint32_t codec;                            ///< raw or plain zstd
  const pks__stored_dictionary *dictionary;  ///< that it was encoded with; NULL: none
  uint64_t alignment;                        ///< of its place in the file, a power of two up to a page
  const pks__id *ids;
  const uint32_t *ends;
  uint32_t chunk_count;
  bool ends_asset;  ///< with its last chunk
} pks__encoded_frame;

/// Appends a frame, with number `*number` in segment `*segment` of the series; `*row` is its recorded row. A frame with a
/// dictionary gets the codec for that dictionary in the segment.
pks_status pks__segment_series_append(
  pks__segment_series *series, const pks__encoded_frame *frame, uint32_t *segment, uint32_t *number,
  pks__frame_row *row, pks_error *error
);
/// Takes up a frame of the open segment that the sink has already. `*fits` false: it cannot come next.
pks_status pks__segment_series_restore(
  pks__segment_series *series, const pks__frame_row *row, const pks__id *ids, const pks_le32 *ends,
  uint32_t chunk_count, bool *fits, pks_error *error
);
/// Takes up a dictionary of the open segment that the sink has already. `*fits` false: it cannot come next.
pks_status pks__segment_series_restore_dictionary(
  pks__segment_series *series, const pks__dictionary_row *row, bool *fits, pks_error *error
);
/// Notes a dictionary of the next sealed segment that is taken up, before the segment is.
pks_status pks__segment_series_note_dictionary(
  pks__segment_series *series, uint32_t number, const pks__dictionary_row *row, pks_error *error
);
/// Whether a segment of the series has a dictionary.
bool pks__segment_series_has_dictionary(const pks__segment_series *series, const pks__id *id);
/// The dictionary of a frame that was appended or taken up.
const pks__dictionary_row *pks__segment_series_dictionary(
  const pks__segment_series *series, uint32_t segment, uint32_t number
);
/// Takes up a sealed segment that the sink has, as the next of the series. `file` is open, and taken over.
pks_status pks__segment_series_restore_sealed(
  pks__segment_series *series, const pks__run_segment_info *info, uint64_t stored_bytes, pks_vfs_file file,
  pks_error *error
);
/// The file of the open segment, with all that was appended in it; PKS_VFS_NO_FILE when none is open.
pks_status pks__segment_series_flush(pks__segment_series *series, pks_vfs_file *file, pks_error *error);
/// The folder of its files, in the store.
const char *pks__segment_series_path(const pks__segment_series *series);
/// Marks the last appended frame as the end of an asset, or (`may_cut`) the current asset as not in one piece.
pks_status pks__segment_series_boundary(pks__segment_series *series, bool asset_ends, bool may_cut, pks_error *error);
/// Seals the open segment and waits for all syncs.
pks_status pks__segment_series_finish(pks__segment_series *series, pks_error *error);

#endif
