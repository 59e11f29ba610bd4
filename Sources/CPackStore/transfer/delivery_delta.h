/// A version that comes by a delta, in place of what is left of its pages and frames.
///
/// The signed root names the SHA-256 of the delta's header, and that has those of the blocks: so nothing comes twice that
/// was verified once. The parts of the file are blobs of the folder; the file is never put together.
///
/// States: unused -> used (`pks__coming_delta_use`) -> header here: blocks are known -> all blocks here: it can be read
/// as a source.
///
/// Owner: `delivery_delta.c`.
#ifndef PKS_TRANSFER_DELIVERY_DELTA_H
#define PKS_TRANSFER_DELIVERY_DELTA_H

#include "delta/delta.h"
#include "transfer/delivery_wants.h"

typedef struct pks__coming_delta {
  pks__delivery_context *context;
  pks__delivery_wants *wants;
  bool is_used;
  pks_delivery_delta request;
  uint64_t frame_bytes;  ///< of the frames in whose place it comes; 0: not known
  pks__scratch bytes;    ///< the header's, once it is there
  pks__delta_header header;
  const pks__delta_block *blocks;  ///< in `bytes`
  uint32_t block_count;
  pks__scratch starts;                 ///< uint64_t: where each block lies in the file
  pks__scratch block;                  ///< the one that was read last
  uint64_t bytes_done, bytes_resumed;  ///< of the file, those that are here; of them, what an earlier delivery left
} pks__coming_delta;

void pks__coming_delta_init(pks__coming_delta *delta, pks__delivery_context *context, pks__delivery_wants *wants);

/// Begins with a delta as the root names it. `frame_bytes`: see there.
void pks__coming_delta_use(pks__coming_delta *delta, const pks_delivery_delta *request, uint64_t frame_bytes);

/// Wants the header, unless it is there.
pks_status pks__coming_delta_want_header(pks__coming_delta *delta, pks_error *error);
/// Wants the blocks that are not there. The header is.
pks_status pks__coming_delta_want_blocks(pks__coming_delta *delta, pks_error *error);

pks_status pks__coming_delta_give_header(
  pks__coming_delta *delta, const pks__want *want, const void *bytes, bool *is_final, pks_error *error
);
pks_status pks__coming_delta_give_block(
  pks__coming_delta *delta, const pks__want *want, const void *bytes, bool *is_final, pks_error *error
);

/// The delta as if it were a file, once all of it is here.
pks_delta_source pks__coming_delta_source(pks__coming_delta *delta);

#endif
