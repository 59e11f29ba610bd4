/// The chunks that an evacuation stores again, in the reading order of the moved versions: those of the first version by path, then
/// further chunks of the others. So data scattered by updates becomes contiguous.
///
/// A *wanted* chunk is in a segment to empty and needed by a version, unless the store has a usable copy elsewhere. A raw chunk is
/// always wanted, together with all neighbours that abut it in the file: map assets must stay in one piece.
///
/// A frame that is at least three quarters wanted is copied unchanged if its chunks are consecutive in this order. Otherwise other
/// assets, or newer chunks of the same one, belong between them, and they are encoded again together.
#ifndef PKS_COMMIT_COPY_ORDER_H
#define PKS_COMMIT_COPY_ORDER_H

#include "ingest/reuse_policy.h"
#include "space/evacuation_plan.h"

typedef struct pks__copy_item {
  uint32_t segment;  ///< as in `pks__chunk_use_segment` of the plan
  uint32_t frame;
  uint32_t row;
  uint32_t begin, end;  ///< in the frame's raw bytes
  bool begins_asset;    ///< the items before are of another one
  bool follows_gap;     ///< an item that is not copied comes between
} pks__copy_item;

typedef struct pks__copy_order {
  const pks__evacuation_plan *plan;
  pks_snapshot *snapshot;
  const pks__reuse_policy *reuse_policy;
  pks__scratch items;   ///< pks__copy_item
  pks__scratch wanted;  ///< a bit for each row, placed as in the plan's `use`
  bool asset_begins;    ///< the next item is the first of its asset
  bool skipped;         ///< an item before the next one is not listed
} pks__copy_order;

/// Lists the wanted chunks. `snapshot` must be the plan's. Must be freed, also after an error.
pks_status pks__copy_order_make(
  pks__copy_order *out, const pks__evacuation_plan *plan, pks_snapshot *snapshot, const pks__reuse_policy *reuse_policy,
  pks__scratch_folder *home, pks_error *error
);
void pks__copy_order_free(pks__copy_order *order);  ///< a zeroed one is fine

static inline uint64_t pks__copy_order_count(const pks__copy_order *order) {
  return PKS__SCRATCH_COUNT(&order->items, pks__copy_item);
}
static inline const pks__copy_item *pks__copy_order_at(const pks__copy_order *order, uint64_t index) {
  return PKS__SCRATCH_AT(&order->items, const pks__copy_item, index);
}

/// How many items from `first` on are of one frame. `*as_it_is`: the frame is to be copied with all of its chunks, for the rest of
/// which nothing will ask.
pks_status pks__copy_order_frame(
  const pks__copy_order *order, uint64_t first, uint64_t *count, bool *as_it_is, pks__frame *frame, pks_error *error
);

/// Raw bytes of the items from `first`, which begins an asset, up to the next that does.
uint64_t pks__copy_order_asset_bytes(const pks__copy_order *order, uint64_t first);

#endif
