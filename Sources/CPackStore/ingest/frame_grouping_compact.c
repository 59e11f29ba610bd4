#include "ingest/frame_grouping_compact.h"

#include "base/memory.h"
#include "ingest/frame_grouping_cost.h"

enum {
  GROUP = PKS__FRAME_COMPACT,  // bytes of the mixture that are encoded together
  GROUP_MIN = GROUP / 2,
  DISTANCE = 4 * GROUP,  // bytes from one group to the next
};

/// Neighbouring files of the mixture.
typedef struct group {
  uint32_t first, end;  ///< files
  const uint8_t *bytes;
  size_t length;
} group;

/// Finds the next group behind `group`. False if the rest of the mixture is too short for one.
static bool next_group(const pks__mixture *mixture, uint32_t distance, group *group) {
  const pks__sample *sample = &mixture->sample;
  uint32_t count = pks__sample_count(sample), at = group->end;
  const uint8_t *bytes = group->bytes + group->length;
  for (size_t skipped = 0; at < count && skipped < distance; at++) {
    skipped += pks__sample_length(sample, at);
    bytes += pks__sample_length(sample, at);
  }
  *group = (struct group){.first = at, .end = at, .bytes = bytes};
  while (group->end < count && group->length + pks__sample_length(sample, group->end) <= GROUP) {
    group->length += pks__sample_length(sample, group->end++);
  }
  return group->length >= GROUP_MIN;
}

/// The size of a group in the chosen forms.
static bool measure_chosen(
  const pks__frame_grouping_samples *samples, const group *group, pks__frame_grouping_cost *cost, uint64_t *total
) {
  const pks__mixture *mixture = &samples->mixture;
  const uint8_t *at = group->bytes;
  pks__frame_grouping_cost_begin(cost);
  for (uint32_t i = group->first; i < group->end; i++) {
    uint32_t kind = *PKS__SCRATCH_AT(&mixture->kinds, const uint32_t, i);
    size_t length = pks__sample_length(&mixture->sample, i);
    pks__frame_grouping_cost_add(cost, &samples->forms->kinds[kind].form, at, length);
    at += length;
  }
  return pks__frame_grouping_cost_end(cost, total);
}

/// The sums of all groups.
typedef struct comparison {
  uint64_t raw, chosen, compact;
} comparison;

static bool compare(const pks__frame_grouping_samples *samples, pks__frame_grouping_cost *cost, comparison *out) {
  group group = {.bytes = samples->mixture.sample.bytes.bytes};
  int level = samples->ingest->request.level;
  pks__encoder *encoder = pks__encoder_create(level ? level : PKS__LEVEL_COMPACT);
  uint8_t *encoded = pks__allocate(pks__encode_capacity(GROUP));
  bool has_memory = encoder && encoded;
  for (uint32_t distance = 0; has_memory && next_group(&samples->mixture, distance, &group);
       distance = DISTANCE - GROUP) {
    uint64_t chosen;
    size_t stored = pks__encode(encoder, group.bytes, group.length, encoded, pks__encode_capacity(GROUP));
    has_memory = stored != SIZE_MAX && measure_chosen(samples, &group, cost, &chosen);
    if (!has_memory) { break; }
    out->raw += group.length;
    out->chosen += chosen;
    out->compact += PKS__ROWS_OF_A_FRAME + (stored ? stored : group.length);
  }
  pks__encoder_destroy(encoder);
  pks__free(encoded);
  return has_memory;
}

/// New KiB of all small assets: the sampled kinds have the same share of new bytes as the others.
static uint64_t new_small_kib(const pks__frame_grouping_samples *samples) {
  uint64_t all = 0, sampled = 0, fresh = 0, product;
  for (uint32_t i = 0; i <= PKS__KINDS_MAX; i++) {
    const pks__kind_samples *kind = &samples->kinds[i];
    all += kind->bytes / 1024;
    if (pks__kind_sampled_bytes(kind) == 0) { continue; }
    sampled += kind->bytes / 1024;
    fresh += pks__kind_new_kib(kind);
  }
  return sampled == 0 || pks__mul_overflows(all, fresh, &product) ? 0 : product / sampled;
}

pks_status pks__frame_grouping_compact_estimate(
  const pks__frame_grouping_samples *samples, uint64_t *saved_bytes, pks_error *error
) {
  const pks__ingest *ingest = samples->ingest;
  pks__frame_grouping_cost cost;
  comparison sums = {0};
  *saved_bytes = 0;
  bool has_memory =
    pks__frame_grouping_cost_open(&cost, ingest->frames.level, &ingest->chunker, ingest->frames.shared_target)
    && compare(samples, &cost, &sums);
  pks__frame_grouping_cost_close(&cost);
  if (!has_memory) { return pks__fail_memory(error); }
  uint64_t saved;
  // Per KiB of the sample: the product of two sums of bytes may not fit.
  bool is_less =
    sums.chosen > sums.compact && !pks__mul_overflows(new_small_kib(samples), sums.chosen - sums.compact, &saved);
  if (is_less) { *saved_bytes = saved / (sums.raw / 1024); }
  return PKS_OK;
}
