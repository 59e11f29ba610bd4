/// Finds the generations retained by readers, among those not collected yet.
///
/// Every user who may read a store may lock any byte of `READERS`, in any number. So the search does not walk locks, but files of
/// generations, with one system call each. Locks without a file cost nothing, and the search ends after a fixed number of files, or
/// of retained generations.
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
