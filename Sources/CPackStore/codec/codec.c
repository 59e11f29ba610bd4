// zstd, and the decision when not to use it.
//
// Before encoding, a probe examines the bytes. Random bytes are not encoded: compressed media would cost the whole time of level 3
// (or, when publishing, of level 12 and more) only to be stored raw. For bytes that are not text, level 3 uses tables that suit
// them better. The probe samples: it may be wrong either way, which costs time or a few percent of one frame, never correctness.
// Decision 0031 has the measurements.
//
// Decoding trusts nothing: magic number, content size, window and length of the frame are checked before libzstd
// decodes, and it decodes in one call straight into the caller's exactly sized memory, for which it allocates nothing. A frame
// with a dictionary may be decoded to a room behind the dictionary instead, and is copied from there when all of it came out.

// Custom memory, and of a dictionary the parameters that go with it and whether it is attached; nothing else of the unstable
// interface, whose structs change size.
#define ZSTD_STATIC_LINKING_ONLY
#include "codec/codec.h"

#include <stdatomic.h>
#include <string.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/bytes.h"
#include "base/memory.h"

struct pks__encoder {
  ZSTD_CCtx *context;
  int level;
  int table_log;           // of the tables for data that is not binary; 0: the level's default
  bool is_set_for_binary;  // by `set_tables`
};

struct pks__decoder {
  ZSTD_DCtx *context;
  bool lacks_memory;
};

struct pks__encoding_dictionary {
  void *memory;
  const ZSTD_CDict *tables;  // in it
  bool is_attached;          // its tables are searched in place, regardless of the frame's length
};

/// Its content is followed by room for a frame: a frame decoded there directly follows the dictionary, like the dictionary's own
/// bytes. At any other address, libzstd would split each match that begins in the dictionary.
struct pks__decoding_dictionary {
  uint8_t *content;
  size_t length;
  ZSTD_DDict *tables;   // of `content`
  atomic_flag is_used;  // the room
};

/// Bytes of the longest frame that is decoded there; frames of small assets are at most as long.
enum { DICTIONARY_ROOM = 64 * 1024 };

// MARK: Memory

static void *zstd_allocate(void *opaque, size_t byte_count) {
  (void)opaque;
  return pks__allocate(byte_count);
}

static void zstd_free(void *opaque, void *block) {
  (void)opaque;
  pks__free(block);
}

static const ZSTD_customMem counted_memory = {.customAlloc = zstd_allocate, .customFree = zstd_free, .opaque = NULL};

// MARK: The probe

enum {
  PROBE_LENGTH_MIN = 16 * 1024,  // below, the probe costs too much compared with the possible saving
  PROBE_LINE = 64,               // sampled in cache lines
  PROBE_LINES_MIN = 64,
  PROBE_LINES_MAX = 256,
  ANCHOR_LENGTH = 5,  // bytes compared at an anchor: longer than what random bytes repeat by chance
  ANCHOR_TABLE_LOG = 12,
};

/// How often each byte value was seen.
typedef struct histogram {
  uint32_t counts[256];
  uint32_t total;  // at most PROBE_LINES_MAX * PROBE_LINE
} histogram;

// Counts the bytes of lines spread over the frame: one in each of equal ranges, at a varying place, because records of a fixed
// length must not show the same field each time.
static void count_sample(const uint8_t *raw, size_t raw_length, histogram *out) {
  size_t lines = raw_length / (16 * PROBE_LINE);
  if (lines < PROBE_LINES_MIN) { lines = PROBE_LINES_MIN; }
  if (lines > PROBE_LINES_MAX) { lines = PROBE_LINES_MAX; }
  size_t stretch = raw_length / lines;
  uint16_t pairs[2][256] = {{0}};  // two tables, for the same byte twice in a row would wait for itself
  for (size_t i = 0; i < lines; i++) {
    size_t wander = (((uint32_t)i * 0x9E3779B1u) >> 16) % (stretch - PROBE_LINE + 1);
    const uint8_t *line = raw + i * stretch + wander;
    for (size_t k = 0; k < PROBE_LINE; k += 2) {
      pairs[0][line[k]]++;
      pairs[1][line[k + 1]]++;
    }
  }
  for (size_t i = 0; i < 256; i++) { out->counts[i] = (uint32_t)pairs[0][i] + pairs[1][i]; }
  out->total = (uint32_t)(lines * PROBE_LINE);
}

// Whether some byte values are so much more frequent than others that coding by frequency may pay. For random bytes 256 *
// sum(count^2) / n^2 is 1 + 255/n on average; the limit is 1/5 above. Frames that zstd shortens by a sixteenth without repeats are
// at 0.7 above.
static bool is_skewed(const histogram *sample) {
  uint32_t squares = 0;  // at most 2^28
  for (size_t i = 0; i < 256; i++) { squares += sample->counts[i] * sample->counts[i]; }
  uint64_t n = sample->total;
  return (uint64_t)squares * 256 * 5 > n * n * 6 + n * 255 * 5;
}

// Whether it is neither text nor nearly all zeros: between three and eight tenths of its bytes are none that text has.
static bool is_binary(const histogram *sample) {
  uint32_t others = sample->counts[0];
  for (size_t i = 0x80; i < 256; i++) { others += sample->counts[i]; }
  return others >= sample->total / 10 * 3 && others < sample->total / 10 * 8;
}

// The value nearest to its fair share: its places are spread as the frame's content is, and about one byte in 256.
static uint8_t typical_byte(const histogram *sample) {
  const uint32_t *counts = sample->counts;
  uint32_t share = sample->total / 256;
  uint32_t nearest = UINT32_MAX;
  uint8_t value = 0;
  for (unsigned i = 0; i < 256; i++) {
    uint32_t distance = counts[i] > share ? counts[i] - share : share - counts[i];
    if (distance < nearest) {
      nearest = distance;
      value = (uint8_t)i;
    }
  }
  return value;
}

static uint64_t anchor_bytes(const uint8_t *at) {
  pks_le64 stored;
  memcpy(&stored, at, sizeof stored);
  return pks__get64(stored) << (64 - 8 * ANCHOR_LENGTH);
}

// Whether the frame repeats itself, at any distance, in more than 1/64 of it. Examines only places with the byte `anchor`: places
// chosen by content are the same ones in a copy, so a sample of one byte in 256 sees the copies in proportion.
static bool has_repeats(const uint8_t *raw, size_t raw_length, uint8_t anchor) {
  uint32_t last_seen[1 << ANCHOR_TABLE_LOG] = {0};  // offset of the latest anchor by hash, plus 1; 0 is none
  const uint8_t *end = raw + raw_length - sizeof(uint64_t) + 1;
  size_t anchors = 0, repeats = 0;
  for (const uint8_t *at = raw; (at = memchr(at, anchor, (size_t)(end - at))); at++) {
    uint64_t bytes = anchor_bytes(at);
    uint32_t *slot = &last_seen[(bytes * 0x9E3779B97F4A7C15u) >> (64 - ANCHOR_TABLE_LOG)];
    if (*slot != 0 && anchor_bytes(raw + *slot - 1) == bytes) { repeats++; }
    *slot = (uint32_t)(at - raw) + 1;
    anchors++;
  }
  return repeats * 64 > anchors;
}

typedef enum content { CONTENT_OTHER, CONTENT_BINARY, CONTENT_RANDOM } content;

static content probe(const uint8_t *raw, size_t raw_length) {
  if (raw_length < PROBE_LENGTH_MIN) { return CONTENT_OTHER; }
  histogram sample;
  count_sample(raw, raw_length, &sample);
  if (!is_skewed(&sample) && !has_repeats(raw, raw_length, typical_byte(&sample))) { return CONTENT_RANDOM; }
  return is_binary(&sample) ? CONTENT_BINARY : CONTENT_OTHER;
}

// MARK: Encoding

static int clamp_level(int level) {
  int lowest = ZSTD_minCLevel(), highest = ZSTD_maxCLevel();
  return level < lowest ? lowest : level > highest ? highest : level;
}

static bool set_parameters(ZSTD_CCtx *context, int level) {
  return !ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, clamp_level(level)))
    && !ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 1))
    && !ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 0))  // the segment's table has one
    && !ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_dictIDFlag, 0));
}

pks__encoder *pks__encoder_create(int level) {
  pks__encoder *encoder = pks__allocate(sizeof *encoder);
  if (!encoder) { return NULL; }
  *encoder = (pks__encoder){.context = ZSTD_createCCtx_advanced(counted_memory), .level = level};
  if (!encoder->context || !set_parameters(encoder->context, level)) {
    pks__encoder_destroy(encoder);
    return NULL;
  }
  return encoder;
}

void pks__encoder_destroy(pks__encoder *encoder) {
  if (!encoder) { return; }
  ZSTD_freeCCtx(encoder->context);
  pks__free(encoder);
}

const char *pks_zstd_version(void) { return ZSTD_versionString(); }

// More than a kept frame is ever long: near the end of its room libzstd falls back to raw blocks, and the outcome would
// depend on the room.
size_t pks__encode_capacity(size_t raw_length) { return ZSTD_compressBound(raw_length); }

static bool set_tables(ZSTD_CCtx *context, int hash_log, int chain_log, int match_min) {
  return !ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_hashLog, hash_log))
    && !ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_chainLog, chain_log))
    && !ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_minMatch, match_min));
}

/// Level 3 searches repeats of 5 and of 8 bytes, in tables of 128 and 256 KiB. Data other than text has more short repeats, and
/// fewer at large distances: 4 and 8 bytes, in tables of 32 KiB each, which stay in the first-level cache, are as good in less
/// time.
static bool set_up_for(pks__encoder *encoder, content content, size_t raw_length) {
  enum { SHORT_FRAME = 128 * 1024, TABLE_LOG = 13, MATCH_MIN = 4 };
  bool is_binary = content == CONTENT_BINARY && encoder->level == 3 && raw_length <= SHORT_FRAME;
  if (is_binary == encoder->is_set_for_binary) { return true; }
  encoder->is_set_for_binary = is_binary;
  return is_binary ? set_tables(encoder->context, TABLE_LOG, TABLE_LOG, MATCH_MIN)
                   : set_tables(encoder->context, encoder->table_log, encoder->table_log, 0);
}

pks__encoder *pks__encoder_create_small(int level) {
  enum { TABLE_LOG = 14 };  // of 4 bytes each
  pks__encoder *encoder = pks__encoder_create(level);
  if (!encoder) { return NULL; }
  encoder->table_log = TABLE_LOG;
  if (set_tables(encoder->context, TABLE_LOG, TABLE_LOG, 0)) { return encoder; }
  pks__encoder_destroy(encoder);
  return NULL;
}

/// Encodes as the context is set up. 0: better stored raw.
static size_t encode_if_worth(ZSTD_CCtx *context, const void *raw, size_t raw_length, void *out, size_t capacity) {
  size_t room = pks__min_size(capacity, pks__encode_capacity(raw_length));
  size_t encoded_length = ZSTD_compress2(context, out, room, raw, raw_length);
  if (ZSTD_isError(encoded_length)) {
    // All that can go wrong but memory is too little room; and storing raw is never wrong.
    return ZSTD_getErrorCode(encoded_length) == ZSTD_error_memory_allocation ? SIZE_MAX : 0;
  }
  bool worth_it = encoded_length < raw_length && raw_length - encoded_length >= (raw_length + 15) / 16;
  return worth_it ? encoded_length : 0;
}

size_t pks__encode(pks__encoder *encoder, const void *raw, size_t raw_length, void *out, size_t capacity) {
  PKS_ASSERT(raw_length <= PKS__FRAME_RAW_MAX);
  content content = probe(raw, raw_length);
  if (raw_length == 0 || content == CONTENT_RANDOM) { return 0; }
  if (!set_up_for(encoder, content, raw_length)) { return SIZE_MAX; }
  return encode_if_worth(encoder->context, raw, raw_length, out, capacity);
}

static bool set_dictionary(ZSTD_CCtx *context, const ZSTD_CDict *tables, bool is_attached) {
  int preference = is_attached ? ZSTD_dictForceAttach : ZSTD_dictDefaultAttach;
  return !ZSTD_isError(ZSTD_CCtx_refCDict(context, tables))
    && !ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_forceAttachDict, preference));
}

size_t pks__encode_with(
  pks__encoder *encoder, const pks__encoding_dictionary *dictionary, const void *raw, size_t raw_length, void *out,
  size_t capacity
) {
  PKS_ASSERT(raw_length <= PKS__FRAME_RAW_MAX);
  if (raw_length == 0 || probe(raw, raw_length) == CONTENT_RANDOM) { return 0; }
  if (!set_up_for(encoder, CONTENT_OTHER, raw_length)) { return SIZE_MAX; }
  if (!set_dictionary(encoder->context, dictionary->tables, dictionary->is_attached)) { return SIZE_MAX; }
  size_t length = encode_if_worth(encoder->context, raw, raw_length, out, capacity);
  // It would count for all frames from here on.
  return set_dictionary(encoder->context, NULL, false) ? length : SIZE_MAX;
}

// The window must reach back over the whole prefix, regardless of the level.
static bool set_prefix(ZSTD_CCtx *context, const void *prefix, size_t prefix_length, size_t raw_length) {
  int window_log = ZSTD_WINDOWLOG_MIN;
  while (((size_t)1 << window_log) < prefix_length + raw_length) { window_log++; }
  return !ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, window_log))
    && !ZSTD_isError(ZSTD_CCtx_refPrefix(context, prefix, prefix_length));
}

size_t pks__encode_after(
  pks__encoder *encoder, const void *prefix, size_t prefix_length, const void *raw, size_t raw_length, void *out,
  size_t capacity
) {
  PKS_ASSERT(prefix_length <= PKS__FRAME_RAW_MAX && raw_length <= PKS__FRAME_RAW_MAX - prefix_length);
  if (raw_length == 0) { return 0; }
  if (!set_up_for(encoder, CONTENT_OTHER, raw_length)) { return SIZE_MAX; }
  if (!set_prefix(encoder->context, prefix, prefix_length, raw_length)) { return SIZE_MAX; }
  size_t room = pks__min_size(capacity, pks__encode_capacity(raw_length));
  size_t encoded_length = ZSTD_compress2(encoder->context, out, room, raw, raw_length);
  if (ZSTD_isError(encoded_length)) {
    return ZSTD_getErrorCode(encoded_length) == ZSTD_error_memory_allocation ? SIZE_MAX : 0;
  }
  return encoded_length < raw_length ? encoded_length : 0;
}

// MARK: Dictionaries

// The memory is ours: libzstd 1.5.4 crashes where it cannot get any for this.
pks__encoding_dictionary *pks__encoding_dictionary_create(
  const void *bytes, size_t byte_count, int level, bool *is_bad
) {
  enum { TYPICAL_ASSET = 16 * 1024 };  // the size that the tables are built for, in bytes
  *is_bad = byte_count < PKS__DICTIONARY_RAW_MIN || byte_count > PKS__DICTIONARY_RAW_MAX;
  pks__encoding_dictionary *dictionary = *is_bad ? NULL : pks__allocate_zeroed(1, sizeof *dictionary);
  if (!dictionary) { return NULL; }
  ZSTD_compressionParameters parameters = ZSTD_getCParams(clamp_level(level), TYPICAL_ASSET, byte_count);
  // Else libzstd copies the tables for each frame of more than 16 KiB, which takes as long as encoding half of it.
  dictionary->is_attached = parameters.strategy == ZSTD_dfast;
  size_t size = ZSTD_estimateCDictSize_advanced(byte_count, parameters, ZSTD_dlm_byCopy);
  // Libzstd leaves a field as it was.
  dictionary->memory = pks__allocate_zeroed(1, size);
  if (dictionary->memory) {
    dictionary->tables =
      ZSTD_initStaticCDict(dictionary->memory, size, bytes, byte_count, ZSTD_dlm_byCopy, ZSTD_dct_auto, parameters);
  }
  if (dictionary->tables) { return dictionary; }
  *is_bad = dictionary->memory != NULL;
  pks__encoding_dictionary_destroy(dictionary);
  return NULL;
}

void pks__encoding_dictionary_destroy(pks__encoding_dictionary *dictionary) {
  if (!dictionary) { return; }
  pks__free(dictionary->memory);
  pks__free(dictionary);
}

static ZSTD_DDict *make_tables(const pks__decoding_dictionary *dictionary, ZSTD_dictContentType_e type) {
  return ZSTD_createDDict_advanced(dictionary->content, dictionary->length, ZSTD_dlm_byRef, type, counted_memory);
}

pks__decoding_dictionary *pks__decoding_dictionary_create(const void *bytes, size_t byte_count, bool *is_bad) {
  *is_bad = byte_count < PKS__DICTIONARY_RAW_MIN || byte_count > PKS__DICTIONARY_RAW_MAX;
  pks__decoding_dictionary *dictionary = *is_bad ? NULL : pks__allocate_zeroed(1, sizeof *dictionary);
  if (!dictionary) { return NULL; }
  atomic_flag_clear(&dictionary->is_used);
  dictionary->length = byte_count;
  dictionary->content = pks__allocate(byte_count + DICTIONARY_ROOM);
  if (dictionary->content) {
    memcpy(dictionary->content, bytes, byte_count);
    dictionary->tables = make_tables(dictionary, ZSTD_dct_auto);
    if (dictionary->tables) { return dictionary; }
    // Any bytes are valid raw content: if this succeeds, memory was not short, or is no longer.
    ZSTD_DDict *plain = make_tables(dictionary, ZSTD_dct_rawContent);
    if (plain) { dictionary->tables = make_tables(dictionary, ZSTD_dct_auto); }
    ZSTD_freeDDict(plain);
    if (dictionary->tables) { return dictionary; }
    *is_bad = plain != NULL;
  }
  pks__decoding_dictionary_destroy(dictionary);
  return NULL;
}

void pks__decoding_dictionary_destroy(pks__decoding_dictionary *dictionary) {
  if (!dictionary) { return; }
  ZSTD_freeDDict(dictionary->tables);
  pks__free(dictionary->content);
  pks__free(dictionary);
}

size_t pks__decoding_dictionary_size(const pks__decoding_dictionary *dictionary) {
  return sizeof *dictionary + dictionary->length + DICTIONARY_ROOM + ZSTD_sizeof_DDict(dictionary->tables);
}

// MARK: Decoding

pks__decoder *pks__decoder_create(void) {
  pks__decoder *decoder = pks__allocate(sizeof *decoder);
  if (!decoder) { return NULL; }
  *decoder = (pks__decoder){.context = ZSTD_createDCtx_advanced(counted_memory)};
  if (!decoder->context) {
    pks__free(decoder);
    return NULL;
  }
  return decoder;
}

void pks__decoder_destroy(pks__decoder *decoder) {
  if (!decoder) { return; }
  ZSTD_freeDCtx(decoder->context);
  pks__free(decoder);
}

// The window that a frame's header asks for (RFC 8878, 3.1.1.1): the content itself when the frame is a single segment.
static uint64_t window_size(const uint8_t header[6], uint64_t raw_length) {
  bool single_segment = (header[4] & 0x20u) != 0;
  if (single_segment) { return raw_length; }
  uint64_t base = (uint64_t)1 << (10 + (header[5] >> 3));
  return base + base / 8 * (header[5] & 7u);
}

// Refused here: skippable frames and old formats (by the magic number), frames of unknown or other size, windows larger
// than the content, and anything after the frame.
static bool is_expected_frame(const uint8_t *encoded, size_t encoded_length, size_t raw_length) {
  pks__reader reader = pks__reader_make(encoded, encoded_length);
  uint32_t magic = pks__read32(&reader);
  (void)pks__read16(&reader);  // descriptor, and the following byte
  if (reader.failed || magic != ZSTD_MAGICNUMBER) { return false; }
  const uint8_t *header = encoded;
  bool names_dictionary = (header[4] & 3u) != 0;
  return !names_dictionary && ZSTD_getFrameContentSize(encoded, encoded_length) == raw_length
    && window_size(encoded, raw_length) <= raw_length
    && ZSTD_findFrameCompressedSize(encoded, encoded_length) == encoded_length;
}

bool pks__decode(pks__decoder *decoder, const void *encoded, size_t encoded_length, void *out, size_t raw_length) {
  return pks__decode_after(decoder, NULL, 0, encoded, encoded_length, out, raw_length);
}

/// Whether the frame is to be decoded behind the dictionary. One thread at a time can; the others need not wait for it.
static bool take_room(pks__decoding_dictionary *dictionary, size_t raw_length) {
  return raw_length <= DICTIONARY_ROOM
    && !atomic_flag_test_and_set_explicit(&dictionary->is_used, memory_order_acquire);
}

bool pks__decode_with(
  pks__decoder *decoder, pks__decoding_dictionary *dictionary, const void *encoded, size_t encoded_length, void *out,
  size_t raw_length
) {
  if (raw_length == 0 || raw_length > PKS__FRAME_RAW_MAX) { return false; }
  if (!is_expected_frame(encoded, encoded_length, raw_length)) { return false; }
  bool has_room = take_room(dictionary, raw_length);
  void *target = has_room ? dictionary->content + dictionary->length : out;
  size_t got =
    ZSTD_decompress_usingDDict(decoder->context, target, raw_length, encoded, encoded_length, dictionary->tables);
  if (has_room) {
    if (got == raw_length) { memcpy(out, target, raw_length); }
    atomic_flag_clear_explicit(&dictionary->is_used, memory_order_release);
  }
  return got == raw_length;
}

bool pks__decoder_lacks_memory(const pks__decoder *decoder) { return decoder->lacks_memory; }

bool pks__decode_after(
  pks__decoder *decoder, const void *prefix, size_t prefix_length, const void *encoded, size_t encoded_length,
  void *out, size_t raw_length
) {
  decoder->lacks_memory = false;
  if (raw_length == 0 || raw_length > PKS__FRAME_RAW_MAX) { return false; }
  if (!is_expected_frame(encoded, encoded_length, raw_length)) { return false; }
  // A prefix counts for one frame, be it decoded or not. Nothing but memory can lack.
  decoder->lacks_memory =
    prefix_length > 0 && ZSTD_isError(ZSTD_DCtx_refPrefix(decoder->context, prefix, prefix_length));
  if (decoder->lacks_memory) { return false; }
  return ZSTD_decompressDCtx(decoder->context, out, raw_length, encoded, encoded_length) == raw_length;
}
