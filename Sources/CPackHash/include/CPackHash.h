/// SHA-256 of one message, of a message in parts and of many messages at once, and HMAC-SHA256.
///
/// Purpose
///   PackStore identifies chunks, files and versions by SHA-256, so the hash is on the path of every add and every check. This
///   library computes it with the fastest instructions of the processor it runs on, and depends on the C library alone.
///
/// Guarantees
///   - Every function computes FIPS 180-4 SHA-256 (or RFC 2104 HMAC with it) with every implementation.
///   - No function can fail, allocates memory, makes a system call or blocks.
///   - No function reads outside the bytes of its messages or writes outside its results.
///   - Messages may have any alignment and any length below 2^61 bytes.
///   - A pointer to bytes may be NULL if its count is 0. No other pointer may be NULL, except where PKH_NULLABLE marks it.
///
/// Threads
///   All functions are reentrant. Two threads must not use the same `pkh_sha256_state` at the same time. The library's only
///   shared state is the cached list of processor features: it is atomic, and every thread computes the same value for it.
///
/// Complexity
///   Time is linear in the bytes, plus one or two blocks of 64 bytes per message. Each call uses a fixed amount of stack: 1 KiB,
///   or 8 KiB in `pkh_sha256_many`.
///
/// Example
///
///     uint8_t digest[PKH_SHA256_SIZE];
///     pkh_sha256("abc", 3, digest);
///
///     pkh_sha256_state state;
///     pkh_sha256_init(&state);
///     while ((byte_count = read_part(part)) > 0) { pkh_sha256_update(&state, part, byte_count); }
///     pkh_sha256_final(&state, digest);
///
///     pkh_message messages[2] = {{chunk[0], size[0], digests[0]}, {chunk[1], size[1], digests[1]}};
///     pkh_sha256_many(messages, 2);
///
/// Source
///   FIPS 180-4 (Secure Hash Standard), RFC 2104 and RFC 4231 (HMAC). `Docs/Decisions` records how the implementation for a
///   processor was chosen, with measurements.
#ifndef CPACKHASH_H
#define CPACKHASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Clang checks these marks, and Swift imports optionals by them. To other compilers they are empty.
#if defined(__has_feature)
  #if __has_feature(nullability) && __has_feature(assume_nonnull)
    #define PKH_NULLABLE _Nullable
    #define PKH_NONNULL _Nonnull
    #define PKH_ASSUME_NONNULL_BEGIN                                                                                   \
      _Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Wnullability-extension\"")                 \
        _Pragma("clang assume_nonnull begin")
    #define PKH_ASSUME_NONNULL_END _Pragma("clang assume_nonnull end") _Pragma("clang diagnostic pop")
  #endif
#endif
#if !defined(PKH_NULLABLE)
  #define PKH_NULLABLE
  #define PKH_NONNULL
  #define PKH_ASSUME_NONNULL_BEGIN
  #define PKH_ASSUME_NONNULL_END
#endif

#ifdef __cplusplus
extern "C" {
#endif

PKH_ASSUME_NONNULL_BEGIN

enum {
  PKH_SHA256_SIZE = 32,        ///< bytes of a digest
  PKH_SHA256_BLOCK_SIZE = 64,  ///< bytes of a block, the unit in which SHA-256 processes a message
};

/// A way to compute SHA-256: see "Implementations" below.
typedef struct pkh_implementation pkh_implementation;

// MARK: - One message

/// Computes the digest of `byte_count` bytes.
void pkh_sha256(const void *PKH_NULLABLE bytes, size_t byte_count, uint8_t digest[PKH_NONNULL PKH_SHA256_SIZE]);

// MARK: - A message in parts

/// A digest in progress. The caller owns it, on the stack or in another struct: it needs no clean-up, and a copy of it continues
/// independently of the original. The fields are private.
typedef struct pkh_sha256_state {
  const pkh_implementation *PKH_NULLABLE implementation;  // NULL only before `pkh_sha256_init`, in a zeroed struct
  uint64_t byte_count;                                    // bytes received so far
  uint32_t words[8];                                      // the digest of all whole blocks so far
  uint8_t block[PKH_SHA256_BLOCK_SIZE];  // the first byte_count % 64 bytes: received, and not in `words` yet
} pkh_sha256_state;

/// Starts a digest. The earlier content of `state` is ignored.
void pkh_sha256_init(pkh_sha256_state *state);

/// Appends `byte_count` bytes to the message.
void pkh_sha256_update(pkh_sha256_state *state, const void *PKH_NULLABLE bytes, size_t byte_count);

/// Stores the digest of all bytes appended since `pkh_sha256_init`. Afterwards `state` must be started again or discarded. To
/// read a digest and continue, call this on a copy.
void pkh_sha256_final(pkh_sha256_state *state, uint8_t digest[PKH_NONNULL PKH_SHA256_SIZE]);

// MARK: - Many messages

/// A message, and where to store its digest.
typedef struct pkh_message {
  const void *PKH_NULLABLE bytes;
  size_t byte_count;
  uint8_t *digest;  ///< PKH_SHA256_SIZE bytes, overlapping no message and no other digest
} pkh_message;

/// Computes the digests of `count` independent messages. With several messages in flight this is up to several times as fast as
/// one call of `pkh_sha256` for each: lengths may differ, and when a message ends the next one takes its place. Messages start in
/// the order given. If one message is much longer than the others, put it first: at the end it would run alone, at the speed of
/// `pkh_sha256`.
void pkh_sha256_many(const pkh_message *PKH_NULLABLE messages, size_t count);

// MARK: - HMAC

/// Computes HMAC-SHA256 (RFC 2104) of `byte_count` bytes under a key of any length. `mac` may overlap neither. The copy of the
/// key is erased before it returns; words derived from it may remain on the stack. Compare received codes in constant time: this
/// library does not compare.
void pkh_hmac_sha256(
  const void *PKH_NULLABLE key, size_t key_byte_count, const void *PKH_NULLABLE bytes, size_t byte_count,
  uint8_t mac[PKH_NONNULL PKH_SHA256_SIZE]
);

// MARK: - Implementations

// The functions above use `pkh_implementation_selected`. Tests and benchmarks list all implementations and pass one explicitly;
// no call changes the implementation of other calls.

/// Returns the implementation at `index` among those compiled for this architecture, or NULL if `index` is past the last one.
/// The first is portable C, which every processor supports.
const pkh_implementation *PKH_NULLABLE pkh_implementation_at(size_t index);

/// Returns the implementation that the functions above use on this processor. It depends on how this library was built, too:
/// without optimization, implementations that are slow then are not used.
const pkh_implementation *pkh_implementation_selected(void);

/// Returns a short name, such as "portable" or "avx512-x16+sha-x2".
const char *pkh_implementation_name(const pkh_implementation *implementation);

/// Whether this processor, and the operating system's handling of its registers, support the implementation. Running an
/// unsupported implementation ends the process with an illegal instruction.
bool pkh_implementation_is_supported(const pkh_implementation *implementation);

/// Returns the number of messages that `pkh_sha256_many_by` advances at once: 1 if it computes one message after another.
size_t pkh_implementation_lane_count(const pkh_implementation *implementation);

/// Whether this processor has instructions for SHA-256 that this library uses.
bool pkh_processor_has_sha256(void);

/// `pkh_sha256` by a supported implementation.
void pkh_sha256_by(
  const pkh_implementation *implementation, const void *PKH_NULLABLE bytes, size_t byte_count,
  uint8_t digest[PKH_NONNULL PKH_SHA256_SIZE]
);

/// `pkh_sha256_init` for a supported implementation, which `pkh_sha256_update` and `pkh_sha256_final` then use.
void pkh_sha256_init_by(const pkh_implementation *implementation, pkh_sha256_state *state);

/// `pkh_sha256_many` by a supported implementation.
void pkh_sha256_many_by(
  const pkh_implementation *implementation, const pkh_message *PKH_NULLABLE messages, size_t count
);

PKH_ASSUME_NONNULL_END

#ifdef __cplusplus
}
#endif

#endif
