// HMAC-SHA256: RFC 2104.

#include "CPackHash.h"

#include <string.h>

/// Overwrites memory whose content must not stay on the stack. The empty assembly reads it, so that the compiler keeps the stores.
static void erase(void *bytes, size_t byte_count) {
  memset(bytes, 0, byte_count);
  __asm__ volatile("" : : "r"(bytes) : "memory");
}

/// Starts a digest with the key, every byte of it combined with `pad`.
static void init_keyed(pkh_sha256_state *state, const uint8_t key[PKH_SHA256_BLOCK_SIZE], uint8_t pad) {
  uint8_t block[PKH_SHA256_BLOCK_SIZE];
  for (size_t i = 0; i < sizeof block; i++) { block[i] = key[i] ^ pad; }
  pkh_sha256_init(state);
  pkh_sha256_update(state, block, sizeof block);
  erase(block, sizeof block);
}

void pkh_hmac_sha256(
  const void *key, size_t key_byte_count, const void *bytes, size_t byte_count, uint8_t mac[PKH_SHA256_SIZE]
) {
  // A longer key is replaced by its digest, a shorter one is extended with zeros.
  uint8_t block_key[PKH_SHA256_BLOCK_SIZE] = {0}, inner[PKH_SHA256_SIZE];
  if (key_byte_count > sizeof block_key) {
    pkh_sha256(key, key_byte_count, block_key);
  } else if (key_byte_count > 0) {
    memcpy(block_key, key, key_byte_count);
  }

  pkh_sha256_state state;
  init_keyed(&state, block_key, 0x36);
  pkh_sha256_update(&state, bytes, byte_count);
  pkh_sha256_final(&state, inner);
  init_keyed(&state, block_key, 0x5c);
  pkh_sha256_update(&state, inner, sizeof inner);
  pkh_sha256_final(&state, mac);
  erase(block_key, sizeof block_key);
  erase(&state, sizeof state);
}
