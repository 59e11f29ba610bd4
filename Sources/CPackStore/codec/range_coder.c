#include "codec/range_coder.h"

enum {
  HALF = 1 << 15,
  LEAST = 64,     // of 2^16: no bit is less likely than this
  SEEN_MAX = 60,  // after that many bits, a model forgets the oldest
  LENGTH_BITS = 7,
};
#define RANGE_MIN (1u << 24)

void pks__bit_models_init(pks__bit_model *models, size_t count) {
  for (size_t i = 0; i < count; i++) { models[i] = (pks__bit_model){.one = HALF}; }
}

/// Moves the probability by 2 / (2 n + 3) of its distance, after n bits.
static void learn(pks__bit_model *model, bool bit) {
  int32_t target = bit ? 65536 - LEAST : LEAST, one = model->one;
  model->one = (uint16_t)(one + (target - one) * 2 / (2 * (int32_t)model->seen + 3));
  if (model->seen < SEEN_MAX) { model->seen++; }
}

// MARK: - Encoding

void pks__range_encoder_begin(pks__range_encoder *encoder, uint8_t *out, size_t room) {
  *encoder = (pks__range_encoder){.out = out, .room = room, .range = UINT32_MAX};
}

static void put_byte(pks__range_encoder *encoder, uint8_t byte) {
  if (encoder->used == encoder->room) {
    encoder->failed = true;
  } else {
    encoder->out[encoder->used++] = byte;
  }
}

/// Moves the highest byte of `low` out, unless a carry may still change it.
static void shift_low(pks__range_encoder *encoder) {
  uint8_t carry = (uint8_t)(encoder->low >> 32);
  if ((uint32_t)encoder->low < 0xff000000u || carry > 0) {
    // The first byte can have no carry: there is nothing before it.
    if (encoder->has_cache) { put_byte(encoder, (uint8_t)(encoder->cache + carry)); }
    for (; encoder->pending > 0; encoder->pending--) { put_byte(encoder, (uint8_t)(0xff + carry)); }
    encoder->cache = (uint8_t)(encoder->low >> 24);
    encoder->has_cache = true;
  } else {
    encoder->pending++;
  }
  encoder->low = (encoder->low & 0xffffffu) << 8;
}

static void settle(pks__range_encoder *encoder) {
  while (encoder->range < RANGE_MIN) {
    encoder->range <<= 8;
    shift_low(encoder);
  }
}

void pks__range_put_bit(pks__range_encoder *encoder, pks__bit_model *model, bool bit) {
  uint32_t bound = (encoder->range >> 16) * model->one;
  if (bit) {
    encoder->range = bound;
  } else {
    encoder->low += bound;
    encoder->range -= bound;
  }
  learn(model, bit);
  settle(encoder);
}

/// Codes the low `count` bits of a value, each as likely as not.
static void put_bits(pks__range_encoder *encoder, uint64_t value, unsigned count) {
  while (count-- > 0) {
    encoder->range >>= 1;
    if (value >> count & 1) { encoder->low += encoder->range; }
    settle(encoder);
  }
}

static void put_tree(pks__range_encoder *encoder, pks__bit_model *nodes, unsigned bit_count, unsigned value) {
  for (unsigned node = 1; bit_count-- > 0;) {
    bool bit = value >> bit_count & 1;
    pks__range_put_bit(encoder, &nodes[node], bit);
    node = node << 1 | bit;
  }
}

static unsigned bit_length(uint64_t value) {
  unsigned length = 0;
  for (; value > 0; value >>= 1) { length++; }
  return length;
}

void pks__range_put_number(pks__range_encoder *encoder, pks__number_model *model, uint64_t value) {
  unsigned length = bit_length(value);
  put_tree(encoder, model->lengths, LENGTH_BITS, length);
  if (length > 1) { put_bits(encoder, value, length - 1); }
}

void pks__range_put_byte(pks__range_encoder *encoder, pks__byte_model *model, uint8_t value) {
  put_tree(encoder, model->nodes, 8, value);
}

size_t pks__range_encoder_end(pks__range_encoder *encoder) {
  // Choose a number in the range with the most zeros at its end: the decoder reads zeros behind the last byte.
  uint64_t last = encoder->low + encoder->range - 1, value = encoder->low;
  for (unsigned zeros = 1; zeros < 32; zeros++) {
    uint64_t mask = ((uint64_t)1 << zeros) - 1, rounded = (encoder->low + mask) & ~mask;
    if (rounded > last) { break; }
    value = rounded;
  }
  encoder->low = value;
  for (int i = 0; i < 5; i++) { shift_low(encoder); }
  if (encoder->failed) { return SIZE_MAX; }
  while (encoder->used > 0 && encoder->out[encoder->used - 1] == 0) { encoder->used--; }
  return encoder->used;
}

// MARK: - Decoding

static uint8_t next_byte(pks__range_decoder *decoder) { return decoder->next < decoder->end ? *decoder->next++ : 0; }

void pks__range_decoder_begin(pks__range_decoder *decoder, const uint8_t *bytes, size_t byte_count) {
  *decoder = (pks__range_decoder){.next = bytes, .end = bytes + byte_count, .range = UINT32_MAX};
  for (int i = 0; i < 4; i++) { decoder->code = decoder->code << 8 | next_byte(decoder); }
}

static void fill(pks__range_decoder *decoder) {
  while (decoder->range < RANGE_MIN) {
    decoder->range <<= 8;
    decoder->code = decoder->code << 8 | next_byte(decoder);
  }
}

bool pks__range_read_bit(pks__range_decoder *decoder, pks__bit_model *model) {
  uint32_t bound = (decoder->range >> 16) * model->one;
  bool bit = decoder->code < bound;
  if (bit) {
    decoder->range = bound;
  } else {
    decoder->code -= bound;
    decoder->range -= bound;
  }
  learn(model, bit);
  fill(decoder);
  return bit;
}

static uint64_t read_bits(pks__range_decoder *decoder, uint64_t value, unsigned count) {
  for (; count > 0; count--) {
    decoder->range >>= 1;
    bool bit = decoder->code >= decoder->range;
    if (bit) { decoder->code -= decoder->range; }
    value = value << 1 | bit;
    fill(decoder);
  }
  return value;
}

static unsigned read_tree(pks__range_decoder *decoder, pks__bit_model *nodes, unsigned bit_count) {
  unsigned node = 1;
  for (unsigned i = 0; i < bit_count; i++) { node = node << 1 | pks__range_read_bit(decoder, &nodes[node]); }
  return node - (1u << bit_count);
}

uint64_t pks__range_read_number(pks__range_decoder *decoder, pks__number_model *model) {
  unsigned length = read_tree(decoder, model->lengths, LENGTH_BITS);
  if (length > 64) { return UINT64_MAX; }
  return length > 1 ? read_bits(decoder, 1, length - 1) : length;
}

uint8_t pks__range_read_byte(pks__range_decoder *decoder, pks__byte_model *model) {
  return (uint8_t)read_tree(decoder, model->nodes, 8);
}
