#include "segment/frame_cache.h"

#include <string.h>

#include "base/memory.h"

pks_status pks__frame_cache_open(pks__frame_cache *out, const pks__frame_cache_limits *limits, pks_error *error) {
  *out = (pks__frame_cache){.limits = *limits, .mutex = pks__mutex_create(), .count = limits->least_count};
  out->frames = pks__allocate_zeroed(limits->most_count, sizeof *out->frames);
  if (out->mutex && out->frames) { return PKS_OK; }
  pks__frame_cache_close(out);
  return pks__fail_memory(error);
}

void pks__frame_cache_close(pks__frame_cache *cache) {
  for (uint32_t i = 0; cache->frames && i < cache->limits.most_count; i++) { pks__free(cache->frames[i].bytes); }
  pks__free(cache->frames);
  pks__mutex_destroy(cache->mutex);
  *cache = (pks__frame_cache){0};
}

/// The frame with one more user, or NULL. The mutex is held.
static pks__cached_frame *find(pks__frame_cache *cache, const pks__frame_source *wanted) {
  for (uint32_t i = 0; i < cache->count; i++) {
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

/// Returns the key of a forgotten frame. Two frames with one key cost a place at worst; 0 is not a key.
static uint64_t key_of(const pks__segment_id *segment, uint64_t offset) {
  uint64_t key;
  memcpy(&key, segment->bytes, sizeof key);
  return (key ^ offset * 0x9E3779B97F4A7C15) | 1;
}

/// Gives the cache one more place if it had the wanted frame a short while ago. The mutex is held.
static void grow(pks__frame_cache *cache, const pks__frame_source *wanted) {
  uint64_t key = key_of(&wanted->segment->id, wanted->ref.offset);
  bool was_here = false;
  for (uint32_t i = 0; i < PKS__FORGOTTEN_FRAMES; i++) { was_here = was_here || cache->forgotten[i] == key; }
  if (was_here && cache->count < cache->limits.most_count) { cache->count++; }
}

/// The place that was used longest ago and is not in use, emptied and with one user; NULL when all are looked at. The
/// mutex is held.
static pks__cached_frame *take_place(pks__frame_cache *cache) {
  pks__cached_frame *oldest = NULL;
  for (uint32_t i = 0; i < cache->count; i++) {
    pks__cached_frame *frame = &cache->frames[i];
    if (frame->users == 0 && (!oldest || frame->used < oldest->used)) { oldest = frame; }
  }
  if (!oldest) { return NULL; }
  if (oldest->length > 0) {
    cache->forgotten[cache->next_forgotten] = key_of(&oldest->segment, oldest->offset);
    cache->next_forgotten = (cache->next_forgotten + 1) % PKS__FORGOTTEN_FRAMES;
  }
  oldest->length = 0;
  oldest->users = 1;
  return oldest;
}

static void leave(pks__frame_cache *cache, pks__cached_frame *frame) {
  pks__mutex_lock(cache->mutex);
  frame->users--;
  pks__mutex_unlock(cache->mutex);
}

/// Frames are mostly of one length, which is well below the longest that is remembered.
static pks_status need_room(pks__cached_frame *place, uint32_t length, pks_error *error) {
  if (length <= place->capacity) { return PKS_OK; }
  pks__free(place->bytes);
  place->bytes = pks__allocate(length);
  place->capacity = place->bytes ? length : 0;
  return place->bytes ? PKS_OK : pks__fail_memory(error);
}

/// Decodes a frame into its place, where it is not found before it is whole.
static pks_status fill(
  pks__frame_cache *cache, pks__cached_frame *place, pks__frame_reader *reader, const pks__frame_source *source,
  pks_error *error
) {
  pks_status status = need_room(place, source->ref.raw_length, error);
  if (status) { return status; }
  status = pks__frame_read(reader, source, 0, source->ref.raw_length, place->bytes, error);
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
  if (frame->ref.raw_length > cache->limits.frame_bytes) {
    return pks__frame_read(reader, frame, begin, end, out, error);
  }
  pks__mutex_lock(cache->mutex);
  pks__cached_frame *cached = find(cache, frame);
  bool is_whole = cached != NULL;
  if (!cached) {
    grow(cache, frame);
    cached = take_place(cache);
  }
  pks__mutex_unlock(cache->mutex);
  if (!cached) { return pks__frame_read(reader, frame, begin, end, out, error); }
  pks_status status = is_whole ? PKS_OK : fill(cache, cached, reader, frame, error);
  if (!status) { memcpy(out, cached->bytes + begin, end - begin); }
  leave(cache, cached);
  return status;
}
