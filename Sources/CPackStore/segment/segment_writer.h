/// Writing one segment.
///
/// States: open -> sealed (the table is written, the id known) or abandoned. Frames are appended in the order in which
/// they are given; the file grows in the staging folder under a working name, and is renamed to its id by the code that
/// commits it. A dictionary that a frame needs is written before the frame, once.
#ifndef PKS_SEGMENT_SEGMENT_WRITER_H
#define PKS_SEGMENT_SEGMENT_WRITER_H

#include "format/format.h"
#include "platform/file_writer.h"
#include "platform/scratch.h"
#include "segment/dictionaries.h"

typedef struct pks__segment_writer {
  pks__file_writer file;
  pks__segment_kind kind;
  pks__scratch frames;        ///< pks__frame_row
  pks__scratch ids;           ///< pks__id
  pks__scratch ends;          ///< le32
  pks__scratch dictionaries;  ///< pks__dictionary_row
  uint64_t old_length;        ///< length of the resumed file: bytes after the frames are not this writer's
} pks__segment_writer;

/// Creates the file `path` in the scratch folder's staging.
pks_status pks__segment_writer_open(
  pks__segment_writer *out, pks__scratch_folder *home, const char *path, pks__segment_kind kind, pks_error *error
);

/// Resumes a file that is open for reading and writing, empty or left by an earlier process, and takes ownership of it.
/// `pks__segment_writer_restore` registers its existing frames; bytes after them are overwritten, at last with zeros.
pks_status pks__segment_writer_resume(
  pks__segment_writer *out, pks__scratch_folder *home, pks_vfs_file file, const char *path, pks__segment_kind kind,
  pks_error *error
);
/// Registers the frame of `row` in the file. Returns false if it cannot come next.
pks_status pks__segment_writer_restore(
  pks__segment_writer *writer, const pks__frame_row *row, const pks__id *ids, const pks_le32 *ends,
  uint32_t chunk_count, bool *fits, pks_error *error
);

/// Ensures that the segment has a dictionary, and returns its number; `*added`: it was written now, and has the last row. It needs
/// a place: fewer than PKS__DICTIONARIES_MAX dictionaries, or it already exists.
pks_status pks__segment_writer_add_dictionary(
  pks__segment_writer *writer, const pks__stored_dictionary *dictionary, uint32_t *number, bool *added, pks_error *error
);
/// Whether a dictionary exists, and its number.
bool pks__segment_writer_find_dictionary(const pks__segment_writer *writer, const pks__id *id, uint32_t *number);
uint32_t pks__segment_writer_dictionary_count(const pks__segment_writer *writer);
const pks__dictionary_row *pks__segment_writer_dictionary_row(const pks__segment_writer *writer, uint32_t number);
/// Registers the dictionary of `row` in the file. Returns false if it cannot come next.
pks_status pks__segment_writer_restore_dictionary(
  pks__segment_writer *writer, const pks__dictionary_row *row, bool *fits, pks_error *error
);

/// Appends one frame of `chunk_count` chunks: their ids, and their ends in the raw bytes. `alignment` (a power of two) applies to
/// the frame's file offset. `stored` NULL leaves a hole, which no reader mistakes for the frame. `*index` is the frame's number,
/// `*row` its recorded row.
pks_status pks__segment_writer_append(
  pks__segment_writer *writer, const void *stored, uint32_t stored_length, uint32_t codec, uint64_t alignment,
  const pks__id *ids, const uint32_t *ends, uint32_t chunk_count, pks__frame_row *row, pks_error *error
);

uint32_t pks__segment_writer_frame_count(const pks__segment_writer *writer);
uint32_t pks__segment_writer_chunk_count(const pks__segment_writer *writer);

/// Writes the table, and returns the id and the file's length. The file is flushed, not synced: the caller receives `*file`, syncs
/// and closes it. The writer is closed even on an error.
pks_status pks__segment_writer_seal(
  pks__segment_writer *writer, pks_sha256 *sha256, pks__segment_id *id, uint64_t *file_length, pks_vfs_file *file,
  pks_error *error
);

void pks__segment_writer_abandon(pks__segment_writer *writer);  ///< a zeroed or closed writer is fine

#endif
