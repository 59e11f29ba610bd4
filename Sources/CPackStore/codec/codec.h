/// Frames' encodings: zstd and raw. The only file that includes `zstd.h`.
///
/// An encoder or decoder belongs to one thread at a time and is reused for many frames; once it has seen its largest
/// frame it allocates nothing. Decoding is bounded from outside: the exact raw size is known beforehand, the window may
/// not exceed it, and anything that disagrees is an error, so that hostile bytes cost no memory.
#ifndef PKS_CODEC_H
#define PKS_CODEC_H

#include "base/base.h"

typedef enum pks__codec {
  PKS__CODEC_RAW = 0,
  PKS__CODEC_ZSTD = 1,
} pks__codec;

/// The largest raw size of one frame, bytes.
enum { PKS__FRAME_RAW_MAX = 16 * 1024 * 1024 };

typedef struct pks__encoder pks__encoder;
typedef struct pks__decoder pks__decoder;

PKS_NODISCARD pks__encoder *pks__encoder_create(int level
);  ///< NULL when memory is short; level as in zstd, clamped to its range
void pks__encoder_destroy(pks__encoder *encoder);
PKS_NODISCARD pks__decoder *pks__decoder_create(void);
void pks__decoder_destroy(pks__decoder *decoder);

/// Encodes `raw` to at most `capacity` bytes of `out`. Returns the encoded length, or 0 when the frame is better stored
/// raw (the saving is under one sixteenth, or the bytes look random to a cheap probe), or SIZE_MAX when memory is
/// short. A pure function of the bytes, the level and libzstd's version.
size_t pks__encode(pks__encoder *encoder, const void *raw, size_t raw_length, void *out, size_t capacity);

/// Room that `pks__encode` needs at most to keep a frame of `raw_length` bytes. With less, a frame that does not fit is
/// stored raw, and the outcome depends on the room.
size_t pks__encode_capacity(size_t raw_length);

/// The same with a prefix that the decoder also has, to which the frame may refer; and no probe, for what looks random
/// may be in `prefix`. Returns 0 when nothing is saved. Both together are at most PKS__FRAME_RAW_MAX long.
size_t pks__encode_after(
  pks__encoder *encoder, const void *prefix, size_t prefix_length, const void *raw, size_t raw_length, void *out,
  size_t capacity
);

/// Decodes one whole zstd frame into exactly `raw_length` bytes of `out`; false when the bytes are not such a frame.
bool pks__decode(pks__decoder *decoder, const void *encoded, size_t encoded_length, void *out, size_t raw_length);

/// The same for a frame that was encoded after `prefix`, which may be empty.
bool pks__decode_after(
  pks__decoder *decoder, const void *prefix, size_t prefix_length, const void *encoded, size_t encoded_length,
  void *out, size_t raw_length
);

#endif
