/// What of a version is missing, where the site has it, and which frames come.
#ifndef PKS_TRANSFER_DELIVERY_NEEDS_H
#define PKS_TRANSFER_DELIVERY_NEEDS_H

#include "transfer/delivery_state.h"

/// Walks the catalog: needy files and their missing chunks.
pks_status pks__delivery_find_needs(pks_delivery *delivery, pks_error *error);

/// Sees that all pages of the layout come on the way to needy files.
pks_status pks__delivery_need_layout(pks_delivery *delivery, pks_error *error);

/// Looks into a page of the layout that is there.
pks_status pks__delivery_read_layout(
  pks_delivery *delivery, const pks__page_task *task, pks__scratch *page, pks_error *error
);

/// Wants the tables of data segments. Without wants, all are there.
pks_status pks__delivery_want_tables(pks_delivery *delivery, pks_error *error);

/// Says which frames come, and wants them. NO_SPACE when there is no room for them.
pks_status pks__delivery_plan(pks_delivery *delivery, pks_error *error);

#endif
