/// Remembers the segments listed in layouts: each collection needs those of all kept versions.
///
/// A layout's id is a digest of its contents, so remembered lists never become wrong. Reading one takes a look-up and the decoding
/// of a page; if many packs are removed one after another, each removal would read the layouts of all others again.
#ifndef PKS_STORE_LAYOUT_SEGMENTS_H
#define PKS_STORE_LAYOUT_SEGMENTS_H

#include "store/state.h"

/// Maximum number of remembered bytes. Other lists are read again.
enum { PKS__LAYOUT_SEGMENTS_MAX = 512 * 1024 };

/// Appends the segments that a layout's root page lists to `out`. Errors as from reading the page.
pks_status pks__layout_segments(pks_snapshot *snapshot, const pks__id *layout, pks__scratch *out, pks_error *error);

/// Forgets all, with the store.
void pks__layout_segments_free(pks_store *store);

#endif
