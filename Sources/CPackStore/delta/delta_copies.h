/// Copies: a form of the new bytes for data that moved, or that changed in few places.
///
/// A group in this form is a list of stretches of A, and the *literals* between them. Each position is stored once, relative to the
/// expected one: after the previous copy and as many bytes as the literals in between, or, in another step of new bytes, where the
/// data begins that the step replaces. So a changed byte of a large file takes a few bytes.
///
/// The list is coded by `range_coder.h`, and few literals as well: groups are too short for zstd's tables.
#ifndef PKS_DELTA_DELTA_COPIES_H
#define PKS_DELTA_DELTA_COPIES_H

#include "codec/range_coder.h"
#include "delta/delta.h"
#include "platform/scratch.h"

/// The steps of new bytes in a description, of the builder's plan or the reader's recipe.
typedef struct pks__new_steps {
  pks__scratch ends;      ///< uint64_t: where each step ends, among the new bytes
  pks__scratch replaced;  ///< uint64_t: position in A of the data that the step replaces
} pks__new_steps;

/// Returns the number of the step that has new byte `position`, or the number of steps if none has it.
uint64_t pks__new_steps_find(const pks__new_steps *steps, uint64_t position);

/// Bytes [begin, begin + length) of a group are equal to the bytes of A from `position` on.
typedef struct pks__delta_copy {
  uint32_t begin, length;
  uint64_t position;
} pks__delta_copy;

/// The place in a group up to which copies are known, and the expected position of the next copy.
typedef struct pks__copy_place {
  const pks__new_steps *steps;
  uint64_t group;       ///< position of the group's first byte among the new bytes
  uint32_t raw_length;  ///< length of the group
  uint32_t begin;       ///< in the group
  uint64_t step;        ///< the step with this byte
  uint64_t expected;    ///< position in A, if no byte was added or removed
} pks__copy_place;

typedef struct pks__copy_models {
  pks__number_model count, gaps, lengths, positions;
  pks__bit_model ends_step, replaces, inserts;
  pks__byte_model literals;
} pks__copy_models;

/// Walks untrusted copies: inside the group, rising, apart from each other, and inside [0, byte_count) of A. Each copy may require
/// a frame of A, so their number is limited. Returns false at the end of the list; `failed` is the reason.
typedef struct pks__delta_copies {
  pks__range_decoder decoder;
  pks__copy_models models;
  pks__copy_place place;
  uint64_t left;
  uint64_t byte_count;
  bool failed;
} pks__delta_copies;

void pks__delta_copies_begin(
  pks__delta_copies *out, const uint8_t *lists, size_t length, const pks__new_steps *steps, uint64_t group,
  uint32_t raw_length, uint64_t byte_count
);
bool pks__delta_next_copy(pks__delta_copies *copies, pks__delta_copy *out);
/// Reads literals that are coded after the last copy.
void pks__delta_read_literals(pks__delta_copies *copies, uint8_t *out, uint32_t length);
/// Whether the walk came to the end of all that there is.
bool pks__delta_copies_end(const pks__delta_copies *copies);

/// Copies of a group, to be written.
typedef struct pks__copy_list {
  const pks__delta_copy *copies;
  uint64_t count;
  const pks__new_steps *steps;
  uint64_t group;       ///< position of the group's first byte among the new bytes
  uint32_t raw_length;  ///< length of the group
} pks__copy_list;

/// Writes copies, and literals after them. `room` is what `out` holds. Returns the bytes used, at least 1; 0 if they do not fit.
size_t pks__delta_put_copies(
  const pks__copy_list *list, const uint8_t *literals, uint32_t literal_count, uint8_t *out, size_t room
);

#endif
