/// Tests CPackHash in plain C, so that it runs wherever a C compiler does: natively with each compiler and the sanitizers, and
/// emulated for other processors. `Tests/CPackHashTests` has the tests against an independent implementation.
///
///     hash [SEED]      prints the tested implementations, and ends with status 1 at the first fault
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "CPackHash.h"

#define REQUIRE(condition, implementation) require((condition), #condition, implementation, __LINE__)
static uint64_t seed;
static void require(bool condition, const char *text, const pkh_implementation *implementation, int line) {
  if (condition) { return; }
  const char *name = implementation ? pkh_implementation_name(implementation) : "all";
  fprintf(stderr, "hash: line %d: %s: not true: %s; seed %" PRIu64 "\n", line, name, text, seed);
  exit(1);
}

/// splitmix64
static uint64_t random_bits(void) {
  static uint64_t state;
  if (state == 0) { state = seed; }
  uint64_t x = state += 0x9e3779b97f4a7c15;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}
static size_t random_below(size_t bound) { return (size_t)(random_bits() % bound); }

/// Lengths around block boundaries are as likely as all others.
static size_t random_length(size_t max) {
  if (random_below(2) == 0) { return random_below(max + 1); }
  const size_t length = 64 * random_below(8) + random_below(20) + 50;
  return length < max ? length : max;
}

// MARK: - Memory that ends where nothing is mapped

enum { MEMORY_SIZE = 1 << 18 };

static uint8_t *page_after_which_nothing_is(size_t byte_count) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  uint8_t *memory = mmap(NULL, byte_count + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(memory != MAP_FAILED, NULL);
  REQUIRE(munmap(memory + byte_count, page) == 0, NULL);
  for (size_t i = 0; i < byte_count; i++) { memory[i] = (uint8_t)random_bits(); }
  return memory;
}

// MARK: - Known digests

static bool is(const uint8_t digest[32], const char *hexadecimal) {
  char text[65];
  for (size_t i = 0; i < 32; i++) { snprintf(text + 2 * i, 3, "%02x", digest[i]); }
  return strcmp(text, hexadecimal) == 0;
}

static const struct {
  const char *message, *digest;
} known[] = {
  // FIPS 180-4 examples, and the empty message.
  {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
  {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
  {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
   "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
  {"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
   "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"},
};
static const char million_digest[] = "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0";

static void check_known(const pkh_implementation *implementation) {
  uint8_t digest[32];
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    pkh_sha256_by(implementation, known[i].message, strlen(known[i].message), digest);
    REQUIRE(is(digest, known[i].digest), implementation);
  }
  pkh_sha256_by(implementation, NULL, 0, digest);
  REQUIRE(is(digest, known[0].digest), implementation);

  enum { MILLION = 1000000, COPIES = 19 };
  uint8_t *million = malloc(MILLION), digests[COPIES][32];
  REQUIRE(million, implementation);
  memset(million, 'a', MILLION);
  pkh_sha256_by(implementation, million, MILLION, digest);
  REQUIRE(is(digest, million_digest), implementation);
  pkh_message messages[COPIES];
  for (size_t i = 0; i < COPIES; i++) { messages[i] = (pkh_message){million, MILLION, digests[i]}; }
  pkh_sha256_many_by(implementation, messages, COPIES);
  for (size_t i = 0; i < COPIES; i++) { REQUIRE(is(digests[i], million_digest), implementation); }
  free(million);
}

static void check_hmac(
  const char *key, size_t key_byte_count, const char *bytes, size_t byte_count, const char *expected
) {
  uint8_t mac[32];
  pkh_hmac_sha256(key, key_byte_count, bytes, byte_count, mac);
  REQUIRE(is(mac, expected), NULL);
}

/// RFC 4231, sections 4.2 to 4.8; 4.6 is a truncated code.
static void check_known_hmac(void) {
  char key[131], data[152], counting[25];
  for (size_t i = 0; i < sizeof counting; i++) { counting[i] = (char)(i + 1); }
  memset(key, 0x0b, sizeof key);
  check_hmac(key, 20, "Hi There", 8, "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  check_hmac(
    "Jefe", 4, "what do ya want for nothing?", 28, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
  );
  memset(key, 0xaa, sizeof key);
  memset(data, 0xdd, sizeof data);
  check_hmac(key, 20, data, 50, "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe");
  memset(data, 0xcd, sizeof data);
  check_hmac(counting, 25, data, 50, "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b");
  const char large_key[] = "Test Using Larger Than Block-Size Key - Hash Key First";
  check_hmac(
    key, 131, large_key, sizeof large_key - 1, "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
  );
  const char large_both[] = "This is a test using a larger than block-size key and a larger than block-size data. "
                            "The key needs to be hashed before being used by the HMAC algorithm.";
  check_hmac(
    key, 131, large_both, sizeof large_both - 1, "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"
  );
}

// MARK: - Comparison with the portable implementation

static const pkh_implementation *portable(void) { return pkh_implementation_at(0); }

/// Messages that end at the end of memory, at all alignments.
static void check_lengths(const pkh_implementation *implementation, const uint8_t *memory) {
  for (size_t i = 0; i < 300; i++) {
    const size_t length = i < 150 ? i : random_length(MEMORY_SIZE);
    const uint8_t *bytes = memory + MEMORY_SIZE - length;
    uint8_t expected[32], digest[32];
    pkh_sha256_by(portable(), bytes, length, expected);
    pkh_sha256_by(implementation, bytes, length, digest);
    REQUIRE(memcmp(digest, expected, 32) == 0, implementation);
  }
}

static void check_parts(const pkh_implementation *implementation, const uint8_t *memory) {
  for (size_t i = 0; i < 100; i++) {
    const size_t length = random_length(5000);
    const uint8_t *bytes = memory + MEMORY_SIZE - length;
    uint8_t expected[32], digest[32], digest_of_copy[32];
    pkh_sha256_by(portable(), bytes, length, expected);
    pkh_sha256_state state, copy;
    pkh_sha256_init_by(implementation, &state);
    copy = state;
    for (size_t done = 0; done < length;) {
      size_t part = random_below(random_below(2) ? 300 : 20);
      part = part < length - done ? part : length - done;
      pkh_sha256_update(&state, bytes + done, part);
      copy = state;
      done += part;
    }
    pkh_sha256_update(&state, NULL, 0);
    pkh_sha256_final(&state, digest);
    pkh_sha256_final(&copy, digest_of_copy);
    REQUIRE(memcmp(digest, expected, 32) == 0, implementation);
    REQUIRE(memcmp(digest_of_copy, expected, 32) == 0, implementation);
  }
}

static void check_many(const pkh_implementation *implementation, const uint8_t *memory) {
  enum { MAX = 40 };
  uint8_t expected[MAX][32], digests[MAX + 1][32];
  pkh_message messages[MAX];
  pkh_sha256_many_by(implementation, NULL, 0);
  for (size_t run = 0; run < 400; run++) {
    const size_t count = run <= MAX ? run : random_below(MAX + 1);
    const size_t max = random_below(8) == 0 ? 40000 : random_below(3) == 0 ? 200 : 2000;
    memset(digests, 0x55, sizeof digests);
    for (size_t i = 0; i < count; i++) {
      const size_t length = random_length(max);
      messages[i] = (pkh_message){memory + MEMORY_SIZE - length, length, digests[i]};
      pkh_sha256_by(portable(), messages[i].bytes, length, expected[i]);
    }
    pkh_sha256_many_by(implementation, messages, count);
    REQUIRE(memcmp(digests, expected, 32 * count) == 0, implementation);
    for (size_t i = 0; i < 32; i++) { REQUIRE(digests[count][i] == 0x55, implementation); }
  }
}

int main(int argument_count, char **arguments) {
  seed = argument_count > 1 ? strtoull(arguments[1], NULL, 10) : 1;
  const uint8_t *memory = page_after_which_nothing_is(MEMORY_SIZE);
  check_known_hmac();
  const pkh_implementation *implementation;
  for (size_t i = 0; (implementation = pkh_implementation_at(i)) != NULL; i++) {
    const bool is_supported = pkh_implementation_is_supported(implementation);
    const char *note = implementation == pkh_implementation_selected() ? "passed, selected" : "passed";
    if (is_supported) {
      check_known(implementation);
      check_lengths(implementation, memory);
      check_parts(implementation, memory);
      check_many(implementation, memory);
    }
    printf(
      "%s: %s\n", pkh_implementation_name(implementation), is_supported ? note : "not supported by this processor"
    );
  }
  return 0;
}
