#include "ingest/form_cost.h"

#include "base/memory.h"

enum {
  ROWS_OF_A_FRAME = 24 + 32,        // bytes: in a segment and a run
  FRAME_MAX = 2 * PKS__LARGE_ASSET  // more than any frame of small assets
};

bool pks__form_cost_open(pks__form_cost *out, int level, const pks__chunker *chunker, uint32_t shared_target) {
  *out = (pks__form_cost){.chunker = chunker, .shared_target = shared_target};
  out->encoder = pks__encoder_create(level);
  out->encoded = pks__allocate(pks__encode_capacity(FRAME_MAX));
  return out->encoder && out->encoded;
}

void pks__form_cost_close(pks__form_cost *cost) {
  pks__encoder_destroy(cost->encoder);
  pks__free(cost->encoded);
  *cost = (pks__form_cost){0};
}

void pks__form_cost_begin(pks__form_cost *cost) {
  cost->length = 0;
  cost->total = 0;
  cost->lacks_memory = false;
}

static void close_frame(pks__form_cost *cost) {
  if (cost->length == 0) { return; }
  const pks__frame_dictionary *dictionary = cost->form.dictionary;
  size_t capacity = pks__encode_capacity(FRAME_MAX);
  size_t stored = dictionary
    ? pks__encode_with(cost->encoder, dictionary->tables, cost->bytes, cost->length, cost->encoded, capacity)
    : pks__encode(cost->encoder, cost->bytes, cost->length, cost->encoded, capacity);
  cost->lacks_memory = cost->lacks_memory || stored == SIZE_MAX;
  cost->total += ROWS_OF_A_FRAME + (stored ? stored : cost->length);
  cost->length = 0;
}

/// As `needs_new_frame` of the pipeline.
static bool fits(
  const pks__form_cost *cost, const pks__frame_form *form, bool begins, size_t file_length, size_t chunk_length
) {
  bool is_same = cost->form.is_alone == form->is_alone && cost->form.dictionary == form->dictionary;
  if (cost->length == 0 || !is_same) { return false; }
  if (!form->is_alone) { return cost->length + chunk_length <= cost->shared_target; }
  return !(begins && file_length >= PKS__ALONE_FROM) && cost->length + chunk_length <= PKS__LARGE_ASSET;
}

void pks__form_cost_add(pks__form_cost *cost, const pks__frame_form *form, const uint8_t *bytes, size_t length) {
  PKS_ASSERT(length > 0 && length < PKS__LARGE_ASSET && cost->shared_target <= FRAME_MAX);
  for (size_t at = 0; at < length;) {
    size_t chunk = pks__chunker_cut(cost->chunker, bytes + at, length - at);
    if (!fits(cost, form, at == 0, length, chunk)) {
      close_frame(cost);
      cost->bytes = bytes + at;
      cost->form = *form;
    }
    cost->length += chunk;
    at += chunk;
  }
  if (cost->length >= (form->is_alone ? PKS__ALONE_FROM : cost->shared_target)) { close_frame(cost); }
}

bool pks__form_cost_end(pks__form_cost *cost, uint64_t *total) {
  close_frame(cost);
  *total = cost->total;
  return !cost->lacks_memory;
}
