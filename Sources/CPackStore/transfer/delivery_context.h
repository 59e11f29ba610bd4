/// The common state of a delivery's parts: the version, its destination, and the data already present.
///
/// Set when the delivery begins, and read by its parts from then on; only `incoming` and `ticks` change, through functions.
/// It also frees the arrays of all parts at the end.
/// Owner: `delivery_context.c`.
#ifndef PKS_TRANSFER_DELIVERY_CONTEXT_H
#define PKS_TRANSFER_DELIVERY_CONTEXT_H

#include "catalog/row_budget.h"
#include "codec/codec.h"
#include "commit/transaction.h"
#include "transfer/transfer_staging.h"

typedef struct pks__delivery_context {
  pks_store *store;
  pks_snapshot *base;  ///< the transaction's view; one reference, NULL once staged
  pks__scratch_folder home;
  char pack[PKS__PACK_NAME_MAX + 1];
  uint64_t version;
  pks__id catalog, layout;
  pks__id attributes;  ///< zero: the version has none
  int64_t committed_at_ns;
  bool without_frames;    ///< holes are written in the place of frames
  uint64_t max_rows;      ///< as in `pks_delivery_request`
  void *goes_on_context;  ///< of `goes_on`
  bool (*goes_on)(void *context);
  uint64_t ticks;         ///< rows walked since the delivery began
  pks__decoder *decoder;  ///< one for all parts: each is done with it before another one begins
  pks__transfer_staging incoming;
  pks__scratch *arrays[60];  ///< arrays of all parts, to be freed
  pks__hash_map *maps[12];   ///< maps of all parts, to be freed
  size_t array_count, map_count;
} pks__delivery_context;

/// Begins with the transaction's view. The context must not move.
void pks__delivery_context_init(
  pks__delivery_context *context, const pks_txn *txn, const pks_delivery_request *request
);
/// Opens the decoder and the folder. Errors: as for `pks__transfer_staging_open`.
pks_status pks__delivery_context_open(pks__delivery_context *context, pks_error *error);
/// Makes arrays and maps of a part, which are freed with the context's.
void pks__delivery_context_own(
  pks__delivery_context *context, pks__scratch *const arrays[], size_t array_count, pks__hash_map *const maps[],
  size_t map_count
);
/// Lets go of all that belongs to the transaction, the arrays and maps of the parts included. The folder stays open.
void pks__delivery_context_leave(pks__delivery_context *context);

/// Returns NO_SPACE, with the needed bytes, if the disk has no room for them.
pks_status pks__delivery_check_room(const pks__delivery_context *context, uint64_t needed, pks_error *error);

/// Called for each row of a walk: CANCELLED if the caller cancels, which is checked every PKS__ROWS_PER_TICK rows.
pks_status pks__delivery_tick(pks__delivery_context *context, pks_error *error);

/// Fails with CORRUPT, naming the pack.
pks_status pks__delivery_corrupt(const pks__delivery_context *context, const char *text, pks_error *error);

/// The SHA-256 of bytes.
static inline pks__id pks__delivery_digest(const pks__delivery_context *context, const void *bytes, size_t byte_count) {
  pks__id id;
  context->store->sha256(bytes, byte_count, id.bytes);
  return id;
}

/// Room that new chunks take beyond the bytes of frames: tables, layout, index.
static inline uint64_t pks__room_for_metadata(uint64_t chunk_count) { return 256 * 1024 + 128 * chunk_count; }

#endif
