// LZFSE. A block is stored, compressed by LZVN, or a block of matches, whose numbers are coded by finite state entropy
// (FSE).
//
// A block of matches consists of a header, the stream of literals, and the stream of triplets (literal count, match
// length, distance). Both streams are read backwards, from their last bit to their first. A decoder's state is an index
// into a table, which is built from the frequencies of the symbols. Each step returns a symbol and consumes bits for
// the next state.
//
// Docs/ForeignArchives.md describes the supported part of the format.

#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "lzvn.h"
#include "packarchives.h"

enum {
  L_SYMBOLS = 20,
  M_SYMBOLS = 20,
  D_SYMBOLS = 64,
  LITERAL_SYMBOLS = 256,
  ALL_SYMBOLS = L_SYMBOLS + M_SYMBOLS + D_SYMBOLS + LITERAL_SYMBOLS,
  L_STATES = 64,
  M_STATES = 64,
  D_STATES = 256,
  LITERAL_STATES = 1024,
  MATCHES_MAX = 10000,
  LITERALS_MAX = 4 * MATCHES_MAX,
  V1_HEADER = 772,
  V2_FIXED_HEADER = 32,
};

// MARK: Tables

/// One row of a decoding table: a symbol, or a range of numbers for triplets, and the rule for the next state.
typedef struct state {
  uint32_t base;       ///< the symbol, or the smallest number
  uint16_t next;       ///< the smallest of the next states
  uint8_t next_bits;   ///< bits that select one of them
  uint8_t value_bits;  ///< bits that are added to `base`
} state;

/// The ranges of the symbols: symbol `i` has `bits[i]` extra bits, and its range follows the range of symbol `i` - 1.
static const uint8_t l_bits[L_SYMBOLS] = {[16] = 2, [17] = 3, [18] = 5, [19] = 8};
static const uint8_t m_bits[M_SYMBOLS] = {[16] = 3, [17] = 5, [18] = 8, [19] = 11};

/// Fills one row per unit of frequency, in the order of the symbols. Returns the number of rows, or 0 if they exceed
/// `state_count`, a power of two. `bits` is NULL if the symbols are values, not ranges.
static size_t make_states(
  state *states, size_t state_count, const uint16_t *frequencies, size_t symbol_count, const uint8_t *bits
) {
  size_t filled = 0;
  uint32_t base = 0;
  for (uint32_t symbol = 0; symbol < symbol_count; symbol++) {
    uint8_t value_bits = bits ? bits[symbol] : 0;
    uint32_t frequency = frequencies[symbol];
    if (frequency > state_count - filled) { return 0; }
    uint8_t shift = 0;  // the least for which frequency << shift reaches the number of states
    while (frequency > 0 && frequency << shift < state_count) { shift++; }
    uint32_t longer = frequency > 0 ? (uint32_t)(2 * state_count >> shift) - frequency : 0;
    for (uint32_t i = 0; i < frequency; i++) {
      bool is_longer = i < longer;
      uint32_t next = is_longer ? ((frequency + i) << shift) - (uint32_t)state_count : (i - longer) << (shift - 1);
      states[filled++] = (state){
        .base = bits ? base : symbol,
        .next = (uint16_t)next,
        .next_bits = (uint8_t)(is_longer ? shift : shift - 1),
        .value_bits = value_bits,
      };
    }
    base += UINT32_C(1) << value_bits;
  }
  return filled;
}

// MARK: Bits

/// A bit stream that is read from its last bit to its first.
typedef struct bits {
  const uint8_t *bytes;
  size_t byte_count;
  size_t left;  ///< number of unread bits
} bits;

/// Opens a stream. The highest `-unused` bits of the last byte, 0 to 7, are padding and must be zero.
static bool open_bits(bits *bits, const uint8_t *bytes, size_t byte_count, int unused) {
  if (unused > 0 || unused < -7 || (unused < 0 && byte_count == 0)) { return false; }
  *bits = (struct bits){.bytes = bytes, .byte_count = byte_count, .left = byte_count * 8 - (size_t)-unused};
  return unused == 0 || bytes[byte_count - 1] >> (8 + unused) == 0;
}

/// Reads the next `count` bits, at most 32, as a number. Returns false at the end.
static bool take_bits(bits *bits, unsigned count, uint32_t *out) {
  if (bits->left < count) { return false; }
  bits->left -= count;
  size_t first = bits->left / 8;
  uint64_t word = 0;
  if (bits->byte_count - first >= sizeof word) {
    word = pka__get64(bits->bytes + first);
  } else {
    for (size_t i = first; i < bits->byte_count; i++) { word |= (uint64_t)bits->bytes[i] << (8 * (i - first)); }
  }
  *out = (uint32_t)(word >> bits->left % 8 & ((UINT64_C(1) << count) - 1));
  return true;
}

/// Performs one step: returns the symbol or number of row `index`, and sets `index` to the next state.
static bool step(const state *states, size_t state_count, uint32_t *index, bits *bits, uint32_t *out) {
  if (*index >= state_count) { return false; }
  const state *now = &states[*index];
  uint32_t taken;
  if (!take_bits(bits, (unsigned)now->next_bits + now->value_bits, &taken)) { return false; }
  *out = now->base + (taken & ((UINT32_C(1) << now->value_bits) - 1));
  *index = now->next + (taken >> now->value_bits);
  return true;
}

// MARK: A block of matches

typedef struct header {
  uint32_t raw_length;
  uint32_t literal_count, literal_bytes;
  uint32_t match_count, match_bytes;
  int literal_unused, match_unused;  ///< 0 or less: see `open_bits`
  uint32_t literal_states[4], l_state, m_state, d_state;
  uint16_t frequencies[ALL_SYMBOLS];  ///< of L, M, D, literals
} header;

typedef struct lzfse {
  header header;
  state l[L_STATES], m[M_STATES], d[D_STATES], literals[LITERAL_STATES];
  size_t l_count, m_count, d_count, literal_count;
  uint8_t d_bits[D_SYMBOLS];
  uint8_t literal_bytes[LITERALS_MAX];
} lzfse;

/// Decodes a frequency. The code is longer if more of its lowest bits are ones. Returns its length in bits.
static unsigned decode_frequency(uint32_t bits, uint16_t *out) {
  static const struct {
    uint8_t skipped, count;
    uint16_t base;
  } codes[5] = {{1, 1, 0}, {2, 1, 2}, {3, 2, 4}, {4, 4, 8}, {4, 10, 24}};
  unsigned ones = 0;
  while (ones < 4 && bits >> ones & 1) { ones++; }
  *out = (uint16_t)(codes[ones].base + (bits >> codes[ones].skipped & ((UINT32_C(1) << codes[ones].count) - 1)));
  return (unsigned)codes[ones].skipped + codes[ones].count;
}

/// Decodes the frequencies, which fill the rest of the header except for less than a byte. If no bytes follow, all are
/// zero.
static bool decode_frequencies(const uint8_t *bytes, size_t length, uint16_t *frequencies) {
  memset(frequencies, 0, ALL_SYMBOLS * sizeof *frequencies);
  if (length == 0) { return true; }
  uint32_t window = 0;
  unsigned held = 0;
  size_t next = 0;
  for (size_t i = 0; i < ALL_SYMBOLS; i++) {
    for (; held <= 24 && next < length; held += 8) { window |= (uint32_t)bytes[next++] << held; }
    unsigned taken = decode_frequency(window, &frequencies[i]);
    if (taken > held) { return false; }
    window >>= taken;
    held -= taken;
  }
  return next == length && held < 8;
}

static uint32_t bit_field(uint64_t word, unsigned first, unsigned count) {
  return (uint32_t)(word >> first & ((UINT64_C(1) << count) - 1));
}

/// Returns the header's length, or 0.
static size_t read_v2_header(header *header, const uint8_t *source, size_t length) {
  if (length < V2_FIXED_HEADER) { return 0; }
  uint64_t first = pka__get64(source + 8), second = pka__get64(source + 16), third = pka__get64(source + 24);
  uint32_t header_length = bit_field(third, 0, 32);
  if (header_length < V2_FIXED_HEADER || header_length > length) { return 0; }
  header->raw_length = pka__get32(source + 4);
  header->literal_count = bit_field(first, 0, 20);
  header->literal_bytes = bit_field(first, 20, 20);
  header->match_count = bit_field(first, 40, 20);
  header->literal_unused = (int)bit_field(first, 60, 3) - 7;
  for (unsigned i = 0; i < 4; i++) { header->literal_states[i] = bit_field(second, 10 * i, 10); }
  header->match_bytes = bit_field(second, 40, 20);
  header->match_unused = (int)bit_field(second, 60, 3) - 7;
  header->l_state = bit_field(third, 32, 10);
  header->m_state = bit_field(third, 42, 10);
  header->d_state = bit_field(third, 52, 10);
  bool ok = decode_frequencies(source + V2_FIXED_HEADER, header_length - V2_FIXED_HEADER, header->frequencies);
  return ok ? header_length : 0;
}

/// Reads a signed number of the older header, which must be from -7 to 0; returns 1 if it is not.
static int read_unused(const uint8_t *bytes) {
  uint32_t negated = UINT32_C(0) - pka__get32(bytes);
  return negated <= 7 ? -(int)negated : 1;
}

/// Reads the older header, with uncompressed frequencies. Returns its length, or 0.
static size_t read_v1_header(header *header, const uint8_t *source, size_t length) {
  if (length < V1_HEADER) { return 0; }
  header->raw_length = pka__get32(source + 4);
  header->literal_count = pka__get32(source + 12);
  header->match_count = pka__get32(source + 16);
  header->literal_bytes = pka__get32(source + 20);
  header->match_bytes = pka__get32(source + 24);
  header->literal_unused = read_unused(source + 28);
  for (size_t i = 0; i < 4; i++) { header->literal_states[i] = pka__get16(source + 32 + 2 * i); }
  header->match_unused = read_unused(source + 40);
  header->l_state = pka__get16(source + 44);
  header->m_state = pka__get16(source + 46);
  header->d_state = pka__get16(source + 48);
  for (size_t i = 0; i < ALL_SYMBOLS; i++) { header->frequencies[i] = pka__get16(source + 50 + 2 * i); }
  uint64_t payload = (uint64_t)header->literal_bytes + header->match_bytes;
  return pka__get32(source + 8) == payload ? V1_HEADER : 0;
}

static bool make_tables(lzfse *s) {
  const uint16_t *frequencies = s->header.frequencies;
  for (size_t i = 0; i < D_SYMBOLS; i++) { s->d_bits[i] = (uint8_t)(i / 4); }
  s->l_count = make_states(s->l, L_STATES, frequencies, L_SYMBOLS, l_bits);
  s->m_count = make_states(s->m, M_STATES, frequencies + L_SYMBOLS, M_SYMBOLS, m_bits);
  s->d_count = make_states(s->d, D_STATES, frequencies + L_SYMBOLS + M_SYMBOLS, D_SYMBOLS, s->d_bits);
  s->literal_count =
    make_states(s->literals, LITERAL_STATES, frequencies + ALL_SYMBOLS - LITERAL_SYMBOLS, LITERAL_SYMBOLS, NULL);
  // Without literals or matches, their tables are not used.
  bool has_matches = s->l_count > 0 && s->m_count > 0 && s->d_count > 0;
  return (s->header.literal_count == 0 || s->literal_count > 0) && (s->header.match_count == 0 || has_matches);
}

/// Four states take turns, one literal each.
static bool decode_literals(lzfse *s, const uint8_t *payload) {
  bits bits;
  if (!open_bits(&bits, payload, s->header.literal_bytes, s->header.literal_unused)) { return false; }
  for (size_t i = 0; i < s->header.literal_count; i++) {
    uint32_t literal;
    if (!step(s->literals, s->literal_count, &s->header.literal_states[i % 4], &bits, &literal)) { return false; }
    s->literal_bytes[i] = (uint8_t)literal;
  }
  return true;
}

static bool decode_matches(lzfse *s, const uint8_t *payload, pka__output *out) {
  header *header = &s->header;
  bits bits;
  if (!open_bits(&bits, payload, header->match_bytes, header->match_unused)) { return false; }
  size_t literal = 0;
  uint32_t distance = 0;  // none yet
  for (uint32_t i = 0; i < header->match_count; i++) {
    uint32_t l, m, d;
    if (!step(s->l, s->l_count, &header->l_state, &bits, &l) || !step(s->m, s->m_count, &header->m_state, &bits, &m) ||
        !step(s->d, s->d_count, &header->d_state, &bits, &d)) {
      return false;
    }
    if (d > 0) { distance = d; }
    if (l > header->literal_count - literal || !pka__put_bytes(out, s->literal_bytes + literal, l)) { return false; }
    literal += l;
    if (m > 0 && !pka__put_match(out, distance, m)) { return false; }
  }
  return true;
}

/// Returns the number of bytes of `source` in the block, or 0 if the block is invalid.
static size_t decode_block(lzfse *s, bool is_v2, const uint8_t *source, size_t length, pka__output *out) {
  header *header = &s->header;
  size_t header_length = is_v2 ? read_v2_header(header, source, length) : read_v1_header(header, source, length);
  if (header_length == 0 || header->match_count > MATCHES_MAX) { return 0; }
  if (header->literal_count > LITERALS_MAX || header->literal_count % 4 != 0) { return 0; }
  length -= header_length;
  if (header->literal_bytes > length || header->match_bytes > length - header->literal_bytes) { return 0; }
  const uint8_t *payload = source + header_length;
  size_t before = out->length;
  bool ok = make_tables(s) && decode_literals(s, payload) && decode_matches(s, payload + header->literal_bytes, out)
    && out->length - before == header->raw_length;
  return ok ? header_length + header->literal_bytes + header->match_bytes : 0;
}

// MARK: The stream

static size_t decode_stored(const uint8_t *source, size_t length, pka__output *out) {
  if (length < 8) { return 0; }
  size_t raw_length = pka__get32(source + 4);
  return raw_length <= length - 8 && pka__put_bytes(out, source + 8, raw_length) ? 8 + raw_length : 0;
}

static size_t decode_lzvn(const uint8_t *source, size_t length, pka__output *out) {
  if (length < 12) { return 0; }
  size_t raw_length = pka__get32(source + 4), payload = pka__get32(source + 8), before = out->length;
  bool ok = payload <= length - 12 && raw_length <= out->capacity - before
    && pka__lzvn_decode(source + 12, payload, out) && out->length - before == raw_length;
  return ok ? 12 + payload : 0;
}

/// Decodes the blocks up to the end mark, which must be at the end of `source`.
static bool decode_stream(lzfse *s, const uint8_t *source, size_t length, pka__output *out) {
  while (length >= 4) {
    size_t taken = 0;
    if (memcmp(source, "bvx$", 4) == 0) { return length == 4 && out->length == out->capacity; }
    if (memcmp(source, "bvx2", 4) == 0 || memcmp(source, "bvx1", 4) == 0) {
      taken = decode_block(s, source[3] == '2', source, length, out);
    } else if (memcmp(source, "bvxn", 4) == 0) {
      taken = decode_lzvn(source, length, out);
    } else if (memcmp(source, "bvx-", 4) == 0) {
      taken = decode_stored(source, length, out);
    }
    if (taken == 0) { return false; }
    source += taken;
    length -= taken;
  }
  return false;
}

bool pka_lzfse_decode(const uint8_t *source, size_t source_length, uint8_t *target, size_t target_length) {
  lzfse *s = malloc(sizeof *s);
  if (!s) { return false; }
  pka__output out = {.bytes = target, .capacity = target_length};
  bool ok = decode_stream(s, source, source_length, &out);
  free(s);
  return ok;
}
