/// The contents of the torture's packs: a pure function of pack, version and asset, so that every reader can compute
/// the expected bytes.
///
/// A version changes some assets of the version before: each asset has a period, and its *revision* is the version in
/// which it changed last. Some assets are missing in some versions. Some have the same path in every pack, so that
/// priority decides which one is visible.
#ifndef TORTURE_CONTENT_H
#define TORTURE_CONTENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// The packs. The two packs of the couple are always committed together, at the same version.
enum {
  PACK_LEFT,   ///< first of the couple
  PACK_RIGHT,  ///< second of the couple
  PACK_A,      ///< this pack and the next two are added and removed
  PACK_B,
  PACK_C,
  PACK_RAW,    ///< has an incompressible asset, to borrow and map
  PACK_LARGE,  ///< has compressed assets large enough for the cache
  PACK_COUNT,
};

enum { CONTENT_PATH_SIZE = 64, CONTENT_SIZE_MAX = 1400 * 1024 };

const char *content_pack(uint32_t pack);
uint32_t content_count(uint32_t pack);  ///< assets that some version may have; the first one is always present

bool content_is_there(uint32_t pack, uint32_t asset, uint64_t version);
uint64_t content_revision(uint32_t pack, uint32_t asset, uint64_t version);
bool content_is_shared(uint32_t asset);  ///< has the same path in all packs
bool content_is_link(uint32_t asset);
void content_path(uint32_t pack, uint32_t asset, char out[CONTENT_PATH_SIZE]);

uint64_t content_size(uint32_t pack, uint32_t asset, uint64_t revision);  ///< size of a file
void content_fill(uint32_t pack, uint32_t asset, uint64_t revision, uint64_t offset, void *out, size_t byte_count);
bool content_is(
  uint32_t pack, uint32_t asset, uint64_t revision, uint64_t offset, const void *bytes, size_t byte_count
);
void content_target(
  uint32_t pack, uint32_t asset, uint64_t revision, char out[CONTENT_PATH_SIZE]
);  ///< target of a link

/// Writes the files of the version to the folder. `*held` describes its current contents: zeroed for an empty folder,
/// and kept by the caller between calls.
typedef struct content_held {
  uint64_t revisions[16];  ///< 1 more than the revision; 0: absent
} content_held;
bool content_write(const char *folder, uint32_t pack, uint64_t version, content_held *held);

/// SplitMix64: advances `*state`.
uint64_t next_random(uint64_t *state);
uint64_t random_below(uint64_t *state, uint64_t bound);

#endif
