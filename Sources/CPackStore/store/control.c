#include "store/control.h"

#include <errno.h>

#include "codec/checksum.h"

#define MAGIC "PKSCTRL0"

enum { ATOMIC = 0, DURABLE = 1, IN_DOUBT = 2, SECTOR = 512 };

/// The significant part of a copy: one sector, which a disk writes completely or not at all.
typedef struct stored_slot {
  uint8_t magic[8];
  pks_le32 format, chunk_average;
  uint8_t store_id[16];
  pks_le64 generation, file_length, file_sum;
  uint8_t boot_id[16];
  pks_le32 durable, reserved;
  pks_le64 predecessor;
  uint8_t zeros[SECTOR - 96];
  pks_le64 sum;
} stored_slot;

typedef struct stored_copy {
  stored_slot slot;
  uint8_t zeros[PKS__CONTROL_COPY_SIZE - SECTOR];
} stored_copy;

/// In the order of their places.
typedef struct stored_control {
  stored_copy copies[PKS__CONTROL_COPIES][PKS__CONTROL_SLOTS];
} stored_control;

_Static_assert(sizeof(stored_slot) == SECTOR, "on-disk size");
_Static_assert(sizeof(stored_control) == PKS__CONTROL_SIZE, "on-disk size");
_Static_assert(offsetof(stored_slot, generation) == PKS__CONTROL_GENERATION_OFFSET, "on-disk place");
_Static_assert(offsetof(stored_slot, predecessor) == 80, "on-disk place");

// MARK: - Coding

static void encode(const pks__control_slot *slot, stored_copy *out) {
  *out = (stored_copy){
    .slot =
      {
        .format = pks__put32(PKS__FORMAT),
        .chunk_average = pks__put32(slot->chunk_average),
        .generation = pks__put64(slot->generation),
        .file_length = pks__put64(slot->file_length),
        .file_sum = pks__put64(slot->file_sum),
        .durable = pks__put32(
          slot->durable      ? DURABLE
            : slot->in_doubt ? IN_DOUBT
                             : ATOMIC
        ),
        .predecessor = pks__put64(slot->predecessor),
      },
  };
  memcpy(out->slot.magic, MAGIC, sizeof out->slot.magic);
  memcpy(out->slot.store_id, slot->store_id, sizeof out->slot.store_id);
  memcpy(out->slot.boot_id, slot->boot_id, sizeof out->slot.boot_id);
  out->slot.sum = pks__put64(pks__checksum(&out->slot, offsetof(stored_slot, sum)));
}

static pks__control_slot decode(const stored_copy *stored) {
  pks__control_slot slot = {
    .chunk_average = pks__get32(stored->slot.chunk_average),
    .generation = pks__get64(stored->slot.generation),
    .file_length = pks__get64(stored->slot.file_length),
    .file_sum = pks__get64(stored->slot.file_sum),
    .durable = pks__get32(stored->slot.durable) == DURABLE,
    .in_doubt = pks__get32(stored->slot.durable) == IN_DOUBT,
    .predecessor = pks__get64(stored->slot.predecessor),
  };
  memcpy(slot.store_id, stored->slot.store_id, sizeof slot.store_id);
  memcpy(slot.boot_id, stored->slot.boot_id, sizeof slot.boot_id);
  return slot;
}

static bool is_number(uint64_t generation) { return generation > 0 && generation >> 62 == 0; }

static bool has_magic(const stored_copy *stored) {
  return memcmp(stored->slot.magic, MAGIC, sizeof stored->slot.magic) == 0;
}

static bool has_sum(const stored_copy *stored) {
  return pks__checksum(&stored->slot, offsetof(stored_slot, sum)) == pks__get64(stored->slot.sum);
}

/// Whether the copy contains a slot in canonical form.
static bool is_canonical(const stored_copy *stored) {
  stored_copy again;
  pks__control_slot slot = decode(stored);
  encode(&slot, &again);
  return is_number(slot.generation) && memcmp(stored, &again, sizeof again) == 0;
}

/// Whole, of whatever format.
static bool is_whole(const stored_copy *stored) {
  if (!has_magic(stored) || !has_sum(stored)) { return false; }
  return pks__get32(stored->slot.format) != PKS__FORMAT || is_canonical(stored);
}

// MARK: - Reading

/// Reads the copies one by one: an unreadable copy counts as damaged, unless all are unreadable.
static int read_copies(const pks_vfs *vfs, pks_vfs_file file, stored_control *stored, size_t *got, bool *unreadable) {
  int failure = 0;
  size_t read = 0;
  *got = 0;
  *unreadable = false;
  for (size_t copy = 0; copy < PKS__CONTROL_COPIES; copy++) {
    for (size_t slot = 0; slot < PKS__CONTROL_SLOTS; slot++) {
      stored_copy *out = &stored->copies[copy][slot];
      size_t length = 0;
      int one = pks__vfs_read_at(vfs, file, pks__control_offset(slot, copy), out, sizeof *out, &length);
      if (one) {
        memset(out, 0, sizeof *out);
        failure = one;
        *unreadable = true;
      } else {
        read++;
        *got += length;
      }
    }
  }
  return read > 0 ? 0 : failure;
}

static int read_once(const pks_vfs *vfs, pks_vfs_file file, stored_control *stored, size_t *got, bool *unreadable) {
  memset(stored, 0, sizeof *stored);
  *unreadable = false;
  int failure = pks__vfs_read_at(vfs, file, 0, stored, sizeof *stored, got);
  return failure == EIO || failure == EBADMSG ? read_copies(vfs, file, stored, got, unreadable) : failure;
}

/// Reads the file. A copy that is damaged may be half written at this moment, and an atomic commit may write over the
/// current slot: the other must not be taken for current on one look.
static int read_file(const pks_vfs *vfs, pks_vfs_file file, stored_control *stored, size_t *got, bool *unreadable) {
  enum { LOOKS = 16 };
  bool is_settled = false;
  for (int look = 0; look < LOOKS && !is_settled; look++) {
    int failure = read_once(vfs, file, stored, got, unreadable);
    if (failure) { return failure; }
    is_settled = true;
    const stored_copy *copies = &stored->copies[0][0];
    for (size_t i = 0; i < PKS__CONTROL_COPIES * PKS__CONTROL_SLOTS; i++) {
      is_settled = is_settled && (is_whole(&copies[i]) || !has_magic(&copies[i]));
    }
  }
  return 0;
}

/// Detects another format: from a whole copy, or, because other drafts have their checksums elsewhere, from everything that exists
/// of a control file. Damage is not mistaken for a draft: copies must agree, and two are required if the file could be of this
/// format.
static pks_status check_format(const stored_control *stored, size_t length, pks_error *error) {
  const stored_copy *copies = &stored->copies[0][0];
  size_t agreeing = 0;
  uint32_t format = PKS__FORMAT;
  bool is_ours = false;
  for (size_t i = 0; i < PKS__CONTROL_COPIES * PKS__CONTROL_SLOTS; i++) {
    uint32_t stated = pks__get32(copies[i].slot.format);
    if (is_whole(&copies[i])) {
      is_ours = true;
      pks_status status = pks__check_format(stated, PKS__CONTROL_FILE, 8, error);
      if (status) { return status; }
    } else if (has_magic(&copies[i])) {
      is_ours = is_ours || stated == PKS__FORMAT || (agreeing > 0 && stated != format);
      format = stated;
      agreeing++;
    }
  }
  bool is_other = !is_ours && agreeing > (length == sizeof *stored ? 1 : 0);
  return is_other ? pks__check_format(format, PKS__CONTROL_FILE, 8, error) : PKS_OK;
}

static bool counts(const pks__control_slot *slot, const uint8_t boot_id[16]) {
  return slot->durable || memcmp(slot->boot_id, boot_id, sizeof slot->boot_id) == 0;
}

/// How much a slot promises of its generation.
static int promise(const pks__control_slot *slot) { return slot->durable ? 2 : !slot->in_doubt; }

/// Whether copy `a` of two whole copies of a slot is the valid one, rather than `b`. The higher generation has all its files,
/// regardless of which copy a crash kept from being written; of one generation, the weaker promise was written last.
static bool says_more(const pks__control_slot *a, const pks__control_slot *b, const uint8_t boot_id[16]) {
  if (counts(a, boot_id) != counts(b, boot_id)) { return counts(a, boot_id); }
  if (a->generation != b->generation) { return a->generation > b->generation; }
  return promise(a) < promise(b);
}

static void take_slot(
  const stored_control *stored, size_t length, size_t slot, const uint8_t boot_id[16], pks__control *out
) {
  size_t chosen = PKS__CONTROL_COPIES;
  for (size_t copy = 0; copy < PKS__CONTROL_COPIES; copy++) {
    const stored_copy *from = &stored->copies[copy][slot];
    out->copies[slot][copy] = PKS__COPY_DAMAGED;
    if (!is_whole(from)) { continue; }
    pks__control_slot value = decode(from);
    if (chosen == PKS__CONTROL_COPIES || says_more(&value, &out->slots[slot], boot_id)) {
      out->slots[slot] = value;
      chosen = copy;
    }
  }
  out->known[slot] = chosen < PKS__CONTROL_COPIES;
  out->valid[slot] = out->known[slot] && counts(&out->slots[slot], boot_id);
  for (size_t copy = 0; out->known[slot] && copy < PKS__CONTROL_COPIES; copy++) {
    const stored_copy *from = &stored->copies[copy][slot];
    if (!is_whole(from)) { continue; }
    bool same = memcmp(from, &stored->copies[chosen][slot], sizeof *from) == 0;
    bool is_short = !out->is_unreadable && pks__control_offset(slot, copy) + sizeof *from > length;
    out->copies[slot][copy] = !same ? PKS__COPY_OTHER : is_short ? PKS__COPY_SHORT : PKS__COPY_WHOLE;
  }
}

/// Returns the durable commit in a lost slot, if both copies contain the same one and refer to the other slot's store.
static uint64_t find_claim(const stored_control *stored, const pks__control *control) {
  uint64_t claimed = 0;
  for (size_t slot = 0; slot < PKS__CONTROL_SLOTS; slot++) {
    const pks__control_slot *other = &control->slots[1 - slot];
    if (control->known[slot] || !control->known[1 - slot]) { continue; }
    bool agree = true;
    for (size_t copy = 0; copy < PKS__CONTROL_COPIES; copy++) {
      pks__control_slot claim = decode(&stored->copies[copy][slot]);
      agree = agree && claim.durable && is_number(claim.generation)
        && memcmp(claim.store_id, other->store_id, sizeof claim.store_id) == 0
        && claim.generation == pks__get64(stored->copies[0][slot].slot.generation);
    }
    if (agree) { claimed = pks__max64(claimed, pks__get64(stored->copies[0][slot].slot.generation)); }
  }
  return claimed;
}

pks_status pks__control_read(
  const pks_vfs *vfs, pks_vfs_file file, const uint8_t boot_id[16], pks__control *out, pks_error *error
) {
  stored_control stored;
  size_t got = 0;
  *out = (pks__control){0};
  int failure = read_file(vfs, file, &stored, &got, &out->is_unreadable);
  if (failure) { return pks__fail_system(error, failure, "cannot read", PKS__CONTROL_FILE); }
  pks_status status = check_format(&stored, got, error);
  if (status) { return status; }
  bool has_any_magic = false;
  for (size_t slot = 0; slot < PKS__CONTROL_SLOTS; slot++) {
    take_slot(&stored, got, slot, boot_id, out);
    out->highest_number = pks__max64(out->highest_number, pks__get64(stored.copies[0][slot].slot.generation));
    for (size_t copy = 0; copy < PKS__CONTROL_COPIES; copy++) {
      has_any_magic = has_any_magic || has_magic(&stored.copies[copy][slot]);
    }
  }
  out->claimed = find_claim(&stored, out);
  // A file of the right size may have lost its beginning; any other file is not a control file.
  if (!has_any_magic && got != sizeof stored && !out->is_unreadable) {
    return pks__fail_about(
      error, PKS_NOT_A_STORE, PKS_DETAIL_NO_CONTROL_FILE, PKS_SUBJECT_STORE, PKS__CONTROL_FILE, "not a store"
    );
  }
  if (out->valid[0] || out->valid[1]) { return PKS_OK; }
  return pks__fail_at(
    error, PKS_CORRUPT, PKS_DETAIL_BAD_CONTROL_FILE, PKS_SUBJECT_STORE_FILE, PKS__CONTROL_FILE, 0,
    "both control slots are damaged"
  );
}

// MARK: - Which slot

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

bool pks__control_may_hide(const pks__control *control, size_t slot) {
  size_t other = 1 - slot;
  bool is_damaged = false;
  for (size_t copy = 0; copy < PKS__CONTROL_COPIES; copy++) {
    is_damaged = is_damaged || control->copies[slot][copy] == PKS__COPY_DAMAGED;
  }
  if (!is_damaged || !control->known[other]) { return false; }
  return !control->valid[slot] || control->slots[slot].generation < control->slots[other].generation;
}

// MARK: - Writing

static int write_slot(const pks_vfs *vfs, pks_vfs_file file, size_t index, const pks__control_slot *slot) {
  stored_copy stored;
  encode(slot, &stored);
  int failure = 0;
  for (size_t copy = 0; copy < PKS__CONTROL_COPIES && !failure; copy++) {
    failure = pks__vfs_write_at(vfs, file, pks__control_offset(index, copy), &stored, sizeof stored);
  }
  return failure;
}

bool pks__control_needs_mending(const pks__control *control) {
  bool needs = false;
  for (size_t slot = 0; slot < PKS__CONTROL_SLOTS; slot++) {
    for (size_t copy = 0; copy < PKS__CONTROL_COPIES; copy++) {
      needs = needs || control->copies[slot][copy] != PKS__COPY_WHOLE;
    }
  }
  return needs;
}

pks_status pks__control_mend(
  const pks_vfs *vfs, pks_vfs_file file, const pks__control *control, bool sync, pks_error *error
) {
  PKS_ASSERT(control->known[0] && control->known[1]);
  int failure = 0;
  for (size_t slot = 0; slot < PKS__CONTROL_SLOTS; slot++) {
    stored_copy stored;
    encode(&control->slots[slot], &stored);
    for (size_t copy = 0; copy < PKS__CONTROL_COPIES && !failure; copy++) {
      if (control->copies[slot][copy] == PKS__COPY_WHOLE) { continue; }
      failure = pks__vfs_write_at(vfs, file, pks__control_offset(slot, copy), &stored, sizeof stored);
    }
  }
  if (failure) { return pks__fail_system(error, failure, "cannot write", PKS__CONTROL_FILE); }
  failure = sync ? pks__vfs_sync(vfs, file) : 0;
  return failure ? pks__fail_system(error, failure, "cannot sync", PKS__CONTROL_FILE) : PKS_OK;
}

/// Restores a slot whose write failed; returns whether no trace of the new contents is left.
static bool take_back(const pks_vfs *vfs, pks_vfs_file file, size_t index, const pks__control *control, bool sync) {
  if (!control->known[index] || write_slot(vfs, file, index, &control->slots[index])) { return false; }
  return !sync || pks__vfs_sync(vfs, file) == 0;
}

pks_status pks__control_write(
  const pks_vfs *vfs, pks_vfs_file file, const pks__control *control, const pks__control_slot *slot, bool sync,
  bool *gone, pks_error *error
) {
  size_t index = slot_to_write(control);
  *gone = false;
  int failure = write_slot(vfs, file, index, slot);
  if (failure) {
    // It may be half written, and may have been the current one, which was atomic.
    *gone = take_back(vfs, file, index, control, sync);
    return pks__fail_system(error, failure, "cannot write", PKS__CONTROL_FILE);
  }
  if (sync) { failure = pks__vfs_sync(vfs, file); }
  if (failure) {
    // It may or may not last. It counts for now, but the next commit must write over it and not over the durable one.
    pks__control_slot weak = *slot;
    weak.durable = false;
    (void)write_slot(vfs, file, index, &weak);
  }
  return failure ? pks__fail_system(error, failure, "cannot sync", PKS__CONTROL_FILE) : PKS_OK;
}

pks_status pks__control_doubt(const pks_vfs *vfs, pks_vfs_file file, pks__control *control, pks_error *error) {
  size_t index = current_index(control);
  PKS_ASSERT(!control->slots[index].durable);
  control->slots[index].in_doubt = true;
  int failure = write_slot(vfs, file, index, &control->slots[index]);
  return failure ? pks__fail_system(error, failure, "cannot write", PKS__CONTROL_FILE) : PKS_OK;
}

void pks__control_encode_new(const pks__control_slot *slot, uint8_t out[PKS__CONTROL_SIZE]) {
  stored_copy stored;
  encode(slot, &stored);
  for (size_t i = 0; i < PKS__CONTROL_SLOTS * PKS__CONTROL_COPIES; i++) {
    memcpy(out + i * sizeof stored, &stored, sizeof stored);
  }
}
