/// The control file: which generation a store is at. The only file that is ever rewritten.
///
/// `CONTROL` has two slots of 4096 bytes. A commit writes the slot that does not hold the newest durable generation and
/// syncs; a slot that was torn fails its checksum and the other one counts. So the store is at the old generation or at
/// the new one, whatever a crash does.
///
/// Slot
///     0 "PKSCTRL0"
///     8 le32 format version        12 le32 average chunk, bytes
///    16 16 bytes store id          32 le64 generation
///    40 le64 length and            48 le64 XXH3-64 of the generation's file
///    56 16 bytes boot id           72 le32 1 if durable; 0 if it counts only until the machine starts anew; 2: so,
///                                     and a file that it needs failed to be synced
///    76 zeros
///  4088 le64 XXH3-64 of the 4088 bytes before
///
/// A slot that is not durable counts only while the machine's boot id is the slot's: after a loss of power its files
/// may be incomplete.
#ifndef PKS_CONTROL_H
#define PKS_CONTROL_H

#include "format.h"
#include "vfs.h"

#define PKS__CONTROL_FILE "CONTROL"

enum { PKS__CONTROL_SLOTS = 2, PKS__CONTROL_SLOT_SIZE = 4096, PKS__CONTROL_GENERATION_OFFSET = 32 };

typedef struct pks__control_slot {
  uint32_t chunk_average;
  uint8_t store_id[16];
  uint64_t generation;
  uint64_t file_length;
  uint64_t file_sum;
  uint8_t boot_id[16];
  bool durable;
  /// atomic, and the sync of a file that it needs failed: that a later sync succeeds proves nothing
  bool in_doubt;
} pks__control_slot;

typedef struct pks__control {
  pks__control_slot slots[PKS__CONTROL_SLOTS];
  bool valid[PKS__CONTROL_SLOTS];
  /// the sum fails, though something is there: half written, or damaged since
  bool torn[PKS__CONTROL_SLOTS];
  pks__control_slot claims[PKS__CONTROL_SLOTS];  ///< what a torn slot says: a hint, for nothing of it was checked
  uint64_t highest_number;  ///< that stands where a slot has its generation, be the slot valid or not
} pks__control;

/// Reads both slots, a few times if one of them is damaged, as a commit may be writing it; `boot_id` is the machine's now. CORRUPT when neither counts, NEWER_FORMAT when one is of a newer
/// format, NOT_A_STORE when it is no control file at all.
pks_status pks__control_read(
  const pks_vfs *vfs, pks__file file, const uint8_t boot_id[16], pks__control *out, pks_error *error
);

/// The slot of the newest generation that counts.
const pks__control_slot *pks__control_current(const pks__control *control);

/// The slot that the next write leaves alone: it must stay openable until that write is durable.
const pks__control_slot *pks__control_spared(const pks__control *control);

/// Writes `slot` over the slot that may be lost, and syncs it if `sync`.
pks_status pks__control_write(
  const pks_vfs *vfs, pks__file file, const pks__control *control, const pks__control_slot *slot, bool sync,
  pks_error *error
);

/// Marks the current slot, which is atomic, as in doubt. Not synced: the mark matters while the slot counts.
pks_status pks__control_doubt(const pks_vfs *vfs, pks__file file, pks__control *control, pks_error *error);

/// The bytes of a control file with one slot filled, for a store made now.
void pks__control_encode_new(const pks__control_slot *slot, uint8_t out[PKS__CONTROL_SLOTS * PKS__CONTROL_SLOT_SIZE]);

#endif
