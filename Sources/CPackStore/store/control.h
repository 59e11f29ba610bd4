/// The control file: which generation a store is at. The only file that is ever rewritten.
///
/// `CONTROL` has two slots. A commit writes the slot without the newest durable generation and syncs: after a crash, the store is
/// at the old generation or at the new one. Each slot is written twice, and the four copies are in separate pages of 4096 bytes,
/// ordered so that no two neighbours belong to one slot:
///
///     0 slot 0, first copy   4096 slot 1, first copy   8192 slot 0, second copy   12288 slot 1, second copy
///
/// Copy
///     0 "PKSCTRL0"
///     8 le32 format                 12 le32 average chunk, bytes
///    16 16 bytes store id           32 le64 generation
///    40 le64 length and             48 le64 XXH3-64 of the generation's file
///    56 16 bytes boot id            72 le32 1 if durable; 0 if it counts only until the machine starts again; 2: like 0,
///                                      and a file that it needs failed to be synced
///    76 zeros                       80 le64 predecessor: the generation of the other slot when this one was written
///    88 zeros                      504 le64 XXH3-64 of the 504 bytes before
///   512 zeros to the end of the page
///
/// States
///   Copies: a *whole* copy has a matching checksum and zeros in the rest; otherwise it is *damaged*. A commit changes only one
///   sector of 512 bytes in a copy, so a crash leaves the old or the new contents: a damaged copy comes from damage, or from a read
///   during a write.
///   Slots: *whole* if both copies are whole and equal; *cut* if both are whole and differ, as after a crash between two writes;
///   *hurt* if one is damaged; *lost* if both are. Of two whole copies, the valid one determines the slot; if both are valid, the
///   higher generation, and within one generation the weaker promise.
///
/// Only a lost slot can hide a commit, or a hurt one whose other copy is of an earlier commit. Generations' files reveal its
/// contents (`control_recovery.h`). A writer repairs the file first: all four copies are whole before a commit begins.
///
/// A slot that is not durable counts only while the machine's boot id is the slot's: after a loss of power its files
/// may be incomplete.
#ifndef PKS_STORE_CONTROL_H
#define PKS_STORE_CONTROL_H

#include "format/format.h"
#include "platform/vfs.h"

#define PKS__CONTROL_FILE "CONTROL"

enum {
  PKS__CONTROL_SLOTS = 2,
  PKS__CONTROL_COPIES = 2,
  PKS__CONTROL_COPY_SIZE = 4096,
  PKS__CONTROL_SIZE = PKS__CONTROL_SLOTS * PKS__CONTROL_COPIES * PKS__CONTROL_COPY_SIZE,
  PKS__CONTROL_GENERATION_OFFSET = 32,
};

/// Where a copy of a slot begins.
static inline uint64_t pks__control_offset(size_t slot, size_t copy) {
  return (copy * PKS__CONTROL_SLOTS + slot) * PKS__CONTROL_COPY_SIZE;
}

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
  uint64_t predecessor;  ///< generation of the slot that was left alone when this one was written; 0: there was none
} pks__control_slot;

typedef enum pks__copy_state {
  PKS__COPY_WHOLE,  ///< determines the slot
  PKS__COPY_OTHER,  ///< whole, with other contents: a crash interrupted a write of the slot
  PKS__COPY_SHORT,  ///< determines the slot, but the file ends within the zeros after it
  PKS__COPY_DAMAGED,
} pks__copy_state;

typedef struct pks__control {
  pks__control_slot slots[PKS__CONTROL_SLOTS];
  bool known[PKS__CONTROL_SLOTS];  ///< a copy of the slot is whole, or the slot was adopted
  bool valid[PKS__CONTROL_SLOTS];  ///< it counts
  pks__copy_state copies[PKS__CONTROL_SLOTS][PKS__CONTROL_COPIES];
  bool is_adopted[PKS__CONTROL_SLOTS];  ///< no copy contains it, but a generation's file does (`control_recovery.h`)
  bool may_hide;                        ///< a slot is lost, and may have named a commit that could not be found
  uint64_t claimed;         ///< generation of a durable commit that both copies of a lost slot name, unchecked; 0: none
  uint64_t highest_number;  ///< highest number at the generation's offset in the first copies, whole or not
  bool is_unreadable;       ///< a part of the file cannot be read: it must not be looked at in a mapping
} pks__control;

/// Reads the file, several times if a copy is damaged, because a commit may be writing it; `boot_id` is the machine's current one.
/// CORRUPT if no slot is valid, and then `*out` has the readable parts; NEWER_FORMAT or OTHER_DRAFT for another format, NOT_A_STORE
/// if it is not a control file. Commits hidden by damage are not searched: see `pks__store_read_control`.
pks_status pks__control_read(
  const pks_vfs *vfs, pks_vfs_file file, const uint8_t boot_id[16], pks__control *out, pks_error *error
);

/// The slot of the newest generation that counts.
const pks__control_slot *pks__control_current(const pks__control *control);

/// The slot that the next write leaves alone: it must stay openable until that write is durable.
const pks__control_slot *pks__control_spared(const pks__control *control);

/// Whether a slot may hide a newer commit than the other slot's: a copy of it is damaged, and no whole copy is newer than the other
/// slot.
bool pks__control_may_hide(const pks__control *control, size_t slot);

/// Whether any copy differs from its slot.
bool pks__control_needs_mending(const pks__control *control);
/// Writes every copy that differs from its slot, and syncs if `sync`. Both slots must be known. Nothing else is changed, so even
/// after a failure the known contents remain.
pks_status pks__control_mend(
  const pks_vfs *vfs, pks_vfs_file file, const pks__control *control, bool sync, pks_error *error
);

/// Writes `slot` over the slot that may be lost, and syncs it if `sync`. After a failure, `*gone` means that no trace of `slot` is
/// left in the file, in memory or on disk; otherwise it may last, and its files must stay.
pks_status pks__control_write(
  const pks_vfs *vfs, pks_vfs_file file, const pks__control *control, const pks__control_slot *slot, bool sync,
  bool *gone, pks_error *error
);

/// Marks the current slot, which is atomic, as in doubt. Not synced: the mark matters while the slot counts.
pks_status pks__control_doubt(const pks_vfs *vfs, pks_vfs_file file, pks__control *control, pks_error *error);

/// Encodes a new control file with `slot` in both slots.
void pks__control_encode_new(const pks__control_slot *slot, uint8_t out[PKS__CONTROL_SIZE]);

#endif
