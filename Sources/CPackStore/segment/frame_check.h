/// The check of a frame's stored bytes, and the frames of a segment that are known to be damaged or missing.
///
/// A segment remembers up to 1,000 frames that failed the check in this process; after that, all its frames count as damaged.
///
/// Threads: any. The segment's mutex guards the list.
#ifndef PKS_SEGMENT_FRAME_CHECK_H
#define PKS_SEGMENT_FRAME_CHECK_H

#include "segment/segment.h"

/// Whether the bytes of a frame, and of the dictionary that it needs, were present at the last check, and not found damaged in this
/// process. The frame is listed in the table or in a run.
bool pks__frame_is_present(pks__segment *segment, const pks__frame_ref *frame);

/// Whether the frame of chunk `row` was found damaged in this process or, in a purgeable segment, is missing: nothing new should
/// refer to it. Needs the table.
bool pks__frame_of_chunk_is_bad(pks__segment *segment, uint32_t row);

/// Checks the stored bytes of a frame, and remembers the frame when they are bad.
pks_status pks__frame_check(pks__segment *segment, const pks__frame_ref *frame, const void *stored, pks_error *error);

/// Reads a frame's stored bytes and checks their sum.
pks_status pks__frame_read_stored(pks__segment *segment, const pks__frame_ref *frame, void *out, pks_error *error);

#endif
