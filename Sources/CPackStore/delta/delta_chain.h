/// Chains of deltas: from version A to B, from B to C, and so on. The last version alone is to be kept.
///
/// Purpose. The chain is applied delta after delta. Each result before the last one is a *middle version*: it is staged in a
/// transaction of its own, in parallel with the caller's, and never committed. So it is never visible, and a crash leaves only a
/// folder in `tmp/` that the next writer deletes.
///
/// Storage. A middle version refers to the base for the base's chunks, and stores only the others, at the lowest level. The next
/// delta is applied to it and the base together; then it is dropped. So at most two exist at a time, and the last version stores
/// only the chunks of them that it needs. A chunk that survives the whole chain is written once for each delta from the one that
/// added it.
///
/// Provenance. A middle version is staged with the number of the last one: it is judged like that one, and makes no statement of
/// its own. The publisher must not list a chain through a withdrawn version.
///
/// Memory: headers are in scratch memory; applying needs the memory of one delta and of a snapshot.
#ifndef PKS_DELTA_DELTA_CHAIN_H
#define PKS_DELTA_DELTA_CHAIN_H

#include "commit/transaction.h"
#include "delta/delta_ingest.h"

typedef struct pks__delta_chain {
  pks__delta_file files[PKS_DELTA_CHAIN_MAX];  ///< in the order in which they are applied
  uint32_t count;
  uint64_t max_rows;  ///< for each version that a delta leads to; as in `pks_delivery_request`
} pks__delta_chain;

/// Opens the deltas of a request, and checks that they belong to one pack and that each begins with the result of the one before.
/// Must be closed, also after an error. Errors: INVALID_ARGUMENT (too many), CORRUPT, NEWER_FORMAT, IO_ERROR, NO_SPACE,
/// OUT_OF_MEMORY.
pks_status pks__delta_chain_open(
  pks__delta_chain *out, const pks_apply_request *request, pks_sha256 *sha256, pks__scratch_folder *home,
  pks_error *error
);
void pks__delta_chain_close(pks__delta_chain *chain);

static inline const pks__delta_file *pks__delta_chain_last(const pks__delta_chain *chain) {
  return &chain->files[chain->count - 1];
}

/// The progress of a chain, for a progress callback as in `pks_add_request`, whose context it is.
typedef struct pks__chain_progress {
  void *context;
  bool (*progress)(void *context, const pks_progress *progress);  ///< the caller's; NULL: none
  uint64_t files_before, bytes_before;                            ///< of versions that are made
  uint64_t files_total, bytes_total;                              ///< totals of all deltas
  bool is_middle;
} pks__chain_progress;

/// A middle version. Zero-initialise: none.
typedef struct pks__middle_version {
  pks_txn *txn;  ///< it is staged there; NULL: none
} pks__middle_version;

/// Applies all deltas except the last one. `middle` is the version that the last one begins with: `*from` and its snapshot. With a
/// single delta, that is a version in the transaction's view. Must be dropped, also after an error. Errors: NOT_FOUND (the chain's
/// first version is not kept), and those of `pks__ingest_delta`.
pks_status pks__delta_chain_make_middle(
  pks__middle_version *middle, pks__delta_origin *from, pks_txn *txn, const pks__delta_chain *chain,
  const pks_provenance *by, pks__chain_progress *progress, pks_error *error
);
void pks__middle_version_drop(pks__middle_version *middle);

/// Begins to report on a chain.
pks__chain_progress pks__chain_progress_make(const pks__delta_chain *chain, const pks_apply_request *request);
/// Converts the progress of one delta to the progress of the chain. `context` is a `pks__chain_progress`.
bool pks__chain_progress_report(void *context, const pks_progress *progress);

#endif
