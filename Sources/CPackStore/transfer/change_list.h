/// Change lists: the parts of catalog and layout of a version B that a version A lacks.
///
/// Purpose. Catalogs and layouts are trees of pages, so a change in each of many pages costs all of these pages. A change list
/// costs only the changes: a delta's description (`delta/delta.h`) describes how the files of B consist of chunks of A and new
/// chunks. The ids and lengths of the new chunks complete the catalog, and their places replace the layout. A tree is a function of
/// its items, so the pages of B's catalog follow from the catalog of A. No other list is needed, and no version between the two.
///
/// `Docs/FORMAT.md`, section 25, describes the bytes. They come from the network: a parsed list points into them, and is not yet
/// compared with a version.
///
/// Owner: `change_list.c`.
#ifndef PKS_TRANSFER_CHANGE_LIST_H
#define PKS_TRANSFER_CHANGE_LIST_H

#include "codec/codec.h"
#include "format/format.h"
#include "platform/scratch.h"

#define PKS__CHANGE_LIST_MAGIC "PKSCHNG0"

enum {
  PKS__CHANGE_LIST_FIXED = 136,                    ///< bytes before the attributes
  PKS__CHANGE_LIST_MAX = 4 * 1024 * 1024,          ///< bytes of a list
  PKS__CHANGE_LIST_BODY_MAX = PKS__FRAME_RAW_MAX,  ///< raw bytes of its body
  PKS__CHANGE_LIST_ROWS_MAX = 16 * 1024 * 1024,    ///< chunks of all files of B
  PKS__CHANGE_LIST_LEVEL = 12,                     ///< at which the body is encoded
};

typedef struct pks__change_list {
  uint32_t chunk_average;                                                   ///< of B
  pks__id from, to;                                                         ///< catalogs of A and B
  uint64_t file_count, link_count, folder_count, logical_bytes, new_bytes;  ///< of B
  uint32_t chunk_count;                                                     ///< new chunks
  uint32_t attribute_byte_count;
  uint32_t description_length;  ///< length of the description, the first part of the body
  uint32_t body_length;         ///< raw
  // On loan:
  const uint8_t *attributes;  ///< of B
  const pks__id *ids;         ///< ids of the new chunks
  const uint8_t *body;        ///< as it is stored, when the list was read; else raw
  size_t stored_length;       ///< stored length of the body; set by reading
} pks__change_list;

/// Takes a list apart. `name` is for messages. Errors: CORRUPT, NEWER_FORMAT.
pks_status pks__change_list_read(
  pks__change_list *out, const void *bytes, size_t byte_count, const char *name, pks_error *error
);

/// Decodes the body of a list that was read, to `out`, which is emptied first. Errors: CORRUPT, NO_SPACE, IO_ERROR,
/// OUT_OF_MEMORY.
pks_status pks__change_list_decode(
  const pks__change_list *list, pks__decoder *decoder, pks__scratch *out, const char *name, pks_error *error
);

/// Writes a list to `out`. INVALID_ARGUMENT when it would be too long.
pks_status pks__change_list_write(const pks__change_list *list, pks__scratch *out, const char *name, pks_error *error);

// MARK: - Places

/// Where a chunk or a map asset begins.
typedef struct pks__listed_place {
  uint32_t segment;  ///< its number in the manifest
  uint32_t frame;    ///< number in the segment
  uint32_t begin;    ///< among the raw bytes of the frame
} pks__listed_place;

enum { PKS__LISTED_PLACE_BYTES_MAX = 3 * PKS__VARINT_MAX };

/// Writes a place as its difference from the expected one; returns the bytes used, at most PKS__LISTED_PLACE_BYTES_MAX.
size_t pks__listed_place_put(uint8_t *out, const pks__listed_place *place, const pks__listed_place *expected);
/// Reads one. False when no place can be so; also when `reader` has failed.
bool pks__listed_place_read(pks__reader *reader, const pks__listed_place *expected, pks__listed_place *out);

#endif
