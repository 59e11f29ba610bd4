/// How much work a delivery's maps had: what a hostile site would multiply.
#ifndef COUNTED_MAPS_H
#define COUNTED_MAPS_H

#include "packstore.h"

typedef struct map_work {
  uint64_t entries;  ///< that are in them
  uint64_t steps;    ///< slots that were looked at to put them there
} map_work;

map_work delivery_map_work(const pks_delivery *delivery);

#endif
