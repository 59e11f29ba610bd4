/// The chunks of segments that versions need: a bit for each row of a segment's table.
///
/// A version needs
///   pages      the trees of its catalog and its layout, with all lists, both roots, and its attributes. Of a page that is
///              stored more than once, one copy counts: one in a segment that the layout lists, or in the segment of the layout's
///              root, so that needed pages are in the segments that `live_set.h` keeps; if none exists, the copy that a reader
///              finds.
///   extents    every chunk that an extent of its layout has bytes of
///   records    if it is the current version of its pack in the snapshot: every chunk in the pack's records in the index. The
///              record of an unchanged asset stays as it is through many versions, while each layout contains the places where the
///              asset's chunks were found when that layout was written, which may be other copies (FORMAT.md, section 10).
///
/// Only the records themselves show which copies they refer to. A layout lists their segments, but a listed segment that extents
/// also refer to may contain such a copy too, which the list does not show. So the record of every asset of a current version is
/// looked up. The records that an older generation shows of a version are added with a snapshot of that generation. If a version is
/// nowhere current, it needs nothing of a listed segment without its pages and extents: a rollback lays the version out again.
///
/// Not considered: a transaction being staged may reuse any chunk that a table lists, needed or not.
///
/// Time is proportional to the assets and pages of what is added; pages that versions share are processed once. Memory is a bit per
/// chunk of the segments, in scratch memory. One thread at a time.
#ifndef PKS_SPACE_CHUNK_USE_H
#define PKS_SPACE_CHUNK_USE_H

#include "index/run.h"
#include "segment/segment_set.h"
#include "store/snapshot.h"

/// A segment that something leads to.
typedef struct pks__segment_use {
  pks__segment_id id;
  pks__segment *segment;  ///< a reference of its own, with the table; NULL: not asked for, or its file is gone
  uint64_t first_word;    ///< of its bits, 64 rows a word
  uint32_t last_frame;    ///< found last by its place
} pks__segment_use;

/// Sums over chunks, each once. A chunk's share of its frame's stored bytes is in proportion to its raw bytes; the shares of
/// a frame's chunks add up to the frame.
typedef struct pks__chunk_sums {
  uint64_t chunk_count, raw_bytes, stored_bytes;
} pks__chunk_sums;

/// A chunk of a data segment that versions lead to, or, with `segment` PKS__ASSET_BEGINS, that the next ones are of another asset.
typedef struct pks__chunk_visit {
  uint32_t segment;  ///< as in `pks__chunk_use_segment`
  uint32_t row;
} pks__chunk_visit;
#define PKS__ASSET_BEGINS UINT32_MAX

typedef struct pks__chunk_use {
  pks_store *store;
  const pks__segment_set *only;  ///< NULL: all
  bool keeps_order;              ///< set it before anything is added
  pks__scratch order;            ///< then pks__chunk_visit: each chunk once, in order of versions and paths
  pks__scratch segments;         ///< pks__segment_use
  pks__hash_map by_id;           ///< id -> index in `segments`
  pks__scratch bits;             ///< uint64_t
  pks__chunk_sums data, pages;   ///< sums of all needed chunks, in data and in metadata segments
} pks__chunk_use;

/// Begins with nothing needed. `home` may be NULL: the heap. With `only`, which must not move, other data segments are not opened
/// and have no bits; metadata segments always have bits, so that pages are recognized.
void pks__chunk_use_init(
  pks__chunk_use *use, pks_store *store, pks__scratch_folder *home, const pks__segment_set *only
);
void pks__chunk_use_free(pks__chunk_use *use);  ///< a zeroed one is fine

/// Adds the needs of a version. `snapshot` shows the pack in the intended generation. A segment with a missing file has no chunks.
/// CORRUPT if damage hides needs of the version, part of which may have been added then: other versions can still be added, and
/// count in full.
pks_status pks__chunk_use_add_version(
  pks__chunk_use *use, pks_snapshot *snapshot, const pks__version *version, pks_error *error
);

/// Adds all versions in the snapshot, including those of removed packs.
pks_status pks__chunk_use_add_snapshot(pks__chunk_use *use, pks_snapshot *snapshot, pks_error *error);

/// Adds the chunks that a file's record in run number `run` of the snapshot leads to.
pks_status pks__chunk_use_add_record(
  pks__chunk_use *use, pks_snapshot *snapshot, uint32_t run, const pks__run_entry *entry, pks_error *error
);

// MARK: - Questions

static inline uint32_t pks__chunk_use_segment_count(const pks__chunk_use *use) {
  return (uint32_t)PKS__SCRATCH_COUNT(&use->segments, pks__segment_use);
}
static inline const pks__segment_use *pks__chunk_use_segment(const pks__chunk_use *use, uint32_t index) {
  return PKS__SCRATCH_AT(&use->segments, const pks__segment_use, index);
}

/// NULL when nothing leads to the segment. On loan until something is added.
const pks__segment_use *pks__chunk_use_find(const pks__chunk_use *use, const pks__segment_id *id);

/// Whether chunk `row` of an open segment is needed.
static inline bool pks__chunk_use_has(const pks__chunk_use *use, const pks__segment_use *segment, uint32_t row) {
  const uint64_t *words = PKS__SCRATCH_AT(&use->bits, const uint64_t, segment->first_word);
  return words[row / 64] >> (row % 64) & 1;
}

/// What of a frame is needed.
typedef struct pks__frame_use {
  pks__frame frame;
  uint32_t chunk_count;  ///< chunks that are
  uint32_t raw_bytes;
} pks__frame_use;

/// Whether less than three quarters of a frame are needed: then the needed chunks are encoded again rather than copied with
/// the others.
static inline bool pks__frame_use_is_sparse(const pks__frame_use *use) {
  return (uint64_t)use->raw_bytes * 4 < (uint64_t)use->frame.ref.raw_length * 3;
}

/// Frame `index` < frame_count of an open segment.
pks_status pks__chunk_use_frame(
  const pks__chunk_use *use, const pks__segment_use *segment, uint32_t index, pks__frame_use *out, pks_error *error
);

/// Sums over the frames of a segment. A frame is *needed* if any chunk of it is; a needed frame is *sparse* if less than three
/// quarters of it are.
typedef struct pks__segment_sums {
  uint32_t frame_count, needed_frame_count, sparse_frame_count;
  uint64_t stored_bytes, needed_stored_bytes, sparse_stored_bytes;  ///< of whole frames
  uint64_t raw_bytes, needed_raw_bytes;                             ///< of all chunks, and of needed ones
  uint64_t sparse_raw_bytes;                                        ///< of needed chunks of sparse frames
} pks__segment_sums;

/// Sums of an open segment.
pks_status pks__chunk_use_measure(
  const pks__chunk_use *use, const pks__segment_use *segment, pks__segment_sums *out, pks_error *error
);

#endif
