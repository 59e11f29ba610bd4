/// Which generations are held by readers, of those that are not collected yet.
///
/// All users who may read a store may lock any byte of `READERS`, as many as they like. So locks are not walked: files of
/// generations are, and for each the kernel is asked one thing. What has no file costs nothing, and after a fixed number
/// of files, or of held ones, the search ends.
#ifndef PKS_STORE_READER_HOLDS_H
#define PKS_STORE_READER_HOLDS_H

#include "store/state.h"

enum { PKS__HOLDS_MAX = 32 };

typedef struct pks__reader_holds {
  uint64_t generations[PKS__HOLDS_MAX];  ///< in no order
  uint32_t count;
  bool has_more;  ///< there may be more than these
} pks__reader_holds;

/// Finds held generations below `end`. `readers` is an opening of `READERS` whose own locks do not count.
pks_status pks__reader_holds_find(
  pks__reader_holds *out, const pks_store *store, pks_vfs_file readers, uint64_t end, pks_error *error
);

#endif
