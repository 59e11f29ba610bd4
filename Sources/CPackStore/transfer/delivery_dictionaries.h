/// The dictionaries of a delivery: those of planned frames, fetched before them.
///
/// Definitions
///   needed  by a planned frame. Each is listed once, by the SHA-256 of its bytes, as the first segment has it that needs it.
///   held    its stored bytes are present: received now or in an interrupted delivery, or in the pack's current version.
///
/// States: empty -> listed and requested, except held ones (`pks__delivery_dictionaries_request`) -> all held.
///
/// Invariants
///   1. Stored bytes are checked before they are decoded, and decoded dictionaries before anything is decoded with them.
///   2. A version that needs more than PKS__NEEDED_DICTIONARIES_MAX is refused. A version that shares frames with many packs
///      may need more than one segment can have.
///
/// Owner: `delivery_dictionaries.c`.
#ifndef PKS_TRANSFER_DELIVERY_DICTIONARIES_H
#define PKS_TRANSFER_DELIVERY_DICTIONARIES_H

#include "transfer/delivery_plan.h"

enum { PKS__NEEDED_DICTIONARIES_MAX = 4 * PKS__DICTIONARIES_MAX };

/// A needed dictionary.
typedef struct pks__needed_dictionary {
  pks__tabled_dictionary tabled;
  uint32_t segment;  ///< segment of the site
  bool is_held;
  uint32_t codec, stored_length;  ///< as it is held
  uint64_t stored_at;             ///< in `stored`
  uint64_t frame_bytes;           ///< stored bytes of the frames that need it
} pks__needed_dictionary;

typedef struct pks__delivery_dictionaries {
  pks__delivery_context *context;
  pks__delivery_requests *requests;
  const pks__delivery_plan *plan;
  pks__scratch list;           ///< pks__needed_dictionary
  pks__scratch of_frames;      ///< uint32_t by planned frame: its dictionary in the list, UINT32_MAX: none
  pks__scratch stored;         ///< stored bytes of held dictionaries, back to back
  uint64_t bytes, bytes_done;  ///< that come, and that came
} pks__delivery_dictionaries;

void pks__delivery_dictionaries_init(
  pks__delivery_dictionaries *dictionaries, pks__delivery_context *context, pks__delivery_requests *requests,
  const pks__delivery_plan *plan
);

/// Lists the dictionaries of planned frames, and requests those that are not held. With `without_frames`, requests nothing.
pks_status pks__delivery_dictionaries_request(pks__delivery_dictionaries *dictionaries, pks_error *error);

pks_status pks__delivery_dictionaries_give(
  pks__delivery_dictionaries *dictionaries, const pks__byte_request *request, const void *bytes, bool *is_final,
  pks_error *error
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
