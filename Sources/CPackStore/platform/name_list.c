#include "platform/name_list.h"

#include <errno.h>
#include <string.h>

typedef struct visit {
  pks__name_list *list;
  pks_status status;
  pks_error *error;
} visit;

static bool add_name(void *context, const char *name, size_t length, pks_vfs_kind kind) {
  (void)kind;
  visit *visit = context;
  visit->status = pks__scratch_append(&visit->list->names, name, length, visit->error);
  if (!visit->status) { visit->status = pks__scratch_append(&visit->list->names, "", 1, visit->error); }
  return !visit->status;
}

pks_status pks__name_list_read(
  pks__name_list *out, const pks_vfs *vfs, pks_vfs_file root, const char *path, pks_error *error
) {
  visit visit = {.list = out, .error = error};
  pks_vfs_file folder;
  *out = (pks__name_list){0};
  int failure = pks__vfs_open(vfs, root, path, PKS_VFS_OPEN_FOLDER, &folder);
  if (failure == ENOENT) { return PKS_OK; }
  if (!failure) {
    failure = pks__vfs_list(vfs, folder, add_name, &visit);
    pks__vfs_close(vfs, folder);
  }
  return failure ? pks__fail_system(error, failure, "cannot list", path) : visit.status;
}

void pks__name_list_free(pks__name_list *list) { pks__scratch_free(&list->names); }

const char *pks__name_list_next(const pks__name_list *list, uint64_t *at) {
  if (*at >= list->names.length) { return NULL; }
  const char *name = (const char *)list->names.bytes + *at;
  *at += strlen(name) + 1;
  return name;
}
