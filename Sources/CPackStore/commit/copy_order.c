#include "commit/copy_order.h"

#include "store/chunk_lookup.h"

// MARK: - Bits

static uint64_t *word_of(const pks__copy_order *order, const pks__segment_use *use, uint32_t row) {
  return PKS__SCRATCH_AT(&order->wanted, uint64_t, use->first_word + row / 64);
}

static bool is_wanted(const pks__copy_order *order, const pks__segment_use *use, uint32_t row) {
  return *word_of(order, use, row) >> (row % 64) & 1;
}

// MARK: - Listing

static pks_status add_item(
  pks__copy_order *order, uint32_t segment, uint32_t row, const pks__chunk_place *place, pks_error *error
) {
  const pks__segment_use *use = pks__chunk_use_segment(&order->plan->use, segment);
  pks__copy_item item = {
    .segment = segment,
    .frame = place->frame,
    .row = row,
    .begin = place->begin,
    .end = place->end,
    .begins_asset = order->asset_begins,
    .follows_gap = order->skipped,
  };
  *word_of(order, use, row) |= (uint64_t)1 << (row % 64);
  order->asset_begins = order->skipped = false;
  return pks__scratch_append(&order->items, &item, sizeof item, error);
}

/// Whether frame `index` is raw and needed; then `*out` is its place. Raw frames have one chunk.
static bool is_raw_and_needed(
  const pks__copy_order *order, const pks__segment_use *use, uint32_t index, pks__frame *out
) {
  if (index >= use->segment->frame_count || pks__segment_frame(use->segment, index, out, NULL)) { return false; }
  return out->ref.codec == PKS__CODEC_RAW && out->chunk_count == 1
    && pks__chunk_use_has(&order->plan->use, use, out->first_chunk);
}

static bool abuts(const pks__frame *before, const pks__frame *frame) {
  return before->ref.offset + before->ref.stored_length == frame->ref.offset;
}

/// Adds all needed raw frames that abut, one after another, among which is frame `index`.
static pks_status add_raw_run(pks__copy_order *order, uint32_t segment, uint32_t index, pks_error *error) {
  const pks__segment_use *use = pks__chunk_use_segment(&order->plan->use, segment);
  pks__frame frame, next;
  if (!is_raw_and_needed(order, use, index, &frame)) { return PKS_OK; }
  while (index > 0 && is_raw_and_needed(order, use, index - 1, &next) && abuts(&next, &frame)) {
    frame = next;
    index--;
  }
  pks_status status = PKS_OK;
  for (bool more = true; !status && more; index++) {
    pks__chunk_place place = {.frame = index, .begin = 0, .end = frame.ref.raw_length};
    status = add_item(order, segment, frame.first_chunk, &place, error);
    more = is_raw_and_needed(order, use, index + 1, &next) && abuts(&frame, &next);
    frame = next;
  }
  return status;
}

/// Whether the store has a chunk nowhere else.
static pks_status is_missing_elsewhere(
  const pks__copy_order *order, const pks__segment_use *use, uint32_t row, bool *missing, pks_error *error
) {
  const pks__id *id;
  pks__chunk_ref ref;
  bool found = false;
  pks_status status = pks__segment_chunk_id(use->segment, row, &id, error);
  if (!status) {
    status =
      pks__reuse_policy_find_chunk(order->reuse_policy, order->snapshot, id, PKS__SEGMENT_DATA, &ref, &found, error);
  }
  *missing = !found;
  return status;
}

static pks_status add_chunk(pks__copy_order *order, const pks__chunk_visit *visit, pks_error *error) {
  const pks__segment_use *use = pks__chunk_use_segment(&order->plan->use, visit->segment);
  bool is_victim = use->segment && pks__segment_set_has(&order->plan->victims, &use->id);
  if (!is_victim || is_wanted(order, use, visit->row)) {
    order->skipped = true;
    return PKS_OK;
  }
  pks__chunk_place place;
  pks__frame frame;
  bool missing = false;
  pks_status status = pks__segment_chunk(use->segment, visit->row, &place, error);
  if (!status) { status = pks__segment_frame(use->segment, place.frame, &frame, error); }
  if (status) { return status; }
  if (frame.ref.codec == PKS__CODEC_RAW) { return add_raw_run(order, visit->segment, place.frame, error); }
  status = is_missing_elsewhere(order, use, visit->row, &missing, error);
  order->skipped = order->skipped || !missing;
  return status || !missing ? status : add_item(order, visit->segment, visit->row, &place, error);
}

pks_status pks__copy_order_make(
  pks__copy_order *out, const pks__evacuation_plan *plan, pks_snapshot *snapshot, const pks__reuse_policy *reuse_policy,
  pks__scratch_folder *home, pks_error *error
) {
  *out = (pks__copy_order){.plan = plan, .snapshot = snapshot, .reuse_policy = reuse_policy, .asset_begins = true};
  pks__scratch_init(&out->items, home);
  pks__scratch_init(&out->wanted, home);
  pks_status status = pks__scratch_append(&out->wanted, NULL, plan->use.bits.length, error);
  for (uint64_t i = 0; !status && i < PKS__SCRATCH_COUNT(&plan->use.order, pks__chunk_visit); i++) {
    pks__chunk_visit visit = *PKS__SCRATCH_AT(&plan->use.order, const pks__chunk_visit, i);
    if (visit.segment == PKS__ASSET_BEGINS) {
      out->asset_begins = true;
    } else {
      status = add_chunk(out, &visit, error);
    }
  }
  return status;
}

void pks__copy_order_free(pks__copy_order *order) {
  pks__scratch_free(&order->items);
  pks__scratch_free(&order->wanted);
}

// MARK: - Questions

/// Raw bytes of a frame's wanted chunks.
static pks_status wanted_bytes(
  const pks__copy_order *order, const pks__segment_use *use, const pks__frame *frame, uint64_t *bytes, pks_error *error
) {
  const pks_le32 *ends;
  pks_status status = pks__segment_frame_ends(use->segment, frame, &ends, error);
  *bytes = 0;
  for (uint32_t i = 0, begin = 0; !status && i < frame->chunk_count; i++) {
    uint32_t end = pks__get32(ends[i]);
    if (is_wanted(order, use, frame->first_chunk + i)) { *bytes += end - begin; }
    begin = end;
  }
  return status;
}

pks_status pks__copy_order_frame(
  const pks__copy_order *order, uint64_t first, uint64_t *count, bool *as_it_is, pks__frame *frame, pks_error *error
) {
  const pks__copy_item *item = pks__copy_order_at(order, first);
  const pks__segment_use *use = pks__chunk_use_segment(&order->plan->use, item->segment);
  uint64_t here = 0, all;
  *count = 0;
  for (uint64_t i = first; i < pks__copy_order_count(order); i++) {
    const pks__copy_item *next = pks__copy_order_at(order, i);
    if (next->segment != item->segment || next->frame != item->frame) { break; }
    here += next->end - next->begin;
    (*count)++;
  }
  pks_status status = pks__segment_frame(use->segment, item->frame, frame, error);
  if (!status) { status = wanted_bytes(order, use, frame, &all, error); }
  *as_it_is = !status && here == all && here * 4 >= (uint64_t)frame->ref.raw_length * 3;
  return status;
}

uint64_t pks__copy_order_asset_bytes(const pks__copy_order *order, uint64_t first) {
  uint64_t bytes = 0;
  for (uint64_t i = first; i < pks__copy_order_count(order); i++) {
    const pks__copy_item *item = pks__copy_order_at(order, i);
    if (i > first && item->begins_asset) { break; }
    bytes += item->end - item->begin;
  }
  return bytes;
}
