/// The base: a store beneath another one, which is never written: from an app's bundle, on read-only media.
///
/// The upper store takes the base's packs over (`pks_store_adopt_base`): it has their catalogs, layouts and index itself, and
/// of their data only the tables, in `tables/`, as of purgeable segments; the frames are read from the base's files. So
/// reading knows one index, a chunk that the base has is found like any other, and an update goes to the upper store.
///
/// - Segments are found by id: among the store's own files first, then in the base, then by the table alone.
/// - The base shows one generation as long as the upper store is open.
/// - The upper store says which generation of which base its packs were taken over from last. Over another base, or none,
///   it is as consistent as before: what only the old base had is PURGED, and known to the byte by the tables.
/// - Nothing of a base counts as purgeable: a durable pack may refer to it.
#ifndef PKS_STORE_BASE_STORE_H
#define PKS_STORE_BASE_STORE_H

#include "store/state.h"

/// The generation that the base shows; not set without one.
pks__base_name pks__base_store_name(const pks_store *store);

/// Whether the base has the segment.
bool pks__base_store_has(pks_store *store, const pks__segment_id *id);

#endif
