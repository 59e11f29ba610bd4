/// Counts the work of a delivery's hash maps, which a hostile site would try to increase.
#ifndef COUNTED_MAPS_H
#define COUNTED_MAPS_H

#include "packstore.h"

typedef struct map_work {
  uint64_t entries;  ///< entries in the maps
  uint64_t steps;    ///< slots probed to insert them
} map_work;

map_work delivery_map_work(const pks_delivery *delivery);

#endif
