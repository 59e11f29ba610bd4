/// Frames of a delivery that come: kept as they are, or taken apart.
#ifndef PKS_TRANSFER_DELIVERY_FRAMES_H
#define PKS_TRANSFER_DELIVERY_FRAMES_H

#include "transfer/delivery_state.h"

/// Takes up what the folder has, once the catalog's root is there.
pks_status pks__delivery_open_ingest(pks_delivery *delivery, pks_error *error);

pks_status pks__delivery_give_frame(
  pks_delivery *delivery, uint64_t index, const void *bytes, bool *is_final, pks_error *error
);

/// Reads chunks for the ingest: from the new ones or the base.
pks__chunk_fetch pks__delivery_fetch(pks_delivery *delivery);

#endif
