/// SHA-256: every implementation that this processor supports agrees with the portable one, for single messages, for parts and for
/// many messages. Messages end at the end of their memory block, so that the address sanitizer reports a read past the end.
///
/// Input: u8 count of messages, modulo 41; a le16 length for each; u8 count of parts; that many u8 lengths of parts; the bytes of
/// all messages: each message is the end of these.
#include "../fuzzing.h"
#include "CPackHash.h"

enum { COUNT_MAX = 40 };

typedef struct message_list {
  size_t count;
  pkh_message messages[COUNT_MAX];
  uint8_t expected[COUNT_MAX][PKH_SHA256_SIZE];
  uint8_t digests[COUNT_MAX][PKH_SHA256_SIZE];
} message_list;

/// Parts of these lengths in turn; the rest of the message is the last one.
static void check_parts(
  const pkh_implementation *implementation, const pkh_message *message, const uint8_t *lengths, size_t count,
  const uint8_t *expected
) {
  pkh_sha256_state state;
  const uint8_t *next = message->bytes;
  size_t left = message->byte_count;
  uint8_t digest[PKH_SHA256_SIZE];
  pkh_sha256_init_by(implementation, &state);
  for (size_t i = 0; i < count && left > 0; i++) {
    const size_t length = lengths[i] < left ? lengths[i] : left;
    pkh_sha256_update(&state, next, length);
    next += length;
    left -= length;
  }
  pkh_sha256_update(&state, next, left);
  pkh_sha256_final(&state, digest);
  FUZZ_ASSERT(memcmp(digest, expected, sizeof digest) == 0);
}

static void check(
  const pkh_implementation *implementation, message_list *list, const uint8_t *parts, size_t part_count
) {
  for (size_t i = 0; i < list->count; i++) {
    uint8_t digest[PKH_SHA256_SIZE];
    pkh_sha256_by(implementation, list->messages[i].bytes, list->messages[i].byte_count, digest);
    FUZZ_ASSERT(memcmp(digest, list->expected[i], sizeof digest) == 0);
    check_parts(implementation, &list->messages[i], parts, part_count, list->expected[i]);
  }
  memset(list->digests, 0x55, sizeof list->digests);
  pkh_sha256_many_by(implementation, list->messages, list->count);
  FUZZ_ASSERT(memcmp(list->digests, list->expected, list->count * PKH_SHA256_SIZE) == 0);
  for (size_t i = list->count; i < COUNT_MAX; i++) {
    for (size_t j = 0; j < PKH_SHA256_SIZE; j++) { FUZZ_ASSERT(list->digests[i][j] == 0x55); }
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count) {
  fuzz_input input = {bytes, byte_count};
  message_list list = {.count = fuzz_take(&input, 1) % (COUNT_MAX + 1)};
  size_t lengths[COUNT_MAX], part_count;
  for (size_t i = 0; i < list.count; i++) { lengths[i] = fuzz_take(&input, 2); }
  const uint8_t *parts = fuzz_take_bytes(&input, fuzz_take(&input, 1), &part_count);
  uint8_t *content = fuzz_copy(input.next, input.left);
  for (size_t i = 0; i < list.count; i++) {
    const size_t length = lengths[i] < input.left ? lengths[i] : input.left;
    list.messages[i] = (pkh_message){content + input.left - length, length, list.digests[i]};
    pkh_sha256_by(pkh_implementation_at(0), list.messages[i].bytes, length, list.expected[i]);
  }
  const pkh_implementation *implementation;
  for (size_t i = 0; (implementation = pkh_implementation_at(i)) != NULL; i++) {
    if (pkh_implementation_is_supported(implementation)) { check(implementation, &list, parts, part_count); }
  }
  free(content);
  return 0;
}
