/// A cache of decoded frames for several threads, whose neighbouring reads often need the same frames.
///
/// The last used frames are remembered. No thread waits for another's decoding: two threads that need a frame at the same time
/// decode it twice.
///
/// The number of places is adaptive: a cache begins with its minimum, and gets one more, up to its maximum, whenever a frame is
/// needed again soon after it was forgotten. So random reads of a large store use little memory, and reading assets in order, whose
/// changed chunks share frames with those of many others, decodes each frame once.
#ifndef PKS_SEGMENT_FRAME_CACHE_H
#define PKS_SEGMENT_FRAME_CACHE_H

#include "platform/threads.h"
#include "segment/frame_decoding.h"

enum { PKS__FORGOTTEN_FRAMES = 128 };  ///< the number of forgotten frames that a cache remembers

typedef struct pks__cached_frame {
  uint8_t *bytes;
  uint32_t capacity;
  uint32_t length;  ///< 0: none
  uint32_t users;   ///< who look at it, or fill it
  pks__segment_id segment;
  uint64_t offset;
  uint64_t used;  ///< when, by the cache's count of uses
} pks__cached_frame;

typedef struct pks__frame_cache_limits {
  uint32_t least_count, most_count;  ///< of frames
  uint32_t frame_bytes;              ///< longer frames are not remembered
} pks__frame_cache_limits;

typedef struct pks__frame_cache {
  pks__frame_cache_limits limits;
  pks__mutex *mutex;  ///< guards the rest
  pks__cached_frame *frames;
  uint32_t count;  ///< places that may be used now
  uint64_t uses;
  uint64_t forgotten[PKS__FORGOTTEN_FRAMES];  ///< keys, a ring
  uint32_t next_forgotten;
} pks__frame_cache;

pks_status pks__frame_cache_open(pks__frame_cache *out, const pks__frame_cache_limits *limits, pks_error *error);
void pks__frame_cache_close(pks__frame_cache *cache);  ///< a zeroed one is fine

/// Copies raw bytes [begin, end) of the frame to `out`, as `pks__frame_read` does. `reader` is the caller's own.
pks_status pks__frame_cache_read(
  pks__frame_cache *cache, pks__frame_reader *reader, const pks__frame_source *frame, uint32_t begin, uint32_t end,
  void *out, pks_error *error
);

#endif
