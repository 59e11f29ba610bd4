#include "segment/frame_cache.h"

#include <string.h>

#include "base/memory.h"

pks_status pks__frame_cache_open(pks__frame_cache *out, pks_error *error) {
  *out = (pks__frame_cache){.mutex = pks__mutex_create()};
  return out->mutex ? PKS_OK : pks__fail_memory(error);
}

void pks__frame_cache_close(pks__frame_cache *cache) {
  for (size_t i = 0; i < PKS__CACHED_FRAMES; i++) { pks__free(cache->frames[i].bytes); }
  pks__mutex_destroy(cache->mutex);
  *cache = (pks__frame_cache){0};
}

/// The frame with one more user, or NULL. The mutex is held.
static pks__cached_frame *find(pks__frame_cache *cache, const pks__frame_source *wanted) {
  for (size_t i = 0; i < PKS__CACHED_FRAMES; i++) {
    pks__cached_frame *frame = &cache->frames[i];
    bool is_it = frame->length > 0 && frame->length == wanted->ref.raw_length && frame->offset == wanted->ref.offset
      && pks__segment_id_equal(&frame->segment, &wanted->segment->id);
    if (!is_it) { continue; }
    frame->users++;
    frame->used = ++cache->uses;
    return frame;
  }
  return NULL;
}

/// The place that was used longest ago and is not in use, emptied and with one user; NULL when all are looked at. The
/// mutex is held.
static pks__cached_frame *take_place(pks__frame_cache *cache) {
  pks__cached_frame *oldest = NULL;
  for (size_t i = 0; i < PKS__CACHED_FRAMES; i++) {
    pks__cached_frame *frame = &cache->frames[i];
    if (frame->users == 0 && (!oldest || frame->used < oldest->used)) { oldest = frame; }
  }
  if (!oldest) { return NULL; }
  oldest->length = 0;
  oldest->users = 1;
  return oldest;
}

static void leave(pks__frame_cache *cache, pks__cached_frame *frame) {
  pks__mutex_lock(cache->mutex);
  frame->users--;
  pks__mutex_unlock(cache->mutex);
}

/// Decodes a frame into its place, where it is not found before it is whole.
static pks_status fill(
  pks__frame_cache *cache, pks__cached_frame *place, pks__frame_reader *reader, const pks__frame_source *source,
  pks_error *error
) {
  if (!place->bytes) { place->bytes = pks__allocate(PKS__CACHED_FRAME_MAX); }
  if (!place->bytes) { return pks__fail_memory(error); }
  pks_status status = pks__frame_read(reader, source, 0, source->ref.raw_length, place->bytes, error);
  if (status) { return status; }
  pks__mutex_lock(cache->mutex);
  place->segment = source->segment->id;
  place->offset = source->ref.offset;
  place->length = source->ref.raw_length;
  place->used = ++cache->uses;
  pks__mutex_unlock(cache->mutex);
  return PKS_OK;
}

pks_status pks__frame_cache_read(
  pks__frame_cache *cache, pks__frame_reader *reader, const pks__frame_source *frame, uint32_t begin, uint32_t end,
  void *out, pks_error *error
) {
  PKS_ASSERT(begin <= end && end <= frame->ref.raw_length);
  if (frame->ref.raw_length > PKS__CACHED_FRAME_MAX) { return pks__frame_read(reader, frame, begin, end, out, error); }
  pks__mutex_lock(cache->mutex);
  pks__cached_frame *cached = find(cache, frame);
  bool is_whole = cached != NULL;
  if (!cached) { cached = take_place(cache); }
  pks__mutex_unlock(cache->mutex);
  if (!cached) { return pks__frame_read(reader, frame, begin, end, out, error); }
  pks_status status = is_whole ? PKS_OK : fill(cache, cached, reader, frame, error);
  if (!status) { memcpy(out, cached->bytes + begin, end - begin); }
  leave(cache, cached);
  return status;
}
