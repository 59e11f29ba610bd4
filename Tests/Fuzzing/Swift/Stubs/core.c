// Replaces the core and SHA-256 when decoders are fuzzed: the sum is cheap to compute and proves nothing.
#include <string.h>

#include "CPackHash.h"

const char *pks_status_name(unsigned status) {
  (void)status;
  return "status";
}

const char *pks_subject_name(unsigned subject) {
  (void)subject;
  return "subject";
}

const char *pks_detail_name(unsigned detail) {
  (void)detail;
  return "detail";
}

unsigned pks_draft_format(void) { return 0; }

void pkh_sha256_init(pkh_sha256_state *state) {
  memset(state, 0, sizeof *state);
  memset(state->words, 7, sizeof state->words);
}

void pkh_sha256_update(pkh_sha256_state *state, const void *bytes, size_t byte_count) {
  uint8_t *sum = (uint8_t *)state->words;
  for (size_t index = 0; index < byte_count; index++) {
    uint8_t *place = &sum[state->byte_count++ % PKH_SHA256_SIZE];
    *place = (uint8_t)(*place * 31) ^ ((const uint8_t *)bytes)[index];
  }
}

void pkh_sha256_final(pkh_sha256_state *state, uint8_t digest[PKH_SHA256_SIZE]) {
  memcpy(digest, state->words, PKH_SHA256_SIZE);
}

void pkh_sha256(const void *bytes, size_t byte_count, uint8_t digest[PKH_SHA256_SIZE]) {
  pkh_sha256_state state;
  pkh_sha256_init(&state);
  pkh_sha256_update(&state, bytes, byte_count);
  pkh_sha256_final(&state, digest);
}
