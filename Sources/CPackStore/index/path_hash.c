#define XXH_INLINE_ALL
#include "index/path_hash.h"

#include <xxhash.h>

/// Longer inputs go another way in XXH3, in which the secret protects less.
enum { SHORT_MAX = 240 };

static uint64_t derived_word(const uint8_t path_key[PKS__PATH_KEY_SIZE], uint64_t number) {
  pks_le64 words[2];
  memcpy(words, path_key, sizeof words);
  pks__hash_key key = {{pks__get64(words[0]), pks__get64(words[1])}};
  struct {
    uint8_t rest[PKS__PATH_KEY_SIZE / 2];
    pks_le64 number;
  } message = {.number = pks__put64(number)};
  memcpy(message.rest, path_key + sizeof message.rest, sizeof message.rest);
  return pks__keyed_hash(&key, &message, sizeof message);
}

void pks__path_hasher_init(pks__path_hasher *out, const uint8_t path_key[PKS__PATH_KEY_SIZE]) {
  enum { SECRET_WORDS = PKS__PATH_SECRET_SIZE / sizeof(pks_le64) };
  for (uint64_t i = 0; i < SECRET_WORDS; i++) {
    pks_le64 word = pks__put64(derived_word(path_key, i));
    memcpy(out->secret + i * sizeof word, &word, sizeof word);
  }
  out->key = (pks__hash_key){{derived_word(path_key, SECRET_WORDS), derived_word(path_key, SECRET_WORDS + 1)}};
}

uint64_t pks__path_hash(const pks__path_hasher *hasher, const char *path, size_t length) {
  if (__builtin_expect(length > SHORT_MAX, 0)) { return pks__keyed_hash(&hasher->key, path, length); }
  return XXH3_64bits_withSecret(path, length, hasher->secret, sizeof hasher->secret);
}
