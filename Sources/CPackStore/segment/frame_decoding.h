/// Reading frames: fetch, check, decode. The one path by which stored bytes become asset bytes.
///
/// A frame reader has the decoder and the buffers of one thread, and remembers the few frames it decoded last: small assets that
/// share a frame, consecutive short reads, and assets with chunks in alternating frames decode each frame once. A store keeps
/// readers and provides them without a lock; after warm-up reading allocates nothing.
#ifndef PKS_SEGMENT_FRAME_DECODING_H
#define PKS_SEGMENT_FRAME_DECODING_H

#include <stdatomic.h>

#include "codec/codec.h"
#include "segment/dictionaries.h"

/// A frame in decoded form.
typedef struct pks__decoded_frame {
  uint8_t *bytes;
  size_t capacity;
  size_t length;            ///< 0: none
  pks__segment_id segment;  ///< with `offset`: which frame it is
  uint64_t offset;
  uint64_t sum;   ///< of its stored bytes
  uint64_t used;  ///< when, by the reader's count of uses
} pks__decoded_frame;

enum {
  PKS__DECODED_FRAMES = 4,
  PKS__DECODED_LARGE = 512 * 1024,  ///< frames above this size are remembered two at a time
};

typedef struct pks__frame_reader {
  pks__decoder *decoder;
  pks__dictionaries *dictionaries;  ///< shared by all readers
  uint8_t *stored;
  size_t stored_capacity;
  pks__decoded_frame decoded[PKS__DECODED_FRAMES];
  uint64_t uses;
} pks__frame_reader;

/// The idle frame readers of a store, and the dictionaries that they share. More threads than this at once make their own readers
/// and free them again. It stays where it is while it is open.
typedef struct pks__frame_readers {
  _Atomic(pks__frame_reader *) idle[32];  ///< NULL for an empty place
  pks__dictionaries dictionaries;
} pks__frame_readers;

pks_status pks__frame_readers_open(pks__frame_readers *out, pks_sha256 *sha256, pks_error *error);
void pks__frame_readers_close(pks__frame_readers *readers);  ///< a zeroed one is fine

/// A frame to read.
typedef struct pks__frame_source {
  pks__segment *segment;
  pks__frame_ref ref;
} pks__frame_source;

/// A reader that no other thread has, until it is returned.
pks_status pks__frame_reader_take(pks__frame_readers *readers, pks__frame_reader **out, pks_error *error);
void pks__frame_reader_return(pks__frame_readers *readers, pks__frame_reader *reader);

/// Copies raw bytes [begin, end) of the frame to `out`; decodes straight into it when that is the whole frame.
pks_status pks__frame_read(
  pks__frame_reader *reader, const pks__frame_source *frame, uint32_t begin, uint32_t end, void *out, pks_error *error
);

/// The whole frame decoded, on loan until the reader is used again.
pks_status pks__frame_decode(
  pks__frame_reader *reader, const pks__frame_source *frame, const uint8_t **out, pks_error *error
);

#endif
