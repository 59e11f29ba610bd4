#include "store/chunk_lookup.h"

#include "segment/frame_check.h"
#include "store/snapshot.h"

/// A failure that means nothing but "not here" leaves no word in `error`: the segment is gone, or its table is damaged.
static pks_status forgive(pks_status status, const pks_error *found, pks_error *error) {
  if (status == PKS_PURGED || status == PKS_CORRUPT) { return PKS_OK; }
  if (error) { *error = *found; }
  return status;
}

/// Whether a hint is the searched chunk. A purged segment has no chunks any more, and neither a damaged table nor a frame found
/// damaged provides any: their data is stored again. Pages are searched in order to be read, which reports any fault. All frames of
/// a remote segment count as present.
static pks_status confirm(
  pks_snapshot *snapshot, pks__chunk_ref *hint, const pks__id *id, pks__segment_kind kind, bool any, bool *confirmed,
  pks_error *error
) {
  pks_error found;
  *confirmed = false;
  pks_status status = pks__snapshot_segment(snapshot, hint->run, hint->segment_index, &hint->segment, &found);
  if (status) { return forgive(status, &found, error); }
  if (pks__snapshot_is_gone(snapshot, hint->segment)) { return PKS_OK; }
  status = pks__segment_need_table(hint->segment, &found);
  if (status) { return forgive(status, &found, error); }
  if (hint->row >= hint->segment->chunk_count || hint->segment->kind != (uint32_t)kind) { return PKS_OK; }
  const pks__id *stored;
  status = pks__segment_chunk_id(hint->segment, hint->row, &stored, &found);
  if (status) { return forgive(status, &found, error); }
  any = any || kind == PKS__SEGMENT_METADATA || pks__snapshot_is_remote(snapshot, hint->segment);
  *confirmed = pks__id_equal(stored, id) && (any || !pks__frame_of_chunk_is_bad(hint->segment, hint->row));
  return PKS_OK;
}

pks_status pks__snapshot_next_chunk(
  pks_snapshot *snapshot, const pks__id *id, pks__segment_kind kind, pks__chunk_probe *probe, pks__chunk_ref *out,
  bool *found, pks_error *error
) {
  uint64_t prefix = pks__id_prefix(id);
  *found = false;
  for (; probe->runs < snapshot->run_count + snapshot->base_run_count; probe->runs++, probe->row = 0) {
    bool is_own = probe->runs < snapshot->run_count;
    pks__chunk_ref hint = {.run = is_own ? snapshot->run_count - 1 - probe->runs : probe->runs};
    pks__run *run = &snapshot->runs[hint.run].open->run;
    for (bool more = true; more;) {
      pks_status status = pks__run_find_chunk(run, prefix, &probe->row, &hint.segment_index, &hint.row, &more, error);
      if (!status && more) { status = confirm(snapshot, &hint, id, kind, probe->any, found, error); }
      if (status) { return status; }
      if (*found) {
        *out = hint;
        return PKS_OK;
      }
    }
  }
  return PKS_OK;
}

pks_status pks__snapshot_find_chunk(
  pks_snapshot *snapshot, const pks__id *id, pks__segment_kind kind, pks__chunk_ref *out, bool *found, pks_error *error
) {
  pks__chunk_probe probe = {0};
  return pks__snapshot_next_chunk(snapshot, id, kind, &probe, out, found, error);
}

pks_status pks__store_read_frame(
  pks_store *store, pks__frame_reader *reader, const pks__frame_source *frame, uint32_t begin, uint32_t end, void *out,
  pks_error *error
) {
  bool is_whole = begin == 0 && end == frame->ref.raw_length;
  if (is_whole || frame->ref.codec == PKS__CODEC_RAW) { return pks__frame_read(reader, frame, begin, end, out, error); }
  bool is_short = frame->ref.raw_length <= store->short_frames.limits.frame_bytes;
  pks__frame_cache *cache = is_short ? &store->short_frames : &store->long_frames;
  return pks__frame_cache_read(cache, reader, frame, begin, end, out, error);
}

pks_status pks__snapshot_read_chunk(
  pks_snapshot *snapshot, const pks__chunk_ref *ref, pks__scratch *out, pks_error *error
) {
  pks__chunk_place place;
  pks__frame frame;
  pks_status status = pks__segment_chunk(ref->segment, ref->row, &place, error);
  if (!status) { status = pks__segment_frame(ref->segment, place.frame, &frame, error); }
  pks__frame_reader *reader = NULL;
  if (!status) { status = pks__frame_reader_take(&snapshot->store->readers, &reader, error); }
  if (status) { return status; }
  pks__frame_source source = {ref->segment, frame.ref};
  const uint8_t *raw;
  status = pks__frame_decode(reader, &source, &raw, error);
  if (!status) { status = pks__scratch_append(out, raw + place.begin, place.end - place.begin, error); }
  pks__frame_reader_return(&snapshot->store->readers, reader);
  return status;
}

static pks_status get_page(void *context, const pks__id *id, pks__scratch *out, pks_error *error) {
  pks_snapshot *snapshot = context;
  pks__chunk_ref ref;
  bool found;
  out->length = 0;
  pks_status status = pks__snapshot_find_chunk(snapshot, id, PKS__SEGMENT_METADATA, &ref, &found, error);
  if (status) { return status; }
  if (!found) {
    char name[2 * PKS__ID_SIZE + 1];
    pks__hex(id->bytes, sizeof id->bytes, name);
    return pks__fail(error, PKS_CORRUPT, "catalog page is missing", name, PKS_NO_OFFSET);
  }
  return pks__snapshot_read_chunk(snapshot, &ref, out, error);
}

pks__page_source pks__snapshot_pages(pks_snapshot *snapshot) {
  return (pks__page_source){.context = snapshot, .get = get_page};
}
