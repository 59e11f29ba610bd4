/// The parsed description of a delta: the entries of version B, and the chunks of its files.
///
/// Everything is in scratch memory. All of it is checked against version A and the header before use, except what only the new
/// bytes can show: the lengths of the chunks that AGAIN steps refer to.
#ifndef PKS_DELTA_DELTA_RECIPE_H
#define PKS_DELTA_DELTA_RECIPE_H

#include "delta/delta_copies.h"
#include "delta/version_list.h"

typedef struct pks__delta_recipe {
  pks__entry_list *listing;  ///< of B; the caller's
  pks__scratch steps;        ///< pks__delta_step, item by item
  pks__scratch first_steps;  ///< uint64_t by item, and one more
  pks__new_steps new_steps;  ///< steps of new bytes
} pks__delta_recipe;

/// Parses `bytes`, into an empty listing. Must be closed, also after an error. `name` is for messages. Time is linear in the
/// output. Errors: CORRUPT, NO_SPACE, OUT_OF_MEMORY.
pks_status pks__delta_recipe_read(
  pks__delta_recipe *out, const pks__scratch *bytes, const pks__delta_header *header, const pks__version_list *from,
  pks__entry_list *listing, pks__scratch_folder *home, const char *name, pks_error *error
);
void pks__delta_recipe_close(pks__delta_recipe *description);  ///< a zeroed one is fine

static inline uint64_t pks__delta_recipe_first_step(const pks__delta_recipe *description, uint64_t item) {
  return *PKS__SCRATCH_AT(&description->first_steps, const uint64_t, item);
}
static inline const pks__delta_step *pks__delta_recipe_step(const pks__delta_recipe *description, uint64_t index) {
  return PKS__SCRATCH_AT(&description->steps, const pks__delta_step, index);
}

#endif
