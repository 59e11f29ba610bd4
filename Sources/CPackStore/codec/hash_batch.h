/// Hashing many messages by one call of the caller's batch function (`pks_options.sha256_many`).
///
/// A batch collects messages, and hashes them when it is full and when it is flushed. A check collects messages with
/// their expected digests. Both have a fixed size and live on the stack of one thread; they neither allocate nor fail.
/// The bytes of a message must remain unchanged until the flush.
#ifndef PKS_CODEC_HASH_BATCH_H
#define PKS_CODEC_HASH_BATCH_H

#include "base/base.h"
#include "packstore_read.h"

enum {
  PKS__DIGEST_SIZE = 32,
  /// Messages per call: the chunks of a block of an ingest (1 MiB), if they have the default average of 8 KiB.
  PKS__HASH_BATCH_MAX = 128,
};

typedef struct pks__hash_batch {
  pks_sha256 *sha256;
  pks_sha256_many *sha256_many;  ///< NULL: messages are hashed one by one
  uint32_t count;
  pks_message messages[PKS__HASH_BATCH_MAX];
} pks__hash_batch;

/// Starts an empty batch. `sha256_many` may be NULL.
void pks__hash_batch_begin(pks__hash_batch *batch, pks_sha256 *sha256, pks_sha256_many *sha256_many);
/// Adds a message. `digest` has room for 32 bytes, which are written by the next flush at the latest.
void pks__hash_batch_add(pks__hash_batch *batch, const void *bytes, size_t byte_count, uint8_t *digest);
/// Hashes all messages that were added. The batch is empty afterwards, and can be used again.
void pks__hash_batch_flush(pks__hash_batch *batch);

typedef struct pks__hash_check {
  pks__hash_batch batch;
  bool differs;  ///< a message that was hashed has another digest than expected
  const uint8_t *expected[PKS__HASH_BATCH_MAX];
  uint8_t digests[PKS__HASH_BATCH_MAX][PKS__DIGEST_SIZE];
} pks__hash_check;

/// Starts an empty check. `sha256_many` may be NULL.
void pks__hash_check_begin(pks__hash_check *check, pks_sha256 *sha256, pks_sha256_many *sha256_many);
/// Adds a message and its expected digest, which must remain unchanged until the end of the check.
void pks__hash_check_add(pks__hash_check *check, const void *bytes, size_t byte_count, const uint8_t *expected);
/// Whether every message that was added has the expected digest. The check is empty afterwards.
bool pks__hash_check_end(pks__hash_check *check);

/// Whether both functions compute the same digests of fixed messages, in batches of 1 to 17. Hashes
/// 257 blocks of 64 bytes in total.
bool pks__hash_functions_agree(pks_sha256 *sha256, pks_sha256_many *sha256_many);

#endif
