/// Inspecting one segment file by itself: header, table, padding, every frame and dictionary and, when deep, every chunk.
///
/// Faults are reported to the caller, which lists them (`verify`), or stores the remaining data again (`repair`). A function
/// returns a status only if the inspection must end.
///
/// A damaged dictionary is reported once, as a fault of the file, and once for each frame that needs it, unless
/// `dictionaries.find_other` finds another copy.
///
/// An inspector belongs to one thread and serves any number of segments, one after another.
#ifndef PKS_SEGMENT_SEGMENT_CHECK_H
#define PKS_SEGMENT_SEGMENT_CHECK_H

#include "codec/hash_batch.h"
#include "platform/scratch.h"
#include "segment/dictionaries.h"

typedef struct pks__segment_checker {
  pks_sha256 *sha256;            ///< NULL: the table's hash is not compared with the segment's name
  pks_sha256_many *sha256_many;  ///< may be NULL
  bool deep;                     ///< decode frames and compare chunks with their names; needs `sha256`
  bool goes_on;                  ///< continues after frames with unreadable rows, at the next readable one
  void *context;
  /// Called for a fault. `frame` is set if the fault is in a frame's contents, and NULL if it is in the file around it.
  void (*fault)(void *context, const pks_error *fault, const pks__frame *frame);
  /// A frame that is whole; with `deep`, `raw` is its content. May be NULL.
  pks_status (*whole
  )(void *context, pks__segment *segment, uint32_t index, const pks__frame *frame, const uint8_t *raw,
    pks_error *error);
  /// Called when the file was processed up to `offset`. May be NULL.
  pks_status (*advance)(void *context, uint64_t offset, pks_error *error);
  uint64_t fault_count, frames_checked, chunks_checked, bytes_checked;
  pks__decoder *decoder;
  pks__dictionaries dictionaries;
  uint64_t bad_dictionaries;  ///< of the current segment, a bit for each
  pks__scratch stored, raw;   ///< bytes of a frame, or of a dictionary
} pks__segment_checker;

/// Initializes the inspector's own fields; the caller's fields must be set before.
pks_status pks__segment_checker_open(pks__segment_checker *inspector, pks_error *error);
void pks__segment_checker_close(pks__segment_checker *inspector);  ///< a zeroed one is fine

/// Whether a failure means that bytes of the store are missing or changed. A missing permission, or a lack of resources in this
/// process, does not.
bool pks__error_is_damage(const pks_error *error);

/// Checks every page of a table, and reports each bad one.
pks_status pks__check_table(pks__segment_checker *inspector, pks__table *table, pks_error *error);

/// Checks the table, against itself and against the segment's id. `*sound` is false when it must not be relied on.
pks_status pks__check_segment_table(
  pks__segment_checker *inspector, pks__segment *segment, bool *sound, pks_error *error
);

/// Checks the rest: header, frames, and that unused bytes are zero. Needs the table.
pks_status pks__check_frames(pks__segment_checker *inspector, pks__segment *segment, pks_error *error);

/// Whether a whole segment is valid: its table has its id, and every chunk its SHA-256. For a file that another store wrote.
/// `sha256_many` may be NULL. Fails only if a read fails for a reason other than damage, or memory is short.
pks_status pks__segment_is_valid(
  pks__segment *segment, pks_sha256 *sha256, pks_sha256_many *sha256_many, bool *is_valid, pks_error *error
);

#endif
