/// SipHash-1-3: the hash of all tables in memory with external keys.
///
/// Under a key unknown to the author of a pack or a site, the positions of the author's keys are as good as random, so no choice
/// makes a table slow. A key is random, generated when a store opens, and never leaves the process. It is neither the hash of the
/// index (`path_hash.h`), nor proof of identity.
#ifndef PKS_BASE_KEYED_HASH_H
#define PKS_BASE_KEYED_HASH_H

#include "base/bytes.h"

typedef struct pks__hash_key {
  uint64_t words[2];
} pks__hash_key;

uint64_t pks__keyed_hash(const pks__hash_key *key, const void *bytes, size_t byte_count);

#endif
