#include "store/reader_holds.h"

/// More files of generations than these are only there when many were held for long.
enum { FILES_ASKED = 4096 };

typedef struct search {
  pks__reader_holds *holds;
  const pks_vfs *vfs;
  pks_vfs_file readers;
  uint64_t end;
  uint32_t asked;
  pks_status status;
  pks_error *error;
} search;

static bool visit(void *context, const char *name, size_t length, pks_vfs_kind kind) {
  (void)kind;
  search *search = context;
  uint64_t number;
  bool pinned;
  if (!pks__generation_name_parse(name, length, &number) || number >= search->end) { return true; }
  search->holds->has_more = search->asked++ == FILES_ASKED;
  if (search->holds->has_more) { return false; }
  search->status = pks__is_pinned(search->vfs, search->readers, number, number + 1, &pinned, search->error);
  if (search->status || !pinned) { return !search->status; }
  search->holds->has_more = search->holds->count == PKS__HOLDS_MAX;
  if (!search->holds->has_more) { search->holds->generations[search->holds->count++] = number; }
  return !search->holds->has_more;
}

pks_status pks__reader_holds_find(
  pks__reader_holds *out, const pks_store *store, pks_vfs_file readers, uint64_t end, pks_error *error
) {
  *out = (pks__reader_holds){0};
  const pks_vfs *vfs = store->vfs;
  uint64_t bound = pks__min64(end, PKS__STAGINGS_BEGIN);
  bool any;
  pks_status status = pks__is_pinned(vfs, readers, 1, bound, &any, error);
  if (status || !any) { return status; }
  search search = {.holds = out, .vfs = vfs, .readers = readers, .end = bound, .error = error};
  pks_vfs_file folder = PKS_VFS_NO_FILE;
  int failure = pks__vfs_open(vfs, store->root, PKS__INDEX_FOLDER, PKS_VFS_OPEN_FOLDER, &folder);
  if (!failure) {
    failure = pks__vfs_list(vfs, folder, visit, &search);
    pks__vfs_close(vfs, folder);
  }
  return failure ? pks__fail_system(error, failure, "cannot list", PKS__INDEX_FOLDER) : search.status;
}
