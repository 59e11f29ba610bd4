/// Names that were chosen to share a place, as the author of a hostile pack would: by trying.
#ifndef CHOSEN_NAMES_H
#define CHOSEN_NAMES_H

#include "index/path_hash.h"

/// What the names are to share: the first of `bucket_count` buckets. In C, because most names that are tried are none.
typedef struct chosen_names {
  const pks__path_hasher *hasher;  ///< of a store whose key is known; NULL: XXH3 without a secret
  uint32_t salt;                   ///< of the run; without a hasher there is none
  uint64_t bucket_count;
  uint64_t next;  ///< number of the next name to try
} chosen_names;

/// The next such name: 16 digits.
void chosen_names_next(chosen_names *names, char out[17]);

#endif
