/// The short form of a delta: one header that contains the blocks.
///
/// Purpose. Most of a delta of a few changes is its header: fixed numbers, and a SHA-256 for each block. In the short form the
/// numbers are varints, and blocks have no digests: the SHA-256 of the header, which is signed, covers them. So a receiver needs
/// one request.
///
/// The header ends with its XXH3, because an unsigned delta in a file has nothing else to detect damage before it is decoded.
#ifndef PKS_DELTA_DELTA_SHORT_H
#define PKS_DELTA_DELTA_SHORT_H

#include "delta/delta.h"
#include "platform/scratch.h"

#define PKS__DELTA_SHORT_MAGIC "PKSDELT1"

enum {
  PKS__DELTA_SHORT_MIN = 173,        ///< bytes; roots accept no shorter header
  PKS__DELTA_SHORT_MAX = 16 * 1024,  ///< bytes
};

/// Whether the blocks of a delta are in its header.
static inline bool pks__delta_is_short(const pks__delta_header *header) {
  return header->blocks_offset < header->length;
}

/// Writes a whole delta in the short form. `stored` is the stored bytes of all blocks, in order. Sets `header->length` and
/// `header->blocks_offset`. `*fits` is false, and `out` is of no use, if the delta is too long for the form.
/// Errors: NO_SPACE, IO_ERROR, OUT_OF_MEMORY.
pks_status pks__delta_put_short(
  pks__delta_header *header, const pks__delta_block *blocks, const uint8_t *stored, uint64_t stored_length,
  pks__scratch *out, bool *fits, pks_error *error
);

/// Reads a short delta of `length` bytes, at least `PKS__DELTA_SHORT_MIN`. Appends the rows of the blocks to `rows`, with digests
/// of zeros. `*fits` is false if its sum is wrong, or if its fields or blocks do not fill it; the values are not checked further.
/// Errors: NO_SPACE, IO_ERROR, OUT_OF_MEMORY.
pks_status pks__delta_read_short(
  const uint8_t *bytes, uint32_t length, pks__delta_header *out, pks__scratch *rows, bool *fits, pks_error *error
);

#endif
