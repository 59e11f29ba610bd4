/// Deliveries: a version of a pack received from another store, frame by frame.
///
/// The caller of a delivery fetches bytes and knows nothing else; the delivery says which bytes it wants, checks them,
/// and keeps them. At its end it is an ingest of a known catalog, all of whose chunks are there (`ingest_version.c`).
///
/// Definitions
///   site        where the version comes from: segments, of which a signed manifest names id, length, and the SHA-256
///   of the
///               frame table. Nothing else is believed unless a SHA-256 leads to it from there: table -> frame -> page ->
///               page, and catalog -> chunk.
///   want        bytes to fetch. All wants of a *round* stand in `wants`; those below `handed` are with the driver, those
///               below `given` were given. A round ends when all were given; then the next one is found out.
///   blob        a page, a table, or a part of a delta that was verified, kept in the folder (`transfer_staging.h`).
///   needy file  a file of the version with a chunk that is neither in the base nor among the new ones, or one whose
///   entry is
///               not the current version's (of those only the layout is asked, whether it is a map asset).
///   missing     a chunk that is to come. Each is listed once, but for those of map assets that come as a whole.
///
/// States (`phase`), each of which takes as many rounds as it needs:
///   ROOTS    the root pages of catalog and layout
///   CATALOG  all pages of the catalog, one level a round. Then the catalog is walked: needy files, missing chunks
///   LAYOUT   pages of the layout on the way to needy files
///   TABLES   frame tables of the data segments that missing chunks lie in. Then frames are planned
///   FRAMES   one round: the frames, by segment in order of first need, and by number
///   DONE     all is there; `pks_delivery_stage`
///   HEADER, BLOCKS   in place of what was left of these: the parts of a delta's file, from any of them on to DONE
/// In any of the first three, tables of metadata segments are wanted when a page is in none that is known: the newest
/// segments first, twice as many each time.
///
/// Invariants
///   1. Nothing is used before its SHA-256 was checked: of a table, a frame's stored bytes, a page, a chunk.
///   2. What is authentic and makes no sense is CORRUPT for good. It is found before frames are fetched, but for what
///      frames decode to.
///   3. New chunks are numbered in the order in which their frames were written (`ingest_version.h`): whether they came as
///      frames that stay as they are, or were gathered to frames again.
///   4. After a failure of the machine the delivery has ended (`failed`): what is in the folder is right, what is in
///   memory
///      need not be.
///   5. Private memory is bounded: per page, per chunk and per frame there is scratch memory alone.
#ifndef PKS_TRANSFER_DELIVERY_STATE_H
#define PKS_TRANSFER_DELIVERY_STATE_H

#include "commit/transaction.h"
#include "delta/delta.h"
#include "segment/frame_table.h"
#include "transfer/transfer_staging.h"

typedef enum pks__delivery_phase {
  PKS__DELIVERY_ROOTS,
  PKS__DELIVERY_CATALOG,
  PKS__DELIVERY_LAYOUT,
  PKS__DELIVERY_TABLES,
  PKS__DELIVERY_FRAMES,
  PKS__DELIVERY_DONE,
  PKS__DELIVERY_STAGED,
  PKS__DELIVERY_HEADER,
  PKS__DELIVERY_BLOCKS,
} pks__delivery_phase;

enum {
  PKS__SMALL_SEGMENT = 128 * 1024,  ///< frames of a metadata segment up to this many bytes are fetched at once
  PKS__NO_CHUNK = UINT32_MAX,
};

/// A segment of the site.
typedef struct pks__site_segment {
  pks_site_segment info;
  bool is_asked;       ///< for its table
  bool has_table;      ///< the rest is known
  bool is_small;       ///< a metadata segment that is fetched at once
  bool is_wanted;      ///< with `is_small`: it was, or will be
  bool is_needed;      ///< a data segment with missing chunks
  uint64_t table_at;   ///< in `tables`
  uint64_t frames_at;  ///< of a data segment, in `starts` and `heads`
} pks__site_segment;

/// Where a page lies at the site.
typedef struct pks__page_place {
  uint32_t segment, frame;
} pks__page_place;

typedef enum pks__want_kind {
  PKS__WANT_TABLE,
  PKS__WANT_PAGES,
  PKS__WANT_FRAME,
  PKS__WANT_HEADER,  ///< of a delta
  PKS__WANT_BLOCK,   ///< of a delta
} pks__want_kind;

typedef struct pks__want {
  uint64_t offset;
  uint32_t length;
  uint32_t segment;
  uint32_t first_frame, frame_count;  ///< PKS__WANT_PAGES
  uint32_t block;                     ///< PKS__WANT_BLOCK
  uint32_t kind;
} pks__want;

/// What a page is good for.
typedef enum pks__page_role {
  PKS__ROLE_ROOT,  ///< of catalog or layout; nothing hangs on it here
  PKS__ROLE_CATALOG,
  PKS__ROLE_CHUNKS,
  PKS__ROLE_LAYOUT,
  PKS__ROLE_EXTENTS,
} pks__page_role;

/// A page that must be there.
typedef struct pks__page_task {
  pks__id id;
  uint8_t role;
  uint8_t level;
  uint64_t first_file, end_file;  ///< PKS__ROLE_LAYOUT: needy files to be found below
} pks__page_task;

typedef struct pks__needy_file {
  uint64_t path;  ///< in `texts`
  uint32_t path_length;
  bool mapped;
  uint64_t size;
  uint64_t chunk_count;  ///< of the file
  uint64_t entry;        ///< in `texts`: its value in the catalog
  uint32_t entry_length;
  uint32_t layout_length;
  uint64_t layout;      ///< in `texts`: its value in the layout
  uint64_t first, end;  ///< its missing chunks
} pks__needy_file;

typedef struct pks__missing_chunk {
  pks__id id;
  uint32_t length;
  uint32_t file;
  uint64_t offset;  ///< in the file
  uint32_t begin;   ///< in its frame
  uint32_t next;    ///< in the same frame, PKS__NO_CHUNK: none
} pks__missing_chunk;

/// A frame to fetch.
typedef struct pks__planned_frame {
  uint64_t first;  ///< in `order`
  uint32_t chunk_count;
  uint32_t needed;  ///< raw bytes
  uint32_t segment, frame;
} pks__planned_frame;

/// A delta by which a version comes.
typedef struct pks__coming_delta {
  bool is_used;
  pks_delivery_delta request;
  uint64_t frame_bytes;  ///< of the frames in whose place it comes; 0: not known
  pks__scratch bytes;    ///< the header's, once it is there
  pks__delta_header header;
  const pks__delta_block *blocks;  ///< in `bytes`
  uint32_t block_count;
  pks__scratch starts;  ///< uint64_t: where each block lies in the file
  pks__scratch block;   ///< the one that was read last
} pks__coming_delta;

struct pks_delivery {
  pks_store *store;
  pks_txn *txn;        ///< NULL once staged
  pks_snapshot *base;  ///< what the transaction saw; one reference
  pks__scratch_folder home;
  char pack[PKS__PACK_NAME_MAX + 1];
  uint64_t version;
  pks__id catalog, layout, attributes;
  int64_t committed_at_ns;
  bool set_priority;
  int32_t priority;
  pks_provenance provenance;
  bool returns;       ///< the version is kept, and becomes current again
  pks__version kept;  ///< with `returns`
  pks__delivery_phase phase;
  pks_status failed;  ///< of the machine, or for good
  pks_error failure;
  pks__transfer_staging incoming;
  pks__ingest ingest;
  bool has_ingest;
  // The site.
  pks__scratch segments;  ///< pks__site_segment
  pks__hash_map segments_by_id;
  pks__scratch tables;  ///< frame tables, back to back
  pks__scratch page_places;
  pks__hash_map pages_by_id;  ///< prefix of a page's id -> index in `page_places`
  uint32_t table_batch;       ///< tables of metadata segments to want next
  // Wants.
  pks__scratch wants;
  uint64_t handed, given;
  // Pages.
  pks__scratch tasks;  ///< pks__page_task, of which those before `next_task` were done
  uint64_t next_task;
  pks__scratch waiting;  ///< pks__page_task: those whose page is not there
  pks__scratch seen;     ///< pks__page_task without files: pages that were looked into
  pks__hash_map seen_by_id;
  pks__scratch page;
  // Needs.
  pks__scratch texts;
  pks__scratch files;            ///< pks__needy_file
  pks__scratch chunks;           ///< pks__missing_chunk
  pks__hash_map missing;         ///< prefix -> index in `chunks`
  pks__scratch needed_segments;  ///< uint32_t: data segments in order of first need
  pks__scratch starts;           ///< uint64_t by frame and one more a segment: raw bytes before
  pks__scratch heads;            ///< uint32_t by frame and one more a segment: its first missing chunk
  pks__scratch order;            ///< uint32_t: missing chunks by frame and place
  pks__scratch plan;             ///< pks__planned_frame
  uint64_t next_mapped;          ///< needy file to be asked about next
  // Frames.
  pks__decoder *decoder;
  pks__scratch raw;
  pks__scratch ids, ends;             ///< of the frame under way
  uint32_t open_file;                 ///< file of the chunks that are gathered, UINT32_MAX: none
  pks__scratch stored;                ///< of a frame that is read back
  uint32_t read_segment, read_frame;  ///< which one, and in `raw`
  bool has_read;
  pks__coming_delta delta;
  pks_delivery_totals totals;
};

/// Ends the delivery with a failure of the machine, or one for good; returns `status`.
pks_status pks__delivery_fail(pks_delivery *delivery, pks_status status, const pks_error *error);
/// NO_SPACE, with what is needed, when there is no room for so many bytes.
pks_status pks__delivery_check_room(const pks_delivery *delivery, uint64_t needed, pks_error *error);

static inline pks__site_segment *pks__delivery_segment(const pks_delivery *delivery, uint32_t index) {
  return PKS__SCRATCH_AT(&delivery->segments, pks__site_segment, index);
}

/// Room that new chunks take beyond the bytes of frames: tables, layout, index.
static inline uint64_t pks__room_for_metadata(uint64_t chunk_count) { return 256 * 1024 + 128 * chunk_count; }
static inline const pks__needy_file *pks__delivery_file(const pks_delivery *delivery, uint64_t index) {
  return PKS__SCRATCH_AT(&delivery->files, const pks__needy_file, index);
}

pks_status pks__delivery_corrupt(const pks_delivery *delivery, const char *text, pks_error *error);  ///< always CORRUPT

#endif
