/// Which segments layouts list, remembered: each collection asks for those of all kept versions.
///
/// A layout is named by what it says, so that what was read once stays true. Reading takes a look-up and the decoding of a
/// page; with many packs, of which one after another is removed, each removal would read the layouts of all others again.
#ifndef PKS_STORE_LAYOUT_SEGMENTS_H
#define PKS_STORE_LAYOUT_SEGMENTS_H

#include "store/state.h"

/// What is remembered at most, bytes. What is beyond is read again.
enum { PKS__LAYOUT_SEGMENTS_MAX = 512 * 1024 };

/// Appends the segments that a layout's root page lists to `out`. Errors as from reading the page.
pks_status pks__layout_segments(pks_snapshot *snapshot, const pks__id *layout, pks__scratch *out, pks_error *error);

/// Forgets all, with the store.
void pks__layout_segments_free(pks_store *store);

#endif
