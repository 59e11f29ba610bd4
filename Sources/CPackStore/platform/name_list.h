/// The names in a folder, listed at once, so that the folder may change while one goes through them.
#ifndef PKS_PLATFORM_NAME_LIST_H
#define PKS_PLATFORM_NAME_LIST_H

#include "platform/scratch.h"

typedef struct pks__name_list {
  pks__scratch names;  ///< NUL-terminated, back to back
} pks__name_list;

/// Lists a folder. A folder that is not there is empty. Free the list also after an error.
pks_status pks__name_list_read(
  pks__name_list *out, const pks_vfs *vfs, pks_vfs_file root, const char *path, pks_error *error
);
void pks__name_list_free(pks__name_list *list);  ///< a zeroed one is fine

/// The next name, on loan from the list; NULL after the last. Begin with `*at` 0.
const char *pks__name_list_next(const pks__name_list *list, uint64_t *at);

#endif
