/// Blocks: pieces of the source, read and hashed by one task.
///
/// A block is a batch of small files, or a stretch of a large one. Batches are read by the worker; a large file is read
/// and cut by the thread that fills blocks, because where a chunk begins depends on where the one before ended, and
/// hashed by the worker.
#ifndef PKS_BLOCK_H
#define PKS_BLOCK_H

#include "chunker.h"
#include "source.h"
#include "threads.h"

enum {
  PKS__BLOCK_SIZE = 1024 * 1024,
  PKS__BATCH_FILE_MAX = 256 * 1024,  ///< larger files are read in stretches
  PKS__BATCH_ITEMS_MAX = 512,
};

typedef struct pks__block_chunk {
  uint32_t offset;  ///< in the block's bytes
  uint32_t length;
  pks__id id;
} pks__block_chunk;

typedef struct pks__block {
  pks__task task;
  const pks__source *source;
  const pks__chunker *chunker;
  pks_sha256 *sha256;
  uint8_t *bytes;
  uint64_t first_item;
  uint32_t item_count;    ///< 1 for a stretch
  uint32_t *item_chunks;  ///< chunks of each item
  bool is_stretch;
  bool begins_file, ends_file;  ///< of a stretch
  pks__block_chunk *chunks;
  uint32_t chunk_count, chunk_capacity;
  uint32_t byte_count;
  pks_status status;
  pks_error error;
} pks__block;

/// Fills blocks one after another.
typedef struct pks__block_filler {
  const pks__source *source;
  const pks__chunker *chunker;
  uint64_t next_item;
  pks__file file;   ///< of the large file under way, or PKS__NO_FILE
  uint64_t offset;  ///< in it, of the next byte to read
  int64_t modified_ns;
  const uint8_t *carry;  ///< bytes read but not cut yet, in the block filled last
  uint32_t carry_length;
} pks__block_filler;

pks_status pks__block_create(
  pks__block **out, const pks__source *source, const pks__chunker *chunker, pks_sha256 *sha256, pks_error *error
);
void pks__block_destroy(pks__block *block);

/// Prepares the next block; its task is then to be run. False in `*filled` when the source is used up. The block filled
/// before must still hold its bytes.
pks_status pks__block_fill(pks__block_filler *filler, pks__block *block, bool *filled, pks_error *error);
void pks__block_filler_close(pks__block_filler *filler);

#endif
