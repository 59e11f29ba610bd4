/// LZVN, the coding of small blocks in LZFSE.
#ifndef PKA_LZVN_H
#define PKA_LZVN_H

#include "bytes.h"

/// Decodes all of `source`, up to its end mark, and appends the result. Matches may refer to all earlier output.
bool pka__lzvn_decode(const uint8_t *source, size_t length, pka__output *out);

#endif
