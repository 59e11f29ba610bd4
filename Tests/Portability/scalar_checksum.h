/// XXH3-64 as xxHash computes it without vectors: what all ways of the core to compute it must give.
#ifndef SCALAR_CHECKSUM_H
#define SCALAR_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

uint64_t scalar_checksum(const void *bytes, size_t byte_count);

#endif
