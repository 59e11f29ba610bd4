/// The wants of a delivery: bytes for its caller to fetch, round by round.
///
/// Definitions
///   round   all wants that can be known at one time. The next round is determined once all of this one were given.
///   handed  out to the caller, who fetches it.
///   given   fetched, checked and taken.
///
/// Invariants
///   1. given <= handed <= count. Wants are handed out and given in the order of the round.
///   2. A round is complete, and in its order, before the first want of it is handed out.
///
/// Owner: `delivery_wants.c`. The parts of a delivery add to a round; `delivery.c` begins rounds and goes through them.
#ifndef PKS_TRANSFER_DELIVERY_WANTS_H
#define PKS_TRANSFER_DELIVERY_WANTS_H

#include "transfer/delivery_context.h"

typedef enum pks__want_kind {
  PKS__WANT_TABLE,
  PKS__WANT_PAGES,
  PKS__WANT_DICTIONARY,
  PKS__WANT_FRAME,
  PKS__WANT_HEADER,   ///< header of a delta
  PKS__WANT_BLOCK,    ///< block of a delta
  PKS__WANT_CHANGES,  ///< all of a change list
} pks__want_kind;

typedef struct pks__want {
  uint64_t offset;  ///< offset in the segment file, or in the delta's file
  uint32_t length;
  uint32_t segment;                   ///< segment of the site; for a delta its index in the chain
  uint32_t first_frame, frame_count;  ///< PKS__WANT_PAGES
  uint32_t number;  ///< PKS__WANT_FRAME, _DICTIONARY: of the plan, of the list; PKS__WANT_BLOCK: of the delta
  uint32_t kind;
} pks__want;

typedef struct pks__delivery_wants {
  pks__scratch round;  ///< pks__want
  uint64_t handed, given;
} pks__delivery_wants;

void pks__delivery_wants_init(pks__delivery_wants *wants, pks__delivery_context *context);

/// Begins an empty round. Outstanding wants are cancelled.
void pks__delivery_wants_begin(pks__delivery_wants *wants);
pks_status pks__delivery_wants_add(pks__delivery_wants *wants, const pks__want *want, pks_error *error);
/// Orders the round by segment and place, and keeps each want once: neighbours may be fetched together.
void pks__delivery_wants_sort(pks__delivery_wants *wants);

static inline bool pks__delivery_wants_any(const pks__delivery_wants *wants) { return wants->round.length > 0; }
static inline bool pks__delivery_wants_all_given(const pks__delivery_wants *wants) {
  return wants->given == PKS__SCRATCH_COUNT(&wants->round, pks__want);
}

/// Hands out the next want of the round; returns NULL at the end.
const pks__want *pks__delivery_wants_hand_out(pks__delivery_wants *wants);
/// Returns the oldest want that was handed out and not given; NULL if none.
const pks__want *pks__delivery_wants_oldest(const pks__delivery_wants *wants);
/// Notes that the oldest one was given.
void pks__delivery_wants_take(pks__delivery_wants *wants);

#endif
