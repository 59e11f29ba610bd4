/// Blocks: pieces of the source, read and hashed by one task.
///
/// A block is a batch of small files, or a stretch of a large one. Batches are read by the worker; a large file is read
/// and cut by the thread that fills blocks, because where a chunk begins depends on where the one before ended, and
/// hashed by the worker.
///
/// Holes of a large file are not read. If a chunk begins in a hole at least as long as the longest chunk, it is the same chunk at
/// any such place: as many zeros as the chunker allows. A block may be a *run* of such chunks. They share their bytes and id, so a
/// hole costs a row for each chunk, and no work for its bytes. Boundaries and ids are the same as if the zeros were read.
#ifndef PKS_INGEST_READ_BATCH_H
#define PKS_INGEST_READ_BATCH_H

#include "codec/chunker.h"
#include "codec/hash_batch.h"
#include "ingest/folder_scan.h"
#include "platform/threads.h"

enum {
  PKS__BLOCK_SIZE = 1024 * 1024,
  PKS__BATCH_FILE_MAX = 256 * 1024,  ///< larger files are read in stretches
  PKS__BATCH_ITEMS_MAX = 512,
};

typedef struct pks__batch_chunk {
  uint32_t offset;  ///< in the block's bytes; 0 for all chunks of a run
  uint32_t length;
  bool repeats;  ///< its bytes are equal to the bytes of the chunk before
  pks__id id;
} pks__batch_chunk;

typedef struct pks__read_batch {
  pks__task task;
  const pks__folder_scan *source;
  const pks__chunker *chunker;
  pks_sha256 *sha256;
  pks_sha256_many *sha256_many;  ///< may be NULL
  uint8_t *bytes;
  uint64_t first_item;
  uint32_t item_count;    ///< 1 for a stretch
  uint32_t *item_chunks;  ///< chunks of each item
  bool is_stretch;
  bool begins_file, ends_file;  ///< for a stretch of a large file
  bool is_run;                  ///< a stretch of equal chunks, all of whose bytes are zeros
  pks__batch_chunk *chunks;
  uint32_t chunk_count, chunk_capacity;
  uint32_t byte_count;
  uint64_t source_byte_count;  ///< bytes of the source that its chunks make up: more than `byte_count` for a run
  pks_status status;
  pks_error error;
} pks__read_batch;

/// Fills blocks one after another.
typedef struct pks__batch_filler {
  const pks__folder_scan *source;
  const pks__chunker *chunker;
  uint64_t next_item;
  pks_vfs_file file;  ///< the current large file, or PKS_VFS_NO_FILE
  uint64_t offset;    ///< in it, of the next byte to read
  int64_t modified_ns;
  pks__file_holes holes;  ///< of that file
  const uint8_t *carry;   ///< bytes read but not cut yet, in the block filled last
  uint32_t carry_length;
} pks__batch_filler;

pks_status pks__read_batch_create(
  pks__read_batch **out, const pks__folder_scan *source, const pks__chunker *chunker, pks_sha256 *sha256,
  pks_sha256_many *sha256_many, pks_error *error
);
void pks__read_batch_destroy(pks__read_batch *block);

/// Prepares the next block; its task is then to be run. False in `*filled` when the source is used up. The block filled
/// before must still hold its bytes.
pks_status pks__read_batch_fill(pks__batch_filler *filler, pks__read_batch *block, bool *filled, pks_error *error);
void pks__batch_filler_close(pks__batch_filler *filler);

#endif
