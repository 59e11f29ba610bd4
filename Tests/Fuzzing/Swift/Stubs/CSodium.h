// Replaces libsodium when decoders are fuzzed: signatures are cheap to make and prove nothing.
#ifndef CSODIUM_STUB_H
#define CSODIUM_STUB_H

#include <string.h>

static inline int sodium_init(void) { return 0; }

/// The public key is the seed with another first byte, so it is never all zeros.
static inline int crypto_sign_ed25519_seed_keypair(
  unsigned char *public_key, unsigned char *expanded, const unsigned char *seed
) {
  memcpy(public_key, seed, 32);
  public_key[0] = 1;
  memcpy(expanded, seed, 32);
  memcpy(expanded + 32, public_key, 32);
  return 0;
}

static inline int crypto_sign_ed25519_detached(
  unsigned char *signature, unsigned long long *byte_count, const unsigned char *message,
  unsigned long long message_byte_count, const unsigned char *expanded
) {
  (void)byte_count, (void)message, (void)message_byte_count, (void)expanded;
  memset(signature, 0, 64);
  signature[0] = 2;
  return 0;
}

/// Accepts every signature whose first byte is 2.
static inline int crypto_sign_ed25519_verify_detached(
  const unsigned char *signature, const unsigned char *message, unsigned long long message_byte_count,
  const unsigned char *public_key
) {
  (void)message, (void)message_byte_count, (void)public_key;
  return signature[0] == 2 ? 0 : -1;
}

#endif
