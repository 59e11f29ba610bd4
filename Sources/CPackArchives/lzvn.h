/// LZVN, the code of LZFSE's small blocks.
#ifndef PKA_LZVN_H
#define PKA_LZVN_H

#include "bytes.h"

/// Decodes the whole of `source`, up to its end mark, and appends it. Matches may refer to all that was there before.
bool pka__lzvn_decode(const uint8_t *source, size_t length, pka__output *out);

#endif
