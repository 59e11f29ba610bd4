#include "ingest/frame_grouping_kinds.h"

#include <string.h>

#include "base/memory.h"

void pks__frame_dictionary_free(pks__frame_dictionary *dictionary) {
  pks__encoding_dictionary_destroy(dictionary->tables);
  pks__free((void *)(uintptr_t)dictionary->stored.stored);
  *dictionary = (pks__frame_dictionary){0};
}

pks__kind_name pks__kind_name_of(const char *path, size_t path_length) {
  pks__kind_name name = {{0}};
  size_t begin = path_length;
  while (begin > 0 && path[begin - 1] != '.' && path[begin - 1] != '/') { begin--; }
  bool has_ending = begin > 1 && path[begin - 1] == '.' && path[begin - 2] != '/';
  size_t length = path_length - begin;
  if (!has_ending || length > sizeof name.bytes) { return name; }
  for (size_t i = 0; i < length; i++) {
    char byte = path[begin + i];
    name.bytes[i] = byte >= 'A' && byte <= 'Z' ? (char)(byte - 'A' + 'a') : byte;
  }
  return name;
}

uint32_t pks__frame_grouping_kinds_find(const pks__frame_grouping_kinds *forms, const pks__kind_name *name) {
  for (uint32_t i = 0; i < forms->count; i++) {
    if (memcmp(&forms->kinds[i].name, name, sizeof *name) == 0) { return i; }
  }
  return PKS__KINDS_MAX;
}

const pks__frame_form *pks__frame_grouping_kinds_for(
  const pks__frame_grouping_kinds *forms, const char *path, size_t path_length, uint64_t size, bool mapped
) {
  if (!forms->any_is_alone || mapped || size >= PKS__LARGE_ASSET) { return NULL; }
  pks__kind_name name = pks__kind_name_of(path, path_length);
  return &forms->kinds[pks__frame_grouping_kinds_find(forms, &name)].form;
}

void pks__frame_grouping_kinds_free(pks__frame_grouping_kinds *forms) {
  for (size_t i = 0; i < PKS_COUNT_OF(forms->kinds); i++) { pks__frame_dictionary_free(&forms->kinds[i].dictionary); }
  *forms = (pks__frame_grouping_kinds){0};
}
