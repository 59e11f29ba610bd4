#include "store/control_recovery.h"

#include <string.h>

#include "segment/segment_check.h"
#include "store/generation_file.h"
#include "store/generation_list.h"
#include "store/snapshot.h"

/// The use of a generation's file.
typedef enum verdict {
  FOUND,       ///< it is the slot's generation
  IRRELEVANT,  ///< it is not: another store's, or atomic and from before a restart, or of another place in history
  UNREADABLE,  ///< damaged, itself or its runs: it may be
} verdict;

/// Returns the slot for a generation's file. Whether an atomic one was in doubt is unknown.
static pks__control_slot slot_of(
  const pks__control_slot *intact, const pks__generation *generation, const pks__generation_file *file
) {
  pks__control_slot slot = {
    .chunk_average = intact->chunk_average,
    .generation = generation->number,
    .file_length = file->length,
    .file_sum = file->sum,
    .durable = generation->durable,
    .in_doubt = !generation->durable,
    .predecessor = generation->predecessor,
  };
  memcpy(slot.store_id, intact->store_id, sizeof slot.store_id);
  memcpy(slot.boot_id, generation->boot_id, sizeof slot.boot_id);
  return slot;
}

static bool is_relevant(const pks_store *store, const pks__control_slot *intact, const pks__generation *generation) {
  if (memcmp(generation->store_id, intact->store_id, sizeof generation->store_id) != 0) { return false; }
  if (!intact->durable) { return generation->durable; }
  bool counts = generation->durable || memcmp(generation->boot_id, store->boot_id, sizeof generation->boot_id) == 0;
  return counts && generation->predecessor == intact->generation;
}

/// Judges the file of a generation.
static pks_status judge(
  pks_store *store, const pks__control_slot *intact, uint64_t number, pks__control_slot *out, verdict *verdict,
  pks_error *error
) {
  pks__generation generation = {0};
  pks__generation_file file;
  pks_snapshot *snapshot = NULL;
  pks_error found;
  *verdict = IRRELEVANT;
  pks_status status = pks__store_load_generation(store, number, &generation, &file, &found);
  if (!status && is_relevant(store, intact, &generation)) {
    *out = slot_of(intact, &generation, &file);
    *verdict = FOUND;
    // Opening its runs compares their lengths and trailers with those in the generation.
    status = pks__snapshot_create(&snapshot, store, &generation, PKS_VFS_NO_FILE, &found);
    pks__snapshot_release(snapshot);
  }
  pks__generation_free(&generation);
  if (!status) { return PKS_OK; }
  *verdict = UNREADABLE;
  if (pks__error_is_damage(&found)) { return PKS_OK; }
  if (error) { *error = found; }
  return status;
}

/// Looks for the successor of the intact slot, which is durable: from the highest number down, as atomic commits in
/// between may have been collected.
static pks_status find_successor(
  pks_store *store, const pks__control_slot *intact, pks__control_slot *out, bool *found, bool *is_sure,
  pks_error *error
) {
  pks__generation_list list;
  *found = false;
  *is_sure = true;
  pks_status status = pks__generation_list_read(&list, store->vfs, store->root, error);
  uint64_t number = status ? 0 : pks__generation_list_below(&list, UINT64_MAX);
  while (!status && !*found && number > intact->generation) {
    verdict verdict;
    status = judge(store, intact, number, out, &verdict, error);
    *found = !status && verdict == FOUND;
    *is_sure = *is_sure && verdict != UNREADABLE;
    number = pks__generation_list_below(&list, number);
  }
  pks__generation_list_free(&list);
  return status;
}

/// The intact slot is atomic: the lost one held its predecessor.
static pks_status find_predecessor(
  pks_store *store, const pks__control_slot *intact, pks__control_slot *out, bool *found, pks_error *error
) {
  verdict verdict = IRRELEVANT;
  pks_status status = PKS_OK;
  if (intact->predecessor > 0) { status = judge(store, intact, intact->predecessor, out, &verdict, error); }
  *found = !status && verdict == FOUND;
  return status;
}

static void put_slot(pks__control *control, size_t index, const pks__control_slot *slot) {
  control->slots[index] = *slot;
  control->known[index] = control->valid[index] = control->is_adopted[index] = true;
  for (size_t copy = 0; copy < PKS__CONTROL_COPIES; copy++) {
    if (control->copies[index][copy] == PKS__COPY_WHOLE) { control->copies[index][copy] = PKS__COPY_OTHER; }
  }
}

/// Looks for what slot `index` hides.
static pks_status adopt(pks_store *store, pks__control *control, size_t index, pks_error *error) {
  const pks__control_slot *intact = &control->slots[1 - index];
  bool is_lost = !control->known[index], found = false, is_sure = true;
  pks__control_slot slot;
  pks_status status = PKS_OK;
  if (intact->durable) {
    status = find_successor(store, intact, &slot, &found, &is_sure, error);
  } else if (is_lost) {
    status = find_predecessor(store, intact, &slot, &found, error);
  }
  if (status) { return status; }
  if (found) { put_slot(control, index, &slot); }
  control->may_hide = control->may_hide || (is_lost && !(found && is_sure));
  return PKS_OK;
}

pks_status pks__store_read_control(pks_store *store, pks__control *out, pks_error *error) {
  pks_error found;
  pks_status status = pks__control_read(store->vfs, store->control, store->boot_id, out, &found);
  for (size_t slot = 0; (!status || status == PKS_CORRUPT) && slot < PKS__CONTROL_SLOTS; slot++) {
    if (!pks__control_may_hide(out, slot)) { continue; }
    pks_status adopted = adopt(store, out, slot, error);
    if (adopted) { return adopted; }
    if (out->valid[slot]) { status = PKS_OK; }
  }
  if (status && error) { *error = found; }
  return status;
}

static pks_status fail_hidden(pks_error *error) {
  return pks__fail_about(
    error, PKS_CORRUPT, PKS_DETAIL_BAD_CONTROL_FILE, PKS_SUBJECT_STORE_FILE, PKS__CONTROL_FILE,
    "is damaged and may hide a newer commit; repair the store before you change it"
  );
}

pks_status pks__store_ready_control(pks_store *store, pks__control *out, pks_error *error) {
  pks_status status = pks__store_read_control(store, out, error);
  if (status) { return status; }
  if (out->may_hide) { return fail_hidden(error); }
  if (!pks__control_needs_mending(out)) { return PKS_OK; }
  // Not synced: until the commit's own sync, the adoption can be repeated.
  status = pks__control_mend(store->vfs, store->control, out, false, error);
  return status ? status : pks__store_read_control(store, out, error);
}

pks_status pks_store_check_control(pks_store *store, pks_error *error) {
  pks__control control;
  pks_status status = pks__store_check_process(store, error);
  if (!status) { status = pks__store_read_control(store, &control, error); }
  return !status && control.may_hide ? fail_hidden(error) : status;
}
