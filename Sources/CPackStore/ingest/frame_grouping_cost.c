#include "ingest/frame_grouping_cost.h"

#include "base/memory.h"

enum { FRAME_MAX = 2 * PKS__LARGE_ASSET };  // more than any frame of small assets

bool pks__frame_grouping_cost_open(
  pks__frame_grouping_cost *out, int level, const pks__chunker *chunker, uint32_t shared_target
) {
  *out = (pks__frame_grouping_cost){.chunker = chunker, .shared_target = shared_target};
  out->encoder = pks__encoder_create(level);
  out->encoded = pks__allocate(pks__encode_capacity(FRAME_MAX));
  return out->encoder && out->encoded;
}

void pks__frame_grouping_cost_close(pks__frame_grouping_cost *cost) {
  pks__encoder_destroy(cost->encoder);
  pks__free(cost->encoded);
  *cost = (pks__frame_grouping_cost){0};
}

void pks__frame_grouping_cost_begin(pks__frame_grouping_cost *cost) {
  cost->length = 0;
  cost->total = 0;
  cost->lacks_memory = false;
}

static void close_frame(pks__frame_grouping_cost *cost) {
  if (cost->length == 0) { return; }
  const pks__frame_dictionary *dictionary = cost->form.dictionary;
  size_t capacity = pks__encode_capacity(FRAME_MAX);
  size_t stored = dictionary
    ? pks__encode_with(cost->encoder, dictionary->tables, cost->bytes, cost->length, cost->encoded, capacity)
    : pks__encode(cost->encoder, cost->bytes, cost->length, cost->encoded, capacity);
  cost->lacks_memory = cost->lacks_memory || stored == SIZE_MAX;
  cost->total += PKS__ROWS_OF_A_FRAME + (stored ? stored : cost->length);
  cost->length = 0;
}

void pks__frame_grouping_cost_add(
  pks__frame_grouping_cost *cost, const pks__frame_form *form, const uint8_t *bytes, size_t length
) {
  PKS_ASSERT(length > 0 && length < PKS__LARGE_ASSET && cost->shared_target <= FRAME_MAX);
  for (size_t at = 0; at < length;) {
    size_t chunk = pks__chunker_cut(cost->chunker, bytes + at, length - at);
    bool begins = !pks__frame_form_equal(&cost->form, form)
      || pks__frame_form_parts(form, cost->shared_target, at == 0, length, cost->length, chunk);
    if (cost->length == 0 || begins) {
      close_frame(cost);
      cost->bytes = bytes + at;
      cost->form = *form;
    }
    cost->length += chunk;
    at += chunk;
  }
  if (pks__frame_form_is_whole(form, cost->shared_target, cost->length)) { close_frame(cost); }
}

bool pks__frame_grouping_cost_end(pks__frame_grouping_cost *cost, uint64_t *total) {
  close_frame(cost);
  *total = cost->total;
  return !cost->lacks_memory;
}
