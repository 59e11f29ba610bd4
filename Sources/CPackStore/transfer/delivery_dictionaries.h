/// The dictionaries of a delivery: what planned frames were encoded with, fetched before them.
///
/// Definitions
///   needed  by a planned frame. Each is listed once, by the SHA-256 of its bytes, as the first segment has it that needs it.
///   held    its stored bytes are here: they came, now or in an interrupted delivery, or the current version of the pack has it.
///
/// States: empty -> listed and wanted, but for those that are held (`pks__delivery_dictionaries_want`) -> all held.
///
/// Invariants
///   1. The stored bytes of what comes are checked before they are decoded, and the bytes before anything is decoded with them.
///   2. A version that needs more than PKS__NEEDED_DICTIONARIES_MAX is refused. One that shares frames with many packs may need
///      more than a segment may have.
///
/// Owner: `delivery_dictionaries.c`.
#ifndef PKS_TRANSFER_DELIVERY_DICTIONARIES_H
#define PKS_TRANSFER_DELIVERY_DICTIONARIES_H

#include "transfer/delivery_plan.h"

enum { PKS__NEEDED_DICTIONARIES_MAX = 4 * PKS__DICTIONARIES_MAX };

/// A needed dictionary.
typedef struct pks__needed_dictionary {
  pks__tabled_dictionary tabled;
  uint32_t segment;  ///< of the site
  bool is_held;
  uint32_t codec, stored_length;  ///< as it is held
  uint64_t stored_at;             ///< in `stored`
  uint64_t frame_bytes;           ///< stored bytes of the frames that need it
} pks__needed_dictionary;

typedef struct pks__delivery_dictionaries {
  pks__delivery_context *context;
  pks__delivery_wants *wants;
  const pks__delivery_plan *plan;
  pks__scratch list;           ///< pks__needed_dictionary
  pks__scratch of_frames;      ///< uint32_t by planned frame: its dictionary in the list, UINT32_MAX: none
  pks__scratch stored;         ///< what is held, back to back
  uint64_t bytes, bytes_done;  ///< that come, and that came
} pks__delivery_dictionaries;

void pks__delivery_dictionaries_init(
  pks__delivery_dictionaries *dictionaries, pks__delivery_context *context, pks__delivery_wants *wants,
  const pks__delivery_plan *plan
);

/// Lists what planned frames need, and wants what is not held. With `without_frames`, wants nothing.
pks_status pks__delivery_dictionaries_want(pks__delivery_dictionaries *dictionaries, pks_error *error);

pks_status pks__delivery_dictionaries_give(
  pks__delivery_dictionaries *dictionaries, const pks__want *want, const void *bytes, bool *is_final, pks_error *error
);

/// The dictionary that a planned frame needs; NULL: none.
const pks__needed_dictionary *pks__delivery_dictionaries_of(
  const pks__delivery_dictionaries *dictionaries, uint32_t planned_frame
);
/// As it is stored; a hole while it is not held. On loan until the delivery goes on.
pks__stored_dictionary pks__delivery_dictionaries_stored(
  const pks__delivery_dictionaries *dictionaries, const pks__needed_dictionary *needed
);

#endif
