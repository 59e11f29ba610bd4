/// The base: a store beneath another one, which is never written: from an app's bundle, on read-only media.
///
/// The upper store adopts the base's packs (`pks_store_adopt_base`): it has their catalogs, layouts and index itself, and of their
/// data only the tables, in `tables/`, like for purgeable segments; the frames are read from the base's files. So there is one
/// index for reading, a chunk of the base is found like any other, and updates go to the upper store.
/// - Segments are found by id: among the store's own files first, then in the base, then by the table alone.
/// - The base shows one generation as long as the upper store is open.
/// - The upper store records the base and generation from which its packs were last adopted. With another base, or none, it is as
///   consistent as before: data of the old base only is PURGED, and the tables show exactly which bytes.
/// - Nothing of a base counts as purgeable: a durable pack may refer to it.
#ifndef PKS_STORE_BASE_STORE_H
#define PKS_STORE_BASE_STORE_H

#include "store/state.h"

/// The generation that the base shows; not set without one.
pks__base_name pks__base_store_name(const pks_store *store);

/// Whether the base has the segment.
bool pks__base_store_has(pks_store *store, const pks__segment_id *id);

#endif
