/// The header of a delta as bytes, in its long form and in the short one (`delta_short.h`).
#ifndef PKS_DELTA_DELTA_HEADER_H
#define PKS_DELTA_DELTA_HEADER_H

#include "delta/delta.h"
#include "platform/scratch.h"

#define PKS__DELTA_MAGIC "PKSDELT0"

/// Writes the header in its long form, with the rows of its blocks: `part_count + group_count` of them. Sets `header->length` and
/// `header->blocks_offset`. Errors: INVALID_ARGUMENT (too many blocks), NO_SPACE, IO_ERROR, OUT_OF_MEMORY.
pks_status pks__delta_put_header(
  pks__delta_header *header, const pks__delta_block *blocks, pks__scratch *out, pks_error *error
);

/// Reads the length of a header from its first 16 bytes. Errors: CORRUPT (not a delta), NEWER_FORMAT.
pks_status pks__delta_read_length(const uint8_t first[16], const char *name, uint32_t *length, pks_error *error);

/// Reads a whole header, `bytes` of length `*length` as above. Everything is checked against the limits, and the blocks' sizes
/// against each other. `*blocks` are in `bytes`, or in `rows` if the delta is short; then their digests are zeros. `name` is for
/// messages. Errors: CORRUPT, NO_SPACE, IO_ERROR, OUT_OF_MEMORY.
pks_status pks__delta_read_header(
  const uint8_t *bytes, uint32_t length, const char *name, pks__delta_header *out, pks__scratch *rows,
  const pks__delta_block **blocks, pks_error *error
);

#endif
