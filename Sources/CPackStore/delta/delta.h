/// Deltas: one file that turns version A of a pack, which both sides have, into version B.
///
/// Purpose. A delta omits everything the receiver can derive. It has no chunk ids and no catalog pages. It describes which chunks
/// of A form the files of B, and contains the bytes of the chunks that A lacks; chunking and hashing these yields the catalog of B,
/// whose id is in the header. It is applied once, at installation: later reads of an asset depend on no other version.
///
/// Definitions
///   row, position  number of a chunk of A, or of a byte: files in order of paths, as if they were one (`version_list.h`)
///   description    the entries of B, relative to those of A: equal entries cost a few bits. A file is a list of steps: chunks
///                  of A, new chunks, repeated new chunks
///   new bytes      the chunks that A lacks, one after another. A step begins and ends at chunk boundaries of B, so that the
///                  chunker finds the same boundaries again
///   group          new bytes that are encoded together: whole chunks, up to a few hundred KiB
///   prefix         bytes of A that the encoder of a group may refer to: *pieces* of A, put together
///   copy           a stretch of a group that is equal to one of A: another form of a group (`delta_copies.h`)
///   cover          a stretch of a group that is kept as its difference, byte by byte, to a stretch of the prefix
///   block          part of the description, or a group, in stored form; the unit of checking
///
/// File: header, then consecutive blocks: those of the description, then the groups. `Docs/FORMAT.md` describes the layout. The
/// SHA-256 of the header identifies the delta and is signed; the header contains the SHA-256 of every block. In a short delta the
/// blocks are in the header (`delta_short.h`). The core ignores bytes after the blocks.
///
/// Hostile bytes. A header states the memory for applying, and is refused if it exceeds the limit in this file; a block is hashed
/// before it is parsed; a version with a wrong result is not staged.
#ifndef PKS_DELTA_H
#define PKS_DELTA_H

#include "codec/codec.h"
#include "format/format.h"

enum {
  PKS__DELTA_FIXED = 160,                    ///< bytes of a header before the pack's name
  PKS__DELTA_HEADER_MAX = 64 * 1024 * 1024,  ///< bytes
  PKS__DELTA_DESCRIPTION_MAX = 1 << 30,      ///< bytes, all of it
  PKS__DELTA_PART = 1024 * 1024,             ///< raw bytes of a block of the description, at most
  PKS__DELTA_GROUP = 512 * 1024,             ///< raw bytes of a group, unless a single chunk is longer
  PKS__DELTA_GROUP_COPIED = 1024 * 1024,     ///< the same if no group has a prefix
  PKS__DELTA_PREFIX_MAX = 3584 * 1024,       ///< bytes; with a group of the usual size 4 MiB
  PKS__DELTA_LISTS_MAX = 256 * 1024,         ///< bytes of a group's lists of pieces and covers
  PKS__DELTA_GROUP_CHUNKS = 4096,            ///< chunks of a group, at most
  PKS__DELTA_COPY_MIN = 8,                   ///< bytes of a group for each of its copies, at least
  PKS__DELTA_GROUP_START_MAX = 10,           ///< bytes of a group's stored form before its lists, at most
};

/// A block, as the header has it.
typedef struct pks__delta_block {
  pks_le32 stored_length;
  pks_le32 raw_length;
  pks__id digest;  ///< SHA-256 of the stored bytes
} pks__delta_block;

typedef struct pks__delta_header {
  uint32_t length;         ///< length of the header, including the blocks' rows, and the blocks of a short delta
  uint32_t blocks_offset;  ///< offset of the first block in the file: `length`, unless the delta is short
  uint32_t chunk_average;  ///< of version B
  uint32_t part_count;     ///< blocks of the description
  uint32_t group_count;    ///< blocks that are groups: they follow
  uint32_t group_max;      ///< raw bytes of the largest group
  uint32_t prefix_max;     ///< bytes of the largest prefix
  uint64_t from_number, to_number;
  pks__id from_catalog, to_catalog;
  int64_t committed_at_ns;                                       ///< of version B
  uint64_t file_count, link_count, folder_count, logical_bytes;  ///< of version B
  uint64_t new_bytes;                                            ///< raw bytes of all groups
  uint32_t attribute_byte_count;
  const uint8_t *attributes;  ///< of version B; of a header that was read, in its bytes
  char pack[PKS__PACK_NAME_MAX + 1];
} pks__delta_header;

/// The longest group that a delta of that average chunk and longest prefix may have.
uint32_t pks__delta_group_limit(uint32_t chunk_average, uint32_t prefix_max);

/// Whether names, numbers and limits of a header from outside are valid.
bool pks__delta_header_is_valid(const pks__delta_header *header);
/// Whether the rows match the header's sums and limits.
bool pks__delta_blocks_are_valid(const pks__delta_header *header, const pks__delta_block *blocks);

// MARK: - Description

/// The low bits of an operation of the description. The rest is a count of entries, or PKS__DELTA_ENTRY_... flags.
typedef enum pks__delta_op {
  PKS__DELTA_SAME = 0,   ///< that many entries of A are unchanged in B, and are not map assets there
  PKS__DELTA_GONE = 1,   ///< so many entries of A are not in B
  PKS__DELTA_OTHER = 2,  ///< the next path of A is in B with the following entry
  PKS__DELTA_ADDED = 3,  ///< a path that A lacks, and the following entry
} pks__delta_op;
enum { PKS__DELTA_OP_BITS = 2 };

enum {
  PKS__DELTA_KIND_MASK = 3,  ///< pks__record_kind
  PKS__DELTA_EXECUTABLE = 4,
  PKS__DELTA_MAPPED = 8,  ///< a map asset
};

/// The low bits of a step of a file. The rest is a count: of chunks, but of bytes for new ones.
typedef enum pks__delta_step_kind {
  PKS__DELTA_KEEP = 0,   ///< chunks of A, from a row on
  PKS__DELTA_NEW = 1,    ///< the next new bytes; stored with the number of rows of A that they replace
  PKS__DELTA_AGAIN = 2,  ///< chunks that were new before, from a number on
} pks__delta_step_kind;
enum { PKS__DELTA_STEP_BITS = 2 };

typedef struct pks__delta_step {
  pks__delta_step_kind kind;
  uint64_t first;  ///< row of A; number of the chunk among the new ones; of new bytes, where they begin among them
  uint64_t count;
} pks__delta_step;

/// A difference of two numbers as a number without a sign: small ones stay small.
static inline uint64_t pks__zigzag(uint64_t to, uint64_t from) {
  uint64_t difference = to - from;
  return difference << 1 ^ (difference >> 63 ? UINT64_MAX : 0);
}
static inline uint64_t pks__unzigzag(uint64_t value, uint64_t from) {
  return from + (value >> 1 ^ (value & 1 ? UINT64_MAX : 0));
}

// MARK: - Groups

/// A piece of A in a group's prefix.
typedef struct pks__delta_prefix_part {
  uint64_t position;
  uint32_t length;
} pks__delta_prefix_part;

/// Bytes [begin, begin + length) of a group are kept less the bytes of the prefix from `prefix` on.
typedef struct pks__delta_cover {
  uint32_t begin, length, prefix;
} pks__delta_cover;

/// The first byte of a group's stored form.
enum {
  PKS__DELTA_LISTS_ENCODED = 1,   ///< the lists are a zstd frame
  PKS__DELTA_BYTES_ENCODED = 2,   ///< the bytes are a zstd frame
  PKS__DELTA_COPIED = 4,          ///< the lists are copies, and the bytes are the literals between them
  PKS__DELTA_LITERALS_CODED = 8,  ///< the literals are coded in the list of copies, and no bytes follow
};

/// The stored form of a group, taken apart. All on loan from the stored bytes.
typedef struct pks__delta_group {
  uint8_t form;  ///< PKS__DELTA_GROUP_... flags
  uint32_t lists_raw_length, lists_stored_length;
  const uint8_t *lists;
  const uint8_t *bytes;
  size_t bytes_length;
} pks__delta_group;

/// Takes a stored group apart; false when it breaks a rule.
bool pks__delta_read_group(const uint8_t *stored, size_t stored_length, uint32_t raw_length, pks__delta_group *out);
/// Writes the start of a stored group, up to the lists. Returns its length.
size_t pks__delta_put_group_start(
  uint8_t out[PKS__DELTA_GROUP_START_MAX], uint8_t form, uint32_t lists_raw_length, uint32_t lists_stored_length
);

/// Walks untrusted lists. Pieces are inside [0, byte_count) of A and at most `prefix_max` bytes in total; covers rise and do not
/// overlap. Returns false at the end of the list; `reader.failed` is the reason.
typedef struct pks__delta_lists {
  pks__reader reader;
  uint64_t left;           ///< of the current list
  uint64_t position;       ///< after the last piece
  uint64_t total;          ///< bytes of pieces so far
  uint64_t begin, prefix;  ///< after the last cover
} pks__delta_lists;
void pks__delta_lists_begin(pks__delta_lists *out, const uint8_t *lists, size_t length);
bool pks__delta_next_piece(
  pks__delta_lists *lists, uint64_t byte_count, uint32_t prefix_max, pks__delta_prefix_part *out
);
/// Begins with the covers, once all pieces were read.
void pks__delta_begin_covers(pks__delta_lists *lists);
bool pks__delta_next_cover(pks__delta_lists *lists, uint32_t raw_length, uint64_t prefix_length, pks__delta_cover *out);
/// Whether the walk came to the end of all that there is.
bool pks__delta_lists_end(const pks__delta_lists *lists);

/// Writes lists. `room` is what `out` holds; returns the bytes used, or 0 when they do not fit.
size_t pks__delta_put_lists(
  const pks__delta_prefix_part *pieces, uint32_t piece_count, const pks__delta_cover *covers, uint32_t cover_count,
  uint8_t *out, size_t room
);

#endif
