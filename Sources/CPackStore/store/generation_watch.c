#include "store/generation_watch.h"

void pks__generation_watch_open(pks__generation_watch *out, const pks_vfs *vfs, pks_vfs_file control) {
  *out = (pks__generation_watch){.vfs = vfs};
  pks_vfs_info info;
  void *address;
  // A shorter file would fault where a slot is looked for.
  if (pks__vfs_info_of(vfs, control, &info) || info.size < PKS__CONTROL_SIZE) { return; }
  if (!pks__vfs_map_is_live(vfs, control)) { return; }
  if (pks__vfs_map(vfs, control, PKS__CONTROL_SIZE, false, &address)) { return; }
  out->control = address;
}

void pks__generation_watch_close(pks__generation_watch *watch) {
  if (watch->control) { pks__vfs_unmap(watch->vfs, (void *)(uintptr_t)watch->control, PKS__CONTROL_SIZE); }
  *watch = (pks__generation_watch){0};
}

/// Other processes write while this looks: one load of eight aligned bytes, whose meaning is checked elsewhere. Of each
/// slot the first copy is looked at, which is written first.
static uint64_t number_in_slot(const uint8_t *control, size_t slot) {
  const void *at = control + pks__control_offset(slot, 0) + PKS__CONTROL_GENERATION_OFFSET;
  uint64_t word = __atomic_load_n((const uint64_t *)at, __ATOMIC_RELAXED);
  pks_le64 stored;
  memcpy(&stored, &word, sizeof stored);
  return pks__get64(stored);
}

uint64_t pks__generation_watch_newest(const pks__generation_watch *watch) {
  if (!watch->control) { return 0; }
  uint64_t settled = __atomic_load_n(&watch->settled, __ATOMIC_RELAXED);
  uint64_t highest = pks__max64(number_in_slot(watch->control, 0), number_in_slot(watch->control, 1));
  return highest == settled ? settled : 0;
}

void pks__generation_watch_settle(pks__generation_watch *watch, const pks__control *control) {
  uint64_t current = pks__control_current(control)->generation;
  bool is_settled = control->highest_number == current;
  __atomic_store_n(&watch->settled, is_settled ? current : 0, __ATOMIC_RELAXED);
}
