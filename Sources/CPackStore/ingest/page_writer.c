#include "ingest/page_writer.h"

#include "base/memory.h"
#include "store/chunk_lookup.h"

/// Pages take the level of the pack's frames, within these. Ids hardly compress: nothing is smaller above, or faster below.
enum { PAGE_LEVEL_MIN = 1, PAGE_LEVEL_MAX = 9 };

pks_status pks__page_writer_open(
  pks__page_writer *out, pks__staging *staging, pks_snapshot *base, int level, bool sync, pks_error *error
) {
  level = level < PAGE_LEVEL_MIN ? PAGE_LEVEL_MIN : level > PAGE_LEVEL_MAX ? PAGE_LEVEL_MAX : level;
  *out = (pks__page_writer){.base = base, .encoder = pks__encoder_create_small(level)};
  pks__segment_series_init(&out->series, staging, NULL, PKS__SEGMENT_METADATA, sync);
  pks__scratch_init(&out->ids, &staging->scratch);
  pks__hash_map_init(&out->by_id, &staging->scratch);
  pks__segment_set_init(&out->reused, &staging->scratch);
  pks__scratch_init(&out->reused_ids, &staging->scratch);
  pks__hash_map_init(&out->reused_by_id, &staging->scratch);
  return out->encoder ? PKS_OK : pks__fail_memory(error);
}

void pks__page_writer_close(pks__page_writer *pages) {
  pks__segment_series_free(&pages->series);
  pks__scratch_free(&pages->ids);
  pks__hash_map_free(&pages->by_id);
  pks__segment_set_free(&pages->reused);
  pks__scratch_free(&pages->reused_ids);
  pks__hash_map_free(&pages->reused_by_id);
  pks__scratch_free(&pages->encoded);
  pks__encoder_destroy(pages->encoder);
  *pages = (pks__page_writer){0};
}

static const pks__id *written_id(const void *context, uint32_t index) {
  const pks__page_writer *pages = context;
  return PKS__SCRATCH_AT(&pages->ids, const pks__id, index);
}

static bool is_written(const pks__page_writer *pages, const pks__id *id) {
  uint32_t index;
  return pks__hash_map_find_id(&pages->by_id, id, written_id, pages, &index);
}

static pks_status write_page(
  pks__page_writer *pages, const void *page, size_t length, const pks__id *id, pks_error *error
) {
  size_t capacity = pks__encode_capacity(length);
  pages->encoded.length = 0;
  pks_status status = pks__scratch_reserve(&pages->encoded, capacity, error);
  if (status) { return status; }
  size_t stored = pks__encode(pages->encoder, page, length, pages->encoded.bytes, capacity);
  if (stored == SIZE_MAX) { return pks__fail_memory(error); }
  uint32_t segment, number, end = (uint32_t)length;
  pks__frame_row row;
  pks__encoded_frame frame = {
    .stored = stored ? pages->encoded.bytes : page,
    .stored_length = stored ? (uint32_t)stored : end,
    .codec = stored ? PKS__CODEC_ZSTD : PKS__CODEC_RAW,
    .alignment = 1,
    .ids = id,
    .ends = &end,
    .chunk_count = 1,
  };
  status = pks__segment_series_append(&pages->series, &frame, &segment, &number, &row, error);
  if (!status) { status = pks__segment_series_boundary(&pages->series, true, true, error); }
  uint32_t index = (uint32_t)PKS__SCRATCH_COUNT(&pages->ids, pks__id);
  if (!status) { status = pks__scratch_append(&pages->ids, id, sizeof *id, error); }
  return status ? status : pks__hash_map_insert_id(&pages->by_id, id, index, error);
}

static const pks__id *reused_id(const void *context, uint32_t index) {
  const pks__page_writer *pages = context;
  return PKS__SCRATCH_AT(&pages->reused_ids, const pks__id, index);
}

/// Whether the page was found in the base before.
static bool is_reused(const pks__page_writer *pages, const pks__id *id) {
  uint32_t index;
  return pks__hash_map_find_id(&pages->reused_by_id, id, reused_id, pages, &index);
}

/// Notes that the layout needs a segment of the base, which has the page.
static pks_status reuse_page(
  pks__page_writer *pages, const pks__id *id, const pks__segment_id *segment, pks_error *error
) {
  uint64_t count = PKS__SCRATCH_COUNT(&pages->reused_ids, pks__id);
  if (count == UINT32_MAX) {
    return pks__fail(error, PKS_INVALID_ARGUMENT, "too many pages for one pack", NULL, PKS_NO_OFFSET);
  }
  pks_status status = pks__segment_set_add(&pages->reused, segment, error);
  if (!status) { status = pks__scratch_append(&pages->reused_ids, id, sizeof *id, error); }
  return status ? status : pks__hash_map_insert_id(&pages->reused_by_id, id, (uint32_t)count, error);
}

static pks_status put_page(void *context, const void *page, size_t length, pks__id *id, pks_error *error) {
  pks__page_writer *pages = context;
  pages->base->store->sha256(page, length, id->bytes);
  if (is_written(pages, id) || is_reused(pages, id)) { return PKS_OK; }
  pks__chunk_ref ref;
  bool found;
  pks_status status =
    pks__reuse_policy_find_chunk(pages->reuse_policy, pages->base, id, PKS__SEGMENT_METADATA, &ref, &found, error);
  if (status) { return status; }
  pages->page_bytes += length;
  return found ? reuse_page(pages, id, &ref.segment->id, error) : write_page(pages, page, length, id, error);
}

pks__page_sink pks__page_writer_sink(pks__page_writer *pages) {
  return (pks__page_sink){.context = pages, .put = put_page};
}
