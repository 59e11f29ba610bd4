/// The numbers of the generations that have a file in `index/`, whether anything refers to them or not.
#ifndef PKS_STORE_GENERATION_LIST_H
#define PKS_STORE_GENERATION_LIST_H

#include "platform/scratch.h"
#include "store/generation.h"

typedef struct pks__generation_list {
  pks__scratch numbers;  ///< uint64_t, in no order
} pks__generation_list;

/// Lists the files by their names. A folder that is not there is empty.
pks_status pks__generation_list_read(
  pks__generation_list *out, const pks_vfs *vfs, pks_vfs_file root, pks_error *error
);
void pks__generation_list_free(pks__generation_list *list);  ///< a zeroed one is fine

/// Returns the highest number below `limit` in the list; 0 if none.
uint64_t pks__generation_list_below(const pks__generation_list *list, uint64_t limit);

#endif
