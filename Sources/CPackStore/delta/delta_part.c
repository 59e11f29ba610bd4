#include "delta/delta_part.h"

#include <string.h>

#include "base/memory.h"
#include "codec/range_coder.h"

enum { CONTEXT_MAX = 15 };  // larger bytes are one context

/// A model for each context.
typedef struct part_models {
  pks__byte_model bytes[(CONTEXT_MAX + 1) * (CONTEXT_MAX + 1)];
} part_models;

static part_models *make_models(void) {
  part_models *models = pks__allocate(sizeof *models);
  if (!models) { return NULL; }
  for (size_t i = 0; i < PKS_COUNT_OF(models->bytes); i++) { pks__byte_model_init(&models->bytes[i]); }
  return models;
}

/// The context of the byte after `bytes[index - 1]`.
static size_t context_of(const uint8_t *bytes, size_t index) {
  size_t last = index > 0 ? pks__min_size(bytes[index - 1], CONTEXT_MAX) : 0;
  size_t before = index > 1 ? pks__min_size(bytes[index - 2], CONTEXT_MAX) : 0;
  return last * (CONTEXT_MAX + 1) + before;
}

/// Returns the length; SIZE_MAX if the code does not fit.
static size_t code(part_models *models, const uint8_t *raw, size_t raw_length, uint8_t *out, size_t room) {
  pks__range_encoder encoder;
  pks__range_encoder_begin(&encoder, out, room);
  for (size_t i = 0; i < raw_length && !encoder.failed; i++) {
    pks__range_put_byte(&encoder, &models->bytes[context_of(raw, i)], raw[i]);
  }
  return pks__range_encoder_end(&encoder);
}

pks_status pks__delta_part_encode(
  pks__encoder *encoder, const uint8_t *raw, size_t raw_length, uint8_t *out, size_t *stored_length, pks_error *error
) {
  size_t room = pks__delta_part_capacity(raw_length) - 1;
  size_t encoded = pks__encode(encoder, raw, raw_length, out + 1, room);
  if (encoded == SIZE_MAX) { return pks__fail_memory(error); }
  out[0] = encoded > 0 ? PKS__DELTA_PART_ZSTD : PKS__DELTA_PART_RAW;
  size_t shortest = encoded > 0 ? encoded : raw_length;
  if (encoded == 0) { memcpy(out + 1, raw, raw_length); }
  if (raw_length <= PKS__DELTA_PART_CODED_MAX) {
    part_models *models = make_models();
    uint8_t *coded = pks__allocate(shortest);
    bool has_memory = models && coded;
    size_t length = has_memory ? code(models, raw, raw_length, coded, shortest) : SIZE_MAX;
    if (length < shortest) {
      out[0] = PKS__DELTA_PART_CODED;
      memcpy(out + 1, coded, length);
      shortest = length;
    }
    pks__free(coded);
    pks__free(models);
    if (!has_memory) { return pks__fail_memory(error); }
  }
  *stored_length = 1 + shortest;
  return PKS_OK;
}

static pks_status decode_coded(
  const uint8_t *coded, size_t coded_length, uint8_t *out, size_t raw_length, bool *decodes, pks_error *error
) {
  part_models *models = make_models();
  if (!models) { return pks__fail_memory(error); }
  pks__range_decoder decoder;
  pks__range_decoder_begin(&decoder, coded, coded_length);
  for (size_t i = 0; i < raw_length; i++) {
    out[i] = pks__range_read_byte(&decoder, &models->bytes[context_of(out, i)]);
  }
  *decodes = pks__range_decoder_is_at_end(&decoder);
  pks__free(models);
  return PKS_OK;
}

pks_status pks__delta_part_decode(
  pks__decoder *decoder, const uint8_t *stored, size_t stored_length, uint8_t *out, size_t raw_length, bool *decodes,
  pks_error *error
) {
  *decodes = false;
  if (stored_length == 0) { return PKS_OK; }
  const uint8_t *bytes = stored + 1;
  size_t length = stored_length - 1;
  switch (stored[0]) {
    case PKS__DELTA_PART_RAW:
      *decodes = length == raw_length;
      if (*decodes) { memcpy(out, bytes, length); }
      return PKS_OK;
    case PKS__DELTA_PART_ZSTD: *decodes = pks__decode(decoder, bytes, length, out, raw_length); return PKS_OK;
    case PKS__DELTA_PART_CODED:
      return raw_length > PKS__DELTA_PART_CODED_MAX ? PKS_OK
                                                    : decode_coded(bytes, length, out, raw_length, decodes, error);
    default: return PKS_OK;
  }
}
