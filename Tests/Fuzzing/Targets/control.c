/// The control file: two slots of two copies, each valid or damaged.
///
/// Input: u8 which checksums to correct (1, 2, 4, 8); u8 whether the file is short (1), and whether the written
/// generation is durable (2); the first 88 bytes of each copy, in their order in the file; le16 length of a short file.
#include "../fuzzing.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count) {
  fuzz_input input = {bytes, byte_count};
  uint8_t whole[PKS__CONTROL_SIZE] = {0};
  uint64_t sums = fuzz_take(&input, 1), flags = fuzz_take(&input, 1);
  for (size_t copy = 0; copy < PKS__CONTROL_SLOTS * PKS__CONTROL_COPIES; copy++) {
    size_t got;
    const uint8_t *fields = fuzz_take_bytes(&input, 88, &got);
    uint8_t *at = whole + copy * PKS__CONTROL_COPY_SIZE;
    memcpy(at, fields, got);
    pks_le64 sum = pks__put64(pks__checksum(at, 504));
    if (sums & (1u << copy)) { memcpy(at + 504, &sum, sizeof sum); }
  }
  fuzz_file file = {.length = flags & 1 ? fuzz_take(&input, 2) % sizeof whole : sizeof whole};
  file.bytes = fuzz_copy(whole, file.length);
  pks_vfs vfs = fuzz_vfs(&file);
  static const uint8_t boot_id[16];
  pks__control control;
  pks_error error;
  if (!pks__control_read(&vfs, 3, boot_id, &control, &error)) {
    pks__control_slot next = *pks__control_current(&control), spared = *pks__control_spared(&control);
    for (size_t slot = 0; slot < PKS__CONTROL_SLOTS; slot++) {
      FUZZ_ASSERT(!control.valid[slot] || control.slots[slot].generation <= next.generation);
      FUZZ_ASSERT(control.known[slot] || !control.valid[slot]);
    }
    next.generation++;
    next.durable = flags & 2;
    if (file.length == sizeof whole && next.generation >> 62 == 0 && control.known[0] && control.known[1]) {
      // After repair, the contents are the same, the written slot is valid, and the protected slot still exists.
      pks__control after;
      bool gone;
      FUZZ_ASSERT(!pks__control_mend(&vfs, 3, &control, true, &error));
      FUZZ_ASSERT(!pks__control_read(&vfs, 3, boot_id, &after, &error) && !pks__control_needs_mending(&after));
      FUZZ_ASSERT(memcmp(after.slots, control.slots, sizeof after.slots) == 0);
      FUZZ_ASSERT(!pks__control_write(&vfs, 3, &after, &next, true, &gone, &error));
      if (!next.durable) { memset(next.boot_id, 0, sizeof next.boot_id); }
      if (!pks__control_read(&vfs, 3, boot_id, &after, &error)) {
        FUZZ_ASSERT(after.slots[0].generation == spared.generation || after.slots[1].generation == spared.generation);
      }
    }
  }
  free(file.bytes);
  return 0;
}
