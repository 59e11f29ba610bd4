// The codings of zlib and libzstd. Only this file includes their headers.

#include <limits.h>
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "packarchives.h"

enum {
  DEFLATE_WINDOW = 15,
  GZIP_HEADER = 16,  // added to the window for zlib's functions
  LEAST_WINDOW_LOG = 23,
  MOST_WINDOW_LOG = 27,
};
_Static_assert(1 << LEAST_WINDOW_LOG == PKA_WINDOW_LEAST, "PKA_WINDOW_LEAST is the smallest window");
_Static_assert(1 << MOST_WINDOW_LOG == PKA_WINDOW_MOST, "PKA_WINDOW_MOST is the largest window");

struct pka_stream {
  pka_coding coding;
  bool has_ended;
  z_stream zlib;
  ZSTD_DCtx *zstd;
};

// MARK: Streams

static int window_log(size_t window) {
  int log = LEAST_WINDOW_LOG;
  while (log < MOST_WINDOW_LOG && (size_t)1 << log < window) { log++; }
  return log;
}

pka_stream *pka_stream_create(pka_coding coding, size_t window) {
  pka_stream *stream = calloc(1, sizeof *stream);
  if (!stream) { return NULL; }
  stream->coding = coding;
  bool ok;
  if (coding == PKA_ZSTD) {
    stream->zstd = ZSTD_createDCtx();
    ok = stream->zstd && !ZSTD_isError(ZSTD_DCtx_setParameter(stream->zstd, ZSTD_d_windowLogMax, window_log(window)));
  } else {
    ok = inflateInit2(&stream->zlib, coding == PKA_GZIP ? DEFLATE_WINDOW + GZIP_HEADER : -DEFLATE_WINDOW) == Z_OK;
  }
  if (ok) { return stream; }
  pka_stream_destroy(stream);
  return NULL;
}

void pka_stream_destroy(pka_stream *stream) {
  if (!stream) { return; }
  if (stream->coding == PKA_ZSTD) {
    ZSTD_freeDCtx(stream->zstd);
  } else {
    (void)inflateEnd(&stream->zlib);
  }
  free(stream);
}

static uInt clamp(size_t length) { return length < UINT_MAX ? (uInt)length : UINT_MAX; }

static pka_state inflate_step(
  pka_stream *stream, const uint8_t *source, size_t *source_length, uint8_t *target, size_t *target_length
) {
  z_stream *zlib = &stream->zlib;
  if (stream->has_ended && inflateReset(zlib) != Z_OK) { return PKA_DAMAGED; }
  uInt given = clamp(*source_length), room = clamp(*target_length);
  zlib->next_in = (z_const Bytef *)source;
  zlib->avail_in = given;
  zlib->next_out = target;
  zlib->avail_out = room;
  int result = inflate(zlib, Z_NO_FLUSH);
  *source_length = given - zlib->avail_in;
  *target_length = room - zlib->avail_out;
  stream->has_ended = result == Z_STREAM_END;
  switch (result) {
    case Z_STREAM_END: return PKA_END;
    case Z_OK:
    case Z_BUF_ERROR: return PKA_MORE;  // no input left, or the output is full
    case Z_MEM_ERROR: return PKA_NO_MEMORY;
    default: return PKA_DAMAGED;
  }
}

static pka_state zstd_step(
  pka_stream *stream, const uint8_t *source, size_t *source_length, uint8_t *target, size_t *target_length
) {
  ZSTD_inBuffer in = {.src = source, .size = *source_length};
  ZSTD_outBuffer out = {.dst = target, .size = *target_length};
  size_t result = ZSTD_decompressStream(stream->zstd, &out, &in);
  *source_length = in.pos;
  *target_length = out.pos;
  if (!ZSTD_isError(result)) { return result == 0 ? PKA_END : PKA_MORE; }
  switch (ZSTD_getErrorCode(result)) {
    case ZSTD_error_frameParameter_windowTooLarge: return PKA_WINDOW;
    case ZSTD_error_memory_allocation: return PKA_NO_MEMORY;
    default: return PKA_DAMAGED;
  }
}

pka_state pka_stream_decode(
  pka_stream *stream, const uint8_t *source, size_t *source_length, uint8_t *target, size_t *target_length
) {
  return stream->coding == PKA_ZSTD ? zstd_step(stream, source, source_length, target, target_length)
                                    : inflate_step(stream, source, source_length, target, target_length);
}

// MARK: Blocks

/// Whether the data begins with a zlib header. A raw deflate block would need nonzero padding to look like one.
static bool has_zlib_header(const uint8_t *source, size_t length) {
  return length >= 2 && (source[0] & 15) == 8 && source[0] >> 4 <= 7 && (source[0] << 8 | source[1]) % 31 == 0;
}

bool pka_deflate_decode(const uint8_t *source, size_t source_length, uint8_t *target, size_t target_length) {
  if (source_length > UINT_MAX || target_length > UINT_MAX) { return false; }
  z_stream zlib = {
    .next_in = (z_const Bytef *)source,
    .avail_in = (uInt)source_length,
    .next_out = target,
    .avail_out = (uInt)target_length,
  };
  int window = has_zlib_header(source, source_length) ? DEFLATE_WINDOW : -DEFLATE_WINDOW;
  if (inflateInit2(&zlib, window) != Z_OK) { return false; }
  bool ok = inflate(&zlib, Z_FINISH) == Z_STREAM_END && zlib.avail_in == 0 && zlib.avail_out == 0;
  return inflateEnd(&zlib) == Z_OK && ok;
}

size_t pka_deflate_encode(const uint8_t *source, size_t source_length, uint8_t *target) {
  if (source_length == 0 || source_length > UINT_MAX) { return 0; }
  z_stream zlib = {.next_in = (z_const Bytef *)source};
  enum { LEVEL = 6, MEMORY = 8 };
  if (deflateInit2(&zlib, LEVEL, Z_DEFLATED, -DEFLATE_WINDOW, MEMORY, Z_DEFAULT_STRATEGY) != Z_OK) { return 0; }
  zlib.avail_in = (uInt)source_length;
  zlib.next_out = target;
  zlib.avail_out = (uInt)source_length - 1;
  bool ok = deflate(&zlib, Z_FINISH) == Z_STREAM_END;
  size_t length = source_length - 1 - zlib.avail_out;
  (void)deflateEnd(&zlib);
  return ok ? length : 0;
}

// MARK: Sums

uint32_t pka_crc32(uint32_t sum, const uint8_t *bytes, size_t length) {
  while (length > 0) {
    uInt part = clamp(length);
    sum = (uint32_t)crc32(sum, bytes, part);
    bytes += part;
    length -= part;
  }
  return sum;
}
