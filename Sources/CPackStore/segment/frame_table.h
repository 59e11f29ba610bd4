/// Frame tables: the information that a client without a segment needs to fetch frames of it.
///
/// A site has one for each of its segments; a signed manifest contains its SHA-256. It contains each frame's place, its stored and
/// raw length, and the SHA-256 of its stored bytes, so that a frame is verified before it is decoded. For metadata segments it also
/// contains the page in each frame.
///
///      0  8 bytes  "PKSFRAM0"
///      8  le32     version 0
///     12  le32     kind of the segment
///     16  16 bytes segment id
///     32  le64     length of the segment file
///     40  le32     F: number of frames
///     44  le32     D: number of dictionaries
///     48  F rows of 48 bytes: le64 place (as in `pks__frame_row`), le32 stored length, le32 raw length, id SHA-256 of
///         the stored bytes
///         of a metadata segment then F ids: of the single page in each frame
///         of a data segment then D rows of 80 bytes: as above, and id SHA-256 of the raw bytes
#ifndef PKS_SEGMENT_FRAME_TABLE_H
#define PKS_SEGMENT_FRAME_TABLE_H

#include "segment/segment.h"

enum {
  PKS__FRAME_TABLE_HEADER = 48,
  PKS__FRAME_TABLE_ROW = 48,
  PKS__FRAME_TABLE_DICTIONARY = 80,
  PKS__FRAME_TABLE_MAX = 64 * 1024 * 1024,  ///< bytes
};

/// A table in memory, checked as a whole; on loan from the bytes that it was read from.
typedef struct pks__frame_table {
  pks__segment_kind kind;
  pks__segment_id segment;
  uint64_t file_length;  ///< length of the segment
  uint32_t frame_count;
  const uint8_t *rows;
  const uint8_t *pages;  ///< for a metadata segment: ids; otherwise NULL
  uint32_t dictionary_count;
  const uint8_t *dictionaries;
} pks__frame_table;

/// A frame as a table has it. Codec, lengths and place obey the rules for frames; frames do not overlap. A dictionary that the
/// codec names is one of the table's.
typedef struct pks__tabled_frame {
  uint64_t offset;  ///< in the segment file
  uint32_t stored_length;
  uint32_t raw_length;
  uint32_t codec;
  pks__id digest;  ///< SHA-256 of the stored bytes
} pks__tabled_frame;

/// A dictionary as a table has it. Codec, lengths and place obey the rules for dictionaries.
typedef struct pks__tabled_dictionary {
  uint64_t offset;  ///< in the segment file
  uint32_t stored_length;
  uint32_t raw_length;
  uint32_t codec;
  pks__id digest;  ///< SHA-256 of the stored bytes
  pks__id id;      ///< SHA-256 of the raw bytes
} pks__tabled_dictionary;

/// Checks all that bytes from anywhere can get wrong: CORRUPT, or NEWER_FORMAT. O(frames).
pks_status pks__frame_table_read(
  const void *bytes, size_t byte_count, const char *name, pks__frame_table *out, pks_error *error
);

/// Parses bytes that were checked before.
void pks__frame_table_view(const void *bytes, size_t byte_count, pks__frame_table *out);

pks__tabled_frame pks__frame_table_at(const pks__frame_table *table, uint32_t index);  ///< `index` < frame_count
pks__tabled_dictionary pks__frame_table_dictionary(const pks__frame_table *table, uint32_t number);  ///< as above
/// The page that a frame of a metadata segment holds.
const pks__id *pks__frame_table_page(const pks__frame_table *table, uint32_t index);

/// Passes the table of an open segment to `write`, piece by piece: CANCELLED if that returns false. Every frame is read and its
/// checksum is compared; at most 1 MiB or one frame is in memory. `sha256_many` may be NULL. CORRUPT if the segment contradicts
/// its own table, or no frame table can describe it.
pks_status pks__frame_table_write(
  pks__segment *segment, pks_sha256 *sha256, pks_sha256_many *sha256_many,
  bool (*write)(void *context, const void *bytes, size_t byte_count), void *context, pks_error *error
);

#endif
