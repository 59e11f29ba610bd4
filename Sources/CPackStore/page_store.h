/// Where an add puts its catalog and layout pages: a metadata segment, each page once, none that the store has already.
#ifndef PKS_PAGE_STORE_H
#define PKS_PAGE_STORE_H

#include "codec.h"
#include "segment_set.h"
#include "session.h"
#include "tree.h"

typedef struct pks__page_store {
  pks__view *base;  ///< pages found here are not written again
  pks__segment_series series;
  pks__scratch ids;         ///< pks__id of every page written
  pks__map by_id;           ///< id -> index in `ids`
  pks__segment_set reused;  ///< segments that hold pages put here again
  pks__encoder *encoder;
  pks__scratch encoded;
} pks__page_store;

pks_status pks__page_store_open(
  pks__page_store *out, pks__session *session, pks__view *base, bool sync, pks_error *error
);
void pks__page_store_close(pks__page_store *pages);
/// The sink; its context is the page store, which must not move while it is used.
pks__page_sink pks__page_store_sink(pks__page_store *pages);

#endif
