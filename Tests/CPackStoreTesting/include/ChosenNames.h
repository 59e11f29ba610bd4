/// Finds names that collide in the index by trial, as the author of a hostile pack would.
#ifndef CHOSEN_NAMES_H
#define CHOSEN_NAMES_H

#include "index/path_hash.h"

/// The search for names in the first of `bucket_count` buckets. In C, because most candidates fail.
typedef struct chosen_names {
  const pks__path_hasher *hasher;  ///< belongs to a store with a known key; NULL for XXH3 without a secret
  uint32_t salt;                   ///< salt of the run; unused without a hasher
  uint64_t bucket_count;
  uint64_t next;  ///< number of the next name to try
} chosen_names;

/// Returns the next colliding name: 16 digits.
void chosen_names_next(chosen_names *names, char out[17]);

#endif
