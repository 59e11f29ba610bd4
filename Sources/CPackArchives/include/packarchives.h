/// Decoders for the compressed data in archives of other programs, used by `import`.
///
/// A *block* decoder decodes one complete compressed block into memory of exactly the expected size: Apple's archives
/// divide their content into such blocks. A *stream* decoder accepts and returns bytes incrementally: gzip, deflate and
/// zstd data have no length limit.
///
/// All input is untrusted. A decoder writes only to the caller's buffer, and lengths in the input cannot make its own
/// allocations exceed a fixed limit. A decoder must be used by one thread at a time.
#ifndef PACKARCHIVES_H
#define PACKARCHIVES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// MARK: Blocks

/// Decodes all of `source`, an LZFSE stream from its first block to its end mark, into exactly `target_length` bytes.
/// Returns false if the stream is invalid, its length differs, or memory is short (about 100 KiB are needed).
bool pka_lzfse_decode(const uint8_t *source, size_t source_length, uint8_t *target, size_t target_length);

/// Like `pka_lzfse_decode`, for LZ4: Apple's frames (`bv41`, `bv4-`, `bv4$`) if `source` begins with one, otherwise one
/// raw block.
bool pka_lz4_decode(const uint8_t *source, size_t source_length, uint8_t *target, size_t target_length);

/// Like `pka_lzfse_decode`, for deflate, with or without zlib's header and checksum: both are in use, and the first
/// bytes differ.
bool pka_deflate_decode(const uint8_t *source, size_t source_length, uint8_t *target, size_t target_length);

/// Like `pka_lzfse_decode`, for one or more complete xz streams, whose checksums are verified. Returns false also if a
/// stream needs more than 80 MiB of memory: presets of `xz` need at most 65 MiB.
bool pka_xz_decode(const uint8_t *source, size_t source_length, uint8_t *target, size_t target_length);

/// Compresses `source` by deflate, without header and checksum. Returns the length, or 0 if it is not less than
/// `source_length` or memory is short. `target` must have room for `source_length` bytes. The result depends only on
/// the bytes and the version of zlib.
size_t pka_deflate_encode(const uint8_t *source, size_t source_length, uint8_t *target);

// MARK: Streams

typedef enum pka_coding {
  PKA_GZIP,  ///< one member; the next call begins the next member
  PKA_DEFLATE,
  PKA_ZSTD,  ///< one frame; the next call begins the next frame
} pka_coding;

typedef enum pka_state {
  PKA_MORE,     ///< needs more input or more output space
  PKA_END,      ///< the stream ended, and its checksum is correct
  PKA_DAMAGED,  ///< the bytes are not a valid stream
  PKA_WINDOW,   ///< the stream requires a larger window than allowed
  PKA_NO_MEMORY,
} pka_state;

/// Sizes of zstd windows, in bytes: the maximum distance of a match, and the memory needed to decode a frame.
enum {
  PKA_WINDOW_LEAST = 8 * 1024 * 1024,   ///< enough for the levels up to 19
  PKA_WINDOW_MOST = 128 * 1024 * 1024,  ///< enough for `--ultra` and `--long`, as for `zstd -d`
};

typedef struct pka_stream pka_stream;

/// Creates a stream that decodes zstd frames with windows of up to `window` bytes, from PKA_WINDOW_LEAST to
/// PKA_WINDOW_MOST. Returns NULL if out of memory.
pka_stream *pka_stream_create(pka_coding coding, size_t window);
void pka_stream_destroy(pka_stream *stream);  ///< `stream` may be NULL

/// Decodes until the input ends or the output is full. Before the call the lengths are the available input and output
/// space, afterwards the consumed and produced bytes. After PKA_END the next call begins another stream.
pka_state pka_stream_decode(
  pka_stream *stream, const uint8_t *source, size_t *source_length, uint8_t *target, size_t *target_length
);

// MARK: Sums

/// Continues the CRC-32 of zip over more bytes; `sum` is 0 for the first.
uint32_t pka_crc32(uint32_t sum, const uint8_t *bytes, size_t length);

#endif
