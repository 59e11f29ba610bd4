/// Checking a whole store: every byte of the files that a snapshot's generation stands on, and, when deep, that they
/// say the same thing.
///
/// Order of checks. Each level is believed only where the level below it was found sound, so that damage is reported
/// where it is, once, and is never stepped into:
///   1. the control file and the generation's file                                    `verify.c`
///   2. runs: checksums, then records, folders, frames and look-ups against each other  `verify_runs.c`
///   3. segments: checksums, the table against itself, every frame; deep: every chunk   `verify_segments.c`
///   4. runs against segments: frames exist, chunks are found                           `verify_segments.c`
///   5. the namespace: whom the faults found so far hurt                                `verify_names.c`
///   6. versions: catalogs against layouts; deep: chunk by chunk, and against the index `verify_versions.c`
///
/// Runs and segments are opened anew here and not taken from the view: its bitmaps remember pages that were good when
/// they were first touched, and its mappings the lengths that files had. Levels 4 to 6 use the view's, which are the
/// same files; they are left out where a file is not as long as it was, as touching its mapping could raise SIGBUS.
///
/// Faults of frames are held back until levels 5 and 6 have found the assets that lie there; what is left is told at the
/// end. A segment that is gone is a fault only if something needs it: runs go on naming the segments of versions that
/// were dropped.
///
/// Every `check_...` function tells the faults it finds and returns a status only when the walk must end.
#ifndef PKS_VERIFY_H
#define PKS_VERIFY_H

#include "catalog.h"
#include "inspect.h"
#include "names.h"
#include "patient.h"
#include "pieces.h"
#include "segment_list.h"

/// What is known about a segment.
typedef enum pks__segment_state {
  PKS__SEGMENT_SOUND,    ///< its table can be used; frames may be damaged
  PKS__SEGMENT_DAMAGED,  ///< its table is not to be touched; told. Frames are read where something needs them
  PKS__SEGMENT_GONE,     ///< there is no such file
} pks__segment_state;

/// What is known about a frame: of sound segments the bad ones, of damaged ones those that were asked for. Of a segment
/// that is gone, one row stands for all frames.
typedef struct pks__frame_finding {
  uint32_t segment;  ///< by number in the list
  uint64_t offset, length;
  bool is_bad;
  pks_status status;
  int32_t system_error;
  const char *text;
  uint64_t number;    ///< of the fault, once it was told
  uint64_t told_for;  ///< the version or asset that it was told for last, by `subject`
} pks__frame_finding;

typedef struct pks__verification {
  pks__patient patient;  ///< the store's seam, which tells of what cannot be read before it is looked at in a mapping
  pks__view *view;
  bool deep;
  void (*fault)(void *context, const pks_fault *fault);
  bool (*progress)(void *context, uint64_t bytes_done, uint64_t bytes_total);
  void *context;
  pks_verify_totals totals;
  pks_error found;     ///< by the check under way
  pks_error reported;  ///< the last fault
  pks__inspector inspector;

  pks__run *runs;        ///< opened anew; zeroed: not sound
  bool runs_are_sound;   ///< all of them
  bool runs_are_long;    ///< as long as they were mapped: they may be touched
  bool pages_are_sound;  ///< no metadata segment's table is damaged
  pks__segment_list segments;
  pks__segment_state *states;  ///< by number in `segments`
  uint32_t segment;            ///< under inspection
  uint64_t segment_begin;      ///< bytes done before it
  pks__scratch findings;       ///< pks__frame_finding
  pks__map finding_map;        ///< segment and offset -> number in `findings`
  uint64_t subject;            ///< counts the versions and assets that were looked at
  pks__map hurt;               ///< assets that faults were told of, by a sum over pack, version and path
  uint64_t bytes_done, bytes_total, bytes_shown;
  pks__scratch stored;      ///< a small file, or a frame
  uint64_t *record_counts;  ///< by rank: records of the namespace
  char *path;               ///< PKS__PATH_MAX bytes: of the record or entry before
  size_t path_length;
} pks__verification;

enum { PKS__VERIFY_ENTRIES = 1000 };  ///< entries from one report of progress to the next

/// Whom a fault hurts.
typedef struct pks__fault_subject {
  const char *pack;  ///< NULL: nobody
  uint64_t version;
  const char *asset;  ///< NULL: all of the version
  size_t asset_length;
} pks__fault_subject;

/// Tells `v->found`, unless it must end the walk: then its status is returned. `subject` may be NULL.
pks_status pks__verify_settle(pks__verification *v, pks_status status, const pks__fault_subject *subject);
/// Tells a corruption that nobody's asset is known to suffer from.
void pks__verify_report(pks__verification *v, const char *text, const char *file, uint64_t offset);
/// Says how far the walk is, now and then: when enough bytes were read, or `always`.
pks_status pks__verify_progress(pks__verification *v, bool always);

// MARK: - Findings

/// Holds a fault of a frame back, or what is known of a frame.
pks_status pks__verify_note(pks__verification *v, const pks__frame_finding *finding);
/// The finding of a frame; NULL: it is whole, or nothing is known.
pks__frame_finding *pks__verify_finding(pks__verification *v, uint32_t segment, uint64_t offset);
/// Tells a finding that is bad for a subject, once for each.
void pks__verify_blame(pks__verification *v, pks__frame_finding *finding, const pks__fault_subject *subject);
/// Tells what was told for nobody.
void pks__verify_tell_rest(pks__verification *v);
/// The finding that `v->found` is about, if it was found before.
pks__frame_finding *pks__verify_known(pks__verification *v);

// MARK: - Levels

pks_status pks__verify_run(pks__verification *v, uint32_t number);
pks_status pks__verify_segment(pks__verification *v, uint32_t number);
pks_status pks__verify_run_against_segments(pks__verification *v, uint32_t number);
pks_status pks__verify_namespace(pks__verification *v);
/// In place of the above when runs are damaged: looks up what the current catalogs name.
pks_status pks__verify_lookups(pks__verification *v);
/// Version `index` of a pack; removed packs come after the others.
pks_status pks__verify_version(pks__verification *v, uint32_t rank, uint32_t index);

// MARK: - Shared between levels

/// The view's own segment, with its table; NULL when it cannot be used.
pks_status pks__verify_use_segment(pks__verification *v, uint32_t number, pks__segment **out);
/// The path of a segment in the store.
void pks__verify_segment_path(const pks__verification *v, uint32_t number, char out[PKS__INDEX_NAME]);
/// Blames whatever is wrong with the frames of a record for the asset.
pks_status pks__verify_record(pks__verification *v, const pks__hit *hit, const pks__fault_subject *subject);
/// Compares an entry of a current catalog with what the index says of it.
pks_status pks__verify_entry(pks__verification *v, uint32_t rank, const pks__catalog_entry *entry);
/// Compares an entry's chunks with those that extents lead to: one frame's part after another. `next` hands out the
/// segment (NULL: it cannot be used), the frame and the part; CORRUPT when there is none left.
typedef struct pks__frame_part {
  pks__segment *segment;
  pks__frame frame;
  uint32_t begin, end;  ///< raw bytes of the frame
} pks__frame_part;
typedef struct pks__part_source {
  void *context;
  pks_status (*next)(void *context, pks__frame_part *out, pks_error *error);
} pks__part_source;
pks_status pks__verify_chunks(pks__verification *v, const pks__catalog_entry *entry, pks__part_source parts);

#endif
