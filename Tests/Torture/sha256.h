/// SHA-256 as `pks_options.sha256` wants it, for a program without a library of cryptography.
#ifndef TORTURE_SHA256_H
#define TORTURE_SHA256_H

#include <stddef.h>
#include <stdint.h>

void sha256(const void *bytes, size_t byte_count, uint8_t digest[32]);

#endif
