/// SipHash-1-3: the hash of all tables in memory whose keys come from outside.
///
/// Under a key that the author of a pack or a site does not know, the positions of the keys that they choose are as
/// good as random, so that no choice makes a table slow. A key is drawn when a store opens and never leaves the
/// process. It is not what paths of the index are found by (`path_hash.h`), and no proof of identity.
#ifndef PKS_BASE_KEYED_HASH_H
#define PKS_BASE_KEYED_HASH_H

#include "base/bytes.h"

typedef struct pks__hash_key {
  uint64_t words[2];
} pks__hash_key;

uint64_t pks__keyed_hash(const pks__hash_key *key, const void *bytes, size_t byte_count);

#endif
