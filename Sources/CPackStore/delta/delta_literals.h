/// The new bytes of a delta: groups are decoded ahead on all threads, chunked and hashed, and consumed in order.
///
/// Memory: a few groups at a time, each with its stored form and its prefix, in scratch memory; their number depends on their size
/// in the header.
#ifndef PKS_DELTA_DELTA_LITERALS_H
#define PKS_DELTA_DELTA_LITERALS_H

#include "codec/chunker.h"
#include "delta/delta_copies.h"
#include "delta/delta_file.h"
#include "delta/version_list.h"
#include "platform/threads.h"

/// A chunk, on loan until the next call.
typedef struct pks__new_chunk {
  const uint8_t *bytes;
  uint32_t length;
  pks__id id;
} pks__new_chunk;

typedef struct pks__new_group pks__new_group;

typedef struct pks__delta_literals {
  const pks__delta_file *file;
  const pks__version_list *from;
  const pks__new_steps *steps;   ///< their ends are forced chunk ends
  pks_sha256_many *sha256_many;  ///< may be NULL
  pks__chunker chunker;
  pks__pool *pool;
  pks__scratch_folder *home;
  pks__frame_cache cache;  ///< of version A
  uint32_t stored_max;
  pks__new_group *groups;  ///< ring: read and not yet consumed ones, in order
  uint32_t ring_size, oldest, count;
  uint32_t next_group;     ///< to be read
  uint64_t next_offset;    ///< of its block in the file
  uint64_t next_position;  ///< of its first byte among the new bytes
  uint32_t next_chunk;     ///< of the oldest group
  pks__new_group *again;   ///< for `pks__delta_literals_read`; NULL until it is called
} pks__delta_literals;

/// All arguments must outlive it, and it must not move. Close it, also after an error. `sha256_many` may be NULL.
pks_status pks__delta_literals_open(
  pks__delta_literals *out, const pks__delta_file *file, const pks__version_list *from, const pks__new_steps *steps,
  pks_sha256_many *sha256_many, pks__pool *pool, pks__scratch_folder *home, pks_error *error
);
void pks__delta_literals_close(pks__delta_literals *bytes);  ///< a zeroed one is fine

/// The next chunk. CORRUPT after the last one, as for all that is wrong with a block.
pks_status pks__delta_literals_next(pks__delta_literals *bytes, pks__new_chunk *out, pks_error *error);

/// Copies `length` of the new bytes from `position` on, consumed or not; they must be in one group, otherwise CORRUPT. Decodes a
/// group unless it is the last requested one.
pks_status pks__delta_literals_read(
  pks__delta_literals *bytes, uint64_t position, uint8_t *out, uint32_t length, pks_error *error
);

#endif
