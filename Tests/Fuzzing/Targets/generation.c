/// Generations. Accepted ones are written again with the same bytes.
///
/// Input: u8 whether to correct the checksum; the file.
#include "../fuzzing.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count) {
  fuzz_input input = {bytes, byte_count};
  bool summed = fuzz_take(&input, 1) & 1;
  uint8_t *file = fuzz_copy(input.next, input.left);
  if (summed) { fuzz_sum_generation(file, input.left); }
  pks__generation first, second, copy;
  pks_error error;
  if (!pks__generation_decode(file, input.left, "name", &first, &error)) {
    pks__scratch written = {0}, again = {0};
    FUZZ_ASSERT(!pks__generation_encode(&first, &written, &error));
    FUZZ_ASSERT(!pks__generation_decode(written.bytes, (size_t)written.length, "name", &second, &error));
    FUZZ_ASSERT(!pks__generation_copy(&second, &copy, &error));
    FUZZ_ASSERT(!pks__generation_encode(&copy, &again, &error));
    FUZZ_ASSERT(written.length == again.length && memcmp(written.bytes, again.bytes, (size_t)again.length) == 0);
    for (uint32_t i = 0; i < first.pack_count; i++) {
      pks_pack pack = pks__generation_pack(&first, i);
      FUZZ_ASSERT(pks__pack_name_is_valid(pack.name) && pack.version_count > 0);
      FUZZ_ASSERT(pks__generation_find_pack(&first, pack.name) == i);
      FUZZ_ASSERT(first.packs[i].number > 0 && first.packs[i].number < first.next_pack_number);
      FUZZ_ASSERT(pks__generation_find_number(&first, first.packs[i].number) == i);
    }
    if (copy.pack_count > 0) {
      FUZZ_ASSERT(!pks__generation_remove_pack(&copy, copy.pack_count / 2, byte_count % 2, &error));
    }
    pks__scratch_free(&written);
    pks__scratch_free(&again);
    pks__generation_free(&first);
    pks__generation_free(&second);
    pks__generation_free(&copy);
  }
  free(file);
  return 0;
}
