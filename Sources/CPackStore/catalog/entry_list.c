#include "catalog/entry_list.h"

#include <string.h>

void pks__entry_list_init(pks__entry_list *listing, pks__scratch_folder *home) {
  *listing = (pks__entry_list){0};
  pks__scratch_init(&listing->items, home);
  pks__scratch_init(&listing->texts, home);
}

void pks__entry_list_clear(pks__entry_list *listing) {
  listing->items.length = listing->texts.length = 0;
  listing->file_count = listing->byte_count = listing->mapped_count = 0;
}

void pks__entry_list_free(pks__entry_list *listing) {
  pks__scratch_free(&listing->items);
  pks__scratch_free(&listing->texts);
}

pks_status pks__entry_list_append(
  pks__entry_list *listing, const pks__item *item, const char *path, const void *target, pks_error *error
) {
  pks__item placed = *item;
  placed.text = listing->texts.length;
  bool is_link = item->kind == PKS__RECORD_LINK, is_file = item->kind == PKS__RECORD_FILE;
  pks_status status = pks__scratch_append(&listing->texts, path, item->path_length, error);
  if (!status && is_link) { status = pks__scratch_append(&listing->texts, target, (size_t)item->size, error); }
  if (!status) { status = pks__scratch_append(&listing->items, &placed, sizeof placed, error); }
  if (status) { return status; }
  listing->file_count += is_file;
  listing->byte_count += is_file ? item->size : 0;
  listing->mapped_count += item->mapped;
  return PKS_OK;
}

static int compare(const pks__entry_list *listing, const pks__item *a, const pks__item *b) {
  const char *a_path = pks__entry_list_path(listing, a), *b_path = pks__entry_list_path(listing, b);
  return pks__compare_bytes(a_path, a->path_length, b_path, b->path_length);
}

void pks__entry_list_settle_last(pks__entry_list *listing) {
  uint64_t last = pks__entry_list_count(listing) - 1, at = last;
  pks__item item = *pks__entry_list_at(listing, last);
  while (at > 0 && compare(listing, pks__entry_list_at(listing, at - 1), &item) > 0) { at--; }
  pks__item *place = PKS__SCRATCH_AT(&listing->items, pks__item, at);
  memmove(place + 1, place, (size_t)(last - at) * sizeof *place);
  *place = item;
}
