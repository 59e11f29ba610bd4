/// The frames of a delivery that come, and the ingest that they go to.
///
/// Definitions
///   hole         the placeholder of a frame that is not fetched: it has a length in the file, but uses no disk space on file
///   systems
///                with sparse files.
///   kept         a frame of the site that is written unchanged: at least three quarters of it are needed, and the frames with its
///                dictionary, which is copied to segments here, are worth the copy.
///   taken apart  another frame: its missing chunks are gathered to frames here.
///   resumed      chunks that an interrupted delivery left in the folder.
///
/// States: closed -> open (`pks__delivery_frames_open`): resumed chunks are new ones of the ingest, and frames may be
/// given -> walked (`pks__delivery_frames_walk`): the ingest has the version, to be staged -> closed. Walked also without
/// having been open, for a version that the store keeps (`pks__delivery_frames_walk_kept`).
///
/// Invariants
///   1. A frame's stored bytes are checked before they are decoded, and each missing chunk of it before any is written.
///   2. New chunks are numbered in the order in which their frames are written, be these kept, gathered, or resumed.
///
/// Owner: `delivery_frames.c`.
#ifndef PKS_TRANSFER_DELIVERY_FRAMES_H
#define PKS_TRANSFER_DELIVERY_FRAMES_H

#include "ingest/ingest_version.h"
#include "transfer/delivery_dictionaries.h"

typedef struct pks__delivery_frames {
  pks__delivery_context *context;
  pks__delivery_pages *pages;
  pks__missing_chunks *needs;
  const pks__delivery_plan *plan;
  const pks__delivery_dictionaries *dictionaries;
  pks__ingest ingest;
  bool has_ingest;
  pks__scratch raw;                   ///< raw bytes of the last decoded frame
  pks__scratch ids, ends;             ///< chunks of the current frame
  uint32_t open_file;                 ///< needy file of the chunks that are gathered, UINT32_MAX: none
  uint64_t open_end;                  ///< where the last of them ends
  pks__scratch stored;                ///< stored bytes read back
  uint32_t read_segment, read_frame;  ///< which frame, and in `raw`
  bool has_read;
  uint64_t resumed_bytes, resumed_chunks, resumed_raw_bytes;
  uint64_t bytes_done, chunks_done;  ///< that were given
} pks__delivery_frames;

void pks__delivery_frames_init(
  pks__delivery_frames *frames, pks__delivery_context *context, pks__delivery_pages *pages, pks__missing_chunks *needs,
  const pks__delivery_plan *plan, const pks__delivery_dictionaries *dictionaries
);

/// Opens the ingest and adopts the folder's contents, once the catalog's root has arrived. `encoding`: as in
/// `pks__version_request`.
pks_status pks__delivery_frames_open(
  pks__delivery_frames *frames, pks__staging *staging, const pks_add_request *encoding, bool sync, pks_error *error
);
/// Closes the ingest. Received data stays in the folder, except gathered but unwritten chunks.
void pks__delivery_frames_close(pks__delivery_frames *frames);
/// Writes the chunks that are gathered.
void pks__delivery_frames_flush(pks__delivery_frames *frames);

pks_status pks__delivery_frames_give(
  pks__delivery_frames *frames, const pks__byte_request *request, const void *bytes, bool *is_final, pks_error *error
);

/// Writes holes in place of all planned frames, none of which was requested.
pks_status pks__delivery_frames_leave_out(pks__delivery_frames *frames, pks_error *error);

/// Walks the catalog, all of whose chunks are present.
pks_status pks__delivery_frames_walk(pks__delivery_frames *frames, bool sync, pks_error *error);
/// Walks the catalog of a version that the store keeps: nothing came.
pks_status pks__delivery_frames_walk_kept(
  pks__delivery_frames *frames, pks__staging *staging, const pks__version *kept, bool sync, pks_error *error
);

#endif
