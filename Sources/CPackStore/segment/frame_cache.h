/// Frames in decoded form that several threads read at a time: neighbours in what they do want the same ones.
///
/// Of a few frames the ones used last are remembered. No thread waits for another's decoding: two who want a frame at
/// once decode it twice.
#ifndef PKS_SEGMENT_FRAME_CACHE_H
#define PKS_SEGMENT_FRAME_CACHE_H

#include "platform/threads.h"
#include "segment/frames.h"

enum {
  PKS__CACHED_FRAMES = 16,
  PKS__CACHED_FRAME_MAX = 160 * 1024,  ///< bytes; longer frames are not remembered
};

typedef struct pks__cached_frame {
  uint8_t *bytes;
  uint32_t length;  ///< 0: none
  uint32_t users;   ///< who look at it, or fill it
  pks__segment_id segment;
  uint64_t offset;
  uint64_t used;  ///< when, by the cache's count of uses
} pks__cached_frame;

typedef struct pks__frame_cache {
  pks__mutex *mutex;
  pks__cached_frame frames[PKS__CACHED_FRAMES];
  uint64_t uses;
} pks__frame_cache;

pks_status pks__frame_cache_open(pks__frame_cache *out, pks_error *error);
void pks__frame_cache_close(pks__frame_cache *cache);  ///< a zeroed one is fine

/// Copies raw bytes [begin, end) of the frame to `out`, as `pks__frame_read` does. `reader` is the caller's own.
pks_status pks__frame_cache_read(
  pks__frame_cache *cache, pks__frame_reader *reader, const pks__frame_source *frame, uint32_t begin, uint32_t end,
  void *out, pks_error *error
);

#endif
