/// Checks a whole store: every byte of the files of a snapshot's generation, and, if deep, their consistency with each other.
///
/// Order of checks. Each level is trusted only if the level below it was found sound, so that damage is reported once, at its
/// location, and is never read as valid data:
///   1. the control file and the generation's file                                    `verify.c`
///   2. runs: checksums, then records, folders, frames and look-ups against each other  `verify_runs.c`
///   3. segments: checksums, the table against itself, every frame; deep: every chunk   `verify_segments.c`
///   4. runs against segments: frames exist, chunks are found                           `verify_segments.c`
///   5. the namespace: which assets the faults found damage                            `verify_names.c`
///   6. versions: catalogs against layouts; deep: chunk by chunk, and against the index `verify_versions.c`
///
/// Runs and segments are opened again here and not taken from the snapshot: its bitmaps remember pages that were good on first
/// access, and its mappings the lengths that files had. Levels 4 to 6 use the snapshot's, which are the same files; they are
/// skipped if a file was truncated, because reading its mapping could raise SIGBUS.
///
/// Faults of frames are held back until levels 5 and 6 have found the assets in them; the rest is reported at the end. A missing
/// segment is a fault only if something needs it: runs still list the segments of dropped versions.
///
/// Every `check_...` function reports the faults it finds and returns a status only if the walk must end.
#ifndef PKS_CHECK_VERIFICATION_H
#define PKS_CHECK_VERIFICATION_H

#include "catalog/catalog.h"
#include "catalog/row_budget.h"
#include "check/vfs_retry.h"
#include "index/extent_walk.h"
#include "read/namespace.h"
#include "segment/segment_check.h"
#include "store/segment_list.h"

/// The state of a segment.
typedef enum pks__segment_state {
  PKS__SEGMENT_SOUND,    ///< its table can be used; frames may be damaged
  PKS__SEGMENT_DAMAGED,  ///< its table must not be read; reported. Frames are read if something needs them
  PKS__SEGMENT_GONE,     ///< the file does not exist
} pks__segment_state;

/// The result for a frame: bad frames of sound segments, and needed frames of damaged ones. One row represents all frames of a
/// missing segment.
typedef struct pks__frame_finding {
  uint32_t segment;  ///< by number in the list
  uint64_t offset, length;
  bool is_bad;
  bool is_cached_damage;  ///< PURGED, and the cache folder has the bytes: their sum is wrong
  pks_status status;
  int32_t system_error;
  const char *text;
  uint64_t number;    ///< number of the fault, once it was reported
  uint64_t told_for;  ///< the version or asset of the last report, by `subject`
} pks__frame_finding;

typedef struct pks__verification {
  pks__vfs_retry patient;  ///< the store's vfs, which reports unreadable data before it is read in a mapping
  pks_snapshot *snapshot;
  bool deep;
  void (*fault)(void *context, const pks_fault *fault);
  bool (*progress)(void *context, uint64_t bytes_done, uint64_t bytes_total);
  void *context;
  pks_verify_totals totals;
  pks_error found;     ///< by the check under way
  pks_error reported;  ///< the last fault
  pks__segment_checker inspector;

  pks__run *runs;        ///< opened again; zeroed: not sound
  bool runs_are_sound;   ///< all of them
  bool runs_are_long;    ///< as long as they were mapped: they may be touched
  bool pages_are_sound;  ///< no metadata segment's table is damaged
  pks__segment_list segments;
  pks__segment_state *states;  ///< by number in `segments`
  uint32_t segment;            ///< under inspection
  pks__segment *inspected;     ///< the same, while its frames are checked
  uint64_t segment_begin;      ///< bytes done before it
  pks__scratch findings;       ///< pks__frame_finding
  pks__hash_map finding_map;   ///< segment and offset -> number in `findings`
  uint64_t subject;            ///< counts the versions and assets that were looked at
  pks__hash_map hurt;          ///< assets with reported faults, by a hash of pack, version and path
  uint64_t bytes_done, bytes_total, bytes_shown;
  uint64_t ticks;           ///< rows walked
  pks__scratch stored;      ///< a small file, or a frame
  uint64_t *record_counts;  ///< by rank: records of the namespace
  char *path;               ///< PKS__PATH_MAX bytes: of the record or entry before
  size_t path_length;
} pks__verification;

enum { PKS__VERIFY_ENTRIES = 1000 };  ///< entries from one report of progress to the next

/// The object that a fault damages.
typedef struct pks__fault_subject {
  const char *pack;  ///< NULL: not known
  uint64_t version;
  const char *asset;  ///< NULL: all of the version
  size_t asset_length;
} pks__fault_subject;

/// Reports `v->found`, unless it must end the walk: then its status is returned. `subject` may be NULL.
pks_status pks__verify_settle(pks__verification *v, pks_status status, const pks__fault_subject *subject);

/// Reports damage that is not known to concern any asset.
void pks__verify_report(pks__verification *v, const char *text, const char *file, uint64_t offset);

/// Reports the walk's progress from time to time: after enough bytes, or `always`.
pks_status pks__verify_progress(pks__verification *v, bool always);

/// Called for each chunk or extent of a walk: reports progress every PKS__ROWS_PER_TICK rows, so that a walk can be cancelled that
/// reads few bytes.
pks_status pks__verify_tick(pks__verification *v);

/// Holds back a fault of a frame, or records its state.
pks_status pks__verify_note(pks__verification *v, const pks__frame_finding *finding);

/// The finding of a frame; NULL: it is whole, or nothing is known.
pks__frame_finding *pks__verify_finding(pks__verification *v, uint32_t segment, uint64_t offset);

/// Reports a bad finding for a subject, once for each subject.
void pks__verify_blame(pks__verification *v, pks__frame_finding *finding, const pks__fault_subject *subject);

/// Reports the findings that concern no asset.
void pks__verify_tell_rest(pks__verification *v);

/// The finding that `v->found` is about, if it was found before.
pks__frame_finding *pks__verify_known(pks__verification *v);

/// The path of a segment in the store.
void pks__verify_segment_path(const pks__verification *v, uint32_t number, char out[PKS__INDEX_NAME]);

#endif
