/// A version received by deltas in place of its remaining pages and frames: by one delta, or by a chain.
///
/// The signed root contains the SHA-256 of each delta's header. The header contains the SHA-256 of each block or, if the delta is
/// short, the blocks themselves. So verified parts are never fetched again. The parts of the files are blobs of the folder; the
/// files are never assembled.
///
/// States: unused -> used (`pks__coming_chain_use`) -> headers present: blocks are known, and each delta begins where the one
/// before ends -> all blocks present: they can be read as sources.
///
/// Owner: `delivery_delta.c`.
#ifndef PKS_TRANSFER_DELIVERY_DELTA_H
#define PKS_TRANSFER_DELIVERY_DELTA_H

#include "delta/delta.h"
#include "transfer/delivery_requests.h"

typedef struct pks__coming_chain pks__coming_chain;

typedef struct pks__coming_delta {
  pks__coming_chain *chain;
  pks_delivery_delta request;
  pks__scratch bytes;  ///< the header's bytes, once present
  pks__delta_header header;
  pks__scratch rows;               ///< pks__delta_block, of a short delta
  const pks__delta_block *blocks;  ///< in `bytes` or `rows`
  uint32_t block_count;
  pks__scratch starts;  ///< uint64_t: offset of each block in the file
} pks__coming_delta;

struct pks__coming_chain {
  pks__delivery_context *context;
  pks__delivery_requests *requests;
  pks__coming_delta deltas[PKS_DELTA_CHAIN_MAX];
  uint32_t count;  ///< 0: not used
  void *progress_context;
  bool (*progress)(void *context, const pks_progress *progress);
  uint64_t frame_bytes;                ///< size of the frames that it replaces; 0: unknown
  pks__scratch block;                  ///< the last read block
  uint64_t bytes_total;                ///< size of all files
  uint64_t bytes_done, bytes_resumed;  ///< present bytes; and those left by an earlier delivery
};

void pks__coming_chain_init(pks__coming_chain *chain, pks__delivery_context *context, pks__delivery_requests *requests);

/// Whether deltas of these lengths can come.
bool pks__coming_chain_makes_sense(const pks_delivery_chain *request);
/// Begins with deltas as the root names them, which make sense. `frame_bytes`: see there.
void pks__coming_chain_use(pks__coming_chain *chain, const pks_delivery_chain *request, uint64_t frame_bytes);

/// Requests missing headers.
pks_status pks__coming_chain_request_headers(pks__coming_chain *chain, pks_error *error);
/// Requests missing blocks; all headers must be present. NO_SPACE if there is no room for the blocks, the new chunks and the
/// intermediate versions.
pks_status pks__coming_chain_request_blocks(pks__coming_chain *chain, pks_error *error);

pks_status pks__coming_chain_give_header(
  pks__coming_chain *chain, const pks__byte_request *request, const void *bytes, bool *is_final, pks_error *error
);
pks_status pks__coming_chain_give_block(
  pks__coming_chain *chain, const pks__byte_request *request, const void *bytes, bool *is_final, pks_error *error
);

/// Returns a delta as a file-like source, once it is complete.
pks_delta_source pks__coming_chain_source(pks__coming_chain *chain, uint32_t delta);

#endif
