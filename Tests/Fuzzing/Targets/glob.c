/// Patterns for paths.
///
/// Input: u8 length of the pattern, the pattern, the path.
#include "../fuzzing.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count) {
  fuzz_input input = {bytes, byte_count};
  size_t length, asked = (size_t)fuzz_take(&input, 1);
  const uint8_t *text = fuzz_take_bytes(&input, asked, &length);
  char *pattern = calloc(1, length + 1);
  FUZZ_ASSERT(pattern);
  memcpy(pattern, text, length);
  uint8_t *path = fuzz_copy(input.next, input.left);
  if (!pks_glob_fault(pattern)) {
    bool matches = pks_glob_matches(pattern, (const char *)path, input.left);
    bool is_plain = !strpbrk(pattern, "*?[]\\/");
    // A pattern without special characters matches the last part of a path.
    if (is_plain && pks__path_is_valid((const char *)path, input.left)) {
      size_t own = strlen(pattern), from = input.left < own ? 0 : input.left - own;
      bool ends = input.left >= own && memcmp(path + from, pattern, own) == 0 && (from == 0 || path[from - 1] == '/');
      FUZZ_ASSERT(matches == ends);
    }
  }
  free(pattern);
  free(path);
  return 0;
}
