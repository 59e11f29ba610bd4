#include "include/CountedMaps.h"

#include "transfer/delivery_state.h"

map_work delivery_map_work(const pks_delivery *delivery) {
  const pks__hash_map *maps[] = {
    &delivery->segments_by_id, &delivery->pages_by_id, &delivery->seen_by_id, &delivery->missing};
  map_work work = {0};
  for (size_t i = 0; i < PKS_COUNT_OF(maps); i++) {
    work.entries += maps[i]->count;
    work.steps += maps[i]->steps;
  }
  return work;
}
