#include "store/generation_list.h"

#include <string.h>

#include "platform/name_list.h"

pks_status pks__generation_list_read(
  pks__generation_list *out, const pks_vfs *vfs, pks_vfs_file root, pks_error *error
) {
  pks__name_list names;
  *out = (pks__generation_list){0};
  pks_status status = pks__name_list_read(&names, vfs, root, PKS__INDEX_FOLDER, error);
  uint64_t at = 0, number;
  for (const char *name = pks__name_list_next(&names, &at); name && !status; name = pks__name_list_next(&names, &at)) {
    if (!pks__generation_name_parse(name, strlen(name), &number)) { continue; }
    status = pks__scratch_append(&out->numbers, &number, sizeof number, error);
  }
  pks__name_list_free(&names);
  return status;
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
