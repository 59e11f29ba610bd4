/// What the torture's packs hold: a pure function of pack, version and asset, so that any reader of an asset knows every
/// byte that it must have.
///
/// A version changes some assets of the one before: each asset has a period, and its *revision* is the version in which
/// it changed last. Some come and go. Some have the same path in every pack, so that priority decides which one shows.
#ifndef TORTURE_CONTENT_H
#define TORTURE_CONTENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// The packs. Those of the couple are always committed together, at the same version.
enum {
  PACK_LEFT,   ///< of the couple
  PACK_RIGHT,  ///< of the couple
  PACK_A,      ///< this and the next two come and go
  PACK_B,
  PACK_C,
  PACK_RAW,    ///< has an asset that does not compress, to be borrowed and mapped
  PACK_LARGE,  ///< has compressed assets that are large enough for the cache
  PACK_COUNT,
};

enum { CONTENT_PATH_SIZE = 64, CONTENT_SIZE_MAX = 1400 * 1024 };

const char *content_pack(uint32_t pack);
uint32_t content_count(uint32_t pack);  ///< assets that some version may have; the first never is absent

bool content_is_there(uint32_t pack, uint32_t asset, uint64_t version);
uint64_t content_revision(uint32_t pack, uint32_t asset, uint64_t version);
bool content_is_shared(uint32_t asset);  ///< has the same path in all packs
bool content_is_link(uint32_t asset);
void content_path(uint32_t pack, uint32_t asset, char out[CONTENT_PATH_SIZE]);

uint64_t content_size(uint32_t pack, uint32_t asset, uint64_t revision);  ///< of a file
void content_fill(uint32_t pack, uint32_t asset, uint64_t revision, uint64_t offset, void *out, size_t byte_count);
bool content_is(
  uint32_t pack, uint32_t asset, uint64_t revision, uint64_t offset, const void *bytes, size_t byte_count
);
void content_target(uint32_t pack, uint32_t asset, uint64_t revision, char out[CONTENT_PATH_SIZE]);  ///< of a link

/// Makes the folder hold what the version holds. `*held` is what it holds already: zeroed for an empty folder, and kept
/// by the caller from call to call.
typedef struct content_held {
  uint64_t revisions[16];  ///< 1 more than the revision; 0: absent
} content_held;
bool content_write(const char *folder, uint32_t pack, uint64_t version, content_held *held);

/// SplitMix64: advances `*state`.
uint64_t next_random(uint64_t *state);
uint64_t random_below(uint64_t *state, uint64_t bound);

#endif
