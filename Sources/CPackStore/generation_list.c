#include "generation_list.h"

#include <errno.h>
#include <string.h>

typedef struct listing {
  pks__generation_list *list;
  pks_status status;
  pks_error *error;
} listing;

static bool note_generation(void *context, const char *name, size_t length, pks__file_kind kind) {
  listing *listing = context;
  uint64_t number;
  (void)kind;
  if (!pks__generation_name_parse(name, length, &number)) { return true; }
  listing->status = pks__scratch_append(&listing->list->numbers, &number, sizeof number, listing->error);
  return listing->status == PKS_OK;
}

pks_status pks__generation_list_read(pks__generation_list *out, pks_store *store, pks_error *error) {
  const pks_vfs *vfs = store->vfs;
  pks__file folder = PKS__NO_FILE;
  listing listing = {.list = out, .error = error};
  *out = (pks__generation_list){0};
  int failure = vfs->open(vfs->context, store->root, PKS__INDEX_FOLDER, PKS__OPEN_FOLDER, &folder);
  if (failure == ENOENT) { return PKS_OK; }
  if (!failure) {
    failure = vfs->list(vfs->context, folder, note_generation, &listing);
    vfs->close(vfs->context, folder);
  }
  return failure ? pks__fail_system(error, failure, "cannot list", PKS__INDEX_FOLDER) : listing.status;
}

void pks__generation_list_free(pks__generation_list *list) { pks__scratch_free(&list->numbers); }

uint64_t pks__generation_list_below(const pks__generation_list *list, uint64_t limit) {
  uint64_t highest = 0;
  for (uint64_t i = 0; i < PKS__SCRATCH_COUNT(&list->numbers, uint64_t); i++) {
    uint64_t number = *PKS__SCRATCH_AT(&list->numbers, const uint64_t, i);
    if (number < limit && number > highest) { highest = number; }
  }
  return highest;
}
