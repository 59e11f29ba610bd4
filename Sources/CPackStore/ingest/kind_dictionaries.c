#include "ingest/kind_dictionaries.h"

#include <string.h>

#include "base/memory.h"

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

uint32_t pks__kind_dictionaries_find(const pks__kind_dictionaries *dictionaries, const pks__kind_name *name) {
  for (uint32_t i = 0; i < dictionaries->count; i++) {
    if (memcmp(&dictionaries->kinds[i].name, name, sizeof *name) == 0) { return i; }
  }
  return PKS__KINDS_MAX;
}

const pks__frame_dictionary *pks__kind_dictionaries_for(
  const pks__kind_dictionaries *dictionaries, const char *path, size_t path_length, uint64_t size, bool mapped
) {
  if (dictionaries->stored_bytes == 0 || mapped || size >= PKS__LARGE_ASSET) { return NULL; }
  pks__kind_name name = pks__kind_name_of(path, path_length);
  const pks__kind_dictionary *kind = &dictionaries->kinds[pks__kind_dictionaries_find(dictionaries, &name)];
  return kind->dictionary.tables ? &kind->dictionary : NULL;
}

void pks__kind_dictionaries_free(pks__kind_dictionaries *dictionaries) {
  for (size_t i = 0; i < PKS_COUNT_OF(dictionaries->kinds); i++) {
    pks__frame_dictionary *dictionary = &dictionaries->kinds[i].dictionary;
    pks__encoding_dictionary_destroy(dictionary->tables);
    pks__free((void *)(uintptr_t)dictionary->stored.stored);
  }
  *dictionaries = (pks__kind_dictionaries){0};
}
