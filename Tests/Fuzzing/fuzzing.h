/// Shared by the fuzz targets. Each file of `Targets` is a target that converts the input to the format of one decoder
/// of the core, and calls every function of that decoder. The target corrects checksums if the input requests it,
/// usually in its first byte: without this, hardly any input would pass them.
///
/// A target asserts properties that must hold for any input (FUZZ_ASSERT). Sanitizers and libFuzzer's limits detect the
/// rest: reads past the end, overflows, leaks, hangs, and too much memory.
#ifndef PACKSTORE_FUZZING_H
#define PACKSTORE_FUZZING_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../CPackStoreTesting/include/CPackStoreInternals.h"
#include "../CPackStoreTesting/include/CPackStoreTesting.h"
#include "codec/checksum.h"
#include "CPackHash.h"
#include "delta/delta_header.h"
#include "delta/delta_part.h"
#include "delta/delta_short.h"
#include "segment/frame_decoding.h"

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

/// Bytes consumed from the front; zeros follow the end.
typedef struct fuzz_input {
  const uint8_t *next;
  size_t left;
} fuzz_input;

uint64_t fuzz_take(fuzz_input *input, size_t byte_count);  ///< a little-endian number of at most 8 bytes
/// Returns at most `byte_count` bytes, fewer at the end.
const uint8_t *fuzz_take_bytes(fuzz_input *input, size_t byte_count, size_t *got);

/// Copies bytes to a block of exactly this size, so that the sanitizer detects reads past the end.
uint8_t *fuzz_copy(const void *bytes, size_t byte_count);

// MARK: One file

/// A disk with one file, which every path refers to. It supports reading, mapping and writing in place only.
typedef struct fuzz_file {
  uint8_t *bytes;
  size_t length;
} fuzz_file;
pks_vfs fuzz_vfs(fuzz_file *file);

// MARK: Sums

/// Builds the file of a table: `front` and `body`, each padded to whole pages, checksums and trailer. The caller frees
/// it.
fuzz_file fuzz_table_file(
  pks__table_kind kind, const uint8_t *front, size_t front_length, const uint8_t *body, size_t body_length
);

/// Correct the checksums of a file if the related bytes are valid. The first function corrects the frame checksums in a
/// segment's rows; the second corrects the pages and the trailer of any table.
void fuzz_sum_frames(uint8_t *segment, size_t length);
void fuzz_sum_table(uint8_t *file, size_t length);
void fuzz_sum_generation(uint8_t *file, size_t length);
void fuzz_sum_control(uint8_t *file, size_t length);

// MARK: Pages

/// Pages of trees in the input: 4 bytes that begin the page's id, le16 length, and the page.
typedef struct fuzz_pages {
  const uint8_t *bytes;
  size_t length;
} fuzz_pages;
pks__page_source fuzz_page_source(fuzz_pages *pages);
bool fuzz_first_page(const fuzz_pages *pages, pks__id *id);

// MARK: Stores

/// Builds a disk with a small store in "/store" that contains one example of everything: packs that hide each other,
/// older versions, links, empty folders, map assets, long lists of chunks, several runs. Kinds are 0 to
/// FUZZ_STORE_KINDS - 1.
enum { FUZZ_STORE_KINDS = 3 };
sim_disk *fuzz_make_store(unsigned kind);
pks_store *fuzz_open_store(sim_disk *disk);
/// The first function returns the index of the pack "Example", which has two versions in kind 1; the second adds a
/// third version with all files as map assets.
uint32_t fuzz_find_pack(const pks_snapshot *snapshot);
void fuzz_map_files(sim_disk *disk);

/// Opens "/store" and calls the public interface: walks, look-ups, reads in each way, statistics, differences,
/// verification, and a commit if `writes`. It continues after errors.
void fuzz_use_store(sim_disk *disk, bool writes);

#endif
