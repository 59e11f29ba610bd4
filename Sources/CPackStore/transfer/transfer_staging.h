/// Received bytes that are not committed yet: the folder `incoming/<16 hex digits>/`.
///
/// Definitions
///   journal     a record file: the owner of the folder; every frame written to a segment, with its chunks, and every dictionary;
///               and the complete segments. Its lock (byte 0, exclusive) shows that a process works in the folder.
///   pages       a record file of *blobs*: pages, frame tables, and parts of deltas that were verified, each under its
///               SHA-256.
///   segment-<n> segment number n of the series, growing.
///   <32 hex>    a segment that is complete, under its id.
///   shared      a complete segment of another store of this user: the caller put a hard link to its file here.
///
/// Invariants
///   1. A blob is valid if its SHA-256 is its name; a frame is valid if journal and stored bytes both have the right checksums;
///      a complete segment is valid if every byte of it is, and a shared one also only if every chunk has its SHA-256. From the
///      first invalid frame on, everything is dropped. So the contents need no sync to be correct, even after power loss.
///   2. A complete segment is never written again: its file may have its final name as well, if power loss restored this one. It
///      is complete in the journal before it gets its name here.
///   3. The folder of a delivery is identified by pack and catalog. It is created when a delivery begins. It is deleted when the
///      delivery ends with a discard, when another version of the pack arrived, or after a week without changes. Sweeps of `tmp/`
///      do not touch it.
///
/// One thread at a time.
#ifndef PKS_TRANSFER_TRANSFER_STAGING_H
#define PKS_TRANSFER_TRANSFER_STAGING_H

#include "format/record_log.h"
#include "ingest/ingest.h"

typedef struct pks__transfer_staging {
  pks_store *store;
  pks__scratch_folder *home;
  char path[PKS__INDEX_NAME];  ///< "incoming/<digits>"
  pks_vfs_file journal_file;   ///< locked
  pks_vfs_file pages_file;
  pks__record_log journal, pages;
  pks__scratch blobs;  ///< rows
  pks__hash_map blobs_by_id;
  pks__frame_sink sink;   ///< for the frames of an ingest, which go here
  bool is_spoilt;         ///< a sync failed: the data here must not be used
  bool is_used;           ///< something is kept here
  pks__scratch shared;    ///< pks__segment_id: shared segments to adopt
  uint64_t shared_bytes;  ///< stored bytes of the frames of adopted shared segments
} pks__transfer_staging;

/// Opens the folder of a delivery, and creates it if missing; existing blobs are then known. It must not move. BUSY if another
/// process works there.
pks_status pks__transfer_staging_open(
  pks__transfer_staging *out, pks_store *store, pks__scratch_folder *home, const char *pack, const pks__id *catalog,
  pks_error *error
);
/// Closes it; with `discard`, or if nothing is kept there, the folder is removed. A zeroed one is fine.
void pks__transfer_staging_close(pks__transfer_staging *incoming, bool discard);
/// Closes the descriptors that a forked child inherited.
void pks__transfer_staging_leave(const pks__transfer_staging *incoming);

/// Keeps a blob that was verified.
pks_status pks__transfer_staging_put_blob(
  pks__transfer_staging *incoming, const pks__id *id, const void *bytes, size_t byte_count, pks_error *error
);
bool pks__transfer_staging_has_blob(const pks__transfer_staging *incoming, const pks__id *id);
/// The bytes of a blob; 0 if the blob is missing.
uint64_t pks__transfer_staging_blob_length(const pks__transfer_staging *incoming, const pks__id *id);
/// Reads a blob. `out` is emptied first.
pks_status pks__transfer_staging_get_blob(
  pks__transfer_staging *incoming, const pks__id *id, pks__scratch *out, bool *found, pks_error *error
);

/// Names a shared segment for the next `pks__transfer_staging_resume`. Its file must be in the folder under its id.
pks_status pks__transfer_staging_share(pks__transfer_staging *incoming, const pks__segment_id *id, pks_error *error);

/// Lets an ingest that was opened with `sink` adopt the present frames: segments, places, chunks. Nothing may have been given to it
/// before. Every frame is read and its checksum verified. Shared segments follow, unless a segment of an interrupted delivery is
/// incomplete; invalid ones are deleted.
pks_status pks__transfer_staging_resume(pks__transfer_staging *incoming, pks__ingest *ingest, pks_error *error);

/// Records that a sync of this folder failed: the folder is deleted when it is closed.
void pks__transfer_staging_spoil(pks__transfer_staging *incoming);
/// Makes the names of complete segments durable, so that none of them has another one when it gets its final one.
pks_status pks__transfer_staging_sync(pks__transfer_staging *incoming, pks_error *error);

#endif
