/// Reading the file of a generation.
#ifndef PKS_STORE_GENERATION_FILE_H
#define PKS_STORE_GENERATION_FILE_H

#include "store/state.h"

/// The facts about a generation's file in a control slot.
typedef struct pks__generation_file {
  uint64_t length, sum;
} pks__generation_file;

/// Reads a generation's file; its own checksum decides.
pks_status pks__store_load_generation(
  pks_store *store, uint64_t number, pks__generation *out, pks__generation_file *file, pks_error *error
);

/// Reads a generation's file. With a slot, it must be the file that the slot names; without, its own checksum decides.
pks_status pks__store_read_generation(
  pks_store *store, uint64_t number, const pks__control_slot *slot, pks__generation *out, pks_error *error
);

#endif
