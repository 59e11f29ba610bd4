/// The torture's model of one generation: the expected contents of a store.
#ifndef TORTURE_STATE_H
#define TORTURE_STATE_H

#include "content.h"

typedef struct pack_state {
  bool is_there;
  int32_t priority;
  uint32_t kept;       ///< versions, the current one included
  uint64_t version;    ///< the current one, or the last one before the pack was removed
  uint64_t installed;  ///< its position in the order of installation
} pack_state;

typedef struct store_state {
  pack_state packs[PACK_COUNT];
  uint64_t installed;  ///< packs ever installed
} store_state;

void state_add(store_state *state, uint32_t pack, uint64_t version, uint32_t keep);
void state_remove(store_state *state, uint32_t pack);

/// Sorts the packs by precedence; returns their number.
uint32_t state_order(const store_state *state, uint32_t order[PACK_COUNT]);

/// Returns the pack whose asset of this number is visible at its path; PACK_COUNT if none is.
uint32_t state_winner(const store_state *state, uint32_t pack, uint32_t asset);

#endif
