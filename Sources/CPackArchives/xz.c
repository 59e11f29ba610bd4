// xz streams. Only this file includes the header of liblzma.

#include <lzma.h>

#include "packarchives.h"

enum { MEMORY_LIMIT = 80 * 1024 * 1024 };  // `xz -9` needs 65 MiB, for its dictionary of 64 MiB

bool pka_xz_decode(const uint8_t *source, size_t source_length, uint8_t *target, size_t target_length) {
  uint64_t memory_limit = MEMORY_LIMIT;
  size_t consumed = 0, produced = 0;
  lzma_ret result = lzma_stream_buffer_decode(
    &memory_limit, LZMA_CONCATENATED, NULL, source, &consumed, source_length, target, &produced, target_length
  );
  return result == LZMA_OK && consumed == source_length && produced == target_length;
}
