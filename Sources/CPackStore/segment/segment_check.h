/// Inspecting one segment file by itself: header, table, padding, every frame and dictionary and, when deep, every chunk.
///
/// Faults are reported to the caller, which knows what to do about them: to name them (`verify`), or to
/// store again what is left (`repair`). A function returns a status only when the inspection must end.
///
/// A dictionary that is damaged is told once, as the file around frames, and once for each frame that needs it, unless
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
  bool goes_on;                  ///< past frames whose rows cannot be read, to what can be
  void *context;
  /// Something is wrong. `frame` is given when it is what a frame holds, and NULL when it is the file around it.
  void (*fault)(void *context, const pks_error *fault, const pks__frame *frame);
  /// A frame that is whole; with `deep`, `raw` is its content. May be NULL.
  pks_status (*whole
  )(void *context, pks__segment *segment, uint32_t index, const pks__frame *frame, const uint8_t *raw,
    pks_error *error);
  /// Says that the file was gone through up to `offset`. May be NULL.
  pks_status (*advance)(void *context, uint64_t offset, pks_error *error);
  uint64_t fault_count, frames_checked, chunks_checked, bytes_checked;
  pks__decoder *decoder;
  pks__dictionaries dictionaries;
  uint64_t bad_dictionaries;  ///< of the present segment, a bit for each
  pks__scratch stored, raw;   ///< of a frame, or of a dictionary
} pks__segment_checker;

/// Fills in what the inspector needs of its own; what the caller says is there before.
pks_status pks__segment_checker_open(pks__segment_checker *inspector, pks_error *error);
void pks__segment_checker_close(pks__segment_checker *inspector);  ///< a zeroed one is fine

/// Whether a failure says that bytes of the store are gone or not what they were. That a file may not be read, or that
/// this process lacks something, says no such thing.
bool pks__error_is_damage(const pks_error *error);

/// Checks every page of a table, and tells each that is bad.
pks_status pks__check_table(pks__segment_checker *inspector, pks__table *table, pks_error *error);

/// Checks the table, against itself and against the segment's id. `*sound` is false when it must not be relied on.
pks_status pks__check_segment_table(
  pks__segment_checker *inspector, pks__segment *segment, bool *sound, pks_error *error
);

/// Checks the rest: header, frames, and that what no frame takes is zero. Needs the table.
pks_status pks__check_frames(pks__segment_checker *inspector, pks__segment *segment, pks_error *error);

#endif
