#include "control.h"

#include "checksum.h"

#define MAGIC "PKSCTRL0"

enum { ATOMIC = 0, DURABLE = 1, IN_DOUBT = 2 };

typedef struct stored_slot {
  uint8_t magic[8];
  pks_le32 version, chunk_average;
  uint8_t store_id[16];
  pks_le64 generation, file_length, file_sum;
  uint8_t boot_id[16];
  pks_le32 durable;
  uint8_t zeros[PKS__CONTROL_SLOT_SIZE - 84];
  pks_le64 sum;
} stored_slot;

_Static_assert(sizeof(stored_slot) == PKS__CONTROL_SLOT_SIZE, "on-disk size");
_Static_assert(offsetof(stored_slot, generation) == PKS__CONTROL_GENERATION_OFFSET, "on-disk place");

static void encode(const pks__control_slot *slot, stored_slot *out) {
  *out = (stored_slot){
    .version = pks__put32(PKS__FORMAT),
    .chunk_average = pks__put32(slot->chunk_average),
    .generation = pks__put64(slot->generation),
    .file_length = pks__put64(slot->file_length),
    .file_sum = pks__put64(slot->file_sum),
    .durable = pks__put32(
      slot->durable      ? DURABLE
        : slot->in_doubt ? IN_DOUBT
                         : ATOMIC
    ),
  };
  memcpy(out->magic, MAGIC, sizeof out->magic);
  memcpy(out->store_id, slot->store_id, sizeof out->store_id);
  memcpy(out->boot_id, slot->boot_id, sizeof out->boot_id);
  out->sum = pks__put64(pks__checksum(out, offsetof(stored_slot, sum)));
}

static bool has_sum(const stored_slot *stored) {
  return pks__checksum(stored, offsetof(stored_slot, sum)) == pks__get64(stored->sum);
}

/// Decodes a slot, whatever its sum.
static bool decode_any(const stored_slot *stored, pks__control_slot *out) {
  uint64_t generation = pks__get64(stored->generation);
  if (generation == 0 || generation >> 62 != 0) { return false; }
  *out = (pks__control_slot){
    .chunk_average = pks__get32(stored->chunk_average),
    .generation = pks__get64(stored->generation),
    .file_length = pks__get64(stored->file_length),
    .file_sum = pks__get64(stored->file_sum),
    .durable = pks__get32(stored->durable) == DURABLE,
    .in_doubt = pks__get32(stored->durable) == IN_DOUBT,
  };
  memcpy(out->store_id, stored->store_id, sizeof out->store_id);
  memcpy(out->boot_id, stored->boot_id, sizeof out->boot_id);
  return true;
}

static bool decode(const stored_slot *stored, pks__control_slot *out) {
  return has_sum(stored) && decode_any(stored, out);
}

static bool is_torn(const stored_slot *stored) {
  static const stored_slot nothing;
  return !has_sum(stored) && memcmp(stored, &nothing, sizeof nothing) != 0;
}

static bool has_magic(const stored_slot *stored) { return memcmp(stored->magic, MAGIC, sizeof stored->magic) == 0; }

/// Reads both slots. One that is damaged may be half written at this moment, and an atomic commit may write over the
/// current one: the other must not be taken for current on one look.
static int read_slots(const pks_vfs *vfs, pks__file file, stored_slot stored[PKS__CONTROL_SLOTS], size_t *got) {
  enum { LOOKS = 16 };
  bool is_torn = true;
  for (int look = 0; look < LOOKS && is_torn; look++) {
    memset(stored, 0, PKS__CONTROL_SLOTS * sizeof *stored);
    int failure = vfs->read_at(vfs->context, file, 0, stored, PKS__CONTROL_SLOTS * sizeof *stored, got);
    if (failure) { return failure; }
    is_torn = false;
    for (size_t i = 0; i < PKS__CONTROL_SLOTS; i++) {
      is_torn = is_torn || (has_magic(&stored[i]) && !has_sum(&stored[i]));
    }
  }
  return 0;
}

pks_status pks__control_read(
  const pks_vfs *vfs, pks__file file, const uint8_t boot_id[16], pks__control *out, pks_error *error
) {
  stored_slot stored[PKS__CONTROL_SLOTS];
  size_t got = 0;
  int failure = read_slots(vfs, file, stored, &got);
  if (failure) { return pks__fail_system(error, failure, "cannot read", PKS__CONTROL_FILE); }
  *out = (pks__control){0};
  pks_status status;
  bool known = false, any = false;
  for (size_t i = 0; i < PKS__CONTROL_SLOTS; i++) {
    out->highest_number = pks__max64(out->highest_number, pks__get64(stored[i].generation));
    known = known || has_magic(&stored[i]);
    out->torn[i] = is_torn(&stored[i]);
    if (out->torn[i]) { (void)decode_any(&stored[i], &out->claims[i]); }
    if (!has_magic(&stored[i]) || !decode(&stored[i], &out->slots[i])) { continue; }
    status = pks__check_format(pks__get32(stored[i].version), PKS__CONTROL_FILE, 8, error);
    if (status) { return status; }
    out->valid[i] = out->slots[i].durable || memcmp(out->slots[i].boot_id, boot_id, sizeof stored[i].boot_id) == 0;
    any = any || out->valid[i];
  }
  // A file of the right size may have lost its beginning; any other is somebody else's.
  if (!known && got != sizeof stored) {
    return pks__fail(error, PKS_NOT_A_STORE, "not a store", PKS__CONTROL_FILE, PKS_NO_OFFSET);
  }
  return any ? PKS_OK : pks__fail(error, PKS_CORRUPT, "both control slots are damaged", PKS__CONTROL_FILE, 0);
}

static size_t current_index(const pks__control *control) {
  PKS_ASSERT(control->valid[0] || control->valid[1]);
  if (!control->valid[1]) { return 0; }
  if (!control->valid[0]) { return 1; }
  return control->slots[1].generation > control->slots[0].generation;
}

const pks__control_slot *pks__control_current(const pks__control *control) {
  return &control->slots[current_index(control)];
}

/// The current slot must not be lost if it is durable; if it is not, the other may be the last durable one.
static size_t slot_to_write(const pks__control *control) {
  size_t current = current_index(control), other = 1 - current;
  if (control->slots[current].durable) { return other; }
  return control->valid[other] && control->slots[other].durable ? current : other;
}

const pks__control_slot *pks__control_spared(const pks__control *control) {
  return &control->slots[1 - slot_to_write(control)];
}

pks_status pks__control_write(
  const pks_vfs *vfs, pks__file file, const pks__control *control, const pks__control_slot *slot, bool sync,
  pks_error *error
) {
  stored_slot stored;
  encode(slot, &stored);
  size_t index = slot_to_write(control);
  uint64_t offset = index * sizeof stored;
  int failure = vfs->write_at(vfs->context, file, offset, &stored, sizeof stored);
  if (failure) {
    // It may be half written, and may have been the current one, which was atomic: put back what it was.
    if (control->valid[index]) {
      encode(&control->slots[index], &stored);
      (void)vfs->write_at(vfs->context, file, offset, &stored, sizeof stored);
    }
    return pks__fail_system(error, failure, "cannot write", PKS__CONTROL_FILE);
  }
  if (sync) { failure = vfs->sync(vfs->context, file); }
  if (failure) {
    // It may or may not last. It counts for now, but the next commit must write over it and not over the durable one.
    pks__control_slot weak = *slot;
    weak.durable = false;
    encode(&weak, &stored);
    (void)vfs->write_at(vfs->context, file, offset, &stored, sizeof stored);
  }
  return failure ? pks__fail_system(error, failure, "cannot sync", PKS__CONTROL_FILE) : PKS_OK;
}

pks_status pks__control_doubt(const pks_vfs *vfs, pks__file file, pks__control *control, pks_error *error) {
  stored_slot stored;
  size_t index = current_index(control);
  PKS_ASSERT(!control->slots[index].durable);
  control->slots[index].in_doubt = true;
  encode(&control->slots[index], &stored);
  int failure = vfs->write_at(vfs->context, file, index * sizeof stored, &stored, sizeof stored);
  return failure ? pks__fail_system(error, failure, "cannot write", PKS__CONTROL_FILE) : PKS_OK;
}

void pks__control_encode_new(const pks__control_slot *slot, uint8_t out[PKS__CONTROL_SLOTS * PKS__CONTROL_SLOT_SIZE]) {
  stored_slot stored;
  encode(slot, &stored);
  memset(out, 0, PKS__CONTROL_SLOTS * PKS__CONTROL_SLOT_SIZE);
  memcpy(out, &stored, sizeof stored);
}
