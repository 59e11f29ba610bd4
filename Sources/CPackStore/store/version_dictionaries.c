#include "store/version_dictionaries.h"

#include "catalog/catalog.h"
#include "store/chunk_lookup.h"
#include "store/segment_registry.h"

static bool visit_segment(pks__segment *segment, pks__dictionary_visitor *visit, void *context) {
  if (pks__segment_need_table(segment, NULL)) { return true; }
  bool goes_on = true;
  for (uint32_t i = 0; goes_on && i < segment->dictionary_count; i++) {
    pks__segment_dictionary dictionary;
    if (pks__segment_dictionary_at(segment, i, &dictionary, NULL)) { continue; }
    goes_on = visit(context, segment, i, &dictionary);
  }
  return goes_on;
}

pks_status pks__version_dictionaries_visit(
  pks_snapshot *snapshot, const pks__version *version, pks__dictionary_visitor *visit, void *context, pks_error *error
) {
  pks__layout_root root;
  pks__scratch segments = {0};
  pks_status status = pks__layout_read_root(pks__snapshot_pages(snapshot), &version->layout, &root, &segments, error);
  bool goes_on = !status;
  for (uint64_t i = 0; goes_on && i < PKS__SCRATCH_COUNT(&segments, pks__segment_id); i++) {
    const pks__segment_id *id = PKS__SCRATCH_AT(&segments, const pks__segment_id, i);
    pks__segment *segment;
    if (pks__store_get_segment(snapshot->store, id, &segment, NULL)) { continue; }
    goes_on = visit_segment(segment, visit, context);
    pks__store_release_segment(snapshot->store, segment);
  }
  pks__scratch_free(&segments);
  return status;
}
