/// The control file: two slots of which each may be right or wrong.
///
/// Input: u8 which sums are put right (1, 2), whether the file is short (4); the first 84 bytes of each slot; le16 length
/// of a short file.
#include "../fuzzing.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count) {
  fuzz_input input = {bytes, byte_count};
  uint8_t whole[PKS__CONTROL_SLOTS * PKS__CONTROL_SLOT_SIZE] = {0};
  uint64_t flags = fuzz_take(&input, 1);
  for (size_t slot = 0; slot < PKS__CONTROL_SLOTS; slot++) {
    size_t got;
    const uint8_t *fields = fuzz_take_bytes(&input, 84, &got);
    uint8_t *at = whole + slot * PKS__CONTROL_SLOT_SIZE;
    memcpy(at, fields, got);
    pks_le64 sum = pks__put64(pks__checksum(at, 4088));
    if (flags & (1u << slot)) { memcpy(at + 4088, &sum, sizeof sum); }
  }
  fuzz_file file = {.length = flags & 4 ? fuzz_take(&input, 2) % sizeof whole : sizeof whole};
  file.bytes = fuzz_copy(whole, file.length);
  pks_vfs vfs = fuzz_vfs(&file);
  static const uint8_t boot_id[16];
  pks__control control;
  pks_error error;
  if (!pks__control_read(&vfs, 3, boot_id, &control, &error)) {
    pks__control_slot next = *pks__control_current(&control), spared = *pks__control_spared(&control);
    for (size_t slot = 0; slot < PKS__CONTROL_SLOTS; slot++) {
      FUZZ_ASSERT(!control.valid[slot] || control.slots[slot].generation <= next.generation);
    }
    next.generation++;
    next.durable = flags & 8;
    if (file.length == sizeof whole && next.generation >> 62 == 0) {
      // What is written counts, and what had to be left alone is still there.
      FUZZ_ASSERT(!pks__control_write(&vfs, 3, &control, &next, true, &error));
      if (!next.durable) { memset(next.boot_id, 0, sizeof next.boot_id); }
      pks__control after;
      if (!pks__control_read(&vfs, 3, boot_id, &after, &error)) {
        FUZZ_ASSERT(after.slots[0].generation == spared.generation || after.slots[1].generation == spared.generation);
      }
    }
  }
  free(file.bytes);
  return 0;
}
