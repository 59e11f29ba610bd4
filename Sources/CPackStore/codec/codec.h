/// Frames' encodings: zstd, alone or with a dictionary, and raw. The only file that includes `zstd.h`.
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
  PKS__CODEC_DICTIONARY = 2,  ///< with dictionary 0 of the segment; the next numbers are for the next dictionaries
} pks__codec;

enum {
  PKS__FRAME_RAW_MAX = 16 * 1024 * 1024,  ///< the largest raw size of one frame, bytes
  PKS__DICTIONARY_RAW_MIN = 8,            ///< bytes
  PKS__DICTIONARY_RAW_MAX = 128 * 1024,   ///< bytes
  PKS__DICTIONARIES_MAX = 64,             ///< maximum number in a segment
};

static inline bool pks__codec_is_known(uint32_t codec) { return codec < PKS__CODEC_DICTIONARY + PKS__DICTIONARIES_MAX; }
static inline bool pks__codec_has_dictionary(uint32_t codec) { return codec >= PKS__CODEC_DICTIONARY; }

typedef struct pks__encoder pks__encoder;
typedef struct pks__decoder pks__decoder;

/// Returns NULL if memory is short. The level is zstd's, clamped to its range; at level 3, frames that are not text get smaller
/// tables than zstd's.
PKS_NODISCARD pks__encoder *pks__encoder_create(int level);
/// Creates an encoder with little memory for many frames of about 8 KiB: tables of at most 64 KiB each, at any level.
PKS_NODISCARD pks__encoder *pks__encoder_create_small(int level);
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

/// Encodes with a prefix that the decoder also has, and that the frame may refer to; without a probe, because data that looks
/// random may be in `prefix`. Returns 0 if nothing is saved. Both together are at most PKS__FRAME_RAW_MAX long.
size_t pks__encode_after(
  pks__encoder *encoder, const void *prefix, size_t prefix_length, const void *raw, size_t raw_length, void *out,
  size_t capacity
);

/// A dictionary in the form for an encoder or a decoder: created once, used by any number of threads. They contain a copy of its
/// bytes and tables built from them. NULL if memory is short or the bytes are not a dictionary (`*is_bad`): any bytes from
/// PKS__DICTIONARY_RAW_MIN to PKS__DICTIONARY_RAW_MAX are one, except those that begin like a trained one and violate its format.
typedef struct pks__encoding_dictionary pks__encoding_dictionary;
typedef struct pks__decoding_dictionary pks__decoding_dictionary;
PKS_NODISCARD pks__encoding_dictionary *pks__encoding_dictionary_create(
  const void *bytes, size_t byte_count, int level, bool *is_bad
);  ///< level as in `pks__encoder_create`
void pks__encoding_dictionary_destroy(pks__encoding_dictionary *dictionary);
PKS_NODISCARD pks__decoding_dictionary *pks__decoding_dictionary_create(
  const void *bytes, size_t byte_count, bool *is_bad
);
void pks__decoding_dictionary_destroy(pks__decoding_dictionary *dictionary);
size_t pks__decoding_dictionary_size(const pks__decoding_dictionary *dictionary);  ///< bytes of memory that it takes

/// `pks__encode` with a dictionary and its level.
size_t pks__encode_with(
  pks__encoder *encoder, const pks__encoding_dictionary *dictionary, const void *raw, size_t raw_length, void *out,
  size_t capacity
);
/// `pks__decode` with a dictionary. Any number of threads at once; one of them at a time decodes frames of up to 64 KiB faster.
bool pks__decode_with(
  pks__decoder *decoder, pks__decoding_dictionary *dictionary, const void *encoded, size_t encoded_length, void *out,
  size_t raw_length
);

/// Decodes one whole zstd frame into exactly `raw_length` bytes of `out`; false when the bytes are not such a frame.
bool pks__decode(pks__decoder *decoder, const void *encoded, size_t encoded_length, void *out, size_t raw_length);

/// Whether the last decoding failed for lack of memory, regardless of the bytes, which is possible with a prefix.
bool pks__decoder_lacks_memory(const pks__decoder *decoder);

/// Decodes a frame that was encoded after `prefix`, which may be empty.
bool pks__decode_after(
  pks__decoder *decoder, const void *prefix, size_t prefix_length, const void *encoded, size_t encoded_length,
  void *out, size_t raw_length
);

#endif
