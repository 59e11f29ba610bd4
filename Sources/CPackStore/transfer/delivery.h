/// Deliveries: a version of a pack received from another store, frame by frame.
///
/// The caller of a delivery only fetches bytes; the delivery requests them, checks them, and keeps them. At its end it is an ingest
/// of a known catalog, all of whose chunks are present (`ingest_version.h`).
///
/// Parts, each a struct with one owner, the file of its name. A part uses only the parts before it, and changes them only through
/// their functions; `delivery.c` changes the struct of the delivery.
///   context  the version and its destination; the folder of received data (`transfer_staging.h`)
///   requests bytes to fetch, round by round
///   site     segments of the site, their frame tables, places of pages
///   pages    all pages of catalog and layout that are needed
///   changes  a change list in place of most of them
///   needs    files and chunks that are missing
///   plan     the frames that contain them
///   dictionaries  the dictionaries of these frames
///   frames   received frames, and the ingest that they go to
///   chain    deltas in place of the remaining parts
///
/// States (`phase`), each of which takes as many rounds as it needs:
///   BEGUN    nothing is requested yet
///   CHANGES  a change list, if any. It replaces the pages of the next two phases, except the layout's
///   ROOTS    the root pages of catalog and layout, and the attributes
///   CATALOG  all pages of the catalog, one level per round. Then the catalog is walked: needy files, missing chunks
///   NEEDS    the root page of the layout, if the change list turned out to be insufficient
///   LAYOUT   pages of the layout on the way to needy files, unless the change list replaces them
///   TABLES   frame tables of the data segments with missing chunks. Then frames are planned
///   DICTIONARIES   one round: dictionaries of frames that the store lacks
///   FRAMES   one round: the frames, by segment in order of first need, and by number
///   DONE     everything has arrived; `pks_delivery_stage`
///   STAGED   the transaction has the version, or staging it failed
///   HEADERS, BLOCKS   in place of the remaining phases, from any of them on to DONE: the parts of the deltas' files
/// From ROOTS to LAYOUT, tables of metadata segments are requested when no known table contains a page.
///
/// Invariants
///   1. Nothing is used before its SHA-256 was checked: of a table, a page, the stored bytes of a frame or dictionary, a chunk.
///   2. Authentic but invalid data is CORRUPT permanently. It is found before frames are fetched, except in the decoded contents of
///      frames.
///   3. After a machine failure the delivery has ended (`failed`): the folder is correct, but the memory may not be.
///   4. Private memory is bounded: data per page, per chunk and per frame is only in scratch memory.
#ifndef PKS_TRANSFER_DELIVERY_H
#define PKS_TRANSFER_DELIVERY_H

#include "transfer/delivery_delta.h"
#include "transfer/delivery_frames.h"

typedef enum pks__delivery_phase {
  PKS__DELIVERY_BEGUN,
  PKS__DELIVERY_CHANGES,
  PKS__DELIVERY_ROOTS,
  PKS__DELIVERY_CATALOG,
  PKS__MISSING_CHUNKS,
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
  /// the resulting change: PKS__CHANGE_ADD; _RETURN: the version is kept, and becomes current again; _LAYOUT: it is current, but
  /// lacks data
  pks__staged_op_kind change;
  pks__version kept;  ///< unless `change` is PKS__CHANGE_ADD
  bool returns;       ///< PKS__CHANGE_RETURN, and nothing of it has to come
  pks__delivery_phase phase;
  pks_status failed;  ///< a machine failure, or a permanent one
  pks_error failure;
  pks__delivery_context context;
  pks__delivery_requests requests;
  pks__delivery_site site;
  pks__delivery_pages pages;
  pks__delivery_changes changes;
  pks__missing_chunks needs;
  pks__delivery_plan plan;
  pks__delivery_dictionaries dictionaries;
  pks__delivery_frames frames;
  pks__coming_chain chain;
};

#endif
