/// The hash that finds paths in the index, under the path key of a store.
///
/// Every store has a random path key, so that the author of a pack cannot tell which paths share a bucket. Paths up to
/// 240 bytes are hashed with XXH3-64 and a secret of 192 bytes that follows from the key; longer ones with SipHash-1-3.
/// FORMAT.md has the derivation, `Docs/Decisions` the reason. One hash of a path serves all runs of a store.
#ifndef PKS_INDEX_PATH_HASH_H
#define PKS_INDEX_PATH_HASH_H

#include "base/keyed_hash.h"
#include "format/format.h"

enum { PKS__PATH_SECRET_SIZE = 192 };

/// Values derived from a path key. Immutable; any number of threads may use it.
typedef struct pks__path_hasher {
  uint8_t secret[PKS__PATH_SECRET_SIZE];  ///< for short paths
  pks__hash_key key;                      ///< for long ones
} pks__path_hasher;

void pks__path_hasher_init(pks__path_hasher *out, const uint8_t path_key[PKS__PATH_KEY_SIZE]);

uint64_t pks__path_hash(const pks__path_hasher *hasher, const char *path, size_t length);

#endif
