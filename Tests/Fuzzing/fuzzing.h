/// What the fuzz targets share. Each file of `Targets` is one target: it takes bytes, makes of them what one decoder of
/// the core reads, and calls all that the decoder offers. Sums are put right on the way where the input asks for it
/// (its first byte, mostly): without that nothing would get past them.
///
/// A target asserts what must hold whatever the bytes are (FUZZ_ASSERT). Sanitizers and libFuzzer's limits see the rest:
/// reads past the end, overflows, leaks, hangs, and memory beyond the limit.
#ifndef PACKSTORE_FUZZING_H
#define PACKSTORE_FUZZING_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../CPackStoreTesting/include/CPackStoreInternals.h"
#include "../CPackStoreTesting/include/CPackStoreTesting.h"
#include "CPackHash.h"
#include "segment/frames.h"

#define FUZZ_ASSERT(condition)                                                                                         \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      (void)fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition);                             \
      abort();                                                                                                         \
    }                                                                                                                  \
  } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count);
int LLVMFuzzerInitialize(int *count, char ***arguments);

// MARK: Input

/// Bytes that are used up from the front; zeros after the end.
typedef struct fuzz_input {
  const uint8_t *next;
  size_t left;
} fuzz_input;

uint64_t fuzz_take(fuzz_input *input, size_t byte_count);  ///< a little-endian number of at most 8 bytes
/// At most `byte_count` bytes, fewer at the end.
const uint8_t *fuzz_take_bytes(fuzz_input *input, size_t byte_count, size_t *got);

/// A copy in a block of exactly this size, so that the sanitizer sees who reads past the end.
uint8_t *fuzz_copy(const void *bytes, size_t byte_count);

// MARK: One file

/// A disk with one file, which every path means. Reading, mapping and writing it in place work; nothing else is there.
typedef struct fuzz_file {
  uint8_t *bytes;
  size_t length;
} fuzz_file;
pks_vfs fuzz_vfs(fuzz_file *file);

// MARK: Sums

/// The file of a table: `front` padded to whole pages, then `body` padded likewise, sums and trailer. The caller frees it.
fuzz_file fuzz_table_file(
  pks__table_kind kind, const uint8_t *front, size_t front_length, const uint8_t *body, size_t body_length
);

/// Puts right the sums of a file, as far as its other bytes make sense. The first sums stored bytes of a segment's frames,
/// which its rows hold; the second the pages and the trailer of any table.
void fuzz_sum_frames(uint8_t *segment, size_t length);
void fuzz_sum_table(uint8_t *file, size_t length);
void fuzz_sum_generation(uint8_t *file, size_t length);
void fuzz_sum_control(uint8_t *file, size_t length);

// MARK: Pages

/// Pages of trees in the input: 4 bytes, with which the page's id begins, le16 length, and the page.
typedef struct fuzz_pages {
  const uint8_t *bytes;
  size_t length;
} fuzz_pages;
pks__page_source fuzz_page_source(fuzz_pages *pages);
bool fuzz_first_page(const fuzz_pages *pages, pks__id *id);

// MARK: Stores

/// A disk with a small store in "/store" that holds something of everything: packs that hide each other, older versions,
/// links, empty folders, map assets, long lists of chunks, several runs. Kind 0 to FUZZ_STORE_KINDS - 1. The core makes it.
enum { FUZZ_STORE_KINDS = 3 };
sim_disk *fuzz_make_store(unsigned kind);
pks_store *fuzz_open_store(sim_disk *disk);
/// "Example", of which kind 1 has two versions: its index, and a third version with all files as map assets.
uint32_t fuzz_find_pack(const pks_snapshot *snapshot);
void fuzz_map_files(sim_disk *disk);

/// Opens "/store" and does everything that the public interface offers: walks, look-ups, reads in each way, statistics,
/// differences, verification, and a commit on top when `writes`. Errors do not end it.
void fuzz_use_store(sim_disk *disk, bool writes);

#endif
