/// A version that comes by deltas, in place of what is left of its pages and frames: by one, or by a chain.
///
/// The signed root names the SHA-256 of each delta's header, and that has those of the blocks: so nothing comes twice that
/// was verified once. The parts of the files are blobs of the folder; the files are never put together.
///
/// States: unused -> used (`pks__coming_chain_use`) -> headers here: blocks are known, and that each delta goes on where the
/// one before ends -> all blocks here: they can be read as sources.
///
/// Owner: `delivery_delta.c`.
#ifndef PKS_TRANSFER_DELIVERY_DELTA_H
#define PKS_TRANSFER_DELIVERY_DELTA_H

#include "delta/delta.h"
#include "transfer/delivery_wants.h"

typedef struct pks__coming_chain pks__coming_chain;

typedef struct pks__coming_delta {
  pks__coming_chain *chain;
  pks_delivery_delta request;
  pks__scratch bytes;  ///< the header's, once it is there
  pks__delta_header header;
  const pks__delta_block *blocks;  ///< in `bytes`
  uint32_t block_count;
  pks__scratch starts;  ///< uint64_t: where each block lies in the file
} pks__coming_delta;

struct pks__coming_chain {
  pks__delivery_context *context;
  pks__delivery_wants *wants;
  pks__coming_delta deltas[PKS_DELTA_CHAIN_MAX];
  uint32_t count;  ///< 0: not used
  void *progress_context;
  bool (*progress)(void *context, const pks_progress *progress);
  uint64_t frame_bytes;                ///< of the frames in whose place it comes; 0: not known
  pks__scratch block;                  ///< the one that was read last
  uint64_t bytes_total;                ///< of all files
  uint64_t bytes_done, bytes_resumed;  ///< of them, those that are here; of those, what an earlier delivery left
};

void pks__coming_chain_init(pks__coming_chain *chain, pks__delivery_context *context, pks__delivery_wants *wants);

/// Whether deltas of these lengths can come.
bool pks__coming_chain_makes_sense(const pks_delivery_chain *request);
/// Begins with deltas as the root names them, which make sense. `frame_bytes`: see there.
void pks__coming_chain_use(pks__coming_chain *chain, const pks_delivery_chain *request, uint64_t frame_bytes);

/// Wants the headers that are not there.
pks_status pks__coming_chain_want_headers(pks__coming_chain *chain, pks_error *error);
/// Wants the blocks that are not there. The headers are. NO_SPACE, where there is no room for them, for what comes of them and
/// for the versions in between.
pks_status pks__coming_chain_want_blocks(pks__coming_chain *chain, pks_error *error);

pks_status pks__coming_chain_give_header(
  pks__coming_chain *chain, const pks__want *want, const void *bytes, bool *is_final, pks_error *error
);
pks_status pks__coming_chain_give_block(
  pks__coming_chain *chain, const pks__want *want, const void *bytes, bool *is_final, pks_error *error
);

/// A delta as if it were a file, once all of it is here.
pks_delta_source pks__coming_chain_source(pks__coming_chain *chain, uint32_t delta);

#endif
