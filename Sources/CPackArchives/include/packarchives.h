/// Decoders of what other programs' archives are compressed with, for `import`.
///
/// Two shapes. A *block* decoder takes one whole compressed block and fills memory of exactly the size that the block
/// has to have: Apple's archives cut their content into such blocks. A *stream* decoder takes and gives bytes as they
/// come: gzip, deflate and zstd have no other bound than their end.
///
/// Nothing here trusts a byte: whatever comes, only the memory that the caller named is written, and what a decoder
/// allocates for itself does not depend on what the bytes claim. A decoder belongs to one thread at a time.
#ifndef PACKARCHIVES_H
#define PACKARCHIVES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// MARK: Blocks

/// Decodes the whole of `source`, an LZFSE stream from its first block to its end mark, into exactly `target_length`
/// bytes. False when it is none, or has more or fewer bytes, or memory is short (about 100 KiB are needed).
bool pka_lzfse_decode(const uint8_t *source, size_t source_length, uint8_t *target, size_t target_length);

/// The same for LZ4: blocks in Apple's frames (`bv41`, `bv4-`, `bv4$`) where `source` begins with one, else one raw block.
bool pka_lz4_decode(const uint8_t *source, size_t source_length, uint8_t *target, size_t target_length);

/// The same for deflate, with the header and sum of zlib or without: both are in use, and what comes first tells them
/// apart.
bool pka_deflate_decode(const uint8_t *source, size_t source_length, uint8_t *target, size_t target_length);

/// Compresses `source` by deflate, without header and sum. Returns the length, or 0 when it would not be less than
/// `source_length`, or memory is short; `target` has room for `source_length` bytes. A pure function of the bytes and of
/// the version of zlib.
size_t pka_deflate_encode(const uint8_t *source, size_t source_length, uint8_t *target);

// MARK: Streams

typedef enum pka_coding {
  PKA_GZIP,  ///< one member; the caller begins the next one again
  PKA_DEFLATE,
  PKA_ZSTD,  ///< one frame, likewise
} pka_coding;

typedef enum pka_state {
  PKA_MORE,     ///< more bytes are needed, or more room
  PKA_END,      ///< the stream ended, and its sum is right
  PKA_DAMAGED,  ///< the bytes are no such stream
  PKA_WINDOW,   ///< the stream requires a larger window than allowed
  PKA_NO_MEMORY,
} pka_state;

/// Windows of zstd, in bytes: how far a frame may refer back, and how much memory it takes to decode one.
enum {
  PKA_WINDOW_LEAST = 8 * 1024 * 1024,   ///< enough for the levels up to 19
  PKA_WINDOW_MOST = 128 * 1024 * 1024,  ///< enough for `--ultra` and `--long`, as for `zstd -d`
};

typedef struct pka_stream pka_stream;

/// Creates a stream that decodes zstd frames with windows of up to `window` bytes, from PKA_WINDOW_LEAST to
/// PKA_WINDOW_MOST. Returns NULL if out of memory.
pka_stream *pka_stream_create(pka_coding coding, size_t window);
void pka_stream_destroy(pka_stream *stream);  ///< NULL is nothing

/// Decodes as much as there is or as fits. The lengths are what there is before the call, and after it how much was taken
/// and how much was given. After PKA_END the next call begins another stream.
pka_state pka_stream_decode(
  pka_stream *stream, const uint8_t *source, size_t *source_length, uint8_t *target, size_t *target_length
);

// MARK: Sums

/// The CRC-32 of zip, of all bytes so far: 0 before the first.
uint32_t pka_crc32(uint32_t sum, const uint8_t *bytes, size_t length);

#endif
