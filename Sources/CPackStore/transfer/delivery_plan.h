/// The frames that come: which frames of the site hold missing chunks, and where in them.
///
/// Definitions
///   needed segment  a data segment of the site with a missing chunk; in order of first need.
///   position        of a chunk: among the raw bytes of all frames of its segment.
///
/// States: empty -> tables wanted (`pks__delivery_plan_request_tables`): needed segments are known -> made
/// (`pks__delivery_plan_make`): frames are listed -> requested
/// (`pks__delivery_plan_request_frames`), request `number` i for frame i.
///
/// Invariants
///   1. Frames are by needed segment, and by number in it. The chunks of a frame do not overlap, are in order of their
///      beginnings, and each place of the site is listed once.
///   2. An invalid layout is detected here, before a frame is fetched.
///
/// Owner: `delivery_plan.c`.
#ifndef PKS_TRANSFER_DELIVERY_PLAN_H
#define PKS_TRANSFER_DELIVERY_PLAN_H

#include "transfer/missing_chunks.h"

/// A frame to fetch.
typedef struct pks__planned_frame {
  uint64_t first;  ///< in `order`
  uint32_t chunk_count;
  uint32_t needed;  ///< raw bytes
  uint32_t segment, frame;
} pks__planned_frame;

/// A missing chunk in a frame to fetch.
typedef struct pks__planned_chunk {
  const pks__missing_chunk *chunk;
  uint32_t number;  ///< among the missing ones
  uint32_t begin;   ///< in the frame
} pks__planned_chunk;

typedef struct pks__delivery_plan {
  pks__delivery_context *context;
  pks__delivery_requests *requests;
  pks__delivery_site *site;
  pks__missing_chunks *needs;
  pks__scratch segments;         ///< needed segments
  pks__scratch segment_numbers;  ///< uint32_t by segment of the site: its index in `segments`, UINT32_MAX: not needed
  pks__scratch starts;           ///< uint64_t by frame of needed segments and one more each: raw bytes before
  pks__scratch heads;            ///< uint32_t by frame: its first missing chunk
  pks__scratch places;           ///< by missing chunk: where in its frame it begins, and the next one there
  pks__scratch order;            ///< uint32_t: missing chunks by frame and place
  pks__scratch frames;           ///< pks__planned_frame
  bool is_made;
  uint64_t bytes;      ///< stored bytes of the frames
  uint64_t chunks;     ///< missing ones in them
  uint64_t raw_bytes;  ///< raw bytes of those chunks
} pks__delivery_plan;

void pks__delivery_plan_init(
  pks__delivery_plan *plan, pks__delivery_context *context, pks__delivery_requests *requests, pks__delivery_site *site,
  pks__missing_chunks *needs
);

/// Requests the tables of needed segments. If nothing is requested, all are present. The needs must be complete.
pks_status pks__delivery_plan_request_tables(pks__delivery_plan *plan, pks_error *error);

/// Determines the frames to fetch. NO_SPACE if there is no room for them.
pks_status pks__delivery_plan_make(pks__delivery_plan *plan, pks_error *error);
/// Requests the frames.
pks_status pks__delivery_plan_request_frames(pks__delivery_plan *plan, pks_error *error);

static inline const pks__planned_frame *pks__delivery_plan_frame(const pks__delivery_plan *plan, uint32_t number) {
  return PKS__SCRATCH_AT(&plan->frames, const pks__planned_frame, number);
}
/// Chunk `index` of a frame.
pks__planned_chunk pks__delivery_plan_chunk(
  const pks__delivery_plan *plan, const pks__planned_frame *frame, uint32_t index
);

#endif
