/// XXH3: guards against rot and fills hash tables. It is never proof of identity: whoever can choose the bytes can
/// choose the sum. The only file that includes `xxhash.h`.
#ifndef PKS_CHECKSUM_H
#define PKS_CHECKSUM_H

#include "base.h"

/// XXH3-64, seed 0.
uint64_t pks__checksum(const void *bytes, size_t byte_count);

#endif
