/// From chunks to stored frames: chunks come in order, are gathered into frames, encoded on all threads, and written in
/// order.
///
/// The output depends only on the chunks and the settings: the thread that adds chunks forms frames, and they are retired in the
/// order in which they were formed, regardless of the worker that encodes them.
///
/// Frames. An asset of `PKS__LARGE_ASSET` bytes or more begins a frame of its own if its beginning is new. Smaller assets share
/// frames, up to `shared_target` bytes. Chunks that are not consecutive in an asset, such as scattered changes of an update, share
/// frames of at most `scattered_target` bytes: a reader of the asset returns to such a frame for each of its chunks. A frame that
/// does not compress is written as one raw frame per chunk, so that a raw chunk can be checked and mapped alone; neighbours abut.
/// The first raw chunk of an asset is aligned to a page if the asset is large, to 8 bytes otherwise.
///
/// Small assets of a kind for which that pays stay *alone*: they have frames of their own, from `PKS__ALONE_FROM` bytes on;
/// shorter ones share frames up to that length. There may be a dictionary for them; all of a frame are encoded with the same one.
///
/// Borrowed bytes are not copied: a frame whose chunks are contiguous in them is encoded, or written if it is raw, directly from
/// there.
///
/// A map asset is given completely, including known chunks, and is never encoded: it begins at a page and consists of adjacent raw
/// frames of one chunk, and no segment ends inside it, regardless of its length.
#ifndef PKS_INGEST_FRAME_PIPELINE_H
#define PKS_INGEST_FRAME_PIPELINE_H

#include "codec/codec.h"
#include "ingest/staging.h"
#include "platform/threads.h"

enum {
  PKS__LARGE_ASSET = 64 * 1024,
  PKS__FRAME_RANDOM = 128 * 1024,
  PKS__FRAME_COMPACT = 256 * 1024,
  PKS__LEVEL_COMPACT = 6,
  PKS__FRAME_CHUNKS_MAX = 4096,
  PKS__ALONE_FROM = 4 * 1024,
};

/// A dictionary that frames are encoded with here.
typedef struct pks__frame_dictionary {
  pks__stored_dictionary stored;
  pks__encoding_dictionary *tables;
} pks__frame_dictionary;

/// How a small asset is put into frames; zeroed: it shares them with any others.
typedef struct pks__frame_form {
  bool is_alone;
  const pks__frame_dictionary *dictionary;  ///< dictionary of an asset that stays alone; NULL: none
} pks__frame_form;

static inline bool pks__frame_form_equal(const pks__frame_form *a, const pks__frame_form *b) {
  return a->is_alone == b->is_alone && a->dictionary == b->dictionary;
}

/// Whether a chunk begins another frame than the one of this form that has `frame_length` raw bytes. `limit`: of shared frames.
static inline bool pks__frame_form_parts(
  const pks__frame_form *form, size_t limit, bool asset_begins, uint64_t asset_size, size_t frame_length,
  size_t chunk_length
) {
  if (!form->is_alone) { return frame_length + chunk_length > limit; }
  // A catalog may say less of an asset than its chunks are: that is found when they were all added.
  return (asset_begins && asset_size >= PKS__ALONE_FROM) || frame_length + chunk_length > PKS__LARGE_ASSET;
}

/// Whether a frame ends with an asset that ends after `frame_length` raw bytes.
static inline bool pks__frame_form_is_whole(const pks__frame_form *form, size_t limit, size_t frame_length) {
  return frame_length >= (form->is_alone ? PKS__ALONE_FROM : limit);
}

/// The place of a new chunk.
typedef struct pks__new_place {
  uint32_t segment;  ///< in the series
  uint32_t frame;    ///< in the segment
  uint32_t begin;    ///< in the frame
  uint32_t length;
} pks__new_place;

typedef struct pks__pipeline_frame pks__pipeline_frame;

/// Called for every written frame, in order, with its chunks.
typedef pks_status pks__frame_observer(
  void *context, uint32_t segment, const pks__frame_row *row, const pks__id *ids, const uint32_t *ends,
  uint32_t chunk_count, pks_error *error
);

typedef struct pks__frame_pipeline {
  pks__pool *pool;
  pks__encoder **encoders;  ///< one per worker
  uint32_t target, shared_target, scattered_target;
  int level;
  pks__pipeline_frame *ring;  ///< formed and not yet retired frames, in order
  uint32_t ring_size, oldest, count;
  size_t raw_bytes;           ///< raw bytes of those frames
  pks__pipeline_frame *open;  ///< being formed, or NULL
  pks__segment_series series;
  pks__scratch places;       ///< pks__new_place by chunk number
  pks__scratch frames;       ///< pks__frame_ref of every frame that was written, by position in the series
  pks__scratch frame_bases;  ///< uint64_t by segment: position of its first frame in `frames`
  uint64_t asset_size;
  pks__frame_form asset_form;
  const uint8_t *lent;  ///< NULL: nothing is
  size_t lent_length;
  bool asset_is_mapped;
  bool asset_begins;             ///< nothing of the asset was added yet
  bool follows_gap;              ///< bytes between the next chunk and the previous one were skipped
  bool asset_owns_frame;         ///< the open frame belongs to a large asset whose beginning is new
  bool asset_in_pieces;          ///< the current asset is not raw in one piece
  pks__frame_observer *observe;  ///< the ingest's, while it is given chunks before its first pass; NULL: none
  void *observer;
} pks__frame_pipeline;

/// `saves_memory`: fewer frames are gathered ahead, for sources that are not faster than encoding.
pks_status pks__frame_pipeline_open(
  pks__frame_pipeline *out, pks__staging *staging, const pks__frame_sink *sink, pks__pool *pool,
  const pks_add_request *request, uint32_t chunk_maximum, bool saves_memory, bool sync, pks_error *error
);
void pks__frame_pipeline_close(pks__frame_pipeline *pipeline);

/// From now on, chunks inside these bytes are not copied. The bytes must not change until they are taken back, or until the wait;
/// other bytes may be lent in between.
void pks__frame_pipeline_lend(pks__frame_pipeline *pipeline, const uint8_t *bytes, size_t byte_count);
/// Nothing refers to these bytes afterwards. Writes the frames that do, if need be.
pks_status pks__frame_pipeline_take_back(
  pks__frame_pipeline *pipeline, const uint8_t *bytes, size_t byte_count, pks_error *error
);
/// Waits until borrowed bytes are no longer read; after a failure, when the pipeline will only be closed.
void pks__frame_pipeline_wait(pks__frame_pipeline *pipeline);

/// `form` determines how an asset below PKS__LARGE_ASSET bytes that is not mapped is put into frames; NULL: shared frames. The
/// form's dictionary must outlive the pipeline.
void pks__frame_pipeline_begin_asset(
  pks__frame_pipeline *pipeline, uint64_t size, bool mapped, const pks__frame_form *form
);
/// Adds a new chunk of the current asset; chunks are numbered in the order in which they are added. `at_start`: it is the asset's
/// first one.
pks_status pks__frame_pipeline_add(
  pks__frame_pipeline *pipeline, const pks__id *id, const uint8_t *bytes, uint32_t length, bool at_start,
  pks_error *error
);
/// Something of the present asset is not added, as the store has it.
void pks__frame_pipeline_skip(pks__frame_pipeline *pipeline);
void pks__frame_pipeline_end_asset(pks__frame_pipeline *pipeline);

/// Writes a frame as it is, at once: before those chunks that are still being gathered to a frame. So numbers of chunks
/// are known when they are written, not when they are added: see `observe`.
pks_status pks__frame_pipeline_add_encoded(
  pks__frame_pipeline *pipeline, const pks__encoded_frame *frame, pks_error *error
);
/// Takes up a frame that an earlier process wrote to the present segment of the series. `*fits` false: it cannot come
/// next.
pks_status pks__frame_pipeline_restore(
  pks__frame_pipeline *pipeline, const pks__frame_row *row, const pks__id *ids, const pks_le32 *ends,
  uint32_t chunk_count, bool *fits, pks_error *error
);
/// Records a frame of a segment that will be adopted sealed.
pks_status pks__frame_pipeline_note(
  pks__frame_pipeline *pipeline, const pks__frame_row *row, const pks_le32 *ends, uint32_t chunk_count, pks_error *error
);
/// Writes all chunks that were added.
pks_status pks__frame_pipeline_flush(pks__frame_pipeline *pipeline, pks_error *error);

/// Retires all frames and seals the last segment. Places are complete afterwards.
pks_status pks__frame_pipeline_finish(pks__frame_pipeline *pipeline, pks_error *error);

/// A frame that was written; `segment` is its number in the series.
static inline const pks__frame_ref *pks__frame_pipeline_frame(
  const pks__frame_pipeline *pipeline, uint32_t segment, uint32_t frame
) {
  uint64_t base = *PKS__SCRATCH_AT(&pipeline->frame_bases, const uint64_t, segment);
  return PKS__SCRATCH_AT(&pipeline->frames, const pks__frame_ref, base + frame);
}
/// How many frames were written to a segment of the series.
uint32_t pks__frame_pipeline_frame_count(const pks__frame_pipeline *pipeline, uint32_t segment);

#endif
