/// An adaptive binary range coder, for short lists of numbers whose statistics are not known beforehand.
///
/// A bit is coded with the probability that its *model* has learned from earlier bits; equally likely bits take one bit each. A
/// list of a hundred numbers takes a few bytes more than its entropy, where a zstd frame would spend them on tables. Both sides
/// must use the same models in the same order (Docs/FORMAT.md, section 23).
///
/// Untrusted bytes: reading them yields some bits. Behind the end there are zeros; `pks__range_decoder_is_at_end` reports whether
/// all bytes were read. No call can fail otherwise.
#ifndef PKS_RANGE_CODER_H
#define PKS_RANGE_CODER_H

#include "base/base.h"

/// The probability of a one bit, of 2^16, and how many bits it was learned from.
typedef struct pks__bit_model {
  uint16_t one;
  uint16_t seen;
} pks__bit_model;

/// Numbers: their length in bits is learned, the bits after the first are equally likely.
typedef struct pks__number_model {
  pks__bit_model lengths[128];
} pks__number_model;

/// Bytes, independently of each other.
typedef struct pks__byte_model {
  pks__bit_model nodes[256];
} pks__byte_model;

void pks__bit_models_init(pks__bit_model *models, size_t count);
static inline void pks__number_model_init(pks__number_model *model) {
  pks__bit_models_init(model->lengths, PKS_COUNT_OF(model->lengths));
}
static inline void pks__byte_model_init(pks__byte_model *model) {
  pks__bit_models_init(model->nodes, PKS_COUNT_OF(model->nodes));
}

typedef struct pks__range_encoder {
  uint8_t *out;
  size_t room, used;
  uint64_t low;
  uint32_t range;
  uint8_t cache;     ///< the last byte, to which a carry may be added
  uint64_t pending;  ///< number of bytes with all bits set after it
  bool has_cache;
  bool failed;  ///< no room was left
} pks__range_encoder;

void pks__range_encoder_begin(pks__range_encoder *encoder, uint8_t *out, size_t room);
void pks__range_put_bit(pks__range_encoder *encoder, pks__bit_model *model, bool bit);
void pks__range_put_number(pks__range_encoder *encoder, pks__number_model *model, uint64_t value);
void pks__range_put_byte(pks__range_encoder *encoder, pks__byte_model *model, uint8_t value);
/// Returns the length of the code, which may be 0; SIZE_MAX if it did not fit.
size_t pks__range_encoder_end(pks__range_encoder *encoder);

typedef struct pks__range_decoder {
  const uint8_t *next, *end;
  uint32_t code, range;
} pks__range_decoder;

void pks__range_decoder_begin(pks__range_decoder *decoder, const uint8_t *bytes, size_t byte_count);
bool pks__range_read_bit(pks__range_decoder *decoder, pks__bit_model *model);
/// Any number of up to 64 bits; UINT64_MAX if the length is invalid.
uint64_t pks__range_read_number(pks__range_decoder *decoder, pks__number_model *model);
uint8_t pks__range_read_byte(pks__range_decoder *decoder, pks__byte_model *model);
static inline bool pks__range_decoder_is_at_end(const pks__range_decoder *decoder) {
  return decoder->next == decoder->end;
}

#endif
