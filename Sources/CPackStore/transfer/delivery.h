/// Deliveries: a version of a pack received from another store, frame by frame.
///
/// The caller of a delivery fetches bytes and knows nothing else; the delivery says which bytes it wants, checks them,
/// and keeps them. At its end it is an ingest of a known catalog, all of whose chunks are there (`ingest_version.h`).
///
/// Parts, each a struct with one owner, the file of its name. A part knows those before it, and changes them through
/// their functions alone; the struct of the delivery is changed by `delivery.c`.
///   context  which version, where to; the folder of what came (`transfer_staging.h`)
///   wants    bytes to fetch, round by round
///   site     segments of the site, their frame tables, where pages lie
///   pages    all pages of catalog and layout that are needed
///   changes  a change list in place of most of them
///   needs    files and chunks that are missing
///   plan     the frames that hold them
///   dictionaries  what these were encoded with
///   frames   frames that come, and the ingest that they go to
///   chain    deltas in place of what is left of the others
///
/// States (`phase`), each of which takes as many rounds as it needs:
///   BEGUN    nothing is wanted yet
///   CHANGES  a change list, if there is one. Then the pages of the next two phases are here, but for the layout's
///   ROOTS    the root pages of catalog and layout, and the attributes
///   CATALOG  all pages of the catalog, one level a round. Then the catalog is walked: needy files, missing chunks
///   NEEDS    the root page of the layout, where the change list turned out not to do
///   LAYOUT   pages of the layout on the way to needy files, unless the change list tells what they would
///   TABLES   frame tables of the data segments that missing chunks lie in. Then frames are planned
///   DICTIONARIES   one round: what frames need and the store has not
///   FRAMES   one round: the frames, by segment in order of first need, and by number
///   DONE     all is there; `pks_delivery_stage`
///   STAGED   the transaction has the version, or has failed to take it
///   HEADERS, BLOCKS   in place of what was left of these: the parts of the deltas' files, from any of them on to DONE
/// From ROOTS to LAYOUT, tables of metadata segments are wanted when a page is in none that is known.
///
/// Invariants
///   1. Nothing is used before its SHA-256 was checked: of a table, a page, the stored bytes of a frame or dictionary, a chunk.
///   2. What is authentic and makes no sense is CORRUPT for good. It is found before frames are fetched, but for what
///      frames decode to.
///   3. After a failure of the machine the delivery has ended (`failed`): what is in the folder is right, what is in
///      memory need not be.
///   4. Private memory is bounded: per page, per chunk and per frame there is scratch memory alone.
#ifndef PKS_TRANSFER_DELIVERY_H
#define PKS_TRANSFER_DELIVERY_H

#include "transfer/delivery_delta.h"
#include "transfer/delivery_frames.h"

typedef enum pks__delivery_phase {
  PKS__DELIVERY_BEGUN,
  PKS__DELIVERY_CHANGES,
  PKS__DELIVERY_ROOTS,
  PKS__DELIVERY_CATALOG,
  PKS__DELIVERY_NEEDS,
  PKS__DELIVERY_LAYOUT,
  PKS__DELIVERY_TABLES,
  PKS__DELIVERY_DICTIONARIES,
  PKS__DELIVERY_FRAMES,
  PKS__DELIVERY_DONE,
  PKS__DELIVERY_STAGED,
  PKS__DELIVERY_HEADERS,
  PKS__DELIVERY_BLOCKS,
} pks__delivery_phase;

struct pks_delivery {
  pks_txn *txn;  ///< NULL once staged
  bool set_priority;
  int32_t priority;
  pks_placement placement;
  pks_provenance provenance;
  /// what becomes of it: PKS__CHANGE_ADD; _RETURN: the version is kept, and becomes current again; _LAYOUT: it is current, and data
  /// of it is gone
  pks__staged_op_kind change;
  pks__version kept;  ///< unless `change` is PKS__CHANGE_ADD
  bool returns;       ///< PKS__CHANGE_RETURN, and nothing of it has to come
  pks__delivery_phase phase;
  pks_status failed;  ///< of the machine, or for good
  pks_error failure;
  pks__delivery_context context;
  pks__delivery_wants wants;
  pks__delivery_site site;
  pks__delivery_pages pages;
  pks__delivery_changes changes;
  pks__delivery_needs needs;
  pks__delivery_plan plan;
  pks__delivery_dictionaries dictionaries;
  pks__delivery_frames frames;
  pks__coming_chain chain;
};

#endif
