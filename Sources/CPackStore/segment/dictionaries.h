/// Dictionaries in the form for decoders: read, checked and built once, then shared by all decoders.
///
/// Definitions
///   stored      in segments: encoded like a frame, each segment with a copy of its own.
///   loaded      in memory, with zstd's tables.
///   remembered  loaded, and kept while it is not in use.
///
/// Invariants
///   1. A dictionary is found by the SHA-256 of its bytes only if they match it: a segment of another author may contain anything
///      under an id. Without SHA-256 (a store open for reading only) a dictionary serves only its own segment.
///   2. All pools of a process together remember at most PKS__DICTIONARIES_BYTES; others are loaded for each use. The dictionaries
///      used longest ago are freed first.
///   3. A dictionary in use is never freed.
///
/// Threads: any number at once; the mutex is not held while a dictionary is read.
#ifndef PKS_SEGMENT_DICTIONARIES_H
#define PKS_SEGMENT_DICTIONARIES_H

#include "codec/codec.h"
#include "segment/segment.h"

enum {
  PKS__DICTIONARIES_BYTES = 8 * 1024 * 1024,  ///< of content, rooms to decode to, and tables, in a process
  PKS__DICTIONARIES_REMEMBERED = 64,          ///< by a pool
};

/// A stored dictionary, in the form for a writer that copies it to a segment.
typedef struct pks__stored_dictionary {
  pks__id id;  ///< SHA-256 of its raw bytes
  uint32_t codec, stored_length, raw_length;
  const uint8_t *stored;  ///< NULL: a hole is to be left
} pks__stored_dictionary;

typedef struct pks__loaded_dictionary pks__loaded_dictionary;

typedef struct pks__dictionaries {
  pks__mutex *mutex;
  pks_sha256 *sha256;  ///< NULL: not available
  pks__loaded_dictionary *remembered[PKS__DICTIONARIES_REMEMBERED];
  uint64_t uses;
  /// Searches an intact copy of a damaged dictionary: sets `*found`, and copies its bytes to `out`. NULL: no other copies are
  /// known. Set before the first use.
  pks_status (*find_other
  )(void *context, const pks__segment_dictionary *wanted, uint8_t *out, bool *found, pks_error *error);
  void *find_context;
} pks__dictionaries;

pks_status pks__dictionaries_open(pks__dictionaries *out, pks_sha256 *sha256, pks_error *error);
/// None is in use any more. A zeroed one is fine.
void pks__dictionaries_close(pks__dictionaries *dictionaries);

/// Decodes a frame of a segment that is not raw: its stored bytes, which were checked, to `raw`, with the dictionary of its codec,
/// if any. `*decodes` is false if they are not such a frame. Errors: those of reading the dictionary; CORRUPT if it does not match
/// the segment, or is not a dictionary.
pks_status pks__dictionaries_decode_frame(
  pks__dictionaries *dictionaries, pks__decoder *decoder, pks__segment *segment, const pks__frame_ref *frame,
  const uint8_t *stored, uint8_t *raw, bool *decodes, pks_error *error
);
/// Decodes a frame with a dictionary whose stored bytes are in memory. Requires SHA-256. The dictionary's bytes are used only while
/// no dictionary with that id is loaded. Errors refer to it by `name`.
pks_status pks__dictionaries_decode_with(
  pks__dictionaries *dictionaries, pks__decoder *decoder, const pks__stored_dictionary *dictionary, const char *name,
  const uint8_t *stored, uint32_t stored_length, uint8_t *raw, uint32_t raw_length, bool *decodes, pks_error *error
);

/// Reads a segment's copy as it is stored, to be copied along with frames of `codec`: its sum is checked, its id is not
/// (`pks__stored_dictionary_check`). The bytes are in `bytes`, which is emptied first.
pks_status pks__stored_dictionary_read(
  pks__segment *segment, uint32_t codec, pks__scratch *bytes, pks__stored_dictionary *out, pks_error *error
);

/// Whether stored bytes decode to the dictionary with their id. A loaded dictionary proves nothing about other copies.
pks_status pks__stored_dictionary_check(
  const pks__stored_dictionary *stored, pks_sha256 *sha256, bool *is_it, pks_error *error
);

/// Decodes the stored bytes of a dictionary to `out`, of `raw_length` bytes. `*decodes` is false when they are not encoded so.
pks_status pks__dictionary_decode(
  uint32_t codec, const void *stored, uint32_t stored_length, uint8_t *out, uint32_t raw_length, bool *decodes,
  pks_error *error
);

#endif
