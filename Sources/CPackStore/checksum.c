// The header-only build of xxHash. With clang it hashes 4 KiB in 145 ns where Debian's libxxhash takes 229 ns, at 40
// bytes they are equal, and nothing has to be found at run time. (The AVX2 dispatcher, 98 ns, is not exported
// everywhere.)

#define XXH_INLINE_ALL
#include "checksum.h"

#include <xxhash.h>

uint64_t pks__checksum(const void *bytes, size_t byte_count) { return XXH3_64bits(bytes, byte_count); }
