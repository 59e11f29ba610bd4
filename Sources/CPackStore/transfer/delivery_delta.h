/// A delta in place of frames: its parts, and applying it.
#ifndef PKS_TRANSFER_DELIVERY_DELTA_H
#define PKS_TRANSFER_DELIVERY_DELTA_H

#include "transfer/delivery_state.h"

/// Wants the header, unless it is there.
pks_status pks__delivery_want_header(pks_delivery *delivery, pks_error *error);

/// Wants the blocks that are not there. The header is.
pks_status pks__delivery_want_blocks(pks_delivery *delivery, pks_error *error);

pks_status pks__delivery_give_header(
  pks_delivery *delivery, const pks__want *want, const void *bytes, bool *is_final, pks_error *error
);

pks_status pks__delivery_give_block(
  pks_delivery *delivery, const pks__want *want, const void *bytes, bool *is_final, pks_error *error
);

/// Applies the delta that came to the transaction.
pks_status pks__delivery_apply(pks_delivery *delivery, pks_add_result *result, pks_error *error);

#endif
