#include "include/CountedMaps.h"

#include "transfer/delivery.h"

map_work delivery_map_work(const pks_delivery *delivery) {
  const pks__hash_map *maps[] = {
    &delivery->site.segments_by_id, &delivery->site.pages_by_id, &delivery->pages.seen_by_id, &delivery->needs.missing};
  map_work work = {0};
  for (size_t i = 0; i < PKS_COUNT_OF(maps); i++) {
    work.entries += maps[i]->count;
    work.steps += maps[i]->steps;
  }
  return work;
}
