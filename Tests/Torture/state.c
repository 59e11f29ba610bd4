#include "state.h"

void state_add(store_state *state, uint32_t pack, uint64_t version, uint32_t keep) {
  pack_state *held = &state->packs[pack];
  if (!held->is_there) { *held = (pack_state){.is_there = true, .installed = state->installed++}; }
  held->version = version;
  held->kept = held->kept + 1 < keep ? held->kept + 1 : keep;
}

void state_remove(store_state *state, uint32_t pack) {
  state->packs[pack] = (pack_state){.version = state->packs[pack].version};
}

static bool wins(const pack_state *a, const pack_state *b) {
  return a->priority != b->priority ? a->priority > b->priority : a->installed < b->installed;
}

uint32_t state_order(const store_state *state, uint32_t order[PACK_COUNT]) {
  uint32_t count = 0;
  for (uint32_t pack = 0; pack < PACK_COUNT; pack++) {
    if (!state->packs[pack].is_there) { continue; }
    uint32_t at = count++;
    for (; at > 0 && wins(&state->packs[pack], &state->packs[order[at - 1]]); at--) { order[at] = order[at - 1]; }
    order[at] = pack;
  }
  return count;
}

static bool shows(const store_state *state, uint32_t pack, uint32_t asset) {
  return state->packs[pack].is_there && content_is_there(pack, asset, state->packs[pack].version);
}

uint32_t state_winner(const store_state *state, uint32_t pack, uint32_t asset) {
  if (!content_is_shared(asset)) { return shows(state, pack, asset) ? pack : PACK_COUNT; }
  uint32_t order[PACK_COUNT], count = state_order(state, order);
  for (uint32_t rank = 0; rank < count; rank++) {
    if (shows(state, order[rank], asset)) { return order[rank]; }
  }
  return PACK_COUNT;
}
