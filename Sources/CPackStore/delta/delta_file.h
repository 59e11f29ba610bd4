/// A delta being read: its header, and its stored blocks.
///
/// One thread at a time reads; any thread may check the bytes read.
#ifndef PKS_DELTA_DELTA_FILE_H
#define PKS_DELTA_DELTA_FILE_H

#include "delta/delta.h"
#include "platform/scratch.h"

typedef struct pks__delta_file {
  pks_delta_source source;
  pks_sha256 *sha256;
  pks__scratch bytes;  ///< the header's
  pks__delta_header header;
  pks__scratch rows;               ///< pks__delta_block, of a short delta
  const pks__delta_block *blocks;  ///< in `bytes` or `rows`: parts of the description, then groups
  pks__id digest;                  ///< digest of the header
  pks__id attributes;              ///< attributes of the new version; zero: none
  uint64_t length;                 ///< length of the header and all blocks
} pks__delta_file;

/// Reads and checks the header. `home` may be NULL. To be closed, also after an error. Errors: CORRUPT, NEWER_FORMAT,
/// IO_ERROR, NO_SPACE, OUT_OF_MEMORY.
pks_status pks__delta_file_open(
  pks__delta_file *out, const pks_delta_source *source, pks_sha256 *sha256, pks__scratch_folder *home, pks_error *error
);
void pks__delta_file_close(pks__delta_file *file);

/// Reads the stored bytes of a block, which must not be used before they are checked. CORRUPT when the file ends before.
pks_status pks__delta_file_read(
  const pks__delta_file *file, const pks__delta_block *block, uint64_t offset, uint8_t *out, pks_error *error
);
/// CORRUPT unless these are the bytes of the block at `offset`.
pks_status pks__delta_file_check(
  const pks__delta_file *file, const pks__delta_block *block, uint64_t offset, const uint8_t *stored, pks_error *error
);
/// Returns CORRUPT for an invalid block.
pks_status pks__delta_file_bad_block(const pks__delta_file *file, uint64_t offset, pks_error *error);

/// Appends the whole description to `out`. Errors: CORRUPT, IO_ERROR, NO_SPACE, OUT_OF_MEMORY.
pks_status pks__delta_file_describe(const pks__delta_file *file, pks__scratch *out, pks_error *error);

/// Fills in the public description.
void pks__delta_file_tell(const pks__delta_file *file, pks_delta_info *out);

/// Returns the offset of the first group in the file.
uint64_t pks__delta_file_groups(const pks__delta_file *file);

#endif
