/// Pages and frame tables of a delivery: wanting them, checking them.
#ifndef PKS_TRANSFER_DELIVERY_PAGES_H
#define PKS_TRANSFER_DELIVERY_PAGES_H

#include "transfer/delivery_state.h"

/// Pages that are in the base or in the folder. CORRUPT when one is in neither.
pks__page_source pks__delivery_pages(pks_delivery *delivery);

/// Adds a page that must be there.
pks_status pks__delivery_need_page(
  pks_delivery *delivery, const pks__id *id, pks__page_role role, uint32_t level, uint64_t first_file,
  uint64_t end_file, pks_error *error
);

/// Looks into a page of the layout that is there, and adds the pages that it leads to.
typedef pks_status pks__layout_visitor(
  pks_delivery *delivery, const pks__page_task *task, pks__scratch *page, pks_error *error
);
/// Looks into the pages that are there, those of the layout by `visit_layout`, and wants those that are not. Without
/// wants,
/// all are there.
pks_status pks__delivery_want_pages(pks_delivery *delivery, pks__layout_visitor *visit_layout, pks_error *error);

/// Adds a want for a segment's table, unless the folder has it.
pks_status pks__delivery_want_table(pks_delivery *delivery, uint32_t segment, pks_error *error);

pks_status pks__delivery_give_table(
  pks_delivery *delivery, const pks__want *want, const void *bytes, bool *is_final, pks_error *error
);

pks_status pks__delivery_give_pages(
  pks_delivery *delivery, const pks__want *want, const void *bytes, bool *is_final, pks_error *error
);

/// The table of a segment, on loan until another one is read.
pks__frame_table pks__delivery_table(const pks_delivery *delivery, uint32_t segment);

#endif
