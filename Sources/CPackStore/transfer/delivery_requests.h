/// The requests of a delivery: ranges of bytes for its caller to fetch, round by round.
///
/// Definitions
///   round   all requests that can be known at one time. The next round is determined after all bytes of this one were given.
///   handed  out to the caller, who fetches it.
///   given   fetched, checked and taken.
///
/// Invariants
///   1. given <= handed <= count. Requests are handed out and given in the order of the round.
///   2. A round is complete, and in its order, before its first request is handed out.
///
/// Owner: `delivery_requests.c`. The parts of a delivery add to a round; `delivery.c` begins rounds and goes through them.
#ifndef PKS_TRANSFER_DELIVERY_REQUESTS_H
#define PKS_TRANSFER_DELIVERY_REQUESTS_H

#include "transfer/delivery_context.h"

typedef enum pks__byte_request_kind {
  PKS__REQUEST_TABLE,
  PKS__REQUEST_PAGES,
  PKS__REQUEST_DICTIONARY,
  PKS__REQUEST_FRAME,
  PKS__REQUEST_HEADER,   ///< header of a delta
  PKS__REQUEST_BLOCK,    ///< block of a delta
  PKS__REQUEST_CHANGES,  ///< all of a change list
} pks__byte_request_kind;

typedef struct pks__byte_request {
  uint64_t offset;  ///< offset in the segment file, or in the delta's file
  uint32_t length;
  uint32_t segment;                   ///< segment of the site; for a delta its index in the chain
  uint32_t first_frame, frame_count;  ///< PKS__REQUEST_PAGES
  uint32_t number;  ///< PKS__REQUEST_FRAME, _DICTIONARY: of the plan, of the list; PKS__REQUEST_BLOCK: of the delta
  uint32_t kind;
} pks__byte_request;

typedef struct pks__delivery_requests {
  pks__scratch round;  ///< pks__byte_request
  uint64_t handed, given;
} pks__delivery_requests;

void pks__delivery_requests_init(pks__delivery_requests *requests, pks__delivery_context *context);

/// Begins an empty round. Outstanding requests are cancelled.
void pks__delivery_requests_begin(pks__delivery_requests *requests);
pks_status pks__delivery_requests_add(
  pks__delivery_requests *requests, const pks__byte_request *request, pks_error *error
);
/// Orders the round by segment and place, and keeps each request once: neighbours may be fetched together.
void pks__delivery_requests_sort(pks__delivery_requests *requests);

static inline bool pks__delivery_requests_any(const pks__delivery_requests *requests) {
  return requests->round.length > 0;
}
static inline bool pks__delivery_requests_all_given(const pks__delivery_requests *requests) {
  return requests->given == PKS__SCRATCH_COUNT(&requests->round, pks__byte_request);
}

/// Hands out the next request of the round; returns NULL at the end.
const pks__byte_request *pks__delivery_requests_hand_out(pks__delivery_requests *requests);
/// Returns the oldest request that was handed out and not given; NULL if none.
const pks__byte_request *pks__delivery_requests_oldest(const pks__delivery_requests *requests);
/// Notes that the oldest one was given.
void pks__delivery_requests_take(pks__delivery_requests *requests);

#endif
