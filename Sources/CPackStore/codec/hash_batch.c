#include "codec/hash_batch.h"

#include <string.h>

// MARK: - Batch

void pks__hash_batch_begin(pks__hash_batch *batch, pks_sha256 *sha256, pks_sha256_many *sha256_many) {
  // The messages are not cleared: `count` of them are valid.
  batch->sha256 = sha256;
  batch->sha256_many = sha256_many;
  batch->count = 0;
}

void pks__hash_batch_add(pks__hash_batch *batch, const void *bytes, size_t byte_count, uint8_t *digest) {
  if (batch->count == PKS__HASH_BATCH_MAX) { pks__hash_batch_flush(batch); }
  batch->messages[batch->count++] = (pks_message){.bytes = bytes, .byte_count = byte_count, .digest = digest};
}

void pks__hash_batch_flush(pks__hash_batch *batch) {
  // One message has nothing to overlap with.
  if (batch->sha256_many && batch->count > 1) {
    batch->sha256_many(batch->messages, batch->count);
  } else {
    for (uint32_t i = 0; i < batch->count; i++) {
      const pks_message *message = &batch->messages[i];
      batch->sha256(message->bytes, message->byte_count, message->digest);
    }
  }
  batch->count = 0;
}

// MARK: - Check

static void compare(pks__hash_check *check) {
  uint32_t count = check->batch.count;
  pks__hash_batch_flush(&check->batch);
  for (uint32_t i = 0; i < count; i++) {
    if (memcmp(check->digests[i], check->expected[i], PKS__DIGEST_SIZE) != 0) { check->differs = true; }
  }
}

void pks__hash_check_begin(pks__hash_check *check, pks_sha256 *sha256, pks_sha256_many *sha256_many) {
  pks__hash_batch_begin(&check->batch, sha256, sha256_many);
  check->differs = false;
}

void pks__hash_check_add(pks__hash_check *check, const void *bytes, size_t byte_count, const uint8_t *expected) {
  if (check->batch.count == PKS__HASH_BATCH_MAX) { compare(check); }
  uint32_t index = check->batch.count;
  check->expected[index] = expected;
  pks__hash_batch_add(&check->batch, bytes, byte_count, check->digests[index]);
}

bool pks__hash_check_end(pks__hash_check *check) {
  compare(check);
  bool matches = !check->differs;
  check->differs = false;
  return matches;
}

// MARK: - Comparison of both functions

bool pks__hash_functions_agree(pks_sha256 *sha256, pks_sha256_many *sha256_many) {
  // Lengths around the ends of blocks (64 bytes) and of the padding (55 and 56), in no order, so that lanes end at
  // different times. Long ones are last, because fewer batches contain them. Messages overlap, which is allowed.
  static const uint8_t lengths[] = {3, 64, 0, 55, 1, 56, 17, 120, 31, 63, 8, 119, 40, 127, 22, 200, 33};
  enum { COUNT = PKS_COUNT_OF(lengths), STEP = 3, LENGTH_MAX = 200 };
  uint8_t bytes[LENGTH_MAX + STEP * COUNT];
  uint8_t expected[COUNT][PKS__DIGEST_SIZE], found[COUNT][PKS__DIGEST_SIZE];
  pks_message messages[COUNT];
  memset(found, 0, sizeof found);
  for (size_t i = 0; i < sizeof bytes; i++) { bytes[i] = (uint8_t)(i * 167 + (i >> 3)); }
  for (size_t i = 0; i < COUNT; i++) {
    messages[i] = (pks_message){.bytes = bytes + STEP * i, .byte_count = lengths[i], .digest = found[i]};
    sha256(messages[i].bytes, messages[i].byte_count, expected[i]);
  }
  for (size_t count = 1; count <= COUNT; count++) {
    // Digests that the call must not write differ from the expected ones.
    for (size_t i = 0; i < COUNT; i++) { found[i][0] = (uint8_t)~expected[i][0]; }
    sha256_many(messages, count);
    for (size_t i = 0; i < COUNT; i++) {
      bool is_same = memcmp(found[i], expected[i], PKS__DIGEST_SIZE) == 0;
      if (is_same != (i < count)) { return false; }
    }
  }
  return true;
}
