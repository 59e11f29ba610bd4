#include "delta/delta_copies.h"

// MARK: - Expected positions

uint64_t pks__new_steps_find(const pks__new_steps *steps, uint64_t position) {
  uint64_t low = 0, high = PKS__SCRATCH_COUNT(&steps->ends, uint64_t);
  while (low < high) {
    uint64_t middle = low + (high - low) / 2;
    if (*PKS__SCRATCH_AT(&steps->ends, const uint64_t, middle) <= position) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

static bool has_step(const pks__copy_place *place) {
  return place->step < PKS__SCRATCH_COUNT(&place->steps->ends, uint64_t);
}

static uint64_t step_end(const pks__copy_place *place) {
  return *PKS__SCRATCH_AT(&place->steps->ends, const uint64_t, place->step);
}

static pks__copy_place start(const pks__new_steps *steps, uint64_t group, uint32_t raw_length) {
  pks__copy_place place = {.steps = steps, .group = group, .raw_length = raw_length};
  place.step = pks__new_steps_find(steps, group);
  if (!has_step(&place)) { return place; }
  uint64_t first = place.step > 0 ? *PKS__SCRATCH_AT(&steps->ends, const uint64_t, place.step - 1) : 0;
  // A step that began in an earlier group goes on.
  place.expected = *PKS__SCRATCH_AT(&steps->replaced, const uint64_t, place.step) + (group - first);
  return place;
}

/// Moves on to a byte of the group, or to its end. Returns the number of passed bytes of the same step: as many are expected to be
/// replaced in A.
static uint64_t move_to(pks__copy_place *place, uint32_t begin) {
  uint64_t passed = begin - place->begin;
  while (has_step(place) && step_end(place) <= place->group + begin) {
    passed = place->group + begin - step_end(place);
    place->step++;
    if (has_step(place)) { place->expected = *PKS__SCRATCH_AT(&place->steps->replaced, const uint64_t, place->step); }
  }
  place->begin = begin;
  place->expected += passed;
  return passed;
}

/// How many bytes there are up to the end of the step or of the group.
static uint32_t room_of(const pks__copy_place *place) {
  uint32_t room = place->raw_length - place->begin;
  return has_step(place) ? (uint32_t)pks__min64(room, step_end(place) - place->group - place->begin) : room;
}

static void pass(pks__copy_place *place, const pks__delta_copy *copy) {
  place->expected = copy->position;
  (void)move_to(place, copy->begin + copy->length);
}

static void init(pks__copy_models *models) {
  pks__number_model_init(&models->count);
  pks__number_model_init(&models->gaps);
  pks__number_model_init(&models->lengths);
  pks__number_model_init(&models->positions);
  pks__bit_models_init(&models->ends_step, 1);
  pks__bit_models_init(&models->replaces, 1);
  pks__bit_models_init(&models->inserts, 1);
  pks__byte_model_init(&models->literals);
}

// MARK: - Reading

void pks__delta_copies_begin(
  pks__delta_copies *out, const uint8_t *lists, size_t length, const pks__new_steps *steps, uint64_t group,
  uint32_t raw_length, uint64_t byte_count
) {
  init(&out->models);
  pks__range_decoder_begin(&out->decoder, lists, length);
  out->place = start(steps, group, raw_length);
  out->byte_count = byte_count;
  out->left = pks__range_read_number(&out->decoder, &out->models.count);
  out->failed = out->left > raw_length / PKS__DELTA_COPY_MIN;
}

static uint64_t read_position(pks__delta_copies *copies, uint64_t gap) {
  uint64_t expected = copies->place.expected;
  if (pks__range_read_bit(&copies->decoder, &copies->models.replaces)) { return expected; }
  if (pks__range_read_bit(&copies->decoder, &copies->models.inserts)) { return expected - gap; }
  return pks__unzigzag(pks__range_read_number(&copies->decoder, &copies->models.positions), expected);
}

bool pks__delta_next_copy(pks__delta_copies *copies, pks__delta_copy *out) {
  if (copies->failed || copies->left == 0) { return false; }
  copies->left--;
  copies->failed = true;
  pks__copy_place *place = &copies->place;
  uint64_t gap = pks__range_read_number(&copies->decoder, &copies->models.gaps);
  if (gap >= place->raw_length - place->begin) { return false; }
  gap = move_to(place, place->begin + (uint32_t)gap);
  uint64_t length = pks__range_read_bit(&copies->decoder, &copies->models.ends_step)
    ? room_of(place)
    : pks__range_read_number(&copies->decoder, &copies->models.lengths);
  uint64_t position = read_position(copies, gap);
  bool fits =
    length > 0 && length <= place->raw_length - place->begin && pks__range_fits(position, length, copies->byte_count);
  if (!fits) { return false; }
  *out = (pks__delta_copy){.begin = place->begin, .length = (uint32_t)length, .position = position};
  pass(place, out);
  copies->failed = false;
  return true;
}

void pks__delta_read_literals(pks__delta_copies *copies, uint8_t *out, uint32_t length) {
  for (uint32_t i = 0; i < length; i++) { out[i] = pks__range_read_byte(&copies->decoder, &copies->models.literals); }
}

bool pks__delta_copies_end(const pks__delta_copies *copies) {
  return !copies->failed && copies->left == 0 && pks__range_decoder_is_at_end(&copies->decoder);
}

// MARK: - Writing

static void put_position(
  pks__range_encoder *encoder, pks__copy_models *models, uint64_t position, uint64_t expected, uint64_t gap
) {
  bool replaces = position == expected, inserts = position == expected - gap;
  pks__range_put_bit(encoder, &models->replaces, replaces);
  if (replaces) { return; }
  pks__range_put_bit(encoder, &models->inserts, inserts);
  if (!inserts) { pks__range_put_number(encoder, &models->positions, pks__zigzag(position, expected)); }
}

size_t pks__delta_put_copies(
  const pks__copy_list *list, const uint8_t *literals, uint32_t literal_count, uint8_t *out, size_t room
) {
  pks__copy_models models;
  pks__range_encoder encoder;
  init(&models);
  pks__range_encoder_begin(&encoder, out, room);
  pks__range_put_number(&encoder, &models.count, list->count);
  pks__copy_place place = start(list->steps, list->group, list->raw_length);
  for (uint64_t i = 0; i < list->count && !encoder.failed; i++) {
    const pks__delta_copy *copy = &list->copies[i];
    pks__range_put_number(&encoder, &models.gaps, copy->begin - place.begin);
    uint64_t gap = move_to(&place, copy->begin);
    bool ends_step = copy->length == room_of(&place);
    pks__range_put_bit(&encoder, &models.ends_step, ends_step);
    if (!ends_step) { pks__range_put_number(&encoder, &models.lengths, copy->length); }
    put_position(&encoder, &models, copy->position, place.expected, gap);
    pass(&place, copy);
  }
  for (uint32_t i = 0; i < literal_count; i++) { pks__range_put_byte(&encoder, &models.literals, literals[i]); }
  size_t used = pks__range_encoder_end(&encoder);
  if (used == SIZE_MAX || room == 0) { return 0; }
  if (used == 0) { out[used++] = 0; }  // the decoder reads at least four bytes
  return used;
}
