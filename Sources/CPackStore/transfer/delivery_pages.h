/// The pages of a delivery: all pages of catalog and layout that are needed, found in the base, in the folder, or requested from
/// the site.
///
/// Definitions
///   task     a needed page, with its role. Processing a page adds the tasks of the pages it refers to; so the trees come level
///            by level.
///   waiting  tasks whose page is not present yet.
///   seen     pages with a task, except pages of the layout: nothing is processed twice.
///   counted  pages whose bytes allow rows (`catalog/row_budget.h`): each once, whether it was received or was in the base.
///
/// States of a task: to do -> done, when its page is present and processed; or to do -> waiting -> to do, once pages or tables
/// arrive. If nothing is requested after `pks__delivery_pages_request`, all pages are present.
///
/// Owner: `delivery_pages.c`.
#ifndef PKS_TRANSFER_DELIVERY_PAGES_H
#define PKS_TRANSFER_DELIVERY_PAGES_H

#include "catalog/tree.h"
#include "transfer/delivery_site.h"

typedef enum pks__page_role {
  PKS__ROLE_ROOT,  ///< of catalog or layout, or the attributes; nothing hangs on it here
  PKS__ROLE_CATALOG,
  PKS__ROLE_CHUNKS,
  PKS__ROLE_LAYOUT,
  PKS__ROLE_EXTENTS,
} pks__page_role;

typedef struct pks__page_task {
  pks__id id;
  uint8_t role;  ///< pks__page_role
  uint32_t level;
  uint64_t first_file, end_file;  ///< PKS__ROLE_LAYOUT: needy files to be found below
} pks__page_task;

typedef struct pks__delivery_pages {
  pks__delivery_context *context;
  pks__delivery_requests *requests;
  pks__delivery_site *site;
  pks__scratch tasks;  ///< pks__page_task; those before `next_task` are done
  uint64_t next_task;
  pks__scratch waiting;  ///< pks__page_task
  pks__scratch seen;     ///< pks__page_task without files
  pks__hash_map seen_by_id;
  pks__scratch counted;  ///< pks__id of the pages in `rows.page_bytes`
  pks__hash_map counted_by_id;
  pks__row_budget rows;  ///< rows of the version; the needs add them
  pks__scratch page;     ///< the page being processed
  uint64_t given_bytes;  ///< of pages, as the site stores them
} pks__delivery_pages;

void pks__delivery_pages_init(
  pks__delivery_pages *pages, pks__delivery_context *context, pks__delivery_requests *requests, pks__delivery_site *site
);

/// Pages that are in the base or in the folder. CORRUPT when one is in neither.
pks__page_source pks__delivery_pages_source(pks__delivery_pages *pages);

/// Keeps pages that were built here, unless they are in the base.
pks__page_sink pks__delivery_pages_sink(pks__delivery_pages *pages);

/// Adds a task. CORRUPT when its level is higher than a tree may be.
pks_status pks__delivery_pages_need(pks__delivery_pages *pages, const pks__page_task *task, pks_error *error);

/// Processes a present page of the layout, and adds the tasks that it leads to.
typedef struct pks__layout_visitor {
  void *context;
  pks_status (*visit)(void *context, const pks__page_task *task, pks__scratch *page, pks_error *error);
} pks__layout_visitor;

/// Does the tasks whose pages are present, those of the layout by `visitor`, and requests missing pages.
pks_status pks__delivery_pages_request(
  pks__delivery_pages *pages, const pks__layout_visitor *visitor, pks_error *error
);

pks_status pks__delivery_pages_give(
  pks__delivery_pages *pages, const pks__byte_request *request, const void *bytes, bool *is_final, pks_error *error
);

#endif
