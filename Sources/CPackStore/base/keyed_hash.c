#include "base/keyed_hash.h"

typedef struct state {
  uint64_t a, b, c, d;
} state;

static uint64_t rotate(uint64_t value, unsigned bits) { return value << bits | value >> (64 - bits); }

static inline void mix(state *s) {
  s->a += s->b;
  s->b = rotate(s->b, 13) ^ s->a;
  s->a = rotate(s->a, 32);
  s->c += s->d;
  s->d = rotate(s->d, 16) ^ s->c;
  s->a += s->d;
  s->d = rotate(s->d, 21) ^ s->a;
  s->c += s->b;
  s->b = rotate(s->b, 17) ^ s->c;
  s->c = rotate(s->c, 32);
}

static inline void take(state *s, uint64_t word) {
  s->d ^= word;
  mix(s);
  s->a ^= word;
}

uint64_t pks__keyed_hash(const pks__hash_key *key, const void *bytes, size_t byte_count) {
  state s = {
    .a = key->words[0] ^ 0x736f6d6570736575u,
    .b = key->words[1] ^ 0x646f72616e646f6du,
    .c = key->words[0] ^ 0x6c7967656e657261u,
    .d = key->words[1] ^ 0x7465646279746573u,
  };
  const uint8_t *next = bytes;
  size_t left = byte_count;
  for (; left >= sizeof(pks_le64); next += sizeof(pks_le64), left -= sizeof(pks_le64)) {
    pks_le64 word;
    memcpy(&word, next, sizeof word);
    take(&s, pks__get64(word));
  }
  uint64_t last = (uint64_t)byte_count << 56;
  for (size_t i = 0; i < left; i++) { last |= (uint64_t)next[i] << (8 * i); }
  take(&s, last);
  s.c ^= 0xff;
  for (unsigned i = 0; i < 3; i++) { mix(&s); }
  return s.a ^ s.b ^ s.c ^ s.d;
}
